"""The end of every tavli game: nobody can meet anybody any more, and only throws count.

The number of throws that a side still needs is taken from its pips; how much it may vary, from the
spread of the dice.  Both are formulas of the race in backgammon (8 1/6 pips a throw on the average,
about 4.3 more or less), not fitted to games; Gul Bara's escalations have numbers of their own.
"""

from __future__ import annotations

import functools
import math
from dataclasses import dataclass
from typing import Final

from kafeneio_games.tavli import CHECKERS, OFF

from .boards import outside, pips

MEN_A_THROW: Final = 7 / 3  # two, and four with a double


@dataclass(frozen=True, slots=True)
class Pace:
    """What a throw brings: pips on the average, and how far it is from that, in throws."""

    pips: float
    spread: float


USUAL: Final = Pace(49 / 6, 0.53)
ESCALATING: Final = Pace(10.0, 0.8)  # 15.9 pips, of which a race can use about ten


@functools.lru_cache(maxsize=1 << 14)
def throws(board: bytes, pace: Pace) -> float:
    """How many throws bear off all that is left: by pips with some waste, at least by men."""
    men = CHECKERS - board[OFF]
    waste = 1 + men / 2 + board[1] / 2 + board[2] / 4
    return max(1.0, (pips(board) + waste) / pace.pips, men / MEN_A_THROW + 0.3)


@functools.lru_cache(maxsize=1 << 14)
def throws_to_first(board: bytes, pace: Pace) -> float:
    """How many throws bear off the first man; 0 when one is off."""
    return 0.0 if board[OFF] else 0.7 + outside(board) / pace.pips


def points(mine: bytes, theirs: bytes, pace: Pace = USUAL) -> float:
    """What the player of `mine` may expect, in points, when the other throws next."""
    my_throws, his_throws = throws(mine, pace), throws(theirs, pace)
    win = _sooner(my_throws, his_throws, -0.5, pace)
    double = win and _sooner(my_throws, throws_to_first(theirs, pace), -0.5, pace)
    lost_double = _sooner(his_throws, throws_to_first(mine, pace), 0.5, pace)
    return 2 * win - 1 + double - lost_double


def _sooner(mine: float, his: float, start: float, pace: Pace) -> float:
    """The chance to need fewer throws than the other, `start` being who throws first."""
    if not his:
        return 0.0
    spread = pace.spread * math.sqrt(mine + his)
    return 1 / (1 + math.exp(-1.7 * (his - mine + start) / spread))
