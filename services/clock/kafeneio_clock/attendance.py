"""Who attends at this replica: the open streams, and when each was last heard of.

Heartbeats stay in memory. Only what changes a seat's presence is stored, and tried until it is.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Final
from uuid import UUID

from kafeneio_runtime import logs
from kafeneio_runtime.clock import Time
from kafeneio_runtime.errors import unavailable

from kafeneio_clock import wire
from kafeneio_clock.keeper import Keeper
from kafeneio_clock.rows import Row
from kafeneio_clock.turns import Micros
from kafeneio_clock.values import Attached, Event, Heard, Lost, Presence, Seat, StreamEnded

LISTEN_SECONDS: Final = 0.25
FROZEN_SECONDS: Final = 1.5
"""Who did not listen for so long has heard nobody: that is no silence of theirs."""
RETRY_SECONDS: Final = 0.5

_log: Final = logs.logger(__name__)


@dataclass(eq=False, slots=True)
class Attachment:
    """One open stream. `heard_at` is on the monotonic clock; `row` is the newest that is known."""

    seat: int
    epoch: int
    row: Row
    heard_at: float
    silent: bool = False
    changed: asyncio.Event = field(default_factory=asyncio.Event)
    by_house: bool = False
    """Set by the server when the stream ends by its own doing."""

    @property
    def now(self) -> Seat:
        """The seat as it is."""
        return self.row.state.seats[self.seat]

    @property
    def current(self) -> bool:
        """Whether no newer one has taken its place."""
        return self.now.epoch == self.epoch

    def update(self, row: Row) -> None:
        """Wake the stream if this is news."""
        if row.version > self.row.version:
            self.row = row
            self.ring()

    def ring(self) -> None:
        """Wake the stream."""
        self.changed.set()
        self.changed = asyncio.Event()


class Attendance:
    """The streams of this replica. `listen` runs until it is cancelled."""

    def __init__(self, keeper: Keeper, time: Time, replica: str, draining: asyncio.Event) -> None:
        self._keeper = keeper
        self._time = time
        self._replica = replica
        self._draining = draining
        self._games: dict[UUID, set[Attachment]] = {}
        self._posts: set[asyncio.Task[None]] = set()

    # --- opening and closing -----------------------------------------------------------------

    @asynccontextmanager
    async def opened(self, game_id: UUID, seat: int) -> AsyncIterator[Attachment]:
        """A stream of a seat for the length of the block. What it leaves behind is stored however
        it ends: as lost where the client closed it, as unknown where the house did.
        """
        # In a task of its own: if the client goes away in the middle, it is still closed again.
        opening = asyncio.create_task(self._open(game_id, seat))
        try:
            attachment = await asyncio.shield(opening)
        except asyncio.CancelledError:
            opening.add_done_callback(self._close_unseen)
            raise
        try:
            yield attachment
        finally:
            self._close(attachment)

    async def _open(self, game_id: UUID, seat: int) -> Attachment:
        attached = Attached(seat, self._replica)
        row = await self._keeper.apply(game_id, lambda state, now: (attached,))
        if row is None:
            raise unavailable("please try again")
        epoch = row.state.seats[seat].epoch
        attachment = Attachment(seat, epoch, row, self._time.monotonic())
        self._games.setdefault(game_id, set()).add(attachment)
        return attachment

    def _close_unseen(self, opening: asyncio.Task[Attachment]) -> None:
        if not opening.cancelled() and opening.exception() is None:
            self._close(opening.result())

    def _close(self, attachment: Attachment) -> None:
        game_id = attachment.row.game_id
        attachments = self._games.get(game_id, set())
        attachments.discard(attachment)
        if not attachments:
            self._games.pop(game_id, None)
        if not attachment.current or attachment.row.state.closed:
            return
        ended = attachment.by_house or self._draining.is_set()
        kind = StreamEnded if ended else Lost
        self._post(game_id, self._dated(kind, attachment, self._time.monotonic()))

    # --- life --------------------------------------------------------------------------------

    def find(self, game_id: UUID, seat: int) -> Attachment | None:
        """The newest stream of a seat at this replica."""
        found = [each for each in self._games.get(game_id, ()) if each.seat == seat]
        return max(found, key=lambda each: each.epoch, default=None)

    def known(self, game_id: UUID) -> Row | None:
        """The clock of a game that is attended here, as it was lately."""
        attachment = next(iter(self._games.get(game_id, ())), None)
        return None if attachment is None else attachment.row

    def alive(self, game_id: UUID, seat: int, epoch: int | None = None) -> bool:
        """A sign of life of a seat; whether its stream is here. One that counted as silent, or as
        unknown, is attached again.
        """
        attachment = self.find(game_id, seat)
        if attachment is None or (epoch is not None and attachment.epoch != epoch):
            return False
        attachment.heard_at = self._time.monotonic()
        if attachment.silent or attachment.now.presence is not Presence.ATTACHED:
            attachment.silent = False
            heard = Heard(seat, attachment.epoch, self._replica)
            self._post(game_id, lambda now: heard)
        return True

    async def listen(self) -> None:
        """Find out who has fallen silent."""
        last = self._time.monotonic()
        while True:
            await self._time.sleep(LISTEN_SECONDS)
            now = self._time.monotonic()
            frozen = now - last if now - last > FROZEN_SECONDS else 0.0
            last = now
            for attachments in self._games.values():
                for attachment in attachments:
                    attachment.heard_at += frozen
                    silent = attachment.row.state.options.silent / wire.SECOND
                    if now - attachment.heard_at >= silent and not attachment.silent:
                        attachment.silent = True
                        since = attachment.heard_at + silent
                        event = self._dated(Lost, attachment, since)
                        self._post(attachment.row.game_id, event)

    # --- news --------------------------------------------------------------------------------

    def versions(self) -> dict[UUID, int]:
        """The games that are attended here, and up to which version they are known."""
        return {
            game_id: min(each.row.version for each in attachments)
            for game_id, attachments in self._games.items()
        }

    def update(self, row: Row) -> None:
        """A clock has changed."""
        for attachment in self._games.get(row.game_id, ()):
            attachment.update(row)

    def wake_all(self) -> None:
        """So that every stream looks whether it is to end."""
        for attachments in self._games.values():
            for attachment in attachments:
                attachment.ring()

    # --- what is to be stored ----------------------------------------------------------------

    def _dated(
        self, kind: type[Lost | StreamEnded], attachment: Attachment, at: float
    ) -> Callable[[Micros], Event]:
        """An event of a moment ago, by the database's time whenever it is stored."""
        seat, epoch = attachment.seat, attachment.epoch

        def dated(now: Micros) -> Event:
            return kind(seat, epoch, now - round((self._time.monotonic() - at) * wire.SECOND))

        return dated

    def _post(self, game_id: UUID, event: Callable[[Micros], Event]) -> None:
        task = asyncio.create_task(self._store(game_id, event))
        self._posts.add(task)
        task.add_done_callback(self._posts.discard)

    async def _store(self, game_id: UUID, event: Callable[[Micros], Event]) -> None:
        while True:
            try:
                await self._keeper.apply(game_id, lambda state, now: (event(now),))
            except Exception as error:  # noqa: BLE001 (the store is away; it is tried again)
                _log.warning("presence not stored", game_id=str(game_id), exc_info=error)
                await self._time.sleep(RETRY_SECONDS)
            else:
                return

    async def flush(self) -> None:
        """Return when everything is stored."""
        while self._posts:
            await asyncio.gather(*self._posts)
