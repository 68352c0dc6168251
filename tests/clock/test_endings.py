"""How a game ends for the clock, and what the bus may do to its events."""

from __future__ import annotations

from collections.abc import Sequence
from random import Random

import pytest
from kafeneio.rules.v1 import game_pb2
from kafeneio_runtime.bus import Event

from tests.clock.house import House, kinds
from tests.fixtures.waiting import eventually
from tests.harness import SEATS
from tests.rules.refusal import refusal


@pytest.mark.parametrize("joined", [0, 1])
async def test_a_game_that_never_started_is_closed_too(house: House, joined: int) -> None:
    game = await house.rules.create(join_timeout=1)
    for who in SEATS[:joined]:
        await house.rules.join(game, who)
    refused = await refusal(house.clock.get(game.game_id))
    assert refused.what == ("FAILED_PRECONDITION", "GAME_NOT_STARTED")

    async def finished() -> bool:
        position = (await house.rules.get(game.game_id)).position
        return position.status == game_pb2.GAME_STATUS_FINISHED

    await eventually(finished)
    (event,) = await house.clock.announced(game.game_id, "clock_closed")
    clock = await house.clock.get(game.game_id)
    assert clock.closed
    assert not clock.seats
    assert not event.clock_closed.forfeits
    for who in SEATS:
        refused = await refusal(house.clock.leave(game.game_id, who))
        assert refused.what == ("FAILED_PRECONDITION", "GAME_OVER")


async def test_an_operator_ends_a_game_before_its_start(house: House) -> None:
    game = await house.rules.create()
    await house.rules.abort(game.game_id)
    (event,) = await house.clock.announced(game.game_id, "clock_closed")
    assert not event.clock_closed.forfeits


async def test_a_cancelled_game_is_nothing_to_the_clock(house: House) -> None:
    game = await house.rules.create()
    await house.rules.cancel(game.game_id)
    refused = await refusal(house.clock.get(game.game_id))
    assert refused.what == ("FAILED_PRECONDITION", "GAME_CANCELLED")


@pytest.mark.parametrize("trouble", ["twice", "reordered", "gaps", "late"])
async def test_what_the_bus_does_changes_nothing(house: House, trouble: str) -> None:
    random = Random(7)
    kept: list[Event] = []

    def mangle(events: Sequence[Event]) -> Sequence[Event]:
        if trouble == "twice":
            kept.extend(events)
            return [*events, *events, *random.sample(kept, min(len(kept), 5))]
        if trouble == "reordered":
            return random.sample(list(events), len(events))
        if trouble == "gaps":
            last = [event for event in events if event.type == "game_finished"]
            return last or [event for event in events if random.random() < 0.4]
        return events if any(event.type == "game_finished" for event in events) else []

    house.bus.mangle = mangle
    game = await house.rules.start()
    position = await house.rules.play_turns(game, 12)
    assert position.turn.turn == 13
    await house.clock.leave(game.game_id, SEATS[1])
    events = await house.clock.announced(game.game_id, "clock_closed")
    assert kinds(events) == ["seat_forfeited", "clock_closed"]
    told = await house.rules.events(game.game_id)
    row = await house.database.fetchrow("SELECT heard, sequence FROM clocks")
    assert row is not None
    assert (row["heard"], row["sequence"]) == (len(told), 2)
    inbox = await house.database.fetchval("SELECT count(*) FROM inbox")
    assert inbox == len(told)
