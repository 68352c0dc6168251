"""What replicas of `matchmaking` tell each other: which tickets have changed.

On PostgreSQL's NOTIFY, sent by the transaction that changes a ticket. A note may be lost with its
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

from kafeneio_matchmaking.schema import SCHEMA


class Replicas:
    """This replica among the others. `hear` runs until it is cancelled."""

    def __init__(self, store: Store, time: Time) -> None:
        self._hints = Hints(store, SCHEMA, self._heard, self.wake_all, time=time)
        self._bells: dict[UUID, set[asyncio.Event]] = {}
        self.changed = asyncio.Event()
        """Set whenever any ticket has changed; who waits for it clears it."""

    async def hear(self) -> None:
        """Hear what was written, here and elsewhere."""
        await self._hints.run()

    @contextmanager
    def bell(self, ticket_id: UUID) -> Iterator[asyncio.Event]:
        """An event that is set whenever the ticket has changed."""
        bell = asyncio.Event()
        self._bells.setdefault(ticket_id, set()).add(bell)
        try:
            yield bell
        finally:
            self._bells[ticket_id].discard(bell)
            if not self._bells[ticket_id]:
                del self._bells[ticket_id]

    def wake_all(self) -> None:
        """Let everybody look for himself: notes were missed, or the process drains."""
        self.changed.set()
        for bells in self._bells.values():
            for bell in bells:
                bell.set()

    def _heard(self, payload: str) -> None:
        self.changed.set()
        for text in payload.split(" "):
            for bell in self._bells.get(UUID(text), ()):
                bell.set()
