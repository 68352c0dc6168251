"""Runs, groups, lay-offs, joker exchange, and the best use of a hand, against a slow second way."""

from __future__ import annotations

from collections import Counter
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from kafeneio_games.cards import FULL_PACK, JOKER, SUITS, Card
from kafeneio_games.deadwood import Partition, after_discards, best_partition, goes_out, value
from kafeneio_games.game import Illegal
from kafeneio_games.melds import (
    ORDER,
    End,
    Kind,
    Meld,
    MeldRules,
    check,
    ends_for,
    is_wild,
    laid_off,
    openings,
    run_low,
    single_melds,
    sorted_hand,
    stands_for,
    swap_place,
    swapped,
)
from kafeneio_games.rummy_hand import PACK

from tests.games import simple_rummy
from tests.games.rummy_tables import cards, meld

PLAIN = MeldRules()
HIGH = MeldRules(ace_high=True)
TWO = MeldRules(two_naturals=True)
RULES = {
    "plain": PLAIN,
    "ace-high": HIGH,
    "two-naturals": TWO,
    "five": MeldRules("5"),
    "two-five": MeldRules("25"),
    "aces-wild-high": MeldRules("A", ace_high=True),
    "all": MeldRules("2", ace_high=True, two_naturals=True),
}
by_rules = pytest.mark.parametrize("rules", RULES.values(), ids=RULES)


def plain(rules: MeldRules) -> simple_rummy.Rules:
    return simple_rummy.Rules(rules.wild_ranks, rules.ace_high, rules.naturals_least)


def why_not(text: str, rules: MeldRules = PLAIN) -> str:
    with pytest.raises(Illegal) as caught:
        check(meld(text), rules)
    return caught.value.rule


def spelt(found: Meld) -> str:
    return f"{found.kind.value} {''.join(found.cards)}"


# ---------------------------------------------------------------- is it a meld?


@pytest.mark.parametrize(
    ("text", "rule"),
    [
        ("run QC KC AC", "K5"),
        ("run KC AC 2C", "K5"),
        ("run QC KC *", "K5"),
        ("run * AC 2C", "K5"),
        ("run KC * 2C", "K5"),
        ("run 4C 5C", "K6"),
        ("run 4C 5C 7C", "K6"),
        ("run 4C 5D 6C", "K6"),
        ("run 6C 5C 4C", "K6"),
        ("run 4C 4C 5C", "K6"),
        ("run AS 2S 3S 4S 5S 6S 7S 8S 9S TS JS QS KS AS", "K6"),
        ("group 7D 7H", "K7"),
        ("group 7D 7D 7H", "K7"),
        ("group 7S 7H 8D", "K7"),
        ("group 7S 7H 7D 7C *", "K7"),
        ("group 7H 7S 7D", "K7"),
        ("group 7S * 7D", "K7"),
        ("run * * *", "K8"),
        ("group * * *", "K8"),
    ],
)
def test_no_meld(text: str, rule: str) -> None:
    assert why_not(text) == rule


def test_ace_high() -> None:
    check(meld("run QC KC AC"), HIGH)
    check(meld("run * * AC"), HIGH)
    check(meld("run AC * *"), HIGH)
    assert run_low(meld("run * * AC"), HIGH) == 12
    assert run_low(meld("run AC * *"), HIGH) == 1
    assert why_not("run KC AC 2C", HIGH) == "K5"
    assert why_not("run * AC *", HIGH) == "K5"
    assert why_not("run KC AC *", HIGH) == "K5"


def test_two_naturals() -> None:
    assert why_not("run 4C * *", TWO) == "K8"
    assert why_not("group 4C * *", TWO) == "K8"
    check(meld("run 4C * * 7C"), TWO)
    check(meld("group 4H 4C * *"), TWO)


def test_a_wild_rank_is_not_natural() -> None:
    """H11, D3: it stands for itself as a joker does."""
    fives = MeldRules("5")
    check(meld("run 4C 5C 6C"), fives)
    check(meld("run 5C 6C 7C"), fives)
    assert why_not("group 5S 5H 5D", fives) == "K8"
    assert why_not("run 5C * 5C", fives) == "K8"
    assert stands_for(meld("run 5D 6C 5C"), fives) == cards("5C 6C 7C")


def test_stands_for() -> None:
    assert stands_for(meld("run * 2C * 4C"), PLAIN) == cards("AC 2C 3C 4C")
    assert stands_for(meld("run * * AC"), HIGH) == cards("QC KC AC")
    assert stands_for(meld("group 7S 7D *"), PLAIN) == cards("7S 7D *")


@by_rules
def test_check_is_the_slow_way(rules: MeldRules) -> None:
    """Random sequences, most of them near to a meld."""
    random, seen = Random(3), Counter[bool]()
    for _ in range(6000):
        length, suit = random.randint(2, 5), random.choice(SUITS)
        low = random.randrange(13)
        run = [Card(ORDER[(low + i) % 13] + suit) for i in range(length)]
        group = [Card(ORDER[low] + s) for s in random.sample(SUITS, min(length, 4))]
        for kind, held in ((Kind.RUN, run), (Kind.GROUP, list(sorted_hand(group)))):
            for place in range(len(held)):
                if random.random() < 0.25:
                    held[place] = random.choice([JOKER, JOKER, random.choice(FULL_PACK)])
            if kind is Kind.GROUP:
                held.sort(key=lambda card: (is_wild(card, rules), sorted_places(card)))
            slow = simple_rummy.is_run if kind is Kind.RUN else simple_rummy.is_group
            expected = slow(held, plain(rules))
            rule = refusal_of(Meld(kind, tuple(held)), rules)
            assert rule in ("", "K5", "K6", "K7", "K8")
            assert (rule == "") == expected, (kind, held)
            seen[expected] += 1
    assert min(seen.values()) > 500


def refusal_of(found: Meld, rules: MeldRules) -> str:
    try:
        check(found, rules)
    except Illegal as refusal:
        return refusal.rule
    return ""


def sorted_places(card: Card) -> tuple[int, int]:
    return (9, 0) if card == JOKER else (SUITS.index(card[1]), ORDER.index(card[0]))


# ---------------------------------------------------------------- lay-offs and swaps


@pytest.mark.parametrize(
    ("text", "card", "end", "after"),
    [
        ("run 4C 5C 6C", "3C", None, "run 3C 4C 5C 6C"),
        ("run 4C 5C 6C", "7C", None, "run 4C 5C 6C 7C"),
        ("run 4C 5C 6C", "*", End.LOW, "run * 4C 5C 6C"),
        ("run 4C 5C 6C", "*", End.HIGH, "run 4C 5C 6C *"),
        ("run AC 2C 3C", "*", End.HIGH, "run AC 2C 3C *"),
        ("group 7S 7D *", "7H", None, "group 7S 7H 7D *"),
        ("group 7S 7D 7C", "*", None, "group 7S 7D 7C *"),
    ],
)
def test_laid_off(text: str, card: str, end: End | None, after: str) -> None:
    assert laid_off(meld(text), Card(card), end, PLAIN) == meld(after)


@pytest.mark.parametrize(
    ("text", "card", "end", "rule"),
    [
        ("run 4C 5C 6C", "8C", None, "K6"),
        ("run 4C 5C 6C", "3D", None, "K6"),
        ("run AC 2C 3C", "KC", None, "K6"),
        ("run QC KC *", "AC", None, "K5"),
        ("run AC 2C 3C", "*", End.LOW, "K9"),
        ("run 4C 5C 6C", "*", None, "K9"),
        ("run 4C 5C 6C", "3C", End.LOW, "K9"),
        ("run AS 2S 3S 4S 5S 6S 7S 8S 9S TS JS QS KS", "*", End.HIGH, "K17"),
        ("group 7S 7H 7D 7C", "*", None, "K17"),
        ("group 7S 7H 7D *", "7C", None, "K17"),
        ("group 7S 7H 7D", "7S", None, "K7"),
        ("group 7S 7H 7D", "8C", None, "K7"),
        ("group 7S 7H 7D", "*", End.LOW, "K9"),
    ],
)
def test_not_laid_off(text: str, card: str, end: End | None, rule: str) -> None:
    with pytest.raises(Illegal) as caught:
        laid_off(meld(text), Card(card), end, PLAIN)
    assert caught.value.rule == rule


def test_an_ace_that_fits_both_ends_says_which() -> None:
    run = meld("run 2S 3S 4S 5S 6S 7S 8S 9S TS JS QS KS")
    assert ends_for(run, Card("AS"), PLAIN) == (None,)
    assert ends_for(run, Card("AS"), HIGH) == (End.LOW, End.HIGH)
    assert laid_off(run, Card("AS"), End.HIGH, HIGH).cards[-1] == "AS"
    assert laid_off(run, Card("AS"), End.LOW, HIGH).cards[0] == "AS"
    assert ends_for(meld("run QS KS AS"), Card("*"), HIGH) == (End.LOW,)
    assert laid_off(meld("run JS QS KS"), Card("AS"), None, HIGH) == meld("run JS QS KS AS")


def test_swapped() -> None:
    assert swapped(meld("run 2C * 4C"), Card("3C"), PLAIN) == (meld("run 2C 3C 4C"), JOKER)
    assert swapped(meld("run 2C * *"), Card("4C"), PLAIN) == (meld("run 2C * 4C"), JOKER)
    group = meld("group 7D * *")
    assert swapped(group, Card("7S"), PLAIN) == (meld("group 7S 7D *"), JOKER)
    high = meld("run QC KC *")
    assert swapped(high, Card("AC"), HIGH) == (meld("run QC KC AC"), JOKER)
    fives = MeldRules("5")
    assert swapped(meld("run 2C 5H 4C"), Card("3C"), fives) == (meld("run 2C 3C 4C"), Card("5H"))


@pytest.mark.parametrize("text", ["run 2C * 4C", "run 2C 3C 4C", "group 2S 2C *", "group 2S 2H 2C"])
@pytest.mark.parametrize("card", ["3D", "5C", "2C", "*", "3S"])
def test_not_swapped(text: str, card: str) -> None:
    assert swap_place(meld(text), Card(card), PLAIN) is None
    with pytest.raises(Illegal) as caught:
        swapped(meld(text), Card(card), PLAIN)
    assert caught.value.rule == "K10"


# ---------------------------------------------------------------- the melds in a hand


def hands(most: int) -> st.SearchStrategy[list[Card]]:
    """Mostly of few ranks or suits, so that much fits; jokers at either price."""
    tight = [card for card in PACK if card == JOKER or card[0] in "A23QK"]
    clubs = [card for card in PACK if card == JOKER or card[1] in "CD"]
    pools = [st.permutations(pool) for pool in (tight, clubs, list(PACK))]
    sizes = st.integers(0, most)
    return st.tuples(st.one_of(pools), sizes).map(lambda both: list(both[0][: both[1]]))


@settings(max_examples=150, deadline=None)
@given(hands(9), st.sampled_from([PLAIN, HIGH, TWO]))
def test_single_melds(hand: list[Card], rules: MeldRules) -> None:
    found = list(single_melds(hand, rules))
    assert len(set(found)) == len(found)
    assert {spelt(each) for each in found} == simple_rummy.single_melds(hand, plain(rules))
    for each in found:
        check(each, rules)


@settings(max_examples=150, deadline=None)
@given(hands(8), st.sampled_from([PLAIN, HIGH, TWO]))
def test_openings(hand: list[Card], rules: MeldRules) -> None:
    """Every multiset of single melds for which the hand has the cards, once."""
    found = [tuple(sorted(map(spelt, each))) for each in openings(hand, rules)]
    assert len(set(found)) == len(found)
    singles = sorted(simple_rummy.single_melds(hand, plain(rules)))
    assert set(found) == {tuple(each) for each in sets(singles, 0, tuple(hand)) if each}


def sets(singles: list[str], first: int, hand: tuple[str, ...]) -> list[list[str]]:
    found: list[list[str]] = [[]]
    for place in range(first, len(singles)):
        left = simple_rummy.less(hand, simple_rummy.cut(singles[place].partition(" ")[2]))
        if left is not None:
            found += [[singles[place], *more] for more in sets(singles, place, left)]
    return found


def test_melds_are_found_lazily() -> None:
    """The first of very many openings comes at once."""
    hand = cards("AC 2C 3C 4C 5C 6C 7C 8C 9C TC * * * *")
    assert next(openings(hand, PLAIN)) == (meld("run AC 2C 3C"),)
    assert next(single_melds(hand, PLAIN)) == meld("run AC 2C 3C")


def test_wild_ranks_are_used_in_order() -> None:
    found = list(single_melds(cards("KS KH 5C 2D *"), MeldRules("25")))
    assert meld("group KS KH 2D") in found
    assert meld("group KS KH 2D 5C") in found
    for each in found:
        check(each, MeldRules("25"))


def test_how_many_there_are() -> None:
    """Three jokers in a hand of fourteen: still few enough to list."""
    random = Random(8)
    most = 0
    for _ in range(200):
        hand = [*random.sample(FULL_PACK * 2, 11), *[JOKER] * 3]
        most = max(most, sum(1 for _ in single_melds(hand, PLAIN)))
    assert 100 < most < 2000


# ---------------------------------------------------------------- the best use of a hand


def check_partition(hand: list[Card], rules: MeldRules, ace: int, best: Partition) -> None:
    for each in best.melds:
        check(each, rules)
    used = [card for each in best.melds for card in each.cards]
    assert Counter([*used, *best.left]) == Counter(hand)
    assert best.deadwood == sum(value(card, rules, ace) for card in best.left)


@settings(max_examples=150, deadline=None)
@given(hands(9), st.sampled_from(list(RULES.values())), st.sampled_from([1, 10]))
def test_best_partition(hand: list[Card], rules: MeldRules, ace: int) -> None:
    best = best_partition(hand, rules, ace)
    check_partition(hand, rules, ace, best)
    assert best.deadwood == simple_rummy.least_deadwood(hand, plain(rules), ace)


@settings(max_examples=60, deadline=None)
@given(hands(8), st.sampled_from(list(RULES.values())))
def test_after_discards(hand: list[Card], rules: MeldRules) -> None:
    found = after_discards(hand, rules, 1)
    assert set(found) == set(hand)
    for card, least in found.items():
        left = list(hand)
        left.remove(card)
        assert least == simple_rummy.least_deadwood(left, plain(rules), 1)
        assert goes_out(hand, card, rules) == (least == 0)


@by_rules
def test_large_hands(rules: MeldRules) -> None:
    """Up to fourteen cards: what is found is a partition, and no single change makes it better."""
    random = Random(5)
    for _ in range(300):
        hand = random.sample(PACK, random.randint(10, 14))
        best = best_partition(hand, rules, 1)
        check_partition(hand, rules, 1, best)
        more = best_partition([*hand, JOKER], rules, 1)
        assert more.deadwood <= best.deadwood + 25
        for each in openings(list(best.left), rules):
            raise AssertionError(f"{each} is left in {best}")
        without_one = best_partition(hand[1:], rules, 1)
        assert best.deadwood <= without_one.deadwood + value(hand[0], rules, 1)


@pytest.mark.parametrize("wild", range(9))
def test_eleven_of_one_suit(wild: int) -> None:
    """Adversarial for the search: everything connects, and the slow way agrees."""
    random = Random(wild)
    for _ in range(2):
        suited = random.sample([Card(rank + "C") for rank in ORDER] * 2, 11 - wild)
        hand = [*suited, *[JOKER] * wild]
        for rules in (PLAIN, HIGH, TWO):
            best = best_partition(hand, rules, 1)
            check_partition(hand, rules, 1, best)
            assert best.deadwood == simple_rummy.least_deadwood(hand, plain(rules), 1)


def test_a_long_run_with_a_wild_middle() -> None:
    """Longer than the search tries: it falls into two."""
    hand = cards("3C * * * * * 9C")
    best = best_partition(hand, PLAIN, 1)
    assert best.deadwood == 0
    check_partition(list(hand), PLAIN, 1, best)
    long_one = best_partition(hand, TWO, 1)
    assert (long_one.deadwood, len(long_one.melds)) == (0, 1)


def test_wild_cards_left_over() -> None:
    """A group of four takes none, a joker alone is 25, and without natural cards nothing melds."""
    assert best_partition(cards("7S 7H 7D 7C *"), PLAIN, 1).deadwood == 7
    assert best_partition(cards("KS KH KD KC *"), PLAIN, 1).deadwood == 10
    assert best_partition(cards("KS KH KD * *"), PLAIN, 1).deadwood == 10
    assert best_partition(cards("KS KH KD * * *"), PLAIN, 1).deadwood == 0
    assert best_partition(cards("KS KH KD * * *"), TWO, 1).deadwood == 25 + 10
    assert best_partition(cards("* * * *"), PLAIN, 1).deadwood == 100
    assert best_partition(cards("KS * "), PLAIN, 1).deadwood == 35
    assert best_partition((), PLAIN, 1) == Partition((), (), 0)


def test_values() -> None:
    assert [value(Card(c), PLAIN, 10) for c in ("AS", "KS", "QS", "JS", "TS", "9S", "2S", "*")] == [
        *(10, 10, 10, 10, 10, 9, 2, 25)
    ]
    assert value(Card("AS"), PLAIN, 1) == 1
    assert value(Card("2S"), MeldRules("2"), 1) == 25
