"""What `settlement` does beside its calls."""

from __future__ import annotations

import asyncio
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
from kafeneio_settlement.settling import Settling
from kafeneio_settlement.storage import Looks, Witness
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

COUNT_SECONDS: Final = 2.0
BALANCE_SECONDS: Final = 15.0
PURGE_SECONDS: Final = 600.0
MISSING_SECONDS: Final = 2.0
"""Between two looks for games of which an event is missing."""
WITNESS_SECONDS: Final = 5.0
"""So long after one witness the other is asked."""
HOLD_SECONDS: Final = 600.0
"""So long after a hold or a start the witnesses are asked whether they have spoken."""
LONGEST_WAIT_SECONDS: Final = 600.0
ASK_SECONDS: Final = 5.0
PAGE: Final = 500

_log: Final = logs.logger(__name__)


@dataclass(frozen=True, slots=True)
class Background:
    """Each public method runs until it is cancelled."""

    store: Store
    looks: Looks
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

        await every(COUNT_SECONDS, counted, self.time)

    async def balance(self) -> None:
        """See that the ledger sums to zero."""

        async def balanced() -> None:
            IMBALANCE.set(await self.looks.imbalance())

        await every(BALANCE_SECONDS, balanced, self.time)

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
