"""Where clocks are kept: PostgreSQL, one row a game.

A change locks its rows, and is written only if their versions are still those that were read; what
it announces is written with it.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final
from uuid import UUID

from asyncpg import Record
from kafeneio_runtime.bus import Event
from kafeneio_runtime.outbox import announce, events_after
from kafeneio_runtime.store import Connection, Store

from kafeneio_clock import accounts, codec, domain, listening, wire
from kafeneio_clock.accounts import Account
from kafeneio_clock.turns import Interval, Micros
from kafeneio_clock.values import Announcement, Kept, State

SUBJECT: Final = "clock.events"
"""Where the events go on the bus."""

NOW: Final = "(extract(epoch FROM clock_timestamp()) * 1000000)::bigint AS now"
COLUMNS: Final = f"game_id, version, heard, sequence, state::text, {NOW}"

_UPDATE: Final = """
    UPDATE clocks SET version = clocks.version + 1, heard = new.heard, sequence = new.sequence,
        state = new.state::jsonb, deadline = new.deadline, closed = new.closed,
        due_at = new.due_at,
        replicas = string_to_array(new.replicas, ' ')
    FROM unnest($1::uuid[], $2::bigint[], $3::bigint[], $4::bigint[], $5::text[], $6::text[],
                $7::timestamptz[], $8::timestamptz[], $9::bool[])
         AS new(game_id, version, heard, sequence, state, replicas, deadline, due_at, closed)
    WHERE clocks.game_id = new.game_id AND clocks.version = new.version
    RETURNING clocks.game_id
"""
_INSERT: Final = """
    INSERT INTO clocks
        (game_id, version, heard, sequence, state, replicas, deadline, due_at, closed)
    SELECT game_id, 1, heard, sequence, state::jsonb, string_to_array(replicas, ' '), deadline,
           due_at, closed
    FROM unnest($1::uuid[], $2::bigint[], $3::bigint[], $4::bigint[], $5::text[], $6::text[],
                $7::timestamptz[], $8::timestamptz[], $9::bool[])
         AS new(game_id, version, heard, sequence, state, replicas, deadline, due_at, closed)
    ON CONFLICT DO NOTHING
    RETURNING game_id
"""
# Due rows are put off for as long as a replica may need to ask `rules`: no other one asks as well,
# and if the replica dies they come again.
_DUE: Final = f"""
    WITH due AS (
        SELECT game_id FROM clocks WHERE due_at <= now()
        ORDER BY due_at LIMIT $1 FOR UPDATE SKIP LOCKED
    )
    UPDATE clocks SET due_at = now() + $2 FROM due WHERE clocks.game_id = due.game_id
    RETURNING clocks.game_id, version, heard, sequence, state::text, deadline, {NOW}
"""
_PUT_OFF: Final = """
    UPDATE clocks SET due_at = rest.due_at
    FROM unnest($1::uuid[], $2::timestamptz[]) AS rest(game_id, due_at)
    WHERE clocks.game_id = rest.game_id
"""
_NEXT_DUE: Final = """
    SELECT extract(epoch FROM due_at - clock_timestamp())::float8 FROM clocks
    WHERE due_at IS NOT NULL ORDER BY due_at LIMIT 1
"""
_SEEN: Final = """
    SELECT NULL AS name, began, ended AS at FROM outages WHERE ended > $1
    UNION ALL SELECT name, NULL, at FROM replicas
    ORDER BY began
"""
_COUNT: Final = """
    SELECT count(*) FILTER (WHERE deadline IS NOT NULL) AS running,
           count(*) FILTER (WHERE deadline < clock_timestamp() - $1::interval) AS overdue,
           count(*) AS open
    FROM clocks WHERE NOT closed
"""
_WITHOUT_DEADLINE: Final = """
    SELECT game_id, version FROM clocks
    WHERE NOT closed AND deadline IS NULL AND NOT state ? 'paused_since'
"""


class ConflictError(Exception):
    """Somebody else has changed a clock meanwhile; try again."""


@dataclass(frozen=True, slots=True)
class Row:
    """A clock at one version, as it was `now`; `heard` and `sequence` number the last events of
    `rules` and of its own."""

    game_id: UUID
    version: int
    heard: int
    sequence: int
    state: State
    now: Micros


@dataclass(frozen=True, slots=True)
class Due(Row):
    """A clock that is to be looked at: something was due at `deadline`, or it has heard nothing for
    some time."""

    deadline: Micros | None


@dataclass(frozen=True, slots=True)
class Write:
    """A clock to be written: `row` is what it was, None for a new one; `rest` is how many seconds
    nobody needs to look at it."""

    game_id: UUID
    row: Row | None
    state: State
    heard: int
    told: tuple[Announcement, ...]
    rest: float = 0

    @property
    def announced(self) -> list[Announcement]:
        """What others are told."""
        return [each for each in self.told if not isinstance(each, Kept)]

    @property
    def written(self) -> Row:
        """The clock after it."""
        version, sequence, now = 0, 0, 0
        if self.row is not None:
            version, sequence, now = self.row.version, self.row.sequence, self.row.now
        sequence += len(self.announced)
        return Row(self.game_id, version + 1, self.heard, sequence, self.state, now)


@dataclass(frozen=True, slots=True)
class Work:
    """One transaction."""

    connection: Connection

    async def lock(self, game_ids: Iterable[UUID]) -> dict[UUID, Row]:
        """The clocks of these games, which nobody else changes until the end; in the order of their
        ids, so that no two wait for each other."""
        rows = await self.connection.fetch(
            f"SELECT {COLUMNS} FROM clocks WHERE game_id = ANY ($1::uuid[])"
            " ORDER BY game_id FOR UPDATE",
            list(game_ids),
        )
        return {row["game_id"]: _row(row) for row in rows}

    async def write(self, writes: Sequence[Write]) -> None:
        """Write clocks and what they announce. Raises ConflictError if one of them is another."""
        known = [write for write in writes if write.row is not None]
        fresh = [write for write in writes if write.row is None]
        for statement, some in ((_UPDATE, known), (_INSERT, fresh)):
            if some:
                done = await self.connection.fetch(statement, *_columns(some))
                if len(done) != len(some):
                    raise ConflictError(f"{len(some) - len(done)} clocks have changed")
        told = [each for write in writes for each in _announcements(write)]
        if told:
            await announce(self.connection, told)
        kept = [
            (write.game_id, each)
            for write in writes
            for each in write.told
            if isinstance(each, Kept)
        ]
        if kept:
            await accounts.keep(self.connection, kept)

    async def put_off(self, resting: Sequence[tuple[Row, float]]) -> None:
        """Clocks that have not changed are looked at when they are next due, not before so many
        seconds."""
        if not resting:
            return
        await self.connection.execute(
            _PUT_OFF,
            [row.game_id for row, _ in resting],
            [
                _due_at(row.state, domain.next_deadline(row.state), row.now, seconds)
                for row, seconds in resting
            ],
        )


class Clocks:
    """All clocks of the house."""

    def __init__(self, store: Store) -> None:
        self._store = store

    @asynccontextmanager
    async def transaction(self) -> AsyncIterator[Work]:
        """Committed at the end of the block, rolled back if it raises."""
        async with self._store.transaction() as connection:
            yield Work(connection)

    async def load(self, game_id: UUID) -> Row | None:
        """The clock of a game."""
        async with self._store.acquire() as connection:
            row = await connection.fetchrow(
                f"SELECT {COLUMNS} FROM clocks WHERE game_id = $1", game_id
            )
        return None if row is None else _row(row)

    async def heard(self, game_ids: Iterable[UUID]) -> dict[UUID, int]:
        """The last event of `rules` that each of the games has heard, where there is one."""
        async with self._store.acquire() as connection:
            rows = await connection.fetch(
                "SELECT game_id, heard FROM clocks WHERE game_id = ANY ($1::uuid[])", list(game_ids)
            )
        return {row["game_id"]: row["heard"] for row in rows}

    async def newer(self, versions: dict[UUID, int]) -> list[Row]:
        """Those of the clocks that are newer than the version given."""
        async with self._store.acquire() as connection:
            rows = await connection.fetch(
                f"SELECT {COLUMNS.replace('game_id, version', 'c.game_id, c.version')}"
                " FROM clocks c"
                " JOIN unnest($1::uuid[], $2::bigint[]) AS known(game_id, version)"
                " ON c.game_id = known.game_id AND c.version > known.version",
                list(versions),
                list(versions.values()),
            )
        return [_row(row) for row in rows]

    async def due(self, limit: int, rest: float) -> list[Due]:
        """Clocks of which something is due; no other replica gets them within `rest` seconds."""
        async with self._store.acquire() as connection:
            rows = await connection.fetch(_DUE, limit, timedelta(seconds=rest))
        return [
            Due(
                game_id=row["game_id"],
                version=row["version"],
                heard=row["heard"],
                sequence=row["sequence"],
                state=codec.read(row["state"]),
                now=row["now"],
                deadline=None if row["deadline"] is None else wire.micros(row["deadline"]),
            )
            for row in rows
        ]

    async def next_due(self) -> float | None:
        """In how many seconds the next one is due."""
        async with self._store.acquire() as connection:
            seconds: float | None = await connection.fetchval(_NEXT_DUE)
        return seconds

    async def open_ids(self, replica: str | None = None) -> list[UUID]:
        """The games that are not over, or those of them of which a replica has a stream."""
        async with self._store.acquire() as connection:
            rows = await connection.fetch(
                "SELECT game_id FROM clocks WHERE NOT closed"
                " AND ($1::text IS NULL OR $1 = ANY (replicas)) ORDER BY game_id",
                replica,
            )
        return [row["game_id"] for row in rows]

    async def events(self, game_id: UUID, after: int, limit: int) -> list[Event]:
        """What was announced about a game after a sequence number."""
        async with self._store.acquire() as connection:
            return await events_after(connection, SUBJECT, game_id, after, limit)

    async def account(self, game_id: UUID, seat: int) -> Account:
        """Everything that the time of a seat consists of."""
        return await accounts.account(self._store, SUBJECT, game_id, seat)

    async def answer(
        self, caller: str, method: str, request_id: UUID
    ) -> tuple[bytes, bytes] | None:
        """The digest and the answer of a call that was carried out."""
        async with self._store.acquire() as connection:
            row = await connection.fetchrow(
                "SELECT digest, response FROM requests"
                " WHERE caller = $1 AND method = $2 AND request_id = $3",
                caller,
                method,
                request_id,
            )
        return None if row is None else (row["digest"], row["response"])

    async def count(self, late: timedelta) -> tuple[int, int, int]:
        """How many clocks run, how many are due since more than `late`, and of how many the game is
        not over.
        """
        async with self._store.acquire() as connection:
            row = await connection.fetchrow(_COUNT, late)
        assert row is not None, "a count is always a row"
        return row["running"], row["overdue"], row["open"]

    async def without_deadline(self) -> dict[UUID, int]:
        """The versions of the clocks for which nothing will be due, though nobody has paused them:
        while a computer is on turn, or between two turns.
        """
        async with self._store.acquire() as connection:
            rows = await connection.fetch(_WITHOUT_DEADLINE)
        return {row["game_id"]: row["version"] for row in rows}

    # --- replicas ----------------------------------------------------------------------------

    async def beat(self, replica: str) -> None:
        """A replica is alive."""
        async with self._store.acquire() as connection:
            await connection.execute(
                "INSERT INTO replicas (name) VALUES ($1)"
                " ON CONFLICT (name) DO UPDATE SET at = clock_timestamp()",
                replica,
            )

    async def seen(self, since: Micros) -> tuple[list[Interval], dict[str, Micros]]:
        """Outages of `clock` that ended after a moment, in order, and when each replica was last
        alive; those that are gone are not among them."""
        async with self._store.acquire() as connection:
            rows = await connection.fetch(_SEEN, wire.moment(since))
        outages = [
            Interval(wire.micros(row["began"]), wire.micros(row["at"]))
            for row in rows
            if row["name"] is None
        ]
        alive = {row["name"]: wire.micros(row["at"]) for row in rows if row["name"] is not None}
        return outages, alive

    async def dead(self, silence: timedelta) -> dict[str, Micros]:
        """Replicas that have been silent for longer, and since when."""
        async with self._store.acquire() as connection:
            rows = await connection.fetch(
                "SELECT name, at FROM replicas WHERE at < clock_timestamp() - $1::interval", silence
            )
        return {row["name"]: wire.micros(row["at"]) for row in rows}

    async def forget(self, replica: str) -> None:
        """A replica is gone, and has no stream left."""
        async with self._store.acquire() as connection:
            await connection.execute("DELETE FROM replicas WHERE name = $1", replica)


def _row(row: Record) -> Row:
    return Row(
        game_id=row["game_id"],
        version=row["version"],
        heard=row["heard"],
        sequence=row["sequence"],
        state=codec.read(row["state"]),
        now=row["now"],
    )


def _moment(at: Micros | None) -> datetime | None:
    return None if at is None else wire.moment(at)


def _due_at(state: State, deadline: Micros | None, now: Micros, rest: float) -> datetime | None:
    """When a clock is to be looked at: at its deadline, or when it is to ask what has happened, and
    not before it has rested so many seconds."""
    listens = listening.listens_at(state, now)
    found = [at for at in (deadline, listens) if at is not None]
    if not found:
        return None
    earliest = now + round(rest * wire.SECOND) if rest else 0
    return wire.moment(max(min(found), earliest))


def _columns(writes: Sequence[Write]) -> list[list[object]]:
    """What the statements take, a list for each column."""
    columns: list[list[object]] = [[] for _ in range(9)]
    for write in writes:
        state, after = write.state, write.written
        deadline = domain.next_deadline(state)
        replicas = sorted({seat.replica for seat in state.seats if seat.replica})
        values: tuple[object, ...] = (
            write.game_id,
            after.version - 1,
            after.heard,
            after.sequence,
            codec.write(state),
            " ".join(replicas),
            _moment(deadline),
            _due_at(state, deadline, 0 if write.row is None else write.row.now, write.rest),
            state.closed,
        )
        for column, value in zip(columns, values, strict=True):
            column.append(value)
    return columns


def _announcements(write: Write) -> Iterable[wire.Outgoing]:
    before = 0 if write.row is None else write.row.sequence
    for sequence, told in enumerate(write.announced, before + 1):
        yield wire.outgoing(write.game_id, sequence, told)
