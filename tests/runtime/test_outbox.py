"""What is announced is published: never not at all, and in the order of its game."""

import asyncio
import json
import os
import signal
import sys
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from uuid import UUID

import pytest
from kafeneio_runtime.bus import Bus, Event, InProcessBus
from kafeneio_runtime.failpoints import VARIABLE
from kafeneio_runtime.ids import new_id
from kafeneio_runtime.outbox import Announcement, Relay, announce, events_after
from kafeneio_runtime.store import Store
from prometheus_client import REGISTRY

from tests.contract.test_bus import Listener

SUBJECT = "echo.events"
ROOT = Path(__file__).parents[2]


def announcement(game: UUID, sequence: int) -> Announcement:
    return Announcement(new_id(), game, sequence, "Echoed", str(sequence).encode())


async def write(store: Store, game: UUID, *sequences: int) -> None:
    async with store.transaction() as connection:
        await announce(connection, [announcement(game, number) for number in sequences])


async def unpublished(store: Store) -> int:
    async with store.acquire() as connection:
        count: int = await connection.fetchval(
            "SELECT count(*) FROM outbox WHERE published_at IS NULL"
        )
    return count


async def until_published(store: Store) -> None:
    async with asyncio.timeout(10), store.acquire() as connection:
        while await connection.fetchval("SELECT count(*) FROM outbox WHERE published_at IS NULL"):
            await connection.execute("SELECT pg_sleep(0.005)")


@asynccontextmanager
async def running(*relays: Relay) -> AsyncIterator[None]:
    tasks = [asyncio.create_task(relay.run()) for relay in relays]
    try:
        yield
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


async def listening() -> tuple[InProcessBus, Listener]:
    bus, listener = InProcessBus(), Listener()
    await bus.subscribe(SUBJECT, "clock", listener)
    return bus, listener


async def test_what_is_announced_is_published_and_marked(store: Store) -> None:
    bus, listener = await listening()
    relay, game = Relay(store, bus, SUBJECT), new_id()
    async with running(relay):
        await write(store, game, 1, 2)
        relay.wake()
        assert await listener.until(2) == [1, 2]
        await until_published(store)
    first = listener.heard[0]
    assert (first.subject, first.key, first.type, first.payload) == (SUBJECT, game, "Echoed", b"1")
    assert first.occurred_at <= listener.heard[1].occurred_at
    await bus.close()


async def test_what_is_rolled_back_is_not_published(store: Store) -> None:
    bus, listener = await listening()

    async def refuse() -> None:
        async with store.transaction() as connection:
            await announce(connection, [announcement(new_id(), 1)])
            raise RuntimeError("refused")

    with pytest.raises(RuntimeError):
        await refuse()
    await write(store, new_id(), 7)
    async with running(Relay(store, bus, SUBJECT)):
        assert await listener.until(1) == [7]
    await bus.close()


async def test_a_row_that_becomes_visible_late_is_not_passed_over(store: Store) -> None:
    """Two transactions: the first to number its row is the last to commit."""
    bus, listener = await listening()
    relay = Relay(store, bus, SUBJECT)
    async with running(relay), store.acquire() as slow:
        transaction = slow.transaction()
        await transaction.start()
        await announce(slow, [announcement(new_id(), 1)])
        await write(store, new_id(), 2)
        relay.wake()
        assert await listener.until(1) == [2]
        await transaction.commit()
        relay.wake()
        assert await listener.until(2) == [2, 1]
    await bus.close()


async def test_a_relay_finds_what_it_is_not_woken_for(store: Store) -> None:
    bus, listener = await listening()
    async with running(Relay(store, bus, SUBJECT)):
        await write(store, new_id(), 1)
        assert await listener.until(1) == [1]
    await bus.close()


async def test_of_two_relays_one_works_and_the_other_passes_hints_on(store: Store) -> None:
    buses = [InProcessBus(), InProcessBus()]
    listeners = [Listener(), Listener()]
    relays = [Relay(store, bus, SUBJECT) for bus in buses]
    for bus, listener in zip(buses, listeners, strict=True):
        await bus.subscribe(SUBJECT, "clock", listener)
    async with running(relays[0]):
        await write(store, new_id(), 1)
        await listeners[0].until(1)  # so it has the lock
        async with running(relays[1]):
            await write(store, new_id(), 2)
            relays[1].wake()
            assert await listeners[0].until(2) == [1, 2]
            await until_published(store)
    assert listeners[1].heard == []
    async with running(relays[1]):
        await write(store, new_id(), 3)
        assert await listeners[1].until(1) == [3]
    for bus in buses:
        await bus.close()


async def test_the_other_takes_over_when_the_first_loses_its_connection(store: Store) -> None:
    bus, listener = await listening()
    async with running(Relay(store, bus, SUBJECT), Relay(store, bus, SUBJECT)):
        await write(store, new_id(), 1)
        await listener.until(1)
        async with store.acquire() as connection:
            killed = await connection.fetchval(
                "SELECT count(pg_terminate_backend(pid)) FROM pg_locks WHERE locktype = 'advisory'"
                " AND granted AND database ="
                " (SELECT oid FROM pg_database WHERE datname = current_database())"
            )
        assert killed == 1
        await write(store, new_id(), 2)
        assert (await listener.until(2))[-1] == 2
    await bus.close()


class _Stuck:
    """A bus that does not take anything."""

    def __init__(self) -> None:
        self.offered: list[list[int]] = []
        self.entered = asyncio.Event()

    async def publish(self, events: Sequence[Event]) -> None:
        self.offered.append([each.sequence for each in events])
        self.entered.set()
        await asyncio.Event().wait()

    async def subscribe(self, *_: object) -> None:
        raise NotImplementedError

    async def close(self) -> None:
        """Nothing is open."""


async def test_what_the_bus_has_not_taken_stays(store: Store) -> None:
    stuck = _Stuck()
    bus: Bus = stuck  # type: ignore[assignment]
    await write(store, new_id(), 1, 2)
    async with running(Relay(store, bus, SUBJECT)):
        await stuck.entered.wait()
    assert stuck.offered == [[1, 2]]
    assert await unpublished(store) == 2


async def test_a_slow_consumer_does_not_hold_up_the_others(store: Store) -> None:
    bus, quick = await listening()
    stuck = Listener()
    stuck.gate.clear()
    await bus.subscribe(SUBJECT, "stuck", stuck)
    relay, game = Relay(store, bus, SUBJECT), new_id()
    async with running(relay):
        for number in (1, 2, 3):
            await write(store, game, number)
            relay.wake()
            await quick.until(number)
        assert await unpublished(store) == 3
        stuck.gate.set()
        assert await stuck.until(3) == [1, 2, 3]
        await until_published(store)
    await bus.close()


async def test_a_bus_that_fails_is_tried_again(store: Store) -> None:
    inner, listener = await listening()
    failures = [ConnectionError("no broker"), ConnectionError("no broker")]

    class Flaky(InProcessBus):
        async def publish(self, events: Sequence[Event]) -> None:
            if failures:
                raise failures.pop()
            await inner.publish(events)

    await write(store, new_id(), 1)
    async with running(Relay(store, Flaky(), SUBJECT)):
        assert await listener.until(1) == [1]
        await until_published(store)
    await inner.close()


async def test_flush_publishes_what_is_left(store: Store) -> None:
    bus, listener = await listening()
    game = new_id()
    await write(store, game, *range(1, 451))
    await Relay(store, bus, SUBJECT).flush()
    assert [each.sequence for each in listener.heard] == list(range(1, 451))
    assert await unpublished(store) == 0
    await bus.close()


async def test_flush_leaves_it_to_a_relay_that_works(store: Store) -> None:
    bus, listener = await listening()
    listener.gate.clear()
    other = InProcessBus()
    async with running(Relay(store, bus, SUBJECT)):
        await write(store, new_id(), 1)
        await listener.entered.wait()
        await Relay(store, other, SUBJECT).flush()
        assert await unpublished(store) == 1
        listener.gate.set()
        await until_published(store)
    await bus.close()


async def test_what_waits_is_on_the_gauge(store: Store) -> None:
    def pending() -> float | None:
        return REGISTRY.get_sample_value("kafeneio_outbox_pending", {"service": "echo"})

    bus, listener = await listening()
    listener.gate.clear()
    relay = Relay(store, bus, SUBJECT)
    await write(store, new_id(), 1, 2, 3)
    async with running(relay):
        await listener.entered.wait()
        async with asyncio.timeout(10):
            while pending() != 3:
                await asyncio.wait([asyncio.create_task(store.ping())])
        listener.gate.set()
        await until_published(store)
        async with asyncio.timeout(10):
            while pending() != 0:
                await asyncio.wait([asyncio.create_task(store.ping())])
        assert pending() == 0
    await bus.close()


async def test_events_of_a_game_may_be_read_again(store: Store) -> None:
    game = new_id()
    await write(store, game, 1, 2, 3, 4)
    await write(store, new_id(), 1)
    async with store.acquire() as connection:
        events = await events_after(connection, SUBJECT, game, 1, limit=2)
    assert [(each.key, each.sequence) for each in events] == [(game, 2), (game, 3)]


CRASHING = """
import asyncio, json, sys
from kafeneio_runtime.bus import InProcessBus
from kafeneio_runtime.outbox import Relay
from kafeneio_runtime.store import Store

async def tell(events):
    print(json.dumps([event.sequence for event in events]), flush=True)

async def main():
    store = await Store.open(sys.argv[1], "echo", pool_size=2)
    bus = InProcessBus()
    await bus.subscribe("echo.events", "clock", tell)
    await Relay(store, bus, "echo.events").flush()
    print(json.dumps("flushed"), flush=True)
    await store.close()

asyncio.run(main())
"""


async def _relay_in_a_process(url: str, failpoint: str | None) -> tuple[int, list[object]]:
    environment = {**os.environ, VARIABLE: failpoint} if failpoint else dict(os.environ)
    process = await asyncio.create_subprocess_exec(
        sys.executable,
        "-c",
        CRASHING,
        url,
        env=environment,
        cwd=ROOT,
        stdout=asyncio.subprocess.PIPE,
    )
    async with asyncio.timeout(30):
        out, _ = await process.communicate()
    assert process.returncode is not None
    return process.returncode, [json.loads(line) for line in out.splitlines()]


@pytest.mark.parametrize(
    ("failpoint", "heard"), [("outbox.taken", []), ("outbox.published", [[1, 2]])]
)
async def test_after_a_crash_it_is_published_again(
    store: Store, database_url: str, failpoint: str, heard: list[list[int]]
) -> None:
    await write(store, new_id(), 1, 2)
    assert await _relay_in_a_process(database_url, failpoint) == (-signal.SIGKILL, heard)
    assert await unpublished(store) == 2
    assert await _relay_in_a_process(database_url, None) == (0, [[1, 2], "flushed"])
    assert await unpublished(store) == 0
