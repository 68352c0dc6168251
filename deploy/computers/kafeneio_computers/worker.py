"""Plays the turns that `rules` tells of: looks at the game, thinks, acts.

Nothing is kept: a turn that is lost with a worker is told again, and playing it again is the same
call. So several workers may run; what each takes next is by lot, so that they share what waits.
"""

from __future__ import annotations

import asyncio
import random
import traceback
from concurrent.futures import ThreadPoolExecutor
from contextlib import aclosing
from pathlib import Path
from typing import Final

from kafeneio.rules.v1 import game_pb2 as pb
from kafeneio_client.errors import KafeneioError, Refused, Unreachable
from kafeneio_runtime import logs
from kafeneio_runtime.clock import Time
from kafeneio_runtime.directory import UnknownServiceError
from prometheus_client import Counter, Histogram

from kafeneio_computers.mind import decide
from kafeneio_computers.peer import Rules

DECISIONS: Final = Counter(
    "kafeneio_computer_decisions_total", "Turns, or parts of one, that were played.", ["variant"]
)
SECONDS: Final = Histogram(
    "kafeneio_computer_decision_seconds",
    "How long a computer thought.",
    buckets=(0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10),
)
FAILURES: Final = Counter(
    "kafeneio_computer_failures_total",
    "Turns that a computer could not think of, or played against the rules; then it did the first"
    " thing that was legal.",
    ["reason"],
)
NO_DECISION, NOT_LEGAL = "no_decision", "not_legal"
for _reason in (NO_DECISION, NOT_LEGAL):
    FAILURES.labels(_reason)

LANES: Final = 4
"""So many games wait for `rules` at a time, while in one of them it is thought."""
RETRY_SECONDS: Final = 2.0
SILENT_SECONDS: Final = 30.0
"""Longer than a stream of `rules` is ever silent."""

_STALE: Final = "STALE_VERSION"
_OVER_ALREADY: Final = frozenset(
    {
        "NOT_YOUR_TURN",
        "GAME_OVER",
        "GAME_CANCELLED",
        "REQUEST_ID_REUSED",  # another worker has done something else in the same position
    }
)
_AGAINST_THE_RULES: Final = frozenset({"ILLEGAL_ACTION", "MALFORMED"})

_log: Final = logs.logger(__name__)


class Worker:
    """One worker. `watch` and, `LANES` times, `play` run until they are cancelled."""

    def __init__(self, rules: Rules, time: Time) -> None:
        self._rules = rules
        self._time = time
        self._waiting: dict[str, pb.ComputerTurn] = {}
        self._playing: dict[str, int] = {}
        self._bell = asyncio.Event()
        # One thread: a second one would not think faster, and the stream is served between.
        self._head = ThreadPoolExecutor(1, "thinking")

    async def watch(self) -> None:
        """Take every turn in."""
        while True:
            try:
                async with aclosing(self._rules.turns()) as turns:
                    async for turn in turns:
                        self._take(turn)
            except (KafeneioError, UnknownServiceError, OSError) as error:
                _log.warning("rules can't be watched", error=str(error))
            await self._time.sleep(RETRY_SECONDS)

    async def play(self) -> None:
        """Play one turn after the other."""
        while True:
            turn = await self._next()
            try:
                await self._played(turn)
            except Refused as refused:
                if refused.reason not in _OVER_ALREADY:
                    _log.warning("a turn was refused", game_id=turn.game_id, reason=refused.reason)
            except (Unreachable, OSError) as error:  # the turn is told again
                _log.warning("rules can't be asked", game_id=turn.game_id, error=str(error))
            except Exception as error:  # noqa: BLE001 (the turn is told again, the others go on)
                _log.error("a turn was not played", game_id=turn.game_id, **_what(error))
            finally:
                del self._playing[turn.game_id]
                self._bell.set()

    async def ready(self) -> None:
        """Raises Unreachable where `rules` has been silent for too long."""
        silent = self._time.monotonic() - self._rules.heard_at
        if silent > SILENT_SECONDS:
            raise Unreachable("rules", f"nothing was heard for {silent:.0f} s")

    async def close(self) -> None:
        """Think no more."""
        self._head.shutdown(wait=False, cancel_futures=True)

    # --- which turn is next ------------------------------------------------------------------

    def _take(self, turn: pb.ComputerTurn) -> None:
        """A turn that is told again while it is played is nothing new."""
        if self._playing.get(turn.game_id) != turn.turn:
            self._waiting[turn.game_id] = turn
            self._bell.set()

    async def _next(self) -> pb.ComputerTurn:
        while True:
            free = [game_id for game_id in self._waiting if game_id not in self._playing]
            if free:
                turn = self._waiting.pop(random.choice(free))
                self._playing[turn.game_id] = turn.turn
                return turn
            self._bell.clear()
            await self._bell.wait()

    # --- one turn ----------------------------------------------------------------------------

    async def _played(self, turn: pb.ComputerTurn) -> None:
        """Act until the prompt is over: it may take more than one decision, and somebody else may
        leave or speak meanwhile.
        """
        while True:
            game = await self._rules.game(turn.game_id, turn.seat)
            running = game.position.turn
            if (running.turn, running.seat) != (turn.turn, turn.seat):
                return
            try:
                await self._move(game, turn.seat)
            except Refused as refused:
                if refused.reason != _STALE:
                    raise
            else:
                DECISIONS.labels(game.terms.variant).inc()

    async def _move(self, game: pb.Game, seat: int) -> None:
        steps = await self._thought(game, seat)
        if steps:
            try:
                await self._rules.act(game, seat, steps, "thought")
            except Refused as refused:
                if refused.reason not in _AGAINST_THE_RULES:
                    raise
                self._failed(NOT_LEGAL, game, refused)
            else:
                return
        first = await self._rules.first_legal(game.game_id, seat)
        await self._rules.act(game, seat, first, "first")

    async def _thought(self, game: pb.Game, seat: int) -> list[str]:
        """What the computer wants to do; [] where it could not think of anything."""
        began = self._time.monotonic()
        try:
            loop = asyncio.get_running_loop()
            steps = await loop.run_in_executor(self._head, decide, game, seat)
        except Exception as error:  # noqa: BLE001 (whatever a player of the house runs into)
            self._failed(NO_DECISION, game, error)
            return []
        SECONDS.observe(self._time.monotonic() - began)
        return steps

    def _failed(self, reason: str, game: pb.Game, error: Exception) -> None:
        FAILURES.labels(reason).inc()
        variant = game.terms.variant
        _log.error(
            "a computer failed",
            game_id=game.game_id,
            variant=variant,
            reason=reason,
            **_what(error),
        )


def _what(error: Exception) -> dict[str, str]:
    """What happened and where. What the error says is left out: there may be cards in it."""
    frames = traceback.extract_tb(error.__traceback__)
    where = f"{Path(frames[-1].filename).name}:{frames[-1].lineno}" if frames else ""
    rule = error.rule if isinstance(error, Refused) else ""
    return {"error": type(error).__name__, "where": where} | ({"rule": rule} if rule else {})
