"""What replicas of `clock` tell each other: which clocks have changed, so that streams show it, and
signs of life of players whose stream is at another one.

These are hints, on PostgreSQL's NOTIFY. They are gathered for a moment and may be lost: then a
stream shows the change within two seconds, and the next sign of life comes in five.
"""

from __future__ import annotations

import asyncio
from typing import Final
from uuid import UUID

from kafeneio_runtime.clock import Time
from kafeneio_runtime.notify import Hints
from kafeneio_runtime.periodic import every
from kafeneio_runtime.store import Store

from kafeneio_clock.attendance import Attendance
from kafeneio_clock.names import SCHEMA
from kafeneio_clock.storage import Clocks

GATHER_SECONDS: Final = 0.02
LOOK_SECONDS: Final = 2.0
WORDS_A_HINT: Final = 120
"""A payload has at most 8,000 bytes; a sign of life has up to 55."""


class Replicas:
    """This replica among the others. `tell`, `hear`, `follow` and `look` run until cancelled."""

    def __init__(
        self, store: Store, clocks: Clocks, attendance: Attendance, time: Time, name: str
    ) -> None:
        self._clocks = clocks
        self._attendance = attendance
        self._time = time
        self._name = name
        self._hints = Hints(store, SCHEMA, self._heard, self._missed, time=time)
        self._words: set[str] = set()
        self._to_tell = asyncio.Event()
        self._to_look = asyncio.Event()

    def written(self, game_id: UUID) -> None:
        """Called after each commit."""
        self._say(game_id.hex)

    def alive(self, game_id: UUID, seat: int, epoch: int | None = None) -> None:
        """A sign of life of a seat whose stream is perhaps at another replica."""
        self._say(f"{game_id.hex}:{seat}:{epoch or 0}")

    async def tell(self) -> None:
        """Tell the others what was written and heard here."""

        async def told() -> None:
            await self._to_tell.wait()
            await self._time.sleep(GATHER_SECONDS)
            self._to_tell.clear()
            words = list(self._words)
            self._words.clear()
            for start in range(0, len(words), WORDS_A_HINT):
                chunk = words[start : start + WORDS_A_HINT]
                await self._hints.send(" ".join((self._name, *chunk)))

        await every(0, told, self._time)

    async def hear(self) -> None:
        """Hear what the others tell."""
        await self._hints.run()

    async def follow(self) -> None:
        """Look at the attended games when some have changed elsewhere."""

        async def followed() -> None:
            await self._to_look.wait()
            self._to_look.clear()
            await self._look()

        await every(0, followed, self._time)

    async def look(self) -> None:
        """Look at all attended games now and then, for the hints that were lost."""
        await every(LOOK_SECONDS, self._look, self._time)

    async def _look(self) -> None:
        versions = self._attendance.versions()
        if versions:
            for row in await self._clocks.newer(versions):
                self._attendance.update(row)

    def _say(self, word: str) -> None:
        self._words.add(word)
        self._to_tell.set()

    def _heard(self, payload: str) -> None:
        name, *words = payload.split(" ")
        if name == self._name:
            return
        attended = self._attendance.versions()
        for word in words:
            game, _, life = word.partition(":")
            if UUID(game) not in attended:
                continue
            if not life:
                self._to_look.set()
                continue
            seat, _, epoch = life.partition(":")
            self._attendance.alive(UUID(game), int(seat), int(epoch) or None)

    def _missed(self) -> None:
        self._to_look.set()
