"""Programs that play through the public API only.

They hold no rule of any game: what may be done they ask the house step by step, and from the view
they see what a step does to the board. The same seed and the same answers give the same game.
"""

from __future__ import annotations

import random
from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Final, Protocol, TypeVar

from kafeneio.rules.v1 import game_pb2 as pb
from kafeneio.rules.v1.actions_pb2 import Action
from kafeneio.rules.v1.views_pb2 import View

from kafeneio_client import board, first_sight
from kafeneio_client.channel import new_id
from kafeneio_client.client import Client
from kafeneio_client.errors import KafeneioError, Refused, Unreachable
from kafeneio_client.games import is_over
from kafeneio_client.time import SystemTime, Time
from kafeneio_client.watch import PATIENCE_SECONDS

T = TypeVar("T")

_AWAY_SECONDS: Final = 0.5  # a house that restarts is back within seconds
# The game moved on between looking and acting, e.g. by a resignation: look again.
_MOVED_ON: Final = frozenset({"STALE_VERSION", "NOT_YOUR_TURN", "GAME_OVER", "TURN_PASSED"})


class Program(Protocol):
    """Something that chooses."""

    def choose(self, view: View, seat: int, actions: Sequence[Action]) -> Action:
        """One of `actions`, of which there is at least one."""


class RandomProgram:
    """Any legal step is as good as another."""

    def __init__(self, seed: int) -> None:
        self._random = random.Random(seed)

    def choose(self, view: View, seat: int, actions: Sequence[Action]) -> Action:
        """One of them, each equally likely."""
        return self._random.choice(actions)


class GreedyProgram:
    """Takes what it sees, and thinks no further (`first_sight`)."""

    def __init__(self, seed: int) -> None:
        self._random = random.Random(seed)

    def choose(self, view: View, seat: int, actions: Sequence[Action]) -> Action:
        """The step that looks best; among equals any."""
        worth = [first_sight.worth(view, seat, action) for action in actions]
        best = max(worth)
        return self._random.choice([a for a, w in zip(actions, worth, strict=True) if w == best])


PROGRAMS: Final[Mapping[str, Callable[[int], Program]]] = {
    "greedy": GreedyProgram,
    "random": RandomProgram,
}
"""Every program by its name; made with a seed."""


def seen_after(view: View, seat: int, action: Action) -> View:
    """What the board looks like when a step of `seat` has been put on it but not been sent."""
    if not (view.HasField("tavli") and action.HasField("move_checker")):
        return view
    move = action.move_checker
    return View(tavli=board.lifted(view.tavli, seat, move.start, move.die))


class Player:
    """A program in one seat of one game."""

    def __init__(
        self, client: Client, game_id: str, seat: int, program: Program, time: Time | None = None
    ) -> None:
        self._client = client
        self._game_id = game_id
        self._seat = seat
        self._program = program
        self._time = time or SystemTime()

    async def sit(self) -> pb.Position:
        """Wait for the start, attend the game until it is over, and play; the last position."""
        position = await self._client.games.started(self._game_id)
        if is_over(position):
            return position
        async with self._client.clock.attending(self._game_id):
            return await self.play()

    async def play(self) -> pb.Position:
        """Play whenever the seat is prompted, until the game is over; the last position."""
        position = (await self._client.games.get(self._game_id)).position
        if is_over(position):
            return position
        await self.answer(position)
        async for update in self._client.games.watch(self._game_id, position.version):
            position = update.position
            await self.answer(position)
        return position

    async def answer(self, position: pb.Position) -> None:
        """Play one whole turn where the position asks this seat for it."""
        if is_over(position) or not position.HasField("turn") or position.turn.seat != self._seat:
            return
        games, request_id = self._client.games, new_id()
        try:
            steps = await self._turn(position.view)
            await self._patiently(
                lambda: games.act(self._game_id, position.version, steps, request_id=request_id)
            )
        except Refused as refused:
            if refused.reason not in _MOVED_ON:
                raise
            # The watch brings what has happened instead.

    async def _turn(self, view: View) -> list[Action]:
        """The steps of a whole turn, each chosen among what the house says is legal after it."""
        steps: list[Action] = []
        while True:
            legal = await self._patiently(
                lambda: self._client.games.legal_actions(self._game_id, steps)
            )
            if legal.complete or not legal.actions:
                return steps
            step = self._program.choose(view, self._seat, legal.actions)
            if step.HasField("draw_stock"):
                return [*steps, step]  # what it brings decides what comes next
            view = seen_after(view, self._seat, step)
            steps.append(step)

    async def _patiently(self, call: Callable[[], Awaitable[T]]) -> T:
        """The answer, also where the house asks to wait, or is away for a moment."""
        given_up_at = self._time.monotonic() + PATIENCE_SECONDS
        while True:
            try:
                return await call()
            except KafeneioError as error:
                pause = _pause(error)
                if pause is None or self._time.monotonic() + pause > given_up_at:
                    raise
            await self._time.sleep(pause)


def _pause(error: KafeneioError) -> float | None:
    """After how many seconds the same call may succeed; None where it never will."""
    if isinstance(error, Refused):
        return error.retry_after
    return _AWAY_SECONDS if isinstance(error, Unreachable) else None
