"""Every refusal reaches its caller with the code and the details that the errors' tree promises."""

import unicodedata
from collections.abc import AsyncIterator

import asyncpg
import grpc
import pytest
from google.protobuf.message import Message
from kafeneio.common.v1 import errors_pb2
from kafeneio_runtime import errors
from kafeneio_runtime.errors import Refusal
from kafeneio_runtime.greek import SENTENCES

from tests.runtime.echo import text_of
from tests.runtime.house import House, refused

REFUSALS = [
    (errors.malformed("actions[0].from", "must be set"), "INVALID_ARGUMENT", "MALFORMED", {}),
    (
        errors.unauthenticated(errors_pb2.ERROR_REASON_TOKEN_EXPIRED, "expired"),
        "UNAUTHENTICATED",
        "TOKEN_EXPIRED",
        {},
    ),
    (
        errors.forbidden(errors_pb2.ERROR_REASON_NOT_YOUR_SEAT, "not yours"),
        "PERMISSION_DENIED",
        "NOT_YOUR_SEAT",
        {},
    ),
    (
        errors.not_found(errors_pb2.ERROR_REASON_GAME_UNKNOWN, "no such game"),
        "NOT_FOUND",
        "GAME_UNKNOWN",
        {},
    ),
    (
        errors.failed(errors_pb2.ERROR_REASON_TURN_PASSED, "turn 4 is running", turn="4"),
        "FAILED_PRECONDITION",
        "TURN_PASSED",
        {"turn": "4"},
    ),
    (errors.illegal("P23", "no"), "FAILED_PRECONDITION", "ILLEGAL_ACTION", {"rule": "P23"}),
    (errors.stale(17), "ABORTED", "STALE_VERSION", {"version": "17"}),
    (
        errors.exists(errors_pb2.ERROR_REASON_GAME_EXISTS, "taken"),
        "ALREADY_EXISTS",
        "GAME_EXISTS",
        {},
    ),
    (errors.not_yet(3), "OUT_OF_RANGE", "NOT_YET", {"version": "3"}),
    (errors.exhausted("too many", 1.5), "RESOURCE_EXHAUSTED", "RATE_LIMITED", {}),
    (errors.unavailable("closing", 2), "UNAVAILABLE", "UNAVAILABLE", {}),
]


@pytest.mark.parametrize(
    ("refusal", "code", "reason", "metadata"), REFUSALS, ids=[each[2] for each in REFUSALS]
)
async def test_refusal_reaches_the_caller(
    house: House, refusal: Refusal, code: str, reason: str, metadata: dict[str, str]
) -> None:
    async def refuse(_request: Message) -> Message:
        raise refusal

    house.servicer.echo = refuse
    with pytest.raises(grpc.aio.AioRpcError) as caught:
        await house.say()
    told = refused(caught.value)
    assert told.code is grpc.StatusCode[code]
    assert told.reason == reason
    assert told.domain == "kafeneio"
    assert told.metadata == metadata
    assert told.message == refusal.message
    assert told.greek == SENTENCES[reason]
    assert told.retry_after == refusal.retry_after
    assert told.fields == refusal.violations


async def test_a_stream_is_refused_in_the_same_way(house: House) -> None:
    async def refuse(request: Message) -> AsyncIterator[Message]:
        if text_of(request) == "kalimera":
            raise errors.stale(2)
        yield request

    house.servicer.watch = refuse
    with pytest.raises(grpc.aio.AioRpcError) as caught:
        await house.watch().read()
    told = refused(caught.value)
    assert told.reason == "STALE_VERSION"
    assert told.greek == SENTENCES["STALE_VERSION"]


async def test_an_unexpected_error_tells_nothing(house: House) -> None:
    async def fail(_request: Message) -> Message:
        raise RuntimeError("the stock is A♠ K♦")

    house.servicer.echo = fail
    with pytest.raises(grpc.aio.AioRpcError) as caught:
        await house.say()
    told = refused(caught.value)
    assert told.code is grpc.StatusCode.INTERNAL
    assert told.reason == "INTERNAL"
    assert told.message == "internal error"
    assert told.greek == SENTENCES["INTERNAL"]
    assert "stock" not in str(caught.value)
    assert told.request_id


STORE_TROUBLES = [
    asyncpg.ConnectionDoesNotExistError("connection was closed in the middle of operation"),
    asyncpg.AdminShutdownError("terminating connection due to administrator command"),
    asyncpg.CannotConnectNowError("the database system is starting up"),
    asyncpg.TooManyConnectionsError("sorry, too many clients already"),
    asyncpg.InterfaceError("cannot perform operation: connection is closed"),
    asyncpg.DeadlockDetectedError("deadlock detected"),
    asyncpg.InternalClientError("cannot switch to state 12; another operation is in progress"),
    ConnectionRefusedError(111, "Connection refused"),
]


@pytest.mark.parametrize("error", STORE_TROUBLES, ids=[type(e).__name__ for e in STORE_TROUBLES])
async def test_trouble_with_the_store_may_be_tried_again(house: House, error: Exception) -> None:
    async def fail(_request: Message) -> Message:
        raise error

    house.servicer.echo = fail
    with pytest.raises(grpc.aio.AioRpcError) as caught:
        await house.say()
    told = refused(caught.value)
    assert told.code is grpc.StatusCode.UNAVAILABLE
    assert told.reason == "UNAVAILABLE"
    assert told.retry_after == 1


@pytest.mark.parametrize(
    "error",
    [
        asyncpg.InterfaceError("the server expects 1 argument for this query, 0 were passed"),
        asyncpg.UniqueViolationError("duplicate key"),
        TimeoutError(),
    ],
    ids=["misuse", "conflict", "timeout"],
)
def test_a_mistake_of_ours_is_no_trouble_with_the_store(error: Exception) -> None:
    assert not errors.is_store_trouble(error)


def test_every_reason_has_a_name_without_the_prefix() -> None:
    names = {
        Refusal(grpc.StatusCode.ABORTED, value, "").reason_name
        for value in errors_pb2.ErrorReason.values()
    }
    assert "STALE_VERSION" in names
    assert not any(name.startswith("ERROR_REASON_") for name in names)


async def test_a_reason_without_a_greek_sentence_is_told_all_the_same(
    house: House, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(errors, "SENTENCES", {})

    async def refuse(_request: Message) -> Message:
        raise errors.stale(2)

    house.servicer.echo = refuse
    with pytest.raises(grpc.aio.AioRpcError) as caught:
        await house.say()
    told = refused(caught.value)
    assert (told.reason, told.greek) == ("STALE_VERSION", "")


def test_every_reason_has_a_greek_sentence_and_none_has_two() -> None:
    sent = set(errors_pb2.ErrorReason.keys()) - {"ERROR_REASON_UNSPECIFIED"}
    assert {f"ERROR_REASON_{reason}" for reason in SENTENCES} == sent
    assert len(set(SENTENCES.values())) == len(SENTENCES)


@pytest.mark.parametrize("reason", SENTENCES)
def test_a_greek_sentence_is_one(reason: str) -> None:
    sentence = SENTENCES[reason]
    letters = [letter for letter in sentence if letter.isalpha()]
    # A Latin look-alike, such as "o" for "ο", reads alike and sounds wrong in a screen reader.
    assert all(unicodedata.name(letter).startswith("GREEK") for letter in letters)
    assert sentence.endswith(".")
    assert sentence.count(".") == 1
    assert sentence[0].isupper()
    assert unicodedata.is_normalized("NFC", sentence)
