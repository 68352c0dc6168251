"""Games that end without a result: everything comes back, in the ledger."""

from __future__ import annotations

import pytest
from kafeneio.rules.v1 import actions_pb2, game_pb2

from tests.journeys.evening import PLAYERS, Evening

NOTHING = dict.fromkeys(PLAYERS, 0)


@pytest.mark.parametrize("joined", [0, 1], ids=["nobody", "one"])
async def test_not_all_join(slow: Evening, joined: int) -> None:
    game_id = await slow.matched()
    await slow.join(game_id, *PLAYERS[:joined]) if joined else None
    # Nobody waits 30 s here: the time to join is moved to now.
    await slow.hurry_join(game_id)
    (closed,) = await slow.announced(game_id, "clock_closed")
    assert not closed.clock_closed.forfeits
    position = await slow.position(game_id)
    assert position.status == game_pb2.GAME_STATUS_FINISHED
    assert position.outcome.void_reason == actions_pb2.VOID_REASON_NO_SHOW
    assert await slow.paid(game_id) == NOTHING


@pytest.mark.parametrize("turns", [None, 0, 7], ids=["before", "at-the-start", "in-the-middle"])
async def test_an_operator_aborts(slow: Evening, turns: int | None) -> None:
    game_id = await slow.matched()
    if turns is not None:
        await slow.join(game_id)
        await slow.play(game_id, turns)
    await slow.operator.games.abort(game_id, "a test of the fire alarm")
    await slow.announced(game_id, "clock_closed")
    position = await slow.position(game_id)
    assert position.outcome.void_reason == actions_pb2.VOID_REASON_OPERATOR
    assert await slow.paid(game_id) == NOTHING
