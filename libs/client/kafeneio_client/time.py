"""The time port of the client, so that tests can let minutes pass in no time."""

from __future__ import annotations

import asyncio
import time
from typing import Protocol


class Time(Protocol):
    """Where durations come from."""

    def monotonic(self) -> float:
        """Seconds since some moment; never goes back."""

    async def sleep(self, seconds: float) -> None:
        """Return after `seconds`."""


class SystemTime:
    """The time of this machine."""

    def monotonic(self) -> float:
        """Seconds since some moment; never goes back."""
        return time.monotonic()

    async def sleep(self, seconds: float) -> None:
        """Return after `seconds`."""
        await asyncio.sleep(seconds)
