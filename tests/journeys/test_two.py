"""Classic Pilotta for two from the queue to the ledger: the four rows of S2, by F4."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Sequence
from pathlib import Path
from typing import Final, TypeVar

import pytest
from kafeneio.rules.v1 import actions_pb2, game_pb2
from kafeneio_client.games import is_over
from kafeneio_client.programs import GreedyProgram, Player
from kafeneio_games.cards import SHORT_PACK, Card
from kafeneio_games.chance import ProvableDraw

from tests.journeys.evening import PATIENCE, STAKE, Evening, evening

T = TypeVar("T")

FEE_BASIS_POINTS: Final = 250
WON: Final = STAKE.minor_units
FEE: Final = 2 * STAKE.minor_units * FEE_BASIS_POINTS // 10_000
STRONG: Final = ("JH", "9H", "AH", "KH", "QH", "8H")
WEAK: Final = ("7S", "8S", "9S", "7D", "8D", "9D")
NEXT: Final = ("TH", "AS", "AD", "AC", "TS", "TD", "TC")


class Stacked(ProvableDraw):
    """Seat 0 has six trumps if it takes the turned suit, in every hand."""

    def shuffled(self, cards: Sequence[T]) -> tuple[T, ...]:
        """The pack in the order in which it is dealt."""
        pack: dict[Card, T] = dict(zip(SHORT_PACK, cards, strict=True))
        first = [Card(card) for card in (*STRONG, *WEAK, *NEXT)]
        return tuple(pack[card] for card in (*first, *(c for c in pack if c not in first)))


@pytest.fixture
async def table(database_url: str, tmp_path: Path) -> AsyncIterator[Evening]:
    """A house with a fee and a stacked pack."""
    async with evening(
        database_url, tmp_path, draws=Stacked, fee_basis_points=FEE_BASIS_POINTS
    ) as opened:
        yield opened


async def played(house: Evening, game_id: str, seats: Sequence[int]) -> game_pb2.Position:
    """Programs in these seats, computers in the others, until it is over."""
    players = await house.seats(game_id)
    async with asyncio.timeout(PATIENCE), asyncio.TaskGroup() as group:
        for seat in seats:
            client = house.client(players[seat])
            group.create_task(Player(client, game_id, seat, GreedyProgram(seat)).play())
        async for update in house.service.games.watch(game_id):
            if is_over(update.position):
                return update.position
    raise AssertionError("the stream of a game ends with its end")


@pytest.mark.parametrize(
    ("leaving", "nets"),
    [
        pytest.param((), (WON - FEE, -WON), id="both-there"),
        pytest.param((1,), (WON, -WON), id="loser-gone"),
        pytest.param((0,), (0, 0), id="winner-gone"),
        pytest.param((1, 0), (0, 0), id="both-gone"),
    ],
)
async def test_s2(table: Evening, leaving: tuple[int, ...], nets: tuple[int, ...]) -> None:
    game_id = await table.matched(101, variant="pilotta-classic-2")
    await table.join(game_id)
    seats = await table.seats(game_id)
    for seat in leaving:
        await table.client(seats[seat]).clock.leave(game_id)
    position = await played(table, game_id, [s for s in (0, 1) if s not in leaving])
    if len(leaving) == 2:
        assert position.outcome.void_reason == actions_pb2.VOID_REASON_ALL_FORFEITED
    else:
        assert list(position.outcome.decided.winners) == [0]
    paid = await table.paid(game_id)
    assert [paid[player] for player in seats] == list(nets)
