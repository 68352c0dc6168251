"""ExplainCharges: what a seat was charged for, so that a complaint is answered by one call. By the
pure core with worked sums, and over the wire."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from kafeneio.clock.v1 import clock_pb2 as pb
from kafeneio.clock.v1 import events_pb2
from kafeneio_clock import wire
from kafeneio_clock.explain import Past, Sum, sums
from kafeneio_clock.turns import Cause
from kafeneio_clock.values import Charged, Kept, Outage, StreamEnded

from tests.clock.house import House, message, mover, shown
from tests.clock.table import USUAL, Table
from tests.harness import SEATS
from tests.rules.moves import latest


def explained(table: Table, seat: int = 0) -> list[Sum]:
    """What the seat was charged for."""
    turns = [
        Past(each.turn, each.ended)
        for each in table.told
        if isinstance(each, Kept) and each.turn.seat == seat
    ]
    running = table.state.turn
    if running is not None and running.seat == seat:
        turns.append(Past(running, None))
    charged: dict[int, int] = {}
    for each in table.charges():
        if each.seat == seat:
            charged[each.turn] = charged.get(each.turn, 0) + 1
    return sums(USUAL, turns, charged, table.micros)


def seconds(found: Sum) -> list[tuple[int, float, float]]:
    """The intervals of a charge."""
    return [
        (each.turn, each.began / wire.SECOND, each.ended / wire.SECOND) for each in found.counted
    ]


def test_periods_of_one_move() -> None:
    table = Table.playing()
    table.fire_until(70)
    first, second = explained(table)
    assert (first.cause, first.multiple, seconds(first)) == (Cause.MOVE, 1, [(1, 0, 30.5)])
    assert (second.cause, second.multiple, seconds(second)) == (Cause.MOVE, 2, [(1, 30.5, 61)])


def test_an_absence_that_goes_on_in_the_next_turn() -> None:
    """20 s and 20 s: the charge comes 10 s into the second one (X6)."""
    table = Table.playing()
    for _ in range(2):
        table.lose(0)
        table.fire_until(table.now + 20)
        table.attach(0)
        table.end_turn()
        table.start_turn(1)
        table.now += 5
        table.end_turn()
        table.start_turn(0)
    (charge,) = explained(table)
    assert (charge.turn, charge.cause, charge.multiple) == (3, Cause.AWAY, 1)
    assert seconds(charge) == [(1, 0, 20), (3, 25, 35)]


def test_credits_and_unknown_time_do_not_count() -> None:
    table = Table.playing()
    table.now = 20
    table.happen(Outage(10 * wire.SECOND, 20 * wire.SECOND))
    table.happen(StreamEnded(0, table.state.seats[0].epoch, 20 * wire.SECOND))
    table.now = 25
    table.attach(0)
    table.fire_until(46)
    (charge,) = explained(table)
    assert seconds(charge) == [(1, 0, 10), (1, 25, 45.5)]


def test_what_was_forgiven_is_not_explained_but_ends_a_part() -> None:
    """35 s away, and the move was in the log before the clock asked: nothing is charged, and the
    first 30 s of it never come back."""
    table = Table.playing()
    table.lose(0)
    table.now = 35
    table.attach(0)
    table.end_turn()
    assert table.charges() == []
    table.start_turn(0)
    table.lose(0)
    table.fire_until(70)
    (charge,) = explained(table)
    assert (charge.turn, charge.multiple) == (2, 2)
    assert seconds(charge) == [(1, 30, 35), (2, 35, 60)]


def test_ordinary_turns_leave_nothing() -> None:
    table = Table.playing()
    table.now = 30.5
    table.end_turn()
    table.start_turn(1)
    table.now = 61.001
    table.end_turn()
    (kept,) = (each for each in table.told if isinstance(each, Kept))
    assert (kept.turn.seat, kept.turn.number) == (1, 2)


STEPS = st.lists(
    st.tuples(st.sampled_from(["wait", "lose", "attach", "turn", "outage"]), st.integers(0, 70)),
    max_size=25,
)


@settings(max_examples=200, deadline=None)
@given(STEPS)
def test_every_charge_adds_up(steps: list[tuple[str, int]]) -> None:
    """As many sums as charges, of the same causes; each is one whole period, of intervals that are
    in order and that nothing else counts again."""
    table = Table.playing()
    for step, length in steps:
        if step == "outage":
            began = table.micros
            table.now += length
            table.happen(Outage(began, table.micros))
            continue
        table.fire_until(table.now + length)
        if step == "lose":
            table.lose(0)
        elif step == "attach":
            table.attach(0)
        elif step == "turn" and table.turn is not None:
            seat = 1 - table.turn[1]
            table.end_turn()
            table.start_turn(seat)
    for seat in (0, 1):
        found = explained(table, seat)
        charges = [each for each in table.charges() if each.seat == seat]
        assert [(each.turn, each.cause) for each in found] == [
            (each.turn, each.cause) for each in charges
        ]
        for cause, period in ((Cause.MOVE, USUAL.period), (Cause.AWAY, USUAL.move)):
            ours = [each for each in found if each.cause is cause]
            for each in ours:
                assert sum(part.ended - part.began for part in each.counted) == period
                assert each.counted[-1].ended <= each.at, "a credit may lie between"
            parts = [part for each in ours for part in each.counted]
            assert all(a.ended <= b.began for a, b in pairwise(parts))
        assert all(isinstance(each, Charged) for each in charges)


def length(charge: pb.Charge) -> int:
    """What its intervals add up to, in nanoseconds."""
    return sum(each.ended.ToNanoseconds() - each.began.ToNanoseconds() for each in charge.counted)


@pytest.mark.parametrize("connected", [True, False])
async def test_five_charges_are_explained(database_url: str, keys: Path, connected: bool) -> None:
    """To the player of the seat and to operators, after the end too, and always alike."""
    async with House.serve(
        database_url, keys, clock_move_seconds=0.3, clock_grace_seconds=0.1
    ) as house:
        game = await house.rules.start(target=3)
        seat = game.position.turn.seat
        stream, _ = await house.clock.attended(game.game_id, SEATS[seat])
        if not connected:
            stream.cancel()
        events = await house.clock.announced(game.game_id, "clock_closed")
        charged = [each for each in events if each.HasField("timeout_incurred")]
        account = await house.clock.explain(game.game_id, mover(game))
        assert [each.charged for each in account.charges] == [1, 2, 3, 4, 5]
        assert [each.sequence for each in account.charges] == [each.sequence for each in charged]
        for told, charge in zip(charged, account.charges, strict=True):
            assert charge.cause == told.timeout_incurred.cause
            assert charge.charged_at == told.occurred_at
            away = charge.cause == events_pb2.CHARGE_CAUSE_AWAY
            assert length(charge) == charge.length.ToNanoseconds()
            assert length(charge) == (300_000_000 if away else 400_000_000)
            assert charge.counted[-1].ended == charge.at
            assert charge.charged_at.ToNanoseconds() >= charge.at.ToNanoseconds()
        away_charges = [c for c in account.charges if c.cause == events_pb2.CHARGE_CAUSE_AWAY]
        assert len(away_charges) == (0 if connected else 5)
        assert [each.multiple for each in account.charges] == [1, 2, 3, 4, 5]
        (turn,) = account.turns
        assert turn.began == game.position.turn.since
        assert turn.ended.ToNanoseconds() >= account.charges[-1].at.ToNanoseconds()
        assert (account.timeouts, account.seat) == (5, seat)
        again = await house.clock.explain(game.game_id, seat=seat)
        again.at.CopyFrom(account.at)
        assert again == account
        other = await house.clock.explain(game.game_id, seat=1 - seat)
        assert not other.charges


async def test_the_turns_of_before_are_explained_too(brisk: House) -> None:
    """A charge, a move, a credit in a later turn: all of it is there when the game runs on."""
    game = await brisk.rules.start()
    seat = game.position.turn.seat
    stream, _ = await brisk.clock.attended(game.game_id, mover(game))
    await brisk.clock.announced(game.game_id, "timeout_incurred")
    position = latest(await brisk.rules.play_turn(game.game_id, game.position))
    await shown(stream, lambda c: c.turn.turn == 2)
    await brisk.clock.pause(game.game_id)
    await brisk.clock.resume(game.game_id)
    account = await brisk.clock.explain(game.game_id, mover(game))
    (charge,) = account.charges
    assert (charge.turn, charge.multiple, length(charge)) == (1, 1, 1_200_000_000)
    (turn,) = account.turns
    assert turn.ended == position.turn.since
    assert [span.cause for span in turn.spans] == [events_pb2.CHARGE_CAUSE_MOVE]
    assert not account.credits
    other = await brisk.clock.explain(game.game_id, seat=1 - seat)
    (credited,) = other.credits
    assert credited.credited.reason == events_pb2.CREDIT_REASON_PAUSED
    (running,) = other.turns
    assert [each.reason for each in running.credits] == [events_pb2.CREDIT_REASON_PAUSED]
    assert not running.HasField("ended")


async def test_a_seat_that_cost_nothing(house: House) -> None:
    game = await house.rules.start()
    stream, _ = await house.clock.attended(game.game_id, SEATS[0])
    await message(stream)
    account = await house.clock.explain(game.game_id, SEATS[0], 0)
    assert not account.charges
    assert not account.credits
    assert account.away.ToNanoseconds() == 0
