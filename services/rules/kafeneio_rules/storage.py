"""Where games are kept: PostgreSQL.

Appending a move is the hot path: whatever waits while one commit runs goes into the next, as one
hand-written statement (append.sql). Everything else is a plain transaction.
"""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import asdict, dataclass
from datetime import datetime, timedelta
from importlib.resources import files
from typing import Final, NamedTuple
from uuid import UUID

from asyncpg import Record
from kafeneio_games.game import Seat
from kafeneio_games.match import Outcome
from kafeneio_runtime import audit
from kafeneio_runtime.bus import Event
from kafeneio_runtime.group import GroupCommit
from kafeneio_runtime.outbox import Announcement, events_after
from kafeneio_runtime.store import Connection, Reserved, Store

from kafeneio_rules.domain import Status, Terms

APPEND: Final = files("kafeneio_rules").joinpath("append.sql").read_text("utf-8")

SUBJECT: Final = "rules.events"
"""Where the events go on the bus."""

HEADER: Final = """
    SELECT g.*, array_agg(s.player_id ORDER BY s.seat) AS players,
           array_agg(s.word ORDER BY s.seat) AS words,
           array_agg(s.seat ORDER BY s.seat) FILTER (WHERE s.computer) AS computer_seats
    FROM games g LEFT JOIN seats s USING (game_id)
"""


class Request(NamedTuple):
    """The call behind a row: `digest` is the SHA-256 of its body."""

    caller: str
    request_id: UUID
    digest: bytes


class Row(NamedTuple):
    """One row of a log; `entries` are "seat text"; `drawn` and `sequence` are counts after it."""

    version: int
    entries: tuple[str, ...]
    digest: bytes
    drawn: int
    sequence: int


@dataclass(frozen=True, slots=True)
class StoredRow:
    """A row with what the database added: its time, and the call that wrote it."""

    row: Row
    at: datetime
    request: Request | None


class Append(NamedTuple):
    """One or two rows to be written together, if the first one's version is still free.

    `status` and `outcome` are those after the rows; `computer` says that one has taken a seat;
    `entry` is what goes into the audit with them, where an operator writes.
    """

    game_id: UUID
    rows: tuple[Row, ...]
    request: Request | None
    announcements: tuple[Announcement, ...]
    status: Status
    outcome: Outcome | None
    reason: str = ""
    computer: bool = False
    entry: audit.Entry | None = None


@dataclass(frozen=True, slots=True)
class Sealed:
    """A game's secret as it is stored."""

    game_id: UUID
    secret: bytes


@dataclass(frozen=True, slots=True)
class Header:
    """A game without its log; a tombstone has no `terms`. `secret` is sealed."""

    game_id: UUID
    status: Status
    terms: Terms | None
    players: tuple[str, ...]
    words: tuple[bytes | None, ...]
    commitment: bytes
    secret: bytes
    created_at: datetime
    join_by: datetime | None
    outcome: Outcome | None
    reason: str
    computers: tuple[Seat, ...] = ()

    def seat_of(self, player: str) -> Seat | None:
        """Where a person sits."""
        if player not in self.players:
            return None
        seat = Seat(self.players.index(player))
        return None if seat in self.computers else seat

    @property
    def absent(self) -> tuple[Seat, ...]:
        """Who has not joined."""
        return tuple(Seat(seat) for seat, word in enumerate(self.words) if word is None)


@dataclass(frozen=True, slots=True)
class Work:
    """One transaction that holds the lock of one game, whether the game exists or not."""

    connection: Connection
    game_id: UUID

    async def header(self) -> Header | None:
        """The game as it stands."""
        row = await self.connection.fetchrow(
            f"{HEADER} WHERE g.game_id = $1 GROUP BY g.game_id", self.game_id
        )
        return None if row is None else _header(row)

    async def load(self) -> tuple[Header, list[StoredRow]] | None:
        """The game with its whole log."""
        # The log first: a row that comes between the two reads is found by the next look.
        rows = await self.connection.fetch(
            "SELECT * FROM log WHERE game_id = $1 ORDER BY version", self.game_id
        )
        header = await self.header()
        return None if header is None else (header, [_stored_row(row) for row in rows])

    async def create(self, header: Header, join_timeout: timedelta) -> None:
        """Insert a game that waits for its seats; `join_by` is counted from the database's now."""
        terms = header.terms
        assert terms is not None
        await self.connection.execute(
            "INSERT INTO games (game_id, variant, edition, options, target, status, commitment,"
            " secret, join_by, computers)"
            " VALUES ($1, $2, $3, $4::jsonb, $5, 'waiting', $6, $7, now() + $8::interval, $9)",
            self.game_id,
            terms.variant,
            terms.edition,
            json.dumps(dict(terms.options)),
            terms.target,
            header.commitment,
            header.secret,
            join_timeout,
            bool(header.computers),
        )
        await self.connection.executemany(
            "INSERT INTO seats (game_id, seat, player_id, word, computer)"
            " VALUES ($1, $2, $3, $4, $5)",
            [
                (self.game_id, seat, player, header.words[seat], seat in header.computers)
                for seat, player in enumerate(header.players)
            ],
        )

    async def tombstone(self) -> None:
        """Cancel a game that was never made, so that it never can be."""
        await self.connection.execute(
            "INSERT INTO games (game_id, status) VALUES ($1, 'cancelled')", self.game_id
        )

    async def join(self, seat: int, word: bytes) -> None:
        """Note that a seat has joined, with its word."""
        await self.connection.execute(
            "UPDATE seats SET word = $3 WHERE game_id = $1 AND seat = $2", self.game_id, seat, word
        )

    async def append(self, append: Append) -> datetime | None:
        """Write rows in this transaction; None where the version is taken."""
        (at,) = await _append(self.connection, [append])
        if at is not None and append.entry is not None:
            await audit.write(self.connection, append.entry)
        return at


class Games:
    """All games of the house."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._writer = Reserved(store)
        self._commits = GroupCommit(self._commit)

    async def close(self) -> None:
        """Finish what is under way."""
        await self._commits.close()
        await self._writer.close()

    async def append(self, append: Append) -> datetime | None:
        """Write rows with whatever else is waiting; the time of the commit, or None where the
        first one's version is taken. An operator's alone, in one transaction with its entry."""
        if append.entry is None:
            return await self._commits.submit(append)
        async with self._store.transaction() as connection:
            return await Work(connection, append.game_id).append(append)

    async def _commit(self, batch: Sequence[Append]) -> list[datetime | None]:
        async with self._writer.use() as connection:
            return await _append(connection, batch)

    @asynccontextmanager
    async def locked(self, game_id: UUID) -> AsyncIterator[Work]:
        """A transaction that alone may change the game before its start."""
        async with self._store.transaction() as connection:
            # A game that does not exist yet has no row to lock, so the lock is on the id.
            await connection.execute(
                "SELECT pg_advisory_xact_lock(hashtextextended($1, 0))", str(game_id)
            )
            yield Work(connection, game_id)

    async def load(self, game_id: UUID) -> tuple[Header, list[StoredRow]] | None:
        """A game with its whole log."""
        async with self._store.acquire() as connection:
            return await Work(connection, game_id).load()

    async def rows_after(self, game_id: UUID, version: int) -> list[StoredRow]:
        """The rows of a log after a version."""
        async with self._store.acquire() as connection:
            rows = await connection.fetch(
                "SELECT * FROM log WHERE game_id = $1 AND version > $2 ORDER BY version",
                game_id,
                version,
            )
        return [_stored_row(row) for row in rows]

    async def version(self, game_id: UUID) -> int:
        """The version of the last row; 0 where there is none."""
        async with self._store.acquire() as connection:
            version: int = await connection.fetchval(
                "SELECT coalesce(max(version), 0) FROM log WHERE game_id = $1", game_id
            )
        return version

    async def versions(self, game_ids: set[UUID]) -> dict[UUID, int]:
        """The version of the last row of each game that has one."""
        async with self._store.acquire() as connection:
            rows = await connection.fetch(
                "SELECT game_id, max(version) AS version FROM log WHERE game_id = ANY ($1::uuid[])"
                " GROUP BY game_id",
                list(game_ids),
            )
        return {row["game_id"]: row["version"] for row in rows}

    async def due(self) -> list[UUID]:
        """Games that still wait although the time to join is over (F6)."""
        async with self._store.acquire() as connection:
            rows = await connection.fetch(
                "SELECT game_id FROM games WHERE status = 'waiting' AND join_by <= now()"
                " ORDER BY join_by LIMIT 100"
            )
        return [row["game_id"] for row in rows]

    async def listed(
        self, player: str, variant: str, status: str, before: UUID | None, limit: int
    ) -> list[Header]:
        """Games, the newest id first; an empty filter takes all."""
        async with self._store.acquire() as connection:
            rows = await connection.fetch(
                f"{HEADER} WHERE g.variant IS NOT NULL"
                " AND ($1 = '' OR g.game_id IN (SELECT game_id FROM seats WHERE player_id = $1))"
                " AND ($2 = '' OR g.variant = $2) AND ($3 = '' OR g.status = $3)"
                " AND ($4::uuid IS NULL OR g.game_id < $4)"
                " GROUP BY g.game_id ORDER BY g.game_id DESC LIMIT $5",
                player,
                variant,
                status,
                before,
                limit,
            )
        return [_header(row) for row in rows]

    async def events(self, game_id: UUID, after: int, limit: int) -> list[Event]:
        """What was announced about a game after a sequence number."""
        async with self._store.acquire() as connection:
            return await events_after(connection, SUBJECT, game_id, after, limit)

    async def a_sealed_secret(self) -> Sealed | None:
        """The secret of the newest game, where there is one."""
        async with self._store.acquire() as connection:
            row = await connection.fetchrow(
                "SELECT game_id, secret FROM games WHERE secret IS NOT NULL"
                " ORDER BY game_id DESC LIMIT 1"
            )
        return None if row is None else Sealed(row["game_id"], row["secret"])

    async def with_computers(self) -> list[UUID]:
        """Running games in which a computer has a seat."""
        async with self._store.acquire() as connection:
            rows = await connection.fetch(
                "SELECT game_id FROM games WHERE status = 'running' AND computers"
            )
        return [row["game_id"] for row in rows]

    async def running(self) -> dict[str, int]:
        """How many games of each variant are being played."""
        async with self._store.acquire() as connection:
            rows = await connection.fetch(
                "SELECT variant, count(*) AS games FROM games WHERE status = 'running'"
                " GROUP BY variant"
            )
        return {row["variant"]: row["games"] for row in rows}


async def _append(connection: Connection, batch: Sequence[Append]) -> list[datetime | None]:
    """Run append.sql for one append of each of several games.

    In the order of the ids, so that two replicas wait for each other in one order and never both.
    Of several appends to one game the first counts; the rest come too late, as they would alone.
    """
    chosen: dict[UUID, Append] = {}
    for append in batch:
        chosen.setdefault(append.game_id, append)
    ordered = [chosen[game_id] for game_id in sorted(chosen)]
    first = [(append.game_id, append.rows[0], append.request) for append in ordered]
    later = [(append.game_id, row) for append in ordered for row in append.rows[1:]]
    events = [(append.game_id, event) for append in ordered for event in append.announcements]
    turned = [
        append
        for append in ordered
        if append.outcome or append.computer or append.rows[0].version == 1
    ]
    written = await connection.fetch(
        APPEND,
        *_row_columns([(game_id, row) for game_id, row, _ in first]),
        [request and request.caller for _, _, request in first],
        [request and request.request_id for _, _, request in first],
        [request and request.digest for _, _, request in first],
        *_row_columns(later),
        [event.id for _, event in events],
        [game_id for game_id, _ in events],
        [event.sequence for _, event in events],
        [event.type for _, event in events],
        [event.payload for _, event in events],
        [append.game_id for append in turned],
        [append.status.value for append in turned],
        [append.outcome and json.dumps(asdict(append.outcome)) for append in turned],
        [append.reason for append in turned],
        [append.computer for append in turned],
    )
    times: dict[UUID, datetime] = {row["game_id"]: row["at"] for row in written}
    return [
        times.get(append.game_id) if chosen[append.game_id] is append else None for append in batch
    ]


def _row_columns(
    rows: Sequence[tuple[UUID, Row]],
) -> tuple[list[UUID], list[int], list[str], list[bytes], list[int], list[int]]:
    return (
        [game_id for game_id, _ in rows],
        [row.version for _, row in rows],
        ["\n".join(row.entries) for _, row in rows],
        [row.digest for _, row in rows],
        [row.drawn for _, row in rows],
        [row.sequence for _, row in rows],
    )


def _outcome(text: str | None) -> Outcome | None:
    if text is None:
        return None
    value = json.loads(text)
    return Outcome(
        tuple(map(Seat, value["winners"])), tuple(value["score"]), value["ending"], value["void"]
    )


def _header(row: Record) -> Header:
    terms = None
    if row["variant"] is not None:
        options = tuple(sorted(json.loads(row["options"]).items()))
        terms = Terms(row["variant"], row["edition"], options, row["target"])
    return Header(
        game_id=row["game_id"],
        status=Status(row["status"]),
        terms=terms,
        players=tuple(row["players"]) if terms else (),
        words=tuple(row["words"]) if terms else (),
        commitment=row["commitment"] or b"",
        secret=row["secret"] or b"",
        created_at=row["created_at"],
        join_by=row["join_by"],
        outcome=_outcome(row["outcome"]),
        reason=row["reason"] or "",
        computers=tuple(map(Seat, row["computer_seats"] or ())),
    )


def _stored_row(row: Record) -> StoredRow:
    request = None
    if row["request_id"] is not None:
        request = Request(row["caller"], row["request_id"], row["request_digest"])
    return StoredRow(
        Row(row["version"], tuple(row["entries"]), row["digest"], row["drawn"], row["sequence"]),
        row["at"],
        request,
    )
