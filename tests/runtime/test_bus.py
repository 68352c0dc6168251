"""What the bus in the process does beyond the contract; how an event has one effect."""

import asyncio
from collections.abc import Sequence

import pytest
from kafeneio_runtime.bus import Event, InProcessBus, first_time
from kafeneio_runtime.clock import ManualTime
from kafeneio_runtime.ids import new_id
from kafeneio_runtime.store import Store

from tests.contract.test_bus import SUBJECT, Listener, event


async def test_it_is_safe_only_when_it_is_handled() -> None:
    """The bus has no memory beyond the process: who publishes keeps the events until then."""
    bus, listener = InProcessBus(), Listener()
    listener.gate.clear()
    await bus.subscribe(SUBJECT, "clock", listener)
    publishing = asyncio.create_task(bus.publish([event(1)]))
    await listener.entered.wait()
    assert not publishing.done()
    listener.gate.set()
    await publishing
    assert [each.sequence for each in listener.heard] == [1]
    await bus.close()


async def test_closing_tells_who_still_waits() -> None:
    bus, listener = InProcessBus(), Listener()
    listener.gate.clear()
    await bus.subscribe(SUBJECT, "clock", listener)
    publishing = asyncio.create_task(bus.publish([event(1)]))
    await listener.entered.wait()
    await bus.close()
    with pytest.raises(ConnectionError):
        await publishing


async def test_a_handler_that_was_cancelled_inside_is_tried_again() -> None:
    time = ManualTime()
    bus, calls = InProcessBus(time), 0

    async def handle(_events: Sequence[Event]) -> None:
        nonlocal calls
        calls += 1
        if calls == 1:
            raise asyncio.CancelledError  # as a task of its own would, that somebody has cancelled

    await bus.subscribe(SUBJECT, "clock", handle)
    publishing = asyncio.create_task(bus.publish([event(1)]))
    await time.until_sleeping()
    time.advance(1)
    await publishing
    assert calls == 2
    await bus.close()


async def test_an_event_that_comes_twice_has_one_effect(store: Store) -> None:
    async with store.acquire() as connection:
        await connection.execute("CREATE TABLE effects (event uuid)")

    async def handle(events: Sequence[Event]) -> None:
        async with store.transaction() as connection:
            new = await first_time(connection, "clock", [each.id for each in events])
            await connection.executemany(
                "INSERT INTO effects VALUES ($1)", [(each.id,) for each in events if each.id in new]
            )

    events = [event(number) for number in range(1, 6)]
    await asyncio.gather(handle(events[:3]), handle(events[1:]), handle(events))
    async with store.acquire() as connection:
        rows = await connection.fetch("SELECT event FROM effects")
    assert sorted(row["event"] for row in rows) == sorted(each.id for each in events)


async def test_an_effect_that_fails_is_not_recorded(store: Store) -> None:
    event_id = new_id()

    async def fail() -> None:
        async with store.transaction() as connection:
            assert await first_time(connection, "clock", [event_id]) == {event_id}
            raise RuntimeError("the effect fails")

    with pytest.raises(RuntimeError):
        await fail()
    async with store.transaction() as connection:
        assert await first_time(connection, "clock", [event_id]) == {event_id}
        assert await first_time(connection, "clock", [event_id]) == set()
        assert await first_time(connection, "settlement", [event_id]) == {event_id}
