"""Moves that need no thinking, and evaluations against what is known of the dice."""

from __future__ import annotations

from random import Random

import pytest
from kafeneio_games.fevga import Fevga
from kafeneio_games.game import Result
from kafeneio_games.plakoto import Plakoto
from kafeneio_games.portes import Portes
from kafeneio_games.tavli import POINTS_MASK
from kafeneio_players import boards, choose, fevga, gulbara, plakoto, portes, race
from kafeneio_players.reference import any_legal, fewest_pips

from tests.games.boards import SEATS, board
from tests.players.helpers import after, fevga_at, plakoto_at, portes_at

ME = SEATS[0]


# ---------------------------------------------------------------- moves


def test_the_last_checkers_are_borne_off() -> None:
    state = portes_at("6:1 1:1", "3:2 2:3", (6, 1))
    assert after(Portes(), state, choose(Portes(), state, ME)).result == Result((1, 0), "single")
    same_way = fevga_at("5:1 2:1", "6:15", (5, 3))
    then = after(Fevga(), same_way, choose(Fevga(), same_way, ME))
    assert then.result == Result((2, 0), "double")


def test_a_win_now_is_not_put_off() -> None:
    # 3/off with the 6 wins; 3/2 and then 2/off would win as well, 2 points each way.
    state = portes_at("3:1", "6:15", (6, 1))
    assert after(Portes(), state, choose(Portes(), state, ME)).result == Result((2, 0), "double")


def test_a_double_loss_is_averted_while_it_can_be() -> None:
    # The other bears off his last two at once; 7/1 and 6/off saves the double, if that is played.
    state = portes_at("7:1 6:14", "1:2", (6, 1))
    actions = choose(Portes(), state, ME)
    assert after(Portes(), state, actions).boards[0][0] == 1


def test_a_last_checker_that_would_be_borne_off_is_hit() -> None:
    # His last one has five pips to go, my 20 is its point; every other turn lets him go home.
    state = portes_at("24:1 6:4 5:4 4:3 3:3", "5:1", (4, 1))
    then = after(Portes(), state, choose(Portes(), state, ME))
    assert then.boards[1][25] == 1


def test_the_mother_is_pinned_in_plakoto() -> None:
    # His mother is alone on my 1; my start is empty, so pinning her wins two points at once.
    state = plakoto_at("7:2 6:5 5:5 4:3", "24:1 3:7 2:7", (6, 2))
    then = after(Plakoto(), state, choose(Plakoto(), state, ME))
    assert then.result == Result((2, 0), "mother")


def test_the_own_mother_leaves_when_she_can_be_pinned() -> None:
    # Ten of his stand within reach of my mother, who alone is left on 24; all else is safe.
    state = plakoto_at("24:1 8:5 7:5 6:4", "24:2 6:4 5:5 4:4", (6, 5))
    then = after(Plakoto(), state, choose(Plakoto(), state, ME))
    assert then.boards[0][24] == 0


def test_the_first_checker_runs_in_fevga() -> None:
    # Nothing else may move before it is past his start; any other turn does not exist.
    state = fevga_at("24:14 18:1", "24:14 15:1", (6, 3))
    then = after(Fevga(), state, choose(Fevga(), state, ME))
    assert sum(then.boards[0][1:12]) == 1 or then.boards[0][24] == 14


# ---------------------------------------------------------------- references


def test_the_plain_player_hits_because_that_costs_the_other_pips() -> None:
    state = portes_at("13:5 8:5 6:5", "24:2 20:1 6:12", (3, 1))
    then = after(Portes(), state, fewest_pips(Portes(), state, ME, Random(1)))
    assert then.boards[1][25] == 1
    (action,) = any_legal(Portes(), state, ME, Random(1))
    assert action in set(Portes().legal(state, ME))


# ---------------------------------------------------------------- evaluations


@pytest.mark.parametrize(
    ("distance", "ways"),
    [(1, 11), (2, 12), (3, 14), (4, 15), (5, 15), (6, 17), (7, 6), (8, 6), (11, 2), (12, 3)],
)
def test_the_chance_to_hit_at_a_distance(distance: int, ways: int) -> None:
    # The table that every backgammon book prints, for one checker and nothing in between.
    chance, high, low = boards.threat(1 << 24, 1 << 24 - distance, POINTS_MASK)
    assert chance == pytest.approx(ways / 36)
    assert high == low == pytest.approx(ways * (24 - distance) / 36)


def test_a_closed_point_on_the_way_takes_the_combination() -> None:
    # Seven away: 6-1, 5-2, 4-3 either way; with the 6th point before it closed 6-1 goes one way.
    stops = POINTS_MASK & ~(1 << 18) & ~(1 << 23)
    assert boards.threat(1 << 24, 1 << 17, stops)[0] == pytest.approx(4 / 36)


def test_masks_and_rows() -> None:
    counts = board("24:2 13:5 8:3 6:4 1:1")
    assert boards.made(counts) == 1 << 24 | 1 << 13 | 1 << 8 | 1 << 6
    assert boards.singles(counts) == 1 << 1
    assert boards.turned(boards.made(counts)) == 1 << 1 | 1 << 12 | 1 << 17 | 1 << 19
    assert boards.highest(counts) == 24
    assert boards.longest_run(0b1101110) == 3
    assert boards.stacked(counts, 3) == 3
    assert boards.pips(counts) == 48 + 65 + 24 + 24 + 1
    assert boards.outside(counts) == 36 + 35 + 6
    assert boards.hemmed(board("10:2"), 0b111111 << 4) == 2.0


@pytest.mark.parametrize("module", [portes, fevga, gulbara])
def test_one_weight_for_each_feature(module: object) -> None:
    start = board("24:8 13:7")
    seen = module.features(start, start)  # type: ignore[attr-defined]
    assert len(seen) == len(module.WEIGHTS) == 2 * len(module.TERMS) + 1  # type: ignore[attr-defined]


def test_one_weight_for_each_feature_of_plakoto() -> None:
    seen = plakoto.features(board("24:15"), board("24:15"), (), (), True)
    assert seen is not None
    assert len(seen) == len(plakoto.WEIGHTS) == 2 * len(plakoto.TERMS) + 1


def test_the_end_of_a_game_is_worth_its_points() -> None:
    won, none_off, some_off = board(""), board("6:15"), board("6:14")
    for value in (portes.value, fevga.value, gulbara.value):
        assert value(won, none_off) == 2.0
        assert value(won, some_off) == 1.0
    assert plakoto.value(board("6:15"), board("24:1 2:14"), (), (24,)) == 2.0
    assert plakoto.value(board("24:1 6:14"), board("24:1 2:14"), (24,), (24,)) == 0.0
    assert plakoto.value(board("6:15"), board("24:1 2:14"), (), (24,), mother_wins=False) < 2.0


def test_a_race_is_won_by_who_is_ahead() -> None:
    ahead, home, outside = board("6:2 5:2"), board("6:5 5:5 4:5"), board("13:5 12:5 6:5")
    assert race.points(ahead, home) > 0.95  # one point, for he bears one off at his next throw
    assert race.points(ahead, outside) > 1.9  # two: he has 65 pips to go before he can
    assert race.points(home, ahead) < -0.95
    even = board("6:4 5:4 4:4")
    assert -0.6 < race.points(even, even) < 0  # who throws next is ahead
