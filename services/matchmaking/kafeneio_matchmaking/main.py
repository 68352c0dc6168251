"""`matchmaking` as a process: settings -> store -> server -> serve; alone in naming adapters."""

from __future__ import annotations

import asyncio
from datetime import timedelta
from pathlib import Path
from typing import Final

from kafeneio.matchmaking.v1 import quick_match_pb2_grpc
from kafeneio_runtime.alone import migrate_alone, serve_alone
from kafeneio_runtime.auth import Role
from kafeneio_runtime.bus import Bus
from kafeneio_runtime.clock import SystemTime
from kafeneio_runtime.directory import Directory
from kafeneio_runtime.serve import Service
from kafeneio_runtime.settings import Settings
from kafeneio_runtime.store import Store, migrate
from kafeneio_runtime.streams import Pace

from kafeneio_matchmaking.background import Background
from kafeneio_matchmaking.peers import Peers
from kafeneio_matchmaking.replicas import Replicas
from kafeneio_matchmaking.saga import Saga
from kafeneio_matchmaking.schema import SCHEMA
from kafeneio_matchmaking.server import Offers, QuickMatchServicer
from kafeneio_matchmaking.storage import Matchmaking

MIGRATIONS: Final = Path(__file__).parent / "migrations"
QUICK_MATCH: Final = "kafeneio.matchmaking.v1.QuickMatchService"
ROLES: Final = {
    f"/{QUICK_MATCH}/{call}": frozenset({Role.PLAYER})
    for call in ("Enqueue", "PlayHouse", "Cancel", "WatchTicket")
}

DRIVERS: Final = 2
"""So many matches a replica drives at once; each holds a connection while it waits for an answer,
and half of the pool is left for the calls."""


async def service(settings: Settings, url: str, bus: Bus, directory: Directory) -> Service:
    """`matchmaking` on a migrated database, ready to be served. It neither announces nor hears
    anything yet, so the bus is left alone."""
    time, draining = SystemTime(), asyncio.Event()
    store = await Store.open(url, SCHEMA, settings.database_pool_size)
    storage, peers, replicas = Matchmaking(store), Peers(directory), Replicas(store, time)
    servicer = QuickMatchServicer(
        storage,
        Offers(peers, time),
        replicas,
        Pace.of(settings, time, draining),
        settings.fee_basis_points,
    )
    retention = timedelta(hours=settings.request_retention_hours)
    saga = Saga(storage, peers)
    background = Background(store, storage, saga, replicas, time, draining, retention)
    return Service(
        name="matchmaking",
        port=settings.matchmaking_port,
        servicers=((quick_match_pb2_grpc.add_QuickMatchServiceServicer_to_server, servicer),),
        service_names=(QUICK_MATCH,),
        roles=ROLES,
        ready=store.ping,
        background=(
            replicas.hear,
            background.pair,
            *(background.drive for _ in range(DRIVERS)),
            background.expire,
            background.count,
            background.forget_requests,
            background.end_streams,
        ),
        closing=store.close,
        draining=draining,
    )


def migrate_database(url: str) -> None:
    """Bring the schema of `matchmaking` up to date."""
    migrate(url, SCHEMA, MIGRATIONS)


def main() -> None:
    """`kafeneio serve matchmaking`: this service alone, on the database of the settings."""
    serve_alone("matchmaking", service)


def migrate_main() -> None:
    """`kafeneio migrate matchmaking`."""
    migrate_alone(migrate_database)
