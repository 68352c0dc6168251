"""What `settlement` does beside its calls."""

from __future__ import annotations

import asyncio
import itertools
from dataclasses import dataclass
from datetime import timedelta
from typing import Final
from uuid import UUID

from kafeneio_runtime import logs, outbox
from kafeneio_runtime.clock import Time
from kafeneio_runtime.periodic import every
from kafeneio_runtime.requests import purge
from kafeneio_runtime.store import Store
from prometheus_client import Gauge

from kafeneio_settlement.asking import Witnesses
from kafeneio_settlement.books import HOLD_SECONDS, Books, imbalance
from kafeneio_settlement.sealing import BATCH, seal_some
from kafeneio_settlement.storage import Looks
from kafeneio_settlement.watching import Bells

PENDING: Final = Gauge(
    "kafeneio_settlement_pending", "Games that are over and not paid, mismatches included."
)
LAG: Final = Gauge(
    "kafeneio_settlement_lag_seconds",
    "For how long the oldest game that is over has waited to be paid; 0 where none waits.",
)
IMBALANCE: Final = Gauge(
    "kafeneio_ledger_imbalance", "By how much the accounts don't sum to zero, in smallest units."
)

ORPHANS: Final = Gauge(
    "kafeneio_ledger_orphaned_escrows",
    "Escrows with money of no game or tournament that waits for it; 0 unless the house is wrong.",
)
OVERDUE_POOLS: Final = Gauge(
    "kafeneio_settlement_overdue_pools",
    "Tournaments that started more than a day ago and are not paid; nothing ends them by itself.",
)
OLD_HOLDS: Final = Gauge(
    "kafeneio_settlement_old_holds",
    "Holds older than ten minutes whose game has not started; nothing ends them by itself.",
)
SEALED: Final = Gauge("kafeneio_ledger_sealed_transactions", "How long the chain of seals is.")
VERIFIED: Final = Gauge(
    "kafeneio_ledger_verified_transactions",
    "Up to which seal this process has found everything as it was sealed.",
)
FAULTS: Final = Gauge(
    "kafeneio_ledger_faults", "What the last round of verification has found; 0 unless tampered."
)

COUNT_SECONDS: Final = 2.0
SEAL_SECONDS: Final = 1.0
SEAL_ALL_ROUNDS: Final = 3600
"""Each so many rounds the sealer looks for forgotten transactions of any age, and at the first."""
VERIFY_SECONDS: Final = 600.0
"""Between two rounds of verification."""
BALANCE_SECONDS: Final = 15.0
PURGE_SECONDS: Final = 600.0
MISSING_SECONDS: Final = 1.0
"""Between two looks for games of which an event is missing."""
WITNESS_SECONDS: Final = 3.0
"""So long after one witness the other is asked."""
START_SECONDS: Final = 60.0
"""A game that started so long ago may be over, and both witnesses may be lost."""
HOLDS_SECONDS: Final = 5.0
"""Between two looks for old holds."""
_log: Final = logs.logger(__name__)


@dataclass(frozen=True, slots=True)
class Background:
    """Each public method runs until it is cancelled."""

    store: Store
    looks: Looks
    books: Books
    bells: Bells
    witnesses: Witnesses
    time: Time
    draining: asyncio.Event
    request_retention: timedelta

    async def count(self) -> None:
        """Keep the gauges true. Every replica counts all games, so operators take the largest."""

        async def counted() -> None:
            backlog = await self.looks.backlog()
            PENDING.set(backlog.pending)
            LAG.set(backlog.lag_seconds)
            await outbox.look(self.store)

        await every(COUNT_SECONDS, counted, self.time)

    async def balance(self) -> None:
        """See that the ledger sums to zero, that every escrow is somebody's, and that tournaments
        are paid."""

        async def balanced() -> None:
            IMBALANCE.set(imbalance(await self.books.totals()))
            ORPHANS.set(await self.books.count_orphans())
            OVERDUE_POOLS.set(await self.books.count_overdue_pools())

        await every(BALANCE_SECONDS, balanced, self.time)

    async def look_at_holds(self) -> None:
        """Tell of holds that nobody ends. A hold never ends by itself: whoever made it either lets
        the game start or releases it, and if he does neither an operator has to know."""
        told: set[UUID] = set()

        async def looked() -> None:
            old = await self.books.old_holds(HOLD_SECONDS)
            OLD_HOLDS.set(len(old))
            for each in old:
                if each.game_id not in told:
                    _log.warning(
                        "old hold", game_id=str(each.game_id), since=each.since.isoformat()
                    )
            told.clear()
            told.update(each.game_id for each in old)

        await every(HOLDS_SECONDS, looked, self.time)

    async def seal(self) -> None:
        """Seal what was committed. Any replica may; one at a time does."""
        rounds = itertools.count()

        async def sealed() -> None:
            everything = next(rounds) % SEAL_ALL_ROUNDS == 0
            while await seal_some(self.store, everything=everything) == BATCH:
                pass
            SEALED.set((await self.books.sealed()).number)

        await every(SEAL_SECONDS, sealed, self.time)

    async def verify(self) -> None:
        """Verify the whole ledger, page by page, again and again."""

        async def verified() -> None:
            complete = False
            while not complete:
                page = await self.books.step()
                complete = page.complete
                VERIFIED.set(self.books.verified.number)
                FAULTS.set(self.books.faults)
                for each in page.findings:
                    _log.error(
                        "ledger fault",
                        fault=each.fault.value,
                        number=each.number,
                        transaction_id=str(each.transaction_id or ""),
                    )

        await every(VERIFY_SECONDS, verified, self.time)

    async def ask_for_missing(self) -> None:
        """Ask for events that did not come."""

        last: UUID | None = None

        async def asked() -> None:
            nonlocal last
            await self.witnesses.ask(await self.looks.half_told(WITNESS_SECONDS), WITNESS_SECONDS)
            silent = await self.looks.silent(START_SECONDS, HOLD_SECONDS, last)
            last = silent[-1].game_id if silent else None  # some at a time, again and again
            await self.witnesses.ask(silent, START_SECONDS)

        await every(MISSING_SECONDS, asked, self.time)

    async def forget_requests(self) -> None:
        """Drop answers that nobody asks for again."""

        async def forget() -> None:
            await purge(self.store, self.request_retention)

        await every(PURGE_SECONDS, forget, self.time)

    async def end_streams(self) -> None:
        """When the process drains, wake all watchers, so that each says goodbye."""
        await self.draining.wait()
        self.bells.ring_all()
        await asyncio.Event().wait()
