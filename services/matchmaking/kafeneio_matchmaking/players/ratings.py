"""How strong players are: from their ratings and a result to their new ratings. Pure.

The model is Plackett-Luce as R. C. Weng and C.-J. Lin have it ("A Bayesian Approximation Method for
Online Ranking", Journal of Machine Learning Research 12, 2011), by the library `openskill`, with
its usual parameters.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from openskill.models import PlackettLuce

from kafeneio_matchmaking.players.domain import NEWCOMER, sides

POINTS: Final = 30
"""So many points one unit of the model is. The chance of a win is exp(d/c) to 1 where two players'
means are d apart and c² is the sum of σ² + β²; β is 25/6, and σ near 1 for who has played much, so
that 400 points are about nine to one."""

SURE: Final = 3
"""So many deviations below the mean a player is worth at least."""

_MODEL: Final = PlackettLuce(limit_sigma=True)
"""No game makes us less sure than we were."""


@dataclass(frozen=True, slots=True)
class Skill:
    """What is known of a player's strength in one variant: the mean, and the deviation, > 0."""

    mu: float = _MODEL.mu
    sigma: float = _MODEL.sigma

    @property
    def value(self) -> int:
        """In points: a newcomer has NEWCOMER."""
        return _points(self.mu)

    @property
    def uncertainty(self) -> int:
        """The deviation in points."""
        return round(POINTS * self.sigma)

    @property
    def floor(self) -> int:
        """What the player is worth at least, in points."""
        return _points(self.mu - SURE * self.sigma)


START: Final = Skill()


def _points(mu: float) -> int:
    return round(NEWCOMER + POINTS * (mu - _MODEL.mu))


def rate(skills: Sequence[Skill], winners: Sequence[int]) -> tuple[Skill, ...]:
    """Everybody's skill, seat 0 first, once the seats `winners` have won against the others.

    Of two against two the partners are a team. Else everybody plays for himself, and those who
    have not won are equals: how they stand is not a part of the result.
    """
    teams = sides(len(skills), winners)
    given = [
        [_MODEL.rating(skills[seat].mu, skills[seat].sigma) for seat in team] for team in teams
    ]
    ranks = [0.0 if team[0] in winners else 1.0 for team in teams]
    made = dict[int, Skill]()
    for team, after in zip(teams, _MODEL.rate(given, ranks=ranks), strict=True):
        for seat, rating in zip(team, after, strict=True):
            made[seat] = Skill(rating.mu, rating.sigma)
    return tuple(made[seat] for seat in range(len(skills)))


def take_back(current: Skill, before: Skill, after: Skill) -> Skill:
    """A skill without what one game did to it, whatever came since: the mean goes back as far as
    that game moved it, and the deviation in the same proportion."""
    sigma = min(current.sigma * before.sigma / after.sigma, START.sigma)
    return Skill(current.mu - (after.mu - before.mu), sigma)


def chance(value: int, other: int) -> float:
    """How likely who has `value` points is to beat who has `other`, both being well known."""
    return float(1 / (1 + 9 ** ((other - value) / 400)))
