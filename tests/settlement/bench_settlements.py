"""Settlements per second, from the events to the commit, beside the same rows by bare SQL."""

from __future__ import annotations

import asyncio
import os
import time
from collections.abc import Awaitable, Callable, Sequence
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from uuid import UUID, uuid5

import uvloop
from kafeneio_runtime.bus import Event
from kafeneio_runtime.ids import new_id
from kafeneio_runtime.postgres import EmbeddedPostgres
from kafeneio_runtime.serve import spare_the_collector
from kafeneio_runtime.store import Store
from kafeneio_settlement import domain, ledger
from kafeneio_settlement.domain import Hold
from kafeneio_settlement.main import migrate_database
from kafeneio_settlement.names import SCHEMA
from kafeneio_settlement.settling import Settling
from kafeneio_settlement.storage import Work

from tests.settlement.house import Says

GAMES = 2000
BATCH = 200
ROUNDS = 5
PLAYERS = 400
"""Of GAMES games, so that batches touch some wallets twice."""
STAKE, FEE = 100, 500

_WITNESSED = """
    UPDATE games SET seated = players, finished = row.finished::jsonb, finished_at = now(),
        closed = row.closed::jsonb, closed_at = now(), state = 'pending'
    FROM unnest($1::uuid[], $2::text[], $3::text[]) AS row(game_id, finished, closed)
    WHERE games.game_id = row.game_id
"""
_INBOX = "INSERT INTO inbox (consumer, event_id) SELECT $1, unnest($2::uuid[])"
_MONEY = """
    WITH moved AS (
        INSERT INTO transactions (transaction_id, kind, currency, game_id, at)
        SELECT id, 'payout', 'EUR', game_id, now() FROM unnest($1::uuid[], $2::uuid[])
               AS row(id, game_id)
    ), posted AS (
        INSERT INTO transfers (transaction_id, position, currency, debit_account, credit_account,
            amount, debit_version, debit_balance, credit_version, credit_balance)
        SELECT id, position, 'EUR', debit, credit, amount, debit_version, debit_balance,
               credit_version, credit_balance
        FROM unnest($3::uuid[], $4::smallint[], $5::text[], $6::text[], $7::bigint[],
                    $8::bigint[], $9::bigint[], $10::bigint[], $11::bigint[])
             AS row(id, position, debit, credit, amount, debit_version, debit_balance,
                    credit_version, credit_balance)
    )
    UPDATE accounts SET balance = row.balance, version = row.version
    FROM unnest($12::text[], $13::bigint[], $14::bigint[]) AS row(account, balance, version)
    WHERE accounts.account = row.account AND accounts.currency = 'EUR'
"""
_SETTLED = """
    WITH settled AS (
        INSERT INTO settlements (game_id, version, payout_rule, rule_version, void, shares, fee,
                                 transaction_id, at)
        SELECT game_id, 1, 'S4', 1, false, ARRAY[190, 0], 10, id, now()
        FROM unnest($1::uuid[], $2::uuid[]) AS row(game_id, id)
    ), announced AS (
        INSERT INTO outbox (event_id, subject_id, sequence, type, payload)
        SELECT event_id, game_id, 2, 'game_settled', payload
        FROM unnest($1::uuid[], $3::uuid[], $4::bytea[]) AS row(game_id, event_id, payload)
    )
    UPDATE games SET state = 'settled', announced = 2 WHERE game_id = ANY ($1::uuid[])
"""

Settle = Callable[[Store, Sequence[UUID]], Awaitable[None]]


def seats(number: int) -> tuple[str, str]:
    """Who plays the game of that number."""
    return f"p{number % PLAYERS}", f"p{(number + 1) % PLAYERS}"


async def held(store: Store) -> list[UUID]:
    """Games with their stakes in escrow."""
    games = [new_id() for _ in range(GAMES)]
    async with store.transaction() as connection:
        work = Work(connection)
        for start in range(0, GAMES, BATCH):
            movements = []
            for number in range(start, start + BATCH):
                hold = Hold(seats(number), "EUR", STAKE, FEE)
                await work.hold(games[number], hold)
                movements.append(domain.hold_movement(games[number], hold))
            await ledger.post(connection, movements)
    return games


async def by_service(store: Store, games: Sequence[UUID]) -> None:
    """The events of both witnesses, in batches as the bus hands them on."""
    settling = Settling(store, lambda accounts: None)
    batches: list[tuple[list[Event], list[Event]]] = []
    for start in range(0, GAMES, BATCH):
        rules: list[Event] = []
        clock: list[Event] = []
        for number in range(start, start + BATCH):
            says = Says(str(games[number]))
            rules += [says.started(seats(number)), says.finished()]
            clock.append(says.closed())
        batches.append((rules, clock))
    told = [asyncio.Event() for _ in batches]

    async def by_rules() -> None:
        for (events, _), done in zip(batches, told, strict=True):
            await settling.hear_rules(events)
            done.set()

    async def by_clock() -> None:
        # It closes its side when it has heard `rules`; the two consumers run side by side.
        for (_, events), done in zip(batches, told, strict=True):
            await done.wait()
            await settling.hear_clock(events)

    begin = started()
    await asyncio.gather(by_rules(), by_clock())
    RATES["service"].append(GAMES / (time.perf_counter() - begin))


def started() -> float:
    """Now, without what was prepared in the way of the collector."""
    spare_the_collector()
    return time.perf_counter()


async def by_sql(store: Store, games: Sequence[UUID]) -> None:
    """The same rows, all sums done before, without looking at anything."""
    async with store.acquire() as connection:
        rows = await connection.fetch("SELECT account, balance, version FROM accounts")
    standing = {row["account"]: (row["balance"], row["version"]) for row in rows}

    def moved(account: str, amount: int) -> tuple[int, int]:
        balance, version = standing[account]
        standing[account] = (balance + amount, version + 1)
        return standing[account]

    prepared = []
    for start in range(0, GAMES, BATCH):
        ids = games[start : start + BATCH]
        names = [uuid5(game_id, "settlement 1") for game_id in ids]
        transfers = []
        for number, (game_id, name) in enumerate(zip(ids, names, strict=True), start):
            escrow = f"escrow:{game_id}"
            for place, (credit, amount) in enumerate(
                ((f"player:{seats(number)[0]}", 190), ("house:fees", 10))
            ):
                debited, credited = moved(escrow, -amount), moved(credit, amount)
                transfers.append(
                    (name, place, escrow, credit, amount, *debited[::-1], *credited[::-1])
                )
        touched = sorted({each[2] for each in transfers} | {each[3] for each in transfers})
        prepared.append((ids, names, transfers, touched, [standing[each] for each in touched]))
    begin = started()
    for ids, names, transfers, touched, after in prepared:
        async with store.transaction() as connection:
            await connection.execute(_INBOX, "rules", [new_id() for _ in range(2 * len(ids))])
            await connection.execute(_INBOX, "clock", [new_id() for _ in ids])
            finished = '{"void": "", "score": [1, 0], "ending": "single", "variant": "portes"}'
            closed = ['{"forfeits": []}'] * len(ids)
            await connection.execute(_WITNESSED, ids, [finished] * len(ids), closed)
            await connection.execute(
                _MONEY,
                names,
                ids,
                *(list(column) for column in zip(*transfers, strict=True)),
                touched,
                [balance for balance, _ in after],
                [version for _, version in after],
            )
            await connection.execute(
                _SETTLED, ids, names, [new_id() for _ in ids], [b"x" * 150 for _ in ids]
            )
    RATES["sql"].append(GAMES / (time.perf_counter() - begin))


RATES: dict[str, list[float]] = {"service": [], "sql": []}


async def settlements() -> None:
    """Print both, and their ratio."""
    with TemporaryDirectory(prefix="kafeneio-bench-", ignore_cleanup_errors=True) as folder:
        os.chmod(folder, 0o755)  # PostgreSQL may run as a user of its own
        async with EmbeddedPostgres(Path(folder, "postgres")) as url:
            await asyncio.to_thread(migrate_database, url)
            store = await Store.open(url, SCHEMA)
            async with store.transaction() as connection:
                movements = [
                    domain.deposit(new_id(), f"p{number}", "EUR", 10_000_000)
                    for number in range(PLAYERS)
                ]
                await ledger.post(connection, movements)
                await connection.execute(
                    "INSERT INTO accounts (account, currency) VALUES ('house:fees', 'EUR')"
                )
            for _ in range(ROUNDS):
                for settle in (by_service, by_sql):
                    await settle(store, await held(store))
            await store.close()
    service, sql = median(RATES["service"]), median(RATES["sql"])
    print(f"settlements/s: {service:,.0f}; the same rows by bare SQL: {sql:,.0f}")
    print(f"ratio: {service / sql:.2f} (to reach: 0.5)")


if __name__ == "__main__":
    uvloop.run(settlements())  # as in a house
