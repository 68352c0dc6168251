"""What the database itself refuses, whoever asks."""

from __future__ import annotations

from collections.abc import Iterator

import asyncpg
import pytest
from kafeneio_runtime.migrations import drift
from kafeneio_runtime.store import connect
from kafeneio_settlement import main
from kafeneio_settlement.names import ROLE, SCHEMA
from kafeneio_settlement.schema import UNCHANGEABLE, metadata

from tests.fixtures.postgres import Databases, Template
from tests.settlement.house import House, Says, new_id
from tests.settlement.tournaments import cancel, leave, propose, started


@pytest.fixture
def template_url(databases: Databases, database_template: Template) -> Iterator[str]:
    """A migrated database."""
    url = databases.create(database_template)
    yield url
    databases.drop(url)


def test_the_migrations_make_these_tables(template_url: str) -> None:
    assert drift(template_url, SCHEMA, metadata) == []


async def played(house: House) -> str:
    """A game that was paid."""
    await house.funded()
    says = Says((await house.hold(stake=10, fee=500)).game_id)
    await house.publish(says.started(), says.finished(), says.closed())
    return says.game_id


@pytest.mark.parametrize("table", UNCHANGEABLE)
async def test_nothing_that_was_written_is_changed(house: House, table: str) -> None:
    await played(house)
    before = await house.snapshot()
    column = {"settlements": "void", "transfers": "amount"}.get(table, "at")
    for statement in (
        f"UPDATE {table} SET {column} = {column}",
        f"DELETE FROM {table}",
        f"TRUNCATE {table} CASCADE",
    ):
        with pytest.raises(asyncpg.RestrictViolationError):
            await house.database.execute(statement)
    assert await house.snapshot() == before


@pytest.mark.parametrize("table", UNCHANGEABLE)
async def test_the_service_may_only_add_even_without_triggers(house: House, table: str) -> None:
    await played(house)
    before = await house.snapshot()
    url = await main.adding_only(house.url)
    assert url != house.url, "the role is there"
    column = {"settlements": "void", "transfers": "amount"}.get(table, "at")
    await house.database.execute(f"ALTER TABLE {table} DISABLE TRIGGER unchangeable")
    connection = await connect(url, SCHEMA)
    try:
        for statement in (
            f"UPDATE {table} SET {column} = {column}",
            f"DELETE FROM {table}",
            f"TRUNCATE {table} CASCADE",
            f"ALTER TABLE {table} DISABLE TRIGGER ALL",
            f"DROP TABLE {table}",
        ):
            with pytest.raises(asyncpg.InsufficientPrivilegeError):
                await connection.execute(statement)
    finally:
        await connection.close()
    await house.database.execute(f"ALTER TABLE {table} ENABLE TRIGGER unchangeable")
    assert await house.snapshot() == before


async def test_the_service_works_under_that_role(house: House) -> None:
    await played(house)  # all of it, without a right that it lacks
    connection = await connect(await main.adding_only(house.url), SCHEMA)
    assert await connection.fetchval("SELECT current_user") == ROLE
    await connection.close()


@pytest.mark.parametrize(
    "statement",
    [
        "UPDATE accounts SET balance = balance + 1, version = version + 1",
        "UPDATE accounts SET balance = balance + 1 WHERE account = 'player:eleni'",
        "UPDATE accounts SET version = version + 1 WHERE account = 'player:eleni'",
        "INSERT INTO accounts VALUES ('player:thief', 'EUR', 5, 1)",
        "DELETE FROM accounts",
        "TRUNCATE accounts",
    ],
)
async def test_no_balance_without_its_transfer(house: House, statement: str) -> None:
    await played(house)
    before = await house.snapshot()
    with pytest.raises(asyncpg.RestrictViolationError):
        await house.database.execute(statement)
    assert await house.snapshot() == before


@pytest.mark.parametrize(
    ("amount", "debit", "credit"),
    [(0, "player:eleni", "x"), (-5, "player:eleni", "x"), (5, "x", "x")],
)
async def test_what_is_no_transfer(house: House, amount: int, debit: str, credit: str) -> None:
    await played(house)
    with pytest.raises(asyncpg.CheckViolationError):
        await house.database.execute(
            "INSERT INTO transfers SELECT transaction_id, 99, 'EUR', $2, $3, $1, 99, 0, 99, 0"
            " FROM transactions LIMIT 1",
            amount,
            debit,
            credit,
        )
    assert await house.database.fetchval("SELECT max(position) FROM transfers") < 99


@pytest.mark.parametrize("account", ["house:fees", "escrow:x", "elsewhere"])
async def test_nobody_goes_below_zero(house: House, account: str) -> None:
    with pytest.raises(asyncpg.CheckViolationError):
        await house.database.execute("INSERT INTO accounts VALUES ($1, 'EUR', -1, 1)", account)
    assert await house.database.fetchval("SELECT count(*) FROM accounts") == 0


MOVED = """
    WITH moved AS (
        INSERT INTO transactions (transaction_id, kind, currency, at)
        VALUES ('01980000-0000-7000-8000-0000000000ff', $2, 'EUR', now())
    ), posted AS (
        INSERT INTO transfers VALUES
            ('01980000-0000-7000-8000-0000000000ff', 0, 'EUR', $1, 'external:cashier', 5,
             1, -5, 1, 5)
    )
    INSERT INTO accounts VALUES ($1, 'EUR', -5, 1), ('external:cashier', 'EUR', 5, 1)
"""


@pytest.mark.parametrize("kind", ["deposit", "withdrawal", "hold", "release", "payout"])
async def test_no_player_goes_below_zero_but_by_a_correction(house: House, kind: str) -> None:
    with pytest.raises(asyncpg.RestrictViolationError):
        await house.database.execute(MOVED, "player:eleni", kind)
    assert await house.database.fetchval("SELECT count(*) FROM accounts") == 0


@pytest.mark.parametrize("kind", ["reversal", "correction"])
async def test_a_correction_leaves_a_debt_to_players_only(house: House, kind: str) -> None:
    for account in ("escrow:x", "house:fees"):
        with pytest.raises((asyncpg.RestrictViolationError, asyncpg.CheckViolationError)):
            await house.database.execute(MOVED, account, kind)
    await house.database.execute(MOVED, "player:eleni", kind)
    house.debtors.add("player:eleni")
    owed = "SELECT balance FROM accounts WHERE account = 'player:eleni'"
    assert await house.database.fetchval(owed) == -5


async def test_a_game_is_paid_once(house: House) -> None:
    game_id = await played(house)
    before = await house.snapshot()
    with pytest.raises(asyncpg.UniqueViolationError):
        await house.database.execute(
            "INSERT INTO settlements SELECT * FROM settlements WHERE game_id = $1::text::uuid",
            game_id,
        )
    with pytest.raises(asyncpg.UniqueViolationError):
        await house.database.execute("INSERT INTO transactions SELECT * FROM transactions LIMIT 1")
    assert await house.snapshot() == before


async def tournament(house: House) -> str:
    """A tournament that two have entered, and one has left again."""
    name, (_, gone) = await started(house, (("anna",), ("babis",)))
    await leave(house, name, gone)
    return name


async def test_a_tournament_is_paid_once(house: House) -> None:
    name = await tournament(house)
    await cancel(house, name)
    before = await house.snapshot()
    with pytest.raises(asyncpg.UniqueViolationError):
        await house.database.execute("INSERT INTO pool_settlements SELECT * FROM pool_settlements")
    assert await house.snapshot() == before


async def test_nobody_enters_or_leaves_a_tournament_that_is_paid(house: House) -> None:
    name = await tournament(house)
    await cancel(house, name)
    before = await house.snapshot()
    for statement in (
        "INSERT INTO pool_entries"
        " SELECT tournament_id, gen_random_uuid(), players FROM pool_entries",
        "INSERT INTO pool_releases SELECT tournament_id, gen_random_uuid() FROM pool_entries",
    ):
        with pytest.raises(asyncpg.RestrictViolationError, match="is settled"):
            await house.database.execute(statement)
    assert await house.snapshot() == before


async def test_a_tournament_is_paid_to_the_last_unit(house: House) -> None:
    name = await tournament(house)
    before = await house.snapshot()
    with pytest.raises(asyncpg.RestrictViolationError, match="to the last unit"):
        await house.database.execute(
            "INSERT INTO pool_settlements (tournament_id, version, void, rule_version, entries,"
            " places, amounts, fee, settled_by, reason)"
            " VALUES ($1::text::uuid, 1, true, 1, '{}', '{}', '{}', 0, 'x', '')",
            name,
        )
    assert await house.snapshot() == before


async def test_a_transaction_has_one_subject(house: House) -> None:
    await house.funded("anna")
    with pytest.raises(asyncpg.CheckViolationError):
        await house.database.execute(
            "INSERT INTO transactions SELECT gen_random_uuid(), kind, currency, gen_random_uuid(),"
            " at, gen_random_uuid() FROM transactions"
        )
    assert await house.database.fetchval("SELECT count(*) FROM transactions") == 1


async def test_a_tournament_is_corrected_by_two(house: House) -> None:
    name = await tournament(house)
    await cancel(house, name)
    await propose(house, name)
    with pytest.raises(asyncpg.CheckViolationError):
        await house.database.execute(
            "INSERT INTO pool_approvals (tournament_id, number, proposed_by, approved_by, version)"
            " SELECT tournament_id, number, proposed_by, proposed_by, 1 FROM pool_corrections"
        )
    assert await house.database.fetchval("SELECT count(*) FROM pool_approvals") == 0


async def test_a_stake_has_players(house: House) -> None:
    for stake, players in ((5, None), (None, ["a", "b"]), (0, ["a", "b"]), (-5, ["a", "b"])):
        with pytest.raises(asyncpg.CheckViolationError):
            await house.database.execute(
                "INSERT INTO games (game_id, state, stake, players)"
                " VALUES ($1::text::uuid, 'held', $2, $3)",
                new_id(),
                stake,
                players,
            )
    assert await house.database.fetchval("SELECT count(*) FROM games") == 0
