"""Seals in PostgreSQL: the one sealer, and the look whether everything is as it was sealed.

A transaction gets its seal a moment after its commit. One that committed late, behind younger ones
that are sealed already, simply comes later in the chain.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Final
from uuid import UUID

from asyncpg import Record
from kafeneio_runtime.failpoints import failpoint
from kafeneio_runtime.store import Connection, Store

from kafeneio_settlement.seals import (
    MOST_FAULTS,
    START,
    Fault,
    Finding,
    Seal,
    Sealed,
    Verified,
    Written,
    chained,
    verify,
)

BATCH: Final = 500
LATE_SECONDS: Final = 60.0
"""Longer than any transaction lasts: none that is older commits any more."""

_ALONE: Final = "SELECT pg_try_advisory_xact_lock(hashtext('kafeneio settlement seals'))"
_LAST: Final = "SELECT number, hash FROM seals ORDER BY number DESC LIMIT 1"
_UNSEALED: Final = """
    FROM transactions t WHERE {young} NOT EXISTS (
        SELECT FROM seals s WHERE s.transaction_id = t.transaction_id)
"""
_YOUNG: Final = f"t.at > clock_timestamp() - make_interval(secs => {LATE_SECONDS}) AND"
_OLD: Final = f"t.at < clock_timestamp() - make_interval(secs => {LATE_SECONDS}) AND"
_PENDING: Final = "SELECT t.* {which} ORDER BY t.at, t.transaction_id LIMIT {limit}"
_LATEST: Final = _PENDING.format(which=_UNSEALED.format(young=_YOUNG), limit=BATCH)
_ALL: Final = _PENDING.format(which=_UNSEALED.format(young=""), limit=BATCH)
_FORGOTTEN: Final = _PENDING.format(which=_UNSEALED.format(young=_OLD), limit=MOST_FAULTS)
_COUNT: Final = "SELECT count(*) " + _UNSEALED.format(young="")
_SEAL: Final = """
    INSERT INTO seals (number, transaction_id, hash)
    SELECT * FROM unnest($1::bigint[], $2::uuid[], $3::bytea[])
"""
_PAGE: Final = """
    SELECT s.number, s.hash, s.transaction_id AS sealed, t.*
    FROM seals s LEFT JOIN transactions t USING (transaction_id)
    WHERE s.number > $1 ORDER BY s.number LIMIT $2
"""
_TRANSFERS: Final = """
    SELECT transaction_id, position, currency, debit_account, credit_account, amount,
           debit_version, debit_balance, credit_version, credit_balance
    FROM transfers WHERE transaction_id = ANY ($1::uuid[]) ORDER BY transaction_id, position
"""
_ACCOUNTS: Final = """
    WITH sides AS (
        SELECT debit_account AS account, currency, debit_version AS version,
               debit_balance AS balance, -amount AS amount FROM transfers
        UNION ALL
        SELECT credit_account, currency, credit_version, credit_balance, amount FROM transfers
    ), chain AS (
        SELECT *, lag(version, 1, 0::bigint) OVER w AS version_before,
               lag(balance, 1, 0::bigint) OVER w AS balance_before,
               lead(version) OVER w IS NULL AS last
        FROM sides WINDOW w AS (PARTITION BY account, currency ORDER BY version)
    )
    SELECT account FROM chain
    WHERE version <> version_before + 1 OR balance <> balance_before + amount
    UNION
    SELECT account FROM accounts a
    FULL JOIN (SELECT * FROM chain WHERE last) AS c USING (account, currency)
    WHERE coalesce(a.version, 0) <> coalesce(c.version, 0)
       OR coalesce(a.balance, 0) <> coalesce(c.balance, 0)
    ORDER BY account LIMIT $1
"""


async def seal_some(store: Store, *, everything: bool) -> int:
    """Seal what was committed lately, or `everything` that is not sealed; how many seals were made.
    As many as BATCH: there is more. None where somebody else is at it."""
    async with store.transaction() as connection:
        if not await connection.fetchval(_ALONE):
            return 0
        rows = await connection.fetch(_ALL if everything else _LATEST)
        if not rows:
            return 0
        transactions = await _written(connection, rows)
        seals = chained(await last_seal(connection), transactions)
        await connection.execute(
            _SEAL,
            [seal.number for seal in seals],
            [written.transaction_id for written in transactions],
            [seal.hash for seal in seals],
        )
        failpoint("settlement.seal.before_commit")
    failpoint("settlement.seal.committed")
    return len(seals)


async def last_seal(connection: Connection) -> Seal:
    """The end of the chain."""
    row = await connection.fetchrow(_LAST)
    return START if row is None else Seal(row["number"], row["hash"])


async def count_unsealed(connection: Connection) -> int:
    """How many transactions have no seal yet."""
    found: int = await connection.fetchval(_COUNT)
    return found


async def _written(connection: Connection, rows: Sequence[Record]) -> list[Written]:
    ids = [row["transaction_id"] for row in rows]
    transfers: dict[UUID, list[tuple[int | str, ...]]] = {each: [] for each in ids}
    for name, *values in await connection.fetch(_TRANSFERS, ids):
        transfers[name].append(tuple(values))
    return [
        Written(
            row["transaction_id"],
            row["kind"],
            row["currency"],
            row["game_id"],
            row["at"],
            tuple(transfers[row["transaction_id"]]),
            row["tournament_id"],
        )
        for row in rows
    ]


async def verify_page(connection: Connection, start: Seal, size: int) -> Verified:
    """Look at up to `size` seals after `start`, and after the last one at what has no seal and at
    the accounts. The hash of `start` is what the caller has seen; empty to trust what is there."""
    stored = await _stored(connection, start.number)
    findings: list[Finding] = []
    if stored is None or (start.hash and start.hash != stored.hash):
        findings.append(Finding(Fault.REWRITTEN, start.number))
    begin = stored or start
    rows = await connection.fetch(_PAGE, start.number, size)
    written = await _written(connection, [row for row in rows if row["kind"] is not None])
    by_id = {each.transaction_id: each for each in written}
    good, end, wrong = verify(
        begin,
        [
            Sealed(Seal(row["number"], row["hash"]), row["sealed"], by_id.get(row["sealed"]))
            for row in rows
        ],
    )
    verified = Seal(0, b"") if findings else good
    findings += wrong
    complete = len(rows) < size
    if complete:
        findings += await _loose_ends(connection)
    return Verified(verified, end, tuple(findings), complete)


async def _stored(connection: Connection, number: int) -> Seal | None:
    if number == START.number:
        return START
    row = await connection.fetchrow("SELECT number, hash FROM seals WHERE number = $1", number)
    return None if row is None else Seal(row["number"], row["hash"])


async def _loose_ends(connection: Connection) -> list[Finding]:
    """Transactions without a seal, and accounts that are not what their transfers make of them: in
    a snapshot, because accounts move while one looks."""
    forgotten = await connection.fetch(_FORGOTTEN)
    accounts = await connection.fetch(_ACCOUNTS, MOST_FAULTS)
    return [
        *(Finding(Fault.UNSEALED, 0, row["transaction_id"]) for row in forgotten),
        *(Finding(Fault.ACCOUNT, account=row["account"]) for row in accounts),
    ]


async def database_time(connection: Connection) -> datetime:
    """The database's time."""
    at: datetime = await connection.fetchval("SELECT clock_timestamp()")
    return at
