"""What `clock` does beside its calls."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from datetime import timedelta
from typing import Final
from uuid import UUID

from kafeneio_runtime import outbox
from kafeneio_runtime.clock import Time
from kafeneio_runtime.periodic import every
from kafeneio_runtime.requests import purge
from kafeneio_runtime.store import Store
from prometheus_client import Gauge

from kafeneio_clock.attendance import Attendance
from kafeneio_clock.storage import Clocks

OPEN: Final = Gauge("kafeneio_clock_open", "Clocks of games that are not over.")
RUNNING: Final = Gauge("kafeneio_clock_running", "Clocks that run.")
OVERDUE: Final = Gauge(
    "kafeneio_clock_overdue", "Clocks of which something has been due for more than 2 s."
)

IDLE: Final = Gauge(
    "kafeneio_clock_idle",
    "Clocks of which nothing was or will be due for a minute, and that nobody has paused: nothing"
    " ends these games.",
)

COUNT_SECONDS: Final = 5.0
IDLE_SECONDS: Final = 60.0
LATE: Final = timedelta(seconds=2)
PURGE_SECONDS: Final = 600.0
INBOX_RETENTION: Final = timedelta(days=2)
"""Longer than a bus delivers again. What comes later all the same is refused by its number."""

_PURGE_INBOX: Final = """
    DELETE FROM inbox WHERE ctid = ANY (ARRAY (
        SELECT ctid FROM inbox WHERE handled_at < clock_timestamp() - $1::interval LIMIT $2))
"""
_PURGED_AT_ONCE: Final = 1000


@dataclass(frozen=True, slots=True)
class Background:
    """Each public method runs until it is cancelled."""

    store: Store
    clocks: Clocks
    attendance: Attendance
    time: Time
    draining: asyncio.Event
    request_retention: timedelta

    async def count_clocks(self) -> None:
        """Keep the gauges true. Every replica counts all clocks, so operators take the largest."""

        async def count() -> None:
            running, overdue, not_over = await self.clocks.count(LATE)
            OPEN.set(not_over)
            RUNNING.set(running)
            OVERDUE.set(overdue)
            await outbox.look(self.store)

        await every(COUNT_SECONDS, count, self.time)

    async def count_idle(self) -> None:
        """Keep the gauge of the idle clocks true: those that have stood still without a deadline
        for a minute."""
        since: dict[tuple[UUID, int], float] = {}

        async def count() -> None:
            now, still = self.time.monotonic(), await self.clocks.without_deadline()
            idle = {each: since.get(each, now) for each in still.items()}
            since.clear()
            since.update(idle)
            IDLE.set(sum(now - began >= IDLE_SECONDS for began in idle.values()))

        await every(COUNT_SECONDS, count, self.time)

    async def forget_requests(self) -> None:
        """Drop answers that nobody asks for again, and what is known of events that don't come
        again."""

        async def forget() -> None:
            await purge(self.store, self.request_retention)
            await purge_inbox(self.store, INBOX_RETENTION)

        await every(PURGE_SECONDS, forget, self.time)

    async def end_streams(self) -> None:
        """When the process drains, wake all streams, so that each says goodbye."""
        await self.draining.wait()
        self.attendance.wake_all()
        await asyncio.Event().wait()


async def purge_inbox(store: Store, older_than: timedelta) -> int:
    """Forget which events were handled longer ago; how many. In small steps, so that nobody waits
    for it."""
    total = 0
    while True:
        async with store.acquire() as connection:
            status = await connection.execute(_PURGE_INBOX, older_than, _PURGED_AT_ONCE)
        count = int(status.rsplit(" ", 1)[-1])
        total += count
        if count < _PURGED_AT_ONCE:
            return total
