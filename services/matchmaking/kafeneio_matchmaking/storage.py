"""Where tickets and matches are kept: PostgreSQL.

Everything is a plain transaction. Each change of a ticket is notified by the transaction that makes
it, so whoever watches hears of it if and when it is committed.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final
from uuid import UUID

from kafeneio_runtime.store import Connection, Store

from kafeneio_matchmaking.domain import (
    OVER,
    End,
    Match,
    MatchMove,
    MatchStatus,
    NewTicket,
    Ticket,
    TicketMove,
    TicketStatus,
    move_match,
    sources,
    target,
)
from kafeneio_matchmaking.pairing import Pairing
from kafeneio_matchmaking.rows import TERMS, read_match, read_ticket, terms_columns
from kafeneio_matchmaking.schema import SCHEMA

TICKETS_A_NOTE: Final = 200
"""A payload has at most 8,000 bytes, an id 32."""

ENQUEUE: Final = f"""
    INSERT INTO tickets (ticket_id, player_id, {TERMS}, status, version, queued_at, expires_at,
        partner, house_seat)
    VALUES ($1, $2, $3, $4, $5::jsonb, $6, $7, $8, $9, $10, $11, 1, now(), now() + $12::interval,
        $13, $14)
    ON CONFLICT DO NOTHING
    RETURNING *
"""

# Tickets that find nobody stay in the queue for long, so they are left out here already.
WAITING: Final = f"""
    SELECT * FROM (
        SELECT *, count(*) OVER (PARTITION BY {TERMS}, house_seat IS NULL) AS alike
        FROM tickets WHERE status = 'queued' AND expires_at > now()
    ) AS queued
    WHERE alike >= seats OR house_seat IS NOT NULL
"""

# Also a partner's ticket that is paired: it may be on its way back into the queue.
PARTY: Final = """
    SELECT * FROM tickets
    WHERE ticket_id = $1 OR (player_id = $2 AND partner = $3
        AND status IN ('waiting_for_partner', 'queued', 'paired'))
    ORDER BY ticket_id FOR UPDATE
"""

MOVE: Final = """
    UPDATE tickets AS t
    SET status = $2, version = t.version + 1, match_id = c.match_id, game_id = c.game_id,
        ending = c.ending, changed_at = now()
    FROM unnest($3::uuid[], $4::uuid[], $5::uuid[], $6::uuid[], $7::text[])
        AS c (ticket_id, was_in, match_id, game_id, ending)
    WHERE t.ticket_id = c.ticket_id AND t.status = ANY ($1::text[])
        AND t.match_id IS NOT DISTINCT FROM c.was_in
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

    async def ticket(self, ticket_id: UUID) -> Ticket | None:
        """A ticket as it stands."""
        row = await self.connection.fetchrow(
            "SELECT * FROM tickets WHERE ticket_id = $1", ticket_id
        )
        return None if row is None else read_ticket(row)

    async def locked(self, ticket: Ticket) -> tuple[Ticket, Ticket | None]:
        """A ticket as it stands, and that of the partner with whom it is in the queue. Nobody else
        changes them until the end."""
        if ticket.partner:
            await self.lock_partners(ticket.player_id, ticket.partner)
        rows = await self.connection.fetch(
            PARTY, ticket.ticket_id, ticket.partner, ticket.player_id
        )
        found = {row["ticket_id"]: read_ticket(row) for row in rows}
        own, other = found.pop(ticket.ticket_id), next(iter(found.values()), None)
        if other is None or {own.status, other.status} != {TicketStatus.QUEUED}:
            return own, None
        return own, other

    async def lock_partners(self, one: str, other: str) -> None:
        """Nobody else makes these two a party, or takes them apart, until the end. Otherwise two
        who name each other at once might both miss that the other one has."""
        names = "\n".join(sorted((one, other)))
        await self.connection.execute(
            "SELECT pg_advisory_xact_lock(hashtextextended($1, 0))", f"{SCHEMA}.party\n{names}"
        )

    async def live(self, player_id: str) -> UUID | None:
        """The player's live ticket."""
        found: UUID | None = await self.connection.fetchval(
            "SELECT ticket_id FROM tickets WHERE player_id = $1"
            " AND status IN ('waiting_for_partner', 'queued', 'paired')",
            player_id,
        )
        return found

    async def enqueue(self, new: NewTicket) -> Ticket | None:
        """Insert a ticket that waits; None where the id is taken or the player has a live one."""
        status = TicketStatus.WAITING_FOR_PARTNER if new.partner else TicketStatus.QUEUED
        row = await self.connection.fetchrow(
            ENQUEUE,
            new.ticket_id,
            new.player_id,
            *terms_columns(new.terms),
            status.value,
            new.time_to_live,
            new.partner,
            new.house_seat,
        )
        if row is None:
            return None
        await self._notify([new.ticket_id])
        return read_ticket(row)

    async def join(self, ticket: Ticket) -> Ticket:
        """A ticket that waits for a partner, in the queue if he waits for its player on equal
        terms. The two of them are locked by `lock_partners`."""
        row = await self.connection.fetchrow(
            "SELECT * FROM tickets WHERE player_id = $1 AND partner = $2"
            " AND status = 'waiting_for_partner' AND expires_at > clock_timestamp() FOR UPDATE",
            ticket.partner,
            ticket.player_id,
        )
        other = None if row is None else read_ticket(row)
        if other is None or other.terms != ticket.terms:
            return ticket
        both = (ticket.ticket_id, other.ticket_id)
        await self.connection.execute(
            "UPDATE tickets SET expires_at = $2 WHERE ticket_id = ANY ($1::uuid[])",
            both,
            min(ticket.expires_at, other.expires_at),
        )
        moved = await self.move(TicketMove.JOIN, [Change(each) for each in both])
        (joined,) = (each for each in moved if each.ticket_id == ticket.ticket_id)
        return joined

    async def move(self, move: TicketMove, changes: Sequence[Change]) -> list[Ticket]:
        """Move tickets; those that do not stand where the move begins are left out."""
        moving = [change.ticket_id for change in changes]
        # In the one order in which everybody locks tickets: an update has none.
        await self.connection.execute(
            "SELECT FROM tickets WHERE ticket_id = ANY ($1::uuid[]) ORDER BY ticket_id FOR UPDATE",
            moving,
        )
        rows = await self.connection.fetch(
            MOVE,
            [status.value for status in sources(move)],
            target(move).value,
            moving,
            [change.was_in for change in changes],
            [change.match_id for change in changes],
            [change.game_id for change in changes],
            [change.end and change.end.value for change in changes],
        )
        await self._notify([row["ticket_id"] for row in rows])
        return [read_ticket(row) for row in rows]

    async def expired(self, limit: int) -> list[UUID]:
        """Waiting tickets whose time is over, locked; not those that somebody is changing."""
        rows = await self.connection.fetch(
            "SELECT ticket_id FROM tickets WHERE status IN ('waiting_for_partner', 'queued')"
            " AND expires_at <= now() ORDER BY expires_at LIMIT $1 FOR UPDATE SKIP LOCKED",
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
        """Tickets of which there are enough on their terms, and those of who plays the house."""
        rows = await self.connection.fetch(WAITING)
        return [read_ticket(row) for row in rows]

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
                (match_id, game_id, *terms_columns(pairing.terms), MatchStatus.PAIRED.value)
                for match_id, game_id, pairing in matches
            ],
        )
        await self.connection.executemany(
            "INSERT INTO seats (match_id, seat, ticket_id, player_id) VALUES ($1, $2, $3, $4)",
            [
                (match_id, seat, ticket and ticket.ticket_id, player)
                for match_id, _, pairing in matches
                for seat, (ticket, player) in enumerate(
                    zip(pairing.tickets, pairing.players, strict=True)
                )
            ],
        )
        changes = [
            Change(ticket.ticket_id, match_id=match_id)
            for match_id, _, pairing in matches
            for ticket in pairing.people
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
            "SELECT seats.*, tickets.partner FROM seats LEFT JOIN tickets USING (ticket_id)"
            " WHERE seats.match_id = $1 ORDER BY seat",
            row["match_id"],
        )
        return read_match(row, seats)

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
        was_in = match.match_id
        if status is MatchStatus.MATCHED:
            return await self.move(
                TicketMove.MATCH,
                [Change(ticket, was_in, was_in, match.game_id) for ticket, _ in match.tickets],
            )
        if status is MatchStatus.UNDONE:
            gone = [Change(ticket, was_in, end=end) for ticket, end in match.tickets if end]
            back = [Change(ticket, was_in) for ticket, end in match.tickets if not end]
            return [
                *await self.move(TicketMove.REFUSE, gone),
                *await self.move(TicketMove.RETURN, back),
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
