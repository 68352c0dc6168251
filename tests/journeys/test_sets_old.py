"""Every variant that the house offers, from the queue to the ledger."""

from __future__ import annotations

import pytest
from kafeneio.rules.v1 import game_pb2
from kafeneio_games import registry

from tests.journeys.evening import Evening
from tests.journeys.test_portes import winner_takes


@pytest.mark.parametrize("variant", [variant.id for variant in registry.variants()])
async def test_it_is_played_for_a_stake_and_its_record_is_good(slow: Evening, variant: str) -> None:
    game_id = await slow.matched(target=0, variant=variant)
    await slow.join(game_id)
    position = await slow.play(game_id)
    assert position.status == game_pb2.GAME_STATUS_FINISHED
    assert position.view.tavli.game in ("portes", "plakoto", "fevga", "gulbara")
    seats = await slow.seats(game_id)
    winner = seats[position.outcome.decided.winners[0]]
    assert await slow.paid(game_id) == winner_takes(winner)
    assert await slow.service.games.verify(game_id) == ()
