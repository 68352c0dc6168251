"""What is heard of payouts: each event once, in whatever order it comes."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from kafeneio_matchmaking.domain import TicketStatus

from tests.harness import new_id
from tests.matchmaking.desk import PLAYERS, Desk
from tests.matchmaking.listening import Listening, hear, listening, matched, started
from tests.matchmaking.money import corrected, hear_money, settled


@pytest.fixture
async def desk(database_url: str, keys: Path) -> AsyncIterator[tuple[Desk, Listening]]:
    """A desk, and somebody who listens."""
    async with listening(database_url, keys) as made:
        yield made


async def test_a_payout_tells_of_the_end_that_was_not_heard(
    desk: tuple[Desk, Listening],
) -> None:
    house, told = desk
    tickets, game_id = await matched(house)
    await started(house, game_id)
    await house.rules.resign(game_id, PLAYERS[0])
    event = settled(game_id, 2)
    for _ in range(2):
        await hear_money(house, [event])
    assert (await house.match())["status"] == "settled"
    assert await house.statuses(tickets) == {TicketStatus.STARTED}
    assert [kind for kind, _ in told.games] == ["game_started", "game_finished"]
    assert told.money == [("game_settled", 2)]


async def test_a_correction_that_comes_alone_has_the_payout_fetched(
    desk: tuple[Desk, Listening],
) -> None:
    house, told = desk
    _, game_id = await matched(house)
    await started(house, game_id)
    await house.rules.resign(game_id, PLAYERS[0])
    await hear(house, await house.rules.events(game_id))
    paid, changed = settled(game_id, 2), corrected(game_id, 3)
    house.cashier.events[game_id] = [paid, changed]
    await hear_money(house, [changed])
    assert told.money == [("game_settled", 2), ("settlement_corrected", 3)]
    await hear_money(house, [paid, changed])
    assert len(told.money) == 2
    assert (await house.match())["status"] == "settled"


async def test_a_payout_of_a_game_of_nobodys_is_told_and_moves_nothing(
    desk: tuple[Desk, Listening],
) -> None:
    house, told = desk
    await hear_money(house, [settled(new_id(), 1)])
    assert told.money == [("game_settled", 1)]
