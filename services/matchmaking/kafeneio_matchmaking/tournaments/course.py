"""How a tournament goes on: what happens in its matches, and what follows from it.

Whatever happens, everything that is decided by it is decided at once: who has nobody to play
against goes on, and where that ends a round the next one is drawn, up to the end. So a tournament
that is not finished has a match to be played.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import Final, TypeAlias

from kafeneio_matchmaking.tournaments import (
    double_elimination,
    elimination,
    round_robin,
    swiss,
)
from kafeneio_matchmaking.tournaments.domain import (
    GAMES_A_MATCH,
    LARGEST,
    SMALLEST,
    Course,
    Format,
    How,
    Match,
    Places,
    Rules,
    ranked,
)

RULES: Final = MappingProxyType[Format, Rules](
    {
        Format.SINGLE_ELIMINATION: elimination,
        Format.DOUBLE_ELIMINATION: double_elimination,
        Format.SWISS: swiss,
        Format.ROUND_ROBIN: round_robin,
    }
)


@dataclass(frozen=True, slots=True)
class Won:
    """The game was decided."""

    winner: int


@dataclass(frozen=True, slots=True)
class Voided:
    """The game ended void, though all had joined."""


@dataclass(frozen=True, slots=True)
class Absent:
    """The game ended void (NO_SHOW); `joined` are the sides of which everybody had joined."""

    joined: frozenset[int]


Report: TypeAlias = Won | Voided | Absent


class NoSuchMatchError(ValueError):
    """There is no such match in the round that is being played, or nothing of the kind can happen
    to it."""


def begin(kind: Format, size: int, length: int = 0) -> Course:
    """A tournament of so many entrants with its first round. Raises ValueError for a size that
    none has."""
    if not SMALLEST <= size <= LARGEST:
        raise ValueError(f"a tournament has {SMALLEST} to {LARGEST} entrants, not {size}")
    return _settled(Course(kind, size, length))


def to_start(course: Course) -> tuple[int, ...]:
    """The matches of the round that wait for a game, by their numbers in it."""
    if course.finished:
        return ()
    last = course.rounds[-1]
    return tuple(n for n, match in enumerate(last) if not (match.is_over or match.running))


def start(course: Course, number: int) -> Course:
    """A game of a match has been started. Raises NoSuchMatchError."""
    match = _open(course, number, running=False)
    return _changed(course, number, replace(match, running=True))


def report(course: Course, number: int, told: Report) -> Course:
    """The game of a match is over. Raises NoSuchMatchError."""
    match = _after(course, _open(course, number, running=True), told)
    return _settled(_changed(course, number, _walked_over(match, course.gone)))


def leave(course: Course, seed: int, *, disqualified: bool = False) -> Course:
    """An entrant plays no more. A game of his that runs is played on, and counts; one of who is
    disqualified is lost at once, whatever comes of it. Once the tournament is finished, or he has
    left in that way, nothing changes. Raises ValueError for who is no entrant."""
    if seed not in course.seeds:
        raise ValueError(f"there is no entrant {seed}")
    if course.finished or seed in (course.disqualified if disqualified else course.gone):
        return course
    course = replace(course, gone=course.gone | {seed})
    if disqualified:
        course = replace(course, disqualified=course.disqualified | {seed})
        for number, match in enumerate(course.rounds[-1]):
            if match.running and seed in match.sides:
                course = _changed(course, number, _over(match, How.WALKOVER, match.opponent(seed)))
    return _settled(_all_walked_over(course))


def places(course: Course) -> Places:
    """Who finishes where; of a tournament that is not finished, as things stand."""
    return ranked(course, RULES[course.format].merits(course))


def most_games(course: Course) -> int:
    """More games are never started, whatever happens."""
    return GAMES_A_MATCH * RULES[course.format].most_matches(course.size, course.length)


def _open(course: Course, number: int, *, running: bool) -> Match:
    if not course.finished and 0 <= number < len(course.rounds[-1]):
        match = course.rounds[-1][number]
        if not match.is_over and match.running is running:
            return match
    state = "running" if running else "waiting for a game"
    raise NoSuchMatchError(f"there is no match {number} that is {state}")


def _after(course: Course, match: Match, told: Report) -> Match:
    """A match after its game."""
    match told:
        case Won(winner):
            if winner not in match.sides:
                raise NoSuchMatchError(f"{winner} is not in the match")
            return _over(match, How.PLAYED, winner)
        case Absent(joined) if set(match.sides) - joined:
            present = [seed for seed in match.sides if seed in joined]
            return _over(match, How.NO_SHOW, present[0] if present else None)
        case _:
            again = replace(match, voids=match.voids + 1, running=False)
            there = [seed for seed in match.sides if seed not in course.gone]
            if again.voids < GAMES_A_MATCH or len(there) < len(match.sides):
                return again
            return _over(again, How.VOID, min(match.sides))


def _over(match: Match, how: How, winner: int | None) -> Match:
    return replace(match, running=False, how=how, winner=winner)


def _changed(course: Course, number: int, match: Match) -> Course:
    last = course.rounds[-1]
    changed = (*last[:number], match, *last[number + 1 :])
    return replace(course, rounds=(*course.rounds[:-1], changed))


def _settled(course: Course) -> Course:
    """The tournament with everything decided that is: up to a match that is to be played, or the
    end."""
    while not course.finished:
        if course.rounds and not all(match.is_over for match in course.rounds[-1]):
            return course
        drawn = RULES[course.format].draw(course)
        if drawn is None:
            return replace(course, finished=True)
        course = _all_walked_over(replace(course, rounds=(*course.rounds, drawn)))
    return course


def _all_walked_over(course: Course) -> Course:
    last = tuple(_walked_over(match, course.gone) for match in course.rounds[-1])
    return replace(course, rounds=(*course.rounds[:-1], last))


def _walked_over(match: Match, gone: frozenset[int]) -> Match:
    """A match that nobody has to play any more is over."""
    if match.is_over or match.running:
        return match
    there = [seed for seed in match.sides if seed not in gone]
    if len(there) == 2:
        return match
    how = How.WALKOVER if len(match.sides) == 2 else How.BYE
    return _over(match, how, there[0] if there else None)
