"""What the player of tricks concludes about cards that it does not see is true."""

from __future__ import annotations

from random import Random

import pytest
from kafeneio_games.cards import SHORT_PACK, Card
from kafeneio_games.game import Seat
from kafeneio_games.trick_view import Stage
from kafeneio_players.tricks_deals import Dealer
from kafeneio_players.tricks_guess import guessed
from kafeneio_players.tricks_house import house
from kafeneio_players.tricks_memory import memory
from kafeneio_players.tricks_table import PACK, plain

from tests.players.tricks_tables import NAMES, hands_of, playing, prompts, table, with_options

names = pytest.mark.parametrize("name", NAMES)


@names
def test_nothing_is_ruled_out_that_is_so(name: str) -> None:
    """Thousands of positions of random play, under all house rules."""
    random = Random(f"memory {name}")
    known_cards = limits = positions = 0
    while positions < 2000:
        game, _ = table(name, random)
        rules = house(game)
        for state, seat in prompts(game, random):
            if not playing(state):
                continue
            positions += 1
            found = memory(game.view(state, seat), rules, seat)
            for other, hand in enumerate(hands_of(state)):
                held = plain(hand)
                assert found.known[other] & ~held == 0
                assert held & ~found.known[other] & ~found.may[other] == 0
                missing = found.missing[other]
                assert missing == len(hand) - found.known[other].bit_count()
                if other != seat:
                    known_cards += found.known[other].bit_count()
                    limits += found.may[other] != found.unseen
            assert found.known[seat] == plain(hands_of(state)[seat])
    assert known_cards > 100
    assert limits > positions / 4


@names
def test_deals_agree_with_what_is_known(name: str) -> None:
    random = Random(f"deals {name}")
    positions = 0
    while positions < 300:
        game, _ = table(name, random)
        rules = house(game)
        for state, seat in prompts(game, random):
            if random.random() < 0.7:
                continue
            positions += 1
            view = game.view(state, seat)
            own = plain(view.hand)
            if view.turned is not None and rules.seats > 2:
                own |= plain([view.turned])  # as if the seat took it
            found = memory(view, rules, seat, own)
            dealer = Dealer(found, random)
            for _ in range(3):
                hands = dealer.deal()
                seen = 0
                for other, hand in enumerate(hands):
                    assert hand & seen == 0
                    seen |= hand
                    assert found.known[other] & ~hand == 0
                    assert hand & ~found.known[other] & ~found.may[other] == 0
                    full = rules.cards - found.played[other].bit_count()
                    assert hand.bit_count() == full


def test_a_full_choice_of_deals_is_found() -> None:
    """Of three cards, two of which only one seat may hold, there is one deal; and where nothing is
    known every card goes to every seat."""
    game = with_options("pilotta", {})
    random = Random(5)
    state = next(state for state, seat in prompts(game, random) if state.stage is Stage.BIDDING)
    view = game.view(state, state.turn)
    found = memory(view, house(game), state.turn)
    dealer = Dealer(found, random)
    got: dict[int, int] = dict.fromkeys(range(4), 0)
    for _ in range(60):
        for seat, hand in enumerate(dealer.deal()):
            got[seat] |= hand
    own = plain(view.hand)
    for seat in range(4):
        assert got[seat] == (own if seat == state.turn else PACK & ~own)
    tight = found._replace(
        known=(0, 0, 0, 0),
        missing=(0, 1, 1, 1),
        unseen=0b111,
        may=(0, 0b100, 0b110, 0b011),
    )
    assert {Dealer(tight, random).deal() for _ in range(50)} == {(0, 0b100, 0b010, 0b001)}
    either = tight._replace(may=(0, 0b101, 0b110, 0b011))
    assert {Dealer(either, random).deal() for _ in range(50)} == {
        (0, 0b100, 0b010, 0b001),
        (0, 0b001, 0b100, 0b010),
    }


def test_guesses_count_as_many_deals_as_asked() -> None:
    game = with_options("pilotta", {})
    random = Random(8)
    tried = 0
    while tried < 20:
        for state, seat in prompts(game, random):
            if not playing(state) or random.random() < 0.8:
                continue
            view, rules = game.view(state, seat), house(game)
            found = memory(view, rules, seat)
            deals = guessed(view, rules, found, seat, random, 24)
            whole = sum(times for _, times in deals)
            assert whole == (24 if found.unseen else 1)
            tried += 1


def test_a_bidder_holds_more_of_his_suit_than_others() -> None:
    """Seat 0 has bid 120 in hearts: in the deals the jack of hearts is mostly his."""
    game = with_options("pilotta", {})
    own = tuple(Card(card) for card in ("7S", "8S", "9S", "7D", "8D", "9D", "7C", "8C"))
    others = [card for card in SHORT_PACK if card not in own]
    hands = (*(tuple(others[at : at + 8]) for at in (0, 8, 16)), own)
    deal = "deal " + "/".join("".join(hand) for hand in hands) + "//"
    state = game.apply(game.start(Seat(3), tuple(map(Seat, range(4)))), Seat(-1), game.read(deal))
    for seat, text in enumerate(("120H", "pass", "pass")):
        state = game.apply(state, Seat(seat), game.read(text))
    view, rules = game.view(state, Seat(3)), house(game)
    found = memory(view, rules, Seat(3))
    jack = plain([Card("JH")])
    deals = guessed(view, rules, found, Seat(3), Random(1), 200)
    share = [sum(times for hands, times in deals if hands[seat] & jack) for seat in range(3)]
    assert sum(share) == 200
    assert share[0] > 100
