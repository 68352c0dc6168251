"""What a position of Gul Bara is worth: points in the other's way, ways to move, numbers given
away, and the race.

A side's features are those of `sameway`, and

    given      the pips that it is handed and may play before its own throw, in hundreds

The weights were set by hand, then tuned (`python -m tests.strength.tune gulbara`).

An escalation is played number by number (V6.2); of the ways to play each number only the best few
are followed, because all of them together would be millions.
"""

from __future__ import annotations

from typing import Final, NamedTuple

from kafeneio_games import gulbara, tavli
from kafeneio_games.game import Seat
from kafeneio_games.gulbara import Gulbara, State
from kafeneio_games.tavli import CHECKERS, OFF, Path, Stage

from . import race, sameway
from .lookahead import Effort, Line, Lines, played, sample
from .weights import Features, Term, Weights, points, weights

TERMS: Final = (
    Term("pips", -0.453, 0.533),
    Term("off", 0.499, -0.505),
    Term("first_off", -0.141, 0.173),
    Term("start", -0.170, 0.202),
    Term("quarter4", 0.014, -0.027),
    Term("quarter3", 0.022, -0.022),
    Term("quarter2", 0.016, -0.060),
    Term("quarter1", 0.008, -0.001),
    Term("stacked", -0.172, 0.208),
    Term("last", 0.000, 0.002),
    Term("run", 0.091, -0.130),
    Term("moves", 0.099, -0.117),
    Term("dead", -0.284, 0.308),
    Term("dead2", -0.330, 0.241),
    Term("behind4", -0.205, 0.245),
    Term("behind5", -0.294, 0.294),
    Term("behind6", -0.503, 0.575),
    Term("given", 0.000, -0.261),
)
WEIGHTS: Final = weights(TERMS, -0.030)


def features(mine: bytes, theirs: bytes, given: int = 0) -> Features | None:
    """The mover's, the other's, who is handed numbers of so many pips, and 1; None when the two
    will not meet any more."""
    me, him = sameway.side(mine), sameway.side(theirs)
    if sameway.apart(me, him):
        return None
    seen = sameway.seen(me, mine, him, gulbara.movable)
    his = sameway.seen(him, theirs, me, gulbara.movable)
    return (*seen, 0.0, *his, given / 100, 1.0)


def value(mine: bytes, theirs: bytes, given: int = 0, factors: Weights = WEIGHTS) -> float:
    """Points that the player of `mine`, who has just moved and handed over numbers of `given`
    pips, may expect."""
    if mine[OFF] == CHECKERS:
        return float(tavli.worth(theirs))
    seen = features(mine, theirs, given)
    return race.points(mine, theirs, race.ESCALATING) if seen is None else points(factors, seen)


class _Way(NamedTuple):
    """A way to play the first numbers of an escalation, and where it has come to."""

    value: float
    path: Path
    state: State


def lines(game: Gulbara, state: State, effort: Effort, factors: Weights = WEIGHTS) -> Lines:
    """The mover's turns, evaluated (a `lookahead.Finder`)."""
    if len(state.dice) == 2 or len(set(state.dice)) == 1:
        found = _at_once(game, state, effort, factors)
        return Lines(found, len(found))
    done: list[Line] = []
    evaluated, followed = 0, [_Way(0.0, (), state)]
    while followed:
        further: list[_Way] = []
        for way in followed:
            found = _at_once(game, way.state, effort, factors)
            evaluated += len(found)
            for line in sorted(found, key=lambda line: -line.value)[: effort.ways]:
                after, path = played(game, way.state, line.path), (*way.path, *line.path)
                if after.mover == state.mover and after.stage is Stage.MOVE:
                    further.append(_Way(line.value, path, after))
                else:
                    done.append(Line(_of_end(after, state.mover, factors), path))
        followed = sorted(further, key=lambda way: -way.value)[: effort.ways]
    return Lines(done, evaluated)


def _at_once(game: Gulbara, state: State, effort: Effort, factors: Weights) -> list[Line]:
    """What can be played of a pair, or of an escalation's current number."""
    mover, other, found = state.mover, tavli.other(state.mover), []
    last = len(state.dice) == 2 or len(set(state.dice)) == 1
    gives = sum(state.dice) if last and not state.received else 0
    for path, ends in sample(game.turns(state), effort.ends):
        given = gives - sum([step.die for step in path]) if gives else 0
        found.append(Line(value(ends[mover], ends[other], given, factors), path))
    return found


def _of_end(after: State, mover: Seat, factors: Weights) -> float:
    """What a finished turn is worth to the one who has played it."""
    mine, theirs = tavli.own_and_other(after.boards, mover)
    return value(mine, theirs, sum(after.received), factors)
