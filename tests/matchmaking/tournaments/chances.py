"""Tournaments in which anything may happen: games decided, void and not turned up for, entrants who
leave, in any order."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from random import Random
from typing import Final, Protocol

from kafeneio_matchmaking.tournaments.course import (
    Absent,
    Report,
    Voided,
    Won,
    begin,
    leave,
    report,
    start,
    to_start,
)
from kafeneio_matchmaking.tournaments.domain import Course, Format


class Choose(Protocol):
    """One of the numbers below `count`."""

    def __call__(self, count: int, /) -> int: ...


@dataclass
class Evening:
    """A tournament that is played to its end by chance; `leaving` in a hundred steps somebody
    leaves."""

    choose: Choose
    leaving: int = 5
    games: int = 0
    watch: Callable[[Course], None] = lambda course: None

    def play(self, kind: Format, size: int, length: int = 0) -> Course:
        """The finished tournament."""
        course = begin(kind, size, length)
        while not course.finished:
            self.watch(course)
            course = self.step(course)
        return course

    def step(self, course: Course) -> Course:
        """The tournament after one thing more."""
        if self.choose(100) < self.leaving:
            seed = course.seeds[self.choose(course.size)]
            return leave(course, seed, disqualified=self.choose(3) == 0)
        last = course.rounds[-1]
        skip = self.choose(len(last))
        number = next(n for n in (*range(skip, len(last)), *range(skip)) if not last[n].is_over)
        if last[number].running:
            return report(course, number, self.end(last[number].sides))
        self.games += 1
        return start(course, number)

    def end(self, sides: tuple[int, ...]) -> Report:
        """How a game ends: seven in ten are decided."""
        fate = self.choose(10)
        if fate < 7:
            return Won(sides[fate % 2])
        if fate < 8:
            return Voided()
        joined = self.choose(3)
        return Absent(frozenset(sides[joined : joined + 1]))


def by_chance(seed: object, *, leaving: int = 5) -> Evening:
    """An evening that is the same whenever it is repeated."""
    return Evening(Random(str(seed)).randrange, leaving)


def favourites(course: Course) -> Course:
    """The round once the better seeds have won all of it."""
    number = len(course.rounds)
    while not course.finished and len(course.rounds) == number:
        (first, *_) = to_start(course)
        sides = course.rounds[-1][first].sides
        course = report(start(course, first), first, Won(min(sides)))
    return course


FORMATS: Final = tuple(Format)
