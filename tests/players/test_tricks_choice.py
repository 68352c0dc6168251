"""What the player of tricks does is always legal, and rests on its seat's view alone."""

from __future__ import annotations

from random import Random

import pytest
from kafeneio_games.cards import Card
from kafeneio_games.game import AnyGame, Seat, digest
from kafeneio_games.registry import variant
from kafeneio_games.trick_actions import DECLARE, PlayCard
from kafeneio_games.trick_view import Stage
from kafeneio_players import choose

from tests.players.tricks_tables import (
    NAMES,
    dealt,
    dealt_anew,
    hands_of,
    playing,
    prompts,
    table,
    with_options,
)

names = pytest.mark.parametrize("name", NAMES)


@names
def test_whatever_it_is_asked_its_answer_is_legal(name: str) -> None:
    """Random positions under random house rules, until every value of every option was there."""
    random = Random(f"legal {name}")
    wanted = {(one.name, value) for one in variant(name).options for value in one.values}
    stages: set[Stage] = set()
    asked = 0
    while asked < 350 or wanted:
        game, chosen = table(name, random)
        wanted -= set(chosen.items())
        for state, seat in prompts(game, random):
            if random.random() < 0.5:
                continue
            after = state
            for action in choose(game, game.view(state, seat), seat):
                assert action in set(game.legal(after, seat)), (chosen, state)
                after = game.apply(after, seat, action)
            assert not game.mid_turn(after)
            stages.add(state.stage)
            asked += 1
    expected = {Stage.PLAYING}
    if name in ("pilotta", "coinche"):
        expected |= {Stage.BIDDING, Stage.RECONTRA}
        expected |= {Stage.CONTRA} if name == "pilotta" else set()
    else:
        expected |= {Stage.CHOOSING}
        expected |= {Stage.EXCHANGE} if name == "pilotta-classic-2" else set()
    assert stages == expected


@names
def test_the_same_view_is_answered_the_same_whatever_the_others_hold(name: str) -> None:
    random = Random(f"hidden {name}")
    tried = changed = 0
    while tried < 60:
        game, _ = table(name, random)
        for state, seat in prompts(game, random):
            if random.random() < 0.7 or (playing(state) and state.play.first_trick):
                continue  # in the first trick declarations of the others may follow their cards
            other = dealt_anew(state, seat, random)
            view, same = game.view(state, seat), game.view(other, seat)
            assert digest(view) == digest(same)
            assert choose(game, view, seat) == choose(game, same, seat)
            changed += hands_of(other) != hands_of(state)
            tried += 1
    assert changed > 30


@names
def test_a_seat_that_is_not_asked_gets_no_answer(name: str) -> None:
    game = with_options(name, {})
    state = dealt(game, Random(1))
    seat = game.prompted(state)
    assert seat is not None
    other = Seat(1 - seat % 2)
    with pytest.raises(ValueError, match="turn"):
        choose(game, game.view(state, other), other)
    with pytest.raises(ValueError, match="turn"):
        choose(game, game.view(state, seat), other)


DECLARING: tuple[tuple[str, dict[str, str]], ...] = (
    ("pilotta", {}),
    ("pilotta-classic", {}),
    ("pilotta-classic-2", {}),
    ("belote", {"declare": "by_player"}),
    ("belote-no-trump", {"declare": "by_player"}),
    ("coinche", {"declare": "by_player"}),
)


@pytest.mark.parametrize(("name", "options"), DECLARING)
def test_it_declares_whenever_it_may_with_its_card(name: str, options: dict[str, str]) -> None:
    """P31: computers always do."""
    game = with_options(name, options)
    random = Random(f"declare {name}")
    may = 0
    while may < 15:
        for state, seat in prompts(game, random):
            if not playing(state) or not state.play.first_trick:
                continue
            if DECLARE in set(game.legal(state, seat)):
                first, second = choose(game, game.view(state, seat), seat)
                assert first == DECLARE
                assert isinstance(second, PlayCard)
                may += 1


def test_what_was_declared_already_is_not_declared_again() -> None:
    game: AnyGame = with_options("pilotta", {})
    random = Random(3)
    while True:
        for state, seat in prompts(game, random):
            if playing(state) and game.mid_turn(state):
                (card,) = choose(game, game.view(state, seat), seat)
                assert isinstance(card, PlayCard)
                assert Card(card.card) in hands_of(state)[seat]
                return
