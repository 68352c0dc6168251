"""What `rules` does beside its calls."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Final
from uuid import UUID

from kafeneio_games import registry
from kafeneio_runtime.clock import Time
from kafeneio_runtime.notify import Hints
from kafeneio_runtime.periodic import every
from kafeneio_runtime.requests import purge
from kafeneio_runtime.store import Store
from prometheus_client import Gauge

from kafeneio_rules.live import LiveGames
from kafeneio_rules.storage import Games
from kafeneio_rules.tables import SCHEMA
from kafeneio_rules.waiting import Waiting

ACTIVE: Final = Gauge("kafeneio_games_active", "Games that are being played.", ["variant"])

NO_SHOW_SECONDS: Final = 0.5
COUNT_SECONDS: Final = 5.0
HINT_SECONDS: Final = 0.02
PURGE_SECONDS: Final = 600.0


@dataclass(frozen=True, slots=True)
class Background:
    """Each public method runs until it is cancelled."""

    store: Store
    games: Games
    live: LiveGames
    waiting: Waiting
    time: Time
    draining: asyncio.Event
    request_retention: timedelta
    hints: dict[UUID | None, int] = field(default_factory=dict)
    """The version that a game has reached, as last heard; None where hints may have been missed."""
    hinted: asyncio.Event = field(default_factory=asyncio.Event)

    async def end_no_shows(self) -> None:
        """F6: games that not every seat has joined in time."""

        async def end() -> None:
            await self.waiting.no_shows()

        await every(NO_SHOW_SECONDS, end, self.time)

    async def count_games(self) -> None:
        """Keep the gauge true. Every replica counts all games, so operators take the largest."""

        async def count() -> None:
            running = await self.games.running()
            for variant in registry.variants():
                ACTIVE.labels(variant.id).set(running.get(variant.id, 0))

        await every(COUNT_SECONDS, count, self.time)

    async def forget_requests(self) -> None:
        """Drop answers that nobody asks for again."""

        async def forget() -> None:
            await purge(self.store, self.request_retention)

        await every(PURGE_SECONDS, forget, self.time)

    async def hear_replicas(self) -> None:
        """Hear of games that have moved on."""
        hints = Hints(self.store, SCHEMA, self._heard, self._missed, time=self.time)
        await hints.run()

    async def follow_replicas(self) -> None:
        """Look at games that another replica has moved on.

        A hint waits a moment: most are the echo of what this replica has just written, and known
        by then.
        """

        async def follow() -> None:
            await self.hinted.wait()
            await self.time.sleep(HINT_SECONDS)
            self.hinted.clear()
            hints, missed = dict(self.hints), None in self.hints
            self.hints.clear()
            if missed:
                await self.live.look_at_watched()
            for game_id, version in hints.items():
                if game_id is not None and self.live.is_behind(game_id, version):
                    await self.live.look(game_id, version)

        await every(0, follow, self.time)

    async def end_streams(self) -> None:
        """When the process drains, wake all watchers, so that each says goodbye."""
        await self.draining.wait()
        self.live.wake_watchers()
        await asyncio.Event().wait()

    def _heard(self, payload: str) -> None:
        game, _, version = payload.partition(" ")
        self.hints[UUID(game)] = int(version)
        self.hinted.set()

    def _missed(self) -> None:
        self.hints[None] = 0
        self.hinted.set()
