"""The bus of a house of many processes: NATS JetStream, server 2.11 or later.

It keeps events on disk, so `publish` returns when NATS has them, and nobody waits for consumers.
What it might lose all the same (a machine, a file) is in the outbox of who has published, and can
be published again.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Sequence
from typing import Final

import nats.errors
from nats.js import api
from nats.js.errors import APIError, NoStreamResponseError
from prometheus_client import Gauge

from kafeneio_runtime import logs, nats_wire, tracing
from kafeneio_runtime.bus import Event, EventHandler, Subscription
from kafeneio_runtime.clock import SystemTime, Time
from kafeneio_runtime.dead_letters import DeadLetters, subjects
from kafeneio_runtime.nats_consumer import NatsConsumer, ended, give_up_if_cancelled
from kafeneio_runtime.nats_link import Link, Options
from kafeneio_runtime.periodic import every
from kafeneio_runtime.settings import Settings

_WAITING: Final = Gauge(
    "kafeneio_bus_waiting", "Events that a consumer has not handled yet.", ("consumer",)
)
_DEAD: Final = Gauge(
    "kafeneio_dead_letters",
    "Events that a consumer could not handle, kept until an operator has them delivered again.",
    ("consumer",),
)
_COUNT_SECONDS: Final = 5.0
_ACK_SECONDS: Final = 5.0
"""So long for NATS to say that it has what was sent; then it is sent again."""
PATIENCE_SECONDS: Final = 10.0
_PAUSE_SECONDS: Final = 0.2

_log: Final = logs.logger(__name__)


class NatsBus:
    """A process on NATS. It connects when it first has something to do."""

    def __init__(
        self, settings: Settings, time: Time | None = None, patience: float = PATIENCE_SECONDS
    ) -> None:
        """Raises ValueError where the settings name no server."""
        self._patience = patience
        self._time: Time = time or SystemTime()
        self._link = Link(Options.of(settings))
        self.dead_letters = DeadLetters(self._link)
        self._consumers: dict[tuple[str, str], NatsConsumer] = {}
        self._in_order = asyncio.Lock()
        self._trouble = ""
        self._counting: asyncio.Task[None] | None = None

    async def publish(self, events: Sequence[Event]) -> None:
        """Hands the events on; returns when NATS has them on disk. Raises ConnectionError when NATS
        has taken none of them for as long as our patience lasts: somebody else may have more luck.
        """
        left = list(events)
        while left:
            self._trouble = ""
            try:
                async with asyncio.timeout(self._patience):
                    left = await self._some_sent(left)
            except TimeoutError:
                raise ConnectionError(f"NATS is away. {self._trouble}".strip()) from None

    async def subscribe(self, subject: str, consumer: str, handler: EventHandler) -> Subscription:
        """As the port has it; a consumer hears what is still kept from before its first time too.
        Returns at once, connected or not.
        """
        place = (subject, consumer)
        if place not in self._consumers:
            self._consumers[place] = NatsConsumer(
                self._link, self.dead_letters, subject, consumer, self._time
            )
        self._consumers[place].start(tracing.traced(consumer, handler))
        if self._counting is None:
            self._counting = asyncio.create_task(self._count())
        return self._consumers[place]

    async def close(self) -> None:
        """Ends all subscriptions, and the connection."""
        if self._counting is not None:
            await ended(self._counting)
        for consumer in self._consumers.values():
            await consumer.close()
        await self._link.close()

    async def _some_sent(self, events: Sequence[Event]) -> list[Event]:
        """Sends events until NATS has taken at least one; those that it has not."""
        while True:
            try:
                left = await self._sent(events)
            except (nats.errors.Error, APIError, OSError) as error:
                give_up_if_cancelled()
                self._trouble = str(error)
                left = list(events)
            if len(left) < len(events):
                return left
            await asyncio.sleep(_PAUSE_SECONDS)

    async def _sent(self, events: Sequence[Event]) -> list[Event]:
        """Sends events, all at once; those of which NATS does not say that it has them."""
        acks: list[asyncio.Future[api.PubAck]] = []
        try:
            async with self._in_order:
                for subject in {event.subject for event in events}:
                    await self._link.prepare(
                        self._link.stream(subject), subjects(self._link, subject)
                    )
                context = await self._link.jetstream()
                for event in events:
                    subject, told = self._link.subject(event.subject), nats_wire.headers(event)
                    acks.append(await context.publish_async(subject, event.payload, headers=told))
            await asyncio.wait(acks, timeout=_ACK_SECONDS)
            return [
                event for event, ack in zip(events, acks, strict=True) if not self._has(event, ack)
            ]
        finally:
            _give_up(acks)

    def _has(self, event: Event, ack: asyncio.Future[api.PubAck]) -> bool:
        """Whether NATS has an event."""
        if not ack.done() or ack.cancelled():
            return False
        error = ack.exception()
        if isinstance(error, NoStreamResponseError):
            self._link.forget(self._link.stream(event.subject))
        return error is None

    async def _count(self) -> None:
        async def counted() -> None:
            for consumer in self._consumers.values():
                try:
                    async with asyncio.timeout(_ACK_SECONDS):
                        waiting = await consumer.waiting()
                        dead = await self.dead_letters.count(consumer.consumer)
                except (nats.errors.Error, APIError, OSError, TimeoutError) as error:
                    _log.debug("not counted", error=type(error).__name__)
                else:
                    _WAITING.labels(consumer.consumer).set(waiting)
                    _DEAD.labels(consumer.consumer).set(dead)

        await every(_COUNT_SECONDS, counted, SystemTime())


def _give_up(acks: Iterable[asyncio.Future[api.PubAck]]) -> None:
    """Stops waiting: what NATS says of them now is of no interest, and must not be warned about."""
    for ack in acks:
        if ack.done() and not ack.cancelled():
            ack.exception()
        ack.cancel()
