"""Whatever is sent: an answer, or a refusal that is documented; never a failure of ours."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from pathlib import Path
from random import Random
from typing import Any, Final

import grpc
import pytest
from google.protobuf.descriptor import FieldDescriptor
from google.protobuf.message import Message
from kafeneio.rules.v1 import game_pb2 as pb

from tests.harness import SEATS, Rules
from tests.rules.refusal import Refused, outcome_of
from tests.rules.stage import METHODS, Stage

OURS: Final = {"INTERNAL", "UNKNOWN", "UNIMPLEMENTED", "DATA_LOSS", "UNAVAILABLE"}
TRIES: Final = 40


def mutated(body: bytes, random: Random) -> bytes:
    """A message with a few bytes changed, added or left out."""
    found = bytearray(body)
    for _ in range(random.randint(1, 4)):
        place = random.randrange(len(found) + 1)
        match random.randrange(4):
            case 0:
                found[place:place] = random.randbytes(random.randint(1, 3))
            case 1:
                del found[place : place + random.randint(1, 3)]
            case 2:
                found[place : place + 1] = random.choice((b"\x00", b"\xff", b"\x80", b"\x7f"))
            case _:
                found[place : place + 1] = random.randbytes(1)
    return bytes(found)


VALUES: Final[dict[int, tuple[object, ...]]] = {
    FieldDescriptor.TYPE_STRING: (
        *("", " ", "\0", "a", "é", "9" * 200, "x" * 400, "!resign", "13/8", "portes", "1.0"),
        *("01980000-0000-7000-8000-000000000000", "../..", "'; --", "%s{}", "\U0001f3b2" * 50),
    ),
    FieldDescriptor.TYPE_BYTES: (b"", b"\0", bytes(32), bytes(64), b"x" * 400),
    FieldDescriptor.TYPE_UINT32: (0, 1, 2, 3, 7, 25, 255, 2**31 - 1, 2**31, 2**32 - 1),
    FieldDescriptor.TYPE_UINT64: (0, 1, 2**31, 2**32, 2**63 - 1, 2**63, 2**64 - 1),
    FieldDescriptor.TYPE_INT32: (0, 1, -1, 999_999_999, -(2**31), 2**31 - 1),
    FieldDescriptor.TYPE_INT64: (0, 1, -1, 600, -(2**63), 2**63 - 1),
    FieldDescriptor.TYPE_ENUM: (0, 1, 2, 3, 4, 5, 99),
}


def change(message: Any, random: Random) -> None:
    """Gives some field of a message, or of one in it, another value."""
    if not message.DESCRIPTOR.fields:
        message.SetInParent()
        return
    field = random.choice(message.DESCRIPTOR.fields)
    value = getattr(message, field.name)
    inner = field.message_type
    if inner is not None and inner.GetOptions().map_entry:
        value[random.choice(("rule_set", "disconnect_points", "", "x"))] = random.choice(
            ("two", "formula", "", "\0")
        )
    elif inner is not None and field.is_repeated:
        if value and random.random() < 0.5:
            change(random.choice(value), random)
        else:
            change(value.add(), random)
    elif inner is not None:
        change(value, random)
    elif field.is_repeated:
        value.extend(random.choices(VALUES[field.type], k=random.randint(1, 3)))
    else:
        setattr(message, field.name, random.choice(VALUES[field.type]))


def bytes_changed(request: Message, random: Random) -> bytes:
    """A request with a few of its bytes changed."""
    return mutated(request.SerializeToString(), random)


def fields_changed(request: Message, random: Random) -> bytes:
    """A request with one field changed, or two."""
    for _ in range(random.randint(1, 2)):
        change(request, random)
    return request.SerializeToString()


@pytest.mark.parametrize("changed", [bytes_changed, fields_changed])
async def test_requests_with_something_changed(
    database_url: str, keys: Path, changed: Callable[[Message, Random], bytes]
) -> None:
    async with Rules.serve(database_url, keys, heartbeat_seconds=0.01) as rules:
        told = await sent_changed(rules, changed)
    assert told["MALFORMED"] > 100
    assert told["answered"] > 10


async def sent_changed(rules: Rules, changed: Callable[[Message, Random], bytes]) -> Counter[str]:
    """How often calls of all methods with something changed were answered, or refused and why."""
    stage = await Stage.set(rules)
    random, told = Random(5), Counter[str]()
    for path in METHODS:
        for _ in range(TRIES):
            said = stage.accepted()[path]
            sent = changed(said.request, random)
            before = await rules.snapshot()
            answer = await outcome_of(
                rules.send(
                    path,
                    sent,
                    rules.credentials(said.who),
                    stream=METHODS[path].server_streaming,
                )
            )
            if isinstance(answer, Refused):
                told[answer.reason] += 1
                assert answer.code not in OURS, (path, sent)
                assert answer.domain == "kafeneio", (path, sent)
                assert await rules.snapshot() == before, (path, sent)
            else:
                told["answered"] += 1
    return told


def wilder(text: str, random: Random) -> str:
    """An entry of a log with a few characters changed."""
    found = list(text)
    for _ in range(random.randint(1, 3)):
        place = random.randrange(len(found) + 1)
        found[place : place + random.randrange(2)] = random.choice("0123456789/-! offbarps\0٣²")
    return "".join(found)


async def test_records_with_a_few_characters_changed(rules: Rules) -> None:
    game = await rules.start(target=2)
    await rules.play_turns(game, 12)
    await rules.resign(game.game_id, SEATS[0])
    record = await rules.record(game.game_id)
    random, bad = Random(6), 0
    for _ in range(300):
        changed = pb.Record()
        changed.CopyFrom(record)
        row = random.choice(changed.rows)
        place = random.randrange(len(row.entries))
        row.entries[place] = wilder(row.entries[place], random)
        verdict = await rules.verify(changed)
        assert verdict.valid is (changed == record), row
        bad += not verdict.valid
    assert bad > 250


@pytest.mark.parametrize("service", ["kafeneio.rules.v1.GameService", "kafeneio.rules.v1.Other"])
async def test_a_method_that_there_is_not(rules: Rules, service: str) -> None:
    answer = await outcome_of(rules.send(f"/{service}/Cheat", b"", rules.credentials(SEATS[0])))
    assert isinstance(answer, Refused)
    assert answer.code == grpc.StatusCode.UNIMPLEMENTED.name
