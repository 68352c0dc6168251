"""What `matchmaking` does beside its calls."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Final

from kafeneio_runtime.clock import Time
from kafeneio_runtime.periodic import every
from kafeneio_runtime.requests import purge
from kafeneio_runtime.store import Store
from prometheus_client import Gauge

from kafeneio_matchmaking.domain import End, TicketMove
from kafeneio_matchmaking.hearing import Hearing
from kafeneio_matchmaking.replicas import Replicas
from kafeneio_matchmaking.saga import Saga
from kafeneio_matchmaking.storage import Matchmaking
from kafeneio_matchmaking.tickets import Change

OLDEST: Final = Gauge(
    "kafeneio_oldest_ticket_seconds", "How long the oldest live ticket has waited; 0 for none."
)

LOOK_SECONDS: Final = 0.25
"""So long at the most nobody looks for what is due: a retry, a note that was lost, a match of a
replica that has died."""
ASK_SECONDS: Final = 1.0
EXPIRE_SECONDS: Final = 0.5
EXPIRE_AT_ONCE: Final = 500
COUNT_SECONDS: Final = 5.0
PURGE_SECONDS: Final = 600.0


@dataclass(frozen=True, slots=True)
class Background:
    """Each public method runs until it is cancelled."""

    store: Store
    storage: Matchmaking
    saga: Saga
    hearing: Hearing
    replicas: Replicas
    time: Time
    draining: asyncio.Event
    request_retention: timedelta
    made: asyncio.Event = field(default_factory=asyncio.Event)
    """Set when there are matches to be driven."""

    async def pair(self) -> None:
        """Pair tickets as soon as there are enough."""
        with self.replicas.any_change() as bell:

            async def paired() -> None:
                await rung(bell, LOOK_SECONDS)
                while await self.saga.pair():
                    self.made.set()

            await every(0, paired, self.time)

    async def drive(self) -> None:
        """Drive matches until they are over. May run several times at once."""

        async def driven() -> None:
            await rung(self.made, LOOK_SECONDS)
            while await self.saga.step():
                pass

        await every(0, driven, self.time)

    async def ask(self) -> None:
        """Ask for matches of which nothing has been heard for long."""

        async def asked() -> None:
            while await self.hearing.ask():
                pass

        await every(ASK_SECONDS, asked, self.time)

    async def expire(self) -> None:
        """End tickets that have found nobody in time."""

        async def expired() -> None:
            async with self.storage.work() as work:
                due = await work.expired(EXPIRE_AT_ONCE)
                changes = [Change(ticket_id, end=End.EXPIRED) for ticket_id in due]
                await work.move(TicketMove.EXPIRE, changes)

        await every(EXPIRE_SECONDS, expired, self.time)

    async def count(self) -> None:
        """Keep the gauge true. Every replica counts all tickets, so operators take the largest."""

        async def counted() -> None:
            OLDEST.set(await self.storage.oldest_seconds())

        await every(COUNT_SECONDS, counted, self.time)

    async def forget_requests(self) -> None:
        """Drop answers that nobody asks for again."""

        async def forget() -> None:
            await purge(self.store, self.request_retention)

        await every(PURGE_SECONDS, forget, self.time)

    async def end_streams(self) -> None:
        """When the process drains, wake all watchers, so that each says goodbye."""
        await self.draining.wait()
        self.replicas.wake_all()
        await asyncio.Event().wait()


async def rung(bell: asyncio.Event, seconds: float) -> None:
    """Wait for a bell, or for so long. What rings later than the look that follows rings again."""
    try:
        async with asyncio.timeout(seconds):
            await bell.wait()
    except TimeoutError:
        return
    bell.clear()
