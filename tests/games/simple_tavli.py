"""A second generator for Plakoto, Fevga and Gul Bara, slow and plain, that knows no engine.

It follows the rule book's reference algorithm (section 10) to the letter: all prefixes of all
orders of the dice, then the filters, one after the other; tests leave one of them out.  Boards are
tuples of 26 counts in each player's own numbering, pinned checkers included.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from typing import NamedTuple


@dataclass(frozen=True)
class Rules:
    """Which game, and its options, named as in the rule book's section 8."""

    game: str
    bearoff_while_pinned: bool = False
    mother: bool = True
    pinned_outside_ignored: bool = False
    pinned_counts_as_highest: bool = False
    wall_start: str = "only_if_opponent_behind"
    wall_front: bool = True
    wall_each_move: bool = False
    leave_move: bool = True
    receiver_skips: bool = True
    escalate_from: int = 4


class Position(NamedTuple):
    """The mover's board, the other's, and the points of their pinned checkers."""

    mine: tuple[int, ...]
    theirs: tuple[int, ...]
    pinned: frozenset[int] = frozenset()
    their_pinned: frozenset[int] = frozenset()


Step = tuple[int, int]  # start, die
Turn = tuple[Position, tuple[int, ...], Step | None]  # where it ends, dice used, first step
Turns = frozenset[Turn]

WALLS = ("wall at the start", "wall in front")
FORCED = ("both dice", "all of a double", "larger die")
LEAVE = "leave a move"
FILTERS = (*WALLS, *FORCED, LEAVE)


def flipped(p: Position) -> Position:
    """The same, when the other is on move."""
    return Position(p.theirs, p.mine, p.their_pinned, p.pinned)


def opposite(rules: Rules, point: int) -> int:
    """The other's number of my point."""
    if rules.game == "plakoto":
        return 25 - point
    return point + 12 if point <= 12 else point - 12


# ---------------------------------------------------------------- one die


def single_steps(rules: Rules, p: Position, die: int) -> Iterator[tuple[Step, Position]]:
    """Every way to play one die, rules on whole turns aside."""
    for start in range(1, 25):
        if p.mine[start] == 0 or start in p.pinned:
            continue
        if rules.game == "fevga" and start == 24 and not may_leave_start(p):
            continue
        target = start - die
        if target > 0 and not closed(rules, p, target):
            yield (start, die), moved(rules, p, start, target)
        elif target <= 0 and may_bear_off(rules, p, start, die):
            yield (start, die), moved(rules, p, start, 0)


def may_leave_start(p: Position) -> bool:
    """The first checker (V5.2): one is past 12, or all are still there."""
    past = sum(p.mine[:12])
    return past > 0 or p.mine[24] == 15


def closed(rules: Rules, p: Position, point: int) -> bool:
    """Whether I may not land there."""
    there = p.theirs[opposite(rules, point)]
    if rules.game == "plakoto":
        return there >= 2 or (there == 1 and point in p.pinned)
    return there >= 1


def may_bear_off(rules: Rules, p: Position, start: int, die: int) -> bool:
    """Whether `die`, at least `start`, bears off from there."""
    if p.pinned and not rules.bearoff_while_pinned:
        return False
    ignored = p.pinned if rules.pinned_outside_ignored and 24 not in p.pinned else frozenset()
    for point in range(7, 25):
        if p.mine[point] > 0 and point not in ignored:
            return False
    for point in range(start + 1, 7):
        passed_over = point in p.pinned and not rules.pinned_counts_as_highest
        if p.mine[point] > 0 and die > start and not passed_over:
            return False
    return True


def moved(rules: Rules, p: Position, start: int, target: int) -> Position:
    """After one checker has gone from start to target, 0 being off."""
    mine, their_pinned = list(p.mine), set(p.their_pinned)
    mine[start] -= 1
    mine[target] += 1
    if rules.game == "plakoto":
        if mine[start] == 0:
            their_pinned.discard(25 - start)
        if target > 0 and p.theirs[25 - target] == 1:
            their_pinned.add(25 - target)
    return p._replace(mine=tuple(mine), their_pinned=frozenset(their_pinned))


def ending(rules: Rules, p: Position) -> str | None:
    """ "off", "mother" or "drawn" when the mover's last step has ended the game."""
    if p.mine[0] == 15:
        return "off"
    if rules.game == "plakoto" and 24 in p.their_pinned:
        if 24 in p.pinned:
            return "drawn"
        if rules.mother and p.mine[24] == 0:
            return "mother"
    return None


# ---------------------------------------------------------------- whole turns


@lru_cache(maxsize=1 << 15)
def prefixes(rules: Rules, p: Position, dice: tuple[int, ...]) -> Turns:
    """All prefixes of all sequences in every order of the dice, the empty one too."""
    found: set[Turn] = {(p, (), None)}
    if ending(rules, p):
        return frozenset(found)
    for die in set(dice):
        left = list(dice)
        left.remove(die)
        for step, after in single_steps(rules, p, die):
            if rules.wall_each_move and (
                wall_at_start(rules, after) or wall_in_front(rules, after)
            ):
                continue
            for final, used, _ in prefixes(rules, after, tuple(left)):
                found.add((final, tuple(sorted((die, *used))), step))
    return frozenset(found)


def wall_at_start(rules: Rules, p: Position) -> bool:
    """Whether the mover holds what `wall_start` forbids (V5.4, VF1)."""
    held = [point for point in range(1, 25) if p.mine[point]]
    start = [point for point in held if point >= 19]
    behind = sum(p.theirs[opposite(rules, point)] for point in range(1, 13))
    match rules.wall_start:
        case "only_if_opponent_behind":
            return len(start) == 6 and behind > 0
        case "always":
            return len(start) == 6
        case "both_quadrants":
            return len(start) == 6 or all(point in held for point in range(7, 13))
        case "four_points":
            return len(start) >= 5
    return any(six_unpassed(rules, p, lowest) for lowest in range(1, 20))


def six_unpassed(rules: Rules, p: Position, lowest: int) -> bool:
    """Six in a row on the other's way, none of whose checkers is past them."""
    six = range(lowest, lowest + 6)
    his = [opposite(rules, point) for point in six]
    if not all(p.mine[point] for point in six) or his != sorted(his):
        return False
    return sum(p.theirs[: his[0]]) == 0


def wall_in_front(rules: Rules, p: Position) -> bool:
    """Whether the mover holds 11..6 while the other's start is occupied (V5.4)."""
    return rules.wall_front and p.theirs[24] > 0 and all(p.mine[n] > 0 for n in range(6, 12))


def any_wall(rules: Rules, p: Position) -> bool:
    """Whether the mover holds anything that is forbidden."""
    return wall_at_start(rules, p) or wall_in_front(rules, p)


def can_move(rules: Rules, p: Position) -> bool:
    """Whether the other then has a move with some number."""
    return any(True for die in range(1, 7) for _ in single_steps(rules, flipped(p), die))


def legal_turns(rules: Rules, p: Position, dice: tuple[int, ...], without: str = "") -> set[Turn]:
    """Section 10; one filter may be left out.  One empty turn is a forced pass."""
    every = prefixes(rules, p, dice)
    wins = {turn for turn in every if turn[1] and ending(rules, turn[0])}
    stand = set(every)
    if rules.game == "fevga" and without != "wall at the start":
        stand = {turn for turn in stand if not turn[1] or not wall_at_start(rules, turn[0])}
    if rules.game == "fevga" and without != "wall in front":
        stand = {turn for turn in stand if not turn[1] or not wall_in_front(rules, turn[0])}
    longest = max(len(used) for _, used, _ in stand)
    if ("both dice" if len(set(dice)) == 2 else "all of a double") != without:
        stand = {turn for turn in stand if len(turn[1]) == longest}
    if longest == 1 and without != "larger die":
        largest = max(used[0] for _, used, _ in stand if used)
        stand = {turn for turn in stand if turn[1] == (largest,) or not turn[1]}
    stand |= wins
    if rules.game == "fevga" and rules.leave_move and without != LEAVE:
        leaving = {turn for turn in stand if can_move(rules, turn[0])}
        stand = leaving or stand
    return stand


def legal_finals(
    rules: Rules, p: Position, dice: tuple[int, ...], without: str = ""
) -> set[Position]:
    """The distinct final positions."""
    return {final for final, _, _ in legal_turns(rules, p, dice, without)}


def first_steps(rules: Rules, p: Position, dice: tuple[int, ...]) -> set[Step]:
    """The steps with which a legal turn begins."""
    return {first for _, _, first in legal_turns(rules, p, dice) if first}


# ---------------------------------------------------------------- Gul Bara's throws

HANDED = ("escalation", "stuck is stop", "the rest is handed over", "skipping")
Outcome = tuple[Position, tuple[int, ...]]  # the position, what goes to the opponent


def numbers(rules: Rules, a: int, b: int, throw: int, without: str = "") -> tuple[int, ...]:
    """What a throw gives to play (V6.1)."""
    if a != b:
        return (max(a, b), min(a, b))
    if throw < rules.escalate_from or without == "escalation":
        return (a,) * 4
    return tuple(number for number in range(a, 7) for _ in range(4))


def is_pair(given: tuple[int, ...]) -> bool:
    """Two different numbers of one throw."""
    return len(given) == 2 and given[0] != given[1]


def thrown(rules: Rules, p: Position, given: tuple[int, ...], without: str = "") -> set[Outcome]:
    """All ends of a player's own throw, and what he hands over (V6.2, V6.3)."""
    if is_pair(given):
        ends = set()
        for final, used, _ in legal_turns(rules, p, given, without):
            left = tuple(number for number in given if number not in used)
            ends.add((final, () if ending(rules, final) else left))
    else:
        ends = in_order(rules, p, given, stops=without != "stuck is stop")
    if without == "the rest is handed over":
        return {(final, ()) for final, _ in ends}
    return ends


def received(rules: Rules, p: Position, given: tuple[int, ...], without: str = "") -> set[Position]:
    """All ends of playing what was received; the rest is lost."""
    if is_pair(given):
        return legal_finals(rules, p, given, without)
    skips = rules.receiver_skips and without != "skipping"
    return {final for final, _ in in_order(rules, p, given, stops=not skips)}


def in_order(rules: Rules, p: Position, given: tuple[int, ...], stops: bool) -> set[Outcome]:
    """Number after number; whoever is stuck stops, or goes on with the next number."""
    now: set[Outcome] = {(p, ())}
    for number in given:
        after: set[Outcome] = set()
        for position, left in now:
            ways = [] if stops and left else [s for _, s in single_steps(rules, position, number)]
            if ending(rules, position):
                after.add((position, ()))
            elif ways:
                after |= {(way, left) for way in ways}
            else:
                after.add((position, (*left, number)))
        now = after
    return now


# ---------------------------------------------------------------- path counts


def perft(rules: Rules, p: Position, dice: tuple[int, ...], depth: int) -> int:
    """Paths of `depth` actions: rolls (36), single steps, and passes; dice () before a roll.

    Of Plakoto and Fevga.
    """
    if depth == 0:
        return 1
    if not dice:
        rolls = [(a,) * 4 if a == b else (a, b) for a in range(1, 7) for b in range(1, 7)]
        return sum(perft(rules, p, roll, depth - 1) for roll in rolls)
    starts = first_steps(rules, p, dice)
    if not starts:
        return perft(rules, flipped(p), (), depth - 1)
    return sum(_after_step(rules, p, dice, step, depth) for step in starts)


def _after_step(rules: Rules, p: Position, dice: tuple[int, ...], step: Step, depth: int) -> int:
    after = dict(single_steps(rules, p, step[1]))[step]
    if ending(rules, after):
        return 1 if depth == 1 else 0
    left = list(dice)
    left.remove(step[1])
    if left and first_steps(rules, after, tuple(left)):
        return perft(rules, after, tuple(left), depth - 1)
    return perft(rules, flipped(after), (), depth - 1)


class Hand(NamedTuple):
    """Gul Bara between two actions: the numbers left, whether received, both throw counts."""

    position: Position
    given: tuple[int, ...]
    receiving: bool
    throws: tuple[int, int]  # the mover's, the other's


def perft_gulbara(rules: Rules, hand: Hand, depth: int) -> int:
    """As `perft`; the numbers () before a throw."""
    if depth == 0:
        return 1
    p, given, receiving, throws = hand
    if not given:
        counted = (throws[0] + 1, throws[1])
        rolls = [numbers(rules, a, b, counted[0]) for a in range(1, 7) for b in range(1, 7)]
        return sum(perft_gulbara(rules, Hand(p, roll, False, counted), depth - 1) for roll in rolls)
    ways = [(step, after, left) for step, after, left in steps_of(rules, p, given, receiving)]
    if not ways:
        return perft_gulbara(rules, done(hand, p, given), depth - 1)
    total = 0
    for _, after, left in ways:
        if ending(rules, after):
            total += depth == 1
        elif left and any(True for _ in steps_of(rules, after, left, receiving)):
            total += perft_gulbara(rules, Hand(after, left, receiving, throws), depth - 1)
        else:
            total += perft_gulbara(rules, done(hand, after, left), depth - 1)
    return total


def done(hand: Hand, p: Position, left: tuple[int, ...]) -> Hand:
    """After the last move: a receiver throws, a thrower hands over."""
    if hand.receiving:
        return Hand(p, (), False, hand.throws)
    return Hand(flipped(p), left, bool(left), hand.throws[::-1])


def steps_of(
    rules: Rules, p: Position, given: tuple[int, ...], receiving: bool
) -> Iterator[tuple[Step, Position, tuple[int, ...]]]:
    """Every move that may come next, the position after it, and the numbers then left."""
    if is_pair(given):
        allowed = first_steps(rules, p, given)
        for number in given:
            for step, after in single_steps(rules, p, number):
                if step in allowed:
                    yield step, after, tuple(n for n in given if n != number)
        return
    for at, number in enumerate(given):
        ways = list(single_steps(rules, p, number))
        yield from ((step, after, given[at + 1 :]) for step, after in ways)
        if ways or not (receiving and rules.receiver_skips):
            return
