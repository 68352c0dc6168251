"""Time as a port: what waits or asks for the time is given one, so that a test moves it by hand."""

import asyncio
import heapq
import itertools
import time
from datetime import UTC, datetime, timedelta
from typing import Protocol


class Time(Protocol):
    """Where a process gets its time from."""

    def now(self) -> datetime:
        """The time of day, in UTC. May step; compare only with other times of day."""
        ...

    def monotonic(self) -> float:
        """Seconds since some fixed moment; never steps back. For durations."""
        ...

    async def sleep(self, seconds: float) -> None:
        """Returns when at least so many seconds have passed."""
        ...


class SystemTime:
    """The machine's time."""

    def now(self) -> datetime:
        return datetime.now(UTC)

    def monotonic(self) -> float:
        return time.monotonic()

    async def sleep(self, seconds: float) -> None:
        await asyncio.sleep(seconds)


class ManualTime:
    """Time that stands still until a test moves it."""

    def __init__(self, start: datetime = datetime(2026, 1, 1, tzinfo=UTC)) -> None:
        self._start = start
        self._elapsed = 0.0
        self._order = itertools.count()
        self._sleepers: list[tuple[float, int, asyncio.Future[None]]] = []
        self._changed = asyncio.Condition()

    def now(self) -> datetime:
        return self._start + timedelta(seconds=self._elapsed)

    def monotonic(self) -> float:
        return self._elapsed

    async def sleep(self, seconds: float) -> None:
        waker = asyncio.get_running_loop().create_future()
        heapq.heappush(self._sleepers, (self._elapsed + seconds, next(self._order), waker))
        self._wake()
        async with self._changed:
            self._changed.notify_all()
        await waker

    @property
    def sleeping(self) -> int:
        """How many are asleep now."""
        return sum(not waker.done() for _, _, waker in self._sleepers)

    async def until_sleeping(self, count: int = 1) -> None:
        """Returns when at least `count` are asleep: then it is safe to advance."""
        async with self._changed:
            await self._changed.wait_for(lambda: self.sleeping >= count)

    def advance(self, seconds: float) -> None:
        """Moves the time on and wakes whoever has slept long enough, in order of their alarms."""
        self._elapsed += seconds
        self._wake()

    def _wake(self) -> None:
        while self._sleepers and self._sleepers[0][0] <= self._elapsed:
            _, _, waker = heapq.heappop(self._sleepers)
            if not waker.done():
                waker.set_result(None)
