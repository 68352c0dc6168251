"""S1, four players in two pairs: the whole table, and a second version of its five clauses."""

from __future__ import annotations

import itertools
from fractions import Fraction
from typing import Final

import pytest
from hypothesis import given
from hypothesis import strategies as st
from kafeneio_settlement.payouts import (
    LARGEST,
    NotPayableError,
    Payout,
    Result,
    Stakes,
    WrongSeatsError,
    everything_back,
    pay,
)

STAKES: Final = (0, 1, 3, 500, 99_999, LARGEST // 4)
FEES: Final = (0, 1, 75, 250, 333, 5000, 10_000)

# Row; the winning seats A-D as letters; each seat connected or disconnected at the end; what each
# has won or lost in stakes; whether the house takes its fee.
TABLE: Final = """
     1 AC cccc +1 -1 +1 -1 fee
     2 AC cccd +1 -1 +1 -1
     3 AC ccdc +2 -1  0 -1
     4 AC ccdd +2 -1  0 -1
     5 AC cdcc +1 -1 +1 -1
     6 AC cdcd +1 -1 +1 -1
     7 AC cddc +2 -1  0 -1
     8 AC cddd +2 -1  0 -1
     9 AC dccc  0 -1 +2 -1
    10 AC dccd  0 -1 +2 -1
    11 AC dcdc  0  0  0  0 void
    12 AC dcdd  0  0  0  0 void
    13 AC ddcc  0 -1 +2 -1
    14 AC ddcd  0 -1 +2 -1
    15 AC dddc  0  0  0  0 void
    16 AC dddd  0  0  0  0 void
    17 BD cccc -1 +1 -1 +1 fee
    18 BD cccd -1 +2 -1  0
    19 BD ccdc -1 +1 -1 +1
    20 BD ccdd -1 +2 -1  0
    21 BD cdcc -1  0 -1 +2
    22 BD cdcd  0  0  0  0 void
    23 BD cddc -1  0 -1 +2
    24 BD cddd  0  0  0  0 void
    25 BD dccc -1 +1 -1 +1
    26 BD dccd -1 +2 -1  0
    27 BD dcdc -1 +1 -1 +1
    28 BD dcdd -1 +2 -1  0
    29 BD ddcc -1  0 -1 +2
    30 BD ddcd  0  0  0  0 void
    31 BD dddc -1  0 -1 +2
    32 BD dddd  0  0  0  0 void
"""
ROWS: Final = [line.split() for line in TABLE.strip().splitlines()]

every_row = pytest.mark.parametrize("row", ROWS, ids=[f"row {row[0]}" for row in ROWS])


def of(row: list[str]) -> tuple[Result, frozenset[int], list[int], str]:
    """Who won, which seats are out, the nets in stakes, and the remark."""
    winners = tuple("ABCD".index(letter) for letter in row[1])
    out = frozenset(seat for seat, state in enumerate(row[2]) if state == "d")
    return Result(winners), out, [int(net) for net in row[3:7]], (row[7:] or [""])[0]


def test_the_table_is_whole() -> None:
    assert [int(row[0]) for row in ROWS] == [*range(1, 33)]
    ends = {(row[1], row[2]) for row in ROWS}
    assert ends == {
        (winners, "".join(state))
        for winners in ("AC", "BD")
        for state in itertools.product("cd", repeat=4)
    }
    assert all(sum(of(row)[2]) == 0 for row in ROWS)
    # Eight rows pay both winners, sixteen pay one, eight are void.
    paid = [sorted(of(row)[2])[2:] for row in ROWS]
    assert [paid.count(winners) for winners in ([1, 1], [0, 2], [0, 0])] == [8, 16, 8]


@every_row
def test_every_row_without_a_fee(row: list[str]) -> None:
    result, out, nets, remark = of(row)
    for stake in STAKES:
        paid = pay("S1", Stakes(stake, 4), result, out, 0)
        assert list(paid.nets) == [net * stake for net in nets]
        assert (paid.fee, paid.void) == (0, remark == "void")


@every_row
def test_every_row_with_a_fee(row: list[str]) -> None:
    """5 % of a pot of 2000 are 100, half of it from each winner, and only in rows 1 and 17."""
    result, out, nets, remark = of(row)
    paid = pay("S1", Stakes(500, 4), result, out, 500)
    taken = 50 if remark == "fee" else 0
    assert list(paid.nets) == [net * 500 - (taken if net == 1 else 0) for net in nets]
    assert paid.fee == 2 * taken


@pytest.mark.parametrize("winners", [(0, 2), (2, 0), (1, 3), (3, 1)])
def test_a_fee_that_does_not_divide_is_lowered(winners: tuple[int, ...]) -> None:
    # 0.75 % of a pot of 400 are 3, which leaves 397 for two: so the house takes 2.
    paid = pay("S1", Stakes(100, 4), Result(winners), frozenset(), 75)
    assert paid.fee == 2
    assert [paid.shares[seat] for seat in sorted(winners)] == [199, 199]
    # 0.25 % are 1, and nothing is left of that.
    assert pay("S1", Stakes(100, 4), Result(winners), frozenset(), 25).fee == 0


def clauses(stake: int, winners: set[int], out: set[int], points: int) -> tuple[list[int], int]:
    """The five clauses one by one, as they stand in the rule book: nets, and the fee."""
    everybody = {0, 1, 2, 3}
    losers = everybody - winners
    nets = dict.fromkeys(everybody, 0)
    # (1) Everybody was disconnected: the game is void.
    if everybody <= out:
        return [0, 0, 0, 0], 0
    # (2) No winner was connected at the end: the game is void.
    if winners <= out:
        return [0, 0, 0, 0], 0
    # (3) Every loser loses his stake, connected or not.
    for seat in losers:
        nets[seat] = -stake
    # (4) Both winners were connected: each wins one stake. One was not: he gets his own back, and
    #     his partner wins two.
    if winners & out:
        (alone,) = winners - out
        nets[alone] = 2 * stake
        return [nets[seat] for seat in sorted(everybody)], 0
    for seat in winners:
        nets[seat] = stake
    # (5) The sums match, and the house takes nothing where a connection was lost. Else its part of
    #     the pot, rounded down, and less where the winners could not share the rest.
    if out:
        return [nets[seat] for seat in sorted(everybody)], 0
    fee = int(Fraction(points, 10_000) * 4 * stake)
    while Fraction(4 * stake - fee, 2).denominator != 1:
        fee -= 1
    for seat in winners:
        nets[seat] -= fee // 2
    return [nets[seat] for seat in sorted(everybody)], fee


def test_the_clauses_one_by_one() -> None:
    seen = 0
    for winners, state, stake, points in itertools.product(
        ((0, 2), (1, 3)), itertools.product((False, True), repeat=4), STAKES, FEES
    ):
        out = {seat for seat, gone in enumerate(state) if gone}
        paid = pay("S1", Stakes(stake, 4), Result(winners), frozenset(out), points)
        nets, fee = clauses(stake, set(winners), out, points)
        assert (list(paid.nets), paid.fee) == (nets, fee), (winners, state, stake, points)
        seen += 1
    assert seen == 2 * 2**4 * len(STAKES) * len(FEES)


@given(
    stake=st.integers(0, LARGEST // 4),
    winners=st.sampled_from(((0, 2), (1, 3))),
    out=st.frozensets(st.integers(0, 3)),
    points=st.integers(0, 5000),
)
def test_laws(stake: int, winners: tuple[int, ...], out: frozenset[int], points: int) -> None:
    paid: Payout = pay("S1", Stakes(stake, 4), Result(winners), out, points)
    assert sum(paid.nets) == -paid.fee
    assert min(paid.nets) >= -stake, "nobody loses more than his stake"
    assert min(paid.nets[seat] for seat in winners) >= 0, "nobody loses by winning"
    assert paid.fee * 10_000 <= 4 * stake * points
    assert not (paid.fee and out)
    if not out:
        assert paid.shares[winners[0]] == paid.shares[winners[1]]
    # To lose the line may cost something, and never brings anything to the one who has lost it.
    for seat in sorted(out):
        there = pay("S1", Stakes(stake, 4), Result(winners), out - {seat}, 0)
        assert paid.nets[seat] <= max(there.nets[seat], 0)


@pytest.mark.parametrize("void", ["ALL_FORFEITED", "NO_SHOW", "HOUSE", "OPERATOR"])
def test_a_void_game_returns_everything(void: str) -> None:
    for gone in itertools.product((False, True), repeat=4):
        out = frozenset(seat for seat, each in enumerate(gone) if each)
        paid = pay("S1", Stakes(777, 4), Result(void=void), out, 500)
        assert paid == everything_back(Stakes(777, 4))


@pytest.mark.parametrize(
    "winners", [(0,), (0, 1), (1, 2), (0, 3), (0, 2, 1), (0, 0), (0, 2, 2), (4, 6)]
)
def test_who_is_no_side(winners: tuple[int, ...]) -> None:
    with pytest.raises(NotPayableError):
        pay("S1", Stakes(5, 4), Result(winners), frozenset(), 0)


@pytest.mark.parametrize("seats", [2, 3, 5, 6, 7, 8])
@pytest.mark.parametrize("result", [Result((0, 2)), Result(void="HOUSE")])
def test_four_sit_at_it(seats: int, result: Result) -> None:
    with pytest.raises(WrongSeatsError):
        pay("S1", Stakes(5, seats), result, frozenset(), 0)
