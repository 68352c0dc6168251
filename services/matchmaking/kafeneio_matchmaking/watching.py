"""How something is watched that changes: as it stands, each change, and signs of life."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from enum import Enum, auto
from typing import Final, TypeAlias, TypeVar

from kafeneio_runtime.streams import Pace

LOOK_SECONDS: Final = 2.0
"""So often what is watched is looked at although no note of a change has come."""

T = TypeVar("T")


class Sign(Enum):
    """What a stream says where nothing has happened."""

    BEAT = auto()
    """It lives."""
    GOODBYE = auto()
    """It ends, and is to be opened again."""


Look: TypeAlias = Callable[[], Awaitable[tuple[Sequence[T], bool]]]
"""What is new since the look before, and whether nothing more comes."""


async def follow(pace: Pace, bell: asyncio.Event, look: Look[T]) -> AsyncIterator[T | Sign]:
    """What `look` finds, again whenever the bell rings, until nothing more comes or the stream has
    to end. What `look` raises ends it, too."""
    pulse = pace.begin()
    while True:
        bell.clear()  # before looking, so that no change is missed
        found, over = await look()
        for each in found:
            yield each
            pulse.spoke()
        if over:
            return
        if pulse.is_over:
            yield Sign.GOODBYE
            return
        if await pulse.beats_before(bell, LOOK_SECONDS):
            yield Sign.BEAT
