"""What tests of the runtime share."""

import asyncio
from collections.abc import AsyncIterator
from typing import Final

import asyncpg
import pytest
from alembic.operations import Operations
from alembic.runtime.migration import MigrationContext
from kafeneio_runtime import audit_migration
from kafeneio_runtime.store import Store, connect
from kafeneio_runtime.tables import outbox_tables
from sqlalchemy import Connection, MetaData
from sqlalchemy.ext.asyncio import create_async_engine
from sqlalchemy.pool import NullPool
from sqlalchemy.schema import CreateSchema

from tests.fixtures.postgres import Template
from tests.runtime.house import House, open_house

SCHEMA: Final = "echo"


def prepare(url: str) -> None:
    """Makes the schema and its tables in an empty database."""
    metadata = MetaData()
    outbox_tables(metadata)

    async def connector() -> "asyncpg.Connection[asyncpg.Record]":
        return await connect(url, SCHEMA)

    async def run() -> None:
        engine = create_async_engine(
            "postgresql+asyncpg://", async_creator=connector, poolclass=NullPool
        )
        async with engine.begin() as connection:
            await connection.execute(CreateSchema(SCHEMA))
            await connection.run_sync(metadata.create_all)
            await connection.run_sync(_make_audit)
        await engine.dispose()

    asyncio.run(run())


def _make_audit(connection: Connection) -> None:
    """As a migration does, triggers included."""
    with Operations.context(MigrationContext.configure(connection)):
        audit_migration.make()


@pytest.fixture(scope="session")
def database_template() -> Template:
    """The tables that every service has."""
    return Template(SCHEMA, prepare)


@pytest.fixture
async def store(database_url: str) -> AsyncIterator[Store]:
    opened = await Store.open(database_url, SCHEMA, pool_size=8)
    yield opened
    await opened.close()


@pytest.fixture
async def house() -> AsyncIterator[House]:
    async with open_house() as opened:
        yield opened
