"""What a call passes before it reaches a handler, each layer over a real socket."""

import asyncio
import re
from collections.abc import AsyncIterator, Callable
from datetime import timedelta
from pathlib import Path

import grpc
import jwt
import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from google.protobuf.message import Message
from kafeneio_runtime import interceptors
from kafeneio_runtime.auth import Caller, DevelopmentKey, Role
from kafeneio_runtime.clock import ManualTime
from kafeneio_runtime.interceptors import current
from kafeneio_runtime.serve import Server
from prometheus_client import REGISTRY

from tests.fixtures.waiting import until
from tests.runtime import echo
from tests.runtime.house import (
    KEY,
    House,
    open_house,
    refused,
    service,
    settings,
    token,
    verifier,
)

ROOT = Path(__file__).parents[2]


async def _refused(call: object) -> "grpc.aio.AioRpcError":
    with pytest.raises(grpc.aio.AioRpcError) as caught:
        await call  # type: ignore[misc]
    return caught.value


async def test_a_call_comes_through(house: House) -> None:
    assert await house.say("kalispera") == "kalispera"


async def test_a_stream_comes_through(house: House) -> None:
    assert [echo.text_of(each) async for each in house.watch("ela")] == ["ela 0", "ela 1", "ela 2"]


# decode


async def test_bytes_that_are_no_message_are_malformed(house: House) -> None:
    told = refused(await _refused(house.raw(b"\xff\xff\xff")))
    assert told.code is grpc.StatusCode.INVALID_ARGUMENT
    assert told.reason == "MALFORMED"
    assert told.fields == (("", "the request is not a message of this method"),)


async def test_text_that_is_not_utf8_is_malformed(house: House) -> None:
    told = refused(await _refused(house.raw(b"\x0a\x02\xc3\x28")))
    assert told.reason == "MALFORMED"


async def test_a_message_too_large_is_refused_before_it_is_read() -> None:
    async with open_house(chosen=settings(max_message_bytes=1024)) as house:
        error = await _refused(house.say("x" * 2000))
        assert error.code() is grpc.StatusCode.RESOURCE_EXHAUSTED
        assert await house.say() == "kalimera"


# deadline


async def test_a_unary_call_needs_a_deadline(house: House) -> None:
    told = refused(await _refused(house.raw(b"", seconds=None)))
    assert told.code is grpc.StatusCode.INVALID_ARGUMENT
    assert told.reason == "DEADLINE_REQUIRED"


async def test_a_stream_needs_no_deadline(house: House) -> None:
    assert len([each async for each in house.watch(seconds=None)]) == 3


async def test_the_deadline_is_there_to_be_passed_on(house: House) -> None:
    seen: list[float | None] = []

    async def look(request: Message) -> Message:
        seen.append(current.remaining_time())
        return await echo.echo(request)

    house.servicer.echo = look
    await house.raw(b"", seconds=5)
    assert seen[0] is not None
    assert 0 < seen[0] < 5.1  # it is counted from when the call came


async def test_a_call_whose_time_is_up_is_cancelled(house: House) -> None:
    cancelled = asyncio.Event()

    async def linger(_request: Message) -> Message:
        try:
            await asyncio.Event().wait()
        finally:
            cancelled.set()
        raise AssertionError("nothing sets that event")

    house.servicer.echo = linger
    error = await _refused(house.raw(b"", seconds=0.05))
    assert error.code() is grpc.StatusCode.DEADLINE_EXCEEDED
    async with asyncio.timeout(5):
        await cancelled.wait()


# auth


def _signed(**changes: object) -> str:
    claims = {**jwt.decode(token(), options={"verify_signature": False}), **changes}
    kept = {name: value for name, value in claims.items() if value is not None}
    return jwt.encode(kept, KEY._private, algorithm="EdDSA", headers={"kid": KEY._key_id})


def _other_key_same_id() -> str:
    stranger = Ed25519PrivateKey.generate()
    claims = jwt.decode(token(), options={"verify_signature": False})
    return jwt.encode(claims, stranger, algorithm="EdDSA", headers={"kid": KEY._key_id})


def _unsigned() -> str:
    claims = jwt.decode(token(), options={"verify_signature": False})
    return jwt.encode(claims, "", algorithm="none", headers={"kid": KEY._key_id})


def _public_key_as_secret() -> str:
    """The old trick: sign with HMAC, and the public key for the secret."""
    claims = jwt.decode(token(), options={"verify_signature": False})
    public = str(KEY._public["x"]).ljust(64, "x")
    return jwt.encode(claims, public, algorithm="HS256", headers={"kid": KEY._key_id})


BAD_TOKENS: dict[str, tuple[Callable[[], str], str]] = {
    "garbage": (lambda: "garbage", "TOKEN_INVALID"),
    "empty": (lambda: "", "TOKEN_INVALID"),
    "another key": (
        lambda: DevelopmentKey(Ed25519PrivateKey.generate()).sign(
            "nikos", Role.PLAYER, timedelta(minutes=5)
        ),
        "TOKEN_INVALID",
    ),
    "another key under our id": (_other_key_same_id, "TOKEN_INVALID"),
    "not signed": (_unsigned, "TOKEN_INVALID"),
    "signed with the public key": (_public_key_as_secret, "TOKEN_INVALID"),
    "another issuer": (lambda: _signed(iss="taverna"), "TOKEN_INVALID"),
    "another audience": (lambda: _signed(aud="taverna"), "TOKEN_INVALID"),
    "no subject": (lambda: _signed(sub=None), "TOKEN_INVALID"),
    "an empty subject": (lambda: _signed(sub=""), "TOKEN_INVALID"),
    "a long subject": (lambda: _signed(sub="x" * 200), "TOKEN_INVALID"),
    "no role": (lambda: _signed(role=None), "TOKEN_INVALID"),
    "an unknown role": (lambda: _signed(role="landlord"), "TOKEN_INVALID"),
    "a role that is no text": (lambda: _signed(role=["player"]), "TOKEN_INVALID"),
    "no expiry": (lambda: _signed(exp=None), "TOKEN_INVALID"),
    "not yet valid": (lambda: _signed(nbf=4_000_000_000), "TOKEN_INVALID"),
    "expired": (lambda: token(minutes=-1), "TOKEN_EXPIRED"),
}


@pytest.mark.parametrize("name", BAD_TOKENS)
async def test_a_bad_token_is_refused(house: House, name: str) -> None:
    make, reason = BAD_TOKENS[name]
    told = refused(await _refused(house.say(bearer=make())))
    assert told.code is grpc.StatusCode.UNAUTHENTICATED
    assert told.reason == reason


@pytest.mark.parametrize("header", [(), (("authorization", "Basic bmlrb3M6"),)])
async def test_no_token_is_refused(house: House, header: tuple[tuple[str, str], ...]) -> None:
    told = refused(await _refused(house.unary()(b"", timeout=5, metadata=header)))
    assert told.code is grpc.StatusCode.UNAUTHENTICATED
    assert told.reason == "TOKEN_MISSING"


async def test_the_scheme_is_read_in_any_case(house: House) -> None:
    metadata = (("authorization", f"bearer {token()}"),)
    assert await house.unary()(b"", timeout=5, metadata=metadata) == echo.response("")


async def test_another_role_is_refused(house: House) -> None:
    told = refused(await _refused(house.say(path=echo.OPERATE)))
    assert told.code is grpc.StatusCode.PERMISSION_DENIED
    assert told.reason == "ROLE_REQUIRED"
    assert told.metadata == {"roles": "operator"}
    operator = token("eleni", Role.OPERATOR)
    assert await house.say("nai", path=echo.OPERATE, bearer=operator) == "nai"


async def test_the_handler_knows_its_caller(house: House) -> None:
    seen: list[Caller] = []

    async def look(request: Message) -> Message:
        seen.append(current.caller())
        return await echo.echo(request)

    house.servicer.echo = look
    await asyncio.gather(
        *(house.say(bearer=token(name, Role.SERVICE)) for name in ("clock", "settlement"))
    )
    assert set(seen) == {Caller("clock", Role.SERVICE), Caller("settlement", Role.SERVICE)}


def test_there_is_no_caller_outside_of_a_call() -> None:
    with pytest.raises(LookupError):
        current.caller()


# limits


async def test_a_player_who_calls_too_often_waits() -> None:
    chosen = settings(rate_limit_per_second=2, rate_limit_burst=3)
    async with open_house(chosen=chosen) as house:
        for _ in range(3):
            await house.say()
        told = refused(await _refused(house.say()))
        assert told.code is grpc.StatusCode.RESOURCE_EXHAUSTED
        assert told.reason == "RATE_LIMITED"
        assert told.retry_after == 0.5
        assert await house.say("allos", bearer=token("petros")) == "allos"
        house.time.advance(0.5)
        assert await house.say() == "kalimera"
        assert refused(await _refused(house.say())).reason == "RATE_LIMITED"


async def test_services_and_operators_are_not_limited() -> None:
    chosen = settings(rate_limit_per_second=1, rate_limit_burst=1)
    async with open_house(chosen=chosen) as house:
        for role in (Role.SERVICE, Role.OPERATOR):
            answers = [await house.say(bearer=token("clock", role)) for _ in range(5)]
            assert answers == ["kalimera"] * 5


# validate


async def test_field_rules_of_the_proto_hold(house: House) -> None:
    request = echo.EchoRequest(number=25, words=[echo.Word(text="ok"), echo.Word(text="x" * 11)])
    told = refused(await _refused(house.raw(request.SerializeToString())))
    assert told.code is grpc.StatusCode.INVALID_ARGUMENT
    assert told.reason == "MALFORMED"
    assert {field for field, _ in told.fields} == {"number", "words[1].text"}
    assert all(text for _, text in told.fields)


async def test_a_stranger_learns_nothing_about_the_rules(house: House) -> None:
    request = echo.EchoRequest(number=25)
    told = refused(await _refused(house.unary()(request.SerializeToString(), timeout=5)))
    assert told.reason == "TOKEN_MISSING"


# log and request id


async def test_a_refusal_names_the_id_under_which_it_is_logged(house: House) -> None:
    error = await _refused(house.raw(b"", seconds=None, metadata=(("x-request-id", "my-id.1"),)))
    assert refused(error).request_id == "my-id.1"
    assert dict(error.trailing_metadata())["x-request-id"] == "my-id.1"


@pytest.mark.parametrize("given", ["with space", "x" * 65, "a;b", ""])
async def test_an_id_that_may_not_stand_in_a_log_is_replaced(house: House, given: str) -> None:
    error = await _refused(house.raw(b"", seconds=None, metadata=(("x-request-id", given),)))
    assert refused(error).request_id not in ("", given)


async def test_the_handler_knows_the_id_of_its_call(house: House) -> None:
    seen: list[str] = []

    async def look(request: Message) -> Message:
        seen.append(current.request_id())
        return await echo.echo(request)

    house.servicer.echo = look
    await house.raw(b"", metadata=(("x-request-id", "my-id"),))
    await house.raw(b"")
    assert seen[0] == "my-id"
    assert seen[1] not in ("", "my-id")


# metrics


def _count(name: str, **labels: str) -> float:
    return REGISTRY.get_sample_value(name, {"grpc_service": echo.SERVICE, **labels}) or 0


async def test_calls_are_counted_with_their_code(house: House) -> None:
    unary = {"grpc_type": "unary", "grpc_method": "Echo"}
    names = ("OK", "UNAUTHENTICATED")
    before = [_count("grpc_server_handled_total", **unary, grpc_code=name) for name in names]
    started = _count("grpc_server_started_total", **unary)
    observed = _count("grpc_server_handling_seconds_count", **unary)
    await house.say()
    await _refused(house.say(bearer="garbage"))
    await until(lambda: _count("grpc_server_handling_seconds_count", **unary) == observed + 2)
    after = [_count("grpc_server_handled_total", **unary, grpc_code=name) for name in names]
    assert [b - a for a, b in zip(before, after, strict=True)] == [1, 1]
    assert _count("grpc_server_started_total", **unary) - started == 2


async def test_messages_of_a_stream_are_counted(house: House) -> None:
    stream = {"grpc_type": "server_stream", "grpc_method": "Watch"}
    before = _count("grpc_server_msg_sent_total", **stream)
    assert len([each async for each in house.watch()]) == 3
    assert _count("grpc_server_msg_sent_total", **stream) - before == 3


async def test_a_client_that_goes_is_counted_as_cancelled(house: House) -> None:
    closed = asyncio.Event()

    async def endless(request: Message) -> AsyncIterator[Message]:
        try:
            yield echo.response("first")
            await asyncio.Event().wait()
        finally:
            closed.set()

    house.servicer.watch = endless
    labels = {"grpc_type": "server_stream", "grpc_method": "Watch", "grpc_code": "CANCELLED"}
    before = _count("grpc_server_handled_total", **labels)
    call = house.watch()
    assert echo.text_of(await call.read()) == "first"  # type: ignore[arg-type]
    call.cancel()
    async with asyncio.timeout(5):
        await closed.wait()
    await until(lambda: _count("grpc_server_handled_total", **labels) == before + 1)


# the parts together


def test_the_layers_stand_in_the_order_that_is_documented() -> None:
    layers = interceptors.all_layers(settings(), verifier(), echo.ROLES, ManualTime())
    names = [type(layer).__name__.lower() for layer in layers]
    for text in (interceptors.__doc__ or "", (ROOT / "libs/runtime/README.md").read_text("utf-8")):
        assert re.findall(rf"^\| ({'|'.join(names)}) +\|", text, re.MULTILINE) == names


async def test_a_message_that_is_serialised_already_goes_out_as_it_is(house: House) -> None:
    ready = echo.response("ready").SerializeToString()

    async def send(_request: Message) -> AsyncIterator[Message]:
        yield ready  # type: ignore[misc]

    house.servicer.watch = send
    assert [echo.text_of(each) async for each in house.watch()] == ["ready"]


def test_a_method_without_roles_is_no_server() -> None:

    from tests.runtime.house import verifier

    async def build() -> None:
        roles = {path: allowed for path, allowed in echo.ROLES.items() if path != echo.ECHO}
        Server(service(echo.Servicer(), roles=roles), settings(), verifier())

    with pytest.raises(ValueError, match=echo.ECHO):
        asyncio.run(build())


def test_roles_for_a_method_that_is_not_there_are_a_mistake() -> None:

    from tests.runtime.house import verifier

    async def build() -> None:
        roles = {**echo.ROLES, f"/{echo.SERVICE}/Eco": frozenset(Role)}
        Server(service(echo.Servicer(), roles=roles), settings(), verifier())

    with pytest.raises(ValueError, match="Eco"):
        asyncio.run(build())
