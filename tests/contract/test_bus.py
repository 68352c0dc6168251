"""What every bus does, whatever it is made of: in the process, or NATS."""

import asyncio
from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from uuid import UUID

import pytest
from kafeneio_runtime.bus import Bus, Event, InProcessBus
from kafeneio_runtime.clock import ManualTime
from kafeneio_runtime.ids import new_id
from kafeneio_runtime.nats_bus import NatsBus
from kafeneio_runtime.settings import Settings

SUBJECT = "rules.events"
GAME = new_id()
PATIENCE = 10.0


@dataclass
class Setup:
    bus: Bus
    time: ManualTime


@pytest.fixture(params=["in process", "nats"])
async def setup(request: pytest.FixtureRequest) -> AsyncIterator[Setup]:
    time = ManualTime()
    bus: Bus = InProcessBus(time)
    if request.param == "nats":
        bus = NatsBus(Settings(**request.getfixturevalue("nats_settings")), time)
    yield Setup(bus, time)
    await bus.close()


def event(sequence: int, subject: str = SUBJECT) -> Event:
    return Event(
        id=new_id(),
        subject=subject,
        key=GAME,
        sequence=sequence,
        type="kafeneio.rules.v1.TurnStarted",
        payload=sequence.to_bytes(4),
        occurred_at=datetime.now(UTC),
    )


@dataclass
class Listener:
    """A consumer that keeps what it hears. It fails as often as it is told to."""

    failures: int = 0
    heard: list[Event] = field(default_factory=list)
    batches: list[list[UUID]] = field(default_factory=list)
    entered: asyncio.Event = field(default_factory=asyncio.Event)
    gate: asyncio.Event = field(default_factory=asyncio.Event)
    _changed: asyncio.Condition = field(default_factory=asyncio.Condition)

    def __post_init__(self) -> None:
        self.gate.set()

    async def __call__(self, events: Sequence[Event]) -> None:
        self.batches.append([each.id for each in events])
        self.entered.set()
        await self.gate.wait()
        if self.failures:
            self.failures -= 1
            raise RuntimeError("not now")
        self.heard += events
        async with self._changed:
            self._changed.notify_all()

    async def until(self, count: int) -> list[int]:
        """The sequences heard, when there are at least `count`."""
        async with asyncio.timeout(PATIENCE), self._changed:
            await self._changed.wait_for(lambda: len(self.heard) >= count)
        return [each.sequence for each in self.heard]


async def test_what_is_published_is_heard_whole_and_in_order(setup: Setup) -> None:
    listener = Listener()
    await setup.bus.subscribe(SUBJECT, "clock", listener)
    events = [event(number) for number in range(1, 8)]
    await setup.bus.publish(events[:3])
    await setup.bus.publish(events[3:])
    await listener.until(7)
    assert listener.heard == events


async def test_calls_made_at_once_keep_the_order_they_were_made_in(setup: Setup) -> None:
    listener = Listener()
    await setup.bus.subscribe(SUBJECT, "clock", listener)
    async with asyncio.timeout(PATIENCE), asyncio.TaskGroup() as group:
        for number in range(1, 30):
            group.create_task(setup.bus.publish([event(number)]))
    assert await listener.until(29) == list(range(1, 30))


async def test_every_consumer_hears_everything(setup: Setup) -> None:
    clock, settlement = Listener(), Listener()
    await setup.bus.subscribe(SUBJECT, "clock", clock)
    await setup.bus.subscribe(SUBJECT, "settlement", settlement)
    await setup.bus.publish([event(1), event(2)])
    assert await clock.until(2) == await settlement.until(2) == [1, 2]


async def test_a_consumer_hears_its_subject_only(setup: Setup) -> None:
    rules, clock = Listener(), Listener()
    await setup.bus.subscribe("rules.events", "settlement", rules)
    await setup.bus.subscribe("clock.events", "settlement", clock)
    await setup.bus.publish([event(1, "rules.events"), event(2, "clock.events")])
    assert await rules.until(1) == [1]
    assert await clock.until(1) == [2]


async def test_publishing_to_nobody_is_no_error(setup: Setup) -> None:
    listener = Listener()
    await setup.bus.publish([event(1)])
    await setup.bus.subscribe("another", "clock", listener)
    await setup.bus.publish([])
    assert listener.heard == []


async def test_what_a_consumer_could_not_handle_comes_again(setup: Setup) -> None:
    listener = Listener(failures=3)
    await setup.bus.subscribe(SUBJECT, "clock", listener)
    publishing = asyncio.create_task(setup.bus.publish([event(1), event(2)]))
    for _ in range(3):
        await setup.time.until_sleeping()
        assert listener.heard == []
        setup.time.advance(10)
    assert await listener.until(2) == [1, 2]
    await publishing
    assert len(listener.batches) == 4
    assert len({tuple(batch) for batch in listener.batches}) == 1


async def test_consumers_do_not_wait_for_each_other(setup: Setup) -> None:
    stuck, quick = Listener(), Listener()
    stuck.gate.clear()
    await setup.bus.subscribe(SUBJECT, "stuck", stuck)
    await setup.bus.subscribe(SUBJECT, "quick", quick)
    publishing = [asyncio.create_task(setup.bus.publish([event(n)])) for n in (1, 2, 3)]
    assert await quick.until(3) == [1, 2, 3]
    assert stuck.heard == []
    stuck.gate.set()
    assert await stuck.until(3) == [1, 2, 3]
    await asyncio.gather(*publishing)


async def test_a_consumer_that_comes_back_finds_what_it_missed(setup: Setup) -> None:
    before, after = Listener(), Listener()
    subscription = await setup.bus.subscribe(SUBJECT, "clock", before)
    await setup.bus.publish([event(1)])
    assert await before.until(1) == [1]
    await subscription.close()
    publishing = asyncio.create_task(setup.bus.publish([event(2), event(3)]))
    await setup.bus.subscribe(SUBJECT, "clock", after)
    assert await after.until(2) == [2, 3]
    await publishing
    assert [each.sequence for each in before.heard] == [1]


async def test_what_was_in_hand_when_a_consumer_went_comes_again(setup: Setup) -> None:
    before, after = Listener(), Listener()
    before.gate.clear()
    subscription = await setup.bus.subscribe(SUBJECT, "clock", before)
    publishing = asyncio.create_task(setup.bus.publish([event(1)]))
    await before.entered.wait()
    await subscription.close()
    await setup.bus.subscribe(SUBJECT, "clock", after)
    assert await after.until(1) == [1]
    await publishing
    assert before.heard == []


async def test_two_listeners_of_one_name_are_a_mistake(setup: Setup) -> None:
    await setup.bus.subscribe(SUBJECT, "clock", Listener())
    with pytest.raises(ValueError, match="clock"):
        await setup.bus.subscribe(SUBJECT, "clock", Listener())


async def test_a_publisher_that_gives_up_leaves_the_bus_working(setup: Setup) -> None:
    listener = Listener()
    listener.gate.clear()
    await setup.bus.subscribe(SUBJECT, "clock", listener)
    first = asyncio.create_task(setup.bus.publish([event(1)]))
    await listener.entered.wait()
    first.cancel()
    await asyncio.wait([first])
    listener.gate.set()
    await setup.bus.publish([event(2)])
    assert (await listener.until(2))[-1] == 2
