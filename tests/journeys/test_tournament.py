"""Whole evenings: from the entry fees to the prizes, in the ledger."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import aclosing
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, Final

from kafeneio.matchmaking.v1 import tournaments_pb2 as pb
from kafeneio.rules.v1 import game_pb2
from kafeneio.settlement.v1 import prizes_pb2
from kafeneio_client.money import Money
from kafeneio_client.tournaments import Board, terms
from kafeneio_runtime.auth import Role

from tests.journeys.evening import FOUR, PURSE, Evening, evening
from tests.journeys.guests import PATIENCE
from tests.journeys.test_partners import AUCTIONS, Stacked, finished

FEE: Final = Money("EUR", 500)
SINGLE: Final = pb.TOURNAMENT_FORMAT_SINGLE_ELIMINATION
FINISHED: Final = pb.TOURNAMENT_STATUS_FINISHED

Play = Callable[[pb.TournamentMatch], Awaitable[None]]


@dataclass
class Cup:
    """A tournament in a house, and who watches it."""

    house: Evening
    tournament_id: str = ""
    played: set[str] = field(default_factory=set)

    async def publish(self, kind: pb.TournamentFormat.ValueType, **more: Any) -> None:
        """Portes to one point, an entry of 5.00, 5 % for the house, 70 and 30 % of the rest."""
        asked: dict[str, Any] = {
            "game": game_pb2.Terms(variant="portes", target=1),
            "fee": FEE,
            "fee_basis_points": 500,
            "shares": (7_000, 3_000),
            "entries": (2, 8),
            **more,
        }
        game = asked.pop("game")
        starts = datetime.now(UTC) + timedelta(hours=1)
        published = terms("Thursday", kind, game, starts, **asked)
        made = await self.house.operator.tournaments.create(published)
        self.tournament_id = made.tournament_id
        await self.until(lambda board: board.tournament.status == pb.TOURNAMENT_STATUS_OPEN)

    async def enter(self, players: Mapping[str, str] | Sequence[str]) -> None:
        """All bring money and register, alone or each with the partner that he names."""
        partners = players if isinstance(players, Mapping) else dict.fromkeys(players, "")
        for player, partner in partners.items():
            await self.house.service.wallet.deposit(player, PURSE)
            tournaments = self.house.client(player).tournaments
            entry = await tournaments.register(self.tournament_id, partner=partner)
            if entry.status != pb.ENTRY_STATUS_WAITING_FOR_PARTNER:
                await self.until(lambda board, made=entry: has_paid(board, made))  # type: ignore[misc]

    async def start(self) -> None:
        """Before its time."""
        await self.house.operator.tournaments.start(self.tournament_id)

    async def until(self, done: Callable[[Board], bool], play: Play | None = None) -> Board:
        """What a watcher knows as soon as it is so; meanwhile each game is played."""
        boards = self.house.client("zoe").tournaments.boards(self.tournament_id)
        async with asyncio.timeout(PATIENCE), aclosing(boards) as watched:
            async for board in watched:
                if done(board):
                    return board
                for match in board.playing() if play else ():
                    if match.game_id not in self.played:
                        self.played.add(match.game_id)
                        assert play is not None
                        await play(match)
        raise AssertionError("the stream ended")

    async def over(self, play: Play | None = None) -> Board:
        """In the end."""
        return await self.until(lambda board: board.tournament.HasField("ended_at"), play)

    async def resigned(self, match: pb.TournamentMatch) -> None:
        """Everybody joins, and the second side, which has the worse seed, gives up."""
        await self.house.join(match.game_id)
        await self.house.client(match.player_ids[1]).games.resign(match.game_id, 1)

    async def nets(self, players: Sequence[str]) -> dict[str, int]:
        """What it has brought each player, in cents; nothing is left in the pool, and the books
        are in order."""
        pool = await self.house.service.prizes.get(self.tournament_id)
        assert pool.escrow.minor_units == 0
        await self.house.check_money()
        assert not (await self.house.operator.settlement.verify()).faults
        wallet = self.house.service.wallet
        return {
            player: (await wallet.balance("EUR", player)).minor_units - PURSE.minor_units
            for player in players
        }


def has_paid(board: Board, entry: pb.Entry) -> bool:
    """Whether an entry is in."""
    found = board.entries.get(entry.entry_id)
    return found is not None and found.status == pb.ENTRY_STATUS_ENTERED


def places(board: Board) -> dict[str, int]:
    """Who has finished where."""
    return {board.name(each.entry_id): each.place for each in board.entries.values() if each.place}


async def test_four_one_does_not_come_and_a_pause(slow: Evening) -> None:
    cup = Cup(slow)
    await cup.publish(SINGLE)
    await cup.enter(FOUR)
    await cup.start()
    board = await cup.until(lambda b: len(b.playing()) == 2)
    one, two = sorted(board.playing(), key=lambda match: match.number)
    assert list(one.player_ids) == ["eleni", "petros"]
    await slow.join(one.game_id, "petros")
    await slow.hurry_join(one.game_id)
    await slow.operator.tournaments.pause(cup.tournament_id)
    await cup.resigned(two)
    board = await cup.until(lambda b: (2, 1) in b.matches)
    assert board.tournament.status == pb.TOURNAMENT_STATUS_PAUSED
    assert board.matches[1, 1].end == pb.MATCH_END_NO_SHOW
    await slow.operator.tournaments.resume(cup.tournament_id)
    board = await cup.until(lambda b: bool(b.playing()))
    (final,) = board.playing()
    assert list(final.player_ids) == ["petros", "nikos"], "the upper half has the first seat"
    await slow.join(final.game_id)
    await slow.client("nikos").games.resign(final.game_id, 1)
    board = await cup.over()
    assert board.tournament.status == FINISHED
    assert places(board) == {"petros": 1, "nikos": 2, "eleni": 3, "maria": 3}
    # 20.00 less 1.00 for the house: 13.30 and 5.70.
    assert await cup.nets(FOUR) == {"petros": 830, "nikos": 70, "eleni": -500, "maria": -500}
    await corrected(cup, board)


async def corrected(cup: Cup, board: Board) -> None:
    """Two operators find that nikos has won: both standings are shown, and the prizes follow."""
    house, name = cup.house, cup.tournament_id
    ids = {board.name(entry): entry for entry in board.entries}
    order = [[ids["nikos"]], [ids["petros"]], [ids["eleni"], ids["maria"]]]
    shown = await house.operator.tournaments.correct(name, order, "a helping hand")
    (proposed,) = shown.corrections
    assert (proposed.number, proposed.proposed_by, proposed.approved_by) == (1, "operator", "")
    assert [list(place.entry_ids) for place in proposed.places] == order
    assert await cup.nets(FOUR) == {"petros": 830, "nikos": 70, "eleni": -500, "maria": -500}
    second = house.client("second", Role.OPERATOR)
    approved = await second.settlement.approve_any(name, proposed.number)
    assert approved.prize_pool.state == prizes_pb2.POOL_STATE_SETTLED
    async with asyncio.timeout(PATIENCE):
        while not (await second.tournaments.get(name)).tournament.corrections[0].approved_by:
            await house.service.prizes.get(name)
    standings = [each async for each in second.tournaments.standings(name)]
    assert [(s.place, s.entry.played_place, s.entry.player_ids[0]) for s in standings] == [
        (1, 2, "nikos"),
        (2, 1, "petros"),
        (3, 3, "eleni"),
        (3, 3, "maria"),
    ]
    assert await cup.nets(FOUR) == {"petros": 70, "nikos": 830, "eleni": -500, "maria": -500}


async def test_five_of_swiss_and_one_leaves(slow: Evening) -> None:
    five = (*FOUR, "spyros")
    cup = Cup(slow)
    await cup.publish(pb.TOURNAMENT_FORMAT_SWISS)
    await cup.enter(five)
    await cup.start()
    board = await cup.until(lambda b: len(b.playing()) == 2)
    assert board.matches[1, 3].end == pb.MATCH_END_BYE
    left = await slow.client("petros").tournaments.withdraw(cup.tournament_id)
    assert left.status == pb.ENTRY_STATUS_WITHDRAWN
    board = await cup.over(cup.resigned)
    assert board.tournament.status == FINISHED
    assert max(turn for turn, _ in board.matches) == 3
    found = places(board)
    assert sorted(found) == sorted(five)
    assert found["eleni"] == 1, "who has won every game"
    nets = await cup.nets(five)
    # 25.00 less 1.25 for the house; what can't be divided goes to the first.
    assert sum(nets.values()) == -125
    assert nets["eleni"] == 1_663 - 500
    assert nets["petros"] == -500


async def test_too_few_get_everything_back(slow: Evening) -> None:
    cup = Cup(slow)
    await cup.publish(SINGLE, entries=(3, 8))
    await cup.enter(FOUR[:2])
    before = await slow.service.prizes.get(cup.tournament_id)
    assert before.escrow.minor_units == 2 * FEE.minor_units
    await slow.operator.tournaments.cancel(cup.tournament_id, "no light")
    board = await cup.over()
    assert board.tournament.status == pb.TOURNAMENT_STATUS_CANCELLED
    assert await cup.nets(FOUR[:2]) == {"eleni": 0, "nikos": 0}


async def test_pairs_play_pilotta(database_url: str, tmp_path: Path) -> None:
    pairs = [(f"{letter}-1", f"{letter}-2") for letter in "abcd"]
    partners = {one: two for pair in pairs for one, two in (pair, pair[::-1])}
    async with evening(database_url, tmp_path, draws=Stacked) as house:
        cup = Cup(house)
        await cup.publish(SINGLE, game=game_pb2.Terms(variant="pilotta", target=101))
        await cup.enter(partners)
        await cup.start()

        async def played(match: pb.TournamentMatch) -> None:
            """The pack is stacked: the first side makes what it says, and one hand is enough."""
            await house.join(match.game_id)
            for seat, call in AUCTIONS[0]:
                position = await house.position(match.game_id)
                games = house.client(match.player_ids[seat]).games
                await games.act(match.game_id, position.version, [call])
            await finished(house, match.game_id, ())

        board = await cup.over(played)
        assert places(board) == {
            "a-1 and a-2": 1,
            "b-1 and b-2": 2,
            "c-1 and c-2": 3,
            "d-1 and d-2": 3,
        }
        final = board.matches[2, 1]
        assert list(final.player_ids) == ["a-1", "b-1", "a-2", "b-2"]
        # 40.00 less 2.00 for the house: 26.60 and 11.40, shared by the two of a pair.
        nets = await cup.nets([*partners])
        assert nets == {
            **dict.fromkeys(("a-1", "a-2"), 830),
            **dict.fromkeys(("b-1", "b-2"), 70),
            **dict.fromkeys(("c-1", "c-2", "d-1", "d-2"), -500),
        }
