"""What tournaments do beside their calls."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field

from kafeneio_runtime.clock import Time
from kafeneio_runtime.periodic import every

from kafeneio_matchmaking.background import LOOK_SECONDS, rung
from kafeneio_matchmaking.tournaments.driving import Driving


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
