"""What `settlement` does beside its calls."""

from __future__ import annotations

import asyncio
import itertools
from dataclasses import dataclass, field
from datetime import UTC, timedelta
from typing import Final
from uuid import UUID

import grpc
from kafeneio.clock.v1 import clock_pb2, clock_pb2_grpc
from kafeneio.rules.v1 import game_pb2, game_pb2_grpc
from kafeneio_runtime import logs
from kafeneio_runtime.clock import Time
from kafeneio_runtime.directory import Directory, UnknownServiceError
from kafeneio_runtime.periodic import every
from kafeneio_runtime.requests import purge
from kafeneio_runtime.store import Store
from prometheus_client import Gauge

from kafeneio_settlement import wire
from kafeneio_settlement.books import HOLD_SECONDS, Books, imbalance
from kafeneio_settlement.sealing import BATCH, seal_some
from kafeneio_settlement.settling import Settling
from kafeneio_settlement.storage import Looks
from kafeneio_settlement.watching import Bells
from kafeneio_settlement.witnesses import Witness

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
    "Escrows that hold money of no game that waits for it; 0 unless the house is wrong.",
)
OLD_HOLDS: Final = Gauge(
    "kafeneio_settlement_old_holds",
    "Holds older than ten minutes whose game has not started; nothing ends them by itself.",
)
OUTBOX_AGE: Final = Gauge(
    "kafeneio_settlement_outbox_age_seconds",
    "For how long the oldest event that is not published has waited; 0 where none waits.",
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
MISSING_SECONDS: Final = 2.0
"""Between two looks for games of which an event is missing."""
WITNESS_SECONDS: Final = 5.0
"""So long after one witness the other is asked."""
HOLDS_SECONDS: Final = 5.0
"""Between two looks for old holds."""
LONGEST_WAIT_SECONDS: Final = 600.0
ASK_SECONDS: Final = 5.0
PAGE: Final = 500

_log: Final = logs.logger(__name__)


@dataclass(frozen=True, slots=True)
class Background:
    """Each public method runs until it is cancelled."""

    store: Store
    looks: Looks
    books: Books
    settling: Settling
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
            OUTBOX_AGE.set((await self.books.outbox()).age_seconds)

        await every(COUNT_SECONDS, counted, self.time)

    async def balance(self) -> None:
        """See that the ledger sums to zero, and that every escrow is somebody's."""

        async def balanced() -> None:
            IMBALANCE.set(imbalance(await self.books.totals()))
            ORPHANS.set(await self.books.count_orphans())

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

        async def asked() -> None:
            overdue = await self.looks.overdue(WITNESS_SECONDS, HOLD_SECONDS)
            await self.witnesses.ask(overdue)

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


@dataclass(slots=True)
class Witnesses:
    """Asks those who announce for what they have announced of a game.

    A game is asked for ever less often, up to every ten minutes: it may simply go on.
    """

    settling: Settling
    directory: Directory
    time: Time
    _waits: dict[UUID, tuple[float, float]] = field(default_factory=dict)

    async def ask(self, games: list[UUID]) -> None:
        """Ask about those of the games whose turn it is, and take in what is answered."""
        now = self.time.monotonic()
        self._waits = {game: self._waits[game] for game in games if game in self._waits}
        for game_id in games:
            due, wait = self._waits.get(game_id, (now, WITNESS_SECONDS))
            if due > now:
                continue
            self._waits[game_id] = (now + wait, min(2 * wait, LONGEST_WAIT_SECONDS))
            said: list[Witness] = []
            for witness, ask in (("rules", self._rules), ("clock", self._clock)):
                try:
                    said += await ask(game_id)
                except (grpc.aio.AioRpcError, UnknownServiceError, OSError) as error:
                    _log.info("not answered", witness=witness, error=type(error).__name__)
            if said:
                await self.settling.take_in(said)

    async def _rules(self, game_id: UUID) -> list[Witness]:
        stub = game_pb2_grpc.GameServiceStub(self.directory.channel("rules"))
        found: list[Witness] = []
        after = 0
        while True:
            page = await stub.ListEvents(
                game_pb2.ListEventsRequest(
                    game_id=str(game_id), after_sequence=after, page_size=PAGE
                ),
                metadata=self.directory.metadata(),
                timeout=ASK_SECONDS,
            )
            for event in page.events:
                at = event.occurred_at.ToDatetime(UTC)
                if (said := wire.rules_witness(game_id, event, at)) is not None:
                    found.append(said)
                after = event.sequence
            if not page.events:
                return found

    async def _clock(self, game_id: UUID) -> list[Witness]:
        stub = clock_pb2_grpc.ClockServiceStub(self.directory.channel("clock"))
        found: list[Witness] = []
        after = 0
        while True:
            page = await stub.ListEvents(
                clock_pb2.ListEventsRequest(
                    game_id=str(game_id), after_sequence=after, page_size=PAGE
                ),
                metadata=self.directory.metadata(),
                timeout=ASK_SECONDS,
            )
            for event in page.events:
                at = event.occurred_at.ToDatetime(UTC)
                if (said := wire.clock_witness(game_id, event, at)) is not None:
                    found.append(said)
                after = event.sequence
            if not page.events:
                return found
