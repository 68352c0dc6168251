"""Random hands of pilotta, judged a second time by `simple_pilotta`: cards, tricks, points."""

from __future__ import annotations

from functools import cache

import pytest
from kafeneio_games.classic_pilotta import ClassicPilotta
from kafeneio_games.game import CHANCE, TABLE, Illegal, Seat
from kafeneio_games.pilotta import Pilotta
from kafeneio_games.pilotta_play import State
from kafeneio_games.rulebook import rules_text
from kafeneio_games.trick_actions import Action, PlayCard
from kafeneio_games.trick_view import Stage

from tests.games import simple_pilotta
from tests.games.boards import told
from tests.games.pilotta_hands import (
    GAMES,
    AnyPilotta,
    log,
    played,
    seats_of,
    states,
    written_down,
)
from tests.games.test_conformance import OF_TRICKS

HANDS = 150
TIMINGS = (Pilotta(contra_timing="in_turn"), Pilotta(contra_timing="any_time"))
EXEMPT = (Pilotta(partner_exemption=True), ClassicPilotta(partner_exemption=True))


@pytest.mark.parametrize(
    "game", [*GAMES, *EXEMPT], ids=["four", "classic", "two", "exempt", "classic-exempt"]
)
def test_legal_cards(game: AnyPilotta) -> None:
    """Legal is what the second program allows, in every position of every hand."""
    restricted = 0
    for seed in range(HANDS):
        with told(seed, log(game, seed)):
            for state, _, _ in played(game, seed):
                play = state.play
                if state.stage is not Stage.PLAYING or play is None:
                    continue
                hand: list[str] = [*play.hands[play.turn]]
                trick: list[str] = [*play.trick]
                allowed = simple_pilotta.allowed(hand, trick, play.trump, game.partner_exemption)
                legal = {a.card for a in game.legal(state, play.turn) if isinstance(a, PlayCard)}
                assert legal == allowed
                restricted += len(allowed) < len(hand)
    assert restricted > HANDS * 4


@pytest.mark.parametrize(
    "game", [*GAMES, *TIMINGS], ids=["four", "classic", "two", "in-turn", "any-time"]
)
def test_legal_is_what_apply_accepts(game: AnyPilotta) -> None:
    """Of all that can be said or played, by every seat, in positions of all stages."""
    stages = set()
    for seed in range(6):
        with told(seed, log(game, seed)):
            for state in states(game, seed):
                stages.add(state.stage)
                for seat in (*seats_of(game), CHANCE, TABLE, Seat(9)):
                    legal = list(game.legal(state, seat))
                    assert len(set(legal)) == len(legal)
                    assert set(legal) <= set(OF_TRICKS)
                    assert {a for a in OF_TRICKS if accepts(game, state, seat, a)} == set(legal)
    asked = {Stage.BIDDING} if isinstance(game, Pilotta) else {Stage.CHOOSING}
    assert stages >= {Stage.DEAL, Stage.PLAYING, Stage.OVER, *asked}


@cache
def known_rules(name: str) -> set[str]:
    """The ids that a player can look up in the rule text."""
    return {rule.id for rule in rules_text(name.removesuffix("@1"), "en")}


def accepts(game: AnyPilotta, state: State, seat: Seat, action: Action) -> bool:
    try:
        game.apply(state, seat, action)
    except Illegal as refusal:
        if refusal.rule not in known_rules(game.name):
            raise
        return False
    return True


@pytest.mark.parametrize("game", GAMES, ids=lambda game: game.name)
def test_scores(game: AnyPilotta) -> None:
    """The exact totals and the recorded tens of every hand that was played out."""
    endings = set()
    for seed in range(HANDS):
        with told(seed, log(game, seed)):
            steps = list(played(game, seed))
            last = steps[-1][0]
            result = game.result(last)
            assert result is not None
            endings.add(result.ending)
            if last.contract is None:
                assert (result.points, result.ending) == ((0, 0), "passed")
                continue
            contract = last.contract
            bid = contract.value if isinstance(game, Pilotta) else None
            total, tens = simple_pilotta.marks(
                written_down(steps[:-1]), bid, contract.multiplier, contract.capot
            )
            assert last.sheet is not None
            assert [side.total for side in last.sheet] == total
            assert list(result.points) == tens == [side.marked for side in last.sheet]
    assert endings >= {"made", "failed"}
