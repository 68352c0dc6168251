"""The store: a schema per service, migrated by whoever comes first."""

import asyncio
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import cast

import asyncpg
import pytest
from kafeneio_runtime.errors import Refusal
from kafeneio_runtime.migrations import drift, migrate
from kafeneio_runtime.store import Pool, Reserved, Store
from kafeneio_runtime.tables import audit_table, outbox_tables
from sqlalchemy import Column, Integer, MetaData, Table

from tests.fixtures.postgres import Databases, Template

FIRST = '''"""The first table."""

import sqlalchemy as sa
from alembic import op

revision = "0001"
down_revision = None


def upgrade() -> None:
    op.create_table("cups", sa.Column("size", sa.Integer, primary_key=True))
'''
SECOND = '''"""One column more."""

import sqlalchemy as sa
from alembic import op

revision = "0002"
down_revision = "0001"


def upgrade() -> None:
    op.add_column("cups", sa.Column("sugar", sa.Integer, nullable=True))
'''
BROKEN = '''"""Fails half way."""

from alembic import op

revision = "0002"
down_revision = "0001"


def upgrade() -> None:
    op.execute("INSERT INTO cups VALUES (99)")
    op.execute("SELECT 1 / 0")
'''


@pytest.fixture
def migrations(tmp_path: Path) -> Path:
    (tmp_path / "0001_cups.py").write_text(FIRST)
    return tmp_path


@pytest.fixture
def empty_url(databases: Databases) -> str:
    return databases.create(Template("bare", lambda url: None))


async def _columns(url: str, schema: str) -> set[str]:
    store = await Store.open(url, schema, pool_size=1)
    async with store.acquire() as connection:
        rows = await connection.fetch(
            "SELECT column_name FROM information_schema.columns"
            " WHERE table_schema = $1 AND table_name = 'cups'",
            schema,
        )
    await store.close()
    return {row["column_name"] for row in rows}


def test_migrating_makes_the_schema_and_goes_on_from_where_it_was(
    empty_url: str, migrations: Path
) -> None:
    migrate(empty_url, "echo", migrations)
    assert asyncio.run(_columns(empty_url, "echo")) == {"size"}
    migrate(empty_url, "echo", migrations)
    (migrations / "0002_sugar.py").write_text(SECOND)
    migrate(empty_url, "echo", migrations)
    assert asyncio.run(_columns(empty_url, "echo")) == {"size", "sugar"}


def test_schemas_have_versions_of_their_own(empty_url: str, migrations: Path) -> None:
    migrate(empty_url, "echo", migrations)
    (migrations / "0002_sugar.py").write_text(SECOND)
    migrate(empty_url, "other", migrations)
    assert asyncio.run(_columns(empty_url, "echo")) == {"size"}
    assert asyncio.run(_columns(empty_url, "other")) == {"size", "sugar"}


def test_replicas_that_migrate_at_once_do_so_one_by_one(empty_url: str, migrations: Path) -> None:
    (migrations / "0002_sugar.py").write_text(SECOND)
    with ThreadPoolExecutor(4) as pool:
        for done in [pool.submit(migrate, empty_url, "echo", migrations) for _ in range(4)]:
            done.result()
    assert asyncio.run(_columns(empty_url, "echo")) == {"size", "sugar"}


def test_a_revision_that_fails_leaves_no_trace(empty_url: str, migrations: Path) -> None:
    (migrations / "0002_broken.py").write_text(BROKEN)
    with pytest.raises(Exception, match="division by zero"):
        migrate(empty_url, "echo", migrations)
    (migrations / "0002_broken.py").write_text(SECOND)
    migrate(empty_url, "echo", migrations)
    assert asyncio.run(_columns(empty_url, "echo")) == {"size", "sugar"}


def test_drift_finds_what_the_migrations_forgot(empty_url: str, migrations: Path) -> None:
    migrate(empty_url, "echo", migrations)
    metadata = MetaData()
    cups = Table("cups", metadata, Column("size", Integer, primary_key=True))
    assert drift(empty_url, "echo", metadata) == []
    cups.append_column(Column("sugar", Integer))
    assert len(drift(empty_url, "echo", metadata)) == 1


def test_the_shared_tables_do_not_drift(database_url: str) -> None:
    metadata = MetaData()
    outbox_tables(metadata)
    audit_table(metadata)
    assert drift(database_url, "echo", metadata) == []


async def test_a_transaction_is_kept_whole_or_not_at_all(store: Store) -> None:
    async with store.acquire() as connection:
        await connection.execute("CREATE TABLE cups (size int)")
    with pytest.raises(asyncpg.DivisionByZeroError):
        await _spill(store)
    async with store.transaction() as connection:
        await connection.execute("INSERT INTO cups VALUES (2)")
    async with store.acquire() as connection:
        assert await connection.fetchval("SELECT array_agg(size) FROM cups") == [2]


async def test_a_snapshot_is_of_one_moment_and_only_looks(store: Store) -> None:
    count = "SELECT count(*) FROM cups"
    async with store.acquire() as writer:
        await writer.execute("CREATE TABLE cups (size int)")
        async with store.snapshot() as reader:
            assert await reader.fetchval(count) == 0
            await writer.execute("INSERT INTO cups VALUES (2)")
            assert await reader.fetchval(count) == 0
            with pytest.raises(asyncpg.ReadOnlySQLTransactionError):
                await reader.execute("INSERT INTO cups VALUES (3)")
        assert await writer.fetchval(count) == 1


async def test_ping_answers(store: Store) -> None:
    await store.ping()
    assert repr(store) == "Store(echo)"


async def _spill(store: Store) -> None:
    async with store.transaction() as connection:
        await connection.execute("INSERT INTO cups VALUES (1)")
        await connection.execute("SELECT 1 / 0")


async def test_a_reserved_connection_is_kept(store: Store) -> None:
    reserved = Reserved(store)
    pids = set()
    for _ in range(5):
        async with reserved.use() as connection:
            pids.add(await connection.fetchval("SELECT pg_backend_pid()"))
    assert len(pids) == 1
    assert store.pool.get_size() - store.pool.get_idle_size() == 1
    await reserved.close()
    assert store.pool.get_size() == store.pool.get_idle_size()


async def test_a_reserved_connection_that_failed_or_broke_is_replaced(store: Store) -> None:
    reserved = Reserved(store)

    async def fail() -> None:
        async with reserved.use() as connection, connection.transaction():
            await connection.execute("SELECT 1 / 0")

    with pytest.raises(asyncpg.DivisionByZeroError):
        await fail()
    async with reserved.use() as connection:
        pid = await connection.fetchval("SELECT pg_backend_pid()")
    async with store.acquire() as other:
        await other.execute("SELECT pg_terminate_backend($1, 5000)", pid)

    async def again() -> int:
        async with reserved.use() as connection:
            number: int = await connection.fetchval("SELECT pg_backend_pid()")
        return number

    # The news that it is gone comes with the next use, or before it; then another is taken.
    first, second = await asyncio.gather(again(), return_exceptions=True), await again()
    assert pid not in (first[0], second)
    await reserved.close()


class _NoPool:
    """A pool whose server is away."""

    async def acquire(self, **_: object) -> None:
        raise ConnectionRefusedError


async def test_a_store_that_is_not_there_is_unavailable() -> None:
    gone = Store("", "echo", cast(Pool, _NoPool()))
    with pytest.raises(Refusal) as caught:
        await gone.ping()
    assert caught.value.reason_name == "UNAVAILABLE"


async def test_a_call_that_is_cancelled_leaves_no_transaction_behind(store: Store) -> None:
    """The pool does not reset connections between users, so nothing may be left on one."""
    async with store.acquire() as connection:
        await connection.execute("CREATE TABLE cups (size int)")
    entered = asyncio.Event()

    async def linger() -> None:
        async with store.transaction() as connection:
            await connection.execute("INSERT INTO cups VALUES (1)")
            entered.set()
            await connection.execute("SELECT pg_sleep(60)")

    task = asyncio.create_task(linger())
    await entered.wait()
    task.cancel()
    await asyncio.wait([task])
    for size in range(2, 12):
        async with store.transaction() as connection:
            await connection.execute("INSERT INTO cups VALUES ($1)", size)
    async with store.acquire() as connection:
        assert await connection.fetchval("SELECT count(*) FROM cups") == 10
