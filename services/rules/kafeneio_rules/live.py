"""Games as one replica knows them: the folded positions, and who waits for the next.

Any replica may serve any game. What is here is only a cache of the log: an append that comes too
late shows that it is old, a notification tells when another replica has written, and it never holds
what is not committed.
"""

from __future__ import annotations

import asyncio
from collections import OrderedDict
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import datetime
from typing import Final, TypeAlias
from uuid import UUID

from kafeneio.common.v1 import errors_pb2
from kafeneio_games.chance import ProvableDraw, context
from kafeneio_runtime.errors import exists, failed, not_found
from kafeneio_runtime.failpoints import failpoint
from kafeneio_runtime.secrets import Vault

from kafeneio_rules.domain import Change
from kafeneio_rules.storage import Games, Request, StoredRow
from kafeneio_rules.table import DatedStep, Table

Draws: TypeAlias = Callable[[bytes, bytes], ProvableDraw]
"""Chance from a secret and a context. Only a test's own main has another than `ProvableDraw`."""

KEPT_GAMES: Final = 20_000
ROWS_AT_ONCE: Final = 20


@dataclass(slots=True)
class Live:
    """One game: the newest table known here, who may change it now, and a bell for watchers."""

    table: Table
    lock: asyncio.Lock = field(default_factory=asyncio.Lock)
    changed: asyncio.Event = field(default_factory=asyncio.Event)
    watchers: int = 0

    def ring(self) -> None:
        """Wake everybody who waits for a change."""
        if self.watchers:
            self.changed.set()
            self.changed = asyncio.Event()


class LiveGames:
    """The games that this replica has looked at."""

    def __init__(self, games: Games, vault: Vault, draws: Draws = ProvableDraw) -> None:
        self._games = games
        self._draws = draws
        self._vault = vault
        self._live: OrderedDict[UUID, Live] = OrderedDict()
        self._watched: set[UUID] = set()

    async def find(self, game_id: UUID) -> Live:
        """A game, perhaps some moments old.

        Raises the refusals GAME_UNKNOWN and, for a tombstone, GAME_CANCELLED.
        """
        live = self._live.get(game_id)
        if live is None:
            table = await self._load(game_id)
            # Whoever came first while this one was reading stays the only one.
            live = self._live.setdefault(game_id, Live(table))
            self._forget()
        self._live.move_to_end(game_id)
        return live

    async def fresh(self, game_id: UUID) -> Live:
        """A game as the log has it now, whichever replica wrote last."""
        live = await self.find(game_id)
        if not live.table.play.over and await self._is_old(live):
            async with live.lock:  # whoever writes just now is not overtaken by his own echo
                await self.refresh(live)
        return live

    def known(self, game_id: UUID) -> Table | None:
        """A game that has been looked at, as it was then."""
        live = self._live.get(game_id)
        return None if live is None else live.table

    async def refresh(self, live: Live) -> None:
        """Read the log again if it has grown. The caller holds the game's lock."""
        if not live.table.play.over and await self._is_old(live):
            await self._reload(live)

    async def look(self, game_id: UUID) -> None:
        """Something has been committed for a game that may be known here."""
        if (live := self._live.get(game_id)) is not None:
            async with live.lock:
                await self.refresh(live)

    def watched_ids(self) -> set[UUID]:
        """Games that somebody waits for."""
        return set(self._watched)

    async def look_at_watched(self) -> None:
        """Look at every game that somebody waits for."""
        watched = self.watched_ids()
        versions = await self._games.versions(watched)
        for game_id in watched:
            live = self._live[game_id]
            if versions.get(game_id, 0) != live.table.version or live.table.version == 0:
                await self.look(game_id)

    def wake_watchers(self) -> None:
        """Ring every bell: the streams are to end."""
        for live in self._live.values():
            live.ring()

    async def _is_old(self, live: Live) -> bool:
        # Before the start a game changes without a row: seats join.
        version = live.table.version
        return version == 0 or await self._games.version(live.table.game_id) != version

    async def _reload(self, live: Live) -> None:
        """Read what has come to the log. The caller holds the game's lock."""
        table = live.table
        if table.version == 0:  # who has joined stands in no row
            live.table = await self._load(table.game_id)
        else:
            await _take_all(table, await self._games.rows_after(table.game_id, table.version))
        live.ring()

    async def since(self, live: Live, version: int) -> list[DatedStep]:
        """The rows after a version."""
        table = live.table
        if version == table.version:
            return []
        if not table.steps or table.steps[0].step.version > version + 1:
            table = await self.history(table.game_id)
        return [step for step in table.steps if step.step.version > version]

    async def as_of(self, game_id: UUID, until: datetime) -> Table:
        """A game as it stood then, from its log; before its first row it waits for its seats."""
        return await self._load(game_id, until=until)

    async def _load(
        self, game_id: UUID, keep_all: bool = False, until: datetime | None = None
    ) -> Table:
        found = await self._games.load(game_id)
        if found is None:
            raise not_found(errors_pb2.ERROR_REASON_GAME_UNKNOWN, f"there is no game {game_id}")
        header, rows = found
        if header.terms is None:
            raise failed(errors_pb2.ERROR_REASON_GAME_CANCELLED, "the game was cancelled")
        table = Table.begin(header, keep_all)
        await _take_all(table, (row for row in rows if until is None or row.at <= until))
        return table

    async def history(self, game_id: UUID) -> Table:
        """A game with all its rows."""
        return await self._load(game_id, keep_all=True)

    def secret(self, table: Table) -> bytes:
        """What the dice come from. It leaves the process in the record of a finished game only."""
        return self._vault.open(table.header.secret, table.game_id.bytes)

    def draw(self, table: Table) -> ProvableDraw:
        """The game's chance, from where it stands; for a game that every seat has joined."""
        if table.dice is None:
            words = [word or b"" for word in table.header.words]
            table.dice = self._draws(self.secret(table), context(table.game_id.bytes, words))
        table.dice.position = table.drawn  # what was drawn for a refused call is drawn again
        return table.dice

    async def commit(
        self, live: Live, change: Change, drawn: int, request: Request | None, reason: str = ""
    ) -> list[DatedStep] | None:
        """Append a change; None, and the log read again, where another came first.

        The caller holds the game's lock.
        """
        table = live.table
        append = table.append(change, drawn, request, reason)
        failpoint("rules.append.before")
        at = await self._games.append(append)
        failpoint("rules.append.after")
        if at is None:
            await self._reload(live)
            return None
        steps = table.advance(change, append, at)
        live.ring()
        return steps

    async def replayed(self, table: Table, request: Request) -> list[DatedStep] | None:
        """The rows of a call that has been answered before; None where it has not.

        Raises REQUEST_ID_REUSED where the body was another.
        """
        known = table.requests.get((request.caller, request.request_id))
        if known is None:
            return None
        digest, version = known
        if digest != request.digest:
            raise exists(
                errors_pb2.ERROR_REASON_REQUEST_ID_REUSED,
                "this request id was used before, with another body",
            )
        return await self.rows(table, version)

    async def rows(self, table: Table, version: int) -> list[DatedStep]:
        """The row that a call wrote, and the row of the house that followed it."""
        steps = list(table.steps)
        if not steps or steps[0].step.version > version:
            steps = list((await self.history(table.game_id)).steps)
        found = [step for step in steps if step.step.version in (version, version + 1)]
        return [step for step in found if step.step.version == version or step.by_house]

    @contextmanager
    def watched(self, live: Live) -> Iterator[None]:
        """While somebody watches, the game stays here."""
        game_id = live.table.game_id
        live.watchers += 1
        self._watched.add(game_id)
        try:
            yield
        finally:
            live.watchers -= 1
            if not live.watchers:
                self._watched.discard(game_id)

    def _forget(self) -> None:
        """Drop the games that were looked at longest ago, unless somebody is busy with them."""
        while len(self._live) > KEPT_GAMES:
            game_id, live = next(iter(self._live.items()))
            if live.watchers or live.lock.locked():
                self._live.move_to_end(game_id)
                return
            del self._live[game_id]


async def _take_all(table: Table, rows: Iterable[StoredRow]) -> None:
    """Fold rows; of a long log a few at a time, so that nobody else waits for all of them."""
    for number, stored in enumerate(rows, 1):
        table.take(stored)
        if number % ROWS_AT_ONCE == 0:
            await asyncio.sleep(0)
