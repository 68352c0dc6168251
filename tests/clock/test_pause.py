"""PauseGame and ResumeGame: nobody's time runs, and the running move keeps what it had left."""

from __future__ import annotations

import pytest
from kafeneio.clock.v1 import clock_pb2 as pb
from kafeneio.clock.v1 import events_pb2
from kafeneio_clock import wire
from kafeneio_clock.turns import CreditReason
from kafeneio_clock.values import (
    Credited,
    Leaving,
    Outage,
    Paused,
    Pausing,
    Presence,
    Resumed,
    Resuming,
    StreamEnded,
    TurnRuns,
)

from tests.clock.house import House, kinds, mover, shown
from tests.clock.table import Table
from tests.harness import OPERATOR, SEATS, new_id
from tests.rules.refusal import refusal

PAUSED = events_pb2.CREDIT_REASON_PAUSED


def pause(table: Table) -> None:
    """An operator pauses."""
    table.happen(Pausing("why"))


def credited(table: Table) -> list[tuple[int, float]]:
    """To whom a pause gave how many seconds."""
    return [
        (each.seat, each.duration / wire.SECOND)
        for each in table.told
        if isinstance(each, Credited) and each.reason is CreditReason.PAUSED
    ]


@pytest.mark.parametrize("lost", [False, True])
def test_a_move_or_an_absence_keeps_what_it_had_left(lost: bool) -> None:
    table = Table.playing()
    if lost:
        table.lose(0)
    before = table.deadline()
    assert before is not None
    table.now = 20
    pause(table)
    assert table.deadline() is None
    table.fire_until(1_000)
    assert table.charges() == []
    table.happen(Resuming())
    assert table.deadline() == before + 980
    assert table.told[-2:] == [Credited(0, 980 * wire.SECOND, CreditReason.PAUSED), Resumed()]
    table.fire_until(before + 980.001)
    assert len(table.charges()) == 1


def test_moves_go_on_in_a_pause() -> None:
    """A pause of three turns: each of them has lost nothing."""
    table = Table.playing()
    table.now = 10
    pause(table)
    for seat in (1, 0):
        table.now += 100
        table.end_turn()
        table.start_turn(seat)
    table.now += 100
    table.happen(Resuming())
    assert credited(table) == [(0, 100), (1, 100), (0, 100)]
    assert table.deadline() == pytest.approx(310 + 30.5)
    assert all(seat.charged == 0 for seat in table.state.seats)


def test_time_away_in_a_pause_is_not_added_up() -> None:
    table = Table.playing()
    table.lose(0)
    table.now = 10
    pause(table)
    table.now = 500
    table.attach(0)
    table.now = 600
    table.end_turn()
    assert table.state.seats[0].away == 10 * wire.SECOND


def test_who_may_come_back_can_after_a_pause() -> None:
    table = Table.playing()
    table.attach(0)
    table.happen(StreamEnded(0, 1, 0))
    table.now = 10
    pause(table)
    table.fire_until(500)
    assert next(seat.presence for seat in table.state.seats) is Presence.UNKNOWN
    table.happen(Resuming())
    assert table.deadline() == 520, "20 s from then on"
    table.fire_until(520)
    assert table.state.seats[0].presence is Presence.LOST


def test_twice_is_once() -> None:
    table = Table.playing()
    table.now = 10
    pause(table)
    table.now = 20
    pause(table)
    table.now = 30
    table.happen(Resuming())
    table.now = 40
    table.happen(Resuming())
    assert credited(table) == [(0, 20)]
    assert [type(each) for each in table.told] == [Paused, Credited, Resumed]


def test_an_outage_in_a_pause_is_not_given_twice() -> None:
    table = Table.playing()
    table.now = 10
    pause(table)
    table.now = 50
    table.happen(Outage(20 * wire.SECOND, 50 * wire.SECOND))
    table.now = 60
    table.happen(Resuming())
    assert table.deadline() == pytest.approx(30.5 + 50)


def test_a_charge_that_was_on_its_way_waits() -> None:
    """It was over before the pause: it is charged, but after it."""
    table = Table.playing()
    table.now = 31
    pause(table)
    table.happen(TurnRuns(1, table.micros))
    assert table.charges() == []
    table.now = 100
    table.happen(Resuming())
    table.fire()
    assert len(table.charges()) == 1
    table.happen(TurnRuns(1, 31 * wire.SECOND))
    assert len(table.charges()) == 1
    assert table.deadline() == pytest.approx(61 + 69)


def test_leaving_is_possible_in_a_pause() -> None:
    table = Table.playing()
    pause(table)
    table.happen(Leaving(0, "request"))
    assert table.deadline() == 0, "it is due"


async def test_a_paused_game_charges_nobody(brisk: House) -> None:
    """Over the wire: shown, announced, once; it outlives the clock's process."""
    game = await brisk.rules.start()
    seat = game.position.turn.seat
    stream, _ = await brisk.clock.attended(game.game_id, mover(game))
    await shown(stream, lambda c: c.turn.turn == 1)
    request_id = new_id()
    paused = await brisk.clock.pause(game.game_id, request_id)
    assert paused.HasField("paused_since")
    assert not paused.turn.HasField("deadline")
    left = paused.turn.move_left
    assert (await shown(stream, lambda c: c.HasField("paused_since"))).turn.move_left == left
    before = await brisk.snapshot()
    assert await brisk.clock.pause(game.game_id, request_id) == paused
    assert await brisk.snapshot() == before
    await brisk.restart_clock(after=1.5)  # more than a move
    stream, _ = await brisk.clock.attended(game.game_id, mover(game))
    clock = await shown(stream, lambda c: c.seats[seat].presence == pb.PRESENCE_ATTACHED)
    assert clock.paused_since == paused.paused_since
    assert [each.charged for each in clock.seats] == [0, 0]
    resumed = await brisk.clock.resume(game.game_id)
    assert not resumed.HasField("paused_since")
    assert resumed.turn.HasField("deadline")
    events = await brisk.clock.announced(game.game_id, "timeout_incurred")
    told = kinds(events)
    assert told[0] == "clock_paused"
    assert told.index("clock_resumed") < told.index("timeout_incurred")
    # Whatever the house's other faults gave back: the move had in the end what it had left.
    account = await brisk.clock.explain(game.game_id, seat=seat)
    (charge,) = account.charges[:1]
    lengths = [e.ended.ToNanoseconds() - e.began.ToNanoseconds() for e in charge.counted]
    assert sum(lengths) == 1_200_000_000
    since = paused.paused_since.ToNanoseconds()
    until = resumed.at.ToNanoseconds()
    assert all(
        e.ended.ToNanoseconds() <= since or e.began.ToNanoseconds() >= until for e in charge.counted
    )


async def test_pausing_a_paused_game_changes_nothing(house: House) -> None:
    game = await house.rules.start()
    await house.clock.attended(game.game_id, SEATS[0])
    await house.clock.attended(game.game_id, SEATS[1])
    await house.clock.until(game.game_id, lambda c: c.turn.turn == 1)
    for call in (house.clock.pause, house.clock.resume):
        first = await call(game.game_id)
        again = await call(game.game_id)
        again.at.CopyFrom(first.at)
        again.turn.move_left.CopyFrom(first.turn.move_left)
        assert again == first
    events = await house.clock.events(game.game_id)
    assert kinds(events) == ["clock_paused", "clock_credited", "clock_resumed"]
    assert events[0].clock_paused.reason == "a complaint"
    assert events[1].clock_credited.reason == PAUSED
    request_id = new_id()
    await house.clock.resume(game.game_id, request_id)
    other = await house.rules.start()
    refused = await refusal(house.clock.resume(other.game_id, request_id))
    assert refused.what == ("ALREADY_EXISTS", "REQUEST_ID_REUSED")


async def test_a_paused_game_may_be_played_to_its_end(house: House) -> None:
    game = await house.rules.start()
    await house.clock.until(game.game_id, lambda c: c.turn.turn == 1)
    await house.clock.pause(game.game_id)
    await house.rules.resign(game.game_id, SEATS[0])
    events = await house.clock.announced(game.game_id, "clock_closed")
    assert kinds(events)[-1] == "clock_closed"
    for call in (house.clock.pause, house.clock.resume):
        refused = await refusal(call(game.game_id))
        assert refused.what == ("FAILED_PRECONDITION", "GAME_OVER")
    for who in (*SEATS, OPERATOR):
        seat = 0 if who == OPERATOR else None
        assert not (await house.clock.explain(game.game_id, who, seat)).charges
