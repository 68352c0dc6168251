"""What the house's own faults give back: the time in which no replica of a service was alive, once,
however much of it there was and whoever hears of it how often (X10)."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from kafeneio.clock.v1 import clock_pb2 as pb
from kafeneio.clock.v1 import events_pb2
from kafeneio_clock import wire
from kafeneio_clock.turns import CreditReason
from kafeneio_clock.values import Credited, Outage, RulesOutage
from kafeneio_runtime.bus import Event

from tests.clock.house import House, kinds, mover
from tests.clock.table import Table
from tests.fixtures.waiting import eventually
from tests.harness import SEATS

OUTAGES = st.lists(
    st.tuples(st.sampled_from([Outage, RulesOutage]), st.integers(-50, 300), st.integers(1, 100)),
    max_size=6,
)


@settings(max_examples=300, deadline=None)
@given(outages=OUTAGES, lost=st.booleans(), data=st.data())
def test_every_moment_is_given_back_once(
    outages: list[tuple[type[Outage | RulesOutage], int, int]], lost: bool, data: st.DataObject
) -> None:
    """Of `clock`, of `rules`, of both; told in any order, and again and again. The turn began at 0
    and has lasted for 400 s; the deadline moves by the seconds in which one of them was away."""
    table = Table.playing()
    if lost:
        table.lose(0)
    before = table.deadline()
    assert before is not None
    table.now = 400
    told = data.draw(st.permutations(outages)) + data.draw(st.permutations(outages))
    for kind, began, length in told:
        table.happen(kind(began * wire.SECOND, (began + length) * wire.SECOND))
    away = {
        second
        for _, began, length in outages
        for second in range(max(0, began), max(0, began + length))
    }
    # What comes after the deadline as it was, and as it has become, moves it no more.
    expected, counted = before, 0
    second = 0
    while counted < int(before):
        counted += second not in away
        expected += second in away
        second += 1
    while before != int(before) and second in away:  # the last half second lies behind it
        expected += 1
        second += 1
    assert table.deadline() == expected
    given = [each for each in table.told if isinstance(each, Credited)]
    assert sum(each.duration for each in given) == len(away) * wire.SECOND
    assert {each.reason for each in given} <= {
        CreditReason.CLOCK_OUTAGE,
        CreditReason.RULES_OUTAGE,
    }
    assert table.charges() == []


@pytest.mark.usefixtures("sharp")
async def test_an_outage_of_both_is_credited_to_every_running_game(brisk: House) -> None:
    """In part at the same time: the charge that comes in the end has counted no moment of either,
    and a replica that starts later credits nothing again."""
    games = [await brisk.rules.start() for _ in range(3)]
    for game in games:
        await brisk.clock.until(game.game_id, lambda c: c.turn.turn == 1)
    await brisk.rules.database.execute(
        "INSERT INTO outages (began, ended)"
        " VALUES (clock_timestamp(), clock_timestamp() + interval '0.7 s')"
    )
    await brisk.restart_clock(after=1.2)
    for game in games:
        events = await brisk.clock.announced(game.game_id, "timeout_incurred")
        account = await brisk.clock.explain(game.game_id, mover(game))
        reasons = [each.credited.reason for each in account.credits]
        assert reasons.count(events_pb2.CREDIT_REASON_CLOCK_OUTAGE) >= 1
        assert "timeout_incurred" not in kinds(events)[: len(reasons)]
        (turn,) = account.turns
        credited = [
            (each.began.ToNanoseconds(), each.ended.ToNanoseconds()) for each in turn.credits
        ]
        assert sum(ended - began for began, ended in credited) == sum(
            each.credited.duration.ToNanoseconds() for each in account.credits
        )
        for counted in account.charges[0].counted:
            began, ended = counted.began.ToNanoseconds(), counted.ended.ToNanoseconds()
            assert all(ended <= a or began >= b for a, b in credited)
    before = await brisk.snapshot()
    await brisk.another()
    for game in games:
        events = await brisk.clock.events(game.game_id)
        assert kinds(events).count("timeout_incurred") <= 5
    after = await brisk.snapshot()
    assert after["turns"] == before["turns"]


async def _as_if_begun_earlier(house: House, seconds: int) -> None:
    """The running turn began so many seconds before it did: as if they had passed."""
    await house.database.execute(
        "UPDATE clocks SET version = version + 1, deadline = deadline - $1 * interval '1 s',"
        " due_at = due_at - $1 * interval '1 s', state = jsonb_set(jsonb_set(state,"
        " '{turn,since}', to_jsonb((state #>> '{turn,since}')::bigint - $1 * 1000000)),"
        " '{turn,spans,0,1}', to_jsonb((state #>> '{turn,spans,0,1}')::bigint - $1 * 1000000))",
        seconds,
    )


@pytest.mark.parametrize("moves", [1, 4])
async def test_half_a_minute_without_the_bus_charges_nobody(
    database_url: str, keys: Path, moves: int
) -> None:
    """What was played meanwhile is in the log; the clock asks there before it charges, and goes on
    from where the log is."""
    async with House.serve(database_url, keys) as house:
        game = await house.rules.start()
        for who in SEATS:
            await house.clock.attended(game.game_id, who)
        await house.clock.until(game.game_id, lambda c: c.turn.turn == 1)
        house.bus.open.clear()
        position = await house.rules.play_turns(game, moves)
        await _as_if_begun_earlier(house, 31)
        clock = await house.clock.until(game.game_id, lambda c: c.turn.turn == moves + 1)
        assert [each.charged for each in clock.seats] == [0, 0]
        assert clock.turn.since == position.turn.since
        left = clock.turn.deadline.ToNanoseconds() - clock.turn.since.ToNanoseconds()
        assert left == 30_500_000_000
        house.bus.open.set()
        last = await house.rules.play_turn(game.game_id, position)
        clock = await house.clock.until(game.game_id, lambda c: c.turn.turn == moves + 2)
        assert last is not None
        assert [each.presence for each in clock.seats] == [pb.PRESENCE_ATTACHED] * 2
        assert kinds(await house.clock.events(game.game_id)) == []


async def test_what_was_heard_is_known_without_the_inbox(house: House) -> None:
    """It is emptied after a while: what the bus brings again all the same changes nothing."""
    kept: list[Event] = []

    def mangle(events: Sequence[Event]) -> Sequence[Event]:
        again = [*kept, *events]
        kept.extend(events)
        return again

    house.bus.mangle = mangle
    game = await house.rules.start()
    await house.clock.until(game.game_id, lambda c: c.turn.turn == 1)

    async def brought() -> bool:
        return bool(kept)

    await eventually(brought)  # the first call may have been faster than the bus
    await house.database.execute("DELETE FROM inbox")
    before = await house.clock.get(game.game_id)
    await house.rules.play_turn(game.game_id, game.position)
    after = await house.clock.until(game.game_id, lambda c: c.turn.turn == 2)
    assert after.version == before.version + 1
    assert await house.database.fetchval("SELECT count(*) FROM inbox") == 2
