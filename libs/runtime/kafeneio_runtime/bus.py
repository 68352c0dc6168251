"""The bus: how events come from the service that announces them to those who listen.

A port with one implementation here, for services that share a process; another, on NATS, has the
same contract, and one test runs on both (`tests/contract/test_bus.py`):

- *At least once.* `publish` returns when the events are safe without the caller: he may mark them
  as published then, not before. A handler that raises gets the same events again.
- *In order*, for each consumer, as published. After a crash a publisher repeats itself, so a
  consumer may see old events again and drops what it knows (`first_time`). After a fault, of the
  broker or of a replica that listens, some may come late: their numbers tell, and whoever needs
  them asks the producer.
- A consumer is *durable*: it has a name, and what is published while nobody of that name listens
  waits for it. Replicas listen under one name, and each event goes to one of them.
- Consumers do not wait for each other.
"""

import asyncio
from collections import deque
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Final, NamedTuple, Protocol, TypeAlias
from uuid import UUID

from prometheus_client import Counter

from kafeneio_runtime import logs, tracing
from kafeneio_runtime.clock import SystemTime, Time

if TYPE_CHECKING:
    from kafeneio_runtime.settings import Settings
    from kafeneio_runtime.store import Connection

_log: Final = logs.logger(__name__)
_FAILURES: Final = Counter(
    "kafeneio_bus_failures_total",
    "Batches that a consumer could not handle, each tried again.",
    ("consumer",),
)
FIRST_BACKOFF: Final = 0.1
LONGEST_BACKOFF: Final = 10.0
_MOST_AT_ONCE: Final = 200

_FIRST_TIME: Final = """
    INSERT INTO inbox (consumer, event_id) SELECT $1, unnest($2::uuid[])
    ON CONFLICT DO NOTHING
    RETURNING event_id
"""


class NotNowError(Exception):
    """A handler can't do anything until somebody else is back. It is called again for as long as
    that takes, and the event is never given up for it.
    """


class Event(NamedTuple):
    """Something that has happened. `subject` is the stream ("rules.events"), `key` what it is about
    (the game), `sequence` counts the events of that key from 1, `type` names the message in
    `payload`.
    """

    id: UUID
    subject: str
    key: UUID
    sequence: int
    type: str
    payload: bytes
    occurred_at: datetime


EventHandler: TypeAlias = Callable[[Sequence[Event]], Awaitable[None]]


class Subscription(Protocol):
    """Somebody who listens."""

    async def close(self) -> None:
        """Stops listening. What the handler has not finished comes again when somebody of that name
        listens.
        """
        ...


class Bus(Protocol):
    """Carries events."""

    async def publish(self, events: Sequence[Event]) -> None:
        """Hands the events on; returns when they can't be lost any more. Calls take effect in the
        order they are made.
        """
        ...

    async def subscribe(self, subject: str, consumer: str, handler: EventHandler) -> Subscription:
        """Calls `handler` with what is published on `subject`, at the latest from the first event
        after the consumer's name was first used. Raises ValueError if somebody of that name listens
        here already.
        """
        ...

    async def close(self) -> None:
        """Ends all subscriptions."""
        ...


def open_bus(settings: "Settings") -> Bus:
    """The bus of the settings: NATS where they name one, else that of this process."""
    if settings.nats_url is None:
        return InProcessBus()
    from kafeneio_runtime.nats_bus import NatsBus  # a house in one process needs none of it

    return NatsBus(settings)


async def attempt(
    handler: EventHandler, events: Sequence[Event], consumer: str, subject: str
) -> BaseException | None:
    """Calls a handler once. The error with which it has failed, counted and logged; None where it
    has not.
    """
    try:
        await handler(events)
    except BaseException as error:
        task = asyncio.current_task()
        if not isinstance(error, Exception) and (task is None or task.cancelling()):
            raise  # it is we who are ended; else something inside of the handler was
        _FAILURES.labels(consumer).inc()
        _log.error("events not handled", consumer=consumer, subject=subject, exc_info=error)
        return error
    return None


async def first_time(
    connection: "Connection", consumer: str, event_ids: Sequence[UUID]
) -> set[UUID]:
    """Those of the events that `consumer` has not handled yet, now recorded as handled.

    Must run in the transaction of their effect: either both are kept or neither is.
    """
    rows = await connection.fetch(_FIRST_TIME, consumer, list(event_ids))
    return {row["event_id"] for row in rows}


@dataclass(slots=True)
class _Parcel:
    """The events of one `publish` on their way to one consumer."""

    events: Sequence[Event]
    handled: "asyncio.Future[None]"


class _Consumer:
    """What waits for one name, whether or not somebody listens."""

    def __init__(self, subject: str, name: str, time: Time) -> None:
        self.subject = subject
        self.name = name
        self._time = time
        self._parcels: deque[_Parcel] = deque()
        self._arrived = asyncio.Event()
        self._task: asyncio.Task[None] | None = None

    def listen(self, handler: EventHandler) -> None:
        if self._task is not None:
            raise ValueError(f"{self.name} listens to {self.subject} already")
        self._task = asyncio.create_task(self._deliver(handler))

    async def close(self) -> None:
        task, self._task = self._task, None
        if task is not None:
            task.cancel()
            await asyncio.gather(task, return_exceptions=True)

    def send(self, events: Sequence[Event]) -> "asyncio.Future[None]":
        parcel = _Parcel(events, asyncio.get_running_loop().create_future())
        self._parcels.append(parcel)
        self._arrived.set()
        return parcel.handled

    def forsake(self) -> None:
        """Tells whoever still waits that his events have not been handled."""
        for parcel in self._parcels:
            if not parcel.handled.done():
                parcel.handled.set_exception(ConnectionError("the bus is closed"))
        self._parcels.clear()

    async def _deliver(self, handler: EventHandler) -> None:
        while True:
            while not self._parcels:
                self._arrived.clear()
                await self._arrived.wait()
            taken = self._take()
            # What its publisher has given up waiting for is still in his outbox and comes again.
            batch = [
                event for parcel in taken if not parcel.handled.done() for event in parcel.events
            ]
            if batch:
                await self._handle(handler, batch)
            # Only now: if we are cancelled before, whoever listens next finds them here.
            for parcel in taken:
                self._parcels.popleft()
                if not parcel.handled.done():
                    parcel.handled.set_result(None)

    def _take(self) -> list[_Parcel]:
        taken: list[_Parcel] = []
        count = 0
        for parcel in self._parcels:
            if count >= _MOST_AT_ONCE:
                break
            taken.append(parcel)
            count += len(parcel.events)
        return taken

    async def _handle(self, handler: EventHandler, batch: Sequence[Event]) -> None:
        """Until it is done. A consumer that passed over what it can't handle would be wrong for
        ever after.
        """
        backoff = FIRST_BACKOFF
        while await attempt(handler, batch, self.name, self.subject) is not None:
            await self._time.sleep(backoff)
            backoff = min(backoff * 2, LONGEST_BACKOFF)


class _InProcessSubscription:
    def __init__(self, consumer: _Consumer) -> None:
        self._consumer = consumer

    async def close(self) -> None:
        await self._consumer.close()


class InProcessBus:
    """The bus of a house in one process.

    It keeps nothing on disk, so events are safe only when they have been handled, and `publish`
    waits for that. Until then they are in the publisher's outbox, which outlives us.
    """

    def __init__(self, time: Time | None = None) -> None:
        self._time: Time = time or SystemTime()
        self._consumers: dict[tuple[str, str], _Consumer] = {}

    async def publish(self, events: Sequence[Event]) -> None:
        by_subject: dict[str, list[Event]] = {}
        for event in events:
            by_subject.setdefault(event.subject, []).append(event)
        # No await before all are queued: this is what keeps the order of calls.
        handled = [
            consumer.send(by_subject[subject])
            for (subject, _), consumer in self._consumers.items()
            if subject in by_subject
        ]
        await asyncio.gather(*handled)

    async def subscribe(self, subject: str, consumer: str, handler: EventHandler) -> Subscription:
        place = (subject, consumer)
        if place not in self._consumers:
            self._consumers[place] = _Consumer(subject, consumer, self._time)
        self._consumers[place].listen(tracing.traced(consumer, handler))
        return _InProcessSubscription(self._consumers[place])

    async def close(self) -> None:
        for consumer in self._consumers.values():
            await consumer.close()
            consumer.forsake()
