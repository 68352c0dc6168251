"""Where clocks are kept: PostgreSQL, one row a game.

A change is written only if the versions of its rows are still those that were read: they are locked
first, or, for what is due, compared by the statement that writes. What it announces is written with
it.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import timedelta
from typing import Final
from uuid import UUID

from kafeneio_runtime.bus import Event
from kafeneio_runtime.outbox import events_after
from kafeneio_runtime.store import Connection, Store

from kafeneio_clock import accounts, codec, wire
from kafeneio_clock.accounts import Account
from kafeneio_clock.kept import States
from kafeneio_clock.rows import Due, Row, Write, announcements, columns, due_at, row_of
from kafeneio_clock.turns import Interval, Micros
from kafeneio_clock.values import Kept

SUBJECT: Final = "clock.events"
"""Where the events go on the bus."""

NOW: Final = "(extract(epoch FROM clock_timestamp()) * 1000000)::bigint AS now"
COLUMNS: Final = f"game_id, version, heard, sequence, state::text, {NOW}"

# A state that the caller has is not sent again.
_LOCK: Final = f"""
    SELECT c.game_id, c.version, c.heard, c.sequence,
           CASE WHEN c.version = known.version THEN NULL ELSE c.state::text END AS state, {NOW}
    FROM unnest($1::uuid[], $2::bigint[]) AS known(game_id, version) JOIN clocks c USING (game_id)
    ORDER BY c.game_id FOR UPDATE OF c
"""
# Each column as one text, a line a clock: that costs a tenth of an array of values. A state has no
# line breaks in it; -1 is no time.
_NEW: Final = r"""(
    SELECT game_id, version, heard, sequence, state, coalesce(replicas, '') AS replicas, closed,
           timestamptz 'epoch' + nullif(deadline, -1) * interval '1 microsecond' AS deadline,
           timestamptz 'epoch' + nullif(due_at, -1) * interval '1 microsecond' AS due_at
    FROM unnest(
        string_to_array($1, E'\n')::uuid[], string_to_array($2, E'\n')::bigint[],
        string_to_array($3, E'\n')::bigint[], string_to_array($4, E'\n')::bigint[],
        string_to_array($5, E'\n'), string_to_array($6, E'\n'),
        string_to_array($7, E'\n')::bigint[], string_to_array($8, E'\n')::bigint[],
        string_to_array($9, E'\n')::bool[]
    ) AS line(game_id, version, heard, sequence, state, replicas, deadline, due_at, closed)
) AS new"""
# What is told with a change stands or falls with it.
_TOLD: Final = """,
    told AS (
        INSERT INTO outbox (event_id, subject_id, sequence, type, payload)
        SELECT event.*
        FROM unnest($10::uuid[], $11::uuid[], $12::bigint[], $13::text[], $14::bytea[])
            AS event(event_id, subject_id, sequence, type, payload)
        JOIN changed ON changed.game_id = event.subject_id
    ), kept AS (
        INSERT INTO turns (game_id, turn, seat, ended, facts)
        SELECT ended.game_id, ended.turn, ended.seat, ended.at, ended.facts::jsonb
        FROM unnest($15::uuid[], $16::bigint[], $17::int[], $18::timestamptz[], $19::text[])
            AS ended(game_id, turn, seat, at, facts)
        JOIN changed ON changed.game_id = ended.game_id
    )
    SELECT game_id FROM changed
"""
# Nobody is waited for: a clock that somebody else is changing is not as it was any more.
_UPDATE: Final = f"""
    WITH same AS MATERIALIZED (
        SELECT new.* FROM {_NEW} JOIN clocks USING (game_id, version)
        FOR UPDATE OF clocks SKIP LOCKED
    ), changed AS (
        UPDATE clocks SET version = clocks.version + 1, heard = new.heard,
            sequence = new.sequence, state = new.state::jsonb, deadline = new.deadline,
            closed = new.closed, due_at = new.due_at,
            replicas = string_to_array(new.replicas, ' ')
        FROM same AS new WHERE clocks.game_id = new.game_id
        RETURNING clocks.game_id
    ){_TOLD}
"""
_INSERT: Final = f"""
    WITH changed AS (
        INSERT INTO clocks
            (game_id, version, heard, sequence, state, replicas, deadline, due_at, closed)
        SELECT game_id, 1, heard, sequence, state::jsonb, string_to_array(replicas, ' '),
               deadline, due_at, closed
        FROM {_NEW}
        ON CONFLICT DO NOTHING
        RETURNING game_id
    ){_TOLD}
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
# All that are not closed, by the two indexes that they are in.
_OPEN: Final = """(
    SELECT * FROM clocks WHERE due_at IS NOT NULL
    UNION ALL SELECT * FROM clocks WHERE due_at IS NULL AND NOT closed
) AS open"""
_COUNT: Final = f"""
    SELECT count(*) FILTER (WHERE deadline IS NOT NULL) AS running,
           count(*) FILTER (WHERE deadline < clock_timestamp() - $1::interval) AS overdue,
           count(*) AS open
    FROM {_OPEN}
"""
_WITHOUT_DEADLINE: Final = f"""
    SELECT game_id, version FROM {_OPEN}
    WHERE deadline IS NULL AND NOT state ? 'paused_since'
"""


class ConflictError(Exception):
    """Somebody else has changed a clock meanwhile; try again."""


@dataclass(frozen=True, slots=True)
class Work:
    """One transaction."""

    connection: Connection
    states: States

    async def lock(self, game_ids: Iterable[UUID]) -> dict[UUID, Row]:
        """The clocks of these games, which nobody else changes until the end; in the order of their
        ids, so that no two wait for each other."""
        named = list(game_ids)
        known = self.states.known(named)
        rows = await self.connection.fetch(
            _LOCK, named, [known[name][0] if name in known else 0 for name in named]
        )
        found: dict[UUID, Row] = {}
        for row in rows:
            game_id, version = row["game_id"], row["version"]
            if row["state"] is None:
                state = known[game_id][1]
            else:
                state = codec.read(row["state"])
                self.states.keep(game_id, version, state)
            found[game_id] = Row(game_id, version, row["heard"], row["sequence"], state, row["now"])
        return found

    async def write(self, writes: Sequence[Write]) -> None:
        """Write clocks and what they announce. Raises ConflictError if one of them is another."""
        known = [write for write in writes if write.row is not None]
        fresh = [write for write in writes if write.row is None]
        for statement, some in ((_UPDATE, known), (_INSERT, fresh)):
            done = await _write(self.connection, statement, some)
            if len(done) != len(some):
                raise ConflictError(f"{len(some) - len(done)} clocks have changed")

    async def put_off(self, resting: Sequence[tuple[Row, float]]) -> None:
        """Clocks that have not changed are looked at when they are next due, not before so many
        seconds."""
        if not resting:
            return
        await self.connection.execute(
            _PUT_OFF,
            [row.game_id for row, _ in resting],
            [
                None if at is None else wire.moment(at)
                for at in (
                    due_at(row.state, row.next_deadline, row.now, seconds)
                    for row, seconds in resting
                )
            ],
        )


class Clocks:
    """All clocks of the house."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._states = States()

    def keep(self, row: Row) -> None:
        """A clock as it was committed: whoever locks it next need not read it."""
        self._states.keep(row.game_id, row.version, row.state)

    @asynccontextmanager
    async def transaction(self) -> AsyncIterator[Work]:
        """Committed at the end of the block, rolled back if it raises."""
        async with self._store.transaction() as connection:
            yield Work(connection, self._states)

    async def write_unchanged(self, writes: Sequence[Write]) -> set[UUID]:
        """Write those clocks that are still as they were read, with what they announce; which."""
        async with self._store.acquire() as connection:
            return await _write(connection, _UPDATE, writes)

    async def load(self, game_id: UUID) -> Row | None:
        """The clock of a game."""
        async with self._store.acquire() as connection:
            row = await connection.fetchrow(
                f"SELECT {COLUMNS} FROM clocks WHERE game_id = $1", game_id
            )
        return None if row is None else row_of(row)

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
        return [row_of(row) for row in rows]

    async def due(self, limit: int, rest: float) -> list[Due]:
        """Clocks of which something is due; no other replica gets them within `rest` seconds."""
        async with self._store.acquire() as connection:
            rows = await connection.fetch(_DUE, limit, timedelta(seconds=rest))
        found = [
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
        for due in found:
            self.keep(due)
        return found

    async def next_due(self) -> float | None:
        """In how many seconds the next one is due."""
        async with self._store.acquire() as connection:
            seconds: float | None = await connection.fetchval(_NEXT_DUE)
        return seconds

    async def open_ids(self, replica: str | None = None) -> list[UUID]:
        """The games that are not over, or those of them of which a replica has a stream."""
        async with self._store.acquire() as connection:
            rows = await connection.fetch(
                f"SELECT game_id FROM {_OPEN}"
                " WHERE ($1::text IS NULL OR $1 = ANY (replicas)) ORDER BY game_id",
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


async def _write(connection: Connection, statement: str, writes: Sequence[Write]) -> set[UUID]:
    """Write those that may be written; which."""
    if not writes:
        return set()
    told = [each for write in writes for each in announcements(write)]
    kept = [
        (write.game_id, each) for write in writes for each in write.told if isinstance(each, Kept)
    ]
    done = await connection.fetch(
        statement,
        *columns(writes),
        [each.id for each in told],
        [each.key for each in told],
        [each.sequence for each in told],
        [each.type for each in told],
        [each.payload for each in told],
        [game_id for game_id, _ in kept],
        [each.turn.number for _, each in kept],
        [each.turn.seat for _, each in kept],
        [wire.moment(each.ended) for _, each in kept],
        [codec.write_turn(each.turn) for _, each in kept],
    )
    return {row["game_id"] for row in done}
