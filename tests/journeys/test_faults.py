"""The house's own faults: a service away, events that come twice, late or not at all."""

from __future__ import annotations

from collections.abc import Sequence
from random import Random

import pytest
from kafeneio_runtime.bus import Event
from prometheus_client import REGISTRY

from tests.journeys.evening import Evening
from tests.journeys.test_portes import winner_takes


async def test_settlement_away_while_the_game_ends(slow: Evening) -> None:
    game_id = await slow.matched()
    await slow.join(game_id)
    await slow.play(game_id, turns=6)
    await slow.close_service("settlement")
    position = await slow.play(game_id)
    seats = await slow.seats(game_id)
    await slow.open_service("settlement")
    await slow.reconnect()
    winner = seats[position.outcome.decided.winners[0]]
    assert await slow.paid(game_id) == winner_takes(winner)


@pytest.mark.parametrize("kind", ["twice", "backwards", "lost"])
async def test_events_that_come_twice_in_another_order_or_not_at_all(
    slow: Evening, kind: str
) -> None:
    random = Random(kind)

    def mangle(events: Sequence[Event]) -> Sequence[Event]:
        match kind:
            case "twice":
                return [*events, *events]
            case "backwards":
                return list(reversed(events))
        # One of five is lost; the next one shows the gap, or the producer is asked.
        return [event for event in events if random.random() > 0.2]

    slow.bus.mangle = mangle
    game_id = await slow.matched()
    await slow.join(game_id)
    seats = await slow.seats(game_id)
    position = await slow.play(game_id)
    winner = seats[position.outcome.decided.winners[0]]
    assert await slow.paid(game_id) == winner_takes(winner)


async def test_the_metrics_of_what_must_never_happen_stay_at_zero(slow: Evening) -> None:
    game_id = await slow.matched()
    await slow.join(game_id)
    await slow.play(game_id)
    await slow.paid(game_id)
    assert REGISTRY.get_sample_value("kafeneio_settlement_mismatch_total") == 0
    assert not REGISTRY.get_sample_value("kafeneio_ledger_imbalance")
