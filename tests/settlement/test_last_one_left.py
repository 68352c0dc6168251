"""S3, two to four players of whom the last one left takes the pot: every story, in any order."""

from __future__ import annotations

import itertools
from typing import Final

import pytest
from hypothesis import given
from hypothesis import strategies as st
from kafeneio_settlement.payouts import (
    LARGEST,
    NotPayableError,
    Result,
    Stakes,
    WrongSeatsError,
    everything_back,
    pay,
)

# How many play; who is out by points, who by a forfeit; who is left; what each has won in stakes.
STORIES: Final[tuple[tuple[int, str, str, int, tuple[int, ...]], ...]] = (
    (2, "", "0", 1, (-1, +1)),
    (2, "", "1", 0, (+1, -1)),
    (2, "1", "", 0, (+1, -1)),
    (3, "1", "0", 2, (-1, -1, +2)),
    (3, "", "02", 1, (-1, +2, -1)),
    (3, "02", "", 1, (-1, +2, -1)),
    (4, "3", "02", 1, (-1, +3, -1, -1)),
    (4, "", "123", 0, (+3, -1, -1, -1)),
    (4, "123", "", 0, (+3, -1, -1, -1)),
)


def seats_of(text: str) -> frozenset[int]:
    """ "02" are the seats 0 and 2."""
    return frozenset(map(int, text))


@pytest.mark.parametrize("story", STORIES, ids=[str(story[:4]) for story in STORIES])
@pytest.mark.parametrize("stake", [0, 1, 500, LARGEST // 4])
def test_stories(story: tuple[int, str, str, int, tuple[int, ...]], stake: int) -> None:
    seats, by_points, by_forfeit, left, nets = story
    assert seats_of(by_points) | seats_of(by_forfeit) | {left} == {*range(seats)}
    for points in (0, 500):
        paid = pay("S3", Stakes(stake, seats), Result((left,)), seats_of(by_forfeit), points)
        fee = 0 if by_forfeit else stake * seats * points // 10_000
        expected = [net * stake for net in nets]
        expected[left] -= fee
        assert (list(paid.nets), paid.fee, paid.void) == (expected, fee, False)


@pytest.mark.parametrize("seats", [2, 3, 4])
def test_every_order_of_going(seats: int) -> None:
    """One after the other goes, each by points or by a forfeit; who is left has it all."""
    seen = 0
    for order in itertools.permutations(range(seats)):
        *gone, left = order
        for how in itertools.product(("points", "forfeit"), repeat=seats - 1):
            out = frozenset(seat for seat, why in zip(gone, how, strict=True) if why == "forfeit")
            paid = pay("S3", Stakes(100, seats), Result((left,)), out, 1000)
            fee = 0 if "forfeit" in how else 10 * seats
            for seat in range(seats):
                mine = 100 * (seats - 1) - fee if seat == left else -100
                assert paid.nets[seat] == mine, (order, how)
            assert (paid.fee, sum(paid.nets)) == (fee, -fee)
            seen += 1
    assert seen == {2: 2 * 2, 3: 6 * 4, 4: 24 * 8}[seats]


@pytest.mark.parametrize("seats", [2, 3, 4])
def test_a_fault_of_the_house_returns_everything(seats: int) -> None:
    stakes, everybody = Stakes(100, seats), frozenset(range(seats))
    for out in (frozenset[int](), frozenset({0}), everybody):
        assert pay("S3", stakes, Result(void="HOUSE"), out, 500) == everything_back(stakes)
    # Whoever is said to have won: forfeits come one after the other, and the last one left is never
    # among them.
    for winner in range(seats):
        assert pay("S3", stakes, Result((winner,)), everybody, 500) == everything_back(stakes)


@pytest.mark.parametrize("seats", [2, 3, 4])
def test_who_is_out_can_not_win(seats: int) -> None:
    for winner in range(seats):
        for others in range(seats - 1):
            for also in itertools.combinations({*range(seats)} - {winner}, others):
                out = frozenset({winner, *also})
                with pytest.raises(NotPayableError):
                    pay("S3", Stakes(100, seats), Result((winner,)), out, 0)


@pytest.mark.parametrize("winners", [(0, 1), (0, 2), (3,), (0, 0)])
def test_one_wins(winners: tuple[int, ...]) -> None:
    with pytest.raises(NotPayableError):
        pay("S3", Stakes(5, 3), Result(winners), frozenset(), 0)


@pytest.mark.parametrize("seats", [1, 5, 6, 7, 8])
@pytest.mark.parametrize("result", [Result((0,)), Result(void="HOUSE")])
def test_two_to_four_play(seats: int, result: Result) -> None:
    with pytest.raises(WrongSeatsError):
        pay("S3", Stakes(5, seats), result, frozenset(), 0)


@given(
    seats=st.integers(2, 4),
    stake=st.integers(0, LARGEST // 4),
    winner=st.integers(0, 3),
    out=st.frozensets(st.integers(0, 3)),
    points=st.integers(0, 5000),
)
def test_laws(seats: int, stake: int, winner: int, out: frozenset[int], points: int) -> None:
    winner %= seats
    gone = frozenset(seat for seat in out if seat < seats and seat != winner)
    paid = pay("S3", Stakes(stake, seats), Result((winner,)), gone, points)
    assert sum(paid.nets) == -paid.fee
    assert min(paid.nets) >= -stake, "nobody loses more than his stake"
    assert paid.nets[winner] >= 0, "nobody loses by winning"
    assert paid.fee * 10_000 <= seats * stake * points
    assert not (paid.fee and gone)
