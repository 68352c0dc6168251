"""Where tables are kept: PostgreSQL.

A change of a table is notified by the transaction that makes it. Its place among all changes is
given only after the commit, by whoever holds the lock for that: so the order of the places is that
in which they become visible, and who has seen everything up to one has missed nothing.
"""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from hashlib import sha256
from hmac import compare_digest
from typing import Final, NamedTuple
from uuid import UUID

from asyncpg import Record
from kafeneio_runtime.store import Connection, Store

from kafeneio_matchmaking.domain import End
from kafeneio_matchmaking.names import SCHEMA
from kafeneio_matchmaking.players.paging import Moment
from kafeneio_matchmaking.rows import TERMS, read_terms, terms_columns
from kafeneio_matchmaking.seating.domain import (
    FREE,
    KEEPING,
    Chair,
    PutOut,
    Table,
    TableEnd,
    TableStatus,
)
from kafeneio_matchmaking.storage import Work
from kafeneio_matchmaking.tickets import Place, PlaceKind

ALL_TABLES: Final = UUID(int=0)
"""In notes: some table has got its place among the changes."""

NUMBERED_AT_ONCE: Final = 1000

CHAIRS: Final = """
    SELECT table_id, array_agg(player_id ORDER BY seat) AS players,
        array_agg(ready ORDER BY seat) AS ready, array_agg(since ORDER BY seat) AS since
    FROM chairs WHERE table_id = tables.table_id GROUP BY table_id
"""

SHOWN: Final = f"SELECT tables.*, c.* FROM tables, LATERAL ({CHAIRS}) AS c"

OPEN: Final = f"""
    INSERT INTO tables (table_id, creator, host, {TERMS}, code, code_digest, least_rating,
        most_rating, computers_fill, status, version, seating, created_at, expires_at, put_out)
    VALUES ($1, $2, $2, $3, $4, $5::jsonb, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, 'open',
        1, 1, $16, $17, '[]')
    ON CONFLICT DO NOTHING RETURNING table_id
"""

SAVE: Final = """
    UPDATE tables SET host = $2, status = $3, version = $4, seating = $5, match_id = $6,
        game_id = $7, ending = $8, put_out = $9::jsonb, change = NULL
    WHERE table_id = $1
"""

# Those whose row somebody is changing get theirs with that change.
NUMBER: Final = """
    UPDATE tables SET change = nextval('table_changes')
    WHERE table_id IN (SELECT table_id FROM tables WHERE change IS NULL LIMIT $1
        FOR UPDATE SKIP LOCKED)
"""

LISTED: Final = f"""
    {SHOWN}
    WHERE status = 'open' AND code_digest IS NULL AND ($1 = '' OR variant = $1)
        AND (NOT $2 OR array_position(players, NULL) IS NOT NULL)
        AND stake >= $3 AND ($4::bigint IS NULL OR stake <= $4)
        AND ($5 = '' OR currency IN ($5, ''))
        AND ($6::timestamptz IS NULL OR (created_at, tables.table_id) < ($6, $7::uuid))
    ORDER BY created_at DESC, tables.table_id DESC LIMIT $8
"""

OPEN_UP_TO: Final = f"""
    {SHOWN}
    WHERE status = 'open' AND code_digest IS NULL AND change <= $1 AND ($2 = '' OR variant = $2)
    ORDER BY change
"""

CHANGED: Final = f"""
    {SHOWN}
    WHERE code_digest IS NULL AND change > $1 AND ($2 = '' OR variant = $2)
    ORDER BY change LIMIT $3
"""


class Listed(NamedTuple):
    """The table that was listed last."""

    created_at: Moment
    table_id: UUID


@dataclass(frozen=True, slots=True)
class Wanted:
    """Which tables are listed: `variant` and `currency` are empty for all, `most_stake` is None."""

    variant: str
    free_seats: bool
    least_stake: int
    most_stake: int | None
    currency: str


@dataclass(frozen=True, slots=True)
class Tables:
    """Tables, in a transaction where they are changed."""

    connection: Connection

    @classmethod
    def of(cls, work: Work) -> Tables:
        """In this transaction."""
        return cls(work.connection)

    # --- looking -----------------------------------------------------------------------------

    async def find(self, table_id: UUID) -> Table | None:
        """A table as it stands."""
        return _read(
            await self.connection.fetchrow(f"{SHOWN} WHERE tables.table_id = $1", table_id)
        )

    async def locked(self, table_id: UUID) -> Table | None:
        """The same, and nobody else changes it until the end."""
        await self.connection.execute("SELECT FROM tables WHERE table_id = $1 FOR UPDATE", table_id)
        return await self.find(table_id)

    async def invited_by(self, code: str) -> Table | None:
        """The private table with this invitation, locked. Found by its hash, so that how long a
        wrong one takes tells nothing of the right one."""
        table_id = await self.connection.fetchval(
            "SELECT table_id FROM tables WHERE code_digest = $1", _digest(code)
        )
        table = None if table_id is None else await self.locked(table_id)
        if table is None or not compare_digest(table.code.encode(), code.encode()):
            return None
        return table

    async def listed(self, wanted: Wanted, after: Listed | None, limit: int) -> list[Table]:
        """Public tables that are open, the newest first."""
        created_at, table_id = (None, None) if after is None else after
        rows = await self.connection.fetch(
            LISTED,
            wanted.variant,
            wanted.free_seats,
            wanted.least_stake,
            wanted.most_stake,
            wanted.currency,
            created_at,
            table_id,
            limit,
        )
        return [_table(row) for row in rows]

    async def last_change(self) -> int:
        """The place of the latest change that has one; 0 where there was none."""
        found: int = await self.connection.fetchval("SELECT coalesce(max(change), 0) FROM tables")
        return found

    async def latest_place(self) -> int:
        """The latest place that any change was given, whether that can be seen yet or not."""
        found: int = await self.connection.fetchval(
            "SELECT CASE WHEN is_called THEN last_value ELSE 0 END FROM table_changes"
        )
        return found

    async def open_up_to(self, change: int, variant: str) -> list[Table]:
        """Public tables that are open, and have not changed since."""
        return [_table(row) for row in await self.connection.fetch(OPEN_UP_TO, change, variant)]

    async def changed(self, after: int, variant: str, limit: int) -> list[Table]:
        """Public tables that have changed since, in the order in which they have."""
        return [_table(row) for row in await self.connection.fetch(CHANGED, after, variant, limit)]

    async def count_open(self) -> Mapping[str, int]:
        """How many tables are open, by variant."""
        rows = await self.connection.fetch(
            "SELECT variant, count(*) AS count FROM tables WHERE status = 'open' GROUP BY variant"
        )
        return {row["variant"]: row["count"] for row in rows}

    # --- changing ----------------------------------------------------------------------------

    async def take_place(self, player: str, table_id: UUID) -> Place | None:
        """Keep a player's one place for a table; where he is if that is elsewhere."""
        while True:
            await self.connection.execute(
                "INSERT INTO places (player_id, kind, id) VALUES ($1, 'table', $2)"
                " ON CONFLICT DO NOTHING",
                player,
                table_id,
            )
            row = await self.connection.fetchrow(
                "SELECT kind, id FROM places WHERE player_id = $1", player
            )
            if row is not None:
                return None if row["id"] == table_id else Place(PlaceKind(row["kind"]), row["id"])
            # What stood in the way has ended meanwhile.

    async def open(self, table: Table) -> bool:
        """Insert a new table; False where its id or its invitation is taken."""
        made = await self.connection.fetchval(
            OPEN,
            table.table_id,
            table.creator,
            *terms_columns(table.terms),
            table.code,
            _digest(table.code) if table.code else None,
            table.least_rating,
            table.most_rating,
            table.computers_fill,
            table.created_at,
            table.expires_at,
        )
        if made is None:
            return False
        await self.connection.executemany(
            "INSERT INTO chairs (table_id, seat, player_id, ready, since)"
            " VALUES ($1, $2, $3, $4, $5)",
            [(table.table_id, *_chair(seat, each)) for seat, each in enumerate(table.chairs)],
        )
        await self._notify(table.table_id)
        return True

    async def save(self, before: Table, after: Table) -> Table:
        """Write what a locked table has become. Who does not sit there any more, and everybody once
        it plays or is closed, is free to sit elsewhere; who has come has his place already."""
        if after == before:
            return after
        await self.connection.execute(
            SAVE,
            after.table_id,
            after.host,
            after.status.value,
            after.version,
            after.seating,
            after.match_id,
            after.game_id,
            after.end and after.end.value,
            json.dumps([(each.player_id, each.end.value) for each in after.put_out]),
        )
        others = [
            (after.table_id, *_chair(seat, chair))
            for seat, chair in enumerate(after.chairs)
            if chair != before.chairs[seat]
        ]
        # At first nobody, since who moves from one seat to another never sits in both.
        await self.connection.executemany(
            "UPDATE chairs SET player_id = NULL, ready = false WHERE table_id = $1 AND seat = $2",
            [row[:2] for row in others],
        )
        await self.connection.executemany(
            "UPDATE chairs SET player_id = $3, ready = $4, since = $5"
            " WHERE table_id = $1 AND seat = $2",
            others,
        )
        kept = after.players if after.status in KEEPING else ()
        await self.connection.execute(
            "DELETE FROM places WHERE id = $1 AND player_id = ANY ($2::text[])",
            after.table_id,
            [player for player in before.players if player not in kept],
        )
        await self._notify(after.table_id)
        return after

    async def expired(self, limit: int) -> list[Table]:
        """Open tables whose time is over, locked; not those that somebody is changing."""
        rows = await self.connection.fetch(
            "SELECT table_id FROM tables WHERE status = 'open' AND expires_at <= now()"
            " ORDER BY expires_at LIMIT $1 FOR UPDATE SKIP LOCKED",
            limit,
        )
        found = [await self.find(row["table_id"]) for row in rows]
        return [table for table in found if table is not None]

    async def number(self) -> bool:
        """Give changes their places; False where there was none to be given one."""
        await self.connection.execute(
            "SELECT pg_advisory_xact_lock(hashtextextended($1, 0))", f"{SCHEMA}.table_changes"
        )
        status = await self.connection.execute(NUMBER, NUMBERED_AT_ONCE)
        if status.endswith(" 0"):
            return False
        await self._notify(ALL_TABLES)
        return True

    async def _notify(self, table_id: UUID) -> None:
        await self.connection.execute("SELECT pg_notify($1, $2)", SCHEMA, table_id.hex)


@dataclass(frozen=True, slots=True)
class Seating:
    """All tables of the house."""

    store: Store

    @asynccontextmanager
    async def looking(self) -> AsyncIterator[Tables]:
        """For questions."""
        async with self.store.acquire() as connection:
            yield Tables(connection)

    async def number(self) -> None:
        """Give all changes their places."""
        while True:
            async with self.store.transaction() as connection:
                if not await Tables(connection).number():
                    return


def _digest(code: str) -> bytes:
    return sha256(code.encode()).digest()


def _chair(seat: int, chair: Chair) -> tuple[int, str | None, bool, int]:
    return seat, chair.player_id or None, chair.ready, chair.since


def _read(row: Record | None) -> Table | None:
    return None if row is None else _table(row)


def _table(row: Record) -> Table:
    put_out: Sequence[tuple[str, str]] = json.loads(row["put_out"])
    return Table(
        table_id=row["table_id"],
        creator=row["creator"],
        host=row["host"],
        terms=read_terms(row),
        code=row["code"],
        least_rating=row["least_rating"],
        most_rating=row["most_rating"],
        computers_fill=row["computers_fill"],
        status=TableStatus(row["status"]),
        version=row["version"],
        seating=row["seating"],
        chairs=tuple(
            FREE if player is None else Chair(player, ready, since)
            for player, ready, since in zip(row["players"], row["ready"], row["since"], strict=True)
        ),
        created_at=row["created_at"],
        expires_at=row["expires_at"],
        match_id=row["match_id"],
        game_id=row["game_id"],
        end=None if row["ending"] is None else TableEnd(row["ending"]),
        put_out=tuple(PutOut(player, End(end)) for player, end in put_out),
        change=row["change"],
    )
