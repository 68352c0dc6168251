"""`rules` and `clock` served in this process over real sockets, on one bus, and what a test says to
them. Who is called SERVICE or OPERATOR has that role, everybody else is a player.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final, TypeAlias

import asyncpg
import grpc
from kafeneio.clock.v1 import clock_pb2 as pb
from kafeneio.clock.v1 import clock_pb2_grpc, events_pb2
from kafeneio.rules.v1 import game_pb2
from kafeneio_clock import main as clock_main
from kafeneio_rules import main as rules_main
from kafeneio_runtime import bus
from kafeneio_runtime.auth import token_verifier
from kafeneio_runtime.directory import Directory
from kafeneio_runtime.serve import Server
from kafeneio_runtime.settings import Settings

from tests import snapshots
from tests.fixtures.waiting import eventually
from tests.harness import (
    OPERATOR,
    PATIENCE,
    SEATS,
    SERVICE,
    STRANGER,
    Rules,
    new_id,
)
from tests.snapshots import Snapshot

Stream: TypeAlias = "grpc.aio.UnaryStreamCall[pb.AttendRequest, pb.AttendResponse]"
Mangle: TypeAlias = Callable[[Sequence[bus.Event]], Sequence[bus.Event]]

TABLES: Final = {
    # Not `due_at`: that moves whenever a replica looks.
    "clocks": "game_id, version, heard, sequence, state, replicas, deadline, closed",
    "outbox": "event_id, subject_id, sequence, type, payload, occurred_at",
    "inbox": "consumer, event_id",
    "requests": "*",
    "audit": "*",
    "turns": "*",
}
QUICK: Final[dict[str, Any]] = {
    "rules_port": 0,
    "clock_port": 0,
    "database_pool_size": 4,
    "drain_seconds": 0,
    "drain_grace_seconds": 5,
    "rate_limit_per_second": 1e6,
    "rate_limit_burst": 1_000_000,
}
"""A house that nobody hurries."""


class UnrulyBus(bus.InProcessBus):
    """Holds events back, or hands on what `mangle` makes of them."""

    def __init__(self) -> None:
        super().__init__()
        self.open = asyncio.Event()
        self.open.set()
        self.mangle: Mangle = lambda events: events

    async def subscribe(
        self, subject: str, consumer: str, handler: bus.EventHandler
    ) -> bus.Subscription:
        async def handle(events: Sequence[bus.Event]) -> None:
            await self.open.wait()
            mangled = self.mangle(events)
            if mangled:
                await handler(mangled)

        return await super().subscribe(subject, consumer, handle)


class FragileDirectory(Directory):
    """A line that can be cut."""

    cut = False

    def metadata(self) -> tuple[tuple[str, str], ...]:
        if self.cut:
            raise OSError("the line is cut")
        return super().metadata()


@dataclass
class Callers:
    """Who calls one replica of `clock`, wherever it is."""

    rules: Rules
    channel: grpc.aio.Channel
    stub: clock_pb2_grpc.ClockServiceStub = field(init=False)

    def __post_init__(self) -> None:
        self.stub = clock_pb2_grpc.ClockServiceStub(self.channel)

    def attend(self, game_id: str, who: str) -> Stream:
        """Opens a stream."""
        request = pb.AttendRequest(game_id=game_id)
        return self.stub.Attend(request, metadata=self.rules.credentials(who))

    async def attended(self, game_id: str, who: str) -> tuple[Stream, pb.Attached]:
        """Opens a stream and takes its first message."""
        stream = self.attend(game_id, who)
        return stream, (await message(stream)).attached

    async def heartbeat(self, game_id: str, who: str, epoch: int) -> pb.HeartbeatResponse:
        """Says that somebody is there."""
        request = pb.HeartbeatRequest(game_id=game_id, epoch=epoch)
        return await self.rules.ask(self.stub.Heartbeat, request, who)

    async def get(self, game_id: str, who: str = STRANGER) -> pb.Clock:
        """The clock of a game."""
        request = pb.GetClockRequest(game_id=game_id)
        return (await self.rules.ask(self.stub.GetClock, request, who)).clock

    async def leave(self, game_id: str, who: str, request_id: str = "") -> pb.LeaveResponse:
        """Gives the game up."""
        request = pb.LeaveRequest(request_id=request_id or new_id(), game_id=game_id)
        return await self.rules.ask(self.stub.Leave, request, who)

    async def explain(
        self, game_id: str, who: str = OPERATOR, seat: int | None = None
    ) -> pb.ExplainChargesResponse:
        """What a seat was charged for."""
        request = pb.ExplainChargesRequest(game_id=game_id, seat=seat)
        return await self.rules.ask(self.stub.ExplainCharges, request, who)

    async def pause(self, game_id: str, request_id: str = "") -> pb.Clock:
        """An operator stops the time."""
        request = pb.PauseGameRequest(
            request_id=request_id or new_id(), game_id=game_id, reason="a complaint"
        )
        return (await self.rules.ask(self.stub.PauseGame, request, OPERATOR)).clock

    async def resume(self, game_id: str, request_id: str = "") -> pb.Clock:
        """He lets it go on."""
        request = pb.ResumeGameRequest(request_id=request_id or new_id(), game_id=game_id)
        return (await self.rules.ask(self.stub.ResumeGame, request, OPERATOR)).clock

    async def events(self, game_id: str, after: int = 0) -> list[events_pb2.ClockEvent]:
        """What was announced about a game."""
        request = pb.ListEventsRequest(game_id=game_id, after_sequence=after)
        return list((await self.rules.ask(self.stub.ListEvents, request, SERVICE)).events)

    async def until(self, game_id: str, holds: Callable[[pb.Clock], bool]) -> pb.Clock:
        """The first clock for which something holds, by asking again and again."""
        async with asyncio.timeout(PATIENCE):
            while True:
                clock = await self.get(game_id)
                if holds(clock):
                    return clock
                await asyncio.sleep(0.02)

    async def announced(
        self, game_id: str, kind: str, count: int = 1
    ) -> list[events_pb2.ClockEvent]:
        """All events of a game as soon as there are so many of a kind."""
        async with asyncio.timeout(PATIENCE):
            while True:
                found = await self.events(game_id)
                if sum(event.WhichOneof("event") == kind for event in found) >= count:
                    return found
                await asyncio.sleep(0.02)


@dataclass
class Clock(Callers):
    """One replica of `clock` that is served here."""

    server: Server
    directory: FragileDirectory


@dataclass
class House:
    """Both services."""

    url: str
    keys: Path
    settings: dict[str, Any]
    bus: UnrulyBus
    rules: Rules
    clock: Clock
    database: asyncpg.Connection[asyncpg.Record]
    others: list[Clock] = field(default_factory=list)

    @classmethod
    @asynccontextmanager
    async def serve(cls, url: str, keys: Path, **settings: object) -> AsyncIterator[House]:
        """A house on a migrated database."""
        given = {**QUICK, "data_dir": keys, **settings}
        made, unruly = Settings(**given), UnrulyBus()
        server = Server(await rules_main.service(made, url, unruly), made, token_verifier(made))
        await server.start()
        database = await asyncpg.connect(url, server_settings={"search_path": "clock"})
        try:
            async with Rules.connected(url, made, server.address) as rules:
                rules.server = server
                clock = await start_clock(rules, made, url, unruly)
                house = cls(url, keys, given, unruly, rules, clock, database)
                try:
                    yield house
                finally:
                    unruly.open.set()
                    if not server.service.draining.is_set():
                        await server.drain()  # first, while somebody hears what it has to tell
                    for each in (house.clock, *house.others):
                        await stop_clock(each)
        finally:
            await database.close()
            await unruly.close()

    async def another(self, **settings: object) -> Clock:
        """One more replica of `clock`, which hears `rules` by itself only."""
        made = Settings(**{**self.settings, **settings})
        clock = await start_clock(self.rules, made, self.url, bus.InProcessBus())
        self.others.append(clock)
        return clock

    async def restart_clock(self, after: float = 0, **settings: object) -> None:
        """The clock goes and comes back, as if `after` so many seconds."""
        await stop_clock(self.clock)
        if after:
            await asyncio.sleep(after)
        made = Settings(**{**self.settings, **settings})
        self.clock = await start_clock(self.rules, made, self.url, self.bus)

    async def asked_in_vain(self) -> None:
        """Return when the clock has noted that `rules` can't be asked."""
        await eventually(
            lambda: self.database.fetchval("SELECT bool_or(state ? 'silent_since') FROM clocks")
        )

    async def snapshot(self) -> Snapshot:
        """How many rows each table of the clock has, and a hash of them all."""
        return await snapshots.snapshot(self.database, TABLES)


async def start_clock(rules: Rules, settings: Settings, url: str, carrier: bus.Bus) -> Clock:
    """A replica that knows where `rules` is."""
    directory = FragileDirectory(settings, "clock")
    assert rules.server is not None, "it is served here"
    directory.tell({"rules": rules.server.address})
    service = await clock_main.service(settings, url, carrier, directory)
    server = Server(service, settings, token_verifier(settings))
    await server.start()
    channel = grpc.aio.insecure_channel(server.address)
    return Clock(rules, channel, server, directory)


async def stop_clock(clock: Clock) -> None:
    """The replica goes, politely."""
    if not clock.server.service.draining.is_set():
        await clock.server.drain()
    await clock.channel.close()
    await clock.directory.close()


async def message(stream: Stream) -> pb.AttendResponse:
    """The next message of a stream."""
    async with asyncio.timeout(PATIENCE):
        found = await stream.read()
    assert isinstance(found, pb.AttendResponse), "the stream has ended"
    return found


async def shown(stream: Stream, holds: Callable[[pb.Clock], bool]) -> pb.Clock:
    """The first clock in a stream for which something holds."""
    while True:
        found = await message(stream)
        if found.HasField("clock") and holds(found.clock):
            return found.clock


async def rest(stream: Stream) -> list[pb.AttendResponse]:
    """Everything until the stream ends."""
    found: list[pb.AttendResponse] = []
    async with asyncio.timeout(PATIENCE):
        while isinstance(each := await stream.read(), pb.AttendResponse):
            found.append(each)
    return found


def kinds(events: Sequence[events_pb2.ClockEvent]) -> list[str]:
    """What was announced, in order, by name."""
    return [event.WhichOneof("event") or "" for event in events]


def mover(game: game_pb2.Game) -> str:
    """Whose turn it is."""
    return SEATS[game.position.turn.seat]
