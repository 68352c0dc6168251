"""The ledger in PostgreSQL: accounts, and the transfers between them.

Accounts are locked in one order, whoever comes, so that of two movements one waits for the other
and never both. Then the domain does the sums, and one statement writes the transfers with what they
make of their accounts: there is no moment, and no statement, in which a balance is without them.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Final
from uuid import UUID

from asyncpg import Record
from kafeneio_runtime.store import Connection

from kafeneio_settlement import domain
from kafeneio_settlement.domain import Account, Kind, Movement, Standing
from kafeneio_settlement.literals import texts

_MAKE: Final = """
    INSERT INTO accounts (account, currency)
    SELECT account, currency FROM unnest($1::text::text[], $2::text::text[]) WITH ORDINALITY
           AS wanted(account, currency, place)
    WHERE NOT EXISTS (
        SELECT FROM accounts a WHERE a.account = wanted.account AND a.currency = wanted.currency
    )
    ORDER BY place
    ON CONFLICT DO NOTHING
"""
_LOCK: Final = """
    SELECT a.account, a.currency, a.balance, a.version
    FROM unnest($1::text::text[], $2::text::text[]) WITH ORDINALITY
         AS wanted(account, currency, place)
    JOIN accounts a USING (account, currency)
    ORDER BY place
    FOR UPDATE OF a
"""
_WRITE: Final = """
    WITH moment AS MATERIALIZED (SELECT clock_timestamp() AS at),
    moved AS (
        INSERT INTO transactions (transaction_id, kind, currency, game_id, tournament_id, at)
        SELECT row.*, moment.at
        FROM moment, unnest($1::uuid[], $2::text::text[], $3::text::text[], $4::uuid[],
                            $19::uuid[]) AS row
    ), posted AS (
        INSERT INTO transfers (transaction_id, position, currency, debit_account, credit_account,
            amount, debit_version, debit_balance, credit_version, credit_balance)
        SELECT * FROM unnest($5::uuid[], string_to_array($6, ' ')::smallint[], $7::text::text[],
            $8::text::text[], $9::text::text[], string_to_array($10, ' ')::bigint[],
            string_to_array($11, ' ')::bigint[], string_to_array($12, ' ')::bigint[],
            string_to_array($13, ' ')::bigint[], string_to_array($14, ' ')::bigint[])
    ), balanced AS (
        UPDATE accounts a SET balance = row.balance, version = row.version
        FROM unnest($15::text::text[], $16::text::text[], string_to_array($17, ' ')::bigint[],
                    string_to_array($18, ' ')::bigint[])
             AS row(account, currency, balance, version)
        WHERE a.account = row.account AND a.currency = row.currency AND a.version < row.version
        RETURNING 1
    )
    SELECT moment.at, (SELECT count(*) FROM balanced) AS accounts FROM moment
"""
_ENTRIES: Final = """
    SELECT found.*, kind, game_id, tournament_id, at FROM (
        (SELECT transaction_id, debit_version AS version, -amount AS amount,
                debit_balance AS balance
         FROM transfers
         WHERE debit_account = $1 AND currency = $2 AND debit_version > $3 AND debit_version < $4
         ORDER BY debit_version {order} LIMIT $5)
        UNION ALL
        (SELECT transaction_id, credit_version, amount, credit_balance
         FROM transfers
         WHERE credit_account = $1 AND currency = $2 AND credit_version > $3
           AND credit_version < $4
         ORDER BY credit_version {order} LIMIT $5)
    ) AS found JOIN transactions USING (transaction_id)
    ORDER BY version {order} LIMIT $5
"""
_OLDEST_FIRST: Final = _ENTRIES.format(order="ASC")
_NEWEST_FIRST: Final = _ENTRIES.format(order="DESC")
_BEYOND: Final = 2**63 - 1


@dataclass(frozen=True, slots=True)
class Entry:
    """One change of an account, as its owner sees it."""

    version: int
    transaction_id: UUID
    kind: Kind
    amount: int
    balance: int
    game_id: UUID | None
    at: datetime
    tournament_id: UUID | None = None


async def post(connection: Connection, movements: Sequence[Movement]) -> datetime:
    """Do movements, all or none, in the caller's transaction; the time of it.

    Raises what `domain.post` raises, with nothing written, and UniqueViolationError where one of
    them was done before.
    """
    wanted = sorted(set().union(*(movement.accounts for movement in movements)))
    names = _columns(wanted)
    if new := sorted(set().union(*(movement.opened for movement in movements))):
        # Before any lock is held: whoever makes the same account meanwhile is waited for here.
        await connection.execute(_MAKE, *_columns(new))
    rows = await connection.fetch(_LOCK, *names)
    if len(rows) < len(wanted):  # a hold of an older release; or somebody has too little: nothing
        await connection.execute(_MAKE, *names)
        rows = await connection.fetch(_LOCK, *names)
    standings = dict.fromkeys(wanted, Standing())
    for name, currency, balance, version in rows:
        standings[Account(name, currency)] = Standing(balance, version)
    postings, after = domain.post(standings, movements)
    written = await connection.fetchrow(
        _WRITE,
        [movement.id for movement in movements],
        texts(movement.kind.value for movement in movements),
        texts(movement.currency for movement in movements),
        [movement.game_id for movement in movements],
        [posting.movement.id for posting in postings],
        _numbers(posting.position for posting in postings),
        texts(posting.movement.currency for posting in postings),
        texts(posting.transfer.debit for posting in postings),
        texts(posting.transfer.credit for posting in postings),
        _numbers(posting.transfer.amount for posting in postings),
        _numbers(posting.debited.version for posting in postings),
        _numbers(posting.debited.balance for posting in postings),
        _numbers(posting.credited.version for posting in postings),
        _numbers(posting.credited.balance for posting in postings),
        *names,
        _numbers(after[account].balance for account in wanted),
        _numbers(after[account].version for account in wanted),
        [movement.tournament_id for movement in movements],
    )
    assert written is not None, "there is always a moment"
    if written["accounts"] != len(wanted):
        raise RuntimeError("an account was changed while it was locked")
    at: datetime = written["at"]
    return at


def _numbers(values: Iterable[int]) -> str:
    """Numbers as one text, which costs a tenth of an array of them."""
    return " ".join(map(str, values))


def _columns(accounts: Sequence[Account]) -> tuple[str, str]:
    names = texts(account.name for account in accounts)
    return names, texts(account.currency for account in accounts)


async def standing(connection: Connection, account: Account) -> Standing:
    """Where an account stands; nothing where there is none."""
    row = await connection.fetchrow(
        "SELECT balance, version FROM accounts WHERE account = $1 AND currency = $2",
        account.name,
        account.currency,
    )
    return Standing() if row is None else Standing(row["balance"], row["version"])


async def accounts_of(connection: Connection, name: str) -> list[tuple[str, Standing]]:
    """What is in one place, by currency."""
    rows = await connection.fetch(
        "SELECT currency, balance, version FROM accounts"
        " WHERE account = $1 AND version > 0 ORDER BY currency",
        name,
    )
    return [(row["currency"], Standing(row["balance"], row["version"])) for row in rows]


async def entries_after(
    connection: Connection, account: Account, version: int, limit: int
) -> list[Entry]:
    """The entries after a version, the oldest first."""
    rows = await connection.fetch(
        _OLDEST_FIRST, account.name, account.currency, version, _BEYOND, limit
    )
    return [_entry(row) for row in rows]


async def entries_before(
    connection: Connection, account: Account, version: int | None, limit: int
) -> list[Entry]:
    """The entries before a version, or all, the newest first."""
    before = _BEYOND if version is None else version
    rows = await connection.fetch(_NEWEST_FIRST, account.name, account.currency, 0, before, limit)
    return [_entry(row) for row in rows]


def _entry(row: Record) -> Entry:
    return Entry(
        row["version"],
        row["transaction_id"],
        Kind(row["kind"]),
        row["amount"],
        row["balance"],
        row["game_id"],
        row["at"],
        row["tournament_id"],
    )
