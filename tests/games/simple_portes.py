"""A second generator of Portes turns, slow and plain, that knows nothing of the engine.

It follows the rule book's reference algorithm to the letter: all prefixes of all orders of the
dice, then the filters.  Boards are tuples of 26 counts in each player's own numbering.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache

Board = tuple[int, ...]
Position = tuple[Board, Board]  # the mover's, the other's
Step = tuple[int, int]  # start, die
Sequence = tuple[tuple[Step, ...], Position]


def single_steps(position: Position, die: int) -> Iterator[tuple[Step, Position]]:
    """Every way to play one die, forced dice aside."""
    mine, theirs = position
    for start in range(1, 26):
        if mine[start] == 0 or (mine[25] > 0 and start != 25):
            continue
        target = start - die
        if target <= 0:
            if sum(mine[:7]) != 15:
                continue
            if target < 0 and sum(mine[start + 1 :]) > 0:
                continue
            target = 0
        elif theirs[25 - target] >= 2:
            continue
        new_mine, new_theirs = list(mine), list(theirs)
        new_mine[start] -= 1
        new_mine[target] += 1
        if target > 0 and new_theirs[25 - target] == 1:
            new_theirs[25 - target] = 0
            new_theirs[25] += 1
        yield (start, die), (tuple(new_mine), tuple(new_theirs))


def won(position: Position) -> bool:
    """Whether the mover has borne off all."""
    return position[0][0] == 15


def prefixes(position: Position, dice: tuple[int, ...]) -> Iterator[Sequence]:
    """Every sequence of steps in every order of the dice, the empty one too."""
    yield (), position
    if won(position):
        return
    for die in sorted(set(dice)):
        left = list(dice)
        left.remove(die)
        for step, after in single_steps(position, die):
            for steps, final in prefixes(after, tuple(left)):
                yield (step, *steps), final


def longest(sequences: list[Sequence]) -> list[Sequence]:
    """As many dice as possible."""
    most = max(len(steps) for steps, _ in sequences)
    return [sequence for sequence in sequences if len(sequence[0]) == most]


def larger(sequences: list[Sequence]) -> list[Sequence]:
    """Of single dice the largest."""
    if not sequences or len(sequences[0][0]) != 1:
        return sequences
    best = max(steps[0][1] for steps, _ in sequences)
    return [sequence for sequence in sequences if sequence[0][0][1] == best]


@lru_cache(maxsize=20000)
def legal_turns(position: Position, dice: tuple[int, ...]) -> tuple[Sequence, ...]:
    """All legal whole turns as sequences of steps; one empty sequence is a forced pass."""
    found = list(prefixes(position, dice))
    wins = [sequence for sequence in found if won(sequence[1])]
    kept = larger(longest(found))
    return tuple(dict.fromkeys([*kept, *wins]))


def legal_finals(position: Position, dice: tuple[int, ...]) -> set[Position]:
    """The distinct final positions."""
    return {final for _, final in legal_turns(position, dice)}


def first_steps(position: Position, dice: tuple[int, ...]) -> set[Step]:
    """The steps with which a legal turn begins."""
    return {steps[0] for steps, _ in legal_turns(position, dice) if steps}


def perft(position: Position, dice: tuple[int, ...], depth: int) -> int:
    """Paths of `depth` actions: rolls (36), single steps, and passes; dice () before a roll."""
    if depth == 0:
        return 1
    if not dice:
        return sum(
            perft(position, (a,) * 4 if a == b else (a, b), depth - 1)
            for a in range(1, 7)
            for b in range(1, 7)
        )
    starts = first_steps(position, dice)
    if not starts:
        return perft(position[::-1], (), depth - 1)
    return sum(_after_step(position, dice, step, depth) for step in starts)


def _after_step(position: Position, dice: tuple[int, ...], step: Step, depth: int) -> int:
    after = dict(single_steps(position, step[1]))[step]
    if won(after):
        return 1 if depth == 1 else 0
    left = list(dice)
    left.remove(step[1])
    if left and first_steps(after, tuple(left)):
        return perft(after, tuple(left), depth - 1)
    return perft(after[::-1], (), depth - 1)
