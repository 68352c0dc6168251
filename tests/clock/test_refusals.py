"""Bad input for every method: a typed refusal, and nothing has changed."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterator
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from typing import Any, Final

import pytest
import pytest_asyncio
from google.protobuf.descriptor import MethodDescriptor
from google.protobuf.message import Message
from kafeneio.clock.v1 import clock_pb2 as pb

from tests.clock.house import House, Stream, shown
from tests.fixtures.postgres import Databases, Template
from tests.harness import OPERATOR, PATIENCE, SEATS, SERVICE, STRANGER, new_id
from tests.rules.refusal import Refused, refusal

pytestmark = [
    pytest.mark.asyncio(loop_scope="module"),
    pytest.mark.xdist_group("refusals of the clock"),
]

METHODS: Final[dict[str, MethodDescriptor]] = {
    method.name: method for method in pb.DESCRIPTOR.services_by_name["ClockService"].methods
}
PREFIX: Final = "/kafeneio.clock.v1.ClockService/"
ONLY: Final = {
    "Attend": SEATS[0],
    "Heartbeat": SEATS[0],
    "Leave": SEATS[0],
    "GetClock": STRANGER,
    "ListEvents": SERVICE,
    "ExplainCharges": SEATS[0],
    "PauseGame": OPERATOR,
    "ResumeGame": OPERATOR,
}
"""Who makes a call that is accepted."""
ALSO: Final = {"GetClock": {"service", "operator"}, "ExplainCharges": {"operator"}}
"""Other roles that may make it too."""
ROLES: Final = {SEATS[0]: "player", SERVICE: "service", OPERATOR: "operator"}
every_method = pytest.mark.parametrize("name", METHODS)


@dataclass
class Stage:
    """A house with games in every state, for tests that change nothing in it."""

    house: House
    running: str
    waiting: str
    cancelled: str
    over: str
    unstarted: str
    unknown: str
    stream: Stream
    """eleni attends in `running`, with epoch 2."""

    def request(self, name: str, game_id: str = "") -> Message:
        """One that is accepted, but for the game."""
        fields: dict[str, Any] = {"game_id": game_id or self.running}
        names = METHODS[name].input_type.fields_by_name
        if "request_id" in names:
            fields["request_id"] = new_id()
        if "epoch" in names:
            fields["epoch"] = 2
        if "reason" in names:
            fields["reason"] = "a complaint"
        made: Message = getattr(pb, METHODS[name].input_type.name)(**fields)
        return made

    async def refused(
        self,
        name: str,
        body: bytes,
        who: str | None,
        token: str = "",
        within: float | None = PATIENCE,
    ) -> Refused:
        """How a call is refused; it has changed nothing."""
        before = await self.house.snapshot()
        headers = self.house.rules.credentials(who) if who else ()
        if token:
            headers = (("authorization", f"Bearer {token}"),)
        refused = await refusal(self._send(name, body, headers, within))
        assert await self.house.snapshot() == before
        return refused

    async def _send(
        self, name: str, body: bytes, headers: tuple[tuple[str, str], ...], within: float | None
    ) -> object:
        channel = self.house.clock.channel
        if METHODS[name].server_streaming:
            many: Any = channel.unary_stream(PREFIX + name)
            async with asyncio.timeout(PATIENCE):
                return await many(body, metadata=headers, timeout=within).read()
        one: Any = channel.unary_unary(PREFIX + name)
        return await one(body, metadata=headers, timeout=within)


@pytest.fixture(scope="module")
def stage_url(databases: Databases, database_template: Template) -> Iterator[str]:
    """A database for this module."""
    url = databases.create(database_template)
    yield url
    databases.drop(url)


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def stage(stage_url: str, keys: Path) -> AsyncIterator[Stage]:
    """Time is no matter here."""
    async with House.serve(
        stage_url, keys, clock_move_seconds=600, clock_silent_seconds=600
    ) as house:
        running, over = await house.rules.start(), await house.rules.start()
        unstarted, cancelled = await house.rules.create(), await house.rules.create()
        waiting = await house.rules.create(join_timeout=600)
        await house.rules.resign(over.game_id, SEATS[0])
        await house.rules.abort(unstarted.game_id)
        await house.rules.cancel(cancelled.game_id)
        for game in (over, unstarted):
            await house.clock.announced(game.game_id, "clock_closed")
        await house.clock.attended(running.game_id, SEATS[0])
        stream, attached = await house.clock.attended(running.game_id, SEATS[0])
        assert attached.epoch == 2
        await shown(stream, lambda c: c.turn.turn == 1)
        yield Stage(
            house,
            running.game_id,
            waiting.game_id,
            cancelled.game_id,
            over.game_id,
            unstarted.game_id,
            new_id(),
            stream,
        )


async def test_every_method_is_here(stage: Stage) -> None:
    assert set(ONLY) == set(METHODS)


@every_method
@pytest.mark.parametrize("body", [b"\xff", b"\x0a\x7f", b"\x0b\x0b\x0b", b"\x0a\x02\xff\xfe"])
async def test_bytes_that_are_no_message(stage: Stage, name: str, body: bytes) -> None:
    refused = await stage.refused(name, body, ONLY[name])
    assert refused.what == ("INVALID_ARGUMENT", "MALFORMED")


@every_method
async def test_a_message_that_is_too_large(stage: Stage, name: str) -> None:
    most = stage.house.rules.settings.max_message_bytes
    body = stage.request(name).SerializeToString() + b"\x7a\x81\x80\x10" + b"x" * (most + 1)
    assert (await stage.refused(name, body, ONLY[name])).code == "RESOURCE_EXHAUSTED"


@every_method
async def test_tokens(stage: Stage, name: str) -> None:
    body = stage.request(name).SerializeToString()
    refused = await stage.refused(name, body, None)
    assert refused.what == ("UNAUTHENTICATED", "TOKEN_MISSING")
    refused = await stage.refused(name, body, None, "nonsense")
    assert refused.what == ("UNAUTHENTICATED", "TOKEN_INVALID")
    old = stage.house.rules.token(ONLY[name], timedelta(seconds=-1))
    refused = await stage.refused(name, body, None, old)
    assert refused.what == ("UNAUTHENTICATED", "TOKEN_EXPIRED")


@every_method
async def test_roles(stage: Stage, name: str) -> None:
    body = stage.request(name).SerializeToString()
    allowed = {ROLES.get(ONLY[name], "player")} | ALSO.get(name, set())
    others = [who for who, role in ROLES.items() if role not in allowed]
    for who in others:
        refused = await stage.refused(name, body, who)
        assert refused.what == ("PERMISSION_DENIED", "ROLE_REQUIRED")
    assert len(others) == {"GetClock": 0, "ExplainCharges": 1}.get(name, 2)


@every_method
async def test_a_unary_call_needs_a_deadline(stage: Stage, name: str) -> None:
    if METHODS[name].server_streaming:
        return
    body = stage.request(name).SerializeToString()
    refused = await stage.refused(name, body, ONLY[name], within=None)
    assert refused.what == ("INVALID_ARGUMENT", "DEADLINE_REQUIRED")


ID: Final = "01980000-0000-7000-8000-00000000000a"
BAD_IDS: Final = ("", "eleni", ID[:-1], ID + "0", "{" + ID + "}", "Ü" * 36, ID.upper())


@every_method
@pytest.mark.parametrize("field", ["game_id", "request_id"])
async def test_bad_ids(stage: Stage, name: str, field: str) -> None:
    for bad in BAD_IDS:
        request: Any = stage.request(name)
        if field not in METHODS[name].input_type.fields_by_name:
            return
        setattr(request, field, bad)
        refused = await stage.refused(name, request.SerializeToString(), ONLY[name])
        assert refused.what == ("INVALID_ARGUMENT", "MALFORMED"), bad
        assert refused.fields == (field,)


async def test_bad_numbers(stage: Stage) -> None:
    body = pb.HeartbeatRequest(game_id=stage.running).SerializeToString()
    refused = await stage.refused("Heartbeat", body, SEATS[0])
    assert (refused.reason, refused.fields) == ("MALFORMED", ("epoch",))
    body = pb.ListEventsRequest(game_id=stage.running, page_size=501).SerializeToString()
    refused = await stage.refused("ListEvents", body, SERVICE)
    assert (refused.reason, refused.fields) == ("MALFORMED", ("page_size",))
    request = pb.ListEventsRequest(game_id=stage.over, after_sequence=2**64 - 1)
    call = stage.house.clock.stub.ListEvents
    assert not (await stage.house.rules.ask(call, request, SERVICE)).events


@every_method
@pytest.mark.parametrize(
    ("game", "code", "reason"),
    [
        ("unknown", "NOT_FOUND", "GAME_UNKNOWN"),
        ("waiting", "FAILED_PRECONDITION", "GAME_NOT_STARTED"),
        ("cancelled", "FAILED_PRECONDITION", "GAME_CANCELLED"),
    ],
)
async def test_games_without_a_clock(
    stage: Stage, name: str, game: str, code: str, reason: str
) -> None:
    body = stage.request(name, getattr(stage, game)).SerializeToString()
    assert (await stage.refused(name, body, ONLY[name])).what == (code, reason)


@pytest.mark.parametrize(
    ("name", "game"),
    [
        (name, game)
        for name in ("Attend", "Heartbeat", "Leave", "PauseGame", "ResumeGame")
        for game in ("over", "unstarted")
    ]
    + [("ExplainCharges", "unstarted")],
)
async def test_games_that_are_over(stage: Stage, name: str, game: str) -> None:
    body = stage.request(name, getattr(stage, game)).SerializeToString()
    refused = await stage.refused(name, body, ONLY[name])
    assert refused.what == ("FAILED_PRECONDITION", "GAME_OVER")


@pytest.mark.parametrize("name", ["Attend", "Heartbeat", "Leave", "ExplainCharges"])
async def test_strangers(stage: Stage, name: str) -> None:
    body = stage.request(name).SerializeToString()
    refused = await stage.refused(name, body, STRANGER)
    assert refused.what == ("PERMISSION_DENIED", "NOT_YOUR_SEAT")


@pytest.mark.parametrize(
    ("who", "epoch", "reason"),
    [
        (SEATS[0], 1, "STALE_EPOCH"),
        (SEATS[0], 3, "STALE_EPOCH"),
        (SEATS[0], 2**64 - 1, "STALE_EPOCH"),
        (SEATS[1], 1, "STALE_EPOCH"),
    ],
)
async def test_epochs(stage: Stage, who: str, epoch: int, reason: str) -> None:
    body = pb.HeartbeatRequest(game_id=stage.running, epoch=epoch).SerializeToString()
    refused = await stage.refused("Heartbeat", body, who)
    assert refused.what == ("ABORTED", reason)
    assert refused.metadata == {"epoch": "2" if who == SEATS[0] else "0"}


@pytest.mark.parametrize(
    ("who", "seat", "code", "reason"),
    [
        (SEATS[0], 1, "PERMISSION_DENIED", "NOT_YOUR_SEAT"),
        (SEATS[1], 0, "PERMISSION_DENIED", "NOT_YOUR_SEAT"),
        (SEATS[0], 2, "PERMISSION_DENIED", "NOT_YOUR_SEAT"),
        (STRANGER, 0, "PERMISSION_DENIED", "NOT_YOUR_SEAT"),
        (OPERATOR, None, "INVALID_ARGUMENT", "MALFORMED"),
        (OPERATOR, 2, "INVALID_ARGUMENT", "MALFORMED"),
        (OPERATOR, 2**32 - 1, "INVALID_ARGUMENT", "MALFORMED"),
    ],
)
async def test_other_seats_are_not_explained(
    stage: Stage, who: str, seat: int | None, code: str, reason: str
) -> None:
    body = pb.ExplainChargesRequest(game_id=stage.running, seat=seat).SerializeToString()
    assert (await stage.refused("ExplainCharges", body, who)).what == (code, reason)


@pytest.mark.parametrize("why", ["", "x" * 201])
async def test_a_pause_needs_a_reason(stage: Stage, why: str) -> None:
    request = pb.PauseGameRequest(request_id=ID, game_id=stage.running, reason=why)
    refused = await stage.refused("PauseGame", request.SerializeToString(), OPERATOR)
    assert (refused.reason, refused.fields) == ("MALFORMED", ("reason",))


async def test_nothing_of_all_this_was_felt(stage: Stage) -> None:
    """The stream is still open, and its heartbeat is heard."""
    await stage.house.clock.heartbeat(stage.running, SEATS[0], 2)
    clock = await stage.house.clock.get(stage.running)
    assert clock.seats[0].presence == pb.PRESENCE_ATTACHED
