"""The rules for two against a literal transcription of their tables, and the laws that all keep.
S1 and S3 have files of their own."""

from __future__ import annotations

import itertools
from typing import Final

import pytest
from hypothesis import given
from hypothesis import strategies as st
from kafeneio_settlement.payouts import (
    LARGEST,
    RULES,
    NotPayableError,
    Payout,
    Result,
    Stakes,
    TooLargeError,
    UnknownRuleError,
    WrongSeatsError,
    everything_back,
    fee_of,
    pay,
    rule_named,
)

VOIDS: Final = ("ALL_FORFEITED", "NO_SHOW", "HOUSE", "OPERATOR")
STAKES: Final = (0, 1, 3, 500, 99_999, LARGEST // 2)
FEES: Final = (0, 1, 250, 333, 5000, 10_000)

# Net of (winner, loser) in stakes by the state of (winner, loser), and whether there is a fee.
# S2 as its table stands; S4: the winner of the match +1, the loser -1, no fee where one has left.
S2: Final = {
    "cc": (+1, -1, True),
    "cd": (+1, -1, False),
    "dc": (0, 0, False),
    "dd": (0, 0, False),
}
S4: Final = {
    "cc": (+1, -1, True),
    "cd": (+1, -1, False),
    "dc": (+1, -1, False),
    "dd": (+1, -1, False),
}
TABLES: Final = {"S2": S2, "S4": S4}


@pytest.mark.parametrize("rule", TABLES)
def test_every_row_of_the_tables(rule: str) -> None:
    seen = 0
    for winner, states, stake, points in itertools.product(
        (0, 1), itertools.product("cd", repeat=2), STAKES, FEES
    ):
        out = frozenset(seat for seat, state in enumerate(states) if state == "d")
        row = TABLES[rule][states[winner] + states[1 - winner]]
        fee = 2 * stake * points // 10_000 if row[2] else 0
        nets = [0, 0]
        nets[winner], nets[1 - winner] = row[0] * stake - fee, row[1] * stake
        paid = pay(rule, Stakes(stake, 2), Result((winner,)), out, points)
        assert (list(paid.nets), paid.fee) == (nets, fee), (winner, states, stake, points)
        assert sum(paid.nets) == -paid.fee
        assert paid.void == (row[0] == 0)
        seen += 1
    assert seen == 2 * 4 * len(STAKES) * len(FEES)


@pytest.mark.parametrize("rule", TABLES)
@pytest.mark.parametrize("void", VOIDS)
def test_a_void_game_returns_everything(rule: str, void: str) -> None:
    for out, stake, points in itertools.product(
        (frozenset[int](), frozenset({0}), frozenset({0, 1})), STAKES, FEES
    ):
        paid = pay(rule, Stakes(stake, 2), Result(void=void), out, points)
        assert paid == everything_back(Stakes(stake, 2))
        assert (paid.nets, paid.fee) == ((0, 0), 0)


@given(
    pot=st.integers(0, LARGEST),
    winners=st.integers(1, 8),
    points=st.integers(0, 10_000),
    forfeited=st.booleans(),
)
def test_the_fee(pot: int, winners: int, points: int, forfeited: bool) -> None:
    pot -= pot % winners  # equal stakes of equal teams
    fee = fee_of(pot, winners, frozenset({0}) if forfeited else frozenset(), points)
    full = 0 if forfeited else pot * points // 10_000
    assert fee == max(
        f for f in range(max(0, full - winners), full + 1) if (pot - f) % winners == 0
    )


def test_a_fee_is_lowered_until_the_rest_divides() -> None:
    # A pot of 400 at 0.75 %: 3 of the smallest unit; two winners can't share 397.
    assert fee_of(400, 2, frozenset(), 75) == 2
    assert fee_of(401, 1, frozenset(), 75) == 3
    assert fee_of(400, 2, frozenset({3}), 75) == 0


@pytest.mark.parametrize("rule", TABLES)
@pytest.mark.parametrize("winners", [(0, 1), (2,), (1, 1)])
def test_an_end_that_a_rule_does_not_know(rule: str, winners: tuple[int, ...]) -> None:
    with pytest.raises(NotPayableError):
        pay(rule, Stakes(5, 2), Result(winners), frozenset(), 0)


@pytest.mark.parametrize("rule", TABLES)
@pytest.mark.parametrize("result", [Result((0,)), Result((0, 2)), Result(void="HOUSE")])
@pytest.mark.parametrize("seats", [1, 3, 4, 5, 8])
def test_two_play(rule: str, seats: int, result: Result) -> None:
    with pytest.raises(WrongSeatsError):
        pay(rule, Stakes(5, seats), result, frozenset(), 0)


def test_what_is_no_end_of_a_game() -> None:
    with pytest.raises(NotPayableError):
        Result()
    with pytest.raises(NotPayableError):
        Result((0,), "HOUSE")
    with pytest.raises(NotPayableError):
        pay("S4", Stakes(5, 2), Result((0,)), frozenset({2}), 0)
    for points in (-1, 10_001):
        with pytest.raises(NotPayableError):
            pay("S4", Stakes(5, 2), Result((0,)), frozenset(), points)


def test_what_is_no_payout() -> None:
    for shares, fee in (((5, 5), 1), ((11, -1), 0), ((10, 1), -1), ((0, 0), 0)):
        with pytest.raises(NotPayableError):
            Payout(Stakes(5, 2), shares, fee, False)


def test_what_is_no_stake() -> None:
    with pytest.raises(TooLargeError):
        Stakes(LARGEST // 2 + 1, 2)
    for stake, seats in ((-1, 2), (1, 0)):
        with pytest.raises(ValueError, match="a stake"):
            Stakes(stake, seats)


def test_rules_have_names_and_versions() -> None:
    assert {(rule.name, rule.version, *rule.seats) for rule in RULES.values()} == {
        ("S1", 1, 4),
        ("S2", 1, 2),
        ("S3", 1, 2, 3, 4),
        ("S4", 1, 2),
    }
    assert all(rule_named(name).name == name for name in RULES)
    with pytest.raises(UnknownRuleError):
        pay("S9", Stakes(5, 2), Result((0,)), frozenset(), 0)
