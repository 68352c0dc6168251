"""The empty stock: K22, K39, H13, and their house rule."""

from __future__ import annotations

from collections.abc import Sequence
from random import Random
from typing import Any, TypeVar

import pytest
from kafeneio_games.game import CHANCE, Seat
from kafeneio_games.koumkan import Koumkan
from kafeneio_games.rummy import Reshuffle
from kafeneio_games.rummy_hand import PACK, Stage
from kafeneio_games.thanasis import Thanasis

from tests.games.rummy_tables import (
    Dice,
    Rummy,
    all_cards,
    cards,
    dealt,
    koumkan_state,
    played,
    refused,
    spelt,
    stepped,
)

GAME = Koumkan()
T = TypeVar("T")


def test_k39_looked_at_when_asked() -> None:
    """The last card is drawn and nothing happens; who asks next gets a card of the new stock."""
    state = koumkan_state("4C|KH", pile="2S 3S 4S", drawn=False, stock=1)
    after = played(GAME, state, "draw, discard 4C")
    assert (after.stage, after.stock) == (Stage.DRAW, ())
    assert spelt(GAME, after, Seat(1)) == {"draw", "take"}
    due = played(GAME, after, "draw")
    assert due.stage is Stage.RESHUFFLE
    assert GAME.to_act(due) == (CHANCE,)
    assert GAME.prompted(due) is None
    assert list(GAME.legal(due, CHANCE)) == []
    view = GAME.view(due, Seat(1))
    assert (view.mover, view.drawn, view.stock_left, view.discard_top) == (1, False, 0, "4C")
    done = GAME.apply(due, CHANCE, GAME.read("reshuffle 3S2S4S"))
    assert done.hands[1] == cards("3S KH")
    assert (done.stock, done.discards) == (cards("2S 4S"), cards("4C"))
    assert (done.stage, done.mover, done.reshuffles) == (Stage.PLAY, 1, 1)
    assert GAME.mid_turn(done), "the turn that asked goes on"
    assert sorted(all_cards(done)) == sorted(PACK)


def test_k22_only_those_cards() -> None:
    state = koumkan_state("4C|KH", pile="2S 3S 4S", drawn=False, stock=0)
    due = played(GAME, state, "draw")
    for text in ("reshuffle 2S", "reshuffle 2S3S4S", "reshuffle 2S2S", "reshuffle ??"):
        assert refused(GAME, due, text, CHANCE) == "K22"
    assert refused(GAME, due, "reshuffle 2S3S") == "K34"
    assert refused(GAME, due, "draw") == refused(GAME, due, "take") == "K34"
    assert refused(GAME, state, "reshuffle 2S3S", CHANCE) == "K34"


def test_k22_void_with_nothing_to_shuffle() -> None:
    for pile in ("", "2S"):
        state = koumkan_state("4C|KH", pile=pile, drawn=False, stock=0)
        over = played(GAME, state, "draw")
        assert over.result is not None
        assert (over.result.ending, over.result.points) == ("void", (0, 0))
        assert over.out is None
        assert GAME.view(over, None).ends == (), "no hand is shown"
        assert GAME.to_act(over) == ()


@pytest.mark.parametrize("most", [0, 1, 2, 3])
@pytest.mark.parametrize("make", [Koumkan, Thanasis])
def test_k22_how_often(make: type[Koumkan] | type[Thanasis], most: int) -> None:
    """Both players draw and discard what they drew, until the hand is void."""
    game: Rummy = make(max_stock_reshuffles=most)
    state: Any = dealt(game, Random(most))
    reshuffles = 0
    while state.result is None:
        if state.stage is Stage.RESHUFFLE:
            reshuffles += 1
            assert len(state.discards) > 1
            state = stepped(game, state, Random(1))
            assert state.reshuffles == reshuffles
            assert len(state.discards) == 1
        elif state.stage is Stage.DRAW:
            state = game.apply(state, state.mover, game.read("draw"))
        else:
            card = state.hands[state.mover][0]
            state = game.apply(state, state.mover, game.read(f"discard {card}"))
        assert sorted(all_cards(state)) == sorted(PACK)
    assert (state.result.ending, reshuffles) == ("void", most)
    assert state.stock == ()


def test_h13_the_turned_card_is_never_shuffled_in() -> None:
    game = Thanasis()
    state = dealt(game, Random(9))
    turned = state.turned
    while state.stage is not Stage.RESHUFFLE:
        text = "draw" if state.stage is Stage.DRAW else f"discard {state.hands[state.mover][0]}"
        state = game.apply(state, state.mover, game.read(text))
    assert state.turned == turned
    action = game.chance(state, Backwards(Random(1)))
    assert action == Reshuffle(tuple(reversed(state.discards[:-1])))
    assert len(state.discards) == 86 + 1
    assert game.apply(state, CHANCE, action).turned == turned


class Backwards(Dice):
    """Turns the cards over instead of shuffling them."""

    def shuffled(self, cards: Sequence[T]) -> tuple[T, ...]:
        """From the last to the first."""
        return tuple(reversed(cards))
