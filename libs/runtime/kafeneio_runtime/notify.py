"""Hints between replicas: "game 7 has moved on". By PostgreSQL's LISTEN and NOTIFY, so they can be
lost, and nothing may depend on one: whoever waits for hints looks for himself after `lost`.
"""

import asyncio
from collections.abc import Callable
from typing import TYPE_CHECKING, Final

from kafeneio_runtime import logs, store
from kafeneio_runtime.clock import SystemTime, Time

if TYPE_CHECKING:
    import asyncpg

_log: Final = logs.logger(__name__)
_RETRY_SECONDS: Final = 0.5
_CHECK_SECONDS: Final = 10.0


class Hints:
    """Listens on one channel with a connection of its own.

    `heard` is called with each payload; `lost` after every time that hints may have been missed, as
    soon as we hear again, also at the beginning.
    """

    def __init__(
        self,
        database: store.Store,
        channel: str,
        heard: Callable[[str], None],
        lost: Callable[[], None],
        *,
        time: Time | None = None,
    ) -> None:
        self._store = database
        self._channel = channel
        self._heard = heard
        self._lost = lost
        self._time: Time = time or SystemTime()
        self.listening = asyncio.Event()
        """Set while hints are heard."""

    async def run(self) -> None:
        """Listens until it is cancelled, and connects again whenever it has to."""
        while True:
            try:
                await self._listen()
            except Exception as error:  # noqa: BLE001 (connects again whatever happened)
                _log.warning("hints lost", channel=self._channel, error=type(error).__name__)
            self.listening.clear()
            await self._time.sleep(_RETRY_SECONDS)

    async def send(self, payload: str) -> None:
        """Tells all who listen on the channel, ourselves included. At most 8,000 bytes."""
        async with self._store.acquire() as connection:
            await connection.execute("SELECT pg_notify($1, $2)", self._channel, payload)

    async def _listen(self) -> None:
        connection = await store.connect(self._store.url, self._store.schema)
        try:
            gone = asyncio.Event()
            connection.add_termination_listener(lambda _: gone.set())
            await connection.add_listener(self._channel, self._pass_on)
            self.listening.set()
            self._lost()
            await self._until_gone(connection, gone)
        finally:
            connection.terminate()

    async def _until_gone(
        self, connection: "asyncpg.Connection[asyncpg.Record]", gone: asyncio.Event
    ) -> None:
        # A connection may break without anybody telling us, so we ask now and then.
        while not gone.is_set():
            waits = {
                asyncio.create_task(gone.wait()),
                asyncio.create_task(self._time.sleep(_CHECK_SECONDS)),
            }
            try:
                await asyncio.wait(waits, return_when=asyncio.FIRST_COMPLETED)
            finally:
                for wait in waits:
                    wait.cancel()
            if not gone.is_set():
                await connection.fetchval("SELECT 1", timeout=_CHECK_SECONDS)

    def _pass_on(self, _connection: object, _pid: int, _channel: str, payload: object) -> None:
        self._heard(str(payload))
