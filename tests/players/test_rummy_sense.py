"""Turns of rummy that need no thinking, and the arithmetic behind the others."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from random import Random
from typing import Any

import pytest
from kafeneio_games import koumkan
from kafeneio_games.cards import FULL_PACK, JOKER
from kafeneio_games.deadwood import after_discards, best_partition, value
from kafeneio_games.koumkan import Koumkan
from kafeneio_games.melds import MeldRules
from kafeneio_games.rummy_hand import PACK, Stage
from kafeneio_games.thanasis import Thanasis
from kafeneio_players import choose
from kafeneio_players.rummy_cover import NEVER, Cover
from kafeneio_players.rummy_unseen import Unseen

from tests.games.rummy_tables import SEATS, Rummy, cards, koumkan_state, thanasis_state

ME = SEATS[0]
KOUMKAN = Koumkan()
RULES = [
    MeldRules(),
    MeldRules("5"),
    MeldRules("25"),
    MeldRules("9", ace_high=True),
    MeldRules("29", two_naturals=True),
    MeldRules("", ace_high=True, two_naturals=True),
]


def answer(game: Rummy, state: Any) -> list[str]:
    """What the player does, in the game's notation."""
    return [game.write(action) for action in choose(game, game.view(state, ME), ME)]


def after(game: Rummy, state: Any) -> Any:
    """The state when it has done that."""
    for action in choose(game, game.view(state, ME), ME):
        state = game.apply(state, ME, action)
    return state


# ---------------------------------------------------------------- Koum-kan


def test_a_discard_that_makes_a_meld_is_taken() -> None:
    others = "KS 9H 2D 7S JH 3D QS 8C"
    taken = koumkan_state(f"4C 5C {others}|KH", pile="2S 6C", drawn=False)
    assert answer(KOUMKAN, taken) == ["take"]
    left = koumkan_state(f"4C 5C {others}|KH", pile="2S TD", drawn=False)
    assert answer(KOUMKAN, left) == ["draw"]


def test_a_discard_that_can_be_laid_off_is_taken_if_one_may_lay_off() -> None:
    for owner, does in ((0, "take"), (1, "draw")):
        melds = ["1 run 4C 5C 6C", f"{owner} group 9H 9D 9C"]
        state = koumkan_state("KS 2D|KH QH", melds, pile="2S 7C", drawn=False)
        assert answer(KOUMKAN, state) == [does]


def test_who_can_go_out_does() -> None:
    for hand, melds in (
        ("4C 5C 6C 9H 9D 9S KH KD KC KS JD|QH", []),
        ("4C 5C 6C 9H 9D * KH KD * KS JS|QH", []),
        ("4C 5C 6C 8H|KH", []),
        ("7C 9S 8C JD|KH", ["0 group 9H 9D 9C", "1 run 4C 5C 6C"]),  # all three are laid off
        ("* JD|KH", ["0 group 9H 9D 9C"]),
        ("3C KH KD JD|KH", ["0 run 2C * 4C"]),  # with the joker of the run
        ("2H 3H 4H 7C JD|KH", ["1 run 4C 5C 6C"]),  # the first own meld opens the table
    ):
        over = after(KOUMKAN, koumkan_state(hand, melds))
        assert over.stage is Stage.OVER, hand
        assert over.out == ME


def test_three_cards_are_not_melded_and_the_highest_are_thrown_away() -> None:
    """K21, worked case G64."""
    (only,) = answer(KOUMKAN, koumkan_state("4C 5C 6C|KH"))
    assert only.startswith("discard")


def test_a_card_that_can_be_laid_off_is_laid_and_not_given_away() -> None:
    melds = ["1 group 9H 9D 9C", "0 run 2S 3S 4S", "1 run TD JD QD", "1 run 8H 9H TH"]
    state = koumkan_state("7C 7H|QH QS", melds)
    assert answer(KOUMKAN, state) == ["lay 7H 4", "discard 7C"]


def test_of_equal_cards_the_next_player_gets_the_one_of_no_use_to_him() -> None:
    melds = ["1 run 4D 5D 6D"]
    state = koumkan_state("7D QC JS TS 7S 4H|KH QD", melds)
    less = koumkan_state("7D QC 7S|KH QD", melds)
    for each in (state, less):
        assert "discard 7D" not in answer(KOUMKAN, each)


def test_what_was_just_taken_is_not_thrown_back() -> None:
    """K19: only the other card may go."""
    state = koumkan_state("KH 2C|QH", taken="KH")
    assert answer(KOUMKAN, state) == ["discard 2C"]


# ---------------------------------------------------------------- Thanasis and Dynamitis


def test_who_can_go_out_in_thanasis_does() -> None:
    """H5, worked case G69."""
    state = thanasis_state("7D 7H 7S 4C 5C 6C TH JH QH KH 9S|2C", "3S")
    assert answer(Thanasis(), state) == ["out 9S"]


def test_the_card_that_fits_nowhere_is_thrown_away() -> None:
    # One card too many to go out; the king is worth most and has no neighbours.
    state = thanasis_state("7D 7H 7S 4C 5C 6C TH JH 9S 8S KD|2C", "3S")
    assert answer(Thanasis(), state) == ["discard KD"]


def test_jokers_of_a_rank_are_kept() -> None:
    hand = "3D 3C 7D 7H 4C 5C TH JH KS 9D 8S|2C"
    for game in (Thanasis(), Thanasis(wild_twos=True)):
        (only,) = answer(game, thanasis_state(hand, "3S"))
        assert not only.endswith(("3D", "3C")), only


# ---------------------------------------------------------------- arithmetic


def hands(rules: MeldRules, size: int, number: int) -> Iterator[tuple[Any, ...]]:
    """Random hands, half of them of two suits so that much fits."""
    random = Random(repr(rules))
    for each in range(number):
        pack = [c for c in PACK if each % 2 or c == JOKER or c[1] in "SH"]
        yield tuple(random.sample(pack, size))


@pytest.mark.parametrize("rules", RULES, ids=repr)
def test_what_is_left_is_what_the_rules_count(rules: MeldRules) -> None:
    for hand in hands(rules, 10, 60):
        cover = Cover(hand, rules, 1)
        assert cover.left(*cover.whole()) == best_partition(hand, rules, 1).deadwood


@pytest.mark.parametrize("rules", RULES, ids=repr)
def test_what_is_left_with_a_card_less_or_more_is_what_the_rules_count(rules: MeldRules) -> None:
    random = Random(9)
    for hand in hands(rules, 11, 12):
        cover = Cover(hand, rules, 1)
        left = after_discards(hand, rules, 1)
        assert {card: cover.left(*cover.less(card)) for card in left} == left
        assert cover.left_after_discard(*cover.whole()) == min(left.values())
        for card in random.sample(sorted(left), 3):
            less = list(hand)
            less.remove(card)
            for drawn in random.sample(list((Counter(PACK) - Counter(hand)).elements()), 8):
                expected = min(after_discards((*less, drawn), rules, 1).values())
                assert cover.left_with(drawn, *cover.less(card)) == expected


def least_left(state: koumkan.State) -> int:
    """The fewest points after this turn, by trying every way through it."""
    rules, met, waiting, least = KOUMKAN.meld_rules, {state}, [state], NEVER
    while waiting:
        here = waiting.pop()
        for action in KOUMKAN.legal(here, ME):
            there = KOUMKAN.apply(here, ME, action)
            if there.stage is not Stage.PLAY:
                points = sum(value(card, rules, koumkan.ACE) for card in there.hands[ME])
                least = min(least, points)
            elif there not in met:
                met.add(there)
                waiting.append(there)
    return least


def test_the_best_turn_is_the_best_of_all_turns() -> None:
    """Every way through the turn is tried by the rules, with lay-offs at both ends and twins."""
    random = Random(4)
    melds = ["0 run 5S 6S 7S", "1 run TH JH QH", "1 group 9H 9D 9C", "0 run 2H 3H 4H"]
    pool = [c for c in FULL_PACK if c[1] in "SH" or c[0] in "9K"] * 2
    for taken in cards("5S 6S 7S TH JH QH 9H 9D 9C 2H 3H 4H"):
        pool.remove(taken)
    fewer = 0
    for _ in range(60):
        hand = random.sample(pool, 6)
        state = koumkan_state("".join(hand) + "|KC", melds, pile="2D")
        table = [laid.meld for laid in state.table]
        cover = Cover(hand, KOUMKAN.meld_rules, koumkan.ACE, table)
        expected = least_left(state)
        assert cover.left_after_discard(*cover.whole()) == expected, hand
        fewer += expected < sum(sorted(value(c, KOUMKAN.meld_rules, 10) for c in hand)[:-1])
    assert fewer > 40


def test_what_is_seen_is_not_expected() -> None:
    state = koumkan_state("KH KH 2C *|QH", ["1 run 2C 3C *"], pile="5D 6D", drawn=False)
    unseen = Unseen(KOUMKAN.view(state, ME))
    held, laid, partly, covered, top = map(unseen.counts.__getitem__, cards("KH 2C 3C 5D 6D"))
    assert (held, laid, partly, covered, top) == (0, 0, 1, 2, 1)
    assert unseen.counts[JOKER] == 2
    assert unseen.total == 108 - 4 - 3 - 1
    assert unseen.counts.keys() <= Counter(PACK).keys()
