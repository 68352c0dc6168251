"""Tournament prizes (S5), by hand and for every way to share places in small tournaments."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from fractions import Fraction

import pytest
from kafeneio_settlement.payouts import LARGEST, NotPayableError, TooLargeError
from kafeneio_settlement.prizes import Prizes, prizes

OFFERS = ((10_000,), (7000, 3000), (5000, 3000, 2000), (3334, 3333, 3333), (4001, 3000, 1999, 1000))


@pytest.mark.parametrize(
    ("pool", "shares", "places", "paid"),
    [
        # Worked out with pencil and paper.
        (1000, (5000, 3000, 2000), ("a", "b", "c", "d"), (500, 300, 200, 0)),
        (1001, (5000, 3000, 2000), ("a", "b", "c"), (501, 300, 200)),
        (9, (5000, 3000, 2000), ("a", "b", "c"), (6, 2, 1)),
        (1, (7000, 3000), ("a", "b"), (1, 0)),
        (0, (7000, 3000), ("a", "b"), (0, 0)),
        # b and c share second and third: (300 + 200) / 2.
        (1000, (5000, 3000, 2000), ("a", "bc"), (500, 250, 250)),
        # Three share second, third and fourth, which has no prize: 500 / 3, 2 left for the first.
        (1000, (5000, 3000, 2000), ("a", "bcd"), (502, 166, 166, 166)),
        # Two share the first place: 800 / 2; all four: 1000 / 4.
        (1000, (5000, 3000, 2000), ("ab", "c"), (400, 400, 200)),
        (1000, (5000, 3000, 2000), ("abcd",), (250, 250, 250, 250)),
        # What can't be divided among those who share the first place goes by seeds.
        (11, (5000, 5000), ("ab",), (6, 5)),
        (100, (3334, 3333, 3333), ("abc",), (34, 33, 33)),
        # Nobody has come third: the first gets that too.
        (1000, (5000, 3000, 2000), ("a", "b"), (700, 300)),
        (1000, (5000, 3000, 2000), ("a",), (1000,)),
        # A tie on the last place that has a prize.
        (1000, (7000, 3000), ("a", "bcd", "e"), (700, 100, 100, 100, 0)),
    ],
)
def test_by_hand(
    pool: int, shares: tuple[int, ...], places: tuple[str, ...], paid: tuple[int, ...]
) -> None:
    assert tuple(prizes(pool, Prizes(shares), places).values()) == paid


def rankings(entrants: str) -> Iterator[tuple[str, ...]]:
    """Every way to share places among entrants in one order."""
    for cuts in itertools.product((False, True), repeat=len(entrants) - 1):
        found, start = [], 0
        for place, cut in enumerate(cuts, 1):
            if cut:
                found.append(entrants[start:place])
                start = place
        yield (*found, entrants[start:])


@pytest.mark.parametrize("shares", OFFERS)
def test_every_small_tournament(shares: tuple[int, ...]) -> None:
    looked_at = 0
    for pool in (*range(40), 99, 100, 101, 9_999, 10_001):
        for size in range(1, 7):
            for places in rankings("abcdef"[:size]):
                check(pool, shares, places)
                looked_at += 1
    assert looked_at == 45 * (1 + 2 + 4 + 8 + 16 + 32)


def check(pool: int, shares: tuple[int, ...], places: tuple[str, ...]) -> None:
    """What must hold of any tournament, by exact fractions."""
    paid = prizes(pool, Prizes(shares), places)
    assert sum(paid.values()) == pool, "shares of the pool that sum to 100 %"
    exact = [Fraction(pool * share, 10_000) for share in (*shares, *[0] * 6)]
    place = 0
    before = pool
    for number, tied in enumerate(places):
        fair = sum(exact[place : place + len(tied)], Fraction()) / len(tied)
        amounts = [paid[who] for who in tied]
        if number == 0:
            assert max(amounts) - min(amounts) <= 1
            assert amounts == sorted(amounts, reverse=True)
            assert sum(amounts) >= fair * len(tied), "remainders go to the highest place"
        else:
            assert len({*amounts}) == 1
            assert fair - 2 < amounts[0] <= fair
            assert amounts[0] <= before
        before = min(amounts)
        place += len(tied)


@pytest.mark.parametrize(
    "shares", [(), (5000,), (5000, 5001), (10_000, 0), (11_000, -1000), (4000, 6000)]
)
def test_what_is_no_offer(shares: tuple[int, ...]) -> None:
    with pytest.raises(ValueError, match="the prizes"):
        Prizes(shares)


@pytest.mark.parametrize("places", [(), ("",), ("a", ""), ("ab", "a"), ("aa",)])
def test_what_is_no_ranking(places: tuple[str, ...]) -> None:
    with pytest.raises(NotPayableError):
        prizes(10, Prizes((10_000,)), places)


def test_the_limits() -> None:
    offer = Prizes((7000, 3000))
    assert sum(prizes(LARGEST, offer, ("a", "b")).values()) == LARGEST
    with pytest.raises(TooLargeError):
        prizes(LARGEST + 1, offer, ("a", "b"))
    with pytest.raises(NotPayableError):
        prizes(-1, offer, ("a", "b"))
