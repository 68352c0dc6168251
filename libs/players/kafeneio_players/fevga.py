"""What a position of Fevga is worth: points in the other's way, ways to move, the first checker,
and the race.

A side's features are those of `sameway`, and

    passed     whether the first checker is past the other's start, so that all others may move
    distance   else how far it has to go for that, in pips, of 12

The weights come from games of the player against itself (`python -m tests.strength.fit fevga`).
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
    Term("pips", -0.5, 0.5),
    Term("off", 0.5, -0.5),
    Term("first_off", -0.2, 0.2),
    Term("start", -0.2, 0.2),
    Term("quarter4", 0.03, -0.03),
    Term("quarter3", 0.02, -0.02),
    Term("quarter2", 0.05, -0.05),
    Term("quarter1", 0.0, 0.0),
    Term("stacked", -0.2, 0.2),
    Term("last", 0.0, 0.0),
    Term("run", 0.1, -0.1),
    Term("moves", 0.1, -0.1),
    Term("dead", -0.3, 0.3),
    Term("dead2", -0.3, 0.3),
    Term("behind4", -0.2, 0.2),
    Term("behind5", -0.3, 0.3),
    Term("behind6", -0.5, 0.5),
    Term("passed", 0.2, -0.2),
    Term("distance", -0.2, 0.2),
)
WEIGHTS: Final = weights(TERMS, -0.03)


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
