"""What a tournament is made of: entrants, matches, rounds; and what its formats have in common.

Pure. An entrant is his seed, from 1, the best. A round is a row of matches, and follows when the
one before it is over. How a format draws the next round, and whom it places where, is in the module
of the format; how a round is played is in course.py.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Final, Protocol, TypeAlias

SMALLEST: Final = 2
LARGEST: Final = 130
"""How many entrants a tournament has: every size between is tested in every format."""

GAMES_A_MATCH: Final = 2
"""A game that ends void is played again once (S5)."""


class Format(StrEnum):
    """How it is played."""

    SINGLE_ELIMINATION = "single_elimination"
    DOUBLE_ELIMINATION = "double_elimination"
    SWISS = "swiss"
    ROUND_ROBIN = "round_robin"


class Bracket(StrEnum):
    """Where a match stands in its round; all are in MAIN but in double elimination."""

    MAIN = "main"
    LOSERS = "losers"
    FINAL = "final"


class How(StrEnum):
    """How a match has ended."""

    PLAYED = "played"
    NO_SHOW = "no_show"
    """Who joined goes on; both absent, neither (S5)."""
    VOID = "void"
    """Twice; the better seed goes on (S5)."""
    WALKOVER = "walkover"
    """One has left the tournament, or both have."""
    BYE = "bye"
    """One side was nobody's."""


MET: Final = (How.PLAYED, How.NO_SHOW, How.VOID)
"""The two have met: there was a game for them."""


@dataclass(frozen=True, slots=True)
class Match:
    """Two sides of which one goes on. A side that is None is nobody's.

    `winner` is None until it is over, and also after where neither goes on. `voids` counts its
    games that ended void; `running` is whether one has been started that is not over.
    """

    one: int | None
    two: int | None
    bracket: Bracket = Bracket.MAIN
    voids: int = 0
    running: bool = False
    how: How | None = None
    winner: int | None = None

    @property
    def is_over(self) -> bool:
        """Whether it is decided who goes on."""
        return self.how is not None

    @property
    def sides(self) -> tuple[int, ...]:
        """Who is in it."""
        return tuple(seed for seed in (self.one, self.two) if seed is not None)

    @property
    def losers(self) -> tuple[int, ...]:
        """Who does not go on: one, both, or (before it is over) nobody."""
        if self.how is None:
            return ()
        return tuple(seed for seed in self.sides if seed != self.winner)

    @property
    def loser(self) -> int | None:
        """Who has lost to a winner; None where nobody has won, or there was no opponent."""
        return self.losers[0] if self.winner is not None and self.losers else None

    def opponent(self, seed: int) -> int | None:
        """The other side."""
        return self.two if seed == self.one else self.one


Round: TypeAlias = tuple[Match, ...]
Places: TypeAlias = tuple[tuple[int, ...], ...]
"""Who finishes where, the first place first; those who share one in the order of their seeds. After
a place that n share the next is n later."""


@dataclass(frozen=True, slots=True)
class Course:
    """A tournament as far as it has come. Only matches of the last round are not over.

    `length` is how many rounds of a Swiss tournament were asked for, 0 for the usual number. `gone`
    are those who have left, the disqualified among them.
    """

    format: Format
    size: int
    length: int = 0
    rounds: tuple[Round, ...] = ()
    gone: frozenset[int] = field(default_factory=frozenset)
    disqualified: frozenset[int] = field(default_factory=frozenset)
    finished: bool = False

    @property
    def seeds(self) -> range:
        """All entrants."""
        return range(1, self.size + 1)

    @property
    def matches(self) -> tuple[Match, ...]:
        """Of all rounds."""
        return tuple(match for each in self.rounds for match in each)


class Rules(Protocol):
    """What a format has to say. Each module of a format is one."""

    def draw(self, course: Course) -> Round | None:
        """The round after those that were played, which are over; None after the last one."""
        ...

    def merits(self, course: Course) -> Sequence[tuple[int, ...]]:
        """What ranks the entrants, seed 1 first: more is better, equal shares a place."""
        ...

    def most_matches(self, size: int, length: int) -> int:
        """More are never played, byes left out."""
        ...


def bracket_order(slots: int) -> list[int]:
    """The seeds of a bracket of 2, 4, 8 … slots, so that the best two can't meet before the final,
    the best four not before the round before it, and so on."""
    order = [1]
    while len(order) < slots:
        order = [each for seed in order for each in (seed, 2 * len(order) + 1 - seed)]
    return order


def slots_for(size: int) -> int:
    """How many slots a bracket for so many entrants has: a power of two."""
    return 1 << max(size - 1, 1).bit_length()


def first_of_bracket(size: int) -> Round:
    """The first round of a bracket; who has no opponent there is one of the best seeds."""
    order = [seed if seed <= size else None for seed in bracket_order(slots_for(size))]
    return paired(order)


def paired(sides: Sequence[int | None], bracket: Bracket = Bracket.MAIN) -> Round:
    """Matches of the first with the second, the third with the fourth, and so on."""
    return tuple(Match(one, two, bracket) for one, two in zip(sides[::2], sides[1::2], strict=True))


def ranked(course: Course, merits: Sequence[tuple[int, ...]]) -> Places:
    """The places by what the entrants have reached; the disqualified come after all others."""
    places: dict[tuple[bool, tuple[int, ...]], list[int]] = {}
    for seed, merit in zip(course.seeds, merits, strict=True):
        places.setdefault((seed not in course.disqualified, merit), []).append(seed)
    return tuple(tuple(places[key]) for key in sorted(places, reverse=True))


def wins(matches: Iterable[Match]) -> dict[int, int]:
    """How many of the matches each has won; who has won none is left out."""
    found: dict[int, int] = {}
    for match in matches:
        if match.winner is not None:
            found[match.winner] = found.get(match.winner, 0) + 1
    return found
