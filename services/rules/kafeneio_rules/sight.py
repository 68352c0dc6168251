"""What the caller sees of a game: who plays in it at once, spectators so many seconds late.

A setting says how late. A spectator sees no hand anyway; the delay keeps him from telling somebody
at the table anything in time. The times in the log decide, so every replica shows the same.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator
from dataclasses import dataclass
from datetime import datetime, timedelta
from math import inf

from kafeneio.rules.v1 import game_pb2
from kafeneio_runtime.auth import Role
from kafeneio_runtime.errors import not_yet
from kafeneio_runtime.interceptors.current import caller
from kafeneio_runtime.streams import Pace

from kafeneio_rules import wire
from kafeneio_rules.live import Live, LiveGames
from kafeneio_rules.table import DatedStep, Table


@dataclass(frozen=True, slots=True)
class Sight:
    """The games of a replica as callers see them; `delay` is that of spectators."""

    live: LiveGames
    pace: Pace
    delay: timedelta

    async def table(self, live: Live) -> Table:
        """The table as the caller sees it: the newest one, or what it was a while ago."""
        table = live.table
        newest = table.steps[-1].at if table.steps else None
        if not self._is_late(table) or newest is None or newest <= self._seen_until():
            return table
        return await self.live.as_of(table.game_id, self._seen_until())

    async def watch(
        self, live: Live, after: int
    ) -> AsyncGenerator[game_pb2.WatchGameResponse, None]:
        """Every row after a version, then each new one, when the caller may see it.

        Raises NOT_YET for a version that he has not seen.
        """
        shown = await self.table(live)
        if after > shown.version:
            raise not_yet(shown.version)
        late, viewer = self._is_late(live.table), live.table.seat_of(caller().subject)
        sent, pulse = after, self.pace.begin()
        with self.live.watched(live):
            while True:
                changed, wait = live.changed, inf  # taken before looking: no change is missed
                for step in await self.live.since(live, sent):
                    if late and (wait := self._wait(step)) > 0:
                        break
                    response = game_pb2.WatchGameResponse()
                    response.update.MergeFromString(step.update(live.table.play.eyes(viewer)))
                    yield response
                    sent, wait = step.step.version, inf
                    pulse.spoke()
                if live.table.play.over and sent == live.table.version:
                    return
                if pulse.is_over:
                    yield game_pb2.WatchGameResponse(draining=game_pb2.Draining())
                    return
                if await pulse.beats_before(changed, wait):
                    beat = game_pb2.Heartbeat(server_time=wire.timestamp(self.pace.time.now()))
                    yield game_pb2.WatchGameResponse(heartbeat=beat)

    def _is_late(self, table: Table) -> bool:
        """Whether the caller only watches. Who is out of the game has sat there, and sees it so."""
        who = caller()
        return bool(self.delay) and who.role is Role.PLAYER and table.seat_of(who.subject) is None

    def _seen_until(self) -> datetime:
        return self.pace.time.now() - self.delay

    def _wait(self, step: DatedStep) -> float:
        """Seconds until spectators see a row."""
        return (step.at - self._seen_until()).total_seconds()
