"""The outbox: what a service announces is written with what it did, and goes to the bus from there.

One relay per service works, whoever holds its lock in the database; the others stand by, and take
over when it dies or its bus takes nothing. It takes what is unpublished in the order of its
writing, and marks it when the bus has it. A crash in between publishes twice, never not at all. It
never asks for "all after the last one": rows become visible in another order than they were
numbered.
"""

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from datetime import timedelta
from typing import TYPE_CHECKING, Final, NamedTuple
from uuid import UUID

from prometheus_client import Gauge

from kafeneio_runtime import logs, store
from kafeneio_runtime.bus import Bus, Event
from kafeneio_runtime.clock import SystemTime, Time
from kafeneio_runtime.failpoints import failpoint

if TYPE_CHECKING:
    import asyncpg

_log: Final = logs.logger(__name__)
_PENDING: Final = Gauge(
    "kafeneio_outbox_pending",
    "Events written and not yet published; only the relay at work knows.",
    ("service",),
)
_AGE: Final = Gauge(
    "kafeneio_outbox_age_seconds",
    "For how long the oldest event that is not published has waited; 0 where none waits.",
    ("service",),
)

_POLL_SECONDS: Final = 1.0
_COMMAND_SECONDS: Final = 10.0
"""After so long without an answer the connection is given up, and with it the lock."""
_PAUSE_SECONDS: Final = 0.05
"""Between two looks at the table, so that a busy service pays for twenty a second and not for
one per call.
"""
_BATCH: Final = 200
_MOST_IN_FLIGHT: Final = 2000

_ANNOUNCE: Final = """
    INSERT INTO outbox (event_id, subject_id, sequence, type, payload)
    SELECT * FROM unnest($1::uuid[], $2::uuid[], $3::bigint[], $4::text[], $5::bytea[])
"""
_COLUMNS: Final = "event_id, subject_id, sequence, type, payload, occurred_at"
_UNPUBLISHED: Final = f"""
    SELECT {_COLUMNS} FROM outbox
    WHERE published_at IS NULL AND NOT event_id = ANY ($1::uuid[])
    ORDER BY occurred_at, sequence LIMIT $2
"""
_AFTER: Final = f"""
    SELECT {_COLUMNS} FROM outbox WHERE subject_id = $1 AND sequence > $2 ORDER BY sequence LIMIT $3
"""
_MARK: Final = (
    "UPDATE outbox SET published_at = clock_timestamp() WHERE event_id = ANY ($1::uuid[])"
)
_COUNT: Final = "SELECT count(*) FROM outbox WHERE published_at IS NULL"
_OLDEST: Final = """
    SELECT coalesce(extract(epoch FROM clock_timestamp() - min(occurred_at)), 0)::float8
    FROM outbox WHERE published_at IS NULL
"""
_UNMARK: Final = """
    UPDATE outbox SET published_at = NULL
    WHERE published_at IS NOT NULL AND occurred_at >= clock_timestamp() - $1::interval
"""
_TRY_LOCK: Final = "SELECT pg_try_advisory_lock(hashtext($1))"


class Announcement(NamedTuple):
    """An event to be written; the database adds when it occurred. `sequence` counts the events of
    `key` from 1.
    """

    id: UUID
    key: UUID
    sequence: int
    type: str
    payload: bytes


async def announce(connection: "store.Connection", announcements: Sequence[Announcement]) -> None:
    """Writes them into the outbox, in the transaction of what they tell. Call `Relay.wake` after
    the commit.

    Raises UniqueViolationError if a sequence of that key is taken: somebody else was faster.
    """
    await connection.execute(
        _ANNOUNCE,
        [each.id for each in announcements],
        [each.key for each in announcements],
        [each.sequence for each in announcements],
        [each.type for each in announcements],
        [each.payload for each in announcements],
    )


async def events_after(
    connection: "store.Connection", subject: str, key: UUID, after_sequence: int, limit: int
) -> list[Event]:
    """The events of `key` that follow, published or not: what a consumer that has seen a gap asks
    for.
    """
    rows = await connection.fetch(_AFTER, key, after_sequence, limit)
    return [_event(subject, row) for row in rows]


async def unpublish(connection: "store.Connection", age: timedelta) -> int:
    """Has the events of the last while published again, where a broker has lost them; how many.
    They keep their ids, so that consumers do nothing twice.
    """
    done: str = await connection.execute(_UNMARK, age)
    return int(done.rpartition(" ")[2])


async def look(database: store.Store) -> float:
    """The age in seconds of the oldest event that waits; keeps the gauge true. Every replica looks,
    whether its relay is at work or not, so operators take the largest.
    """
    async with database.acquire() as connection:
        age = float(await connection.fetchval(_OLDEST))
    _AGE.labels(database.schema).set(age)
    return age


def _event(subject: str, row: "asyncpg.Record") -> Event:
    event_id, *others = row  # as in _COLUMNS
    return Event(event_id, subject, *others)


class Relay:
    """Carries the events of one service from its outbox to the bus, under `subject`."""

    def __init__(
        self, database: store.Store, bus: Bus, subject: str, *, time: Time | None = None
    ) -> None:
        self._store = database
        self._bus = bus
        self._subject = subject
        self._time: Time = time or SystemTime()
        self._woken = asyncio.Event()
        self._in_flight: set[UUID] = set()
        self._tasks: set[asyncio.Task[None]] = set()
        self._failure: Exception | None = None
        self._pending = _PENDING.labels(database.schema)
        self._channel = f"{database.schema}_outbox"

    def wake(self) -> None:
        """Says that something new may be in the outbox. Costs nothing; to be called after each
        commit that announced.
        """
        self._woken.set()

    async def run(self) -> None:
        """Works, or stands by for whoever does, until it is cancelled."""
        while True:
            try:
                async with self._connected() as connection:
                    await self._stand_by(connection)
                    _log.info("relay at work", subject=self._subject)
                    await self._work(connection)
            except Exception as error:  # noqa: BLE001 (the store is away, or the bus; so is the lock)
                _log.warning("relay interrupted", subject=self._subject, exc_info=error)
                await self._time.sleep(_POLL_SECONDS)

    async def flush(self) -> None:
        """Publishes what is left, unless another relay is at work. For the end, when `run` has been
        cancelled.
        """
        async with self._connected() as connection:
            if not await self._lock(connection):
                return
            while rows := await connection.fetch(_UNPUBLISHED, [], _BATCH):
                await self._hand_on([_event(self._subject, row) for row in rows])
            self._pending.set(0)

    @asynccontextmanager
    async def _connected(self) -> "AsyncIterator[asyncpg.Connection[asyncpg.Record]]":
        # Not of the pool: the lock lives as long as this connection.
        connection = await store.connect(
            self._store.url, self._store.schema, command_seconds=_COMMAND_SECONDS
        )
        try:
            yield connection
        finally:
            for task in self._tasks:
                task.cancel()
            await asyncio.gather(*self._tasks, return_exceptions=True)
            self._in_flight.clear()
            self._failure = None
            connection.terminate()

    async def _lock(self, connection: "asyncpg.Connection[asyncpg.Record]") -> bool:
        return bool(await connection.fetchval(_TRY_LOCK, f"kafeneio outbox {self._store.schema}"))

    async def _stand_by(self, connection: "asyncpg.Connection[asyncpg.Record]") -> None:
        """Until the lock is ours; meanwhile passes on to whoever has it that there is something
        new.
        """
        while not await self._lock(connection):
            if await self._woken_within(_POLL_SECONDS):
                await connection.execute(f'NOTIFY "{self._channel}"')
                await self._time.sleep(_PAUSE_SECONDS)

    async def _work(self, connection: "asyncpg.Connection[asyncpg.Record]") -> None:
        await connection.add_listener(self._channel, lambda *_: self.wake())
        while self._failure is None:
            room = _MOST_IN_FLIGHT - len(self._in_flight)
            rows = await connection.fetch(_UNPUBLISHED, list(self._in_flight), min(_BATCH, room))
            if rows:
                self._start([_event(self._subject, row) for row in rows])
            if len(rows) == _BATCH:
                self._pending.set(await connection.fetchval(_COUNT))
                continue
            self._pending.set(len(self._in_flight) if room else await connection.fetchval(_COUNT))
            await self._time.sleep(_PAUSE_SECONDS)
            await self._woken_within(_POLL_SECONDS)
        raise self._failure

    async def _woken_within(self, seconds: float) -> bool:
        alarm = asyncio.create_task(self._time.sleep(seconds))
        woken = asyncio.create_task(self._woken.wait())
        try:
            await asyncio.wait({alarm, woken}, return_when=asyncio.FIRST_COMPLETED)
        finally:
            alarm.cancel()
            woken.cancel()
        was_woken = self._woken.is_set()
        self._woken.clear()
        return was_woken

    def _start(self, events: Sequence[Event]) -> None:
        """Publishes without waiting: on a bus whose consumers are slow, one of them must not hold
        the others up.
        """
        self._in_flight.update(event.id for event in events)
        task = asyncio.create_task(self._carry(events))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _carry(self, events: Sequence[Event]) -> None:
        try:
            await self._hand_on(events)
        except Exception as error:  # noqa: BLE001 (they stay in the outbox, and are tried again)
            self._failure = error
            self.wake()
        finally:
            self._in_flight.difference_update(event.id for event in events)
            self._pending.set(len(self._in_flight))

    async def _hand_on(self, events: Sequence[Event]) -> None:
        failpoint("outbox.taken")
        await self._bus.publish(events)
        failpoint("outbox.published")
        async with self._store.acquire() as connection:
            await connection.execute(_MARK, [event.id for event in events])
