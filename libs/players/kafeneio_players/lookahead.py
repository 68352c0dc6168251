"""One look ahead: the best few turns by their evaluation are weighed again over all 21 rolls.

The value of a turn is the mean, over the rolls of whoever throws next, of the best reply by its
evaluation.  How much is looked at is bounded by counts of positions, never by time, so that the
answer to a view is always the same.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Final, NamedTuple, TypeAlias, TypeVar

from kafeneio_games.game import CHANCE, AnyGame, Seat
from kafeneio_games.tavli import PASS, Action, Path, Roll, Stage

T = TypeVar("T")
G = TypeVar("G", bound=AnyGame)

CANDIDATES: Final = 4  # at most so many turns are weighed again
CLOSE: Final = 0.3  # and only those whose evaluation is as near to the best one, in points
WEIGHED: Final = 3_000  # no further candidate once so many ends have been evaluated
ROLLS: Final = tuple((Roll(a, b), 1 if a == b else 2) for a in range(1, 7) for b in range(1, a + 1))


class Effort(NamedTuple):
    """How much of a turn is looked at: at most so many ends are evaluated, of a turn that is played
    in parts of each part; and so many ways to play the parts so far are followed further."""

    ends: int
    ways: int


OWN: Final = Effort(2_000, 3)  # of the turn that is to be played
REPLY: Final = Effort(40, 1)  # of the reply to each roll


class Line(NamedTuple):
    """One way to play a turn, and its evaluation in points for the player of it."""

    value: float
    path: Path


class Lines(NamedTuple):
    """The ways to play a turn that were looked at, and how many ends were evaluated for that."""

    found: Sequence[Line]
    evaluated: int


Finder: TypeAlias = Callable[[G, Any, Effort], Lines]
"""A game's own: the mover's turns, evaluated."""


@dataclass(frozen=True, slots=True)
class Decision:
    """What to play, what it is worth in points, and how many positions were evaluated for it."""

    actions: tuple[Action, ...]
    value: float
    evaluated: int


def decide(game: G, state: Any, seat: Seat, finder: Finder[G]) -> Decision:
    """The rest of the turn of `seat`; ValueError when it is not its turn to move checkers."""
    if state.stage is not Stage.MOVE or state.mover != seat:
        raise ValueError("it is not this seat's turn to move a checker")
    lines, evaluated = finder(game, state, OWN)
    # The sort is stable, so equals stay in the order in which the engine finds them.
    ranked = sorted(lines, key=lambda line: -line.value)
    close = [line for line in ranked[:CANDIDATES] if line.value >= ranked[0].value - CLOSE]
    if len(close) == 1:
        return Decision(close[0].path or (PASS,), close[0].value, evaluated)
    best, value = close[0], float("-inf")
    for line in close:
        expected, more = expectation(game, played(game, state, line.path), seat, finder)
        evaluated += more
        if expected > value:
            best, value = line, expected
        if evaluated > WEIGHED:
            break
    return Decision(best.path or (PASS,), value, evaluated)


def expectation(game: G, state: Any, seat: Seat, finder: Finder[G]) -> tuple[float, int]:
    """What `seat` may expect after its turn, in points, and how many positions were evaluated."""
    evaluated = 0
    while state.stage is Stage.MOVE:  # numbers of Gul Bara that were handed over come first
        lines, more = finder(game, state, REPLY)
        evaluated += more
        state = played(game, state, best_of(lines).path)
    result = game.result(state)
    if result is not None:
        return float(result.points[seat] - result.points[1 - seat]), evaluated
    total = 0.0
    for roll, ways in ROLLS:
        lines, more = finder(game, game.apply(state, CHANCE, roll), REPLY)
        evaluated += more
        total += ways * best_of(lines).value
    return total / 36 if state.mover == seat else -total / 36, evaluated


def best_of(lines: Sequence[Line]) -> Line:
    """The first of the best."""
    return max(lines, key=lambda line: line.value)


def played(game: AnyGame, state: Any, path: Path) -> Any:
    """The state after the mover's turn; an empty path is the pass."""
    mover = state.mover
    for action in path or (PASS,):
        state = game.apply(state, mover, action)
    return state


def sample(ends: Sequence[T], most: int) -> Sequence[T]:
    """At most so many of them, evenly spread, so that they stand for all."""
    if len(ends) <= most:
        return ends
    return [ends[number * len(ends) // most] for number in range(most)]
