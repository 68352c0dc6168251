"""How features become points: a weighted sum, bent so that it stays between the most one can lose
and the most one can win."""

from __future__ import annotations

import math
from collections.abc import Iterable
from operator import mul
from typing import Final, NamedTuple, TypeAlias

Features: TypeAlias = tuple[float, ...]
"""What an evaluation sees: the mover's features, the other's, and a 1 for the constant."""

Weights: TypeAlias = tuple[float, ...]
"""One number for each of the `Features`."""

MOST: Final = 2.0  # points; a double game


class Term(NamedTuple):
    """What one unit of a feature is worth, before bending, to the player who has just moved.

    `own` when it is his, `other` when it is the opponent's, whose throw is next: a single checker
    that can be hit now is not what it is for the one who may still cover it.
    """

    name: str
    own: float
    other: float


def weights(terms: Iterable[Term], constant: float) -> Weights:
    """In the order of `Features`."""
    listed = tuple(terms)
    return (*[t.own for t in listed], *[t.other for t in listed], constant)


def points(factors: Weights, features: Features) -> float:
    """What the mover may expect to win, in points; a loss is negative."""
    return MOST * math.tanh(sum(map(mul, factors, features)))
