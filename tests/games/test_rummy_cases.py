"""The worked cases of the rule book, by their ids, and its examples."""

from __future__ import annotations

from collections import Counter

import pytest
from kafeneio_games.cards import Card
from kafeneio_games.deadwood import Partition, best_partition, goes_out, value
from kafeneio_games.game import Seat
from kafeneio_games.koumkan import ACE, Koumkan
from kafeneio_games.melds import MeldRules, check, is_wild, sorted_hand
from kafeneio_games.rummy_hand import PACK
from kafeneio_games.thanasis import Thanasis

from tests.games.rummy_tables import (
    cards,
    koumkan_state,
    meld,
    played,
    refused,
    spelt,
    thanasis_state,
)

KOUMKAN = Koumkan()
THANASIS = Thanasis()
DYNAMITIS = Thanasis(wild_twos=True)


@pytest.mark.parametrize(
    "text",
    [
        "run 4C 5C 6C",
        "run 8H 9H TH JH",
        "group 7S 7H 7D",
        "run AC 2C 3C",
        "run JC QC KC",
        "run 2C * 4C",
        "group 7D * *",
        "run 7D * *",
        "run AS 2S 3S 4S 5S 6S 7S 8S 9S TS JS QS KS",
    ],
)
def test_g58_valid(text: str) -> None:
    check(meld(text), MeldRules())
    check(meld(text), MeldRules(ace_high=True))


def test_g60_lay_off() -> None:
    state = koumkan_state("3C 7C 8C 9D|KH", ["1 run 4C 5C 6C", "0 group 9S 9H 9C"])
    laid = {text for text in spelt(KOUMKAN, state) if text.startswith("lay ") and "C 1" in text}
    assert laid == {"lay 3C 1", "lay 7C 1"}
    after = played(KOUMKAN, state, "lay 7C 1, lay 8C 1, lay 3C 1")
    assert after.table[0].meld == meld("run 3C 4C 5C 6C 7C 8C")
    assert after.table[0].owner == 1


def test_g61_melded_cards_do_not_move() -> None:
    state = koumkan_state("AS 9D|KH", ["0 group 2S 2H 2D 2C", "1 run 3S 4S 5S"])
    assert spelt(KOUMKAN, state) == {"discard AS", "discard 9D"}
    assert refused(KOUMKAN, state, "lay AS 2") == "K6"
    assert refused(KOUMKAN, state, "lay 2S 2") == "K34", "it is not in the hand"


def test_g62_joker_exchange() -> None:
    state = koumkan_state("3C 9D|KH", ["0 group 9S 9H 9C", "1 run 2C * 4C"])
    after = played(KOUMKAN, state, "swap 3C 2")
    assert after.table[1].meld == meld("run 2C 3C 4C")
    assert after.hands[0] == cards("9D *")
    assert "discard *" in spelt(KOUMKAN, after), "it may be kept, and discarded (K11, K32)"
    assert "discard 9D" in spelt(KOUMKAN, after)


def test_g63_no_exchange_without_an_own_meld() -> None:
    state = koumkan_state("3C 9D|KH", ["1 run 2C * 4C"])
    assert refused(KOUMKAN, state, "swap 3C 1") == "K10"
    assert spelt(KOUMKAN, state) == {"discard 3C", "discard 9D"}


def test_g64_the_last_card_is_discarded() -> None:
    state = koumkan_state("4C 5C 6C|KH", ["0 run 7C 8C 9C"])
    assert refused(KOUMKAN, state, "meld run 4C5C6C") == "K21"
    laid = played(KOUMKAN, state, "lay 6C 1, lay 5C 1")
    assert refused(KOUMKAN, laid, "lay 4C 1") == "K20"
    over = played(KOUMKAN, laid, "discard 4C")
    assert over.result is not None
    assert (over.result.ending, over.result.points) == ("went-out", (0, 10))


def points_of(text: str) -> int:
    return sum(value(card, MeldRules(), ACE) for card in cards(text))


def test_g65_card_values() -> None:
    assert points_of("KC AH 6D *") == 51


def test_g66_melds_left_in_hand() -> None:
    """In full in Koum-kan, nothing in Thanasis."""
    state = koumkan_state("9S|7D 7H 7S TC")
    over = KOUMKAN.apply(state, Seat(0), KOUMKAN.read("discard 9S"))
    assert over.result is not None
    assert over.result.points == (0, 31)
    assert best_partition(cards("7D 7H 7S TC"), MeldRules(), 1).deadwood == 10


@pytest.mark.parametrize(("game", "jokers"), [(THANASIS, 11), (DYNAMITIS, 19)], ids=["T", "D"])
def test_g68_jokers(game: Thanasis, jokers: int) -> None:
    """The turned card is out of play (H2)."""
    state = thanasis_state("KS|KH", "5S")
    in_play = Counter(PACK) - Counter(state.turned)
    rules = game.meld_rules(state)
    assert sum(is_wild(card, rules) for card in in_play.elements()) == jokers
    assert in_play.total() == 107


def test_g69_going_out() -> None:
    hand = "7D 7H 7S 4C 5C 6C TH JH QH KH 9S"
    state = thanasis_state(f"{hand}|AS AD 8H", "3S")
    outs = {text for text in spelt(THANASIS, state) if text.startswith("out ")}
    assert outs == {"out 9S"}
    assert refused(THANASIS, state, "out 4C") == "H5"
    over = played(THANASIS, state, "out 9S")
    assert over.result is not None
    assert (over.result.ending, over.result.points) == ("went-out", (0, 10))
    for card in set(cards(hand)):
        assert goes_out(cards(hand), card, MeldRules("3")) == (card == "9S")


def test_eleven_matched_cards() -> None:
    """H5: one that can be spared is dropped."""
    hand = "7D 7H 7S 4C 5C 6C TH JH QH KH 7C"
    state = thanasis_state(f"{hand}|AS", "3S")
    outs = {text for text in spelt(THANASIS, state) if text.startswith("out ")}
    # Any of the four sevens; the outer ones of the hearts; and 4C, for which 7C goes into the run.
    assert outs == {"out 7D", "out 7H", "out 7S", "out 7C", "out TH", "out KH", "out 4C"}


@pytest.mark.parametrize(
    ("wild", "hand", "left", "deadwood"),
    [
        pytest.param("5", "KH KD 5C 7C 8C 9C AS QD 3H TS", "AS QD 3H TS", 24, id="g71"),
        pytest.param(
            *("5", "5C KH 9S 2D AC QS 7H JD 4C TH", "5C KH 9S 2D AC QS 7H JD 4C TH", 88), id="g73"
        ),
        pytest.param(
            *("25", "2C KH AD 7C 4H JC 9S 6D QD 8H", "2C KH AD 7C 4H JC 9S 6D QD 8H", 90), id="g75"
        ),
    ],
)
def test_least_deadwood(wild: str, hand: str, left: str, deadwood: int) -> None:
    best = best_partition(cards(hand), MeldRules(wild), 1)
    assert (best.left, best.deadwood) == (sorted_hand(cards(left)), deadwood)


def test_g71_the_partition() -> None:
    best = best_partition(cards("KH KD 5C 7C 8C 9C AS QD 3H TS"), MeldRules("5"), 1)
    assert best == Partition(
        (meld("group KH KD 5C"), meld("run 7C 8C 9C")), sorted_hand(cards("AS QD 3H TS")), 24
    )


def test_g73_g75_what_counts() -> None:
    assert value(Card("5C"), MeldRules("5"), 1) == 25
    assert value(Card("2C"), MeldRules("25"), 1) == 25
