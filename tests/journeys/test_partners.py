"""Four at a table of pilotta, and some leave: who is paid depends on who was there (F1, S1).

Each row of the table in the rule book is a winner and the seats that were lost. The pack is stacked
by this test's own chance, so that the winning side is known before the first card: one seat holds
all trumps, and one hand decides the game.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Sequence
from pathlib import Path
from typing import Final, TypeVar

import pytest
from kafeneio.rules.v1 import actions_pb2, game_pb2
from kafeneio_client.games import is_over
from kafeneio_client.programs import Player, RandomProgram
from kafeneio_games.cards import SHORT_PACK, Card
from kafeneio_games.chance import ProvableDraw

from tests.journeys.evening import FOUR, PATIENCE, STAKE, Evening, evening

T = TypeVar("T")

FEE_BASIS_POINTS: Final = 250
POT: Final = 4 * STAKE.minor_units
WON: Final = STAKE.minor_units
TRUMPS: Final = tuple(card for card in SHORT_PACK if card[1] == "H")
OTHERS: Final = tuple(card for card in SHORT_PACK if card[1] != "H")
AUCTIONS: Final = {
    0: ((0, "capotH"), (1, "pass"), (2, "pass"), (3, "pass"), (1, "contra 1"), (2, "recontra")),
    1: (
        *((0, "pass"), (1, "capotH"), (2, "pass"), (3, "pass"), (0, "pass")),
        *((2, "contra 1"), (3, "recontra")),
    ),
}
"""By the seat with the trumps: all tricks, doubled twice, which is enough for any game."""


class Stacked(ProvableDraw):
    """Seat 3 deals, and one seat gets all hearts."""

    holder = 0

    def below(self, n: int) -> int:
        """The last one."""
        return n - 1

    def shuffled(self, cards: Sequence[T]) -> tuple[T, ...]:
        """The pack in the order of the seats' hands."""
        hands = [OTHERS[:8], OTHERS[8:16], OTHERS[16:]]
        hands.insert(self.holder, TRUMPS)
        pack: dict[Card, T] = dict(zip(SHORT_PACK, cards, strict=True))
        return tuple(pack[card] for hand in hands for card in hand)


class StackedForSeat1(Stacked):
    """The same, for the other side."""

    holder = 1


@pytest.fixture
async def table(
    request: pytest.FixtureRequest, database_url: str, tmp_path: Path
) -> AsyncIterator[Evening]:
    """A house with a fee and a stacked pack; the parameter is the seat with the trumps."""
    draws = (Stacked, StackedForSeat1)[request.param]
    async with evening(
        database_url, tmp_path, draws=draws, fee_basis_points=FEE_BASIS_POINTS
    ) as opened:
        yield opened


@pytest.fixture
async def hasty_table(database_url: str, tmp_path: Path) -> AsyncIterator[Evening]:
    """The same with half a second for a move; the trumps are at seat 0."""
    async with evening(
        database_url,
        tmp_path,
        draws=Stacked,
        fee_basis_points=FEE_BASIS_POINTS,
        clock_move_seconds=0.5,
        clock_grace_seconds=0.1,
        clock_silent_seconds=60.0,
        clock_unknown_seconds=60.0,
    ) as opened:
        yield opened


async def bid(house: Evening, holder: int) -> str:
    """Queue, sit down, and say what the side with the trumps will make; the game's id."""
    game_id = await house.matched(101, variant="pilotta", players=FOUR)
    await house.join(game_id)
    seats = await house.seats(game_id)
    for seat, call in AUCTIONS[holder]:
        position = await house.position(game_id)
        assert position.turn.seat == seat
        await house.client(seats[seat]).games.act(game_id, position.version, [call])
    return game_id


async def finished(house: Evening, game_id: str, gone: Sequence[int]) -> game_pb2.Position:
    """Who is still there plays by lot, the computers play the other seats, until it is over."""
    seats = await house.seats(game_id)
    async with asyncio.timeout(PATIENCE), asyncio.TaskGroup() as group:
        for seat, player in enumerate(seats):
            if seat not in gone:
                sitting = Player(house.client(player), game_id, seat, RandomProgram(seat))
                group.create_task(sitting.play())
        async for update in house.service.games.watch(game_id):
            if is_over(update.position):
                return update.position
    raise AssertionError("the stream of a game ends with its end")


ROWS: Final = {
    # row: winner side's holder, who leaves in which order, nets of A B C D in stakes
    1: (0, (), (1, -1, 1, -1)),
    2: (0, (3,), (1, -1, 1, -1)),
    3: (0, (2,), (2, -1, 0, -1)),
    6: (0, (3, 1), (1, -1, 1, -1)),
    8: (0, (1, 3, 2), (2, -1, 0, -1)),
    9: (0, (0,), (0, -1, 2, -1)),
    11: (0, (2, 0), (0, 0, 0, 0)),
    15: (0, (0, 1, 2), (0, 0, 0, 0)),
    16: (0, (3, 2, 1, 0), (0, 0, 0, 0)),
    17: (1, (), (-1, 1, -1, 1)),
    20: (1, (2, 3), (-1, 2, -1, 0)),
    21: (1, (1,), (-1, 0, -1, 2)),
    22: (1, (1, 3), (0, 0, 0, 0)),
    32: (1, (0, 1, 2, 3), (0, 0, 0, 0)),
}


@pytest.mark.parametrize(
    ("table", "row"),
    [pytest.param(ROWS[row][0], row, id=f"row-{row}") for row in ROWS],
    indirect=["table"],
)
async def test_s1_from_the_queue_to_the_ledger(table: Evening, row: int) -> None:
    holder, leaving, nets = ROWS[row]
    game_id = await bid(table, holder)
    seats = await table.seats(game_id)
    for seat in leaving:
        await table.client(seats[seat]).clock.leave(game_id)
    position = await finished(table, game_id, leaving)

    assert [forfeit.seat for forfeit in position.forfeits] == list(leaving)
    if len(leaving) == 4:
        assert position.outcome.void_reason == actions_pb2.VOID_REASON_ALL_FORFEITED
    else:
        assert list(position.outcome.decided.winners) == [holder % 2, holder % 2 + 2]
    fee = POT * FEE_BASIS_POINTS // 10_000 if not leaving else 0
    expected = [net * WON - (fee // 2 if net > 0 else 0) for net in nets]
    paid = await table.paid(game_id)
    assert [paid[player] for player in seats] == expected
    findings = await table.service.games.verify(game_id)
    assert [finding.text[:6] for finding in findings] == ["CHANCE"], "the pack was stacked"


@pytest.mark.parametrize("table", [0], indirect=True)
async def test_f1_and_f5_a_computer_plays_on_and_the_player_looks_on(table: Evening) -> None:
    game_id = await bid(table, 0)
    seats = await table.seats(game_id)
    leaver = table.client(seats[0])
    before = (await leaver.games.get(game_id)).position
    assert len(before.view.tricks.hand) == 8
    await leaver.clock.leave(game_id)

    game, shown = await leaver.games.get(game_id), await table.client("zoe").games.get(game_id)
    async with asyncio.timeout(PATIENCE):
        while game.position.version != shown.position.version:  # the computer has led meanwhile
            game = await leaver.games.get(game_id)
            shown = await table.client("zoe").games.get(game_id)
    assert not game.position.view.tricks.hand
    assert not game.position.view.tricks.HasField("seat")
    assert game.position.view == shown.position.view
    assert [seat.computer for seat in game.seats] == [True, False, False, False]
    assert game.seats[0].forfeit == actions_pb2.FORFEIT_REASON_LEFT
    (recorded,) = game.position.forfeits
    assert recorded.computer
    async with asyncio.timeout(PATIENCE):
        async for update in leaver.games.watch(game_id, before.version):
            assert not update.position.view.tricks.hand
            if update.position.turn.seat == 1:  # the computer has led, at once
                break
    other = (await table.client(seats[1]).games.get(game_id)).position.view.tricks
    assert [card.seat for card in other.trick] == [0]
    assert other.trick[0].card in TRUMPS


async def test_f1_by_a_lost_connection_and_by_timeouts(hasty_table: Evening) -> None:
    table = hasty_table
    game_id = await bid(table, 0)
    seats = await table.seats(game_id)
    clocks = [table.client(player).clock for player in seats]
    async with (
        clocks[0].attending(game_id),
        clocks[1].attending(game_id),  # and does not play
        clocks[2].attending(game_id),
    ):
        async with clocks[3].attending(game_id):
            pass  # and is gone
        position = await finished(table, game_id, gone=(1, 3))
    reasons = {forfeit.seat: forfeit.reason for forfeit in position.forfeits}
    assert reasons == {
        1: actions_pb2.FORFEIT_REASON_TIMEOUTS_EXCEEDED,
        3: actions_pb2.FORFEIT_REASON_CONNECTION_LOST,
    }
    paid = await table.paid(game_id)
    assert [paid[player] for player in seats] == [WON, -WON, WON, -WON], "no fee was taken"


async def test_partners_who_name_each_other_sit_together(slow: Evening) -> None:
    partners = {"eleni": "petros", "nikos": "", "petros": "eleni", "maria": ""}
    game_id = await slow.matched(101, variant="pilotta", players=partners)
    seats = await slow.seats(game_id)
    assert {frozenset(seats[0::2]), frozenset(seats[1::2])} == {
        frozenset(("eleni", "petros")),
        frozenset(("nikos", "maria")),
    }
