"""Whether the clock was alive (X10): this replica's heartbeats, what the silence of all costs, and
the streams of replicas that have died.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Sequence
from datetime import datetime, timedelta
from typing import Final
from uuid import UUID

from kafeneio_runtime import logs
from kafeneio_runtime.clock import Time
from kafeneio_runtime.heartbeat import BEAT_SECONDS, GAP_SECONDS, Heartbeat
from kafeneio_runtime.periodic import every

from kafeneio_clock import wire
from kafeneio_clock.keeper import Keeper
from kafeneio_clock.storage import Clocks
from kafeneio_clock.turns import Micros
from kafeneio_clock.values import Event, Outage, State, StreamEnded

LOOK_BACK: Final = timedelta(days=1)
"""No turn is older that still has an outage to be credited."""
BATCH: Final = 200

_log: Final = logs.logger(__name__)


class Life:
    """This replica among the living; `run` until it is cancelled."""

    def __init__(
        self, heartbeat: Heartbeat, clocks: Clocks, keeper: Keeper, time: Time, replica: str
    ) -> None:
        self.heartbeat = heartbeat
        self.replica = replica
        self._clocks = clocks
        self._keeper = keeper
        self._time = time
        self._seen: datetime | None = None
        self._beat_at = -GAP_SECONDS
        self._beaten = asyncio.Event()

    async def run(self) -> None:
        """Beat every second."""
        await every(BEAT_SECONDS, self.beat, self._time)

    async def begin(self) -> None:
        """The first beat. However quickly the house came back, the time is credited, and whoever
        attended at the replica that died is unknown, before anybody is heard or fired."""
        await self.heartbeat.begin()
        await self._beaten_after(1.5 * BEAT_SECONDS)

    async def beat(self) -> None:
        """One beat. An outage that it ends is credited before anything is fired."""
        await self.heartbeat.beat()
        await self._beaten_after(GAP_SECONDS)

    async def _beaten_after(self, silence: float) -> None:
        """What follows a beat; replicas that were silent for so many seconds are dead."""
        await self._clocks.beat(self.replica)
        await self._credit()
        for replica, since in (await self._clocks.dead(timedelta(seconds=silence))).items():
            await self._bury(replica, since)
        self._beat_at = self._time.monotonic()
        self._beaten.set()

    async def sure(self) -> None:
        """Return when the last beat is not long ago: then no outage is overlooked."""
        while self._time.monotonic() - self._beat_at > GAP_SECONDS:
            self._beaten.clear()
            await self._beaten.wait()

    async def _credit(self) -> None:
        since = self._seen or self._time.now() - LOOK_BACK
        outages = await self.heartbeat.since(since)
        if outages:
            events = tuple(
                Outage(wire.micros(each.began), wire.micros(each.ended)) for each in outages
            )
            _log.warning("the clock was away", outages=len(outages), last=str(outages[-1].ended))
            for some in _chunks(await self._clocks.open_ids()):
                await self._keeper.apply_all(some, lambda state, now: events)
        self._seen = outages[-1].ended if outages else since

    async def _bury(self, replica: str, since: Micros) -> None:
        """Whoever attended at a replica that died is unknown from its last sign of life on."""

        def ended(state: State, now: Micros) -> Sequence[Event]:
            return [
                StreamEnded(number, seat.epoch, since)
                for number, seat in enumerate(state.seats)
                if seat.replica == replica
            ]

        for some in _chunks(await self._clocks.open_ids(replica)):
            await self._keeper.apply_all(some, ended)
        await self._clocks.forget(replica)


def _chunks(game_ids: Sequence[UUID]) -> Iterator[Sequence[UUID]]:
    for start in range(0, len(game_ids), BATCH):
        yield game_ids[start : start + BATCH]
