"""The table of the demo: programs play under a clock, one is late once, and one may leave."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Final

from kafeneio.rules.v1 import game_pb2 as pb

from kafeneio_client.cli.faults import Faults
from kafeneio_client.cli.screen import OUT, signs
from kafeneio_client.cli.timekeeping import ClockLines
from kafeneio_client.client import Client
from kafeneio_client.clock import Attendance
from kafeneio_client.games import is_over
from kafeneio_client.programs import PROGRAMS, Player, Program
from kafeneio_client.terminal import Drawing

CLOCK: Final = {"KAFENEIO_CLOCK_MOVE_SECONDS": "2", "KAFENEIO_CLOCK_GRACE_SECONDS": "0.2"}
"""The settings of a house whose clock is in a hurry."""

_LATE_SEAT: Final = 0
_LEAVES_AFTER_ROWS: Final = 12


def _is_mine(position: pb.Position, seat: int) -> bool:
    return position.HasField("turn") and position.turn.seat == seat


class _Late(Player):
    """Plays its first turn only when the clock has charged it for being late."""

    def __init__(
        self, client: Client, game_id: str, seat: int, program: Program, attendance: Attendance
    ) -> None:
        super().__init__(client, game_id, seat, program)
        self._own, self._attendance = seat, attendance
        self._was_late = False

    async def answer(self, position: pb.Position) -> None:
        """Wait for the charge, once."""
        if not self._was_late and _is_mine(position, self._own):
            await self._attendance.until(lambda clock: clock.seats[self._own].charged > 0)
            self._was_late = True
        await super().answer(position)


class _Leaver(Player):
    """Gets up in the middle of the game."""

    def __init__(self, client: Client, game_id: str, seat: int, program: Program) -> None:
        super().__init__(client, game_id, seat, program)
        self._who, self._game, self._own = client, game_id, seat
        self._left = False

    async def answer(self, position: pb.Position) -> None:
        """Play as ever, then leave; where a computer plays on (F1), look on."""
        if self._left:
            return
        if position.version > _LEAVES_AFTER_ROWS and _is_mine(position, self._own):
            self._left = True
            await self._who.clock.leave(self._game)
        else:
            await super().answer(position)


@dataclass(frozen=True, slots=True)
class TableOfPrograms:
    """A program in each seat of a game, and a spectator who draws."""

    players: Sequence[Client]
    guest: Client
    game: pb.Game
    seed: int
    leave: bool
    faults: Faults
    charged: dict[int, int] = field(default_factory=dict)

    async def play(self) -> list[pb.GameUpdate]:
        """Play to the end; what the spectator saw."""
        try:
            async with asyncio.TaskGroup() as group:
                watching = group.create_task(self._drawn())
                for seat in range(len(self.players)):
                    group.create_task(self._sit(seat))
        except ExceptionGroup as failures:
            raise failures.exceptions[0] from failures
        self.faults.expect(self.charged.get(_LATE_SEAT, 0) > 0, "who was late was not charged")
        return watching.result()

    async def _sit(self, seat: int) -> None:
        """One program at the table, from the start until the clock is closed."""
        client, game_id = self.players[seat], self.game.game_id
        kinds = list(PROGRAMS.values())
        program = kinds[seat % len(kinds)](self.seed + seat)
        async with client.clock.attending(game_id) as attendance:
            self.faults.expect(attendance.attached.seat == seat, f"the clock mistakes seat {seat}")
            if seat == _LATE_SEAT:
                telling = asyncio.create_task(self._told(attendance))
                await _Late(client, game_id, seat, program, attendance).play()
                await telling
            elif self.leave and seat == len(self.players) - 1:
                await _Leaver(client, game_id, seat, program).play()
                return  # whose clock is not told any more
            else:
                await Player(client, game_id, seat, program).play()
            last = await attendance.until(lambda clock: clock.closed)
            self.charged[seat] = last.seats[seat].charged

    async def _told(self, attendance: Attendance) -> None:
        """Tell what the clock does, until it is closed."""
        lines = ClockLines(Drawing.of(self.game, signs=signs()))
        async for clock in attendance:
            for line in lines.news(clock):
                OUT.print(line, soft_wrap=True)

    async def _drawn(self) -> list[pb.GameUpdate]:
        """Draw the table after each turn, as the stream of a spectator shows it."""
        drawing = Drawing.of(self.game, signs=signs())
        seen: list[pb.GameUpdate] = []
        async for update in self.guest.games.watch(self.game.game_id):
            seen.append(update)
            OUT.print(drawing.happened(update.entries), end="", soft_wrap=True)
            if len(seen) > 1 and update.position.round != seen[-2].position.round:
                OUT.print(drawing.last_round(update.position), soft_wrap=True)
            if update.position.HasField("turn") or is_over(update.position):
                OUT.print(drawing.position(update.position), soft_wrap=True)
        return seen
