"""What `tests.strength` says of many games."""

from __future__ import annotations

import math

import pytest

from tests.strength import tavli
from tests.strength.measure import Contest, Pair, measure


def alternating(number: int) -> Pair:
    """Pairs of the means 1 and 0 in turn; decisions of 1 to 100 ms."""
    return Pair((2.0, 0.0) if number % 2 else (1.0, -1.0), ((number + 1) / 1000,))


def test_the_interval_is_that_of_the_means_of_pairs() -> None:
    found = measure(Contest("any", alternating, 0.0), games=200, workers=1)
    # 50 means of 1 and 50 of 0: their deviation is sqrt(0.25 * 100 / 99), over sqrt(100).
    error = 1.96 * math.sqrt(0.25 * 100 / 99) / 10
    assert (found.games, found.mean) == (200, 0.5)
    assert found.low == pytest.approx(0.5 - error)
    assert found.high == pytest.approx(0.5 + error)
    assert (found.p50_ms, found.p99_ms, found.max_ms) == pytest.approx((51, 99, 100))


def test_every_game_is_measured_as_is_demanded() -> None:
    demanded = {contest.name: contest.demanded for contest in tavli.contests()}
    assert demanded == {
        "portes against random": 0.8,
        "portes against pips": 0.3,
        "plakoto against random": 0.8,
        "fevga against random": 0.8,
        "gulbara against random": 0.8,
    }


def test_a_pair_is_the_same_whenever_it_is_played() -> None:
    first, again = (tavli.pair("portes", "random", 3) for _ in range(2))
    assert first.points == again.points
    assert len(first.points) == 2
