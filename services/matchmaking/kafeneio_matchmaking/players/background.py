"""What is done about players beside the calls."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from kafeneio_runtime import logs
from kafeneio_runtime.clock import Time
from kafeneio_runtime.periodic import every

from kafeneio_matchmaking.domain import End
from kafeneio_matchmaking.players.leaving import barred_who_wait, take_out
from kafeneio_matchmaking.players.pairs import compute_flags
from kafeneio_matchmaking.storage import Matchmaking

SWEEP_SECONDS: Final = 0.5
SWEPT_AT_ONCE: Final = 100
FLAG_SECONDS: Final = 3600.0

_log: Final = logs.logger(__name__)


@dataclass(frozen=True, slots=True)
class PlayerBackground:
    """Each public method runs until it is cancelled."""

    storage: Matchmaking
    time: Time

    async def sweep(self) -> None:
        """Take out players who may enter nothing, and whose ticket has come back into the queue, or
        whose table is open again."""

        async def swept() -> None:
            async with self.storage.work() as work:
                players = await barred_who_wait(work, SWEPT_AT_ONCE)
            for player in players:
                async with self.storage.work() as work:
                    await take_out(work, player, End.SUSPENDED)

        await every(SWEEP_SECONDS, swept, self.time)

    async def flag(self) -> None:
        """Look for what stands out in the games of the last weeks."""

        async def flagged() -> None:
            async with self.storage.work() as work:
                count = await compute_flags(work.connection, await work.now())
            _log.info("flags computed", count=count)

        await every(FLAG_SECONDS, flagged, self.time)
