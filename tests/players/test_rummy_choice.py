"""What the player of rummy answers is legal, whole, always the same, and blind to hidden cards."""

from __future__ import annotations

import itertools
import os
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import replace
from random import Random
from typing import Any

import pytest
from kafeneio_games.game import CHANCE, Seat
from kafeneio_games.koumkan import Koumkan
from kafeneio_games.rummy_hand import Stage
from kafeneio_games.rummy_variants import VARIANTS
from kafeneio_games.thanasis import Thanasis
from kafeneio_players import PLAYERS, choose

from tests.games.rummy_tables import SEATS, Rummy, dealt, koumkan_state, redealt, stepped

YES_NO = (False, True)


def house_rules() -> Iterator[Rummy]:
    """Every game with every combination of its house rules; the number of players goes round."""
    players = itertools.cycle((2, 3, 4))
    for high, two, same, used in itertools.product(YES_NO, repeat=4):
        yield Koumkan(next(players), high, two, same, used, max_stock_reshuffles=0 if high else 2)
    for wild_twos, high, two, _ in itertools.product(YES_NO, YES_NO, YES_NO, range(2)):
        yield Thanasis(next(players), wild_twos, high, two, max_stock_reshuffles=0 if high else 1)


def positions(game: Rummy, seed: int) -> Iterator[Any]:
    """Every prompt of endless hands between random players, some of whom leave."""
    random = Random(seed)
    while True:
        state = dealt(game, random)
        while state.result is None:
            if len(state.live) > 2 and random.random() < 0.005:
                state = game.withdraw(state, random.choice(state.live))
            elif game.prompted(state) is not None:
                yield state
                state = stepped(game, state, random)
            else:
                state = stepped(game, state, random)


def check_answer(game: Rummy, state: Any) -> None:
    """It is legal; a draw is all of its batch, anything else ends the turn."""
    seat = state.mover
    actions = choose(game, game.view(state, seat), seat)
    after = state
    for action in actions:
        after = game.apply(after, seat, action)  # raises Illegal
    if state.stage is Stage.DRAW:
        assert len(actions) == 1
        assert after.stage in (Stage.PLAY, Stage.RESHUFFLE, Stage.OVER)
    else:
        assert after.stage is Stage.OVER or (after.stage, after.mover) != (Stage.PLAY, seat)


@pytest.mark.matrix
@pytest.mark.parametrize("game", list(house_rules()), ids=repr)
def test_legal_whole_turns_by_all_house_rules(game: Rummy) -> None:
    for state in itertools.islice(positions(game, seed=21), 0, 400, 2):
        check_answer(game, state)


def test_legal_while_jokers_of_the_table_are_owed() -> None:
    owed = 0
    for two in YES_NO:
        game = Koumkan(3, two_naturals=two, joker_must_be_used=True)
        found = (state for state in positions(game, seed=22) if state.owed)
        for state in itertools.islice(found, 25):
            check_answer(game, state)
            owed += 1
    assert owed == 50


def test_a_joker_that_is_owed_is_not_the_discard() -> None:
    """K11: with two cards left the joker must be laid, not the nine that would fit as well."""
    game = Koumkan(joker_must_be_used=True)
    state = koumkan_state("9S *|KH KD", ["0 run 6S 7S 8S"])
    state = replace(state, owed=1)
    actions = choose(game, game.view(state, SEATS[0]), SEATS[0])
    assert [game.write(action).split()[:2] for action in actions] == [
        ["lay", "*"],
        ["discard", "9S"],
    ]


@pytest.mark.parametrize(
    "game",
    [Koumkan(2), Koumkan(4, joker_must_be_used=True), Thanasis(3), Thanasis(2, wild_twos=True)],
    ids=repr,
)
def test_unseen_cards_change_nothing(game: Rummy) -> None:
    random = Random(5)
    for state in itertools.islice(positions(game, seed=23), 0, 900, 6):
        seat = state.mover
        other = redealt(state, seat, random)
        expected = choose(game, game.view(state, seat), seat)
        assert choose(game, game.view(other, seat), seat) == expected


@pytest.mark.parametrize(
    "game", [Koumkan(2), Koumkan(3), Thanasis(4), Thanasis(2, wild_twos=True)], ids=repr
)
def test_hands_among_themselves_come_to_an_end(game: Rummy) -> None:
    random, endings = Random(6), set()
    for _ in range(4):
        state = dealt(game, random)
        for _ in range(2000):
            (seat,) = game.to_act(state) or (None,)
            if seat is None:
                break
            if seat == CHANCE:
                state = stepped(game, state, random)
                continue
            for action in choose(game, game.view(state, seat), seat):
                state = game.apply(state, seat, action)
        endings.add(state.result.ending)
    assert "went-out" in endings
    assert endings <= {"went-out", "void"}


ANSWERS = """
import itertools
from kafeneio_games.koumkan import Koumkan
from kafeneio_games.thanasis import Thanasis
from kafeneio_players import choose
from tests.players.test_rummy_choice import positions
for game in (Koumkan(2), Thanasis(2), Thanasis(3, wild_twos=True)):
    for state in itertools.islice(positions(game, seed=24), 0, 300, 15):
        seat = state.mover
        print(" ".join(map(game.write, choose(game, game.view(state, seat), seat))))
"""


def test_the_same_view_has_the_same_answer_in_every_process() -> None:
    answers = [
        subprocess.run(
            [sys.executable, "-c", ANSWERS],
            env={**os.environ, "PYTHONHASHSEED": seed},
            check=True,
            capture_output=True,
            text=True,
        ).stdout
        for seed in ("1", "2")
    ]
    assert answers[0].count("\n") == 60
    assert answers[0] == answers[1]


def test_only_the_mover_is_answered_and_only_by_its_own_view() -> None:
    game = Koumkan(2)
    state = koumkan_state("4C 5C 9H|KH", drawn=False)
    with pytest.raises(ValueError, match="turn"):
        choose(game, game.view(state, Seat(1)), Seat(1))
    with pytest.raises(ValueError, match="view"):
        choose(game, game.view(state, Seat(1)), Seat(0))
    due = replace(state, stage=Stage.RESHUFFLE)
    with pytest.raises(ValueError, match="turn"):
        choose(game, game.view(due, Seat(0)), Seat(0))


def test_all_games_of_rummy_are_known() -> None:
    assert {variant.id for variant in VARIANTS} <= set(PLAYERS)
