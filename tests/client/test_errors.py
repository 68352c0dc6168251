"""What a client raises, by what a house answers."""

from __future__ import annotations

import asyncio
import socket
from collections.abc import AsyncIterator

import grpc
import pytest
from google.rpc import error_details_pb2
from kafeneio_client import Client, House, Refused, Unreachable, new_id

from tests.client.fake_calls import Call, Fault, in_language, refuse, retry_in
from tests.client.fake_house import FakeHouse, serving


@pytest.fixture
async def fake() -> FakeHouse:
    return FakeHouse()


@pytest.fixture
async def client(fake: FakeHouse) -> AsyncIterator[Client]:
    async with serving(fake) as address, House(address) as house:
        yield house.client("eleni")


def refusal(code: grpc.StatusCode, reason: str, message: str, **metadata: str) -> Fault:
    async def fault(call: Call) -> None:
        await refuse(call, code, reason, message, **metadata)

    return fault


async def test_an_illegal_action_names_the_rule(fake: FakeHouse, client: Client) -> None:
    code = grpc.StatusCode.FAILED_PRECONDITION
    fake.fail("Act", refusal(code, "ILLEGAL_ACTION", "both dice if you can", rule="V2.3"))
    with pytest.raises(Refused) as caught:
        await client.games.act(new_id(), 4, ["13/8"])
    assert caught.value.code is code
    assert caught.value.reason == "ILLEGAL_ACTION"
    assert caught.value.rule == "V2.3"
    assert caught.value.message == "both dice if you can"
    assert caught.value.greek == ""
    assert caught.value.retry_after is None


async def test_a_stale_version_brings_the_current_one(fake: FakeHouse, client: Client) -> None:
    fake.fail("Act", refusal(grpc.StatusCode.ABORTED, "STALE_VERSION", "it moved on", version="9"))
    with pytest.raises(Refused) as caught:
        await client.games.act(new_id(), 4, ["13/8"])
    assert caught.value.version == 9
    assert caught.value.rule == ""


async def test_too_many_calls_say_when_to_come_again(fake: FakeHouse, client: Client) -> None:
    async def fault(call: Call) -> None:
        code = grpc.StatusCode.RESOURCE_EXHAUSTED
        await refuse(call, code, "RATE_LIMITED", "too many calls", retry_in(1.5))

    fake.fail("GetGame", fault)
    with pytest.raises(Refused) as caught:
        await client.games.get(new_id())
    assert (caught.value.reason, caught.value.retry_after) == ("RATE_LIMITED", 1.5)


async def test_a_refusal_has_its_greek_sentence(fake: FakeHouse, client: Client) -> None:
    async def fault(call: Call) -> None:
        told = (in_language("el", "Δεν υπάρχει."), in_language("fr", "Il n'y en a pas."))
        await refuse(call, grpc.StatusCode.NOT_FOUND, "GAME_UNKNOWN", "there is none", *told)

    fake.fail("GetGame", fault)
    with pytest.raises(Refused) as caught:
        await client.games.get(new_id())
    assert (caught.value.message, caught.value.greek) == ("there is none", "Δεν υπάρχει.")


async def test_a_malformed_request_names_its_fields(fake: FakeHouse, client: Client) -> None:
    async def fault(call: Call) -> None:
        bad = error_details_pb2.BadRequest()
        bad.field_violations.add(field="game_id", description="is no UUID")
        await refuse(call, grpc.StatusCode.INVALID_ARGUMENT, "MALFORMED", "unreadable", bad)

    fake.fail("GetGame", fault)
    with pytest.raises(Refused) as caught:
        await client.games.get("x")
    assert caught.value.violations == (("game_id", "is no UUID"),)


async def test_a_refusal_without_details_has_no_reason(fake: FakeHouse, client: Client) -> None:
    async def fault(call: Call) -> None:
        await call.abort(grpc.StatusCode.RESOURCE_EXHAUSTED, "message larger than max")

    fake.fail("GetGame", fault)
    with pytest.raises(Refused) as caught:
        await client.games.get(new_id())
    assert (caught.value.code, caught.value.reason) == (grpc.StatusCode.RESOURCE_EXHAUSTED, "")


async def test_garbled_details_leave_code_and_message(fake: FakeHouse, client: Client) -> None:
    async def fault(call: Call) -> None:
        trailers = (("grpc-status-details-bin", b"\xff\xff\xff"),)
        await call.abort(grpc.StatusCode.NOT_FOUND, "gone", trailing_metadata=trailers)

    fake.fail("GetGame", fault)
    with pytest.raises(Refused) as caught:
        await client.games.get(new_id())
    assert (caught.value.code, caught.value.message) == (grpc.StatusCode.NOT_FOUND, "gone")


async def test_details_of_another_domain_are_not_ours(fake: FakeHouse, client: Client) -> None:
    async def fault(call: Call) -> None:
        await refuse(call, grpc.StatusCode.UNAVAILABLE, "X", "a proxy", domain="example.com")

    fake.fail("GetGame", *[fault] * 5)
    with pytest.raises(Unreachable):
        await client.games.get(new_id())


async def test_nobody_there_is_unreachable_and_keeps_the_request_id() -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        address = f"127.0.0.1:{free.getsockname()[1]}"
        async with House(address) as house:
            with pytest.raises(Unreachable) as caught:
                await house.client("eleni").games.cancel(new_id(), request_id="kept")
    assert caught.value.request_id == "kept"
    assert caught.value.address == address
    assert address in str(caught.value)


async def test_a_slow_house_is_unreachable_after_the_deadline(fake: FakeHouse) -> None:
    async def never(call: Call) -> None:
        await asyncio.Event().wait()

    fake.fail("GetGame", never)
    async with serving(fake) as address, House(address, deadline=0.2) as house:
        with pytest.raises(Unreachable):
            await house.client("eleni").games.get(new_id())
