"""What `rules` does beside its calls."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from datetime import timedelta
from typing import Final

from kafeneio_games import registry
from kafeneio_runtime import outbox
from kafeneio_runtime.clock import Time
from kafeneio_runtime.periodic import every
from kafeneio_runtime.requests import purge
from kafeneio_runtime.store import Store
from prometheus_client import Gauge

from kafeneio_rules.computers import ComputerTurns
from kafeneio_rules.live import LiveGames
from kafeneio_rules.storage import Games
from kafeneio_rules.waiting import Waiting

ACTIVE: Final = Gauge("kafeneio_games_active", "Games that are being played.", ["variant"])

NO_SHOW_SECONDS: Final = 0.5
COUNT_SECONDS: Final = 5.0
PURGE_SECONDS: Final = 600.0


@dataclass(frozen=True, slots=True)
class Background:
    """Each public method runs until it is cancelled."""

    store: Store
    games: Games
    live: LiveGames
    waiting: Waiting
    computers: ComputerTurns
    time: Time
    draining: asyncio.Event
    request_retention: timedelta

    async def end_no_shows(self) -> None:
        """F6: games that not every seat has joined in time."""

        async def end() -> None:
            await self.waiting.no_shows()

        await every(NO_SHOW_SECONDS, end, self.time)

    async def count_games(self) -> None:
        """Keep the gauges true. Every replica counts all games, so operators take the largest."""

        async def count() -> None:
            await outbox.look(self.store)
            running = await self.games.running()
            for variant in registry.variants():
                ACTIVE.labels(variant.id).set(running.get(variant.id, 0))

        await every(COUNT_SECONDS, count, self.time)

    async def forget_requests(self) -> None:
        """Drop answers that nobody asks for again."""

        async def forget() -> None:
            await purge(self.store, self.request_retention)

        await every(PURGE_SECONDS, forget, self.time)

    async def end_streams(self) -> None:
        """When the process drains, wake all watchers, so that each says goodbye."""
        await self.draining.wait()
        self.live.wake_watchers()
        self.computers.ring()
        await asyncio.Event().wait()
