"""The store: PostgreSQL through asyncpg, one schema per service."""

from collections.abc import AsyncIterator, Iterable
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Final, NamedTuple, TypeAlias

import asyncpg

from kafeneio_runtime.errors import unavailable

if TYPE_CHECKING:
    from asyncpg import Record
    from asyncpg.pool import PoolConnectionProxy

    Connection: TypeAlias = asyncpg.Connection[Record] | PoolConnectionProxy[Record]
    Pool: TypeAlias = asyncpg.Pool[Record]
    _Base: TypeAlias = asyncpg.Connection[Record]
else:
    Connection = asyncpg.Connection
    Pool = asyncpg.Pool
    _Base = asyncpg.Connection

_ACQUIRE_SECONDS: Final = 5.0
_COMMAND_SECONDS: Final = 30.0
_FIRST_OWN_TYPE: Final = 10_000
"""Types with a lower number are written down in PostgreSQL's own catalog."""
_built_in: "Final[dict[int, Record]]" = {}


class _Named(NamedTuple):
    """What asyncpg wants to know of the statement by which it asked for types."""

    name: str


class Session(_Base):
    """A connection that knows the built-in types that another of this process has asked for.

    asyncpg asks PostgreSQL for the array types of a statement on every new connection (its issue
    1272), which takes the server four times as long as the connection itself. A built-in type is
    the same on every server.
    """

    __slots__ = ()

    async def _introspect_types(
        self,
        typeoids: Iterable[int],
        timeout: float | None,  # noqa: ASYNC109 (as asyncpg has it)
    ) -> "tuple[list[Record], _Named]":
        asked = [oid for oid in typeoids if oid not in _built_in]
        told = [_built_in[oid] for oid in typeoids if oid in _built_in]
        statement = _Named("asked before")
        if asked:
            found, statement = await super()._introspect_types(asked, timeout)  # type: ignore[misc]
            _built_in.update((row["oid"], row) for row in found if row["oid"] < _FIRST_OWN_TYPE)
            told += found
        return told, statement


async def connect(
    url: str, schema: str, *, command_seconds: float | None = None
) -> "asyncpg.Connection[Record]":
    """A connection of one's own, outside of any pool, whose unqualified names are those of
    `schema`. A statement may take `command_seconds`, or as long as it likes.
    """
    return await asyncpg.connect(
        url,
        connection_class=Session,
        server_settings=_session(schema),
        timeout=_ACQUIRE_SECONDS,
        command_timeout=command_seconds,
    )


def _session(schema: str) -> dict[str, str]:
    # Our statements take microseconds; compiling one would take longer than it can save.
    return {"search_path": schema, "application_name": f"kafeneio-{schema}", "jit": "off"}


async def _leave(_connection: "Connection") -> None:
    """What a connection is reset with between two users: nothing. Nobody sets anything on one, and
    transactions end with their blocks; the usual reset would cost a round trip each time.
    """


class Store:
    """A pool of connections to one schema."""

    def __init__(self, url: str, schema: str, pool: "Pool") -> None:
        self.url = url
        self.schema = schema
        self.pool = pool

    def __repr__(self) -> str:
        return f"Store({self.schema})"

    @classmethod
    async def open(cls, url: str, schema: str, pool_size: int = 8) -> "Store":
        """Connects. Raises what asyncpg raises if PostgreSQL can't be reached."""
        pool = await asyncpg.create_pool(
            url,
            min_size=min(2, pool_size),
            max_size=pool_size,
            server_settings=_session(schema),
            command_timeout=_COMMAND_SECONDS,
            timeout=_ACQUIRE_SECONDS,
            reset=_leave,
            connection_class=Session,
        )
        return cls(url, schema, pool)

    async def close(self) -> None:
        """Waits for what is running and closes all connections."""
        await self.pool.close()

    async def take(self) -> "PoolConnectionProxy[Record]":
        """A connection that is to be released to the pool. Raises as `acquire`."""
        try:
            return await self.pool.acquire(timeout=_ACQUIRE_SECONDS)
        except (OSError, TimeoutError) as error:  # not there, or every connection in use
            raise unavailable("the house can't answer now, please try again") from error

    @asynccontextmanager
    async def acquire(self) -> AsyncIterator["Connection"]:
        """A connection for the length of the block. Raises an UNAVAILABLE `Refusal` if there is
        none to be had.
        """
        connection = await self.take()
        try:
            yield connection
        finally:
            await self.pool.release(connection)

    @asynccontextmanager
    async def transaction(self) -> AsyncIterator["Connection"]:
        """A connection in a transaction: committed at the end of the block, rolled back if it
        raises.
        """
        async with self.acquire() as connection, connection.transaction():
            yield connection

    @asynccontextmanager
    async def snapshot(self) -> AsyncIterator["Connection"]:
        """A connection that sees one moment, however many statements it takes, and writes nothing:
        for an answer that is put together of several tables.
        """
        async with (
            self.acquire() as connection,
            connection.transaction(isolation="repeatable_read", readonly=True),
        ):
            yield connection

    async def ping(self) -> None:
        """Returns if PostgreSQL answers. Raises otherwise."""
        async with self.acquire() as connection:
            await connection.fetchval("SELECT 1")


class Reserved:
    """One connection of a pool, kept by a worker that uses it again and again, one use at a time:
    taking one and giving it back costs as much as a short statement.
    """

    def __init__(self, store: Store) -> None:
        self._store = store
        self._connection: PoolConnectionProxy[Record] | None = None

    @asynccontextmanager
    async def use(self) -> AsyncIterator["Connection"]:
        """The connection. After an error it is given back, and the next use takes another."""
        if self._connection is None or _is_gone(self._connection):
            await self.close()
            self._connection = await self._store.take()
        try:
            yield self._connection
        except BaseException:
            await self.close()
            raise

    async def close(self) -> None:
        """Gives the connection back."""
        connection, self._connection = self._connection, None
        if connection is not None:
            await self._store.pool.release(connection)


def _is_gone(connection: "PoolConnectionProxy[Record]") -> bool:
    try:
        return connection.is_closed()
    except asyncpg.InterfaceError:  # it broke, and the pool has taken it back by itself
        return True
