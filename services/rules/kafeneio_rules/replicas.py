"""What replicas of `rules` tell each other: which games have moved on, so that watchers hear of it.

These are hints, on PostgreSQL's NOTIFY. They are gathered for a moment, so that they cost little
however much is played, and they may be lost: nothing but how soon a watcher hears depends on them.
"""

from __future__ import annotations

import asyncio
from typing import Final
from uuid import UUID

from kafeneio_runtime.clock import Time
from kafeneio_runtime.ids import new_id
from kafeneio_runtime.notify import Hints
from kafeneio_runtime.outbox import Relay
from kafeneio_runtime.periodic import every
from kafeneio_runtime.store import Store

from kafeneio_rules.live import LiveGames
from kafeneio_rules.names import SCHEMA

GATHER_SECONDS: Final = 0.05
LOOK_SECONDS: Final = 2.0
GAMES_A_HINT: Final = 200
"""A payload has at most 8,000 bytes, an id 32."""


class Replicas:
    """This replica among the others. `tell`, `hear`, `follow` and `look` run until cancelled."""

    def __init__(self, store: Store, live: LiveGames, relay: Relay, time: Time) -> None:
        self._live = live
        self._relay = relay
        self._time = time
        self._hints = Hints(store, SCHEMA, self._heard, self._missed, time=time)
        self._name = new_id().hex
        self._written: set[UUID] = set()
        self._to_tell = asyncio.Event()
        self._moved: set[UUID] = set()
        self._to_look = asyncio.Event()

    def written(self, game_id: UUID) -> None:
        """Called after each commit: there are rows for the others, and events for the relay."""
        self._relay.wake()
        self._written.add(game_id)
        self._to_tell.set()

    async def tell(self) -> None:
        """Tell the others what was written here."""

        async def told() -> None:
            await self._to_tell.wait()
            await self._time.sleep(GATHER_SECONDS)
            self._to_tell.clear()
            games = [game_id.hex for game_id in self._written]
            self._written.clear()
            for start in range(0, len(games), GAMES_A_HINT):
                chunk = games[start : start + GAMES_A_HINT]
                await self._hints.send(" ".join((self._name, *chunk)))

        await every(0, told, self._time)

    async def hear(self) -> None:
        """Hear what was written elsewhere."""
        await self._hints.run()

    async def follow(self) -> None:
        """Look at the watched games that were written elsewhere."""

        async def followed() -> None:
            await self._to_look.wait()
            self._to_look.clear()
            games = self._live.watched_ids() & self._moved
            self._moved.clear()
            for game_id in games:
                await self._live.look(game_id)

        await every(0, followed, self._time)

    async def look(self) -> None:
        """Look at all watched games now and then, for the hints that were lost."""
        await every(LOOK_SECONDS, self._live.look_at_watched, self._time)

    def _heard(self, payload: str) -> None:
        name, *games = payload.split(" ")
        if name != self._name:
            self._moved.update(map(UUID, games))
            self._to_look.set()

    def _missed(self) -> None:
        self._moved |= self._live.watched_ids()
        self._to_look.set()
