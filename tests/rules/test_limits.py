"""One player cannot use up the house."""

from __future__ import annotations

from pathlib import Path

from tests.harness import OPERATOR, SEATS, SERVICE, STRANGER, Rules
from tests.rules.refusal import refusal


async def test_too_many_calls_of_one_player(database_url: str, keys: Path) -> None:
    async with Rules.serve(
        database_url, keys, rate_limit_per_second=0.01, rate_limit_burst=5
    ) as rules:
        game = await rules.create()
        game = await rules.join(game, SEATS[0])
        for _ in range(4):
            await rules.get(game.game_id, SEATS[0])
        before = await rules.snapshot()
        for call in (
            rules.get(game.game_id, SEATS[0]),
            rules.join(game, SEATS[0], b"another word"),
            rules.updates(game.game_id, SEATS[0]),
        ):
            refused = await refusal(call)
            assert refused.what == ("RESOURCE_EXHAUSTED", "RATE_LIMITED")
            assert refused.retry_seconds is not None
            assert 0 < refused.retry_seconds <= 100
        assert await rules.snapshot() == before
        # The others have buckets of their own, and who serves all has none.
        await rules.join(game, SEATS[1])
        assert await rules.get(game.game_id, STRANGER)
        for _ in range(8):
            await rules.get(game.game_id, SERVICE)
            await rules.get(game.game_id, OPERATOR)
