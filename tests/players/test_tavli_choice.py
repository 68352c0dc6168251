"""What the player of tavli answers is legal, whole, and always the same."""

from __future__ import annotations

import itertools
import os
import subprocess
import sys
from typing import Any

import pytest
from kafeneio_games.game import CHANCE, AnyGame, Draw, Seat
from kafeneio_games.gulbara import Gulbara
from kafeneio_games.portes import Portes
from kafeneio_games.tavli import Action, Roll, Stage
from kafeneio_players import PLAYERS, NoPlayerError, choose
from kafeneio_players.lookahead import OWN, REPLY, ROLLS, WEIGHED
from kafeneio_players.tavli import decide

from tests.games.boards import SEATS
from tests.games.tavli_positions import SOURCES
from tests.games.tavli_tables import GAMES as BUILT
from tests.players.helpers import GAMES, after, betomall, exchanged, house_rules, prompts


def check_whole_turn(game: AnyGame, state: Any) -> None:
    """The answer is legal, and leaves nothing to play of this prompt."""
    actions = choose(game, game.view(state, state.mover), state.mover)
    then = after(game, state, actions)  # raises Illegal
    assert actions
    assert then.mover != state.mover or then.stage is not Stage.MOVE, (state, actions)


@pytest.mark.matrix
@pytest.mark.parametrize("game", list(house_rules()), ids=repr)
def test_legal_whole_turns_by_all_house_rules(game: AnyGame) -> None:
    for state in itertools.islice(prompts(game, seed=11), 0, 240, 60):
        check_whole_turn(game, state)


@pytest.mark.parametrize("name", ["portes", "plakoto", "fevga"])
def test_legal_whole_turns_by_betomalls_rules(name: str) -> None:
    game = betomall(name)
    for state in itertools.islice(prompts(game, seed=12), 0, 600, 60):
        check_whole_turn(game, state)


@pytest.mark.matrix
@pytest.mark.parametrize(
    ("name", "kind"), [(name, kind) for name, kinds in SOURCES.items() for kind in kinds]
)
def test_legal_near_pins_mothers_walls_locks_and_stuck_escalations(name: str, kind: str) -> None:
    game = BUILT[name]
    checked = 0
    for number, built in enumerate(itertools.islice(SOURCES[name][kind](7), 30)):
        state = built.table.thrown(game, built.roll, SEATS[number % 2])
        if game.prompted(state) is not None:
            check_whole_turn(game, state)
            checked += 1
    assert checked > 5


def test_numbers_received_in_gul_bara_are_played_up_to_the_own_throw() -> None:
    game = Gulbara(escalate_from_own_throw=1)
    received = (state for state in prompts(game, seed=13) if state.received)
    for state in itertools.islice(received, 25):
        actions = choose(game, state, state.mover)
        then = after(game, state, actions)
        assert then.stage is Stage.OVER or (then.stage is Stage.ROLL and then.mover == state.mover)


@pytest.mark.parametrize("name", GAMES)
def test_a_turn_that_has_begun_is_finished(name: str) -> None:
    game = GAMES[name]
    begun = (state for state in prompts(game, seed=14) if game.mid_turn(state))
    for state in itertools.islice(begun, 0, 200, 20):
        check_whole_turn(game, state)


@pytest.mark.parametrize("name", GAMES)
def test_both_seats_are_treated_alike(name: str) -> None:
    game = GAMES[name]
    for state in itertools.islice(prompts(game, seed=15), 0, 400, 40):
        here = choose(game, state, state.mover)
        assert choose(game, exchanged(state), Seat(1 - state.mover)) == here


ANSWERS = """
import itertools
from kafeneio_players import choose
from tests.players.helpers import GAMES, prompts
for name, game in GAMES.items():
    for state in itertools.islice(prompts(game, seed=16), 0, 150, 50):
        print(name, " ".join(map(game.write, choose(game, state, state.mover))))
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
    assert answers[0].count("\n") == 12
    assert answers[0] == answers[1]


class NoDice(Portes):
    """Portes whose dice nobody may ask for."""

    def chance(self, state: Any, draw: Draw) -> Action:
        """Never."""
        raise AssertionError("a player asks for dice")


def test_a_player_never_asks_for_the_next_dice() -> None:
    for state in itertools.islice(prompts(Portes(), seed=17), 0, 200, 40):
        assert choose(NoDice(), state, state.mover) == choose(Portes(), state, state.mover)


@pytest.mark.parametrize("name", GAMES)
def test_who_is_not_to_move_is_refused(name: str) -> None:
    game = GAMES[name]
    before = game.start(SEATS[0], SEATS)
    thrown = game.apply(before, CHANCE, Roll(6, 4))
    for state, seat in ((before, SEATS[0]), (thrown, SEATS[1])):
        with pytest.raises(ValueError) as refused:
            choose(game, state, seat)
        assert "not this seat's turn" in str(refused.value)


@pytest.mark.parametrize("name", GAMES)
def test_the_work_of_a_decision_is_bounded(name: str) -> None:
    # The own turn, of an escalation in up to six parts and each but the first along three ways; the
    # candidates until `WEIGHED` is passed, so at most one of them beyond it.
    parts = 16 if name == "gulbara" else 1
    one_candidate = len(ROLLS) * REPLY.ends * (6 if name == "gulbara" else 1)
    bound = max(parts * OWN.ends, WEIGHED) + one_candidate
    game = GAMES[name]
    doubles = (s for s in prompts(game, seed=18) if len(s.dice) > 2 and not game.mid_turn(s))
    most = max(
        decide(game, state, state.mover).evaluated for state in itertools.islice(doubles, 25)
    )
    assert 100 < most <= bound


class Unknown(Portes):
    """A game that nobody knows."""

    @property
    def name(self) -> str:
        """Not in the list."""
        return "backgammon@1"


def test_a_game_without_a_player_is_refused() -> None:
    state = Portes().apply(Portes().start(SEATS[0], SEATS), CHANCE, Roll(6, 4))
    with pytest.raises(NoPlayerError) as refused:
        choose(Unknown(), state, SEATS[0])
    assert refused.value.game == "backgammon@1"
    assert isinstance(refused.value, LookupError)


def test_every_tavli_game_has_a_player() -> None:
    assert set(GAMES) <= set(PLAYERS)
