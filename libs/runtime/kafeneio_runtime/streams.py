"""The pace of a server stream: when it shows that it lives, and when it says goodbye."""

from __future__ import annotations

import asyncio
import math
from dataclasses import dataclass

from kafeneio_runtime.clock import Time
from kafeneio_runtime.settings import Settings


@dataclass(frozen=True, slots=True)
class Pace:
    """The pace of all streams of a service: a heartbeat after `heartbeat_seconds` of silence, an
    end after `stream_seconds` or when the process drains.
    """

    time: Time
    heartbeat_seconds: float
    stream_seconds: float
    draining: asyncio.Event

    @classmethod
    def of(cls, settings: Settings, time: Time, draining: asyncio.Event) -> Pace:
        """As the settings have it."""
        return cls(time, settings.heartbeat_seconds, settings.stream_seconds, draining)

    def begin(self) -> Pulse:
        """The pulse of a stream that begins now."""
        return Pulse(self)


class Pulse:
    """One stream; whoever ends it rings the bell that it waits for."""

    def __init__(self, pace: Pace) -> None:
        self._pace = pace
        self._ends_at = pace.time.monotonic() + pace.stream_seconds
        self.spoke()

    def spoke(self) -> None:
        """A message was sent: the next heartbeat is due a silence later."""
        self._beat_at = self._pace.time.monotonic() + self._pace.heartbeat_seconds

    @property
    def is_over(self) -> bool:
        """Whether the stream is to say goodbye now."""
        return self._pace.draining.is_set() or self._pace.time.monotonic() >= self._ends_at

    async def beats_before(self, bell: asyncio.Event, at_most: float = math.inf) -> bool:
        """Waits for the bell, `at_most` so many seconds; True where a heartbeat is due by then. It
        counts as sent.

        A bell that brings no message does not put the heartbeat off.
        """
        now = self._pace.time.monotonic()
        try:
            until = min(self._beat_at, self._ends_at, now + at_most)
            async with asyncio.timeout(max(until - now, 0)):
                await bell.wait()
        except TimeoutError:
            if self._pace.time.monotonic() >= self._beat_at and not self.is_over:
                self.spoke()
                return True
        return False
