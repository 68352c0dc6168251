"""One durable consumer of one subject, as this replica takes part in it.

Of all replicas that listen under a name NATS serves one at a time (it is "pinned"), so that the
events of a game come in their order; another takes over within seconds of its end. What it has been
given and has not acknowledged is delivered again.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
from collections import deque
from collections.abc import Sequence
from typing import Final

import nats.errors
from nats.aio.client import Client
from nats.aio.msg import Msg
from nats.js.errors import APIError

from kafeneio_runtime import logs, nats_wire
from kafeneio_runtime.bus import (
    FIRST_BACKOFF,
    LONGEST_BACKOFF,
    Event,
    EventHandler,
    NotNowError,
    attempt,
)
from kafeneio_runtime.clock import Time
from kafeneio_runtime.dead_letters import DeadLetters, subjects
from kafeneio_runtime.errors import Refusal, is_store_trouble
from kafeneio_runtime.nats_link import Link, name

MOST_AT_ONCE: Final = 200
"""So many events may be delivered and not acknowledged; no more of them are handled at once."""
TRIES_TOGETHER: Final = 6
TRIES_ALONE: Final = 5
"""So often a batch is tried, then each of its events by itself, before one is a dead letter."""
MOST_DELIVERIES: Final = 25
"""An event delivered so often has killed whoever handled it: it is a dead letter, untried."""

_GROUP: Final = "replicas"
_PULL_SECONDS: Final = 3.0
_KEEP_SECONDS: Final = 2.0
"""Between two signs of life: they keep the pin, and what is in hand from being delivered again."""
_PIN_SECONDS: Final = 6.0
_ACK_SECONDS: Final = 10.0
_ANSWER_SECONDS: Final = 5.0
_RETRY_SECONDS: Final = 1.0
_SECOND: Final = 1_000_000_000

_STATUS: Final = "Status"
_PIN: Final = "Nats-Pin-Id"
_WRONG_PIN: Final = "423"
_EXPIRED: Final = ("404", "408")

_log: Final = logs.logger(__name__)


class _GoneError(Exception):
    """The consumer is not there any more, or can't be asked."""


class NatsConsumer:
    """Listens from `start` until `close`."""

    def __init__(
        self, link: Link, dead: DeadLetters, subject: str, consumer: str, time: Time
    ) -> None:
        self.subject = subject
        self.consumer = consumer
        self._link = link
        self._dead = dead
        self._time = time
        self._stream = link.stream(subject)
        self._name = name(consumer)
        self._task: asyncio.Task[None] | None = None
        self._held: deque[Msg] = deque()
        self._arrived = asyncio.Event()
        self._gone = ""
        self._pin = ""
        self._wanted = 0

    def start(self, handler: EventHandler) -> None:
        """Begins to listen. Raises ValueError where somebody does so already."""
        if self._task is not None:
            raise ValueError(f"{self.consumer} listens to {self.subject} already")
        self._task = asyncio.create_task(self._listen_for_ever(handler))

    async def close(self) -> None:
        """Stops listening; what is in hand goes to whoever listens next."""
        task, self._task = self._task, None
        if task is not None:
            await ended(task)

    async def waiting(self) -> int:
        """How many events are not handled yet. Raises what NATS raises."""
        context = await self._link.jetstream()
        info = await context.consumer_info(self._stream, self._name)
        return (info.num_pending or 0) + (info.num_ack_pending or 0)

    # --- listening ---------------------------------------------------------------------------

    async def _listen_for_ever(self, handler: EventHandler) -> None:
        while True:
            try:
                await self._listen(handler)
            except (nats.errors.Error, APIError, _GoneError, OSError, TimeoutError) as error:
                give_up_if_cancelled()
                _log.warning(
                    "listens again", consumer=self.consumer, subject=self.subject, error=str(error)
                )
                self._link.forget(self._stream)
            await asyncio.sleep(_RETRY_SECONDS)

    async def _listen(self, handler: EventHandler) -> None:
        client = await self._link.client()
        await self._link.prepare(self._stream, subjects(self._link, self.subject))
        await self._prepare(client)
        self._held.clear()
        self._gone = self._pin = ""
        self._wanted = 0
        inbox = client.new_inbox()
        subscription = await client.subscribe(inbox, cb=self._take)
        keeping = asyncio.create_task(self._keep(client, inbox))
        try:
            while True:
                await self._ask(client, inbox)
                give_up_if_cancelled()
                await self._arrived.wait()
                self._arrived.clear()
                while self._held:
                    await self._deal_with([*self._held][:MOST_AT_ONCE], handler)
                    await self._ask(client, inbox)
                if self._gone:
                    raise _GoneError(self._gone)
        finally:
            await ended(keeping)
            with contextlib.suppress(nats.errors.Error, APIError, OSError, TimeoutError):
                await subscription.unsubscribe()
                await self._leave(client)

    async def _prepare(self, client: Client) -> None:
        """Makes the consumer, or finds it. By hand: the library knows no priority groups."""
        config = {
            "name": self._name,
            "durable_name": self._name,
            # From the first event that is kept, so that no process has to be there first.
            "deliver_policy": "all",
            "ack_policy": "explicit",
            "ack_wait": int(_ACK_SECONDS * _SECOND),
            "max_deliver": -1,  # counted here, where it is known whose fault it was
            "max_ack_pending": MOST_AT_ONCE,
            "filter_subjects": subjects(self._link, self.subject, self.consumer),
            "priority_groups": [_GROUP],
            "priority_policy": "pinned_client",
            "priority_timeout": int(_PIN_SECONDS * _SECOND),
        }
        request: dict[str, object] = {
            "stream_name": self._stream,
            "config": config,
            "action": "",
        }
        await _api(client, f"CONSUMER.CREATE.{self._stream}.{self._name}", request)

    async def _ask(self, client: Client, inbox: str) -> None:
        """Asks for more, when what was asked for is nearly used up. `_keep` asks anew before it
        expires.
        """
        if self._wanted < MOST_AT_ONCE // 2:
            await self._pull(client, inbox)

    async def _pull(self, client: Client, inbox: str) -> None:
        self._wanted = MOST_AT_ONCE
        request: dict[str, object] = {
            "batch": MOST_AT_ONCE,
            "expires": int(_PULL_SECONDS * _SECOND),
            "group": _GROUP,
        }
        if self._pin:
            request["id"] = self._pin
        subject = f"$JS.API.CONSUMER.MSG.NEXT.{self._stream}.{self._name}"
        await client.publish(subject, json.dumps(request).encode(), reply=inbox)

    async def _take(self, message: Msg) -> None:
        """Called with whatever comes to the inbox."""
        told = message.headers or {}
        status = told.get(_STATUS)
        if status is None:
            self._pin = told.get(_PIN, self._pin)
            self._wanted -= 1
            self._held.append(message)
        elif status in _EXPIRED:
            return
        elif status == _WRONG_PIN:
            self._pin, self._wanted = "", 0
        else:
            self._gone = f"{status} {told.get('Description', '')}"
        self._arrived.set()

    async def _keep(self, client: Client, inbox: str) -> None:
        """Signs of life, however long an event takes to be handled."""
        while True:
            await asyncio.sleep(_KEEP_SECONDS)
            if not client.is_connected:
                continue
            with contextlib.suppress(nats.errors.Error, OSError):
                for message in [*self._held]:
                    await message.in_progress()
                await self._pull(client, inbox)
            give_up_if_cancelled()

    async def _leave(self, client: Client) -> None:
        """Gives back what is in hand, so that nobody has to wait until it counts as lost."""
        for message in self._held:
            await message.nak()
        self._held.clear()
        if self._pin and client.is_connected:
            await _api(client, f"CONSUMER.UNPIN.{self._stream}.{self._name}", {"group": _GROUP})

    # --- handling ----------------------------------------------------------------------------

    async def _deal_with(self, messages: Sequence[Msg], handler: EventHandler) -> None:
        """Until each is handled or kept as a dead letter; then it is acknowledged."""
        events = await self._read(messages)
        if events and not await self._handled(handler, events, TRIES_TOGETHER):
            for event in events:
                await self._handled(handler, [event], TRIES_ALONE)
        for message in messages:
            await message.ack()
            self._held.popleft()

    async def _read(self, messages: Sequence[Msg]) -> list[Event]:
        """The events in messages, but for those that nobody could handle."""
        events: list[Event] = []
        for message in messages:
            try:
                event = nats_wire.event(message.data, message.headers)
            except nats_wire.UnreadableError:
                _log.error("unreadable message", consumer=self.consumer, subject=self.subject)
                continue
            if message.metadata.num_delivered > MOST_DELIVERIES:
                await self._bury(event, RuntimeError("delivered too often"))
            else:
                events.append(event)
        return events

    async def _handled(self, handler: EventHandler, events: Sequence[Event], tries: int) -> bool:
        """Tries to handle events, and after so many tries gives up: False, or a dead letter where
        it is one event. Whoever has to wait for somebody else waits as long as it takes.
        """
        backoff, failed = FIRST_BACKOFF, 0
        while True:
            error = await attempt(handler, events, self.consumer, self.subject)
            if error is None:
                return True
            failed += not must_wait(error)
            if failed >= tries:
                if len(events) == 1:
                    await self._bury(events[0], error)
                    return True
                return False
            await self._time.sleep(backoff)
            backoff = min(backoff * 2, LONGEST_BACKOFF)

    async def _bury(self, event: Event, error: BaseException) -> None:
        _log.error(
            "dead letter",
            consumer=self.consumer,
            subject=self.subject,
            event_id=str(event.id),
            error=type(error).__name__,
        )
        await self._dead.keep(event, self.consumer, error)


async def ended(task: asyncio.Task[None]) -> None:
    """Cancels a task and waits for its end. Told once is not always enough: the library swallows
    what cancels it while it writes.
    """
    while not task.done():
        task.cancel()
        await asyncio.wait({task}, timeout=_RETRY_SECONDS)


def give_up_if_cancelled() -> None:
    """Raises CancelledError where this task was cancelled and the library has swallowed it, or has
    turned it into an error of its own.
    """
    task = asyncio.current_task()
    if task is not None and task.cancelling():
        raise asyncio.CancelledError


def must_wait(error: BaseException) -> bool:
    """Whether somebody else is away, so that trying again is all there is to do."""
    if isinstance(error, Refusal):
        return error.code.name == "UNAVAILABLE"
    away = NotNowError | asyncio.CancelledError | TimeoutError | OSError
    return isinstance(error, away) or is_store_trouble(error)


async def _api(client: Client, subject: str, request: dict[str, object]) -> None:
    """Asks JetStream. Raises APIError where it refuses, and TimeoutError where it is silent."""
    message = json.dumps(request).encode()
    answer = await client.request(f"$JS.API.{subject}", message, timeout=_ANSWER_SECONDS)
    refusal = json.loads(answer.data).get("error")
    if refusal is not None:
        raise APIError.from_error(refusal)
