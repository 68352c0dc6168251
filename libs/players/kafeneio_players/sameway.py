"""What Fevga and Gul Bara have in common: both sides go the same way round, nobody is hit, and one
checker closes a point.  So it matters where one stands in the other's way, and how well one can
still move.  A side's features, in the order of `NAMES`, each from its own numbering:

    pips       pips to go, in hundreds
    off        checkers borne off, of 15
    first_off  pips outside the home in hundreds while none is off: how far a double loss is away
    start      checkers still on 24, of 15
    quarter4 .. quarter1   points held of 24..19, 18..13, 12..7, 6..1
    stacked    checkers above the second of a point, the start aside, of 15
    last       the farthest checker's point, of 24
    run        the longest row of points held, squared, of 36
    moves      ways to play one number, by checkers' points and numbers, of 36
    dead       numbers of a die that cannot be played, of 6
    dead2      that, squared
    behind4 .. behind6     checkers that have to pass a row of four, five, six of the other's, of 15
"""

from __future__ import annotations

import functools
from typing import Final, NamedTuple

from kafeneio_games import tavli
from kafeneio_games.lookahead import Movable
from kafeneio_games.tavli import CHECKERS, OFF, POINTS_MASK

from . import boards
from .weights import Features

NAMES: Final = (
    *("pips", "off", "first_off", "start", "quarter4", "quarter3", "quarter2", "quarter1"),
    *("stacked", "last", "run", "moves", "dead", "dead2", "behind4", "behind5", "behind6"),
)
START: Final = 24


class Side(NamedTuple):
    """What one side's board says by itself; `faced` is `held` in the other's numbering."""

    own: Features
    highest: int
    held: int
    faced: int


@functools.lru_cache(maxsize=1 << 14)
def side(board: bytes) -> Side:
    """One side by itself."""
    held = tavli.held(board)
    highest = boards.highest(board)
    own = (
        boards.pips(board) / 100,
        board[OFF] / CHECKERS,
        0.0 if board[OFF] else boards.outside(board) / 100,
        board[START] / CHECKERS,
        *[float((held >> low & 0b111111).bit_count()) for low in (19, 13, 7, 1)],
        boards.stacked(board[:START], 2) / CHECKERS,
        highest / START,
        boards.longest_run(held & POINTS_MASK) ** 2 / 36,
    )
    return Side(own, highest, held, tavli.faced(held))


def apart(me: Side, him: Side) -> bool:
    """Whether the two will not meet any more: both are past each other's starts."""
    return me.highest <= 12 and him.highest <= 12


def seen(me: Side, board: bytes, him: Side, movable: Movable) -> Features:
    """All features of one side; `movable` is the game's own, for its rules on what may move."""
    free = POINTS_MASK & ~him.faced
    ways = [movable(me.held, free, die).bit_count() for die in range(1, 7)]
    dead = ways.count(0) / 6
    return (*me.own, sum(ways) / 36, dead, dead * dead, *_behind(board, him.faced))


def _behind(board: bytes, wall: int) -> Features:
    """How many checkers have to pass a row of at least four, five and six points of `wall`."""
    rows = wall & wall >> 1
    rows &= rows >> 2
    if not rows:
        return 0.0, 0.0, 0.0
    found = []
    for _ in range(3):  # bit p of `rows` is a row that begins at point p and goes up
        lowest = (rows & -rows).bit_length() - 1
        found.append(sum(board[lowest + 1 : 25]) / CHECKERS if rows else 0.0)
        rows &= wall >> 4 + len(found) - 1
    return tuple(found)
