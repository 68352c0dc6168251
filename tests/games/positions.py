"""Positions with a roll, from a seed: ordinary ones out of random play, and tight ones."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from random import Random
from typing import TypeVar

from kafeneio_games.game import CHANCE
from kafeneio_games.portes import Stage, State

from tests.games.boards import GAME, SEATS, to_move


def played(seed: int) -> Iterator[State]:
    """Every position with dice thrown, and nothing moved yet, of endless random games."""
    random = Random(seed)
    while True:
        state = GAME.start(random.choice(SEATS), SEATS)
        while state.stage is not Stage.OVER:
            if state.stage is Stage.ROLL:
                state = GAME.apply(state, CHANCE, GAME.chance(state, RandomDraw(random)))
                yield state
            action = random.choice(list(GAME.legal(state, state.mover)))
            state = GAME.apply(state, state.mover, action)


def tight(seed: int) -> Iterator[State]:
    """Few free checkers, primes with a hole or two, men on the bar.

    The other side holds four to seven closed points close together; of the mover's men one to three
    stand behind or among them or on the bar, the rest lie deep at home or are off.
    """
    random = Random(seed)
    while True:
        theirs = [0] * 26
        low = random.randint(4, 15)  # in the mover's numbering
        window = range(low, low + random.randint(8, 10))
        closed = random.sample(window, random.randint(6, 7))
        for point in closed:
            theirs[25 - point] = 2
        free = [p for p in range(1, 25) if p not in closed]
        near = [p for p in free if p > low]
        mine = [0] * 26
        for _ in range(random.randint(1, 3)):
            mine[25 if random.random() < 0.2 else random.choice(near)] += 1
        deep = random.choice([(1,), (1,), (1,), (1, 2)])  # so that they seldom take a die
        while sum(mine) < 15:
            mine[0 if random.random() < 0.15 else random.choice(deep)] += 1
        empty = [p for p in range(1, 25) if not mine[p]]
        while sum(theirs) < 15:
            theirs[25 - random.choice(empty)] += 1
        roll = f"{random.randint(1, 6)}{random.randint(1, 6)}"
        yield to_move(bytes(mine), bytes(theirs), roll, random.choice(SEATS))


T = TypeVar("T")


class RandomDraw:
    """A `Draw` of an ordinary generator."""

    def __init__(self, random: Random) -> None:
        self._random = random

    def below(self, n: int) -> int:
        """A number from 0 to n - 1."""
        return self._random.randrange(n)

    def shuffled(self, cards: Sequence[T]) -> tuple[T, ...]:
        """Any order."""
        return tuple(self._random.sample(list(cards), len(cards)))
