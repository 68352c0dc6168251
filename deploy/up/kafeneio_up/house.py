"""The scaled house on one machine: PostgreSQL, NATS, replicas of every service, and the edge."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from kafeneio_house.main import migrate
from kafeneio_runtime.clock import SystemTime
from kafeneio_runtime.postgres import EmbeddedPostgres

from kafeneio_up import edge, nats
from kafeneio_up.alone import alone, check_free
from kafeneio_up.edge import Ports, Rate
from kafeneio_up.parts import SERVICES, Part, Places, Replicas
from kafeneio_up.process import free_ports

POOL_SIZE: Final = 4
"""Connections of each replica: all of them share one PostgreSQL."""
CONNECTIONS: Final = 200

Told = Callable[[str], None]


@dataclass(frozen=True, slots=True)
class Plan:
    """What a house is made of."""

    data: Path
    """For what outlives it: the database, the events, the keys."""
    places: Places
    edge: Ports
    nats_port: int
    settings: Mapping[str, str] = field(default_factory=dict)
    """Of every service; the others are made here."""
    page: Path | None = None
    page_port: int = 0
    rate: Rate | None = None
    database_url: str | None = None
    """None for a PostgreSQL of its own."""
    nats_url: str | None = None
    """None for a NATS of its own."""
    durable: bool = True
    """Whether its own PostgreSQL and NATS wait for the disk."""
    keep: bool = True
    """Whether parts that die are started again."""

    @property
    def ports(self) -> list[int]:
        """All on which something of the house will listen."""
        services = (*self.places.grpc.values(), *self.places.metrics.values())
        found = [port for ports in services for port in ports]
        found += [self.edge.public, self.edge.metrics, self.edge.admin]
        found += [self.nats_port] if self.nats_url is None else []
        return found + ([] if self.page is None else [self.page_port])


@dataclass(slots=True)
class House:
    """A house that is open."""

    plan: Plan
    database_url: str
    replicas: Replicas
    nats: Part | None
    envoy: Part
    postgres: EmbeddedPostgres | None

    @property
    def address(self) -> str:
        """The public port, for gRPC, gRPC-Web and the page."""
        return f"{edge.HOST}:{self.plan.edge.public}"


def usual_places(count: int) -> Places:
    """The usual ports, those of the second replica 100 higher, and so on; metrics 10,000 above."""
    grpc = {
        service: [port + 100 * number for number in range(count)]
        for service, port in SERVICES.items()
    }
    metrics = {service: [port + 10_000 for port in ports] for service, ports in grpc.items()}
    return Places(grpc, metrics)


def free_places(counts: Mapping[str, int]) -> Places:
    """Ports that are free now, for so many replicas of each service."""
    ports = iter(free_ports(2 * sum(counts.values())))
    grpc = {service: [next(ports) for _ in range(counts[service])] for service in SERVICES}
    metrics = {service: [next(ports) for _ in range(counts[service])] for service in SERVICES}
    return Places(grpc, metrics)


@asynccontextmanager
async def opened(plan: Plan, told: Told = lambda _: None) -> AsyncIterator[House]:
    """Open a house; it is closed in the reverse order, nobody cut off before his time.

    `told` is called with what happens on the way. Raises StartError where a part does not come up.
    """
    work = plan.data / "up"
    work.mkdir(parents=True, exist_ok=True)
    async with AsyncExitStack() as stack:
        stack.enter_context(alone(work))
        check_free(plan.ports)
        keeping: list[asyncio.Task[None]] = []

        async def stop_keeping() -> None:
            for task in keeping:
                task.cancel()
            await asyncio.gather(*keeping, return_exceptions=True)

        async def begin(part: Part) -> None:
            told(f"starting {part.name}")
            stack.push_async_callback(part.end)
            await part.start()
            if plan.keep:
                keeping.append(asyncio.create_task(part.keep(told)))

        postgres, database_url = None, plan.database_url
        if database_url is None:
            told("starting postgres")
            postgres = EmbeddedPostgres(
                plan.data / "postgres", durable=plan.durable, connections=CONNECTIONS
            )
            database_url = await stack.enter_async_context(postgres)
            if plan.keep:
                keeping.append(asyncio.create_task(postgres.keep_running(SystemTime())))
        broker, nats_url = None, plan.nats_url
        if nats_url is None:
            folder = plan.data / "nats"
            broker = Part("nats", lambda: nats.start(folder, plan.nats_port, durable=plan.durable))
            await begin(broker)
            nats_url = f"nats://{nats.HOST}:{plan.nats_port}"
        told("bringing the database up to date")
        await asyncio.to_thread(migrate, database_url)

        settings = {
            "KAFENEIO_DATABASE_POOL_SIZE": str(POOL_SIZE),
            "KAFENEIO_DATA_DIR": str(plan.data),
            **plan.settings,
            "KAFENEIO_DATABASE_URL": database_url,
            "KAFENEIO_NATS_URL": nats_url,
        }
        backends = {service: plan.places.addresses(service) for service in SERVICES}
        if plan.page is not None:
            page, port = plan.page, plan.page_port
            backends["page"] = [f"{edge.HOST}:{port}"]
            await begin(Part("page", lambda: edge.serve_files(page, port, work)))
        # It ends after the replicas, which say goodbye through it.
        envoy = Part("envoy", lambda: edge.start(backends, plan.edge, work, plan.rate))
        stack.push_async_callback(envoy.end)
        replicas = Replicas(work, settings, plan.places)
        told(f"starting {', '.join(part.name for part in replicas)}")
        stack.push_async_callback(replicas.end)
        await replicas.start()
        told("starting envoy")
        await envoy.start()
        if plan.keep:
            keeping += [asyncio.create_task(part.keep(told)) for part in (*replicas, envoy)]
        # The first to be undone: what ends from now on has not died.
        stack.push_async_callback(stop_keeping)
        yield House(plan, database_url, replicas, broker, envoy, postgres)
