"""What operators look at: whether the books are in order, and what waits for one of them."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime
from typing import Final
from uuid import UUID

from asyncpg import Record
from kafeneio_runtime.store import Connection, Store

from kafeneio_settlement import dossiers, pool_rows, pool_storage, sealing
from kafeneio_settlement.corrections import Correction
from kafeneio_settlement.seals import START, Finding, Seal, Verified

POOL_SECONDS: Final = 86_400.0
"""A tournament that started so long ago and is not paid is shown."""
HOLD_SECONDS: Final = 600.0
"""A hold this old whose game has not started is shown: nothing ends it but whoever made it."""
LISTED: Final = 100
PAGE: Final = 2000

_TOTALS: Final = """
    SELECT currency,
        coalesce(sum(balance) FILTER (WHERE player AND balance > 0), 0)::bigint AS wallets,
        coalesce(-sum(balance) FILTER (WHERE player AND balance < 0), 0)::bigint AS owed,
        coalesce(sum(balance) FILTER (WHERE starts_with(account, 'escrow:')), 0)::bigint AS escrows,
        coalesce(sum(balance) FILTER (WHERE account = 'house:fees'), 0)::bigint AS fees,
        coalesce(-sum(balance) FILTER (WHERE account = 'external:cashier'), 0)::bigint AS paid_in,
        sum(balance)::bigint AS total
    FROM (SELECT *, starts_with(account, 'player:') AS player FROM accounts) AS each
    GROUP BY currency ORDER BY currency
"""
_GAMES: Final = """
    SELECT g.*, least(finished_at, closed_at) AS over_at, a.balance AS escrow
    FROM games g LEFT JOIN accounts a
         ON a.account = 'escrow:' || g.game_id AND a.currency = g.currency
"""
_UNSETTLED: Final = f"{_GAMES} WHERE state IN ('pending', 'mismatch') ORDER BY over_at LIMIT $1"
_OLD: Final = "state = 'held' AND held_at < clock_timestamp() - make_interval(secs => $1)"
_OLD_HOLDS: Final = f"{_GAMES} WHERE {_OLD} ORDER BY held_at LIMIT $2"
# What each tournament that is not paid yet should have in escrow: the fees of its entries.
_OPEN_POOLS: Final = """
    SELECT p.tournament_id, p.currency, 'escrow:' || p.tournament_id AS account,
        coalesce(p.starts_at, p.at) AS since, held.entries,
        p.entry_fee * p.players_per_entry * held.entries AS fees
    FROM prize_pools p CROSS JOIN LATERAL (
        SELECT count(*) AS entries FROM pool_entries e
        WHERE e.tournament_id = p.tournament_id AND NOT EXISTS (SELECT FROM pool_releases r
            WHERE r.tournament_id = e.tournament_id AND r.entry_id = e.entry_id)
    ) AS held
    WHERE NOT EXISTS (SELECT FROM pool_settlements s WHERE s.tournament_id = p.tournament_id)
"""
_OVERDUE_POOLS: Final = f"""
    FROM ({_OPEN_POOLS}) AS pool WHERE since < clock_timestamp() - make_interval(secs => $1)
"""
_POOL_STATE: Final = """
    SELECT CASE WHEN s.void THEN 'void' ELSE 'settled' END FROM pool_settlements s
    WHERE a.account = 'escrow:' || s.tournament_id ORDER BY version DESC LIMIT 1
"""
# What is in the escrow of a game or tournament that waits for nothing, or of none at all; and that
# of a tournament that is not what it should be.
_ORPHANED: Final = f"""
    FROM (
        SELECT a.account, a.currency, a.balance, coalesce(g.state, ({_POOL_STATE}), '') AS state
        FROM accounts a LEFT JOIN games g
             ON a.account = 'escrow:' || g.game_id AND a.currency = g.currency
        WHERE starts_with(a.account, 'escrow:') AND a.balance <> 0
          AND (g.game_id IS NULL OR g.state IN ('released', 'settled'))
          AND NOT EXISTS (SELECT FROM ({_OPEN_POOLS}) AS p
              WHERE a.account = p.account AND a.currency = p.currency)
        UNION ALL
        SELECT account, currency, coalesce(a.balance, 0), 'open'
        FROM ({_OPEN_POOLS}) AS pool LEFT JOIN accounts a USING (account, currency)
        WHERE coalesce(a.balance, 0) <> pool.fees
    ) AS orphan
"""
_OUTBOX: Final = """
    SELECT count(*) AS pending, coalesce(extract(epoch FROM clock_timestamp() - min(occurred_at)),
           0)::float8 AS age FROM outbox WHERE published_at IS NULL
"""


@dataclass(frozen=True, slots=True)
class Totals:
    """Where the money of one currency is, in its smallest units; `total` is nothing unless we are
    wrong."""

    currency: str
    wallets: int
    owed: int
    escrows: int
    fees: int
    paid_in: int
    total: int


@dataclass(frozen=True, slots=True)
class Waiting:
    """A game whose money waits, since when, and for which witnesses."""

    game_id: UUID
    state: str
    problem: str
    since: datetime
    awaited: tuple[str, ...]
    currency: str
    escrow: int | None


@dataclass(frozen=True, slots=True)
class Orphan:
    """Money in an escrow that nobody waits for; `state` is that of its game or tournament, if there
    is one."""

    account: str
    currency: str
    balance: int
    state: str


@dataclass(frozen=True, slots=True)
class WaitingPool:
    """A tournament that should have been paid: since when it has gone on, how many entries are
    held, and their fees."""

    tournament_id: UUID
    since: datetime
    entries: int
    currency: str
    escrow: int


@dataclass(frozen=True, slots=True)
class Outbox:
    """What is written and not published, and for how long the oldest of it."""

    pending: int
    age_seconds: float


@dataclass(frozen=True, slots=True)
class Report:
    """Everything, as of one moment or nearly. Each pair is (how many, the oldest of them)."""

    at: datetime
    totals: list[Totals]
    unsettled: tuple[int, list[Waiting]]
    old_holds: tuple[int, list[Waiting]]
    orphans: tuple[int, list[Orphan]]
    outbox: Outbox
    sealed: Seal
    unsealed: int
    verified: Seal
    faults: int
    corrections: tuple[int, list[Correction]]
    overdue_pools: tuple[int, list[WaitingPool]]
    pool_corrections: tuple[int, list[tuple[UUID, pool_rows.Correction]]]

    @property
    def imbalance(self) -> int:
        """By how much the accounts don't sum to zero."""
        return imbalance(self.totals)


def imbalance(totals: list[Totals]) -> int:
    """By how much the accounts don't sum to zero, over all currencies; zero unless we are wrong."""
    return sum(abs(each.total) for each in totals)


@dataclass(slots=True)
class Books:
    """Looks at the books. `verified` and `faults` are those of the round of verification that runs
    here, again and again; `step` does a page of it."""

    store: Store
    verified: Seal = START
    faults: int = 0
    _at: Seal = START
    _findings: list[Finding] = field(default_factory=list)

    async def verify(self, start: Seal, size: int) -> Verified:
        """A page of the chain."""
        async with self.store.snapshot() as connection:
            return await sealing.verify_page(connection, start, size)

    async def step(self) -> Verified:
        """The next page of the round, each seal held against the one that was seen before it; after
        the last page the next round begins."""
        page = await self.verify(self._at, PAGE)
        if not self._findings and (page.findings or page.verified.number > self.verified.number):
            self.verified = page.verified
        self._findings += page.findings
        self._at = page.end
        self.faults = max(self.faults, len(self._findings))
        if page.complete:
            self.faults = len(self._findings)
            self._findings, self._at = [], START
        return page

    async def totals(self) -> list[Totals]:
        """Where the money is."""
        async with self.store.acquire() as connection:
            return await _totals(connection)

    async def outbox(self) -> Outbox:
        """How far the announcements are behind."""
        async with self.store.acquire() as connection:
            return await _outbox(connection)

    async def old_holds(self, seconds: float) -> list[Waiting]:
        """Holds that are older and whose game has not started, the oldest first."""
        async with self.store.acquire() as connection:
            rows = await connection.fetch(_OLD_HOLDS, seconds, 10 * LISTED)
        return [_waiting(row, row["held_at"]) for row in rows]

    async def count_overdue_pools(self) -> int:
        """How many tournaments should have been paid."""
        async with self.store.acquire() as connection:
            return await _count_overdue_pools(connection)

    async def count_orphans(self) -> int:
        """How many escrows hold money that nobody waits for."""
        async with self.store.acquire() as connection:
            found: int = await connection.fetchval(f"SELECT count(*) {_ORPHANED}")
        return found

    async def sealed(self) -> Seal:
        """The end of the chain."""
        async with self.store.acquire() as connection:
            return await sealing.last_seal(connection)

    async def report(self) -> Report:
        """All of it."""
        async with self.store.snapshot() as connection:
            unsettled = await connection.fetch(_UNSETTLED, LISTED)
            old = await connection.fetch(_OLD_HOLDS, HOLD_SECONDS, LISTED)
            orphans = await connection.fetch(
                f"SELECT account, currency, balance, state {_ORPHANED}"
                f" ORDER BY account LIMIT {LISTED}"
            )
            overdue = await connection.fetch(
                "SELECT tournament_id, since, entries, currency, fees"
                f" {_OVERDUE_POOLS} ORDER BY since LIMIT {LISTED}",
                POOL_SECONDS,
            )
            return Report(
                at=await sealing.database_time(connection),
                totals=await _totals(connection),
                unsettled=(
                    await connection.fetchval(
                        "SELECT count(*) FROM games WHERE state IN ('pending', 'mismatch')"
                    ),
                    [_waiting(row, row["over_at"]) for row in unsettled],
                ),
                old_holds=(
                    await connection.fetchval(
                        f"SELECT count(*) FROM games WHERE {_OLD}", HOLD_SECONDS
                    ),
                    [_waiting(row, row["held_at"]) for row in old],
                ),
                orphans=(
                    await connection.fetchval(f"SELECT count(*) {_ORPHANED}"),
                    [Orphan(*row) for row in orphans],
                ),
                outbox=await _outbox(connection),
                sealed=await sealing.last_seal(connection),
                unsealed=await sealing.count_unsealed(connection),
                verified=self.verified,
                faults=self.faults,
                corrections=await dossiers.open_corrections(connection, LISTED),
                overdue_pools=(
                    await _count_overdue_pools(connection),
                    [WaitingPool(*row) for row in overdue],
                ),
                pool_corrections=await pool_storage.open_corrections(connection, LISTED),
            )


async def _totals(connection: Connection) -> list[Totals]:
    return [Totals(*row) for row in await connection.fetch(_TOTALS)]


async def _count_overdue_pools(connection: Connection) -> int:
    found: int = await connection.fetchval(f"SELECT count(*) {_OVERDUE_POOLS}", POOL_SECONDS)
    return found


async def _outbox(connection: Connection) -> Outbox:
    row = await connection.fetchrow(_OUTBOX)
    assert row is not None, "a count is always there"
    return Outbox(row["pending"], max(0.0, row["age"]))


def _waiting(row: Record, since: datetime) -> Waiting:
    silent = {"rules": row["finished"] is None, "clock": row["closed"] is None}
    return Waiting(
        game_id=row["game_id"],
        state=row["state"],
        problem=row["problem"] or "",
        since=since,
        awaited=tuple(name for name, missing in silent.items() if missing),
        currency=row["currency"] or "",
        escrow=row["escrow"],
    )
