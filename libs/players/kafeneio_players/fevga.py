"""What a position of Fevga is worth: points in the other's way, ways to move, the first checker,
and the race.

A side's features are those of `sameway`, and

    passed     whether the first checker is past the other's start, so that all others may move
    distance   else how far it has to go for that, in pips, of 12

The weights were set by hand, then tuned (`python -m tests.strength.tune fevga`).
"""

from __future__ import annotations

from typing import Final

from kafeneio_games import fevga, tavli
from kafeneio_games.fevga import Fevga, State
from kafeneio_games.tavli import CHECKERS, OFF

from . import race, sameway
from .lookahead import Effort, Line, Lines, sample
from .sameway import Side
from .weights import Features, Term, Weights, points, weights

TERMS: Final = (
    Term("pips", -0.492, 0.480),
    Term("off", 0.490, -0.442),
    Term("first_off", -0.164, 0.192),
    Term("start", -0.182, 0.177),
    Term("quarter4", -0.006, -0.024),
    Term("quarter3", 0.016, -0.017),
    Term("quarter2", -0.003, -0.070),
    Term("quarter1", 0.016, -0.008),
    Term("stacked", -0.196, 0.195),
    Term("last", -0.001, -0.012),
    Term("run", 0.081, -0.105),
    Term("moves", 0.111, -0.099),
    Term("dead", -0.290, 0.319),
    Term("dead2", -0.299, 0.376),
    Term("behind4", -0.223, 0.215),
    Term("behind5", -0.273, 0.329),
    Term("behind6", -0.508, 0.506),
    Term("passed", 0.222, -0.186),
    Term("distance", -0.182, 0.189),
)
WEIGHTS: Final = weights(TERMS, -0.021)


def features(mine: bytes, theirs: bytes) -> Features | None:
    """The mover's, the other's, and 1; None when the two will not meet any more."""
    me, him = sameway.side(mine), sameway.side(theirs)
    if sameway.apart(me, him):
        return None
    return (*_seen(me, mine, him), *_seen(him, theirs, me), 1.0)


def _seen(me: Side, board: bytes, him: Side) -> Features:
    passed = bool(me.held & fevga.PASSED)
    first = 0 if passed else (me.held & -me.held).bit_length() - 12
    return (*sameway.seen(me, board, him, fevga.movable), float(passed), first / 12)


def value(mine: bytes, theirs: bytes, factors: Weights = WEIGHTS) -> float:
    """Points that the player of `mine`, who has just moved, may expect."""
    if mine[OFF] == CHECKERS:
        return float(tavli.worth(theirs))
    seen = features(mine, theirs)
    return race.points(mine, theirs) if seen is None else points(factors, seen)


def lines(game: Fevga, state: State, effort: Effort, factors: Weights = WEIGHTS) -> Lines:
    """The mover's turns, evaluated (a `lookahead.Finder`)."""
    mover, other, found = state.mover, tavli.other(state.mover), []
    for path, ends in sample(game.turns(state), effort.ends):
        found.append(Line(value(ends[mover], ends[other], factors), path))
    return Lines(found, len(found))
