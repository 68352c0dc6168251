"""Where tickets and matches are kept: PostgreSQL.

Everything is a plain transaction. Each change of a ticket is notified by the transaction that makes
it, so whoever watches hears of it if and when it is committed.
"""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final
from uuid import UUID

from asyncpg import Record
from kafeneio_runtime.store import Connection, Store

from kafeneio_matchmaking.domain import (
    OVER,
    End,
    Match,
    MatchMove,
    MatchStatus,
    Pairing,
    Seat,
    Terms,
    Ticket,
    TicketMove,
    TicketStatus,
    move_match,
    move_ticket,
    source,
)
from kafeneio_matchmaking.tables import SCHEMA

TERMS: Final = "variant, edition, options, target, currency, stake, fee_basis_points, seats"

TICKETS_A_NOTE: Final = 200
"""A payload has at most 8,000 bytes, an id 32."""

ENQUEUE: Final = f"""
    INSERT INTO tickets (ticket_id, player_id, {TERMS}, status, version, queued_at, expires_at)
    VALUES ($1, $2, $3, $4, $5::jsonb, $6, $7, $8, $9, $10, $11, 1, now(), now() + $12::interval)
    ON CONFLICT DO NOTHING
    RETURNING *
"""

# Tickets that find nobody stay in the queue for long, so they are left out here already.
WAITING: Final = f"""
    SELECT * FROM (
        SELECT *, count(*) OVER (PARTITION BY {TERMS}) AS alike
        FROM tickets WHERE status = 'queued' AND expires_at > now()
    ) AS queued
    WHERE alike >= seats
"""

MOVE: Final = """
    UPDATE tickets AS t
    SET status = $2, version = t.version + 1, match_id = c.match_id, game_id = c.game_id,
        ending = c.ending, changed_at = now()
    FROM unnest($3::uuid[], $4::uuid[], $5::uuid[], $6::uuid[], $7::text[])
        AS c (ticket_id, was_in, match_id, game_id, ending)
    WHERE t.ticket_id = c.ticket_id AND t.status = $1 AND t.match_id IS NOT DISTINCT FROM c.was_in
    RETURNING t.*
"""

CLAIM: Final = """
    SELECT * FROM matches WHERE over_at IS NULL AND due_at <= now()
    ORDER BY due_at LIMIT 1 FOR UPDATE SKIP LOCKED
"""


@dataclass(frozen=True, slots=True)
class Change:
    """What a move does to one ticket: the match that it was in, and what stands in it after."""

    ticket_id: UUID
    was_in: UUID | None = None
    match_id: UUID | None = None
    game_id: UUID | None = None
    end: End | None = None


@dataclass(frozen=True, slots=True)
class Work:
    """One transaction."""

    connection: Connection

    # --- tickets -----------------------------------------------------------------------------

    async def ticket(self, ticket_id: UUID, *, lock: bool = False) -> Ticket | None:
        """A ticket as it stands; with `lock` nobody else changes it until the end."""
        row = await self.connection.fetchrow(
            f"SELECT * FROM tickets WHERE ticket_id = $1 {'FOR UPDATE' if lock else ''}", ticket_id
        )
        return None if row is None else _ticket(row)

    async def live(self, player_id: str) -> UUID | None:
        """The player's live ticket."""
        found: UUID | None = await self.connection.fetchval(
            "SELECT ticket_id FROM tickets WHERE player_id = $1 AND status IN ('queued', 'paired')",
            player_id,
        )
        return found

    async def enqueue(
        self, ticket_id: UUID, player_id: str, terms: Terms, time_to_live: timedelta
    ) -> Ticket | None:
        """Insert a ticket that waits; None where the id is taken or the player has a live one."""
        row = await self.connection.fetchrow(
            ENQUEUE,
            ticket_id,
            player_id,
            *_terms_columns(terms),
            TicketStatus.QUEUED.value,
            time_to_live,
        )
        if row is None:
            return None
        await self._notify([ticket_id])
        return _ticket(row)

    async def move(self, move: TicketMove, changes: Sequence[Change]) -> list[Ticket]:
        """Move tickets; those that do not stand where the move begins are left out."""
        before = source(move)
        rows = await self.connection.fetch(
            MOVE,
            before.value,
            move_ticket(before, move).value,
            [change.ticket_id for change in changes],
            [change.was_in for change in changes],
            [change.match_id for change in changes],
            [change.game_id for change in changes],
            [change.end and change.end.value for change in changes],
        )
        await self._notify([row["ticket_id"] for row in rows])
        return [_ticket(row) for row in rows]

    async def expired(self, limit: int) -> list[UUID]:
        """Waiting tickets whose time is over, locked; not those that somebody is changing."""
        rows = await self.connection.fetch(
            "SELECT ticket_id FROM tickets WHERE status = 'queued' AND expires_at <= now()"
            " ORDER BY expires_at LIMIT $1 FOR UPDATE SKIP LOCKED",
            limit,
        )
        return [row["ticket_id"] for row in rows]

    # --- pairing -----------------------------------------------------------------------------

    async def alone(self) -> bool:
        """Whether this transaction is the one that pairs. Two at once could each take a half of
        what makes a match."""
        found: bool = await self.connection.fetchval(
            "SELECT pg_try_advisory_xact_lock(hashtextextended($1, 0))", f"{SCHEMA}.pair"
        )
        return found

    async def now(self) -> datetime:
        """The database's time."""
        found: datetime = await self.connection.fetchval("SELECT clock_timestamp()")
        return found

    async def waiting(self) -> list[Ticket]:
        """Tickets of which there are enough on their terms."""
        rows = await self.connection.fetch(WAITING)
        return [_ticket(row) for row in rows]

    async def still_waiting(self, ticket_ids: Sequence[UUID]) -> set[UUID]:
        """Those that nobody has cancelled meanwhile, locked."""
        rows = await self.connection.fetch(
            "SELECT ticket_id FROM tickets WHERE ticket_id = ANY ($1::uuid[])"
            " AND status = 'queued' ORDER BY ticket_id FOR UPDATE",
            ticket_ids,
        )
        return {row["ticket_id"] for row in rows}

    async def begin(self, matches: Sequence[tuple[UUID, UUID, Pairing]]) -> None:
        """Insert matches as (match id, game id, pairing) and pair their tickets, which are
        locked."""
        await self.connection.executemany(
            f"INSERT INTO matches (match_id, game_id, {TERMS}, status, tries, why)"
            " VALUES ($1, $2, $3, $4, $5::jsonb, $6, $7, $8, $9, $10, $11, 0, '')",
            [
                (match_id, game_id, *_terms_columns(pairing.terms), MatchStatus.PAIRED.value)
                for match_id, game_id, pairing in matches
            ],
        )
        await self.connection.executemany(
            "INSERT INTO seats (match_id, seat, ticket_id, player_id) VALUES ($1, $2, $3, $4)",
            [
                (match_id, seat, ticket.ticket_id, ticket.player_id)
                for match_id, _, pairing in matches
                for seat, ticket in enumerate(pairing.tickets)
            ],
        )
        changes = [
            Change(ticket.ticket_id, match_id=match_id)
            for match_id, _, pairing in matches
            for ticket in pairing.tickets
        ]
        moved = await self.move(TicketMove.PAIR, changes)
        assert len(moved) == len(changes), "they are locked, and were waiting"

    # --- matches -----------------------------------------------------------------------------

    async def claim(self) -> Match | None:
        """A match with a step that is due, locked until the end; None where there is none that
        nobody else is driving."""
        row = await self.connection.fetchrow(CLAIM)
        if row is None:
            return None
        seats = await self.connection.fetch(
            "SELECT * FROM seats WHERE match_id = $1 ORDER BY seat", row["match_id"]
        )
        return Match(
            match_id=row["match_id"],
            game_id=row["game_id"],
            terms=_terms(row),
            status=MatchStatus(row["status"]),
            join_by=row["join_by"],
            tries=row["tries"],
            seats=tuple(Seat(s["ticket_id"], s["player_id"], _end(s["ending"])) for s in seats),
        )

    async def advance(
        self,
        match: Match,
        move: MatchMove,
        *,
        join_by: datetime | None = None,
        ends: Mapping[UUID, End] | None = None,
        why: str = "",
    ) -> list[Ticket]:
        """Move a claimed match, and its tickets where it is over; those. `ends` says whose tickets
        are to end for it."""
        status = move_match(match.status, move)
        await self.connection.execute(
            "UPDATE matches SET status = $2, join_by = coalesce($3, join_by), tries = 0,"
            " due_at = now(), why = CASE WHEN $4 = '' THEN why ELSE $4 END,"
            " over_at = CASE WHEN $5 THEN now() END WHERE match_id = $1",
            match.match_id,
            status.value,
            join_by,
            why,
            status in OVER,
        )
        await self.connection.executemany(
            "UPDATE seats SET ending = $3 WHERE match_id = $1 AND ticket_id = $2",
            [(match.match_id, ticket, end.value) for ticket, end in (ends or {}).items()],
        )
        if status is MatchStatus.MATCHED:
            return await self.move(
                TicketMove.MATCH,
                [
                    Change(seat.ticket_id, match.match_id, match.match_id, match.game_id)
                    for seat in match.seats
                ],
            )
        if status is MatchStatus.UNDONE:
            gone = [seat for seat in match.seats if seat.end is not None]
            back = [seat for seat in match.seats if seat.end is None]
            return [
                *await self.move(
                    TicketMove.REFUSE,
                    [Change(seat.ticket_id, match.match_id, end=seat.end) for seat in gone],
                ),
                *await self.move(
                    TicketMove.RETURN, [Change(seat.ticket_id, match.match_id) for seat in back]
                ),
            ]
        return []

    async def put_off(self, match: Match, wait: timedelta, why: str) -> None:
        """Nobody has answered: the same step is due again after `wait`."""
        await self.connection.execute(
            "UPDATE matches SET tries = tries + 1, due_at = clock_timestamp() + $2::interval,"
            " why = $3 WHERE match_id = $1",
            match.match_id,
            wait,
            why,
        )

    async def _notify(self, ticket_ids: Sequence[UUID]) -> None:
        for start in range(0, len(ticket_ids), TICKETS_A_NOTE):
            chunk = ticket_ids[start : start + TICKETS_A_NOTE]
            await self.connection.execute(
                "SELECT pg_notify($1, $2)", SCHEMA, " ".join(each.hex for each in chunk)
            )


class Matchmaking:
    """All tickets and matches of the house."""

    def __init__(self, store: Store) -> None:
        self._store = store

    @asynccontextmanager
    async def work(self) -> AsyncIterator[Work]:
        """A transaction."""
        async with self._store.transaction() as connection:
            yield Work(connection)

    async def ticket(self, ticket_id: UUID) -> Ticket | None:
        """A ticket as it stands."""
        async with self._store.acquire() as connection:
            return await Work(connection).ticket(ticket_id)

    async def oldest_seconds(self) -> float:
        """How long the oldest live ticket has waited; 0 where there is none."""
        async with self._store.acquire() as connection:
            seconds: float = await connection.fetchval(
                "SELECT coalesce(extract(epoch FROM clock_timestamp() - min(queued_at)), 0)::float"
                " FROM tickets WHERE status IN ('queued', 'paired')"
            )
        return max(seconds, 0.0)


def _terms_columns(terms: Terms) -> tuple[object, ...]:
    return (
        terms.variant,
        terms.edition,
        json.dumps(dict(terms.options)),
        terms.target,
        terms.currency,
        terms.stake,
        terms.fee_basis_points,
        terms.seats,
    )


def _terms(row: Record) -> Terms:
    return Terms(
        variant=row["variant"],
        edition=row["edition"],
        options=tuple(sorted(json.loads(row["options"]).items())),
        target=row["target"],
        currency=row["currency"],
        stake=row["stake"],
        fee_basis_points=row["fee_basis_points"],
        seats=row["seats"],
    )


def _end(text: str | None) -> End | None:
    return None if text is None else End(text)


def _ticket(row: Record) -> Ticket:
    return Ticket(
        ticket_id=row["ticket_id"],
        player_id=row["player_id"],
        terms=_terms(row),
        status=TicketStatus(row["status"]),
        version=row["version"],
        queued_at=row["queued_at"],
        expires_at=row["expires_at"],
        game_id=row["game_id"],
        end=_end(row["ending"]),
    )
