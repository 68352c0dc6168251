"""The houses that are loaded: one that runs already, or one that is opened for it."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path

from kafeneio_client.client import Client, House
from kafeneio_runtime.auth import Role, development_key
from kafeneio_runtime.settings import Settings
from kafeneio_up import house
from kafeneio_up.edge import Ports, Rate
from kafeneio_up.parts import SERVICES
from kafeneio_up.process import free_ports

from tests.bench.process import data_folder, started

NO_LIMIT = Rate(10_000_000, 10_000_000)
UNLIMITED = {"KAFENEIO_RATE_LIMIT_PER_SECOND": "1000000", "KAFENEIO_RATE_LIMIT_BURST": "1000000"}


@dataclass(frozen=True)
class Loaded:
    """A house that can be called."""

    house: House
    folder: Path
    """Its data folder, with the development key."""
    parts: Mapping[str, int]
    """How many processes of each sort it has."""

    def client(self, name: str, role: Role = Role.PLAYER) -> Client:
        """The client of somebody."""
        key = development_key(Settings(data_dir=self.folder))
        return self.house.client(key.sign(name, role, timedelta(hours=2)))

    def players(self) -> Callable[[str], Client]:
        """The client of a player by his name."""
        return lambda name: self.client(name)


@asynccontextmanager
async def running(address: str, folder: Path) -> AsyncIterator[Loaded]:
    """One that runs already, at one address for all."""
    async with House(address, clock=address, settlement=address, matchmaking=address) as clients:
        yield Loaded(clients, folder, {})


@asynccontextmanager
async def embedded() -> AsyncIterator[Loaded]:
    """Every service in one process."""
    async with (
        data_folder() as folder,
        started("-m", "kafeneio_client", "serve", "house", folder=folder) as server,
        House(
            server.addresses["rules"],
            clock=server.addresses["clock"],
            settlement=server.addresses["settlement"],
            matchmaking=server.addresses["matchmaking"],
        ) as clients,
    ):
        yield Loaded(clients, folder / "data", {"house": 1})


@asynccontextmanager
async def scaled(rules: int, others: int = 1) -> AsyncIterator[Loaded]:
    """Every service in processes of its own, so many of `rules` and of each other."""
    counts = dict.fromkeys(SERVICES, others) | {"rules": rules}
    async with AsyncExitStack() as stack:
        folder = await stack.enter_async_context(data_folder())
        plan = house.Plan(
            data=folder,
            places=house.free_places(counts),
            edge=Ports(*free_ports(3)),
            nats_port=free_ports(1)[0],
            settings={**UNLIMITED, "KAFENEIO_LOG_LEVEL": "warning"},
            rate=NO_LIMIT,
        )
        opened = await stack.enter_async_context(house.opened(plan))
        loaded = await stack.enter_async_context(running(opened.address, folder))
        yield Loaded(loaded.house, folder, counts)
