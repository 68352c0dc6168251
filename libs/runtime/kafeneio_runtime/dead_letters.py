"""Events that a consumer could not handle: kept until somebody has them delivered again.

One that is passed over leaves a gap behind, which consumers of games fill by asking the producer;
whatever else is missing is missing until the letter is delivered again. So each is an alarm.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Final, NamedTuple

from nats.js.errors import NotFoundError

from kafeneio_runtime import nats_wire
from kafeneio_runtime.bus import Event
from kafeneio_runtime.nats_link import Link, name

_SUBJECT: Final = "dead"
_AGAIN: Final = "again"
_CONSUMER: Final = "Kafeneio-Consumer"
_ERROR: Final = "Kafeneio-Error"
_TIMEOUT: Final = 5.0


class DeadLetter(NamedTuple):
    """An event that waits for an operator. `number` counts the letters; `error` is the kind of the
    last error, never its text, which may quote what nobody may see.
    """

    number: int
    consumer: str
    event: Event
    error: str
    kept_at: datetime | None


def subjects(link: Link, subject: str, consumer: str = "*") -> list[str]:
    """What a consumer of `subject` hears: what is published, and what is delivered to it again. For
    the stream itself the consumer is `*`.
    """
    whose = consumer if consumer == "*" else name(consumer)
    return [link.subject(subject), link.subject(subject, _AGAIN, whose)]


class DeadLetters:
    """The dead letters of a house."""

    def __init__(self, link: Link) -> None:
        self._link = link
        self._stream = link.stream(_SUBJECT)

    async def keep(self, event: Event, consumer: str, error: BaseException) -> None:
        """Keeps an event. Kept again it is one letter. Raises what NATS raises."""
        await self._prepare()
        told = nats_wire.headers(event, f"{consumer} {event.id}")
        told |= {_CONSUMER: consumer, _ERROR: type(error).__name__}
        context = await self._link.jetstream()
        subject = self._link.subject(_SUBJECT, name(consumer))
        await context.publish(subject, event.payload, timeout=_TIMEOUT, headers=told)

    async def count(self, consumer: str) -> int:
        """How many letters there are for a consumer."""
        await self._prepare()
        context = await self._link.jetstream()
        subject = self._link.subject(_SUBJECT, name(consumer))
        info = await context.stream_info(self._stream, subjects_filter=subject)
        return (info.state.subjects or {}).get(subject, 0)

    async def all(self, consumer: str = "") -> list[DeadLetter]:
        """The letters, of one consumer or of all, in the order in which they were kept."""
        await self._prepare()
        context = await self._link.jetstream()
        subject = self._link.subject(_SUBJECT, name(consumer) if consumer else "*")
        found: list[DeadLetter] = []
        while True:
            after = found[-1].number + 1 if found else 1
            try:
                kept = await context.get_msg(self._stream, after, subject, next=True)
            except NotFoundError:
                return found
            told = kept.headers or {}
            letter = DeadLetter(
                number=kept.seq or 0,
                consumer=told[_CONSUMER],
                event=nats_wire.event(kept.data or b"", told),
                error=told[_ERROR],
                kept_at=kept.time,
            )
            found.append(letter)

    async def replay(self, letters: Sequence[DeadLetter]) -> None:
        """Delivers letters to their consumers again, and to nobody else; those that fail again come
        back as new ones.
        """
        context = await self._link.jetstream()
        for letter in letters:
            event = letter.event
            await self._link.prepare(
                self._link.stream(event.subject), subjects(self._link, event.subject)
            )
            await context.publish(
                self._link.subject(event.subject, _AGAIN, name(letter.consumer)),
                event.payload,
                timeout=_TIMEOUT,
                headers=nats_wire.headers(event, f"{letter.number} {event.id}"),
            )
            await context.delete_msg(self._stream, letter.number)

    async def _prepare(self) -> None:
        await self._link.prepare(self._stream, [self._link.subject(_SUBJECT, "*")], ages=False)
