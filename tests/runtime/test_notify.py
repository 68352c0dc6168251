"""Hints reach whoever listens, and he is told when he may have missed some."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from kafeneio_runtime.notify import Hints
from kafeneio_runtime.store import Store


class Listener:
    """What was heard, in order; `None` stands for "some may have been lost"."""

    def __init__(self, store: Store, channel: str = "echo_games") -> None:
        self.heard: asyncio.Queue[str | None] = asyncio.Queue()
        self.hints = Hints(
            store, channel, self.heard.put_nowait, lambda: self.heard.put_nowait(None)
        )

    async def next(self) -> str | None:
        async with asyncio.timeout(10):
            return await self.heard.get()


@asynccontextmanager
async def listening(store: Store) -> AsyncIterator[Listener]:
    listener = Listener(store)
    task = asyncio.create_task(listener.hints.run())
    try:
        yield listener
    finally:
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)


async def test_a_hint_reaches_all_who_listen(store: Store) -> None:
    async with listening(store) as one, listening(store) as two:
        assert await one.next() is None
        assert await two.next() is None
        await one.hints.send("game 7")
        assert await one.next() == await two.next() == "game 7"


async def test_a_hint_of_another_channel_is_not_heard(store: Store) -> None:
    async with listening(store) as listener:
        assert await listener.next() is None
        await Listener(store, "echo_others").hints.send("not for us")
        await listener.hints.send("for us")
        assert await listener.next() == "for us"


async def test_after_a_lost_connection_he_is_told_and_hears_again(store: Store) -> None:
    async with listening(store) as listener:
        assert await listener.next() is None
        async with store.acquire() as connection:
            killed = await connection.fetchval(
                "SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity"
                " WHERE query LIKE 'LISTEN%' AND datname = current_database()"
            )
        assert killed == 1
        assert await listener.next() is None
        assert listener.hints.listening.is_set()
        await listener.hints.send("again")
        assert await listener.next() == "again"
