"""Tournaments of `matchmaking`, served in this process over real sockets beside the real `rules`
and a treasurer, and their callers."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Mapping, Sequence
from contextlib import AsyncExitStack, aclosing, asynccontextmanager
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, Final

import asyncpg
import grpc
from google.protobuf.timestamp_pb2 import Timestamp
from kafeneio.common.v1 import money_pb2
from kafeneio.matchmaking.v1 import tournaments_pb2 as pb
from kafeneio.matchmaking.v1 import tournaments_pb2_grpc
from kafeneio.rules.v1 import game_pb2
from kafeneio_client import tournaments
from kafeneio_matchmaking.names import SCHEMA
from kafeneio_runtime.settings import Settings

from tests.harness import OPERATOR, Rules, new_id
from tests.matchmaking.cashier import elsewhere
from tests.matchmaking.hall import Hall
from tests.matchmaking.tournaments.treasurer import Treasurer, treasurer

OVER: Final = (pb.TOURNAMENT_STATUS_FINISHED, pb.TOURNAMENT_STATUS_CANCELLED)
FEE: Final = 500
PATIENCE: Final = 60.0
"""Seconds until a test gives up waiting: a whole tournament is many games."""


def terms(**changes: Any) -> pb.TournamentTerms:
    """Portes to one point, 2 to 8 players, single elimination, 5.00 EUR, in an hour."""
    starts_at = Timestamp()
    starts_at.FromDatetime(changes.pop("starts", datetime.now(UTC) + timedelta(hours=1)))
    fee = changes.pop("fee", FEE)
    asked: dict[str, Any] = {
        "name": "Thursday",
        "format": pb.TOURNAMENT_FORMAT_SINGLE_ELIMINATION,
        "game": game_pb2.Terms(variant="portes"),
        "fee_basis_points": 500,
        "prize_shares": [7_000, 3_000],
        "min_entries": 2,
        "max_entries": 8,
        "starts_at": starts_at,
        **changes,
    }
    if fee:
        asked["entry_fee"] = money_pb2.Money(currency_code="EUR", minor_units=fee)
    return pb.TournamentTerms(**asked)


class Board(tournaments.Board):
    """What somebody knows of a tournament who watches it."""

    @property
    def status(self) -> pb.TournamentStatus.ValueType:
        """Where it stands."""
        return self.tournament.status

    def entry_of(self, player: str) -> pb.Entry:
        """A player's entry, the last one."""
        own = [entry for entry in self.entries.values() if player in entry.player_ids]
        return max(own, key=lambda entry: entry.registered_at.ToNanoseconds())

    def who(self, entry_id: str) -> str:
        """The players of an entry."""
        return "+".join(self.entries[entry_id].player_ids) if entry_id else ""

    def places(self) -> dict[str, int]:
        """Who has finished where."""
        return {self.who(e.entry_id): e.place for e in self.entries.values() if e.place}


@dataclass
class Club:
    """One replica, and its callers."""

    rules: Rules
    treasurer: Treasurer
    channel: grpc.aio.Channel
    database: asyncpg.Connection[asyncpg.Record]

    def __post_init__(self) -> None:
        self.stub = tournaments_pb2_grpc.TournamentServiceStub(self.channel)

    @classmethod
    @asynccontextmanager
    async def serve(
        cls, url: str, folder: Path, treasury: Treasurer | None = None, **settings: object
    ) -> AsyncIterator[Club]:
        """`rules`, a treasurer (unless there is one) and `matchmaking` on a migrated database."""
        async with AsyncExitStack() as stack:
            if treasury is None:
                treasury = await stack.enter_async_context(treasurer())
            hall = await stack.enter_async_context(
                Hall.serve(url, folder, elsewhere(treasury.address), **settings)
            )
            yield cls(hall.rules, treasury, hall.channel, hall.database)

    @classmethod
    @asynccontextmanager
    async def connected(
        cls, url: str, folder: Path, treasury: Treasurer, addresses: Mapping[str, str]
    ) -> AsyncIterator[Club]:
        """The callers of a replica that is a process of its own."""
        async with AsyncExitStack() as stack:
            made = Settings(data_dir=folder)
            rules = await stack.enter_async_context(Rules.connected(url, made, addresses["rules"]))
            database = await asyncpg.connect(url, server_settings={"search_path": SCHEMA})
            stack.push_async_callback(database.close)
            channel = await stack.enter_async_context(
                grpc.aio.insecure_channel(addresses["matchmaking"])
            )
            yield cls(rules, treasury, channel, database)

    # --- calling -----------------------------------------------------------------------------

    async def ask(self, call: Any, request: Any, who: str = OPERATOR) -> Any:
        """The answer to a call of somebody."""
        return await self.rules.ask(call, request, who)

    async def create(self, request_id: str = "", **changes: Any) -> pb.Tournament:
        """A tournament that is open."""
        request = pb.CreateTournamentRequest(
            request_id=request_id or new_id(), terms=terms(**changes)
        )
        made: pb.Tournament = (await self.ask(self.stub.CreateTournament, request)).tournament
        return (await self.until(made, is_status(pb.TOURNAMENT_STATUS_OPEN))).tournament

    async def register(
        self, tournament: pb.Tournament, who: str, partner: str = "", request_id: str = ""
    ) -> pb.Entry:
        """An entry of somebody."""
        request = pb.RegisterForTournamentRequest(
            request_id=request_id or new_id(),
            tournament_id=tournament.tournament_id,
            partner_player_id=partner,
        )
        entry: pb.Entry = (await self.ask(self.stub.RegisterForTournament, request, who)).entry
        return entry

    async def entered(self, tournament: pb.Tournament, *players: str) -> Board:
        """Once all of them have paid, in this order."""
        board = Board()
        for player in players:
            made = await self.register(tournament, player)
            board = await self.until(tournament, has_entered(made))
        return board

    async def withdraw(self, tournament: pb.Tournament, who: str, request_id: str = "") -> pb.Entry:
        """The entry of somebody who has left."""
        request = pb.WithdrawFromTournamentRequest(
            request_id=request_id or new_id(), tournament_id=tournament.tournament_id
        )
        entry: pb.Entry = (await self.ask(self.stub.WithdrawFromTournament, request, who)).entry
        return entry

    async def disqualify(
        self, tournament: pb.Tournament, entry: pb.Entry, reason: str = "two accounts"
    ) -> pb.Entry:
        """The entry after an operator has taken it out."""
        request = pb.DisqualifyEntryRequest(
            request_id=new_id(),
            tournament_id=tournament.tournament_id,
            entry_id=entry.entry_id,
            reason=reason,
        )
        found: pb.Entry = (await self.ask(self.stub.DisqualifyEntry, request)).entry
        return found

    async def operate(self, call: str, tournament: pb.Tournament, **more: Any) -> pb.Tournament:
        """The tournament after Start, Pause, Resume, Cancel or Correct."""
        kind = getattr(pb, f"{call}TournamentRequest")
        request = kind(request_id=new_id(), tournament_id=tournament.tournament_id, **more)
        answer = await self.ask(getattr(self.stub, f"{call}Tournament"), request)
        found: pb.Tournament = answer.tournament
        return found

    async def its_time(self, tournament: pb.Tournament) -> None:
        """The moment has come at which it starts by itself."""
        await self.database.execute(
            "UPDATE tournaments SET due_at = now() WHERE tournament_id = $1::text::uuid"
            " AND status = 'open'",
            tournament.tournament_id,
        )

    async def get(self, tournament: pb.Tournament, who: str = OPERATOR) -> pb.GetTournamentResponse:
        """The tournament as it stands."""
        request = pb.GetTournamentRequest(tournament_id=tournament.tournament_id)
        found: pb.GetTournamentResponse = await self.ask(self.stub.GetTournament, request, who)
        return found

    def watch(self, tournament: pb.Tournament, after: int = 0, who: str = "spyros") -> Any:
        """The stream of a tournament."""
        request = pb.WatchTournamentRequest(
            tournament_id=tournament.tournament_id, after_version=after
        )
        return self.stub.WatchTournament(request, metadata=self.rules.credentials(who))

    async def boards(self, tournament: pb.Tournament) -> AsyncGenerator[Board, None]:
        """What a watcher knows after each message."""
        board, stream = Board(), self.watch(tournament)
        try:
            async for message in stream:
                if message.HasField("change"):
                    board.take(message.change)
                    if not message.change.more:
                        yield board
        finally:
            stream.cancel()

    async def until(self, tournament: pb.Tournament, done: Callable[[Board], bool]) -> Board:
        """What a watcher knows as soon as it is so."""
        board = Board()
        try:
            async with asyncio.timeout(PATIENCE), aclosing(self.boards(tournament)) as boards:
                async for board in boards:
                    if done(board):
                        return board
        except TimeoutError:
            raise AssertionError(f"never so: {board}") from None
        raise AssertionError(f"the stream ended with {board}")

    async def over(self, tournament: pb.Tournament) -> Board:
        """What a watcher knows in the end."""
        return await self.until(tournament, is_status(*OVER))

    # --- playing -----------------------------------------------------------------------------

    async def plays(self, game_id: str) -> None:
        """Everybody takes his seat, and the game starts."""
        game = await self.rules.get(game_id)
        for seat in game.seats:
            if not seat.joined:
                game = await self.rules.join(game, seat.player_id)

    async def play(self, match: pb.TournamentMatch, loser: str) -> None:
        """Everybody joins, and one resigns."""
        await self.plays(match.game_id)
        await self.rules.resign(match.game_id, loser)

    async def miss(self, match: pb.TournamentMatch, joining: Sequence[str] = ()) -> None:
        """Only some join, and the time to do so passes."""
        game = await self.rules.get(match.game_id)
        for player in joining:
            await self.rules.join(game, player)
        await self.rules.join_within(match.game_id, 0)

    async def play_on(
        self, tournament: pb.Tournament, done: Callable[[Board], bool] | None = None
    ) -> Board:
        """Whoever is better wins every game, until it is over, or as far as it is said."""
        played: set[str] = set()
        done = done or is_status(*OVER)
        async with asyncio.timeout(PATIENCE), aclosing(self.boards(tournament)) as boards:
            async for board in boards:
                if done(board):
                    return board
                for match in board.playing():
                    if match.game_id not in played:
                        played.add(match.game_id)
                        seeds = {e: board.entries[e].seed for e in sides(match)}
                        loser = board.entries[max(seeds, key=seeds.__getitem__)]
                        await self.play(match, loser.player_ids[0])
        raise AssertionError("the stream ended")


async def running(club: Club, *players: str, **changes: Any) -> pb.Tournament:
    """A tournament that has started, its seeds in the order of the players."""
    tournament = await club.create(**changes)
    await club.entered(tournament, *players)
    await club.operate("Start", tournament)
    return tournament


def sides(match: pb.TournamentMatch) -> tuple[str, str]:
    """The entries of a match."""
    return match.one_entry_id, match.two_entry_id


def is_status(*statuses: pb.TournamentStatus.ValueType) -> Callable[[Board], bool]:
    """Whether a tournament stands there."""
    return lambda board: board.status in statuses


def has_entered(entry: pb.Entry) -> Callable[[Board], bool]:
    """Whether an entry has paid."""
    return lambda board: (
        entry.entry_id in board.entries
        and board.entries[entry.entry_id].status == pb.ENTRY_STATUS_ENTERED
    )


def has_games(count: int, turn: int = 1) -> Callable[[Board], bool]:
    """Whether so many matches of a round have a game."""
    return lambda board: len([m for m in board.playing() if m.round == turn]) == count
