"""What a seat cannot see changes nothing for it: neither its view nor what it may do."""

from __future__ import annotations

from random import Random

import pytest
from kafeneio_games import trick_actions
from kafeneio_games.cards import HIDDEN, Card, Deal, read_deal
from kafeneio_games.game import Illegal, Seat, digest
from kafeneio_games.pilotta import Pilotta
from kafeneio_games.pilotta_play import State
from kafeneio_games.trick_view import Stage

from tests.games.boards import told
from tests.games.pilotta_hands import (
    GAMES,
    AnyPilotta,
    dealt_again,
    exchanged,
    log,
    played,
    seats_of,
    states,
)

TRIED: tuple[trick_actions.Action, ...] = (
    *trick_actions.CARDS.values(),
    *trick_actions.CHOICES.values(),
    trick_actions.DECLARE,
    trick_actions.EXCHANGE,
    trick_actions.TAKE,
    trick_actions.PASS,
    trick_actions.Bid(90, "H"),
    trick_actions.Contra(1),
)
games = pytest.mark.parametrize(
    "game", [*GAMES, Pilotta(contra_timing="any_time")], ids=["four", "classic", "two", "any-time"]
)


def known(game: AnyPilotta, state: State, seat: Seat) -> tuple[object, ...]:
    """All that a seat can find out: its view, what it may do, and why it may not do the rest."""
    answers = []
    for action in TRIED:
        try:
            game.apply(state, seat, action)
        except Illegal as refusal:
            answers.append((refusal.rule, str(refusal)))
        else:
            answers.append(("", "done"))
    moves = tuple(game.legal(state, seat))
    prompts = (game.to_act(state), game.prompted(state), game.mid_turn(state))
    return (game.view(state, seat), moves, prompts, tuple(answers))


@games
def test_unseen_cards_dealt_again(game: AnyPilotta) -> None:
    """Thousands of positions, each seat: the others' cards anew, and nothing changes for it."""
    positions = changed = 0
    for seed in range(30):
        random = Random(seed)
        with told(seed, log(game, seed)):
            for state in states(game, seed):
                if state.stage in (Stage.DEAL, Stage.OVER):
                    continue
                shown = {
                    card for entry in game.view(state, None).declarations for card in entry.cards
                }
                for seat in seats_of(game):
                    other = dealt_again(state, seat, shown, random)
                    assert known(game, other, seat) == known(game, state, seat)
                    changed += other != state
                    positions += 1
                assert game.view(dealt_again(state, None, shown, random), None) == game.view(
                    state, None
                )
    assert positions > 800
    assert changed > positions / 2


@games
def test_two_unseen_cards_exchanged(game: AnyPilotta) -> None:
    """A whole hand again after another deal, as long as the same log can be played."""
    compared = 0
    for seed in range(60):
        entries = log(game, seed)
        again = exchanged(entries, game, Random(seed))
        one = two = next(state for state in states(game, seed) if state.stage is Stage.DEAL)
        alike = list(seats_of(game))
        with told(seed, again):
            for line, other in zip(entries, again, strict=True):
                try:
                    two = game.apply(two, other.seat, game.read(other.text))
                except Illegal:
                    break
                one = game.apply(one, line.seat, game.read(line.text))
                if seen_of_all(game, one) != seen_of_all(game, two):
                    break
                # A card exchanged may come to a hand later, when the trump has been chosen.
                alike = [s for s in alike if game.view(one, s).hand == game.view(two, s).hand]
                for seat in alike:
                    assert game.view(one, seat) == game.view(two, seat)
                    assert list(game.legal(one, seat)) == list(game.legal(two, seat))
                    compared += 1
    assert compared > 150


def seen_of_all(game: AnyPilotta, state: State) -> object:
    """What the cards themselves tell the table: declarations, belote, and the hand's end."""
    view = game.view(state, None)
    return view.declarations, view.belote, view.sheet


@games
def test_a_view_has_no_card_of_another(game: AnyPilotta) -> None:
    """As text: no card but one's own, those played, the turned one, and declarations that count."""
    for seed in range(40):
        for state in states(game, seed):
            hands = state.hands if state.play is None else state.play.hands
            for viewer in (*seats_of(game), None):
                view = game.view(state, viewer)
                seen = {card for _, card in (*view.played, *view.trick)} | set(view.hand)
                seen |= {card for declared in view.declarations for card in declared.cards}
                seen |= {view.turned} if view.turned else set()
                secret = [
                    card
                    for seat, hand in enumerate(hands)
                    for card in hand
                    if seat != viewer and card not in seen
                ]
                text = repr(view)
                assert not [card for card in (*secret, *state.rest) if repr(card) in text]
                assert len(digest(view)) == 32


@games
def test_a_deal_is_shown_to_each_seat_in_part(game: AnyPilotta) -> None:
    state, _, deal = next(played(game, 1))
    assert state.stage is Stage.DEAL
    assert isinstance(deal, Deal)
    for viewer in (*seats_of(game), None):
        shown = read_deal(game.show(deal, viewer))
        for seat, hand in enumerate(shown.hands):
            hidden: tuple[Card, ...] = (HIDDEN,) * len(deal.hands[seat])
            assert hand == (deal.hands[seat] if seat == viewer else hidden)
        assert shown.turned == deal.turned
        assert set(shown.rest) <= {HIDDEN}
        assert game.read(game.show(deal, viewer)) == shown
