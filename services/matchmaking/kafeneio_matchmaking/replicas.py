"""What replicas of `matchmaking` tell each other: which tickets and tables have changed.

On PostgreSQL's NOTIFY, sent by the transaction that changes one. A note may be lost with its
connection; nothing but how soon somebody hears depends on it.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager
from uuid import UUID

from kafeneio_runtime.clock import Time
from kafeneio_runtime.notify import Hints
from kafeneio_runtime.store import Store

from kafeneio_matchmaking.names import SCHEMA


class Replicas:
    """This replica among the others. `hear` runs until it is cancelled."""

    def __init__(self, store: Store, time: Time) -> None:
        self._hints = Hints(store, SCHEMA, self._heard, self.wake_all, time=time)
        self._bells: dict[UUID | None, set[asyncio.Event]] = {}

    async def hear(self) -> None:
        """Hear what was written, here and elsewhere."""
        await self._hints.run()

    @contextmanager
    def bell(self, name: UUID | None) -> Iterator[asyncio.Event]:
        """An event that is set whenever the ticket or table has changed; who waits for it clears
        it."""
        bell = asyncio.Event()
        self._bells.setdefault(name, set()).add(bell)
        try:
            yield bell
        finally:
            self._bells[name].discard(bell)
            if not self._bells[name]:
                del self._bells[name]

    @contextmanager
    def any_change(self) -> Iterator[asyncio.Event]:
        """An event that is set whenever any of them has changed."""
        with self.bell(None) as bell:
            yield bell

    def wake_all(self) -> None:
        """Let everybody look for himself: notes were missed, or the process drains."""
        for bells in self._bells.values():
            for bell in bells:
                bell.set()

    def _heard(self, payload: str) -> None:
        for name in (None, *map(UUID, payload.split(" "))):
            for bell in self._bells.get(name, ()):
                bell.set()
