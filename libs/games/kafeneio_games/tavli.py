"""What the tavli games share: boards, actions and their notation, the throw, and what a game wins.

A player's checkers are 26 counts as `bytes`, in the player's OWN numbering: [0] borne off, [1]..[6]
his home, [24] the farthest point, [25] the bar.  Moving is subtracting the die.  Whole turns, and
the forced dice, are in `lookahead`.
"""

from __future__ import annotations

import enum
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final, TypeAlias

from .game import CHANCE, Draw, Illegal, Result, Seat, Unreadable

OFF: Final = 0
BAR: Final = 25
CHECKERS: Final = 15
HOME_MASK: Final = 0b1111110  # points 1..6
POINTS_MASK: Final = (1 << 25) - 2  # points 1..24
BOARD_MASK: Final = POINTS_MASK | 1 << BAR  # everything not borne off
SIDES: Final = ((Seat(0),), (Seat(1),))

Dice: TypeAlias = tuple[int, ...]  # numbers, larger first; those of a double four times
Boards: TypeAlias = tuple[bytes, bytes]  # of seat 0 and of seat 1, each in its own numbering


# ---------------------------------------------------------------- actions and their notation


@dataclass(frozen=True, slots=True)
class Roll:
    """The house throws the dice of a turn, in the order in which they fell: "64"."""

    first: int
    second: int


@dataclass(frozen=True, slots=True)
class MoveChecker:
    """One checker leaves `start` (1..24, or BAR) by `die` (1..6).

    "13/8", "bar/20", "6/off", and "3/off(6)" when the die is larger than the point.
    """

    start: int
    die: int

    @property
    def target(self) -> int:
        """Where it comes down: a point, or OFF."""
        return max(self.start - self.die, OFF)


@dataclass(frozen=True, slots=True)
class Pass:
    """Nothing of the roll can be played: "pass"."""


Action: TypeAlias = Roll | MoveChecker | Pass
Path: TypeAlias = tuple[MoveChecker, ...]

PASS: Final = Pass()
ROLLS: Final = tuple(Roll(a, b) for a in range(1, 7) for b in range(1, 7))
STEPS: Final = tuple(
    tuple(MoveChecker(start, die) for start in range(26)) for die in range(7)
)  # STEPS[die][start], so that the look-ahead makes no objects
ACTIONS: Final[tuple[Action, ...]] = (
    *ROLLS,
    *(STEPS[die][start] for die in range(1, 7) for start in range(1, 26)),
    PASS,
)
"""Everything that can be written at all, legal or not."""


def write(action: Action) -> str:
    """The notation of an action, readable without a position."""
    match action:
        case Roll(first, second):
            return f"{first}{second}"
        case MoveChecker(start, die):
            origin = "bar" if start == BAR else str(start)
            if start > die:
                return f"{origin}/{start - die}"
            return f"{origin}/off" if start == die else f"{origin}/off({die})"
        case Pass():
            return "pass"


_BY_TEXT: Final[Mapping[str, Action]] = {write(action): action for action in ACTIONS}


def read(text: str) -> Action:
    """The exact inverse of `write`; `Unreadable` for every other text."""
    action = _BY_TEXT.get(text)
    if action is None:
        raise Unreadable(f"no move, roll or pass reads {text[:20]!r}")
    return action


def roll(draw: Draw) -> Roll:
    """Two independent dice (V2.9), the first die first."""
    first = 1 + draw.below(6)
    return Roll(first, 1 + draw.below(6))


def chance(stage: Stage, draw: Draw) -> Roll:
    """Both dice of a turn, thrown afresh (VB5); ValueError when no throw is due."""
    if stage is not Stage.ROLL:
        raise ValueError("no roll is due")
    return roll(draw)


def dice_of(thrown: Roll) -> Dice:
    """What a roll gives to play: both numbers, a double four times (V2.2)."""
    if thrown.first == thrown.second:
        return (thrown.first,) * 4
    return (max(thrown.first, thrown.second), min(thrown.first, thrown.second))


def without(dice: Dice, die: int) -> Dice:
    """The dice left when one `die` has been played."""
    at = dice.index(die)
    return dice[:at] + dice[at + 1 :]


# ---------------------------------------------------------------- packed positions

Position: TypeAlias = int
"""The mover's and the other's board packed, one byte a count."""

UNIT: Final = tuple(1 << 8 * p for p in range(52))  # one checker: 0..25 mine, 26..51 the other's
SHIFT: Final = tuple(
    tuple(UNIT[max(start - die, OFF)] - UNIT[start] for start in range(26)) for die in range(7)
)  # SHIFT[die][start]: what a move adds to a packed position


def pack(mine: bytes, theirs: bytes) -> Position:
    """Both boards, each in its own numbering, as one number."""
    return int.from_bytes(mine + theirs, "little")


def unpack(position: Position) -> tuple[bytes, bytes]:
    """The inverse of `pack`."""
    both = position.to_bytes(52, "little")
    return both[:26], both[26:]


def ends(mover: Seat, found: Mapping[Position, Path]) -> tuple[tuple[Path, Boards], ...]:
    """The ends of a turn: a path to each, and both boards by seat."""
    if mover == 0:
        return tuple([(path, unpack(final)) for final, path in found.items()])
    return tuple([(path, unpack(final)[::-1]) for final, path in found.items()])


# From a count to a binary digit, so that a row of counts reads as a mask.
_ANY: Final = b"0" + b"1" * 255
_AT_MOST_ONE: Final = b"11" + b"0" * 254
_ONE: Final = b"01" + b"0" * 254


def held(board: bytes) -> int:
    """The mask of the entries of a board that are not empty."""
    return int(board[::-1].translate(_ANY), 2)


def left_open(theirs: bytes) -> tuple[int, int]:
    """Where both move in opposite directions: the points on which the other has less than two
    checkers (V3.2, V4.3), and those on which he has a single one.

    By the first player's numbering: entry p of `theirs` is point 25 - p, so the row from 1 to 24
    reads as a mask from bit 24 down to bit 1.
    """
    row = theirs[1:25]
    open_points = int(row.translate(_AT_MOST_ONE), 2) << 1
    return open_points, int(row.translate(_ONE), 2) << 1


def borne_off(home: int, die: int) -> int:
    """The point from which `die` bears off, as a mask, when all checkers are in `home` (V2.6).

    The point of that number; when all checkers stand on lower ones, the highest of these.
    """
    if home >> die & 1:
        return 1 << die
    return 1 << (home & HOME_MASK).bit_length() >> 1 if home < 1 << die else 0


# ---------------------------------------------------------------- boards


def points(mask: int) -> list[int]:
    """The points of a mask (bit p is point p), the farthest first."""
    found = []
    while mask:
        point = mask.bit_length() - 1
        mask ^= 1 << point
        found.append(point)
    return found


def facing(point: int) -> int:
    """The other's own number of my point where both move the same way round (Fevga, Gul Bara)."""
    return point + 12 if point <= 12 else point - 12


def faced(mask: int) -> int:
    """A mask of points 1..24 in the other's numbering, where both move the same way round."""
    return (mask & 0x1FFE) << 12 | mask >> 12 & 0x1FFE


def all_on_24() -> bytes:
    """All fifteen on the farthest point: the start of every game but Portes."""
    return bytes([0] * 24 + [CHECKERS, 0])


def other(seat: Seat) -> Seat:
    """The opponent."""
    return Seat(1 - seat)


def own_and_other(boards: Boards, seat: Seat) -> Boards:
    """The board of `seat`, then the opponent's."""
    return boards if seat == 0 else boards[::-1]


def by_seat(seat: Seat, own: bytes, others: bytes) -> Boards:
    """The inverse of `own_and_other`."""
    return (own, others) if seat == 0 else (others, own)


def moved(board: bytes, step: MoveChecker) -> bytes:
    """The board after one of its checkers has been moved."""
    counts = bytearray(board)
    counts[step.start] -= 1
    counts[step.target] += 1
    return bytes(counts)


# ---------------------------------------------------------------- whose turn, and the throw


class Stage(enum.StrEnum):
    """What is awaited: the house's roll, the mover's checkers (or pass), or nothing more."""

    ROLL = "roll"
    MOVE = "move"
    OVER = "over"


def check_start(game: str, first: Seat, live: tuple[Seat, ...]) -> None:
    """ValueError unless seats 0 and 1 take part and one of them starts."""
    if first not in (0, 1) or live != (0, 1):
        raise ValueError(f"{game} is played by seats 0 and 1, and one of them starts")


def to_act(stage: Stage, mover: Seat) -> tuple[Seat, ...]:
    """CHANCE before the roll, the mover after it, nobody when the game is over."""
    if stage is Stage.MOVE:
        return (mover,)
    return (CHANCE,) if stage is Stage.ROLL else ()


def check_throw(stage: Stage, seat: Seat, thrown: Roll) -> None:
    """`Illegal` unless the house throws two dice when a throw is due."""
    if seat != CHANCE:
        raise Illegal("V2.9", "the house throws the dice")
    if stage is not Stage.ROLL:
        raise Illegal("V2.9", "the dice of this turn are thrown already")
    if not (1 <= thrown.first <= 6 and 1 <= thrown.second <= 6):
        raise Illegal("V2.9", "a die shows 1 to 6")


def begun(rolled: tuple[int, ...], dice: Dice) -> bool:
    """Whether some of the numbers of a throw are played, when `dice` are those left."""
    return len(dice) < (4 if rolled[0] == rolled[1] else 2)


def check_turn(stage: Stage, mover: Seat, seat: Seat) -> None:
    """`Illegal` unless it is `seat` that has checkers to move."""
    if stage is not Stage.MOVE or seat != mover:
        raise Illegal("V2.1", "it is not this seat's turn to move a checker")


def forced(dice: Dice, die: int, legal: Path, longest: int) -> Illegal:
    """Why a move that looks possible is none of the `legal` ones: the forced dice.

    `longest` is the number of moves in the longest legal turn.
    """
    if len(dice) == 2 and longest == 1 and all(step.die != die for step in legal):
        return Illegal("VA2", "only one number can be played, and it must be the larger")
    return Illegal("V2.3", "as many of your numbers as possible must be played")


# ---------------------------------------------------------------- results


def worth(loser: bytes) -> int:
    """2 points while the loser has borne off none (V2.7, V2.8, VB1)."""
    return 1 if loser[OFF] else 2


def won(winner: Seat, points: int, ending: str) -> Result:
    """A game won by that many points."""
    return Result((points, 0) if winner == 0 else (0, points), ending)


def borne_all_off(winner: Seat, loser: bytes) -> Result:
    """The winner has borne off his last checker: "single", or "double" (V2.7)."""
    return won(winner, worth(loser), "double" if worth(loser) == 2 else "single")


def conceded(leaver: Seat, board: bytes, ending: str, points: str = "formula") -> Result:
    """What `leaver` gives away (V2.8, VA11): by the formula, or always two points."""
    return won(other(leaver), 2 if points == "two" else worth(board), ending)
