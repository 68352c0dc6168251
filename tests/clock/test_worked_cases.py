"""Every worked case of the rules of time (X), by the pure core. Times are in seconds here."""

from __future__ import annotations

import pytest
from kafeneio_clock import domain, wire
from kafeneio_clock.turns import Cause, CreditReason, Options
from kafeneio_clock.values import (
    Attached,
    Charged,
    ConnectionRestored,
    Credited,
    Forfeit,
    Outage,
    Presence,
    Reason,
    StreamEnded,
)

from tests.clock.table import USUAL, Table


def away(table: Table, seconds: float) -> None:
    """The seat on turn goes away at once and comes back after a while."""
    table.lose(0)
    table.fire_until(table.now + seconds)
    table.attach(0)


@pytest.mark.parametrize(("used", "window"), [(0, 150), (1, 120), (2, 90), (3, 60), (4, 30)])
def test_x4_window(used: int, window: int) -> None:
    table = Table.playing(used=used)
    seat = table.state.seats[0]
    assert wire.window(seat, seat.away, table.state.options) == window * wire.SECOND
    table.lose(0)
    table.fire_until(table.now + window - 0.001)
    assert table.state.seats[0].presence is Presence.LOST
    table.fire_until(table.now + 0.002)
    assert table.state.forfeits == (Forfeit(0, Reason.CONNECTION_LOST),)


@pytest.mark.parametrize(("seconds", "used"), [(29, 0), (30, 1), (95, 3), (149, 4)])
def test_x5_back_in_time(seconds: float, used: int) -> None:
    table = Table.playing()
    away(table, seconds)
    assert table.state.seats[0].charged == used
    assert table.state.seats[0].presence is Presence.ATTACHED
    assert not table.state.forfeits
    assert ConnectionRestored(0) in table.told
    # Its move clock, which stood still, goes on with what it had left: all of it here.
    assert table.move_left() == USUAL.period
    assert all(each.cause is Cause.AWAY for each in table.charges())


def test_x4_150_seconds() -> None:
    table = Table.playing()
    table.lose(0)
    table.fire_until(150)
    assert table.state.forfeits == (Forfeit(0, Reason.CONNECTION_LOST),)
    assert [each.charged for each in table.charges()] == [1, 2, 3, 4, 5]


@pytest.mark.parametrize(("seconds", "out"), [(75, False), (90, True)])
def test_x6_with_two_used(seconds: float, out: bool) -> None:
    table = Table.playing(used=2)
    table.lose(0)
    table.fire_until(seconds)
    assert bool(table.state.forfeits) is out
    if not out:
        table.attach(0)
        assert table.state.seats[0].charged == 4


def test_x4_lost_when_not_on_turn() -> None:
    table = Table.playing()
    table.lose(1)
    table.now = 200
    table.end_turn()
    table.start_turn(1)
    table.fire_until(220)
    table.attach(1)
    assert table.charges() == []
    assert table.state.seats[1].presence is Presence.ATTACHED
    # "A seat whose turn came while it was away finds a full 30 s when it is back in time."
    assert table.move_left() == USUAL.period
    assert table.deadline() == pytest.approx(250.5)


def test_x6_three_absences_of_20_seconds() -> None:
    table = Table.playing()
    for _ in range(3):
        away(table, 20)
        table.end_turn()
        table.start_turn(1)
        table.now += 5
        table.end_turn()
        table.start_turn(0)
    assert table.state.seats[0].charged == 2
    assert table.state.seats[0].away == 60 * wire.SECOND
    assert table.state.seats[1].charged == 0


def test_x3_idle_for_five_periods() -> None:
    table = Table.playing()
    table.fire_until(5 * 30.5)
    assert table.state.seats[0].charged == 4, "not more than five periods have passed"
    table.fire_until(5 * 30.5 + 0.001)
    assert table.state.forfeits == (Forfeit(0, Reason.TIMEOUTS_EXCEEDED),)
    assert [each.charged for each in table.charges()] == [1, 2, 3, 4, 5]


def test_x10_clock_down_for_40_seconds() -> None:
    table = Table.playing()
    table.now = 60
    table.happen(Outage(20 * wire.SECOND, 60 * wire.SECOND))
    assert table.told == [Credited(0, 40 * wire.SECOND, CreditReason.CLOCK_OUTAGE)]
    table.fire_until(70.5)
    assert table.charges() == []
    table.fire_until(71)
    assert table.charges() == [Charged(0, 1, 1, Cause.MOVE)]


# --- the rules beside the table ---------------------------------------------------------------


def test_x2_the_seat_stays_on_turn_and_a_new_period_starts() -> None:
    table = Table.playing()
    table.fire_until(31)
    assert table.charges() == [Charged(0, 1, 1, Cause.MOVE)]
    assert table.state.turn is not None
    assert table.deadline() == pytest.approx(61)


def test_x11_the_next_period_begins_where_the_last_one_ended() -> None:
    """However late it was charged."""
    prompt, late = Table.playing(), Table.playing()
    prompt.fire_until(60)
    late.now = 60
    late.fire()
    assert prompt.state == late.state
    assert prompt.told == late.told


def test_x11_a_move_that_slips_in_counts() -> None:
    table = Table.playing()
    table.now = 31  # nobody has asked yet
    table.end_turn()
    table.start_turn(1)
    table.fire()
    assert table.charges() == []


def test_x11_away_is_charged_when_it_reaches_a_multiple() -> None:
    table = Table.playing()
    table.lose(0)
    table.fire_until(29.999999)
    assert table.charges() == []
    table.fire_until(30)
    assert table.charges() == [Charged(0, 1, 1, Cause.AWAY)]


def test_x5_the_move_clock_stands_still() -> None:
    table = Table.playing()
    table.now = 10
    away(table, 25)
    assert table.now == 35
    assert table.deadline() == pytest.approx(55.5)
    table.fire_until(55)
    assert table.charges() == []


def test_x7_leaving_is_at_once_whoever_is_on_turn() -> None:
    for seat in (0, 1):
        table = Table.playing()
        table.leave(seat)
        assert table.state.forfeits == (Forfeit(seat, Reason.LEFT, "request"),)
        assert table.charges() == []


def test_x8_no_way_back() -> None:
    table = Table.playing()
    table.leave(0)
    before = table.state
    table.attach(0)
    assert table.state == before


def test_x9_an_open_window_at_the_end_counts_as_connected() -> None:
    table = Table.playing()
    table.lose(0)
    table.now = 149
    table.finish()
    assert table.closed() == ()


def test_x10_an_unknown_seat_is_not_charged() -> None:
    table = Table.playing()
    table.attach(0)
    table.now = 10
    table.happen(StreamEnded(0, 1, 10 * wire.SECOND))
    assert table.deadline() == 30, "then it counts as lost"
    table.fire_until(25)
    table.attach(0)
    assert table.told == [Credited(0, 15 * wire.SECOND, CreditReason.STREAM_ENDED)]
    assert table.deadline() == pytest.approx(45.5)


def test_x10_who_does_not_come_back_is_lost_then() -> None:
    table = Table.playing()
    table.attach(0)
    table.happen(StreamEnded(0, 1, 0))
    table.fire_until(49.9)
    assert table.charges() == []
    assert table.state.seats[0].presence is Presence.LOST
    assert table.state.seats[0].since == 20 * wire.SECOND
    table.fire_until(50)
    assert len(table.charges()) == 1


def test_x10_an_absence_is_shortened_by_an_outage() -> None:
    table = Table.playing()
    table.lose(0)
    table.now = 50
    table.happen(Outage(10 * wire.SECOND, 50 * wire.SECOND))
    table.fire_until(69.9)
    assert table.charges() == []
    table.fire_until(70)
    assert len(table.charges()) == 1


def test_x12_reasons_are_kept_apart() -> None:
    table = Table.playing(used=4)
    table.fire_until(31)
    assert table.state.forfeits[0].reason is Reason.TIMEOUTS_EXCEEDED
    table = Table.playing(used=4)
    table.lose(0)
    table.fire_until(31)
    assert table.state.forfeits[0].reason is Reason.CONNECTION_LOST


def test_12_seconds_to_attend() -> None:
    state = domain.begin(("eleni", "nikos"), Options(30, 1, 5, 12, 20), 100)
    assert domain.next_deadline(state) == 112
    state, told = domain.advance(state, Attached(0, "here"), 105)
    assert told == []
    state, _ = domain.advance(state, Attached(1, "here"), 113)
    assert [seat.presence for seat in state.seats] == [Presence.ATTACHED] * 2
    assert [seat.since for seat in state.seats] == [100, 113], "he was lost from 112 to 113"
