"""Whatever event the bus loses, `settlement` asks for it within a few seconds of the first witness.

`rules` and `clock` are played here; they count who asks them for what.
"""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
from kafeneio.clock.v1 import clock_pb2
from kafeneio.rules.v1 import game_pb2
from kafeneio.settlement.v1 import settlement_pb2 as pb
from kafeneio_runtime.bus import Event
from kafeneio_settlement import asking, background

from tests.fixtures.waiting import eventually
from tests.settlement.house import House, Says, new_id
from tests.settlement.test_witnesses import Clock, Rules, others

STARTED = "UPDATE games SET started_at = started_at - interval '2 minutes'"


@pytest.fixture
def prompt(monkeypatch: pytest.MonkeyPatch) -> None:
    """A house that looks all the time, and asks as soon as it may."""
    monkeypatch.setattr(background, "MISSING_SECONDS", 0.02)
    monkeypatch.setattr(background, "WITNESS_SECONDS", 0.1)


class Asked:
    """`rules` and `clock` of one game; `rules_says` and `clock_says` are what they tell if they
    are asked, and may grow."""

    def __init__(self) -> None:
        self.says = Says(new_id())
        self.rules = CountingRules()  # type: ignore[abstract] # only this is asked
        self.clock = CountingClock()  # type: ignore[abstract]

    def rules_says(self, *events: Event) -> None:
        """From now on."""
        self.rules.say(*events)

    def clock_says(self, *events: Event) -> None:
        """From now on."""
        self.clock.say(*events)


class CountingRules(Rules):
    """Knows how often it was asked, and for which games."""

    def __init__(self) -> None:
        super().__init__()
        self.asked = 0
        self.names: set[str] = set()

    def say(self, *events: Event) -> None:
        """What it tells from now on."""
        Rules.__init__(self, *events)

    async def ListEvents(
        self, request: game_pb2.ListEventsRequest, context: object
    ) -> game_pb2.ListEventsResponse:
        """One event a page."""
        self.asked += 1
        self.names.add(request.game_id)
        return await super().ListEvents(request, context)


class CountingClock(Clock):
    """The same; asked to refresh it hears that the game is over, if it may."""

    def __init__(self) -> None:
        super().__init__()
        self.asked = self.refreshed = 0
        self.closing: Event | None = None

    def say(self, *events: Event) -> None:
        """What it tells from now on."""
        Clock.__init__(self, *events)

    async def ListEvents(
        self, request: clock_pb2.ListEventsRequest, context: object
    ) -> clock_pb2.ListEventsResponse:
        """One event a page."""
        self.asked += 1
        self.refreshed += request.refresh
        if request.refresh and self.closing is not None:
            self.say(self.closing)
        return await super().ListEvents(request, context)


@asynccontextmanager
async def house_of(asked: Asked, url: str, keys: Path) -> AsyncIterator[House]:
    """A house beside these two, in which the stakes of the game are held."""
    async with (
        others(asked.rules, asked.clock) as addresses,
        House.serve(url, keys, addresses) as house,
    ):
        await house.funded()
        await house.hold(asked.says.game_id, stake=400)
        yield house
        await house.check_ledger()


async def settled(house: House, asked: Asked) -> bool:
    """Whether the game is paid."""
    state = (await house.settlement(asked.says.game_id)).state
    return state == pb.SETTLEMENT_STATE_SETTLED


@pytest.mark.parametrize("lost", ["game_started", "game_finished", "clock_closed"])
async def test_any_one_event(database_url: str, keys: Path, prompt: None, lost: str) -> None:
    asked = Asked()
    started, finished, closed = asked.says.started(), asked.says.finished(), asked.says.closed()
    asked.rules_says(started, finished)
    asked.clock_says(closed)
    async with house_of(asked, database_url, keys) as house:
        await house.publish(*(each for each in (started, finished, closed) if each.type != lost))
        await eventually(lambda: settled(house, asked))
        assert await house.balance("eleni") == 1400
        assert await house.events(asked.says.game_id) == ["stakes_held", "game_settled"]
        if lost == "game_finished":
            assert asked.clock.asked == 0, "who has spoken is not asked"
        elif lost == "clock_closed":
            assert asked.rules.asked == 0


async def test_a_clock_that_has_not_heard_of_the_end_itself(
    database_url: str, keys: Path, prompt: None
) -> None:
    asked = Asked()
    asked.clock.closing = asked.says.closed()
    async with house_of(asked, database_url, keys) as house:
        await house.publish(asked.says.started(), asked.says.finished())
        await eventually(lambda: settled(house, asked))
        assert asked.clock.refreshed


async def test_both_witnesses_of_a_game_that_has_started(
    database_url: str, keys: Path, prompt: None
) -> None:
    """Nobody can say that it is over; so it is asked for after a while."""
    asked = Asked()
    started = asked.says.started()
    async with house_of(asked, database_url, keys) as house:
        asked.rules_says(started)
        await house.publish(started)
        assert (asked.rules.asked, asked.clock.asked) == (0, 0)
        asked.rules_says(started, asked.says.finished())
        asked.clock_says(asked.says.closed())
        await house.database.execute(STARTED)
        await eventually(lambda: settled(house, asked))
        assert asked.clock.refreshed == 0


async def test_a_long_game_is_asked_for_as_soon_as_one_witness_has_spoken(
    database_url: str, keys: Path, prompt: None
) -> None:
    """However long the wait has become in which nobody had."""
    asked = Asked()
    started, finished = asked.says.started(), asked.says.finished()
    asked.rules_says(started)
    async with house_of(asked, database_url, keys) as house:
        await house.publish(started)
        await house.database.execute(STARTED)

        async def was_asked() -> bool:
            await house.balance("eleni")
            return asked.rules.asked >= 1 and asked.clock.asked >= 1

        await eventually(was_asked)
        before = asked.clock.asked
        asked.clock_says(asked.says.closed())
        await house.publish(finished)
        await eventually(lambda: settled(house, asked))
        assert asked.clock.asked > before


async def test_a_witness_that_does_not_answer_is_asked_again(
    database_url: str, keys: Path, prompt: None
) -> None:
    asked = Asked()
    async with house_of(asked, database_url, keys) as house:
        await house.publish(asked.says.finished())

        async def was_asked() -> bool:
            await house.balance("eleni")
            return asked.clock.asked >= 3

        await eventually(was_asked)
        assert (await house.settlement(asked.says.game_id)).state == pb.SETTLEMENT_STATE_PENDING
        asked.clock_says(asked.says.closed())
        await eventually(lambda: settled(house, asked))


async def test_many_silent_games_do_not_hide_one_another(
    database_url: str, keys: Path, prompt: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    """They are looked at some at a time, again and again."""
    monkeypatch.setattr("kafeneio_settlement.storage.LOOKED_AT", 2)
    monkeypatch.setattr(asking, "AT_ONCE", 2)
    asked = Asked()
    async with house_of(asked, database_url, keys) as house:
        await house.deposit("eleni", 1000)
        await house.deposit("nikos", 1000)
        games = [asked.says.game_id]
        games += [(await house.hold(stake=1)).game_id for _ in range(6)]
        for game_id in games:
            await house.publish(Says(game_id).started())
        await house.database.execute(STARTED)

        async def all_were_asked_for() -> bool:
            await house.balance("eleni")
            return asked.rules.names == set(games)

        await eventually(all_were_asked_for)
