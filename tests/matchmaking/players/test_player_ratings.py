"""How strong players are, computed: what any game may do to ratings."""

from __future__ import annotations

from math import exp, sqrt

import pytest
from hypothesis import given
from hypothesis import strategies as st
from kafeneio_matchmaking.players.domain import Played, Rating, sides
from kafeneio_matchmaking.players.ratings import START, Skill, chance, rate, take_back

MU, SIGMA, BETA, TAU = 25.0, 25 / 3, 25 / 6, 25 / 300

skills = st.builds(Skill, st.floats(0, 50), st.floats(0.5, SIGMA))


def test_a_newcomer() -> None:
    assert (START.mu, START.sigma) == (MU, SIGMA)
    assert (START.value, START.uncertainty, START.floor) == (1500, 250, 750)
    assert Rating() == Rating(1500, 0)
    assert [Rating(1500, games).provisional for games in (0, 9, 10)] == [True, True, False]


@given(skills, skills)
def test_two_who_play_each_other(winner: Skill, loser: Skill) -> None:
    """As Weng and Lin have it for two: the mean moves by σ²/c times the chance of the other end."""
    after = rate([loser, winner], [1])
    variances = [skill.sigma**2 + TAU**2 for skill in (winner, loser)]
    c = sqrt(sum(variances) + 2 * BETA**2)
    unlikely = 1 / (1 + exp((winner.mu - loser.mu) / c))
    assert after[1].mu == pytest.approx(winner.mu + variances[0] / c * unlikely)
    assert after[0].mu == pytest.approx(loser.mu - variances[1] / c * unlikely)
    assert all(made.sigma <= was.sigma for made, was in zip(after, (loser, winner), strict=True))


@given(st.lists(skills, min_size=4, max_size=4), st.booleans())
def test_partners(four: list[Skill], first: bool) -> None:
    winners = [0, 2] if first else [1, 3]
    after = rate(four, winners)
    for seat, (before, made) in enumerate(zip(four, after, strict=True)):
        assert (made.mu > before.mu) == (seat in winners)


@given(st.lists(skills, min_size=2, max_size=4), st.data())
def test_who_wins_alone_rises(table: list[Skill], data: st.DataObject) -> None:
    winner = data.draw(st.integers(0, len(table) - 1))
    after = rate(table, [winner])
    assert after[winner].mu > table[winner].mu
    # Whoever is not stronger than the average of those beside him loses by it.
    weakest = min((s for s in range(len(table)) if s != winner), key=lambda s: -table[s].mu)
    assert after[weakest].mu < table[weakest].mu


@pytest.mark.parametrize("seats", [2, 3, 4])
def test_equal_losers_stay_equal(seats: int) -> None:
    after = rate([START] * seats, [0])
    assert after[0].value > 1500
    assert len(set(after[1:])) == 1
    assert after[1].value < 1500


@pytest.mark.parametrize(
    ("seats", "winners", "expected"),
    [
        (2, [1], [[1], [0]]),
        (3, [2], [[2], [0], [1]]),
        (4, [2], [[2], [0], [1], [3]]),
        (4, [0, 2], [[0, 2], [1, 3]]),
        (4, [3, 1], [[1, 3], [0, 2]]),
    ],
)
def test_sides(seats: int, winners: list[int], expected: list[list[int]]) -> None:
    assert sides(seats, winners) == expected


@given(skills, skills)
def test_what_a_game_did_can_be_taken_back(one: Skill, other: Skill) -> None:
    for before, after in zip((one, other), rate([one, other], [0]), strict=True):
        back = take_back(after, before, after)
        assert back.mu == pytest.approx(before.mu)
        assert back.sigma == pytest.approx(before.sigma)


@given(skills, skills, skills)
def test_also_when_others_came_after_it(one: Skill, other: Skill, third: Skill) -> None:
    first, _ = rate([one, other], [0])
    second, _ = rate([first, third], [1])
    back = take_back(second, one, first)
    assert back.mu == pytest.approx(second.mu - (first.mu - one.mu))
    assert second.sigma * (1 - 1e-9) <= back.sigma <= SIGMA


def test_four_hundred_points_are_nine_to_one() -> None:
    assert chance(1900, 1500) == pytest.approx(0.9)
    assert chance(1500, 1900) == pytest.approx(0.1)
    assert chance(1500, 1500) == 0.5
    # In the model, for two who have played much (σ = 1).
    c = sqrt(2 * (1 + BETA**2))
    assert 1 / (1 + exp(-(400 / 30) / c)) == pytest.approx(0.9, abs=0.01)


@pytest.mark.parametrize(
    ("played", "result"),
    [
        (Played(), None),
        (Played(winners=(0,)), None),
        (Played(("a", "b")), None),
        (Played(("a", "b"), winners=(0,)), (0,)),
        (Played(("a", "computer-1"), computers=True, winners=(0,)), None),
        (Played(("a", "b"), winners=(0,), corrected=True, correction=(1,)), (1,)),
        (Played(("a", "b"), winners=(0,), corrected=True), None),
        (Played(("a", "b"), corrected=True, correction=(1,)), (1,)),
    ],
)
def test_what_counts(played: Played, result: tuple[int, ...] | None) -> None:
    assert played.result == result
