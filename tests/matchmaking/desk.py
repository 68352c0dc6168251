"""The saga and what it works with, for tests that drive it by hand."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from datetime import timedelta
from uuid import UUID

import asyncpg
from kafeneio_matchmaking.domain import NewTicket, Terms, Ticket, TicketStatus
from kafeneio_matchmaking.hearing import Hearing
from kafeneio_matchmaking.matching import SourceKind
from kafeneio_matchmaking.names import SCHEMA
from kafeneio_matchmaking.peers import Peers
from kafeneio_matchmaking.queueing import QueueSource
from kafeneio_matchmaking.saga import Saga
from kafeneio_matchmaking.sources import Sources
from kafeneio_matchmaking.storage import Matchmaking
from kafeneio_runtime.directory import Directory
from kafeneio_runtime.settings import Settings
from kafeneio_runtime.store import Store

from tests.harness import Rules, new_id
from tests.matchmaking.cashier import Cashier

TERMS = Terms(
    "portes",
    1,
    (("disconnect_points", "formula"), ("rule_set", "zarclub")),
    1,
    "EUR",
    500,
    0,
    2,
)
PLAYERS = ("eleni", "nikos")


@dataclass
class Desk:
    """The saga and what it works with; nobody drives it but the test."""

    store: Store
    storage: Matchmaking
    saga: Saga
    hearing: Hearing
    rules: Rules
    cashier: Cashier

    async def enqueue(
        self, who: str, *, terms: Terms = TERMS, partner: str = "", house_seat: int | None = None
    ) -> Ticket:
        """A ticket that waits."""
        new = NewTicket(UUID(new_id()), who, terms, timedelta(minutes=10), partner, house_seat)
        async with self.storage.work() as work:
            made = await work.enqueue(new)
            assert made is not None
            return await work.join(made) if partner else made

    async def paired(self) -> list[Ticket]:
        """Two tickets that are paired."""
        tickets = [await self.enqueue(who) for who in PLAYERS]
        assert await self.saga.pair() == 1
        return tickets

    async def match(self) -> asyncpg.Record:
        """The only match."""
        async with self.store.acquire() as connection:
            row = await connection.fetchrow("SELECT * FROM matches")
        assert row is not None
        return row

    async def step(self) -> str:
        """Do a step; where the match stands then."""
        assert await self.saga.step()
        return str((await self.match())["status"])

    async def statuses(self, tickets: list[Ticket]) -> set[TicketStatus]:
        """Where tickets stand."""
        found = [await self.storage.ticket(ticket.ticket_id) for ticket in tickets]
        return {ticket.status for ticket in found if ticket is not None}


@asynccontextmanager
async def set_up(
    rules: Rules, settlement: Cashier, margin: timedelta = timedelta(hours=1)
) -> AsyncIterator[Desk]:
    """A desk on the database of `rules`; games need so much time left to be joined."""
    assert rules.server is not None
    settings = Settings(
        data_dir=rules.settings.data_dir,
        rules_address=rules.server.address,
        settlement_address=settlement.address,
    )
    async with AsyncExitStack() as stack:
        directory = Directory(settings, "matchmaking")
        stack.push_async_callback(directory.close)
        store = await Store.open(rules.url, SCHEMA, 4)
        stack.push_async_callback(store.close)
        storage, peers = Matchmaking(store), Peers(directory)
        sources: Sources = {SourceKind.QUEUE: QueueSource()}
        saga, hearing = Saga(storage, peers, sources, margin), Hearing(storage, peers, sources)
        yield Desk(store, storage, saga, hearing, rules, settlement)
