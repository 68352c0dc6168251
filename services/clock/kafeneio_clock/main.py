"""`clock` as a process: settings -> store -> server -> serve. Only here adapters are named."""

from __future__ import annotations

import asyncio
from datetime import timedelta
from pathlib import Path
from typing import Final
from uuid import UUID

from kafeneio.clock.v1 import clock_pb2_grpc
from kafeneio_runtime.alone import migrate_alone, serve_alone
from kafeneio_runtime.audit_service import AUDIT, AUDIT_ROLES, auditing
from kafeneio_runtime.auth import Role
from kafeneio_runtime.bus import Bus, Subscription
from kafeneio_runtime.clock import SystemTime
from kafeneio_runtime.directory import Directory
from kafeneio_runtime.heartbeat import Heartbeat
from kafeneio_runtime.ids import new_id
from kafeneio_runtime.outbox import Relay
from kafeneio_runtime.serve import Service
from kafeneio_runtime.settings import Settings
from kafeneio_runtime.store import Store

from kafeneio_clock import consumer, storage, wire
from kafeneio_clock.attendance import Attendance
from kafeneio_clock.background import Background
from kafeneio_clock.consumer import Consumer
from kafeneio_clock.due import Firing
from kafeneio_clock.keeper import Keeper
from kafeneio_clock.life import Life
from kafeneio_clock.names import SCHEMA
from kafeneio_clock.peer import Rules
from kafeneio_clock.replicas import Replicas
from kafeneio_clock.rows import Row
from kafeneio_clock.server import ClockServicer, Stream
from kafeneio_clock.storage import Clocks
from kafeneio_clock.turns import Options

MIGRATIONS: Final = Path(__file__).parent / "migrations"
CLOCK: Final = "kafeneio.clock.v1.ClockService"
ROLES: Final = {
    f"/{CLOCK}/{call}": frozenset(roles)
    for roles, calls in (
        (Role, "GetClock"),
        ({Role.PLAYER}, "Attend Heartbeat Leave"),
        ({Role.PLAYER, Role.OPERATOR}, "ExplainCharges"),
        ({Role.OPERATOR}, "PauseGame ResumeGame"),
        ({Role.SERVICE}, "ListEvents"),
    )
    for call in calls.split()
}
STREAM_AGE: Final = 0.9
"""Of the age of a connection: a stream ends by its own last message before it is cut."""


def options(settings: Settings) -> Options:
    """The times of the games that start from now on."""
    return Options(
        move=round(settings.clock_move_seconds * wire.SECOND),
        grace=round(settings.clock_grace_seconds * wire.SECOND),
        timeouts=settings.clock_timeouts,
        silent=round(settings.clock_silent_seconds * wire.SECOND),
        unknown=round(settings.clock_unknown_seconds * wire.SECOND),
    )


async def service(settings: Settings, url: str, bus: Bus, directory: Directory) -> Service:
    """`clock` on a migrated database, ready to be served."""
    time, draining, name = SystemTime(), asyncio.Event(), new_id().hex
    store = await Store.open(url, SCHEMA, settings.database_pool_size)
    relay = Relay(store, bus, storage.SUBJECT)
    clocks, rules = Clocks(store), Rules(directory)

    def written(row: Row) -> None:
        relay.wake()
        attendance.update(row)
        firing.wake(row)
        replicas.written(row.game_id)

    def acted(game_id: UUID, seat: int) -> None:
        if not attendance.alive(game_id, seat):
            replicas.alive(game_id, seat)

    keeper = Keeper(clocks, written)
    attendance = Attendance(keeper, time, name, draining)
    replicas = Replicas(store, clocks, attendance, time, name)
    life = Life(Heartbeat(store, time), clocks, keeper, time, name)
    hearing = Consumer(clocks, keeper, rules, options(settings), acted)
    firing = Firing(clocks, keeper, rules, hearing, life, time)
    stream = Stream(settings.heartbeat_seconds, settings.max_connection_age_seconds * STREAM_AGE)
    servicer = ClockServicer(
        clocks, keeper, hearing, firing, attendance, replicas, time, stream, draining
    )
    retention = timedelta(hours=settings.request_retention_hours)
    background = Background(store, clocks, attendance, time, draining, retention)
    subscriptions: list[Subscription] = []

    async def flush() -> None:
        await attendance.flush()
        await keeper.close()
        await relay.flush()

    async def close() -> None:
        for subscription in subscriptions:
            await subscription.close()
        await store.close()

    await life.begin()  # what an outage costs is credited before anybody is heard or fired
    subscriptions.append(await bus.subscribe(consumer.SUBJECT, consumer.NAME, hearing.handle))
    return Service(
        name="clock",
        port=settings.clock_port,
        servicers=(
            (clock_pb2_grpc.add_ClockServiceServicer_to_server, servicer),
            auditing(store),
        ),
        service_names=(CLOCK, AUDIT),
        roles=ROLES | AUDIT_ROLES,
        ready=store.ping,
        background=(
            relay.run,
            life.run,
            firing.run,
            attendance.listen,
            replicas.tell,
            replicas.hear,
            replicas.follow,
            replicas.look,
            background.count_clocks,
            background.count_idle,
            background.forget_requests,
            background.end_streams,
        ),
        flushing=flush,
        closing=close,
        draining=draining,
    )


def migrate_database(url: str) -> None:
    """Bring the schema of `clock` up to date."""
    from kafeneio_runtime.migrations import migrate  # it loads SQLAlchemy

    migrate(url, SCHEMA, MIGRATIONS)


def main() -> None:
    """`kafeneio serve clock`: this service alone, on the database of the settings."""
    serve_alone("clock", service)


def migrate_main() -> None:
    """`kafeneio migrate clock`."""
    migrate_alone(migrate_database)
