"""Whether a service was alive: each replica stores a heartbeat, gaps are kept as outages (X10).

An outage is time in which no replica lived: from the last heartbeat before to the first after it.
Whoever comes back first notes it, in the same statement in which he beats.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Final

from kafeneio_runtime.clock import Time
from kafeneio_runtime.periodic import every

if TYPE_CHECKING:
    from kafeneio_runtime.store import Store

BEAT_SECONDS: Final = 1.0
GAP_SECONDS: Final = 3.0
"""Silence of more than this is an outage; less may be a slow moment of a replica that lives."""

_BEAT: Final = """
    WITH moment AS MATERIALIZED (SELECT clock_timestamp() AS at),
    last AS (SELECT at FROM heartbeats WHERE id = 1 FOR UPDATE),
    noted AS (
        INSERT INTO outages (began, ended)
        SELECT last.at, moment.at FROM last, moment
        WHERE moment.at - last.at > make_interval(secs => $1)
        ON CONFLICT DO NOTHING
    )
    -- Joined with "last", so that it is read before this changes it.
    INSERT INTO heartbeats (id, at) SELECT 1, moment.at FROM moment LEFT JOIN last ON true
    ON CONFLICT (id) DO UPDATE SET at = greatest(heartbeats.at, excluded.at)
"""
_SINCE: Final = "SELECT began, ended FROM outages WHERE ended > $1 ORDER BY began"


@dataclass(frozen=True, slots=True)
class Outage:
    """Time in which no replica of the service was alive."""

    began: datetime
    ended: datetime


class Heartbeat:
    """The heartbeat of one replica."""

    def __init__(self, store: Store, time: Time) -> None:
        self._store = store
        self._time = time

    async def begin(self) -> None:
        """The first beat of a replica that starts: a living one would have beaten within a second,
        so whatever is longer was an outage, however quickly the house came back.
        """
        await self._beat(BEAT_SECONDS)

    async def beat(self) -> None:
        """One beat; notes the outage that it ends, if there was one."""
        await self._beat(GAP_SECONDS)

    async def _beat(self, gap_seconds: float) -> None:
        async with self._store.acquire() as connection:
            await connection.execute(_BEAT, gap_seconds)

    async def run(self) -> None:
        """Beats until it is cancelled."""
        await every(BEAT_SECONDS, self.beat, self._time)

    async def since(self, moment: datetime) -> list[Outage]:
        """Outages that ended after `moment`, in order; they may have begun before it."""
        async with self._store.acquire() as connection:
            rows = await connection.fetch(_SINCE, moment)
        return [Outage(row["began"], row["ended"]) for row in rows]
