"""Statements about tickets, and about the one place that each player has.

Each change of a ticket is notified by the transaction that makes it, so whoever watches hears of it
if and when it is committed.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Final, NamedTuple
from uuid import UUID

from kafeneio_runtime.store import Connection

from kafeneio_matchmaking.domain import (
    End,
    NewTicket,
    Ticket,
    TicketMove,
    TicketStatus,
    sources,
    target,
)
from kafeneio_matchmaking.names import SCHEMA
from kafeneio_matchmaking.pairing import Known
from kafeneio_matchmaking.players.standing import BARRED, blocks_among
from kafeneio_matchmaking.rows import TERMS, read_ticket, terms_columns

TICKETS_A_NOTE: Final = 200
"""A payload has at most 8,000 bytes, an id 32."""

# An id that is taken takes no place. Of two who take it at once one is refused, and all is undone.
ENQUEUE: Final = f"""
    WITH place AS (
        INSERT INTO places (player_id, kind, id)
        SELECT $2, 'ticket', $1 WHERE NOT EXISTS (SELECT FROM tickets WHERE ticket_id = $1)
        ON CONFLICT DO NOTHING RETURNING player_id
    )
    INSERT INTO tickets (ticket_id, player_id, {TERMS}, status, version, queued_at, expires_at,
        partner, house_seat)
    SELECT $1, $2, $3, $4, $5::jsonb, $6, $7, $8, $9, $10, $11, 1, now(), now() + $12::interval,
        $13, $14
    FROM place
    ON CONFLICT DO NOTHING
    RETURNING *
"""

# Tickets that find nobody stay in the queue for long, so they are left out here already. So are
# those of players who were suspended while their match was made, and taken back.
WAITING: Final = f"""
    SELECT queued.*, ratings.value AS rating FROM (
        SELECT *, count(*) OVER (PARTITION BY {TERMS}, house_seat IS NULL) AS alike
        FROM tickets
        WHERE status = 'queued' AND expires_at > now() AND player_id NOT IN ({BARRED})
    ) AS queued
    LEFT JOIN ratings USING (variant, player_id)
    WHERE alike >= seats OR house_seat IS NOT NULL
"""

# Also a partner's ticket that has a match: it may be on its way back into the queue.
PARTY: Final = """
    SELECT * FROM tickets
    WHERE ticket_id = $1 OR (player_id = $2 AND partner = $3
        AND status IN ('waiting_for_partner', 'queued', 'paired', 'matched'))
    ORDER BY ticket_id FOR UPDATE
"""

MOVE: Final = """
    WITH moved AS (
        UPDATE tickets AS t
        SET status = $2, version = t.version + 1, match_id = c.match_id, game_id = c.game_id,
            ending = c.ending, changed_at = now()
        FROM unnest($3::uuid[], $4::uuid[], $5::uuid[], $6::uuid[], $7::text[])
            AS c (ticket_id, was_in, match_id, game_id, ending)
        WHERE t.ticket_id = c.ticket_id AND t.status = ANY ($1::text[])
            AND t.match_id IS NOT DISTINCT FROM c.was_in
        RETURNING t.*
    ), left_places AS (
        DELETE FROM places USING moved
        WHERE places.id = moved.ticket_id AND places.player_id = moved.player_id
            AND moved.status IN ('started', 'ended')
    )
    SELECT * FROM moved
"""


class PlaceKind(StrEnum):
    """What keeps a player from waiting elsewhere."""

    TICKET = "ticket"
    TABLE = "table"


class Place(NamedTuple):
    """Where a player waits or sits: the ticket, or the table."""

    kind: PlaceKind
    id: UUID


@dataclass(frozen=True, slots=True)
class Change:
    """What a move does to one ticket: the match that it was in, and what stands in it after."""

    ticket_id: UUID
    was_in: UUID | None = None
    match_id: UUID | None = None
    game_id: UUID | None = None
    end: End | None = None


@dataclass(frozen=True, slots=True)
class TicketWork:
    """What one transaction does with tickets."""

    connection: Connection

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

    async def place(self, player_id: str) -> Place | None:
        """Where a player waits, or sits."""
        row = await self.connection.fetchrow(
            "SELECT kind, id FROM places WHERE player_id = $1", player_id
        )
        return None if row is None else Place(PlaceKind(row["kind"]), row["id"])

    async def enqueue(self, new: NewTicket) -> Ticket | None:
        """Insert a ticket that waits; None where the id is taken or the player has a place."""
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

    async def waiting(self) -> tuple[list[Ticket], Known]:
        """Tickets of which there are enough on their terms, and those of who plays the house; and
        what is known of their players."""
        rows = await self.connection.fetch(WAITING)
        blocks = await blocks_among(self.connection, [row["player_id"] for row in rows])
        rated = {row["ticket_id"]: row["rating"] for row in rows if row["rating"] is not None}
        return [read_ticket(row) for row in rows], Known(rated, blocks)

    async def still_waiting(self, ticket_ids: Sequence[UUID]) -> set[UUID]:
        """Those that nobody has cancelled meanwhile, locked."""
        rows = await self.connection.fetch(
            "SELECT ticket_id FROM tickets WHERE ticket_id = ANY ($1::uuid[])"
            " AND status = 'queued' ORDER BY ticket_id FOR UPDATE",
            ticket_ids,
        )
        return {row["ticket_id"] for row in rows}

    async def _notify(self, ticket_ids: Sequence[UUID]) -> None:
        for start in range(0, len(ticket_ids), TICKETS_A_NOTE):
            chunk = ticket_ids[start : start + TICKETS_A_NOTE]
            await self.connection.execute(
                "SELECT pg_notify($1, $2)", SCHEMA, " ".join(each.hex for each in chunk)
            )
