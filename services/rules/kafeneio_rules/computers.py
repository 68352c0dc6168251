"""Turns in which a computer is to move, for whoever plays for the computers.

As with everything that a replica knows, this is a cache of the logs: what is written here is seen
at once, what other replicas write by the next scan; a turn that nobody answers is told again.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from datetime import datetime, timedelta
from typing import Final, NamedTuple
from uuid import UUID

from kafeneio.rules.v1 import game_pb2
from kafeneio_games.game import Seat
from kafeneio_runtime.periodic import every
from kafeneio_runtime.streams import Pace
from prometheus_client import Gauge

from kafeneio_rules import wire
from kafeneio_rules.live import LiveGames
from kafeneio_rules.storage import Games
from kafeneio_rules.table import Table

OVERDUE: Final = Gauge(
    "kafeneio_computer_turns_overdue", "Computers that have not moved for ten seconds."
)
OVERDUE_AFTER: Final = timedelta(seconds=10)
SCAN_SECONDS: Final = 1.0
AGAIN_SECONDS: Final = 5.0
"""A turn that has been told is told again after so long, should the worker have been lost."""


class Due(NamedTuple):
    """A computer that is to move; `since` by the database's time."""

    seat: Seat
    turn: int
    version: int
    since: datetime


class ComputerTurns:
    """The computers' turns of all running games, and the streams that tell of them."""

    def __init__(self, games: Games, live: LiveGames, pace: Pace) -> None:
        self._games = games
        self._live = live
        self._pace = pace
        self._due: dict[UUID, Due] = {}
        self._changed = asyncio.Event()

    def written(self, game_id: UUID) -> None:
        """Something has been committed here."""
        table = self._live.known(game_id)
        if table is not None and (table.play.computers or game_id in self._due):
            self._look(table)

    async def scan(self) -> None:
        """Look at every game with a computer, now and then. Runs until it is cancelled."""
        await every(SCAN_SECONDS, self._scanned, self._pace.time)

    async def watch(self) -> AsyncIterator[game_pb2.WatchComputerTurnsResponse]:
        """Every turn that is due, then each new one."""
        told: dict[UUID, tuple[int, float]] = {}
        pulse = self._pace.begin()
        while True:
            changed = self._changed  # taken before looking, so that no change is missed
            now = self._pace.time.monotonic()
            told = {game_id: each for game_id, each in told.items() if game_id in self._due}
            for game_id, due in list(self._due.items()):
                turn, at = told.get(game_id, (0, 0.0))
                if turn != due.turn or now - at >= AGAIN_SECONDS:
                    told[game_id] = (due.turn, now)
                    yield game_pb2.WatchComputerTurnsResponse(
                        turn=game_pb2.ComputerTurn(
                            game_id=str(game_id),
                            seat=due.seat,
                            turn=due.turn,
                            version=due.version,
                        )
                    )
                    pulse.spoke()
            if pulse.is_over:
                yield game_pb2.WatchComputerTurnsResponse(draining=game_pb2.Draining())
                return
            if await pulse.beats_before(changed):
                beat = game_pb2.Heartbeat(server_time=wire.timestamp(self._pace.time.now()))
                yield game_pb2.WatchComputerTurnsResponse(heartbeat=beat)

    def ring(self) -> None:
        """Wake every stream."""
        self._changed.set()
        self._changed = asyncio.Event()

    async def _scanned(self) -> None:
        games = await self._games.with_computers()
        for game_id in self._due.keys() - set(games):
            del self._due[game_id]
        versions = await self._games.versions(set(games))
        for game_id in games:
            table = self._live.known(game_id)
            if table is None or table.version != versions.get(game_id):
                await self._live.look(game_id)
                table = (await self._live.find(game_id)).table
            self._look(table)
        now = self._pace.time.now()
        OVERDUE.set(sum(now - due.since >= OVERDUE_AFTER for due in self._due.values()))
        if self._due:
            self.ring()

    def _look(self, table: Table) -> None:
        play, since = table.play, table.since
        if play.prompted in play.computers and since is not None:
            assert play.prompted is not None, "None is no computer"
            self._due[table.game_id] = Due(play.prompted, play.turn, table.version, since)
            self.ring()
        else:
            self._due.pop(table.game_id, None)
