"""Whatever event of `rules` the bus loses, the clock hears of it soon, also where none follows."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from random import Random

import pytest
from kafeneio.clock.v1 import clock_pb2 as pb
from kafeneio.rules.v1 import actions_pb2
from kafeneio_clock import domain, listening, wire
from kafeneio_clock.values import (
    Attached,
    Finished,
    Leaving,
    Pausing,
    StreamEnded,
    TurnEnded,
    TurnStarted,
)
from kafeneio_runtime.bus import Event

from tests.clock.house import House, kinds
from tests.clock.table import USUAL, Table
from tests.fixtures.waiting import eventually
from tests.harness import SEATS, SERVICE

SECOND = wire.SECOND


@pytest.fixture
def attentive() -> Iterator[None]:
    """A clock asks after a tenth of a second."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(listening, "LISTEN", SECOND // 10)
        patch.setattr(listening, "LONGEST", SECOND)
        yield


def losing(lost: Collection[int]) -> object:
    """Events of these numbers never come."""

    def mangle(events: Sequence[Event]) -> Sequence[Event]:
        return [event for event in events if event.sequence not in lost]

    return mangle


async def has_heard_all(house: House, game_id: str) -> bool:
    """Whether the clock has heard everything that `rules` has announced."""
    said = (await house.rules.events(game_id))[-1].sequence
    heard = await house.database.fetchval(
        "SELECT heard FROM clocks WHERE game_id = $1::text::uuid", game_id
    )
    return bool(heard == said)


# started, turn 1, its end, turn 2, its end, turn 3, its end, finished
@pytest.mark.parametrize("lost", range(1, 9))
async def test_any_one_event(house: House, attentive: None, lost: int) -> None:
    """After every step, without another one: the clock knows what `rules` knows."""
    house.bus.mangle = losing({lost})  # type: ignore[assignment]
    game = await house.rules.start()
    await eventually(lambda: has_heard_all(house, game.game_id))
    for seed in (1, 2):
        position = (await house.rules.get(game.game_id)).position
        await house.rules.play_turn(game.game_id, position, Random(seed))
        await eventually(lambda: has_heard_all(house, game.game_id))
        clock = await house.clock.get(game.game_id)
        assert clock.turn.turn == (await house.rules.turn(game.game_id)).turn.turn
    await house.rules.abort(game.game_id)
    events = await house.clock.announced(game.game_id, "clock_closed")
    assert kinds(events) == ["clock_closed"], "nobody was charged for it"
    assert await has_heard_all(house, game.game_id)


async def test_a_forfeit_and_the_end_that_it_brings(house: House, attentive: None) -> None:
    """The clock has it recorded; then its last event is lost."""
    game = await house.rules.start()

    def mangle(events: Sequence[Event]) -> Sequence[Event]:
        return [event for event in events if event.type != "game_finished"]

    house.bus.mangle = mangle
    await house.clock.leave(game.game_id, SEATS[0])
    events = await house.clock.announced(game.game_id, "clock_closed")
    assert kinds(events) == ["seat_forfeited", "clock_closed"]
    (forfeit,) = events[-1].clock_closed.forfeits
    assert (forfeit.seat, forfeit.reason) == (0, actions_pb2.FORFEIT_REASON_LEFT)


async def test_the_end_of_a_turn_and_of_the_game(brisk: House) -> None:
    """His time seems to run; before he is charged `rules` is asked."""
    brisk.bus.mangle = losing({3, 4})  # type: ignore[assignment]
    game = await brisk.rules.start()
    await brisk.rules.abort(game.game_id)
    events = await brisk.clock.announced(game.game_id, "clock_closed")
    assert "timeout_incurred" not in kinds(events)


async def test_the_end_while_the_game_is_paused(house: House, attentive: None) -> None:
    house.bus.mangle = losing({3, 4})  # type: ignore[assignment]
    game = await house.rules.start()
    await house.clock.pause(game.game_id)
    await house.rules.abort(game.game_id)
    events = await house.clock.announced(game.game_id, "clock_closed")
    assert kinds(events) == ["clock_paused", "clock_credited", "clock_closed"]


async def test_who_misses_the_end_has_the_clock_ask(house: House) -> None:
    """Here the time of a move does not run out for long, and the clock would be as late."""
    house.bus.mangle = losing({3, 4})  # type: ignore[assignment]
    game = await house.rules.start()
    await house.rules.abort(game.game_id)
    assert await house.clock.events(game.game_id) == []
    request = pb.ListEventsRequest(game_id=game.game_id, refresh=True)
    answer = await house.rules.ask(house.clock.stub.ListEvents, request, SERVICE)
    assert kinds(answer.events) == ["clock_closed"]
    again = await house.rules.ask(house.clock.stub.ListEvents, request, SERVICE)
    assert again == answer


async def test_where_rules_can_not_be_asked_it_tells_what_it_knows(house: House) -> None:
    house.bus.mangle = losing({3, 4})  # type: ignore[assignment]
    game = await house.rules.start()
    await house.clock.get(game.game_id)
    await house.rules.abort(game.game_id)
    house.clock.directory.cut = True
    request = pb.ListEventsRequest(game_id=game.game_id, refresh=True)
    answer = await house.rules.ask(house.clock.stub.ListEvents, request, SERVICE)
    assert kinds(answer.events) == []
    house.clock.directory.cut = False
    answer = await house.rules.ask(house.clock.stub.ListEvents, request, SERVICE)
    assert kinds(answer.events) == ["clock_closed"]


async def test_a_game_of_which_nothing_was_heard(house: House) -> None:
    """Whoever asks for it makes the clock ask."""
    house.bus.mangle = lambda events: []
    game = await house.rules.start()
    assert await house.clock.events(game.game_id) == []
    assert (await house.clock.get(game.game_id)).turn.turn == 1


async def test_rules_away_while_the_clock_listens(
    house: House, attentive: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It asks again."""
    house.bus.mangle = losing({2})  # type: ignore[assignment]
    asked: list[None] = []

    def cut() -> tuple[tuple[str, str], ...]:
        asked.append(None)
        raise OSError("the line is cut")

    monkeypatch.setattr(house.clock.directory, "metadata", cut)
    game = await house.rules.start()

    async def has_tried_twice() -> bool:
        return len(asked) >= 2

    await eventually(has_tried_twice)
    monkeypatch.undo()
    clock = await house.clock.until(game.game_id, lambda each: each.turn.turn == 1)
    assert [seat.charged for seat in clock.seats] == [0, 0]


# --- when it asks ------------------------------------------------------------------------------


def seconds(state_now: tuple[object, int]) -> float | None:
    """When the clock asks next, in seconds."""
    state, now = state_now
    at = listening.listens_at(state, now)  # type: ignore[arg-type] # a state of the table
    return None if at is None else at / SECOND


def test_it_asks_ever_less_often_while_nobody_is_on_turn() -> None:
    table = Table(domain.begin(SEATS, USUAL, 0))
    state = table.state._replace(idle_since=0)
    asked, now = list[float](), 0
    while len(asked) < 9:
        at = listening.listens_at(state, now)
        assert at is not None
        assert at > now
        asked.append(at / SECOND)
        now = at
    assert asked == [3, 6, 12, 24, 48, 96, 120, 180, 240]


def test_when_a_clock_is_quiet() -> None:
    begun = domain.begin(SEATS, USUAL, 10 * SECOND)
    assert seconds((begun, 10 * SECOND)) == 13
    assert not listening.is_quiet(begun, 13 * SECOND - 1)
    assert listening.is_quiet(begun, 13 * SECOND)
    for seat in (0, 1):
        begun = domain.advance(begun, Attached(seat, "here"), 10 * SECOND)[0]
    playing = domain.advance(begun, TurnStarted(1, 0, 20 * SECOND), 20 * SECOND)[0]
    assert seconds((playing, 20 * SECOND)) is None, "his time runs"
    assert not listening.is_quiet(playing, 90 * SECOND)
    between = domain.advance(playing, TurnEnded(1, 25 * SECOND), 25 * SECOND)[0]
    assert seconds((between, 25 * SECOND)) == 28
    paused = domain.advance(playing, Pausing("why"), 40 * SECOND)[0]
    assert seconds((paused, 40 * SECOND)) == 43
    gone = domain.advance(playing, StreamEnded(0, 1, 22 * SECOND), 22 * SECOND)[0]
    assert seconds((gone, 22 * SECOND)) == 23, "his time stands still"
    leaving = domain.advance(between, Leaving(0, "x"), 26 * SECOND)[0]
    assert seconds((leaving, 26 * SECOND)) is None, "it asks for the forfeit anyhow"
    over = domain.advance(between, Finished(), 26 * SECOND)[0]
    assert seconds((over, 26 * SECOND)) is None


def test_the_turn_of_a_computer() -> None:
    table = Table.of_four(computers=(1,))
    state = domain.advance(table.state, TurnStarted(1, 1, 5 * SECOND), 5 * SECOND)[0]
    assert domain.expiry(state) is None
    assert seconds((state, 5 * SECOND)) == 8
