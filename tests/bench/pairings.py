"""How fast the queue finds tables for ten thousand who wait: the pairing alone, and through the
database, with ratings and block lists."""

from __future__ import annotations

import asyncio
import time
from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from random import Random
from typing import Final
from uuid import UUID

from kafeneio_matchmaking.domain import Terms, Ticket, TicketStatus
from kafeneio_matchmaking.main import migrate_database
from kafeneio_matchmaking.matching import SourceKind
from kafeneio_matchmaking.names import SCHEMA
from kafeneio_matchmaking.pairing import Known, pair
from kafeneio_matchmaking.peers import Peers
from kafeneio_matchmaking.queueing import QueueSource
from kafeneio_matchmaking.rows import TERMS, terms_columns
from kafeneio_matchmaking.saga import Saga
from kafeneio_matchmaking.storage import Matchmaking
from kafeneio_runtime.directory import Directory
from kafeneio_runtime.postgres import EmbeddedPostgres
from kafeneio_runtime.settings import Settings
from kafeneio_runtime.store import Connection, Store

from tests.bench.process import data_folder

WAITING: Final = 10_000
BLOCKS: Final = 5_000
WAITED: Final = timedelta(seconds=60)
"""They came over so long; the window of nobody has opened wholly."""
DEMANDED: Final = 2_000
"""Pairings a second."""
SEATS: Final = (2, 2, 2, 4, 3)
"""Of these tables there are equally many kinds, each with three stakes."""


@dataclass(frozen=True)
class Crowd:
    """Who waits, and what is known of them."""

    tickets: list[Ticket]
    known: Known
    now: datetime


def crowd() -> Crowd:
    """The same ten thousand every time."""
    chance, now = Random(1), datetime.now(UTC)
    terms = [
        Terms(f"variant-{number}", 1, (), 1, "EUR" if stake else "", stake, 0, seats)
        for number, seats in enumerate(SEATS)
        for stake in (0, 100, 500)
    ]
    tickets = [
        Ticket(
            ticket_id=UUID(int=number),
            player_id=f"player-{number}",
            terms=chance.choice(terms),
            status=TicketStatus.QUEUED,
            version=1,
            queued_at=now - WAITED * chance.random(),
            expires_at=now + timedelta(hours=1),
            game_id=None,
            end=None,
        )
        for number in range(WAITING)
    ]
    ratings = {ticket.ticket_id: round(chance.gauss(1500, 250)) for ticket in tickets}
    blocks: defaultdict[str, set[str]] = defaultdict(set)
    for _ in range(BLOCKS):
        one, other = (ticket.player_id for ticket in chance.sample(tickets, 2))
        blocks[one].add(other)
        blocks[other].add(one)
    return Crowd(tickets, Known(ratings, blocks), now)


def by_age(tickets: Iterable[Ticket]) -> int:
    """The baseline: whoever came next on the same terms; how many tables."""
    queues: defaultdict[Terms, list[Ticket]] = defaultdict(list)
    for ticket in sorted(tickets, key=lambda each: (each.queued_at, each.ticket_id)):
        queues[ticket.terms].append(ticket)
    return sum(len(queue) // terms.seats for terms, queue in queues.items())


async def pairings() -> None:
    """Print pairings per second, and how long the oldest waited."""
    waiting = crowd()
    begin = time.perf_counter()
    plain = by_age(waiting.tickets)
    bare = time.perf_counter() - begin
    print(f"by age alone       {plain / bare:10,.0f} a second (baseline; no rating, no block)")
    begin = time.perf_counter()
    made = pair(waiting.tickets, waiting.now, waiting.known)
    seconds = time.perf_counter() - begin
    left = {ticket.ticket_id: ticket for ticket in waiting.tickets}
    for pairing in made:
        for ticket in pairing.people:
            del left[ticket.ticket_id]
    oldest = max((waiting.now - ticket.queued_at for ticket in left.values()), default=timedelta())
    print(
        f"pairing alone      {len(made) / seconds:10,.0f} a second ({WAITING:,} wait; demanded"
        f" {DEMANDED:,}); {len(left)} find nobody yet, the oldest of them has waited"
        f" {oldest.total_seconds():.0f} s"
    )
    async with data_folder() as folder, EmbeddedPostgres(folder / "postgres") as url:
        await asyncio.to_thread(migrate_database, url)
        directory = Directory(Settings(data_dir=folder), "matchmaking")
        store = await Store.open(url, SCHEMA, 2)
        try:
            await through_the_database(store, directory, waiting)
        finally:
            await store.close()
            await directory.close()


async def seed(connection: Connection, waiting: Crowd) -> None:
    """They stand in the database as they would have come."""
    began = min(ticket.queued_at for ticket in waiting.tickets)
    shift = await connection.fetchval("SELECT clock_timestamp()") - waiting.now
    await connection.copy_records_to_table(
        "tickets",
        columns=(
            *("ticket_id", "player_id", *(name.strip() for name in TERMS.split(","))),
            *("status", "version", "queued_at", "expires_at"),
        ),
        records=[
            (
                *(ticket.ticket_id, ticket.player_id, *terms_columns(ticket.terms)),
                *("queued", 1, ticket.queued_at + shift, ticket.expires_at + shift),
            )
            for ticket in waiting.tickets
        ],
    )
    await connection.copy_records_to_table(
        "places",
        columns=("player_id", "kind", "id"),
        records=[(each.player_id, "ticket", each.ticket_id) for each in waiting.tickets],
    )
    ratings = waiting.known.ratings
    await connection.copy_records_to_table(
        "ratings",
        columns=("variant", "player_id", "mu", "sigma", "value", "floor", "games"),
        records=[
            (each.terms.variant, each.player_id, 25.0, 2.0, ratings[each.ticket_id], 0, 20)
            for each in waiting.tickets
        ],
    )
    await connection.copy_records_to_table(
        "blocks",
        columns=("player_id", "blocked_id", "blocked_at"),
        records=[
            (one, other, began) for one, others in waiting.known.blocks.items() for other in others
        ],
    )
    await connection.execute("ANALYZE")


async def through_the_database(store: Store, directory: Directory, waiting: Crowd) -> None:
    """The job of the queue, batch by batch, until it finds nobody any more."""
    async with store.acquire() as connection:
        await seed(connection, waiting)
    storage = Matchmaking(store)
    saga = Saga(storage, Peers(directory), {SourceKind.QUEUE: QueueSource()})
    async with store.acquire() as connection:
        since = await connection.fetchval("SELECT clock_timestamp()")
    begin, tables = time.perf_counter(), 0
    while count := await saga.pair():
        tables += count
    seconds = time.perf_counter() - begin
    async with store.acquire() as connection:
        times = await connection.fetchrow(
            "SELECT min(created_at) - $1, max(created_at) - $1 FROM matches", since
        )
    assert times is not None, "an aggregate has a row"
    first, last = times
    print(
        f"through the store  {tables / seconds:10,.0f} a second: {tables:,} tables, the oldest's"
        f" written {first.total_seconds():.2f} s after the start and the last ones"
        f" {last.total_seconds():.2f} s; the oldest left waits"
        f" {await storage.oldest_seconds():.0f} s"
    )
