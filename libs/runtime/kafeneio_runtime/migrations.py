"""Brings the schema of a service up to date, by Alembic.

A service that is being served needs none of this: whoever migrates imports it, and nobody else
carries SQLAlchemy about.
"""

import asyncio
import threading
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Final

import asyncpg
from alembic import command
from alembic.autogenerate import compare_metadata
from alembic.config import Config
from alembic.runtime.migration import MigrationContext
from sqlalchemy import Connection as SyncConnection
from sqlalchemy import MetaData, text
from sqlalchemy.ext.asyncio import AsyncConnection, create_async_engine
from sqlalchemy.pool import NullPool

from kafeneio_runtime.store import connect

if TYPE_CHECKING:
    from asyncpg import Record

_ENVIRONMENT: Final = Path(__file__).parent / "migration"
_alembic_lock: Final = threading.Lock()
"""Alembic keeps its context in module globals, so one migration at a time."""


def migrate(url: str, schema: str, migrations: Path) -> None:
    """Brings `schema` up to the newest of the revisions in the folder `migrations`; makes it if
    there is none.

    Any number of replicas may do so at once: a lock lets them through one by one. Blocks, so from
    async code it is run in a thread (`asyncio.to_thread`). Raises what Alembic raises; each
    revision is a transaction, so a failed one leaves no trace.
    """

    def upgrade(connection: SyncConnection) -> None:
        config = Config()
        config.set_main_option("script_location", str(_ENVIRONMENT))
        config.set_main_option("path_separator", "newline")
        config.set_main_option("version_locations", str(migrations))
        config.attributes["connection"] = connection
        command.upgrade(config, "head")

    async def run() -> None:
        async with _migrating(url, schema) as connection:
            await connection.run_sync(upgrade)
            await connection.commit()

    with _alembic_lock:
        asyncio.run(run())


def drift(url: str, schema: str, metadata: MetaData) -> list[object]:
    """What the tables of `schema` lack of `metadata` or have beside it. For a test: the migrations
    make these tables.
    """

    def compare(connection: SyncConnection) -> list[object]:
        context = MigrationContext.configure(
            connection, opts={"compare_server_default": False, "compare_type": True}
        )
        ours = [*compare_metadata(context, metadata)]
        return [change for change in ours if not _is_version_table(change)]

    async def run() -> list[object]:
        async with _migrating(url, schema) as connection:
            return await connection.run_sync(compare)

    with _alembic_lock:
        return asyncio.run(run())


def _is_version_table(change: object) -> bool:
    return isinstance(change, tuple) and getattr(change[1], "name", "") == "alembic_version"


@asynccontextmanager
async def _migrating(url: str, schema: str) -> AsyncIterator[AsyncConnection]:
    async def connector() -> "asyncpg.Connection[Record]":
        return await connect(url, schema)

    engine = create_async_engine(
        "postgresql+asyncpg://", async_creator=connector, poolclass=NullPool
    )
    try:
        async with engine.connect() as connection:
            # Locks of the session: they end with the connection, however it ends.
            await connection.execute(
                text("SELECT pg_advisory_lock(hashtext(:name))"),
                {"name": f"kafeneio migrate {schema}"},
            )
            await connection.execute(text(f'CREATE SCHEMA IF NOT EXISTS "{schema}"'))
            await connection.commit()
            yield connection
    finally:
        await engine.dispose()
