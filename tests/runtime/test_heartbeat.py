"""Heartbeats of replicas, and the outages that they end (X10)."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from datetime import UTC, datetime, timedelta

import pytest
from kafeneio_runtime.clock import SystemTime
from kafeneio_runtime.heartbeat import GAP_SECONDS, Heartbeat
from kafeneio_runtime.store import Store
from kafeneio_runtime.tables import heartbeat_tables
from sqlalchemy import MetaData
from sqlalchemy.dialects import postgresql
from sqlalchemy.schema import CreateTable

LONG_AGO = datetime(2026, 1, 1, tzinfo=UTC)


@pytest.fixture
async def store(database_url: str) -> AsyncIterator[Store]:
    """A schema with the two tables."""
    opened = await Store.open(database_url, "public", pool_size=8)
    dialect = postgresql.dialect()  # type: ignore[no-untyped-call]  # SQLAlchemy left it so
    for table in heartbeat_tables(MetaData()):
        await opened.pool.execute(str(CreateTable(table).compile(dialect=dialect)))
    yield opened
    await opened.close()


async def silent_for(store: Store, seconds: float) -> None:
    """As if the last heartbeat had been so long ago."""
    await store.pool.execute(
        "UPDATE heartbeats SET at = clock_timestamp() - make_interval(secs => $1)", seconds
    )


async def test_the_first_heartbeat_ends_no_outage(store: Store) -> None:
    heartbeat = Heartbeat(store, SystemTime())
    await heartbeat.beat()
    assert await heartbeat.since(LONG_AGO) == []


async def test_a_gap_is_kept_as_an_outage_from_the_last_heartbeat_to_the_first(
    store: Store,
) -> None:
    heartbeat = Heartbeat(store, SystemTime())
    await heartbeat.beat()
    await silent_for(store, 40)
    await heartbeat.beat()
    (outage,) = await heartbeat.since(LONG_AGO)
    assert timedelta(seconds=40) <= outage.ended - outage.began < timedelta(seconds=45)
    assert await heartbeat.since(outage.ended) == []
    # And the heart has beaten: what follows at once is no outage.
    await heartbeat.beat()
    assert await heartbeat.since(LONG_AGO) == [outage]


async def test_a_slow_moment_is_no_outage(store: Store) -> None:
    heartbeat = Heartbeat(store, SystemTime())
    await heartbeat.beat()
    await silent_for(store, GAP_SECONDS - 1)
    await heartbeat.beat()
    assert await heartbeat.since(LONG_AGO) == []


async def test_a_replica_that_starts_ends_the_shortest_outage(store: Store) -> None:
    # Killed and back within two seconds: the time is credited all the same.
    await Heartbeat(store, SystemTime()).beat()
    await silent_for(store, 1.5)
    starting = Heartbeat(store, SystemTime())
    await starting.begin()
    (outage,) = await starting.since(LONG_AGO)
    assert outage.ended - outage.began >= timedelta(seconds=1.5)


async def test_a_replica_that_starts_beside_a_living_one_ends_no_outage(store: Store) -> None:
    await Heartbeat(store, SystemTime()).beat()
    starting = Heartbeat(store, SystemTime())
    await starting.begin()
    assert await starting.since(LONG_AGO) == []


async def test_replicas_that_come_back_together_note_one_outage(store: Store) -> None:
    replicas = [Heartbeat(store, SystemTime()) for _ in range(4)]
    await replicas[0].beat()
    await silent_for(store, 10)
    await asyncio.gather(*(replica.beat() for replica in replicas))
    assert len(await replicas[0].since(LONG_AGO)) == 1
