"""Declarations: what a hand holds, what beats what, who sees them and when."""

from __future__ import annotations

from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from kafeneio_games.belote_declarations import DeclarationRules, of_hand, scoring_side, strength
from kafeneio_games.belote_play import State
from kafeneio_games.cards import SHORT_PACK, Card
from kafeneio_games.declarations import Declaration, Kind
from kafeneio_games.trick_play import Announced
from kafeneio_games.trick_view import Contract, Declared
from kafeneio_games.tricks import sorted_hand

from tests.games import simple_belote
from tests.games.belote_tables import (
    NAMES,
    SEATS,
    AnyBelote,
    E,
    N,
    S,
    W,
    cards,
    contract_for,
    filled,
    game_of,
    line,
    refused,
    spelt,
    stacked,
)

MAISON = DeclarationRules()
OFFICIAL = DeclarationRules(tie="trump", overlap=False, own_scale=True)


def found(text: str, rules: DeclarationRules = MAISON, trump: str = "H") -> list[tuple[str, int]]:
    hand = sorted_hand(cards(text))
    return [(str(one.kind), one.points) for one in of_hand(hand, trump, rules)]


# ---------------------------------------------------------------- what a hand holds


def test_a24_a_long_run_is_one_hundred() -> None:
    for length in (5, 6, 7, 8):
        run = " ".join(rank + "S" for rank in "789TJQKA"[:length])
        assert found(run) == [("hundred", 100)]
        assert found(run, OFFICIAL) == [("hundred", 100)]


def test_a7_the_best_set_without_overlap() -> None:
    hand = "9S TS JS QS KS QH QD QC"
    assert found(hand, OFFICIAL) == [("carre", 100), ("tierce", 20)]
    assert found(hand) == [("carre", 100), ("hundred", 100)]


def test_n6_one_card_in_two() -> None:
    """The carre is kept, whatever the run is worth."""
    hand = "TS JS QS QH QD QC 7C 8C"
    assert found(hand) == [("carre", 100), ("tierce", 20)]
    assert found(hand, OFFICIAL) == [("carre", 100)]
    at_the_end = "TS JS QS KS KH KD KC 7C"
    assert found(at_the_end, OFFICIAL) == [("carre", 100), ("tierce", 20)]
    in_the_middle = "9S TS JS QS JH JD JC 7C"
    assert found(in_the_middle, OFFICIAL) == [("carre", 200)]
    two = "9S 9H 9D 9C TS TH TD TC"
    assert found(two, OFFICIAL) == found(two) == [("carre", 150), ("carre", 100)]


def test_b30_sevens_and_eights_are_nothing() -> None:
    assert found("7S 7H 7D 7C 8S 8H 8D 8C") == []
    assert found("7S 7H 7D 7C 8S 9S TD JD", OFFICIAL) == [("tierce", 20)]


def test_n4_the_scale_without_trumps() -> None:
    worth = {}
    for rules in (MAISON, OFFICIAL):
        for rank in "ATKQJ9":
            four = " ".join(rank + suit for suit in "SHDC")
            ((_, worth[rules, rank]),) = found(four, rules, "")
    assert [worth[MAISON, rank] for rank in "ATKQJ9"] == [100, 100, 100, 100, 200, 150]
    assert [worth[OFFICIAL, rank] for rank in "ATKQJ9"] == [200, 150, 100, 100, 100, 100]
    assert found("JS JH JD JC", OFFICIAL, "H") == [("carre", 200)]


@pytest.mark.parametrize(
    ("rules", "trump", "order"),
    [(MAISON, "H", "J9ATKQ"), (MAISON, "", "J9ATKQ"), (OFFICIAL, "", "ATKQJ9")],
)
def test_a9_carres_in_order(rules: DeclarationRules, trump: str, order: str) -> None:
    fours = [
        of_hand(tuple(Card(rank + suit) for suit in "SHDC"), trump, rules)[0] for rank in order
    ]
    worth = [strength(four, rules.scale(trump)) for four in fours]
    assert worth == sorted(worth, reverse=True)
    assert len(set(worth)) == 6


def one(text: str) -> Declaration:
    hand = cards(text)
    (only,) = of_hand(hand, "H", MAISON)
    return only


def test_a8_the_top_card_decides_between_hundreds() -> None:
    scale = MAISON.scale("H")
    five, six = one("TS JS QS KS AS"), one("8C 9C TC JC QC KC")
    assert strength(five, scale) > strength(six, scale)


def test_b14_kind_before_height() -> None:
    scale = MAISON.scale("H")
    rising = ["QS KS AS", "7S 8S 9S TS", "7S 8S 9S TS JS", "QS QH QD QC", "JS JH JD JC"]
    worth = [strength(one(text), scale) for text in rising]
    assert worth == sorted(worth)


def side(rules: DeclarationRules, trump: str, taker: int, **hands: str) -> int | None:
    announced = tuple(
        Announced(SEATS[NAMES.index(name)], of_hand(sorted_hand(cards(text)), trump, rules))
        for name, text in hands.items()
    )
    return scoring_side(announced, Contract(SEATS[taker], taker, 0, trump), rules)


def test_a2_a_tie_goes_to_the_taker_in_maison() -> None:
    for taker in (0, 1):
        for trump in "SHDC":
            assert side(MAISON, trump, taker, S="9H TH JH", E="9S TS JS") == taker


def test_n5_a_tie_goes_to_the_trump_in_official() -> None:
    for taker in (0, 1):
        assert side(OFFICIAL, "S", taker, S="9H TH JH", E="9S TS JS") == 1
        assert side(OFFICIAL, "H", taker, S="9H TH JH", E="9S TS JS") == 0
        for trump in ("C", "D", ""):
            assert side(OFFICIAL, trump, taker, S="9H TH JH", E="9S TS JS") is None


def test_n5_nobody_scores_lower_ones_either() -> None:
    assert side(OFFICIAL, "C", 0, S="QH KH AH", E="QS KS AS", N="7C 8C 9C", W="TD JD QD") is None


def test_a10_no_tie_within_a_side() -> None:
    assert side(OFFICIAL, "C", 1, N="QS KS AS", S="QD KD AD", E="7D 8D 9D") == 0
    # And of its two equal ones the trump counts against the other side's.
    assert side(OFFICIAL, "D", 1, N="QS KS AS", S="QD KD AD", E="QH KH AH") == 0


def hands_of_eight() -> st.SearchStrategy[tuple[Card, ...]]:
    """Any hands, and hands of few suits and ranks, which hold much."""
    some = [
        st.permutations(SHORT_PACK),
        st.permutations([card for card in SHORT_PACK if card[0] in "QKAJT"]),
        st.permutations([card for card in SHORT_PACK if card[1] == "S" or card[0] in "JT"]),
        st.permutations([card for card in SHORT_PACK if card[1] in "SH"]),
    ]
    return st.one_of(some).map(lambda pack: sorted_hand(pack[:8]))


@given(hand=hands_of_eight(), overlap=st.booleans(), own=st.booleans(), trump=st.sampled_from("H "))
@settings(max_examples=600, deadline=None)
def test_as_the_plain_way_finds_them(
    hand: tuple[Card, ...], overlap: bool, own: bool, trump: str
) -> None:
    rules = DeclarationRules(overlap=overlap, own_scale=own)
    trump = trump.strip()
    scale = "no_trump" if own and not trump else "trump"
    expected = simple_belote.of_hand(hand, scale, overlap)
    mine = of_hand(hand, trump, rules)
    assert [(str(x.kind), x.points) for x in mine] == [(k, p) for k, _, p in expected]
    assert {frozenset(x.cards) for x in mine} == {cards_ for _, cards_, _ in expected}


# ---------------------------------------------------------------- worked examples, played


def quiet(hands: dict[str, str]) -> tuple[tuple[Card, ...], ...]:
    """Those hands, and others that hold no declaration."""
    random = Random(3)
    given = {card for text in hands.values() for card in cards(text)}
    left = [card for card in SHORT_PACK if card not in given]
    others = [name for name in NAMES if name not in hands]
    while True:
        random.shuffle(left)
        full = hands | {name: " ".join(left[n * 8 : n * 8 + 8]) for n, name in enumerate(others)}
        if not any(simple_belote.candidates(cards(full[name]), "trump") for name in others):
            return filled(full)


def into_trick_two(game: AnyBelote, state: State) -> State:
    """Five cards played, each the first that is legal."""
    for _ in range(5):
        seat = game.prompted(state)
        assert seat is not None
        state = game.apply(state, seat, next(game.legal(state, seat)))
    return state


EXAMPLES = {
    "a fifty beats a tierce": (
        "belote maison C S",
        {"S": "7H 8H 9H AS TC KD 7C 8D", "W": "TS JS QS KS 9C JD 7S AD"},
        {"S": 0, "W": 50},
    ),
    "four jacks": (
        "belote maison H E",
        {"N": "JS JH JD JC 7H 8C AD QS"},
        {"N": 200},
    ),
    "equal tierces, maison: the taker's": (
        "belote maison S S",
        {"S": "9H TH JH 7C AD KC 8D QD", "E": "9S TS JS 7D AC 8C KH QC"},
        {"S": 20, "E": 0},
    ),
    "equal tierces, official: the trumps": (
        "belote official S S",
        {"S": "9H TH JH 7C AD KC 8D QD", "E": "9S TS JS 7D AC 8C KH QC"},
        {"S": 0, "E": 20},
    ),
    "four aces without trumps, maison": (
        "belote-no-trump maison - W",
        {"W": "AS AH AD AC 7H 8C 9D QS"},
        {"W": 100},
    ),
    "four aces without trumps, official": (
        "belote-no-trump official - W",
        {"W": "AS AH AD AC 7H 8C 9D QS"},
        {"W": 200},
    ),
}


@pytest.mark.parametrize("name", EXAMPLES)
def test_worked_example(name: str) -> None:
    """Dealt, taken and played into the second trick: who scores how much, by the table's view."""
    words, hands, expected = EXAMPLES[name]
    variant, rule_set, trump, taker = words.split()
    for kind in {variant, variant if trump == "-" else "coinche"}:
        game = game_of(kind, rule_set)
        seat = SEATS[NAMES.index(taker)]
        dealt = quiet(hands)
        turned = next((card for card in dealt[seat] if card[1] == trump), dealt[seat][0])
        state = stacked(game, dealt, seat, turned if kind == "belote" else None)
        state = into_trick_two(game, contract_for(game, state, trump, seat))
        shown = game.view(state, None).declarations
        scored = {NAMES[one.seat]: one.points for one in shown if one.scored}
        losing = {NAMES[one.seat]: 0 for one in shown if not one.scored}
        assert scored | losing == expected


# ---------------------------------------------------------------- who sees them, and when

HANDS = {
    "N": "7S 8S 9S AH TC KD 7C 8D",  # a tierce
    "E": "TS JS QS KS 9C JD 7H AD",  # a fifty
    "S": "QH KH TH AS 7D QC 8C TD",
    "W": "8H 9H JH 9D QD AC JC KC",
}


def started(game: AnyBelote) -> State:
    state = stacked(game, filled(HANDS), E, Card("7H") if game.name == "belote@1" else None)
    return contract_for(game, state, "C" if game.name != "belote@1" else "H")


def declared(game: AnyBelote, state: State, name: str) -> tuple[Declared, ...]:
    seat = SEATS[NAMES.index(name)] if name != "-" else None
    return game.view(state, seat).declarations


FIFTY, TIERCE = cards("TS JS QS KS"), cards("7S 8S 9S")


@pytest.mark.parametrize("variant", ["belote", "belote-no-trump", "coinche"])
def test_b13_kinds_then_cards(variant: str) -> None:
    game = game_of(variant)
    state = line(game, started(game), "AD")
    told = Declared(E, Kind.FIFTY, 0, (), None)
    for name in "NSW-":
        assert declared(game, state, name) == (told,)
    assert declared(game, state, "E") == (Declared(E, Kind.FIFTY, 50, FIFTY, None),)
    state = line(game, state, "7D, 9D, 8D")  # E leads again
    both = (told, Declared(N, Kind.TIERCE, 0, (), None))
    assert declared(game, state, "S") == both, "not before the second trick's first card"
    assert declared(game, state, "N") == (told, Declared(N, Kind.TIERCE, 20, TIERCE, None))
    state = line(game, state, "JD")
    won = Declared(E, Kind.FIFTY, 50, FIFTY, True)
    for name in "SEW-":
        assert declared(game, state, name) == (won, Declared(N, Kind.TIERCE, 0, (), False))
    assert declared(game, state, "N") == (won, Declared(N, Kind.TIERCE, 20, TIERCE, False))
    while (seat := game.prompted(state)) is not None:
        state = game.apply(state, seat, next(game.legal(state, seat)))
    assert declared(game, state, "-")[1] == Declared(N, Kind.TIERCE, 0, (), False), "never shown"


@pytest.mark.parametrize("variant", ["belote", "belote-no-trump", "coinche"])
def test_a22_by_the_player(variant: str) -> None:
    game = game_of(variant, declare="by_player")
    state = started(game)
    assert game.view(state, E).can_declare
    assert not game.view(state, N).can_declare
    assert spelt(game, state, E)[0] == "declare"
    silent = line(game, state, "AD, 7D, 9D, 8D, JD")
    assert declared(game, silent, "E") == ()
    assert refused(game, line(game, state, "AD, 7D, 9D, 8D"), E, "declare") == "B13"
    for seat in (N, S, W):
        assert refused(game, state, seat, "declare") == "B2"
    said = line(game, state, "declare")
    assert game.mid_turn(said)
    assert not game.mid_turn(state)
    assert (game.prompted(said), game.view(said, E).can_declare) == (E, False)
    assert "declare" not in spelt(game, said, E)
    assert refused(game, said, E, "declare") == "B13"
    assert declared(game, said, "S") == (Declared(E, Kind.FIFTY, 0, (), None),)
    state = line(game, said, "AD")
    assert not game.mid_turn(state)
    assert refused(game, state, S, "declare") == "B13", "S holds none"
    assert "declare" not in spelt(game, state, S)


def test_a22_only_what_was_said_counts() -> None:
    """E keeps silent, so that N's tierce scores."""
    game = game_of("coinche", declare="by_player")
    state = line(game, started(game), "AD, 7D, 9D, declare, 8D, JD")
    assert declared(game, state, "-") == (Declared(N, Kind.TIERCE, 20, TIERCE, True),)


def test_automatic_tables_have_nothing_to_say() -> None:
    game = game_of("coinche")
    assert refused(game, started(game), E, "declare") == "A22"
    assert "declare" not in spelt(game, started(game), E)


@pytest.mark.parametrize("declare", ["automatic", "by_player"])
def test_a23_without_declarations(declare: str) -> None:
    game = game_of("belote", declarations="no", declare=declare)
    state = started(game)
    assert refused(game, state, E, "declare") == "A23"
    assert "declare" not in spelt(game, state, E)
    state = line(game, state, "AD, 7D, 9D, 8D, JD")
    assert declared(game, state, "-") == ()


def test_declarations_are_announced_in_order_of_play() -> None:
    game = game_of("coinche")
    state = line(game, contract_for(game, stacked(game, filled(HANDS)), "C", N), "7H, TH, 9H, AH")
    assert [(one.seat, one.kind) for one in declared(game, state, "-")] == [
        (E, Kind.FIFTY),
        (N, Kind.TIERCE),
    ]
    assert S not in [one.seat for one in declared(game, state, "S")]
