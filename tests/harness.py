"""`rules` served in this process over real sockets, and what a test says to it.

Everything goes through the API. The database is read, to see that nothing has changed, and written
only to move a deadline. SERVICE and OPERATOR have these roles, everybody else is a player.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from random import Random
from typing import Any, Final, TypeAlias, TypeVar

import asyncpg
import grpc
from google.protobuf.message import Message
from kafeneio.rules.v1 import actions_pb2, events_pb2, game_pb2_grpc, rulebook_pb2_grpc
from kafeneio.rules.v1 import game_pb2 as pb
from kafeneio_games.chance import ProvableDraw
from kafeneio_rules import main
from kafeneio_rules.live import Draws
from kafeneio_runtime.auth import DevelopmentKey, Role, development_key, token_verifier
from kafeneio_runtime.bus import Bus, InProcessBus
from kafeneio_runtime.serve import Server
from kafeneio_runtime.settings import Settings

from tests import snapshots
from tests.rules.ids import new_id as new_id
from tests.rules.moves import latest, some_turn
from tests.snapshots import Snapshot as Snapshot

SERVICE, OPERATOR, STRANGER = "matchmaking", "operator", "stranger"
SEATS: Final = ("eleni", "nikos")
PATIENCE: Final = 15.0
"""Seconds until a test gives up waiting; nothing takes as long unless it is broken."""

TABLES: Final = {
    "games": "*",
    "seats": "*",
    "log": "*",
    # Not `published_at`: the relay sets that whenever it gets to it.
    "outbox": "event_id, subject_id, sequence, type, payload, occurred_at",
    "requests": "*",
    "audit": "*",
}
_ROLES: Final = {SERVICE: Role.SERVICE, OPERATOR: Role.OPERATOR}

Query = TypeVar("Query", bound=Message)
Answer = TypeVar("Answer", bound=Message)
Metadata: TypeAlias = tuple[tuple[str, str], ...]
Choose: TypeAlias = Callable[[Sequence[actions_pb2.Action]], actions_pb2.Action]
Watch: TypeAlias = "grpc.aio.UnaryStreamCall[pb.WatchGameRequest, pb.WatchGameResponse]"


@dataclass
class Rules:
    """One replica of `rules`, and its callers."""

    url: str
    settings: Settings
    channel: grpc.aio.Channel
    key: DevelopmentKey
    database: asyncpg.Connection[asyncpg.Record]
    server: Server | None = None
    """None where it runs in a process of its own."""

    def __post_init__(self) -> None:
        self.games = game_pb2_grpc.GameServiceStub(self.channel)
        self.book = rulebook_pb2_grpc.RuleBookServiceStub(self.channel)
        self._tokens: dict[str, str] = {}

    @classmethod
    @asynccontextmanager
    async def serve(
        cls,
        url: str,
        folder: Path,
        draws: Draws = ProvableDraw,
        *,
        bus: Bus | None = None,
        **settings: object,
    ) -> AsyncIterator[Rules]:
        """`rules` on a migrated database, whose events go to `bus`. Replicas share `folder`, with
        the keys. `settings` differ from those of a house that nobody hurries."""
        quick: dict[str, Any] = {
            "data_dir": folder,
            "rules_port": 0,
            "database_pool_size": 4,
            "drain_seconds": 0,
            "drain_grace_seconds": 5,
            "rate_limit_per_second": 1e6,
            "rate_limit_burst": 1_000_000,
            "heartbeat_seconds": 10,
            "max_message_bytes": 262_144,
        }
        made = Settings(**(quick | settings))
        own = InProcessBus()
        service = await main.service(made, url, bus or own, draws=draws)
        server = Server(service, made, token_verifier(made))
        await server.start()
        try:
            async with cls.connected(url, made, server.address) as rules:
                rules.server = server
                yield rules
        finally:
            if not server.service.draining.is_set():
                await server.drain()
            await own.close()

    @classmethod
    @asynccontextmanager
    async def connected(
        cls,
        url: str,
        settings: Settings,
        address: str,
        interceptors: Sequence[grpc.aio.ClientInterceptor] = (),
    ) -> AsyncIterator[Rules]:
        """A replica that is being served on a database, wherever that is."""
        database = await asyncpg.connect(url, server_settings={"search_path": "rules"})
        try:
            async with grpc.aio.insecure_channel(address, interceptors=interceptors) as channel:
                yield cls(url, settings, channel, development_key(settings), database)
        finally:
            await database.close()

    async def drain(self) -> None:
        """The replica goes, politely."""
        assert self.server is not None, "the process is somebody else's"
        await self.server.drain()

    # --- calling -----------------------------------------------------------------------------

    def token(self, who: str, lifetime: timedelta = timedelta(hours=1)) -> str:
        """A token that says who calls, and as what."""
        return self.key.sign(who, _ROLES.get(who, Role.PLAYER), lifetime)

    def credentials(self, who: str) -> Metadata:
        """The header with it."""
        if who not in self._tokens:
            self._tokens[who] = self.token(who)
        return (("authorization", f"Bearer {self._tokens[who]}"),)

    async def ask(
        self,
        call: grpc.aio.UnaryUnaryMultiCallable[Query, Answer],
        request: Query,
        who: str = SERVICE,
    ) -> Answer:
        """Calls a unary method."""
        return await call(request, metadata=self.credentials(who), timeout=PATIENCE)

    async def send(
        self,
        path: str,
        body: bytes,
        metadata: Metadata = (),
        within: float | None = PATIENCE,
        stream: bool = False,
    ) -> bytes:
        """Sends bytes as they are to any method; the first message that comes back."""
        if not stream:
            unary: grpc.aio.UnaryUnaryMultiCallable[bytes, bytes] = self.channel.unary_unary(path)
            return await unary(body, metadata=metadata, timeout=within)
        many: grpc.aio.UnaryStreamMultiCallable[bytes, bytes] = self.channel.unary_stream(path)
        async with asyncio.timeout(PATIENCE):
            async for message in many(body, metadata=metadata, timeout=within):
                return message
        raise AssertionError("the stream ended without a message")

    # --- a game from its making to its end ---------------------------------------------------

    async def create(
        self,
        *,
        game_id: str = "",
        variant: str = "portes",
        players: Sequence[str] = SEATS,
        computers: Sequence[int] = (),
        target: int = 0,
        options: Mapping[str, str] | None = None,
        join_timeout: int | None = None,
        request_id: str = "",
    ) -> pb.Game:
        """A game that waits for its seats."""
        request = pb.CreateGameRequest(
            request_id=request_id or new_id(),
            game_id=game_id or new_id(),
            terms=pb.Terms(variant=variant, target=target, options=options or {}),
            player_ids=players,
            computer_seats=computers,
        )
        if join_timeout is not None:
            request.join_timeout.seconds = join_timeout
        return (await self.ask(self.games.CreateGame, request)).game

    async def join(
        self, game: pb.Game, who: str, word: bytes = b"", request_id: str = ""
    ) -> pb.Game:
        """The game after somebody has taken his seat."""
        request = pb.JoinGameRequest(
            request_id=request_id or new_id(),
            game_id=game.game_id,
            commitment=game.commitment,
            word=word or who.encode(),
        )
        return (await self.ask(self.games.JoinGame, request, who)).game

    async def start(
        self,
        *,
        variant: str = "portes",
        players: Sequence[str] = SEATS,
        computers: Sequence[int] = (),
        target: int = 0,
        options: Mapping[str, str] | None = None,
    ) -> pb.Game:
        """A game that every person has joined."""
        game = await self.create(
            variant=variant, players=players, computers=computers, target=target, options=options
        )
        for seat, player in enumerate(players):
            if seat not in computers:
                game = await self.join(game, player)
        assert game.position.status == pb.GAME_STATUS_RUNNING
        return game

    async def get(self, game_id: str, who: str = SERVICE, as_seat: int | None = None) -> pb.Game:
        """The game as somebody sees it."""
        request = pb.GetGameRequest(game_id=game_id, as_seat=as_seat)
        return (await self.ask(self.games.GetGame, request, who)).game

    async def legal(
        self,
        game_id: str,
        who: str,
        after: Sequence[actions_pb2.Action] = (),
        as_seat: int | None = None,
        kind: str = "",
    ) -> pb.ListLegalActionsResponse:
        """What may be done after some steps."""
        request = pb.ListLegalActionsRequest(
            game_id=game_id, after=after, as_seat=as_seat, kind=kind
        )
        return await self.ask(self.games.ListLegalActions, request, who)

    async def whole_turn(
        self, game_id: str, who: str, choose: Choose | None = None
    ) -> list[actions_pb2.Action]:
        """The steps of a turn, put together as a client does."""
        chosen: list[actions_pb2.Action] = []
        while not (legal := await self.legal(game_id, who, chosen)).complete:
            chosen.append(choose(legal.actions) if choose else legal.actions[0])
        return chosen

    async def act(
        self,
        game_id: str,
        version: int,
        who: str,
        actions: Sequence[actions_pb2.Action],
        request_id: str = "",
        as_seat: int | None = None,
    ) -> pb.ActResponse:
        """Plays a batch."""
        request = pb.ActRequest(
            request_id=request_id or new_id(),
            game_id=game_id,
            expected_version=version,
            actions=actions,
            as_seat=as_seat,
        )
        return await self.ask(self.games.Act, request, who)

    async def play_turn(
        self, game_id: str, position: pb.Position, random: Random | None = None
    ) -> pb.ActResponse:
        """A whole turn of whoever is prompted, each step any legal one."""
        actions = some_turn(position, random or Random(position.version))
        return await self.act(game_id, position.version, SEATS[position.turn.seat], actions)

    async def play_turns(self, game: pb.Game, count: int, seed: int = 1) -> pb.Position:
        """So many turns, or as many as the game has."""
        random, position = Random(seed), game.position
        for _ in range(count):
            if position.status != pb.GAME_STATUS_RUNNING:
                break
            position = latest(await self.play_turn(game.game_id, position, random))
        return position

    async def play_to_end(self, game: pb.Game, seed: int = 1) -> pb.Position:
        """The last position of a game of which every step is any legal one."""
        position = await self.play_turns(game, 5_000, seed)
        assert position.status == pb.GAME_STATUS_FINISHED
        return position

    async def resign(
        self, game_id: str, who: str, round_number: int = 1, request_id: str = ""
    ) -> pb.ResignResponse:
        """Gives a round up."""
        request = pb.ResignRequest(
            request_id=request_id or new_id(), game_id=game_id, round=round_number
        )
        return await self.ask(self.games.Resign, request, who)

    async def forfeit(
        self, game_id: str, seat: int, reason: str, turn: int = 0, request_id: str = ""
    ) -> int:
        """The version of a forfeit."""
        request = pb.ForfeitSeatRequest(
            request_id=request_id or new_id(),
            game_id=game_id,
            seat=seat,
            reason=actions_pb2.ForfeitReason.Value(f"FORFEIT_REASON_{reason}"),
            turn=turn,
        )
        return (await self.ask(self.games.ForfeitSeat, request)).version

    async def abort(self, game_id: str, reason: str = "power cut", request_id: str = "") -> int:
        """The version that ended a game."""
        request = pb.AbortGameRequest(
            request_id=request_id or new_id(), game_id=game_id, reason=reason
        )
        return (await self.ask(self.games.AbortGame, request, OPERATOR)).version

    async def cancel(self, game_id: str, request_id: str = "") -> None:
        """Calls a game off."""
        request = pb.CancelGameRequest(request_id=request_id or new_id(), game_id=game_id)
        await self.ask(self.games.CancelGame, request)

    # --- looking -----------------------------------------------------------------------------

    async def turn(self, game_id: str) -> pb.GetTurnResponse:
        """Which turn is running."""
        return await self.ask(self.games.GetTurn, pb.GetTurnRequest(game_id=game_id))

    async def events(self, game_id: str, after: int = 0) -> list[events_pb2.GameEvent]:
        """Everything that was announced about a game after a sequence number, page by page."""
        found: list[events_pb2.GameEvent] = []
        while True:
            last = found[-1].sequence if found else after
            request = pb.ListEventsRequest(game_id=game_id, after_sequence=last)
            page = (await self.ask(self.games.ListEvents, request)).events
            if not page:
                return found
            found += page

    async def record(self, game_id: str, who: str = STRANGER) -> pb.Record:
        """The whole of a finished game."""
        request = pb.GetRecordRequest(game_id=game_id)
        return (await self.ask(self.games.GetRecord, request, who)).record

    async def verify(self, record: pb.Record | str) -> pb.VerifyRecordResponse:
        """The verdict on a record, or on a game of the house."""
        request = pb.VerifyRecordRequest()
        if isinstance(record, str):
            request.game_id = record
        else:
            request.record.CopyFrom(record)
        return await self.ask(self.games.VerifyRecord, request, STRANGER)

    def watch(self, game_id: str, who: str = STRANGER, after: int = 0) -> Watch:
        """The stream of a game."""
        request = pb.WatchGameRequest(game_id=game_id, after_version=after)
        return self.games.WatchGame(request, metadata=self.credentials(who))

    async def updates(
        self, game_id: str, who: str = STRANGER, after: int = 0
    ) -> list[pb.GameUpdate]:
        """The rows of a game until its end, from its stream."""
        stream = self.watch(game_id, who, after)
        async with asyncio.timeout(PATIENCE):
            return [each.update async for each in stream if each.HasField("update")]

    # --- the database ------------------------------------------------------------------------

    async def snapshot(self) -> Snapshot:
        """How many rows each table has, and a hash of them all."""
        return await snapshots.snapshot(self.database, TABLES)

    async def log_rows(self, game_id: str) -> list[asyncpg.Record]:
        """The stored log."""
        return await self.database.fetch(
            "SELECT * FROM log WHERE game_id = $1::text::uuid ORDER BY version", game_id
        )

    async def join_within(self, game_id: str, seconds: float) -> pb.Game:
        """The game, whose time to join is over in so many seconds from now."""
        await self.database.execute(
            "UPDATE games SET join_by = clock_timestamp() + make_interval(secs => $2)"
            " WHERE game_id = $1::text::uuid",
            game_id,
            seconds,
        )
        return await self.get(game_id)
