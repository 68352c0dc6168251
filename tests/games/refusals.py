"""What the tests of the single games' rules share: refusals, and lines of play."""

from __future__ import annotations

import inspect
import re
from types import ModuleType

import pytest
from kafeneio_games import lookahead, tavli
from kafeneio_games.game import CHANCE, Illegal, Seat
from kafeneio_games.rulebook import rules_text
from kafeneio_games.tavli import Stage

from tests.games.tavli_tables import AnyState, AnyTavli


def refused(game: AnyTavli, state: AnyState, seat: Seat, word: str) -> str:
    """The rule that refuses; the state is checked to be what it was."""
    before = hash(state)
    with pytest.raises(Illegal) as caught:
        game.apply(state, seat, game.read(word))
    assert hash(state) == before
    assert str(caught.value)
    return caught.value.rule


def play_line(game: AnyTavli, state: AnyState, line: str) -> AnyState:
    """The state after the mover's actions and the house's rolls, "13/8 6/5 64"."""
    for word in line.split():
        seat = CHANCE if state.stage is Stage.ROLL else state.mover
        state = game.apply(state, seat, game.read(word))
    return state


def spelt(game: AnyTavli, state: AnyState) -> set[str]:
    """The mover's legal actions as their notation."""
    return {game.write(action) for action in game.legal(state, state.mover)}


def rules_named_in(*modules: ModuleType) -> set[str]:
    """All rule ids that stand as strings in the source: those that can refuse."""
    sources = map(inspect.getsource, (tavli, lookahead, *modules))
    return set(re.findall(r'"(V[A-Z]?\d[\d.]*)"', "".join(sources)))


def check_texts(variant: str, *modules: ModuleType) -> None:
    """Every rule that refuses has a text for players."""
    for language in ("el", "en"):
        texts = {rule.id for rule in rules_text(variant, language)}
        assert rules_named_in(*modules) <= texts
