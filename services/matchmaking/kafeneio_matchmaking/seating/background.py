"""What is done with tables beside the calls."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Final

from kafeneio_runtime.clock import Time
from kafeneio_runtime.periodic import every
from prometheus_client import Gauge

from kafeneio_matchmaking.background import LOOK_SECONDS, rung
from kafeneio_matchmaking.replicas import Replicas
from kafeneio_matchmaking.seating import domain
from kafeneio_matchmaking.seating.domain import TableEnd
from kafeneio_matchmaking.seating.storage import Seating, Tables
from kafeneio_matchmaking.storage import Matchmaking

OPEN: Final = Gauge("kafeneio_tables_open", "Tables that wait for players.", ["variant"])

EXPIRE_SECONDS: Final = 0.5
EXPIRE_AT_ONCE: Final = 200
COUNT_SECONDS: Final = 5.0


@dataclass(frozen=True, slots=True)
class TableBackground:
    """Each public method runs until it is cancelled."""

    storage: Matchmaking
    seating: Seating
    replicas: Replicas
    time: Time
    _counted: set[str] = field(default_factory=set)

    async def number(self) -> None:
        """Give changes of tables their places, as soon as there are any."""
        with self.replicas.any_change() as bell:

            async def numbered() -> None:
                await rung(bell, LOOK_SECONDS)
                await self.seating.number()

            await every(0, numbered, self.time)

    async def expire(self) -> None:
        """Close tables that have not begun to play in time."""

        async def expired() -> None:
            async with self.storage.work() as work:
                tables = Tables.of(work)
                for table in await tables.expired(EXPIRE_AT_ONCE):
                    await tables.save(table, domain.closed(table, TableEnd.EXPIRED))

        await every(EXPIRE_SECONDS, expired, self.time)

    async def count(self) -> None:
        """Keep the gauge true. Every replica counts all tables, so operators take the largest."""
        await every(COUNT_SECONDS, self.counted, self.time)

    async def counted(self) -> None:
        """Set it once; a variant of which no table is open any more is 0."""
        async with self.seating.looking() as tables:
            found = await tables.count_open()
        self._counted.update(found)
        for variant in self._counted:
            OPEN.labels(variant).set(found.get(variant, 0))
