"""Who waits for changes of accounts, and how replicas tell each other of them.

What replicas tell each other are hints, on PostgreSQL's NOTIFY: gathered for a moment, so that they
cost little however much is paid, and they may be lost. Then a watcher hears of a change at the next
look.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from hashlib import blake2b
from typing import Final

from kafeneio_runtime.clock import Time
from kafeneio_runtime.notify import Hints
from kafeneio_runtime.periodic import every
from kafeneio_runtime.store import Store

from kafeneio_settlement.domain import Account
from kafeneio_settlement.names import SCHEMA

GATHER_SECONDS: Final = 0.02
LOOK_SECONDS: Final = 2.0
ACCOUNTS_A_HINT: Final = 400
"""A payload has at most 8,000 bytes, the mark of an account 16."""


def mark(account: Account) -> str:
    """A short name of an account. Two accounts that share one wake each other's watchers for
    nothing."""
    name = f"{account.currency} {account.name}".encode()
    return blake2b(name, digest_size=8).hexdigest()


class Bells:
    """Rings for those who watch accounts. `tell`, `hear` and `look` run until cancelled."""

    def __init__(self, store: Store, time: Time) -> None:
        self._time = time
        self._hints = Hints(store, SCHEMA, self._heard, self.ring_all, time=time)
        self._watched: dict[str, set[asyncio.Event]] = {}
        self._moved: set[str] = set()
        self._to_tell = asyncio.Event()

    @contextmanager
    def watched(self, account: Account) -> Iterator[asyncio.Event]:
        """Set whenever the account may have changed; whoever looks clears it first."""
        name, bell = mark(account), asyncio.Event()
        bells = self._watched.setdefault(name, set())
        bells.add(bell)
        try:
            yield bell
        finally:
            bells.discard(bell)
            if not bells:
                self._watched.pop(name, None)

    def moved(self, accounts: Iterable[Account]) -> None:
        """Called after each commit; the house's own accounts nobody watches."""
        marks = {mark(account) for account in accounts if account.name.startswith("player:")}
        if not marks:
            return
        self._ring(marks)
        self._moved |= marks
        self._to_tell.set()

    def ring_all(self) -> None:
        """Wake every watcher."""
        self._ring(self._watched)

    def _ring(self, marks: Iterable[str]) -> None:
        for name in marks:
            for bell in self._watched.get(name, ()):
                bell.set()

    def _heard(self, payload: str) -> None:
        self._ring(payload.split(" "))

    async def tell(self) -> None:
        """Tell the other replicas what has changed here."""

        async def told() -> None:
            await self._to_tell.wait()
            await self._time.sleep(GATHER_SECONDS)
            self._to_tell.clear()
            marks = sorted(self._moved)
            self._moved.clear()
            for start in range(0, len(marks), ACCOUNTS_A_HINT):
                await self._hints.send(" ".join(marks[start : start + ACCOUNTS_A_HINT]))

        await every(0, told, self._time)

    async def hear(self) -> None:
        """Hear what has changed elsewhere."""
        await self._hints.run()

    async def look(self) -> None:
        """Let all watchers look now and then, for the hints that were lost."""

        async def looked() -> None:
            self.ring_all()

        await every(LOOK_SECONDS, looked, self._time)
