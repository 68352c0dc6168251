"""Leave: recorded by `rules` before anybody hears of it."""

from __future__ import annotations

import asyncio

import pytest
from kafeneio.clock.v1 import clock_pb2 as pb
from kafeneio.clock.v1 import events_pb2
from kafeneio.rules.v1 import actions_pb2

from tests.clock.house import House, kinds, rest
from tests.harness import SEATS, new_id
from tests.rules.refusal import outcome_of, refusal

LEFT = actions_pb2.FORFEIT_REASON_LEFT


@pytest.mark.parametrize("seat", [0, 1])
async def test_leaving(house: House, seat: int) -> None:
    game = await house.rules.start(target=3)
    stream, _ = await house.clock.attended(game.game_id, SEATS[1 - seat])
    await house.clock.leave(game.game_id, SEATS[seat])
    end = (await rest(stream))[-1].clock
    assert end.closed
    assert end.seats[seat].forfeit == LEFT
    events = await house.clock.events(game.game_id)
    assert kinds(events) == ["seat_forfeited", "clock_closed"]
    forfeit = events_pb2.SeatForfeited(seat=seat, reason=LEFT)
    assert events[0].seat_forfeited == forfeit
    assert list(events[1].clock_closed.forfeits) == [forfeit]
    outcome = (await house.rules.get(game.game_id)).position.outcome.decided
    assert list(outcome.winners) == [1 - seat]
    for who in SEATS:
        refused = await refusal(house.clock.leave(game.game_id, who))
        assert refused.what == ("FAILED_PRECONDITION", "GAME_OVER")


async def test_leaving_many_times_is_leaving_once(house: House) -> None:
    game = await house.rules.start()
    request_id = new_id()
    for _ in range(3):
        await house.clock.leave(game.game_id, SEATS[0], request_id)
    await house.clock.announced(game.game_id, "clock_closed")
    before = await house.snapshot()
    log = await house.rules.snapshot()
    answers = await asyncio.gather(
        *(house.clock.leave(game.game_id, SEATS[0], request_id) for _ in range(5))
    )
    assert answers == [pb.LeaveResponse()] * 5
    assert await house.snapshot() == before
    assert await house.rules.snapshot() == log
    other = await house.rules.start()
    refused = await refusal(house.clock.leave(other.game_id, SEATS[0], request_id))
    assert refused.what == ("ALREADY_EXISTS", "REQUEST_ID_REUSED")


async def test_both_leave_at_once(house: House) -> None:
    """The first one loses; of the other nobody hears."""
    game = await house.rules.start()
    asked = [outcome_of(house.clock.leave(game.game_id, who)) for who in SEATS for _ in range(3)]
    outcomes = await asyncio.gather(*asked)
    assert any(isinstance(each, pb.LeaveResponse) for each in outcomes)
    events = await house.clock.announced(game.game_id, "clock_closed")
    assert kinds(events) == ["seat_forfeited", "clock_closed"]
    (loser,) = (await house.rules.get(game.game_id)).position.forfeits
    assert events[0].seat_forfeited.seat == loser.seat


async def test_leaving_on_the_last_move(house: House) -> None:
    """The game ends before the Leave reaches `rules`: it is refused, and announced by nobody."""
    game = await house.rules.start()
    await house.clock.until(game.game_id, lambda c: c.turn.turn == 1)
    house.bus.open.clear()  # so that the clock believes that the game still runs
    await house.rules.play_to_end(game)
    refused = await refusal(house.clock.leave(game.game_id, SEATS[0]))
    assert refused.what == ("FAILED_PRECONDITION", "GAME_OVER")
    house.bus.open.set()
    events = await house.clock.announced(game.game_id, "clock_closed")
    assert kinds(events) == ["clock_closed"]
    assert not events[0].clock_closed.forfeits
    assert not (await house.rules.events(game.game_id))[-1].game_finished.forfeits
