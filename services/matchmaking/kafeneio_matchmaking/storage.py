"""Where matches are kept, and what one transaction does with them and with tickets: PostgreSQL."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Final
from uuid import UUID

from asyncpg import Record
from kafeneio_runtime.store import Store

from kafeneio_matchmaking.domain import End, Ticket
from kafeneio_matchmaking.matching import (
    OVER,
    Match,
    MatchMove,
    MatchStatus,
    NewMatch,
    move_match,
)
from kafeneio_matchmaking.names import SCHEMA
from kafeneio_matchmaking.rows import TERMS, read_match, terms_columns
from kafeneio_matchmaking.tickets import TicketWork

MATCH_COLUMNS: Final = (
    *("match_id", "game_id", "source", "source_id"),
    *TERMS.split(", "),
    *("status", "tries", "why"),
)

CLAIM: Final = """
    SELECT * FROM matches
    WHERE status IN ('paired', 'held', 'created', 'cancelling', 'releasing') AND due_at <= now()
    ORDER BY due_at LIMIT 1 FOR UPDATE SKIP LOCKED
"""

CLAIM_AWAITED: Final = """
    SELECT * FROM matches
    WHERE status IN ('matched', 'started', 'finished') AND due_at <= now()
    ORDER BY due_at LIMIT 1 FOR UPDATE SKIP LOCKED
"""

AWAITED_GAME: Final = """
    SELECT coalesce(tickets.game_id, tables.game_id)
    FROM places
    LEFT JOIN tickets ON tickets.ticket_id = places.id AND tickets.status = 'matched'
    LEFT JOIN tables ON tables.table_id = places.id AND tables.status = 'matched'
    WHERE places.player_id = $1
"""

OF_GAME: Final = "SELECT * FROM matches WHERE game_id = $1 FOR UPDATE"


@dataclass(frozen=True, slots=True)
class Work(TicketWork):
    """One transaction."""

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

    async def begin(self, matches: Sequence[NewMatch]) -> None:
        """Insert matches, to be driven as soon as this is committed."""
        await self.connection.copy_records_to_table(
            "matches",
            columns=MATCH_COLUMNS,
            records=[
                (
                    match.match_id,
                    match.game_id,
                    match.source.value,
                    match.source_id,
                    *terms_columns(match.terms),
                    MatchStatus.PAIRED.value,
                    0,
                    "",
                )
                for match in matches
            ],
        )
        await self.connection.copy_records_to_table(
            "seats",
            columns=("match_id", "seat", "ticket_id", "player_id"),
            records=[
                (match.match_id, number, seat.ticket_id, seat.player_id)
                for match in matches
                for number, seat in enumerate(match.seats)
            ],
        )

    async def claim(self) -> Match | None:
        """A match whose next step is ours and due, locked until the end; None where there is none
        that nobody else is driving."""
        return await self._match(await self.connection.fetchrow(CLAIM))

    async def claim_awaited(self) -> Match | None:
        """The same of a match of which nothing has been heard for long."""
        return await self._match(await self.connection.fetchrow(CLAIM_AWAITED))

    async def match_of(self, game_id: UUID) -> Match | None:
        """The match whose game it is, locked until the end; whoever drives it is waited for."""
        return await self._match(await self.connection.fetchrow(OF_GAME, game_id))

    async def _match(self, row: Record | None) -> Match | None:
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
        ends: Mapping[str, End] | None = None,
        why: str = "",
        wait: timedelta = timedelta(),
    ) -> Match:
        """The match, which is locked, after a move. `ends` says which players are to blame for it;
        `wait` is when it is due again."""
        status = move_match(match.status, move)
        await self.connection.execute(
            "UPDATE matches SET status = $2, join_by = coalesce($3, join_by), tries = 0,"
            " due_at = clock_timestamp() + $6::interval,"
            " why = CASE WHEN $4 = '' THEN why ELSE $4 END,"
            " over_at = CASE WHEN $5 THEN now() END WHERE match_id = $1",
            match.match_id,
            status.value,
            join_by,
            why,
            status in OVER,
            wait,
        )
        blamed = dict(ends or {})
        await self.connection.executemany(
            "UPDATE seats SET ending = $3 WHERE match_id = $1 AND player_id = $2",
            [(match.match_id, player, end.value) for player, end in blamed.items()],
        )
        return replace(
            match,
            status=status,
            join_by=join_by or match.join_by,
            tries=0,
            seats=match.ending(blamed),
        )

    async def put_off(self, match: Match, wait: timedelta, why: str) -> None:
        """Nobody has answered, or there is nothing new: the same step is due again after `wait`."""
        await self.connection.execute(
            "UPDATE matches SET tries = tries + 1, due_at = clock_timestamp() + $2::interval,"
            " why = $3 WHERE match_id = $1",
            match.match_id,
            wait,
            why,
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

    @asynccontextmanager
    async def look(self) -> AsyncIterator[Work]:
        """A transaction that only reads, and sees all as of one moment."""
        async with self._store.snapshot() as connection:
            yield Work(connection)

    async def ticket(self, ticket_id: UUID) -> Ticket | None:
        """A ticket as it stands."""
        async with self._store.acquire() as connection:
            return await Work(connection).ticket(ticket_id)

    async def awaited_game(self, player_id: str) -> UUID | None:
        """The game that waits for a player to take his seat, or whose start we have not heard of;
        None where there is none."""
        async with self._store.acquire() as connection:
            found: UUID | None = await connection.fetchval(AWAITED_GAME, player_id)
        return found

    async def oldest_seconds(self) -> float:
        """How long the oldest ticket without a game has waited; 0 where there is none."""
        async with self._store.acquire() as connection:
            seconds: float = await connection.fetchval(
                "SELECT coalesce(extract(epoch FROM clock_timestamp() - min(queued_at)), 0)::float"
                " FROM tickets WHERE status IN ('queued', 'paired')"
            )
        return max(seconds, 0.0)
