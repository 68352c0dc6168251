"""What a position of Portes is worth: single checkers, walls, men sent back, and the race.

A side's features, in the order of `TERMS`, each from its own numbering:

    pips       pips to go, in hundreds
    bar        checkers on the bar
    off        checkers borne off, of 15
    first_off  pips outside the home in hundreds while none is off: how far a double loss is away
    home       points of the home with two or more (they also keep the bar closed)
    outside    points 7..12 with two or more
    anchor     points 19..24 with two or more: where one cannot be shut out
    run        the longest row of such points, squared, of 36
    stacked    checkers above the third of a point
    deep       checkers on 1 and 2, which guard nothing
    back       checkers on 19..24
    threat     the chance that the other's next throw hits a single checker
    loss       the pips that this costs, mean over his throws, in hundreds
    feared     `threat` times the points that he has made in his home
    barred     checkers on the bar times those points
    hemmed     how hard his points make it for each checker to go on (`boards.hemmed`)

The weights were learned from games against itself, then tuned
(`python -m tests.strength.tune portes`).
"""

from __future__ import annotations

import functools
from typing import Final, NamedTuple

from kafeneio_games import tavli
from kafeneio_games.portes import Portes, State
from kafeneio_games.tavli import BAR, CHECKERS, OFF

from . import boards, race
from .lookahead import Effort, Line, Lines, sample
from .weights import Features, Term, Weights, points, weights

TERMS: Final = (
    Term("pips", -0.505, 0.531),
    Term("bar", -0.036, -0.031),
    Term("off", 0.886, -0.599),
    Term("first_off", -0.042, 0.040),
    Term("home", 0.014, -0.025),
    Term("outside", 0.016, -0.013),
    Term("anchor", 0.004, -0.002),
    Term("run", 0.093, -0.074),
    Term("stacked", -0.013, -0.007),
    Term("deep", -0.022, 0.021),
    Term("back", -0.010, 0.015),
    Term("threat", 0.070, -0.028),
    Term("loss", -0.894, 0.268),
    Term("feared", -0.031, 0.024),
    Term("barred", -0.018, 0.042),
    Term("hemmed", -0.069, 0.101),
)
WEIGHTS: Final = weights(TERMS, -0.077)

_HOME: Final = tavli.HOME_MASK
_OUTSIDE: Final = 0b111111 << 7
_FAR: Final = 0b111111 << 19


class Side(NamedTuple):
    """What one side's board says by itself; masks in own numbering, and turned for the other."""

    own: Features
    bar: int
    home: int
    highest: int
    held: int
    made: int
    singles_turned: int
    open_to_other: int


@functools.lru_cache(maxsize=1 << 14)
def side(board: bytes) -> Side:
    """One side by itself."""
    made = boards.made(board)
    made_turned = boards.turned(made)
    home = (made & _HOME).bit_count()
    own = (
        boards.pips(board) / 100,
        float(board[BAR]),
        board[OFF] / CHECKERS,
        0.0 if board[OFF] else boards.outside(board) / 100,
        float(home),
        float((made & _OUTSIDE).bit_count()),
        float((made & _FAR).bit_count()),
        boards.longest_run(made) ** 2 / 36,
        float(boards.stacked(board, 3)),
        float(board[1] + board[2]),
        float(sum(board[19:25])),
    )
    held = 1 << BAR if board[BAR] else tavli.held(board) & tavli.POINTS_MASK
    return Side(
        own,
        board[BAR],
        home,
        boards.highest(board),
        held,
        made,
        boards.turned(boards.singles(board)),
        tavli.POINTS_MASK & ~made_turned,
    )


def features(mine: bytes, theirs: bytes) -> Features | None:
    """The mover's, the other's, and 1; None when nobody can meet anybody any more."""
    me, him = side(mine), side(theirs)
    if me.highest + him.highest <= 25:
        return None
    return (*_seen(me, mine, him), *_seen(him, theirs, me), 1.0)


def _seen(me: Side, board: bytes, him: Side) -> Features:
    """All features of one side in the order of `TERMS`."""
    threat = loss = 0.0
    if me.singles_turned:
        threat, loss, _ = boards.threat(him.held, me.singles_turned, me.open_to_other)
    wall = boards.turned(him.made)
    return (
        *me.own,
        threat,
        loss / 100,
        threat * him.home,
        float(me.bar * him.home),
        boards.hemmed(board, wall),
    )


def value(mine: bytes, theirs: bytes, factors: Weights = WEIGHTS) -> float:
    """Points that the player of `mine`, who has just moved, may expect."""
    if mine[OFF] == CHECKERS:
        return float(tavli.worth(theirs))
    seen = features(mine, theirs)
    return race.points(mine, theirs) if seen is None else points(factors, seen)


def lines(game: Portes, state: State, effort: Effort, factors: Weights = WEIGHTS) -> Lines:
    """The mover's turns, evaluated (a `lookahead.Finder`)."""
    mover, other, found = state.mover, tavli.other(state.mover), []
    for path, ends in sample(game.turns(state), effort.ends):
        found.append(Line(value(ends[mover], ends[other], factors), path))
    return Lines(found, len(found))
