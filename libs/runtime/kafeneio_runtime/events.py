"""Events of other services, however they come: from the bus, or from their producer, which is asked
for what the bus has not brought.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from typing import Final, Protocol, TypeVar

from google.protobuf.timestamp_pb2 import Timestamp

from kafeneio_runtime.bus import Event

PAGE: Final = 500
"""So many events are asked for at once."""


class Told(Protocol):
    """What the messages of all events have in common."""

    event_id: str
    sequence: int

    @property
    def occurred_at(self) -> Timestamp:
        """The database's time of the commit."""
        ...

    def ParseFromString(self, serialized: bytes) -> int:
        """Reads its bytes."""
        ...


T = TypeVar("T", bound=Told)


def read(event: Event, kind: Callable[[], T]) -> T:
    """An event of the bus as its message: the id and the time are on the envelope."""
    message = kind()
    message.ParseFromString(event.payload)
    message.event_id = str(event.id)
    message.occurred_at.FromDatetime(event.occurred_at)
    return message


async def all_after(sequence: int, ask: Callable[[int], Awaitable[Sequence[T]]]) -> list[T]:
    """Everything that was announced after a sequence number. `ask(after)` is a page of PAGE at the
    most; what it raises is raised.
    """
    found: list[T] = []
    while True:
        page = await ask(found[-1].sequence if found else sequence)
        found += page
        if len(page) < PAGE:
            return found
