"""What a position of Plakoto is worth: men pinned or in danger of it, mothers, walls, and the race.

A side's features, in the order of `TERMS`, each from its own numbering:

    pips       pips to go, in hundreds
    off        checkers borne off, of 15
    first_off  pips outside the home in hundreds while none is off: how far a double loss is away
    start      checkers still on 24, of 15
    pinned     checkers pinned
    depth      the pips that those have still to go, in hundreds
    caught     checkers pinned on 13..24, where the other need not soon move on
    stacked    checkers above the third of a point, the start aside
    lone       whether the mother is alone there and not pinned
    mother     whether she is pinned, where that loses
    home       points closed to the other in the home
    middle     of 7..18
    far        of 19..23
    run        the longest row of closed points, squared, of 36
    threat     the chance that the other's next throw can pin a single checker
    cost       the pips that the one farthest back has still to go, mean over throws, in hundreds
    peril      the chance that it can pin the mother
    hemmed     how hard his points make it for each checker to go on (`boards.hemmed`)
    moves      ways to play one number, by checkers' points and numbers, of 36
    dead       numbers of a die that cannot be played, of 6, squared

The weights were set by hand, then tuned (`python -m tests.strength.tune plakoto`).
"""

from __future__ import annotations

import functools
from typing import Final, NamedTuple

from kafeneio_games import plakoto, tavli
from kafeneio_games.plakoto import MOTHER, Plakoto, State
from kafeneio_games.tavli import CHECKERS, OFF, POINTS_MASK

from . import boards, race
from .lookahead import Effort, Line, Lines, sample
from .weights import Features, Term, Weights, points, weights

TERMS: Final = (
    Term("pips", -0.356, 0.306),
    Term("off", 0.494, -0.443),
    Term("first_off", -0.221, 0.100),
    Term("start", -0.093, 0.064),
    Term("pinned", -0.080, 0.081),
    Term("depth", -0.528, 0.547),
    Term("caught", -0.079, 0.134),
    Term("stacked", -0.015, -0.008),
    Term("lone", -0.037, 0.063),
    Term("mother", -1.695, 1.509),
    Term("home", 0.024, -0.053),
    Term("middle", 0.060, -0.063),
    Term("far", 0.026, -0.045),
    Term("run", 0.080, -0.115),
    Term("threat", -0.186, 0.060),
    Term("cost", -0.588, 0.075),
    Term("peril", -1.252, 0.216),
    Term("hemmed", -0.024, 0.019),
    Term("moves", 0.070, -0.108),
    Term("dead", -0.204, 0.206),
)
WEIGHTS: Final = weights(TERMS, -0.038)

Pins = tuple[int, ...]
_MIDDLE: Final = 0b111111111111 << 7
_FAR: Final = 0b11111 << 19


class Side(NamedTuple):
    """What one side's board says by itself; masks in own numbering."""

    own: Features
    highest: int
    free: int
    pinned: int
    made: int
    singles: int


@functools.lru_cache(maxsize=1 << 14)
def side(board: bytes, pins: Pins) -> Side:
    """One side by itself; `pins` are the points where it is pinned."""
    pinned = sum([1 << point for point in pins])
    own = (
        boards.pips(board) / 100,
        board[OFF] / CHECKERS,
        0.0 if board[OFF] else boards.outside(board) / 100,
        board[MOTHER] / CHECKERS,
        float(len(pins)),
        sum(pins) / 100,
        float(sum([point > 12 for point in pins])),
        float(boards.stacked(board[:MOTHER], 3)),
    )
    free = tavli.held(board) & POINTS_MASK & ~pinned
    singles = boards.singles(board) & ~pinned
    return Side(own, boards.highest(board), free, pinned, boards.made(board), singles)


@functools.lru_cache(maxsize=1 << 16)
def _walls(closed: int) -> Features:
    """Of the mask of the points that a side closes to the other."""
    home, middle, far = closed & tavli.HOME_MASK, closed & _MIDDLE, closed & _FAR
    run = boards.longest_run(closed) ** 2 / 36
    return float(home.bit_count()), float(middle.bit_count()), float(far.bit_count()), run


def features(
    mine: bytes, theirs: bytes, my_pins: Pins, his_pins: Pins, mother_wins: bool
) -> Features | None:
    """The mover's, the other's, and 1; None when nobody can meet anybody any more."""
    me, him = side(mine, my_pins), side(theirs, his_pins)
    if not my_pins and not his_pins and me.highest + him.highest <= 25:
        return None
    my_closed = me.made | me.free & boards.turned(him.pinned)
    his_closed = him.made | him.free & boards.turned(me.pinned)
    my_wall, his_wall = boards.turned(my_closed), boards.turned(his_closed)
    return (
        *me.own,
        *_seen(me, mine, his_wall, him.free, my_wall, my_closed, mother_wins),
        *him.own,
        *_seen(him, theirs, my_wall, me.free, his_wall, his_closed, mother_wins),
        1.0,
    )


def _seen(
    me: Side, board: bytes, wall: int, hunters: int, shut: int, closed: int, mother_wins: bool
) -> Features:
    """A side's features that depend on both.

    `closed` are the points that it closes, `shut` the same in the other's numbering, `hunters` the
    other's free checkers in his; `wall` are the points that he closes, in the side's own.
    """
    threat = cost = peril = 0.0
    exposed = me.singles & ~closed
    if exposed:
        stops = POINTS_MASK & ~shut
        threat, _, low = boards.threat(hunters, boards.turned(exposed), stops)
        cost = (25 * threat - low) / 100
        if exposed >> MOTHER & 1 and mother_wins:
            peril = boards.threat(hunters, 1 << plakoto.THEIR_MOTHER, stops)[0]
    lone = me.free >> MOTHER & 1 and board[MOTHER] == 1
    free = POINTS_MASK & ~wall
    ways = [plakoto.movable(me.free, free, die).bit_count() for die in range(1, 7)]
    return (
        float(lone and mother_wins),
        float(me.pinned >> MOTHER & mother_wins),
        *_walls(closed),
        threat,
        cost,
        peril,
        boards.hemmed(board, wall),
        sum(ways) / 36,
        (ways.count(0) / 6) ** 2,
    )


def value(
    mine: bytes,
    theirs: bytes,
    my_pins: Pins,
    his_pins: Pins,
    mother_wins: bool = True,
    factors: Weights = WEIGHTS,
) -> float:
    """Points that the player of `mine`, who has just moved, may expect; `..._pins` are the points
    where a side is pinned, in its own numbering."""
    if mine[OFF] == CHECKERS:
        return float(tavli.worth(theirs))
    if MOTHER in his_pins:
        if MOTHER in my_pins:
            return 0.0  # V4.7
        if mother_wins and not mine[MOTHER]:
            return 2.0  # V4.6
    seen = features(mine, theirs, my_pins, his_pins, mother_wins)
    return race.points(mine, theirs) if seen is None else points(factors, seen)


def lines(game: Plakoto, state: State, effort: Effort, factors: Weights = WEIGHTS) -> Lines:
    """The mover's turns, evaluated (a `lookahead.Finder`)."""
    mover, other, found = state.mover, tavli.other(state.mover), []
    wins = game.mother == "wins"
    for path, ends, pins in sample(game.turns(state), effort.ends):
        worth = value(ends[mover], ends[other], pins[mover], pins[other], wins, factors)
        found.append(Line(worth, path))
    return Lines(found, len(found))
