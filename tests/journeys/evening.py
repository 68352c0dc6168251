"""An evening in the house: all four services in this process, over real sockets.

Embedded, each service is there once, and they share a bus; scaled, there are two replicas of each,
which share only a database and NATS, and clients come through Envoy.
"""

from __future__ import annotations

import asyncio
import tempfile
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from kafeneio.clock.v1 import events_pb2 as clock_events
from kafeneio_client.client import House
from kafeneio_clock import main as clock
from kafeneio_computers import main as computers
from kafeneio_games.chance import ProvableDraw
from kafeneio_matchmaking import main as matchmaking
from kafeneio_rules import main as rules
from kafeneio_rules.live import Draws
from kafeneio_runtime import bus as buses
from kafeneio_runtime.auth import token_verifier
from kafeneio_runtime.clock import SystemTime
from kafeneio_runtime.directory import Directory
from kafeneio_runtime.nats_bus import NatsBus
from kafeneio_runtime.serve import Server, Service, drain
from kafeneio_runtime.settings import Settings
from kafeneio_settlement import main as settlement
from kafeneio_up import edge

from tests.journeys.guests import FOUR as FOUR
from tests.journeys.guests import PATIENCE as PATIENCE
from tests.journeys.guests import PLAYERS as PLAYERS
from tests.journeys.guests import PURSE as PURSE
from tests.journeys.guests import STAKE as STAKE
from tests.journeys.guests import Guests
from tests.journeys.guests import refused as refused

SERVICES: Final = ("rules", "settlement", "clock", "matchmaking")
"""In an order in which each finds open what it calls."""

Mangle = Callable[[Sequence[buses.Event]], Sequence[buses.Event]]

QUICK: Final[dict[str, Any]] = {
    "rules_port": 0,
    "clock_port": 0,
    "settlement_port": 0,
    "matchmaking_port": 0,
    "computers_port": 0,
    "database_pool_size": 4,
    "drain_seconds": 0,
    "drain_grace_seconds": 5,
    "rate_limit_per_second": 1e6,
    "rate_limit_burst": 1_000_000,
}


class UnrulyBus:
    """A bus that hands on what `mangle` makes of the events: again, in another order, not at all.
    `of` is another one, whose mangling is that of this one too.
    """

    def __init__(self, inner: buses.Bus, of: UnrulyBus | None = None) -> None:
        self.mangle: Mangle = lambda events: of.mangle(events) if of else events
        self._inner = inner

    async def publish(self, events: Sequence[buses.Event]) -> None:
        """As they are."""
        await self._inner.publish(events)

    async def subscribe(
        self, subject: str, consumer: str, handler: buses.EventHandler
    ) -> buses.Subscription:
        """With what is made of the events."""

        async def handle(events: Sequence[buses.Event]) -> None:
            if mangled := self.mangle(events):
                await handler(mangled)

        return await self._inner.subscribe(subject, consumer, handle)

    async def close(self) -> None:
        """And the bus itself."""
        await self._inner.close()


@dataclass(frozen=True, slots=True)
class Mode:
    """How many replicas of each service a house has, and what else is set for it."""

    replicas: int
    settings: dict[str, Any]


EMBEDDED: Final = Mode(1, {"nats_url": None})
mode: ContextVar[Mode] = ContextVar("mode", default=EMBEDDED)
"""Of the houses that are opened from now on."""


@dataclass(frozen=True, slots=True)
class Replica:
    """One process, if it were one: a server, and the bus that it alone uses, if it has one."""

    server: Server
    bus: buses.Bus | None

    async def close(self) -> None:
        """Drain it."""
        await self.server.drain()
        if self.bus is not None:
            await self.bus.close()


@dataclass(kw_only=True)
class Evening(Guests):
    """The house, and who is in it."""

    bus: UnrulyBus
    directory: Directory
    folder: Path
    """For what the edge needs."""
    replicas: int = 1
    draws: Draws = ProvableDraw
    running: dict[str, list[Replica]] = field(default_factory=dict)
    connected: AsyncExitStack = field(default_factory=AsyncExitStack)
    """Closed, and the clients are gone, and the edge with them."""
    told: dict[tuple[str, int], clock_events.ClockEvent] = field(default_factory=dict)
    heard: asyncio.Condition = field(default_factory=asyncio.Condition)

    async def open_service(self, name: str) -> None:
        """Start one of the services, every replica of it."""
        self.running[name] = [await self._replica(name) for _ in range(self.replicas)]
        self.directory.tell({name: f"ipv4:{','.join(self.addresses(name))}"})

    async def _replica(self, name: str) -> Replica:
        own = None if self.replicas == 1 else UnrulyBus(NatsBus(self.settings), self.bus)
        service = await self._service(name, own or self.bus)
        server = Server(service, self.settings, token_verifier(self.settings))
        await server.start()
        return Replica(server, own)

    async def _service(self, name: str, events: buses.Bus) -> Service:
        made, url, directory = self.settings, self.url, self.directory
        match name:
            case "rules":
                return await rules.service(made, url, events, draws=self.draws)
            case "settlement":
                return await settlement.service(made, url, events, directory)
            case "clock":
                return await clock.service(made, url, events, directory)
            case "computers":
                return computers.service(made, directory)
        return await matchmaking.service(made, url, events, directory)

    async def close_service(self, name: str) -> None:
        """Drain one of the services; what it does not hear waits for it."""
        await asyncio.gather(*(replica.close() for replica in self.running.pop(name)))

    async def close(self) -> None:
        """Drain all that still runs, step by step together, as a house does."""
        left = [replica for replicas in self.running.values() for replica in replicas]
        self.running.clear()
        await drain([replica.server for replica in left], self.settings, SystemTime())
        await asyncio.gather(*(replica.close() for replica in left))

    def addresses(self, name: str) -> list[str]:
        """Where the replicas of a service are."""
        return [replica.server.address for replica in self.running[name]]

    async def listen(self) -> None:
        """Hear what the clock announces, as any other service does."""

        async def hear(events: Sequence[buses.Event]) -> None:
            async with self.heard:
                for event in events:
                    told = clock_events.ClockEvent.FromString(event.payload)
                    self.told[told.game_id, told.sequence] = told
                self.heard.notify_all()

        await self.bus.subscribe("clock.events", "journeys", hear)

    def of_game(self, game_id: str, kind: str) -> list[clock_events.ClockEvent]:
        """What the clock has announced about a game, of one kind, each once and in order."""
        events = [self.told[key] for key in sorted(self.told) if key[0] == game_id]
        return [event for event in events if event.WhichOneof("event") == kind]

    async def announced(
        self, game_id: str, kind: str, count: int = 1
    ) -> list[clock_events.ClockEvent]:
        """Events of one kind, once there are so many."""
        async with asyncio.timeout(PATIENCE), self.heard:
            await self.heard.wait_for(lambda: len(self.of_game(game_id, kind)) >= count)
        return self.of_game(game_id, kind)

    async def open_house(self) -> None:
        """The house as its clients know it: the addresses of its services, or that of the edge."""
        backends = {name: self.addresses(name) for name in SERVICES}
        known = {name: addresses[0] for name, addresses in backends.items()}
        if self.replicas > 1:
            edge_folder = Path(tempfile.mkdtemp(dir=self.folder))
            opening = edge.opened(backends, edge_folder, rate=edge.Rate(1_000_000, 1_000_000))
            known = dict.fromkeys(SERVICES, await self.connected.enter_async_context(opening))
        self.house = await self.connected.enter_async_context(
            House(
                known["rules"],
                clock=known["clock"],
                settlement=known["settlement"],
                matchmaking=known["matchmaking"],
            )
        )

    async def reconnect(self) -> None:
        """The house's clients learn the new addresses of services that were started again."""
        await self.connected.aclose()
        self.clients.clear()
        await self.open_house()


@asynccontextmanager
async def evening(
    url: str, folder: Path, draws: Draws = ProvableDraw, **settings: object
) -> AsyncIterator[Evening]:
    """A house on a migrated database; `settings` differ from those of a house in no hurry."""
    chosen = mode.get()
    made = Settings(**(QUICK | {"data_dir": folder} | chosen.settings | settings))
    events = UnrulyBus(buses.open_bus(made))
    async with AsyncExitStack() as stack:
        directory = Directory(made, "house")
        opened = Evening(
            url=url,
            settings=made,
            bus=events,
            directory=directory,
            folder=folder,
            replicas=chosen.replicas,
            draws=draws,
        )
        stack.push_async_callback(opened.bus.close)
        stack.push_async_callback(opened.directory.close)
        await opened.listen()
        for name in (*SERVICES, "computers"):
            await opened.open_service(name)

        stack.push_async_callback(opened.close)
        stack.push_async_callback(opened.connected.aclose)
        await opened.open_house()
        yield opened
