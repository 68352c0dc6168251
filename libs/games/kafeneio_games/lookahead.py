"""Whole turns of tavli: where they may end, and with which moves they may begin.

"Both dice if you can" (V2.3) judges whole turns, so turns are generated whole.  Three facts of all
tavli games keep that fast and plain: during a turn the opponent's checkers do not move by
themselves, so which points are open to me is fixed when the turn begins; a position is one packed
number, so that a move is one addition; and what may leave a point with a die depends only on which
points I hold.  A game passes that last piece as a function, `Movable`.

`plays` finds the turns that go on as long as they can, which is all that the forced dice ask for.
`prefixes` finds the shorter ones too, for a rule that forbids positions in which a turn ends (VF3).
Then filters drop what the rules do not allow, in the order of the rule book's section 10.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Final, Generic, NamedTuple, TypeAlias, TypeVar

from .tavli import (
    BAR,
    BOARD_MASK,
    OFF,
    SHIFT,
    STEPS,
    Dice,
    MoveChecker,
    Path,
    Position,
    points,
)

V = TypeVar("V")

Movable: TypeAlias = Callable[[int, int, int], int]
"""(points I hold, points open to me, die) -> points that a checker may leave with that die.

All three sets are bit masks: bit p is own point p, bit 25 the bar, bit 0 of the first is set when
a checker has been borne off.  Higher bits of the first are the game's own; they stay as they are
through a turn.
"""

NEVER: Final = (0, 1)  # no `held & 0` is 1


class Turn(NamedTuple):
    """The beginning of a turn, as the look-ahead wants it.

    `touched[p]` is what my first arrival on point p adds to the position (a hit in Portes);
    `lone` is the mask of those points.  `ends` is (mask, value): besides by bearing off the last
    checker the game is over, and the turn with it, as soon as `held & mask == value`.  `sortable`
    says that moves of one number may be made the farthest checker first, whatever they lead to.
    """

    position: Position
    mine: bytes
    held: int
    open_points: int
    lone: int = 0
    touched: tuple[int, ...] = ()
    ends: tuple[int, int] = NEVER
    sortable: bool = True


# ---------------------------------------------------------------- whole turns

Groups: TypeAlias = dict[Dice, V]
"""Turns sorted by the dice that they use; the keys are what the forced-dice rules look at."""


class Plays(NamedTuple, Generic[V]):
    """Turns, not yet filtered: by the dice that they use, final position -> how it is reached.

    `ended` are those of them that end the game, which stand whatever the dice still allow (VA3).
    """

    groups: Groups[dict[Position, V]]
    ended: dict[Position, V]


def plays(turn: Turn, dice: Dice, movable: Movable) -> Plays[Path]:
    """Every turn with `dice` that goes on as long as it can, final positions once each."""
    if len(dice) == 2 and dice[0] != dice[1]:
        return _plays_of_two(turn, dice, movable)
    if turn.sortable:
        return _plays_of_equal(turn, dice, movable)
    groups, ended = prefixes(turn, dice, movable)
    return Plays({used: paths(found) for used, found in groups.items()}, paths(ended))


def _plays_of_two(turn: Turn, dice: Dice, movable: Movable) -> Plays[Path]:
    """Two different dice, in both orders; a path through a hit is a position of its own (VA7)."""
    position, mine, held_now, open_points, lone, touched, ends, _ = turn
    ends_mask, ends_value = ends
    both: dict[Position, Path] = {}
    ended: dict[Position, Path] = {}
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
            over = held_then & ends_mask == ends_value or not held_then & BOARD_MASK
            seconds = 0 if over else movable(held_then, open_points, other)
            if not seconds:
                single[middle] = (step,)
                if over:
                    ended[middle] = (step,)
            while seconds:
                second = seconds.bit_length() - 1
                seconds ^= 1 << second
                final = middle + shift_other[second]
                if second > other and lone_left >> second - other & 1:
                    final += touched[second - other]
                if final not in both:
                    both[final] = (step, STEPS[other][second])
    return Plays({used: found for used, found in groups.items() if found}, ended)


def _plays_of_equal(turn: Turn, dice: Dice, movable: Movable) -> Plays[Path]:
    """Equal dice (or one): checkers leave in the order of their points, the farthest first.

    Any order of the same moves can be sorted so, and sorted ones end in different positions:
    nothing is found twice.  A sorted turn that stops early is no longest one, or stuck for good.
    """
    die = dice[0]
    shift, touched, steps, open_points = SHIFT[die], turn.touched, STEPS[die], turn.open_points
    groups: Groups[dict[Position, Path]] = {}
    ended: dict[Position, Path] = {}
    level: list[tuple[Position, int, int, int, Path]] = [
        (turn.position, turn.held, turn.lone, BAR, ())
    ]
    for played in range(len(dice)):
        stuck: dict[Position, Path] = {}
        deeper: list[tuple[Position, int, int, int, Path]] = []
        for position, held_now, lone, last, path in level:
            starts = movable(held_now, open_points, die) & ((2 << last) - 1)
            if not starts:
                stuck[position] = path
                if not held_now & BOARD_MASK:
                    ended[position] = path
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
    return Plays(groups, ended)


# ---------------------------------------------------------------- whole turns and their prefixes


class Reached(NamedTuple):
    """A position that a turn can come to: the points then held, one way there, and the mask of all
    first moves that lead there, as `_first` numbers them."""

    held: int
    path: Path
    firsts: int


def prefixes(
    turn: Turn, dice: Dice, movable: Movable, barred: tuple[int, ...] = ()
) -> Plays[Reached]:
    """Every beginning of every turn, in whatever order, with at least one move.

    No way leads through a position that holds all points of one of the masks in `barred`.
    Only for games without hits: `lone` and `touched` are not looked at.
    """
    groups: Groups[dict[Position, Reached]] = {}
    ended: dict[Position, Reached] = {}
    level: Groups[dict[Position, Reached]] = {(): {turn.position: Reached(turn.held, (), 0)}}
    for _ in dice:
        deeper: Groups[dict[Position, Reached]] = {}
        for used, found in level.items():
            for die in dict.fromkeys(_left(dice, used)):
                into = deeper.setdefault(tuple(sorted((*used, die), reverse=True)), {})
                for position, now in found.items():
                    if position not in ended:
                        for after, reached in _one_more(turn, die, movable, position, now):
                            if not _holds_one_of(barred, reached.held):
                                _add(into, after, reached)
        for found in deeper.values():
            for position, reached in found.items():
                if _over(turn, reached.held):
                    _add(ended, position, reached)
        groups |= {used: found for used, found in deeper.items() if found}
        level = deeper
    return Plays(groups, ended)


def _one_more(
    turn: Turn, die: int, movable: Movable, position: Position, now: Reached
) -> Iterator[tuple[Position, Reached]]:
    """The positions one move with `die` further on."""
    for start in points(movable(now.held, turn.open_points, die)):
        after = position + SHIFT[die][start]
        emptied = not after >> 8 * start & 0xFF
        held_then = now.held ^ (1 << start) if emptied else now.held
        held_then |= 1 << max(start - die, OFF)
        path = (*now.path, STEPS[die][start])
        yield after, Reached(held_then, path, now.firsts or _first(start, die))


def _add(found: dict[Position, Reached], position: Position, reached: Reached) -> None:
    known = found.get(position)
    if known is None:
        found[position] = reached
    elif known.firsts | reached.firsts != known.firsts:
        found[position] = known._replace(firsts=known.firsts | reached.firsts)


def _first(start: int, die: int) -> int:
    """The bit of a first move: larger die first, then the farthest checker, from the top down."""
    return 1 << 26 * die + start


def _over(turn: Turn, held_now: int) -> bool:
    return not held_now & BOARD_MASK or held_now & turn.ends[0] == turn.ends[1]


def _holds_one_of(masks: tuple[int, ...], held_now: int) -> bool:
    return any(held_now & mask == mask for mask in masks)


def _left(dice: Dice, used: Dice) -> list[int]:
    left = list(dice)
    for die in used:
        left.remove(die)
    return left


def paths(found: dict[Position, Reached]) -> dict[Position, Path]:
    """One way to each position."""
    return {position: reached.path for position, reached in found.items()}


def may_hold(mask: int, held_now: int, dice: Dice) -> bool:
    """Whether `dice` could bring checkers to all points of `mask`; True also when in doubt.

    Each point that is missing needs a checker of its own, from a point held now.
    """
    missing = mask & ~held_now
    if missing.bit_count() > len(dice):
        return False
    if len(dice) == 2 and dice[0] != dice[1]:
        ways = 1 << dice[0] | 1 << dice[1] | 1 << dice[0] + dice[1]
        return all(held_now >> point & ways for point in points(missing))
    moves = len(dice)
    for point in points(missing):
        needed = 1
        while not held_now >> point + needed * dice[0] & 1:
            needed += 1
            if needed > moves:
                return False
        moves -= needed
        if moves < 0:
            return False
    return True


# ---------------------------------------------------------------- the filters

Filter: TypeAlias = Callable[[Groups[V]], Groups[V]]


def most_dice(groups: Groups[V]) -> Groups[V]:
    """Both numbers, or all four of a double, else as many as possible (V2.3, VA1)."""
    most = max(map(len, groups), default=0)
    return {used: found for used, found in groups.items() if len(used) == most}


def larger_die(groups: Groups[V]) -> Groups[V]:
    """Of turns that use a single number only those with the larger one stand (V2.3, VA2)."""
    largest = max((used for used in groups if len(used) == 1), default=None)
    return {used: v for used, v in groups.items() if len(used) != 1 or used == largest}


FORCED: Final = (most_dice, larger_die)


def where(
    groups: Groups[dict[Position, Reached]], allowed: Callable[[int], bool]
) -> Groups[dict[Position, Reached]]:
    """Only the turns that end holding points of which `allowed` is true."""
    kept = {
        used: {position: reached for position, reached in found.items() if allowed(reached.held)}
        for used, found in groups.items()
    }
    return {used: found for used, found in kept.items() if found}


def merged(groups: Groups[dict[Position, V]], ended: dict[Position, V]) -> dict[Position, V]:
    """All turns that have stood the filters, and all that end the game (VA3)."""
    all_of_them = dict(ended)
    for found in groups.values():
        all_of_them.update(found)
    return all_of_them


def finals(
    turn: Turn,
    dice: Dice,
    movable: Movable,
    filters: Iterable[Filter[dict[Position, Path]]] = FORCED,
) -> dict[Position, Path]:
    """The distinct final positions of all legal turns, one way each; none when nothing moves."""
    groups, ended = plays(turn, dice, movable)
    for keep in filters:
        groups = keep(groups)
    return merged(groups, ended)


def first_steps(
    turn: Turn,
    dice: Dice,
    movable: Movable,
    filters: Iterable[Filter[list[MoveChecker]]] = FORCED,
) -> Path:
    """The moves with which a legal turn may begin: larger die first, then the farthest checker.

    With equal dice every possible move is one: no choice among them lowers the number played (VA4).
    """
    if len(dice) != 2 or dice[0] == dice[1]:
        starts = movable(turn.held, turn.open_points, dice[0])
        return tuple([STEPS[dice[0]][start] for start in points(starts)])
    groups: Groups[list[MoveChecker]] = {}
    ended: list[MoveChecker] = []
    for die, other in (dice, dice[::-1]):
        for start in points(movable(turn.held, turn.open_points, die)):
            emptied = turn.mine[start] == 1
            held_then = turn.held ^ (1 << start) if emptied else turn.held
            held_then |= 1 << max(start - die, OFF)
            over = _over(turn, held_then)
            if over:
                ended.append(STEPS[die][start])
            if not over and movable(held_then, turn.open_points, other):
                groups.setdefault(dice, []).append(STEPS[die][start])
            else:
                groups.setdefault((die,), []).append(STEPS[die][start])
    for keep in filters:
        groups = keep(groups)
    steps = {*ended, *(step for found in groups.values() for step in found)}
    return tuple(sorted(steps, key=lambda step: (-step.die, -step.start)))


def steps_to(found: Iterable[Reached]) -> Path:
    """The first moves of the turns that come there, in the order of `first_steps`."""
    firsts = 0
    for reached in found:
        firsts |= reached.firsts
    return tuple([STEPS[number // 26][number % 26] for number in points(firsts)])
