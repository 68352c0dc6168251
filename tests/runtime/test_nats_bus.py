"""What the bus on NATS does beyond the contract: it keeps, comes back, and gives nothing up."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path
from typing import Any
from uuid import UUID

import pytest
from kafeneio_runtime import nats_consumer
from kafeneio_runtime.bus import Event, EventHandler, InProcessBus, NotNowError, open_bus
from kafeneio_runtime.clock import ManualTime
from kafeneio_runtime.errors import unavailable
from kafeneio_runtime.nats_bus import NatsBus
from kafeneio_runtime.nats_consumer import TRIES_ALONE, TRIES_TOGETHER
from kafeneio_runtime.settings import Settings
from kafeneio_up import nats
from kafeneio_up.process import Process, free_ports
from prometheus_client import REGISTRY
from pydantic import SecretStr

from tests.contract.test_bus import PATIENCE, SUBJECT, Listener, event
from tests.fixtures import logs
from tests.fixtures.waiting import until

CLOCK = "clock"


@pytest.fixture(autouse=True)
def quiet() -> Iterator[None]:
    """To print hundreds of failures that a test has made would take longer than the test."""
    with logs.quiet(logging.CRITICAL):
        yield


@pytest.fixture
async def buses(nats_settings: dict[str, Any]) -> AsyncIterator[Callable[..., NatsBus]]:
    """Makes buses of one house, each as a process of its own would have it."""
    async with AsyncExitStack() as stack:

        def made(time: ManualTime | None = None) -> NatsBus:
            bus = NatsBus(Settings(**nats_settings), time)
            stack.push_async_callback(bus.close)
            return bus

        yield made


class Picky:
    """A handler that can't handle some events, and what it has handled."""

    def __init__(self, error: BaseException, *refused: UUID) -> None:
        self.refused = set(refused)
        self.heard = Listener()
        self.calls = 0
        self._error = error

    async def __call__(self, events: Sequence[Event]) -> None:
        self.calls += 1
        if any(each.id in self.refused for each in events):
            raise self._error
        await self.heard(events)


@asynccontextmanager
async def hurrying(time: ManualTime) -> AsyncIterator[None]:
    """Nobody waits for long."""

    async def hurry() -> None:
        while True:
            await time.until_sleeping()
            time.advance(60)

    task = asyncio.create_task(hurry())
    try:
        yield
    finally:
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)


def settings(url: str) -> Settings:
    return Settings(nats_url=SecretStr(url))


# ---------------------------------------------------------------- keeping


async def test_what_was_published_before_anybody_listened_is_heard(
    buses: Callable[..., NatsBus],
) -> None:
    await buses().publish([event(1), event(2)])
    listener = Listener()
    await buses().subscribe(SUBJECT, CLOCK, listener)
    assert await listener.until(2) == [1, 2]


async def test_what_is_published_twice_comes_once(buses: Callable[..., NatsBus]) -> None:
    one, other, listener = buses(), buses(), Listener()
    await one.subscribe(SUBJECT, CLOCK, listener)
    events = [event(number) for number in range(1, 5)]
    await one.publish(events[:3])
    await other.publish(events)
    assert await listener.until(4) == [1, 2, 3, 4]


async def test_publish_does_not_wait_for_who_listens(buses: Callable[..., NatsBus]) -> None:
    bus, listener = buses(), Listener()
    listener.gate.clear()
    await bus.subscribe(SUBJECT, CLOCK, listener)
    await bus.publish([event(1)])
    await listener.entered.wait()
    assert listener.heard == []
    listener.gate.set()
    assert await listener.until(1) == [1]


async def test_an_event_is_whole(buses: Callable[..., NatsBus]) -> None:
    bus, listener = buses(), Listener()
    sent = event(1)._replace(payload=bytes(range(256)), type="kafeneio.rules.v1.GameFinished")
    await bus.subscribe(SUBJECT, CLOCK, listener)
    await bus.publish([sent])
    await listener.until(1)
    assert listener.heard == [sent]


async def test_a_stream_that_was_deleted_is_made_again(buses: Callable[..., NatsBus]) -> None:
    bus, listener = buses(), Listener()
    await bus.subscribe(SUBJECT, CLOCK, listener)
    await bus.publish([event(1)])
    await listener.until(1)
    context = await bus._link.jetstream()
    await context.delete_stream(bus._link.stream(SUBJECT))
    await bus.publish([event(2)])
    assert await listener.until(2) == [1, 2]


# ---------------------------------------------------------------- replicas


async def test_of_replicas_one_hears_in_order_and_another_takes_over(
    buses: Callable[..., NatsBus],
) -> None:
    publisher, heard = buses(), list[tuple[int, int]]()
    changed = asyncio.Condition()

    def handler(replica: int) -> EventHandler:
        async def handle(events: Sequence[Event]) -> None:
            async with changed:
                heard.extend((replica, each.sequence) for each in events)
                changed.notify_all()

        return handle

    replicas = [buses(), buses()]
    for number, bus in enumerate(replicas):
        await bus.subscribe(SUBJECT, CLOCK, handler(number))

    async def hears(count: int) -> None:
        async with asyncio.timeout(PATIENCE), changed:
            await changed.wait_for(lambda: len(heard) >= count)

    for number in range(1, 301):
        await publisher.publish([event(number)])
    await hears(300)
    (first,) = {replica for replica, _ in heard}
    assert [sequence for _, sequence in heard] == list(range(1, 301))
    await replicas[first].close()
    await publisher.publish([event(301), event(302)])
    await hears(302)
    assert heard[300:] == [(1 - first, 301), (1 - first, 302)]


async def test_who_waits_long_asks_no_more_than_who_has_just_come(
    buses: Callable[..., NatsBus], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(nats_consumer, "_PULL_SECONDS", 0.06)
    monkeypatch.setattr(nats_consumer, "_KEEP_SECONDS", 0.04)
    bus, listener = buses(), Listener()
    await bus.subscribe(SUBJECT, CLOCK, listener)
    context = await bus._link.jetstream()
    for number in range(1, 21):
        await bus.publish([event(number)])
        await listener.until(number)
        await asyncio.wait([asyncio.create_task(asyncio.sleep(0.05))])
        info = await context.consumer_info(bus._link.stream(SUBJECT), CLOCK)
        assert (info.num_waiting or 0) <= 4


# ---------------------------------------------------------------- faults


@pytest.fixture
async def server(tmp_path: Path) -> AsyncIterator[Callable[[], Any]]:
    """Starts a server on one port and one folder, again and again."""
    (port,) = free_ports(1)
    started: list[Process] = []

    async def start() -> tuple[Process, str]:
        started.append(await nats.start(tmp_path / "nats", port))
        return started[-1], f"nats://127.0.0.1:{port}"

    yield start
    for each in started:
        await each.end()


async def test_a_server_that_is_killed_and_comes_back_loses_nothing(
    server: Callable[[], Any],
) -> None:
    running, url = await server()
    async with AsyncExitStack() as stack:
        bus = NatsBus(settings(url))
        stack.push_async_callback(bus.close)
        listener = Listener()
        await bus.subscribe(SUBJECT, CLOCK, listener)
        await bus.publish([event(1)])
        await listener.until(1)
        await running.kill()
        publishing = asyncio.create_task(bus.publish([event(2), event(3)]))
        await asyncio.wait({publishing}, timeout=0.5)
        assert not publishing.done()
        await server()
        await publishing
        assert sorted(set(await listener.until(3))) == [1, 2, 3]


async def test_who_starts_before_the_server_waits_for_it(
    server: Callable[[], Any], tmp_path: Path
) -> None:
    running, url = await server()
    await running.end()
    bus, listener = NatsBus(settings(url)), Listener()
    await bus.subscribe(SUBJECT, CLOCK, listener)
    publishing = asyncio.create_task(bus.publish([event(1)]))
    await server()
    await publishing
    assert await listener.until(1) == [1]
    await bus.close()


async def test_who_can_not_publish_says_so_after_a_while() -> None:
    (port,) = free_ports(1)
    bus = NatsBus(settings(f"nats://127.0.0.1:{port}"), patience=0.2)
    with pytest.raises(ConnectionError):
        await bus.publish([event(1)])
    await bus.close()


# ---------------------------------------------------------------- dead letters


async def test_one_that_nobody_can_handle_holds_up_nobody_and_is_kept(
    buses: Callable[..., NatsBus],
) -> None:
    time = ManualTime()
    bus = buses(time)
    events = [event(number) for number in range(1, 6)]
    picky = Picky(RuntimeError("3 is too much"), events[2].id)
    async with hurrying(time):
        await bus.publish(events)
        await bus.subscribe(SUBJECT, CLOCK, picky)
        assert await picky.heard.until(4) == [1, 2, 4, 5]
        await until(lambda: picky.calls >= TRIES_TOGETHER + TRIES_ALONE + 4)
    (letter,) = await bus.dead_letters.all()
    assert (letter.consumer, letter.event, letter.error) == (CLOCK, events[2], "RuntimeError")
    assert await bus.dead_letters.count(CLOCK) == 1
    assert await bus.dead_letters.count("another") == 0
    await until(lambda: _metric("kafeneio_dead_letters") == 1)
    await until(lambda: _metric("kafeneio_bus_waiting") == 0)


async def test_a_dead_letter_is_delivered_again_to_its_consumer_alone(
    buses: Callable[..., NatsBus],
) -> None:
    time = ManualTime()
    bus, other = buses(time), Listener()
    events = [event(1), event(2)]
    picky = Picky(RuntimeError("not yet"), events[0].id)
    await bus.subscribe(SUBJECT, "settlement", other)
    async with hurrying(time):
        await bus.publish(events)
        await bus.subscribe(SUBJECT, CLOCK, picky)
        assert await picky.heard.until(1) == [2]
        await until(lambda: picky.calls >= TRIES_TOGETHER + TRIES_ALONE + 1)
        letters = await bus.dead_letters.all(CLOCK)
        while not letters:
            letters = await bus.dead_letters.all(CLOCK)
    picky.refused.clear()
    await bus.dead_letters.replay(letters)
    assert await picky.heard.until(2) == [2, 1]
    assert await bus.dead_letters.all() == []
    assert await other.until(2) == [1, 2]
    await bus.publish([event(3)])
    assert await other.until(3) == [1, 2, 3]


@pytest.mark.parametrize(
    "error",
    [NotNowError("rules is away"), unavailable("the store is away"), ConnectionRefusedError()],
    ids=["a peer", "the store", "a connection"],
)
async def test_whoever_waits_for_somebody_else_waits_as_long_as_it_takes(
    buses: Callable[..., NatsBus], error: Exception
) -> None:
    time = ManualTime()
    bus, waited = buses(time), event(1)
    picky = Picky(error, waited.id)
    async with hurrying(time):
        await bus.subscribe(SUBJECT, CLOCK, picky)
        await bus.publish([waited])
        await until(lambda: picky.calls > 3 * (TRIES_TOGETHER + TRIES_ALONE))
        assert await bus.dead_letters.all() == []
        picky.refused.clear()
        assert await picky.heard.until(1) == [1]


async def test_what_is_no_event_is_passed_over(buses: Callable[..., NatsBus]) -> None:
    bus, listener = buses(), Listener()
    await bus.subscribe(SUBJECT, CLOCK, listener)
    await bus.publish([event(1)])
    await listener.until(1)
    context = await bus._link.jetstream()
    await context.publish(bus._link.subject(SUBJECT), b"what is this")
    await bus.publish([event(2)])
    assert await listener.until(2) == [1, 2]


def _metric(name: str) -> float | None:
    return REGISTRY.get_sample_value(name, {"consumer": CLOCK})


# ---------------------------------------------------------------- choosing


async def test_the_settings_say_which_bus_it_is(nats_settings: dict[str, Any]) -> None:
    assert isinstance(open_bus(Settings(nats_url=None)), InProcessBus)
    assert isinstance(open_bus(Settings(**nats_settings)), NatsBus)


def test_the_address_of_nats_is_shown_nowhere() -> None:
    told = settings("nats://kafeneio:hush@example.org:4222")
    assert "hush" not in repr(told)
    assert "hush" not in str(told.model_dump())
