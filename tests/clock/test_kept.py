"""States that are not read again, and turns that are measured the short way: nobody can tell."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import islice
from uuid import UUID

from hypothesis import given
from hypothesis import strategies as st
from kafeneio_clock import codec, domain, wire
from kafeneio_clock.keeper import Decide, Keeper
from kafeneio_clock.kept import States
from kafeneio_clock.names import SCHEMA
from kafeneio_clock.rows import Row
from kafeneio_clock.storage import Clocks
from kafeneio_clock.turns import Cause, Credit, CreditReason, Interval, Options, Span, Turn
from kafeneio_clock.values import (
    Event,
    Finished,
    Lost,
    Presence,
    State,
    TurnEnded,
    TurnStarted,
)
from kafeneio_runtime.store import Store

from tests.clock.table import USUAL
from tests.clock.test_store import LONG_AGO, put

QUICK = Options(move=30, grace=1, timeouts=5, silent=12, unknown=20)
A, B = UUID(int=1), UUID(int=2)


def state_at(turn: int) -> State:
    """A state that is told from others by its turn."""
    begun = domain.begin(("eleni", "nikos"), USUAL, 0)
    return domain.advance(begun, TurnStarted(turn, 0, 5), 5)[0]


def test_the_newest_version_is_kept() -> None:
    states = States()
    assert states.known([A, B]) == {}
    states.keep(A, 3, state_at(3))
    states.keep(A, 2, state_at(2))
    assert states.known([A, B]) == {A: (3, state_at(3))}
    states.keep(A, 4, state_at(4))
    assert states.known([A])[A] == (4, state_at(4))
    over = domain.advance(state_at(4), Finished(), 9)[0]
    states.keep(A, 5, over)
    assert states.known([A]) == {}, "a game that is over needs no room"


def test_who_was_not_used_for_longest_makes_room() -> None:
    states = States(most=2)
    for number in (1, 2, 1, 3):
        states.keep(UUID(int=number), number, state_at(number))
    assert set(states.known(UUID(int=number) for number in range(5))) == {
        UUID(int=1),
        UUID(int=3),
    }


def happening(events: Sequence[Event]) -> Decide:
    """These, whatever the clock."""
    return lambda state, now: events


async def test_a_replica_sees_what_another_one_has_written(database_url: str) -> None:
    """However often each has read the clock before."""
    store = await Store.open(database_url, SCHEMA)
    here, there = Clocks(store), Clocks(store)
    (game_id,) = await put(here, 1)
    keepers = [Keeper(clocks, lambda row: None) for clocks in (here, there)]
    seen: list[tuple[int, Presence]] = []
    for number in range(6):
        at = LONG_AGO + number * wire.SECOND
        turn = number + 2
        events = (TurnEnded(turn - 1, at), TurnStarted(turn, turn % 2, at))
        row = await keepers[number % 2].apply(game_id, happening(events))
        assert row is not None
        assert row.state.turn is not None
        assert row.state.turn.number == turn
        seen.append((row.version, row.state.seats[0].presence))
    assert [version for version, _ in seen] == [2, 3, 4, 5, 6, 7]
    loaded = await here.load(game_id)
    assert loaded is not None
    assert codec.read(codec.write(loaded.state)) == loaded.state
    for keeper in keepers:
        await keeper.close()
    await store.close()


async def test_what_was_rolled_back_is_not_kept(database_url: str) -> None:
    store = await Store.open(database_url, SCHEMA)
    clocks = Clocks(store)
    (game_id,) = await put(clocks, 1)
    written: list[Row] = []
    keeper = Keeper(clocks, written.append)
    lost = Lost(0, 1, LONG_AGO + wire.SECOND)
    try:
        async with clocks.transaction() as work:
            row = (await work.lock([game_id]))[game_id]
            write = keeper.decided(row, happening((lost,)))
            await keeper.write(work, [write])
            raise RuntimeError("the line is cut")
    except RuntimeError:
        pass
    async with clocks.transaction() as work:
        again = (await work.lock([game_id]))[game_id]
    assert (again.version, again.state) == (row.version, row.state)
    assert written == []
    await keeper.close()
    await store.close()


@st.composite
def turns(draw: st.DrawFn) -> Turn:
    """Turns of one span or several, with credits or none."""
    count = draw(st.integers(0, 3))
    at, spans = 100, list[Span]()
    for number in range(count):
        began = at
        at += draw(st.integers(1, 90))
        last = number == count - 1
        ended = None if last and draw(st.booleans()) else at
        spans.append(Span(draw(st.sampled_from(Cause)), began, ended))
    turn = Turn(1, 0, 100, draw(st.integers(0, 95)), tuple(spans), (), draw(st.integers(0, 6)))
    if draw(st.booleans()):
        began = draw(st.integers(90, 200))
        given_ = Interval(began, began + draw(st.integers(1, 60)))
        turn, _ = turn.credited(given_, CreditReason.PAUSED)
    return turn


@given(turns())
def test_the_short_way_comes_to_the_same(turn: Turn) -> None:
    crossings = turn.crossings(QUICK)
    assert turn.next_crossing(QUICK) == next(islice(crossings, turn.charged, None), None)
    if len(turn.spans) == 1:
        there = turn.spans[0].cause is Cause.MOVE and not turn.credits
        within = next(turn.crossings(QUICK), None) is None
        assert turn.is_ordinary(QUICK) is (there and within)


def test_a_credit_is_an_interval_with_a_reason() -> None:
    """The short way is not taken where there is one."""
    there = Span(Cause.MOVE, 100, None)
    credit = Credit(110, 120, CreditReason.PAUSED)
    plain = Turn(1, 0, 100, 0, (there,))
    crossing = plain.next_crossing(QUICK)
    assert crossing is not None
    assert crossing.at == 131
    later = Turn(1, 0, 100, 0, (there,), (credit,)).next_crossing(QUICK)
    assert later is not None
    assert later.at == 141
