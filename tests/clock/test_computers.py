"""Seats that computers play: from the start, or since they were forfeited (F1)."""

from __future__ import annotations

from uuid import UUID

import pytest
from kafeneio.clock.v1 import clock_pb2 as pb
from kafeneio_clock import codec, domain, wire
from kafeneio_clock.values import (
    Attached,
    Charged,
    ConnectionLost,
    Event,
    Forfeit,
    Forfeited,
    ForfeitRecorded,
    Heard,
    Leaving,
    Lost,
    Outage,
    Presence,
    Reason,
    RulesOutage,
    StreamEnded,
    TurnRuns,
    Unreachable,
)

from tests.clock.table import USUAL, Table
from tests.harness import new_id

FOREVER = 100_000.0
"""Seconds in which anybody else would be out."""


def shown(table: Table) -> pb.Clock:
    """The clock as anybody sees it."""
    return wire.clock(UUID(new_id()), 1, table.state, table.micros)


# --- from the start --------------------------------------------------------------------------


def test_a_computer_is_not_expected() -> None:
    table = Table.of_four(computers=(1, 3))
    assert table.deadline() == 12
    table.attach(0)
    assert table.deadline() == 12, "the other player is expected still"
    table.attach(2)
    assert table.deadline() is None
    presences = [seat.presence for seat in shown(table).seats]
    assert presences == [
        *(pb.PRESENCE_ATTACHED, pb.PRESENCE_COMPUTER),
        *(pb.PRESENCE_ATTACHED, pb.PRESENCE_COMPUTER),
    ]
    assert [seat.computer for seat in shown(table).seats] == [False, True, False, True]


def test_four_are_expected_each_for_himself() -> None:
    table = Table.of_four()
    for seat in (0, 2, 3):
        table.now += 1
        table.attach(seat)
    table.fire_until(12)
    assert table.told == [ConnectionLost(1, 12 * wire.SECOND)]
    table.start_turn(1)
    table.fire_until(42)
    assert table.charges()[0].seat == 1


def test_a_computers_turn_has_no_deadline() -> None:
    table = Table.of_four(computers=(1,))
    for seat in (0, 2, 3):
        table.attach(seat)
    table.start_turn(1)
    assert table.deadline() is None
    turn = shown(table).turn
    assert (turn.turn, turn.seat) == (1, 1)
    assert not turn.HasField("deadline")
    assert not turn.HasField("move_left")
    table.fire_until(FOREVER)
    table.fire()
    table.happen(TurnRuns(1, table.micros))
    assert table.told == []
    table.end_turn()
    table.start_turn(2)
    # The next player has all of his time.
    assert table.deadline() == pytest.approx(FOREVER + 30.5, abs=1e-5)


@pytest.mark.parametrize(
    "event",
    [
        Attached(1, "here"),
        Heard(1, 0, "here"),
        Lost(1, 0, 0),
        StreamEnded(1, 0, 0),
        Leaving(1, "request"),
        RulesOutage(0, 3 * wire.SECOND),
        Unreachable(),
        TurnRuns(1, 99 * wire.SECOND),
    ],
    ids=lambda event: type(event).__name__,
)
def test_nothing_happens_to_a_computer(event: Event) -> None:
    table = Table.of_four(computers=(1,))
    for seat in (0, 2, 3):
        table.attach(seat)
    table.start_turn(1)
    table.now = 100
    before = table.state.seats
    table.happen(event)
    assert table.state.seats == before
    assert table.told == []


def test_an_outage_is_credited_to_no_computer() -> None:
    table = Table.of_four(computers=(1,))
    for seat in (0, 2, 3):
        table.attach(seat)
    table.start_turn(1)
    table.now = 50
    table.happen(Outage(10 * wire.SECOND, 50 * wire.SECOND))
    assert table.told == []


def test_a_computers_seat_is_no_forfeit() -> None:
    table = Table.of_four(computers=(1, 2, 3))
    table.attach(0)
    table.start_turn(1)
    table.fire_until(FOREVER)
    table.finish()
    assert table.closed() == ()


def test_whatever_name_a_computer_has_nobody_sits_there() -> None:
    table = Table.of_four(computers=(1,))
    assert [seat.player for seat in table.state.seats] == ["eleni", "", "maria", "petros"]


# --- since a forfeit -------------------------------------------------------------------------


def test_a_computer_plays_on_in_the_turn_that_runs() -> None:
    table = Table.of_four()
    for seat in range(4):
        table.attach(seat)
    table.start_turn(2)
    table.fire_until(5 * 30.5 + 0.001)
    assert table.state.forfeits == (Forfeit(2, Reason.TIMEOUTS_EXCEEDED),)
    table.replace(2)
    assert table.deadline() is None, "the turn is the computer's now"
    assert shown(table).turn.turn == 1
    assert not shown(table).turn.HasField("deadline")
    gone = shown(table).seats[2]
    assert (gone.presence, gone.computer) == (pb.PRESENCE_FORFEITED, True)
    assert (gone.charged, gone.HasField("window")) == (5, False)
    before = list(table.told)
    table.fire_until(FOREVER)
    table.fire()
    assert table.told == before


def test_a_seat_that_was_forfeited_is_never_charged_again() -> None:
    table = Table.of_four()
    for seat in range(4):
        table.attach(seat)
    table.start_turn(1)
    table.leave(0)
    table.replace(0)
    table.end_turn()
    for _ in range(20):
        table.start_turn(0)
        assert table.deadline() is None
        table.fire_until(table.now + 200)
        table.end_turn()
    assert table.charges() == []
    assert table.told.count(Forfeited(0, Reason.LEFT)) == 1
    before = table.state
    for event in (Attached(0, "here"), Heard(0, 1, "here"), Lost(0, 1, 0), Leaving(0, "again")):
        table.happen(event)
    assert table.state == before, "no way back (X8)"


def test_one_after_the_other_until_all_are_gone() -> None:
    """By each way there is; `rules` then ends the game void."""
    table = Table.of_four()
    for seat in range(4):
        table.attach(seat)
    table.start_turn(0)
    table.fire_until(153)  # idle
    table.replace(0)
    table.end_turn()
    table.start_turn(1)
    table.lose(1)
    table.fire_until(153 + 150)  # away
    table.replace(1)
    table.leave(3)  # not on turn
    table.replace(3)
    table.end_turn()
    table.start_turn(2)
    assert table.deadline() == pytest.approx(153 + 150 + 30.5), "the last one is on the clock"
    table.leave(2)
    table.replace(2)
    assert table.deadline() is None
    table.finish()
    assert [(each.seat, each.reason) for each in table.closed()] == [
        (0, Reason.TIMEOUTS_EXCEEDED),
        (1, Reason.CONNECTION_LOST),
        (3, Reason.LEFT),
        (2, Reason.LEFT),
    ]
    assert sum(isinstance(each, Charged) for each in table.told) == 10


@pytest.mark.parametrize("computers", [(), (0, 1)])
def test_the_last_one_is_told_before_the_end(computers: tuple[int, ...]) -> None:
    """The log may bring the forfeit and the end of the game before the answer of `rules`."""
    table = Table.of_four(computers)
    people = [seat for seat in range(4) if seat not in computers]
    for seat in people:
        table.happen(Leaving(seat, f"{seat}"))
        table.happen(ForfeitRecorded(seat, Reason.LEFT, computer=True))
    table.finish()
    assert [each.seat for each in table.closed()] == people
    assert all(seat.presence is Presence.OUT for seat in table.state.seats)


def test_a_forfeit_that_was_not_asked_for_ends_the_time_and_is_not_announced() -> None:
    table = Table.of_four()
    for seat in range(4):
        table.attach(seat)
    table.start_turn(1)
    table.happen(ForfeitRecorded(1, Reason.LEFT, computer=True))
    assert table.deadline() is None
    assert table.told == []
    gone = shown(table).seats[1]
    assert (gone.presence, gone.computer, gone.forfeit) == (pb.PRESENCE_FORFEITED, True, 0)
    table.finish()
    assert table.closed() == ()


# --- stored ----------------------------------------------------------------------------------


def test_clocks_of_before_there_were_computers_can_be_read() -> None:
    state = domain.begin(("eleni", "nikos"), USUAL, 0)
    text = codec.write(state)
    assert "computer" not in text
    assert codec.read(text) == state
