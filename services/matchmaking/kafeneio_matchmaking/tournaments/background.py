"""What tournaments do beside their calls."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field
from typing import Final

from kafeneio_runtime.clock import Time
from kafeneio_runtime.periodic import every
from prometheus_client import Gauge

from kafeneio_matchmaking.background import COUNT_SECONDS, LOOK_SECONDS, rung
from kafeneio_matchmaking.tournaments.driving import Driving
from kafeneio_matchmaking.tournaments.storage import Sheet

STUCK: Final = Gauge(
    "kafeneio_tournament_steps_stuck",
    "Steps of tournaments that nobody has answered in five calls, or done in half a minute.",
)


@dataclass(frozen=True, slots=True)
class TournamentBackground:
    """Each public method but `ring` runs until it is cancelled. `begun` is set when there are games
    to be made."""

    driving: Driving
    begun: asyncio.Event
    time: Time
    _tournaments: asyncio.Event = field(default_factory=asyncio.Event)
    _entries: asyncio.Event = field(default_factory=asyncio.Event)

    def ring(self) -> None:
        """There is something to do; without it it is found a little later."""
        self._tournaments.set()
        self._entries.set()

    async def drive(self) -> None:
        """Take tournaments through their states."""

        async def driven() -> None:
            await rung(self._tournaments, LOOK_SECONDS)
            while await self.driving.step():
                self.begun.set()

        await every(0, driven, self.time)

    async def drive_entries(self) -> None:
        """Take entry fees, and give them back."""

        async def driven() -> None:
            await rung(self._entries, LOOK_SECONDS)
            while await self.driving.step_entry():
                self._tournaments.set()

        await every(0, driven, self.time)

    async def count(self) -> None:
        """Keep the gauge true. Every replica looks at all, so operators take the largest."""

        async def counted() -> None:
            async with self.driving.storage.work() as work:
                STUCK.set(await Sheet(work.connection).stuck())

        await every(COUNT_SECONDS, counted, self.time)
