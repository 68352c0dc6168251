"""In a whole house, each event that a game depends on is lost on its way to one of those who
listen, and nothing comes after it: the game is paid all the same, within seconds."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from kafeneio_clock.consumer import NAME as CLOCK
from kafeneio_runtime.bus import Event, EventHandler, Subscription
from kafeneio_settlement.settling import CLOCK_CONSUMER, RULES_CONSUMER

from tests.journeys.evening import Evening, UnrulyBus
from tests.journeys.test_portes import winner_takes


@pytest.fixture
def lost(monkeypatch: pytest.MonkeyPatch) -> set[tuple[str, str]]:
    """Pairs of a consumer and a type of event that never reaches him; the test fills it."""
    pairs: set[tuple[str, str]] = set()
    subscribe = UnrulyBus.subscribe

    async def losing(
        self: UnrulyBus, subject: str, consumer: str, handler: EventHandler
    ) -> Subscription:
        async def handle(events: Sequence[Event]) -> None:
            if left := [event for event in events if (consumer, event.type) not in pairs]:
                await handler(left)

        return await subscribe(self, subject, consumer, handle)

    monkeypatch.setattr(UnrulyBus, "subscribe", losing)
    return pairs


LOSSES = (
    (CLOCK, "game_started"),
    (CLOCK, "turn_started"),
    (CLOCK, "turn_ended"),
    (CLOCK, "game_finished"),
    (RULES_CONSUMER, "game_started"),
    (RULES_CONSUMER, "game_finished"),
    (CLOCK_CONSUMER, "clock_closed"),
)


@pytest.mark.parametrize(("consumer", "kind"), LOSSES)
async def test_one_of_them(
    lost: set[tuple[str, str]], slow: Evening, consumer: str, kind: str
) -> None:
    lost.add((consumer, kind))
    game_id = await slow.matched()
    await slow.join(game_id)
    seats = await slow.seats(game_id)
    position = await slow.play(game_id)
    winner = seats[position.outcome.decided.winners[0]]
    assert await slow.paid(game_id) == winner_takes(winner)


async def test_the_end_for_both(lost: set[tuple[str, str]], slow: Evening) -> None:
    """The clock finds out by itself, and is the first witness then."""
    lost |= {(CLOCK, "game_finished"), (RULES_CONSUMER, "game_finished")}
    game_id = await slow.matched()
    await slow.join(game_id)
    seats = await slow.seats(game_id)
    position = await slow.play(game_id)
    winner = seats[position.outcome.decided.winners[0]]
    assert await slow.paid(game_id) == winner_takes(winner)


async def test_the_last_turn_and_the_end(lost: set[tuple[str, str]], slow: Evening) -> None:
    """To the clock a player's time seems to run; settlement has it ask before that is over."""
    lost |= {(CLOCK, "turn_ended"), (CLOCK, "turn_started"), (CLOCK, "game_finished")}
    game_id = await slow.matched()
    await slow.join(game_id)
    seats = await slow.seats(game_id)
    position = await slow.play(game_id)
    winner = seats[position.outcome.decided.winners[0]]
    assert await slow.paid(game_id) == winner_takes(winner)
