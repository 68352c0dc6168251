"""What the tavli games share: boards, actions and their notation, and the forced-dice look-ahead.

**Boards.** A player's checkers are 26 counts as `bytes`, in the player's OWN numbering: [0] borne
off, [1]..[6] his home, [24] the farthest point, [25] the bar.  Moving is subtracting the die.

**Look-ahead.**  "Both dice if you can" (V2.3) judges whole turns, so turns are generated whole.
Three facts of all tavli games keep that fast and plain: during a turn the opponent's checkers do
not move by themselves, so which points are open to me is fixed when the turn begins; a position is
one packed number, so that a move is one addition; and what may leave a point with a die depends
only on which points I hold.  A game passes that last piece as a function, `Movable`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Final, NamedTuple, TypeAlias, TypeVar

from .game import Draw, Unreadable

V = TypeVar("V")

OFF: Final = 0
BAR: Final = 25
CHECKERS: Final = 15
HOME_MASK: Final = 0b1111110  # points 1..6
BOARD_MASK: Final = (1 << 26) - 2  # points 1..24 and the bar: everything not borne off

Dice: TypeAlias = tuple[int, ...]  # numbers, larger first; those of a double four times
Boards: TypeAlias = tuple[bytes, bytes]  # of seat 0 and of seat 1, each in its own numbering
Position: TypeAlias = int  # the mover's and the other's board packed, one byte a count


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

Movable: TypeAlias = Callable[[int, int, int], int]
"""(points I hold, points open to me, die) -> points that a checker may leave with that die.

All three sets are bit masks: bit p is own point p, bit 25 the bar, bit 0 of the first is set when
a checker has been borne off.
"""

UNIT: Final = tuple(1 << 8 * p for p in range(52))  # one checker: 0..25 mine, 26..51 the other's
SHIFT: Final = tuple(
    tuple(UNIT[max(start - die, OFF)] - UNIT[start] for start in range(26)) for die in range(7)
)  # SHIFT[die][start]: what a move adds to a packed position


class Turn(NamedTuple):
    """The beginning of a turn, as the look-ahead wants it.

    `touched[p]` is what my first arrival on point p adds to the position (a hit in Portes);
    `lone` is the mask of those points.
    """

    position: Position
    mine: bytes
    held: int
    open_points: int
    lone: int
    touched: tuple[int, ...]


def pack(mine: bytes, theirs: bytes) -> Position:
    """Both boards, each in its own numbering, as one number."""
    return int.from_bytes(mine + theirs, "little")


def unpack(position: Position) -> tuple[bytes, bytes]:
    """The inverse of `pack`."""
    both = position.to_bytes(52, "little")
    return both[:26], both[26:]


_ANY: Final = b"0" + b"1" * 255  # from a count to a binary digit


def held(board: bytes) -> int:
    """The mask of the entries of a board that are not empty."""
    return int(board[::-1].translate(_ANY), 2)


# ---------------------------------------------------------------- whole turns

Groups: TypeAlias = dict[Dice, V]
"""Turns sorted by the dice that they use; the keys are what the forced-dice rules look at."""


class Plays(NamedTuple):
    """All turns that cannot be continued, not yet filtered: final position -> one way there.

    `won` are the turns that ended by winning with dice left.
    """

    groups: Groups[dict[Position, Path]]
    won: dict[Position, Path]


def plays(turn: Turn, dice: Dice, movable: Movable) -> Plays:
    """Every turn with `dice` that goes on as long as it can, final positions once each."""
    if len(dice) == 2 and dice[0] != dice[1]:
        return _plays_of_two(turn, dice, movable)
    return _plays_of_equal(turn, dice, movable)


def _plays_of_two(turn: Turn, dice: Dice, movable: Movable) -> Plays:
    """Two different dice, in both orders; a path through a hit is a position of its own (VA7)."""
    position, mine, held_now, open_points, lone, touched = turn
    both: dict[Position, Path] = {}
    won: dict[Position, Path] = {}
    groups: Groups[dict[Position, Path]] = {dice: both}
    for die, other in (dice, dice[::-1]):
        single = groups[(die,)] = {}
        shift, shift_other = SHIFT[die], SHIFT[other]
        starts = movable(held_now, open_points, die)
        while starts:
            start = starts.bit_length() - 1
            starts ^= 1 << start
            bit = 1 << start - die if start > die else 1
            middle = position + shift[start]
            lone_left = lone
            if lone & bit:
                middle += touched[start - die]
                lone_left = lone ^ bit
            held_then = (held_now ^ (1 << start) if mine[start] == 1 else held_now) | bit
            step = STEPS[die][start]
            seconds = movable(held_then, open_points, other)
            if not seconds:
                (single if held_then & BOARD_MASK else won)[middle] = (step,)
            while seconds:
                second = seconds.bit_length() - 1
                seconds ^= 1 << second
                final = middle + shift_other[second]
                if second > other and lone_left >> second - other & 1:
                    final += touched[second - other]
                if final not in both:
                    both[final] = (step, STEPS[other][second])
    return Plays({used: found for used, found in groups.items() if found}, won)


def _plays_of_equal(turn: Turn, dice: Dice, movable: Movable) -> Plays:
    """Equal dice (or one): checkers leave in the order of their points, the farthest first.

    Any order of the same moves can be sorted so, and sorted ones end in different positions:
    nothing is found twice.  A sorted turn that stops early is no longest one, or stuck for good.
    """
    die = dice[0]
    shift, touched, steps, open_points = SHIFT[die], turn.touched, STEPS[die], turn.open_points
    groups: Groups[dict[Position, Path]] = {}
    won: dict[Position, Path] = {}
    level: list[tuple[Position, int, int, int, Path]] = [
        (turn.position, turn.held, turn.lone, BAR, ())
    ]
    for played in range(len(dice)):
        stuck: dict[Position, Path] = {}
        deeper: list[tuple[Position, int, int, int, Path]] = []
        for position, held_now, lone, last, path in level:
            starts = movable(held_now, open_points, die) & ((2 << last) - 1)
            if not starts:
                (stuck if held_now & BOARD_MASK else won)[position] = path
            while starts:
                start = starts.bit_length() - 1
                starts ^= 1 << start
                bit = 1 << start - die if start > die else 1
                reached = position + shift[start]
                lone_left = lone
                if lone & bit:
                    reached += touched[start - die]
                    lone_left = lone ^ bit
                emptied = not reached >> 8 * start & 0xFF
                held_then = (held_now ^ (1 << start) if emptied else held_now) | bit
                deeper.append((reached, held_then, lone_left, start, (*path, steps[start])))
        if stuck and played:
            groups[dice[:played]] = stuck
        level = deeper
    if level:
        groups[dice] = {position: path for position, _, _, _, path in level}
    return Plays(groups, won)


# ---------------------------------------------------------------- the forced dice (V2.3)

Filter: TypeAlias = Callable[[Groups[V]], Groups[V]]


def most_dice(groups: Groups[V]) -> Groups[V]:
    """Both numbers, or all four of a double, else as many as possible (V2.3, VA1)."""
    most = max(map(len, groups), default=0)
    return {used: found for used, found in groups.items() if len(used) == most}


def larger_die(groups: Groups[V]) -> Groups[V]:
    """Of turns that use a single number only those with the larger one stand (V2.3, VA2)."""
    largest = max((used for used in groups if len(used) == 1), default=None)
    return {used: v for used, v in groups.items() if len(used) != 1 or used == largest}


def finals(
    turn: Turn,
    dice: Dice,
    movable: Movable,
    filters: Iterable[Filter[dict[Position, Path]]] = (most_dice, larger_die),
) -> dict[Position, Path]:
    """The distinct final positions of all legal turns, one way each; none when nothing moves.

    A win stands whatever the dice would still allow (VA3).
    """
    groups, won = plays(turn, dice, movable)
    for keep in filters:
        groups = keep(groups)
    merged = dict(won)
    for found in groups.values():
        merged.update(found)
    return merged


def first_steps(
    turn: Turn,
    dice: Dice,
    movable: Movable,
    filters: Iterable[Filter[list[MoveChecker]]] = (most_dice, larger_die),
) -> Path:
    """The moves with which a legal turn may begin: larger die first, then the farthest checker.

    With equal dice every possible move is one: no choice among them lowers the number played (VA4).
    """
    if len(dice) != 2 or dice[0] == dice[1]:
        starts = movable(turn.held, turn.open_points, dice[0])
        return tuple([STEPS[dice[0]][start] for start in points(starts)])
    groups: Groups[list[MoveChecker]] = {}
    won: list[MoveChecker] = []
    held_now, open_points = turn.held, turn.open_points
    for die, other in (dice, dice[::-1]):
        for start in points(movable(held_now, open_points, die)):
            held_then = held_now ^ (1 << start) if turn.mine[start] == 1 else held_now
            held_then |= 1 << start - die if start > die else 1
            if not held_then & BOARD_MASK:
                won.append(STEPS[die][start])
            elif movable(held_then, open_points, other):
                groups.setdefault(dice, []).append(STEPS[die][start])
            else:
                groups.setdefault((die,), []).append(STEPS[die][start])
    if len(groups) == 1 and not won:  # as nearly always: nothing to choose, and in order already
        return tuple(*groups.values())
    for keep in filters:
        groups = keep(groups)
    steps = [*won, *(step for found in groups.values() for step in found)]
    return tuple(sorted(steps, key=lambda step: (-step.die, -step.start)))


def points(mask: int) -> list[int]:
    """The points of a mask, the farthest first."""
    found = []
    while mask:
        point = mask.bit_length() - 1
        mask ^= 1 << point
        found.append(point)
    return found
