"""What the evaluations look at on a board: masks, runs, stacks, and what a throw can hit.

Masks are those of `kafeneio_games.tavli`: bit p is own point p, bit 25 the bar.
"""

from __future__ import annotations

import functools
from operator import mul
from typing import Final

from kafeneio_games.tavli import POINTS_MASK

_PIPS: Final = range(26)
_OUTSIDE: Final = (*[0] * 7, *range(1, 20))  # from each point to the home
_TWO: Final = b"00" + b"1" * 254
_ONE: Final = b"01" + b"0" * 254
_PAIRS: Final = tuple((a, b) for a in range(1, 7) for b in range(1, a))


def pips(board: bytes) -> int:
    """The pips that a side has still to go, the bar being 25."""
    return sum(map(mul, board, _PIPS))


def outside(board: bytes) -> int:
    """The pips that it has still to go until all are home."""
    return sum(map(mul, board, _OUTSIDE))


def singles(board: bytes) -> int:
    """The points 1..24 with exactly one checker."""
    return int(board[::-1].translate(_ONE), 2) & POINTS_MASK


def made(board: bytes) -> int:
    """The points 1..24 with two checkers or more."""
    return int(board[::-1].translate(_TWO), 2) & POINTS_MASK


def turned(mask: int) -> int:
    """A mask of points 1..24 in the numbering of an opponent who moves the opposite way."""
    return int(f"{mask & POINTS_MASK:025b}"[:24][::-1], 2) << 1


def longest_run(mask: int) -> int:
    """How many neighbouring points are in the mask, at most."""
    length = 0
    while mask:
        mask &= mask >> 1
        length += 1
    return length


def highest(board: bytes) -> int:
    """The farthest point with a checker, the bar being 25; 0 when all are off."""
    return max(len(board.rstrip(b"\0")) - 1, 0)


def stacked(board: bytes, most: int) -> int:
    """How many checkers on 1..24 stand above the first `most` of their point."""
    return sum([count - most for count in board[1:25] if count > most])


def hemmed(board: bytes, wall: int) -> float:
    """How hard it is to get away: for each checker that has a way to go, the square of the number
    of points of `wall` among the six before it, as a part of 36."""
    total = 0
    for point in range(25, 6, -1):
        if board[point]:
            total += board[point] * (wall >> point - 6 & 0b111111).bit_count() ** 2
    return total / 36


@functools.lru_cache(maxsize=1 << 16)
def threat(held: int, targets: int, stops: int) -> tuple[float, float, float]:
    """What a throw of the player who holds `held` can come to of `targets`, all in his numbering.

    He may touch down on `stops`; whether the rest of his position lets him move is not asked.
    Returns the chance of any, and over all throws the mean of the highest and of the lowest point
    that he can come to, 0 where there is none; what is farther away than one number counts only
    where nothing is nearer.
    """
    direct = [0, *[held >> die & targets for die in range(1, 7)]]
    middle = [0, *[held >> die & stops for die in range(1, 7)]]
    chance = high = low = 0
    for a, b in _PAIRS:
        found = direct[a] | direct[b] or (middle[a] >> b | middle[b] >> a) & targets
        if found:
            chance += 2
            high += 2 * (found.bit_length() - 1)
            low += 2 * ((found & -found).bit_length() - 1)
    for die in range(1, 7):
        found, now, moves = direct[die], middle[die], 3
        while moves and now and not found:
            now >>= die
            found = now & targets
            now &= stops
            moves -= 1
        if found:
            chance += 1
            high += found.bit_length() - 1
            low += (found & -found).bit_length() - 1
    return chance / 36, high / 36, low / 36
