"""The nine rows on which the two sets of rules differ, one by one: each is an option by itself.

Every test takes one row from the other set, in a game of the first: what that row says changes,
and `test_one_row_changes_one_thing` sees that nothing else does.
"""

from __future__ import annotations

from dataclasses import fields, is_dataclass
from itertools import product
from random import Random

import pytest
from kafeneio_games.belote import Belote
from kafeneio_games.belote_no_trump import BeloteNoTrump
from kafeneio_games.belote_play import State
from kafeneio_games.belote_scoring import Counted, classic_marks, coinche_marks
from kafeneio_games.cards import SHORT_PACK
from kafeneio_games.coinche import Coinche
from kafeneio_games.registry import BadTargetError, build, editions, variant
from kafeneio_games.trick_view import Stage

from tests.games.belote_tables import (
    GAMES,
    SEATS,
    AnyBelote,
    E,
    N,
    at_random,
    contract_for,
    filled,
    finish,
    game_of,
    last,
    line,
    refused,
    spelt,
    stacked,
)

ROWS = {
    "N1": ("coinche_round", "no", "yes"),
    "N2": ("doubled_capot_base", "160", "250"),
    "N3": ("nt_ace", "11", "19"),
    "N4": ("nt_carre_scale", "trump", "no_trump"),
    "N5": ("decl_tie", "taker", "trump"),
    "N6": ("decl_overlap", "yes", "no"),
    "N7": ("decl_transfer", "no", "yes"),
    "N8": ("coinche_undertrump", "yes", "no"),
    "N9": ("contra_any_time", "yes", "no"),
}
OF = {"N1": ("coinche",), "N2": ("coinche",), "N3": ("belote-no-trump",)}
OF |= {"N4": ("belote-no-trump",), "N8": ("coinche",), "N9": ("coinche",)}

# Each suit in one hand: whoever has the trumps takes all tricks, whatever is played.
SUITS = {
    "N": "7S 8S 9S TS JS QS KS AS",
    "E": "7H 8H 9H TH JH QH KH AH",
    "S": "7D 8D 9D TD JD QD KD AD",
    "W": "7C 8C 9C TC JC QC KC AC",
}


def pair_of(row: str, kind: str) -> tuple[AnyBelote, AnyBelote]:
    """Games that are Maison but for one row, which is Maison's, then Official's."""
    name, maison, official = ROWS[row]
    return game_of(kind, **{name: maison}), game_of(kind, **{name: official})


def marks(state: State) -> tuple[int, ...]:
    assert state.result is not None
    return state.result.points


def total(state: State) -> int:
    assert state.counted is not None
    return sum(state.counted.cards)


def test_n1_score_of_coinche() -> None:
    exact, rounded = pair_of("N1", "coinche")
    assert isinstance(exact, Coinche)
    assert isinstance(rounded, Coinche)
    counted = Counted(0, (85, 77), (4, 4), (0, 0), (0, 0))
    assert coinche_marks(counted, 80, False, 1, exact.marks).points == (165, 77)
    assert coinche_marks(counted, 80, False, 1, rounded.marks).points == (170, 80)
    # 89 for 90 falls, though 89 rounds to 90; 94 rounds down, 95 up (A21).
    fell = Counted(0, (89, 73), (4, 4), (0, 0), (0, 0))
    assert coinche_marks(fell, 90, False, 1, rounded.marks).points == (0, 250)
    for cards, expected in (((94, 68), (170, 70)), ((95, 67), (180, 70))):
        made = Counted(0, cards, (4, 4), (0, 0), (0, 0))
        assert coinche_marks(made, 80, False, 1, rounded.marks).points == expected


def test_n2_base_of_a_doubled_capot() -> None:
    """Hundreds of E and W, 200, and belote: (base + 80 + 20 + 200) x 2."""
    for game, base in zip(pair_of("N2", "coinche"), (160, 250), strict=True):
        state = line(game, stacked(game, filled(SUITS)), "E 80H, S contra 1, E pass, W pass")
        assert marks(finish(game, state)) == (0, (base + 80 + 20 + 200) * 2)
        state = line(game, stacked(game, filled(SUITS)), "E capotH, S contra 1, E recontra")
        assert marks(finish(game, state)) == (0, (base + 250 + 20 + 200) * 4)
        state = line(game, stacked(game, filled(SUITS)), "E 80H, pass, pass, pass")
        assert marks(finish(game, state)) == (0, 252 + 80 + 20 + 200), "not doubled"


def test_n3_the_ace() -> None:
    for game, cards in zip(pair_of("N3", "belote-no-trump"), (130, 162), strict=True):
        played = [last(at_random(game, Random(seed))) for seed in range(60)]
        totals = {total(state) for state in played if state.counted}
        assert totals - {cards + 90} == {cards}
        state = finish(game, line(game, stacked(game, filled(SUITS)), "take"))
        assert total(state) == cards + 90


def test_n4_carres_without_trumps() -> None:
    hands = filled({"W": "AS AH AD AC 7H 8C 9D QS", "N": "JS JH JD JC 7S 8S KH TD"})
    for game, side, worth in zip(pair_of("N4", "belote-no-trump"), (0, 1), (200, 200), strict=True):
        state = finish(game, line(game, stacked(game, hands), "take"))
        assert state.counted is not None
        assert state.counted.won[side] >= worth
        assert state.counted.won[1 - side] == 0


def test_n5_a_tie_of_declarations() -> None:
    hands = filled(
        {
            "S": "9H TH JH 7C AD KC 8D QD",
            "E": "9S TS JS 7D AC 8C KH QC",
            "N": "7S QS 8H AH 9D KD TC JC",
            "W": "8S KS AS 7H QH TD JD 9C",
        }
    )
    for game, side in zip(pair_of("N5", "coinche"), (0, 1), strict=True):
        state = contract_for(game, stacked(game, hands), "S", SEATS[2])
        state = finish(game, state)
        assert state.counted is not None
        assert state.counted.won[side] == 20
        assert state.counted.won[1 - side] == 0


def test_n6_one_card_in_two() -> None:
    hands = filled(
        {
            "E": "9S TS JS QS KS QH QD QC",
            "N": "7S 8H 9D TC KH AD JC 7C",
            "S": "8S 9H TD JH KD AC 7D 8C",
            "W": "AS 7H 8D 9C TH JD KC AH",
        }
    )
    for game, worth in zip(pair_of("N6", "coinche"), (200, 120), strict=True):
        state = finish(game, contract_for(game, stacked(game, hands), "H", E))
        assert state.counted is not None
        assert state.counted.won == (0, worth)


def test_n7_declarations_after_a_fall_or_a_capot() -> None:
    fell = Counted(0, (90, 72), (5, 3), (0, 0), (20, 0))
    taken = Counted(0, (252, 0), (8, 0), (0, 20), (0, 50))
    lost = Counted(0, (60, 102), (3, 5), (20, 0), (20, 0))
    doubled = Counted(0, (130, 32), (6, 2), (0, 20), (0, 20))
    stays, moves = pair_of("N7", "coinche")
    assert isinstance(stays, Coinche)
    assert isinstance(moves, Coinche)
    assert coinche_marks(fell, 120, False, 1, stays.marks).points == (20, 280)
    assert coinche_marks(fell, 120, False, 1, moves.marks).points == (0, 300)
    assert coinche_marks(fell, 120, False, 2, stays.marks).points == (20, 560)
    assert coinche_marks(fell, 120, False, 2, moves.marks).points == (0, 600)
    assert coinche_marks(taken, 120, False, 1, stays.marks).points == (372, 70)
    assert coinche_marks(taken, 120, False, 1, moves.marks).points == (422, 20)
    # A11: without a capot they move where the contract was doubled.
    assert coinche_marks(doubled, 100, False, 2, stays.marks).points == (520, 40)
    assert coinche_marks(doubled, 100, False, 2, moves.marks).points == (560, 20)
    assert coinche_marks(doubled, 100, False, 1, moves.marks).points == (230, 72)
    for kind in ("belote", "belote-no-trump"):
        keeps, gives = pair_of("N7", kind)
        assert isinstance(keeps, Belote | BeloteNoTrump)
        assert isinstance(gives, Belote | BeloteNoTrump)
        assert classic_marks(lost, keeps.transfer).points == (40, 162)
        assert classic_marks(lost, gives.transfer).points == (20, 182)
        assert classic_marks(taken, keeps.transfer).points == (252, 70)
        assert classic_marks(taken, gives.transfer).points == (302, 20)


def test_n8_overtrumping_in_coinche() -> None:
    """E leads clubs, S ruffs with the nine, W holds lower trumps only."""
    hands = filled(
        {
            "E": "AC KC 7D 8D 9D 7S 8S 9S",
            "S": "9H JH TD JD TS JS QS KS",
            "W": "7H 8H AD KD AS QD TH QH",
            "N": "AH KH 7C 8C 9C TC JC QC",
        }
    )
    must, free = pair_of("N8", "coinche")
    for game in (must, free):
        state = line(game, contract_for(game, stacked(game, hands), "H", SEATS[2]), "AC, 9H")
        if game is must:
            assert spelt(game, state, SEATS[3]) == ["7H", "8H", "TH", "QH"]
            assert refused(game, state, SEATS[3], "KD") == "B10"
        else:
            assert set(spelt(game, state, SEATS[3])) == set(hands[3])
    # With trumps there is no such choice: B10 holds in both sets of rules.
    for rule_set in ("maison", "official"):
        game = game_of("belote", rule_set)
        state = contract_for(game, stacked(game, hands, SEATS[2], hands[2][0]), "H", SEATS[2])
        assert spelt(game, line(game, state, "AC, 9H"), SEATS[3]) == ["7H", "8H", "TH", "QH"]


def test_n9_contra_out_of_turn() -> None:
    any_time, in_turn = pair_of("N9", "coinche")
    state = line(any_time, stacked(any_time, filled(SUITS)), "E 80H")
    assert any_time.to_act(state) == (SEATS[2], N)
    assert any_time.prompted(line(any_time, state, "N contra 1")) == E
    assert in_turn.to_act(state) == (SEATS[2],)
    assert refused(in_turn, state, N, "contra 1") == "N9"


# ---------------------------------------------------------------- all of them


def values(thing: object, prefix: str = "") -> dict[str, object]:
    """The fields of a game by name, those of its parts too."""
    found: dict[str, object] = {}
    assert is_dataclass(thing)
    for field in fields(thing):
        value = getattr(thing, field.name)
        inner = values(value, f"{field.name}.") if is_dataclass(value) else {field.name: value}
        found |= {prefix + name: item for name, item in inner.items()}
    return found


@pytest.mark.parametrize("row", ROWS)
def test_one_row_changes_one_thing(row: str) -> None:
    name, maison, official = ROWS[row]
    for kind in OF.get(row, GAMES):
        by_set = {rules: game_of(kind, rules) for rules in ("maison", "official")}
        own, changed = values(by_set["maison"]), values(game_of(kind, **{name: official}))
        differing = [key for key in own if own[key] != changed[key]]
        assert len(differing) == 1
        (key,) = differing
        assert changed[key] == values(by_set["official"])[key]
        assert game_of(kind, "official", **{name: maison}) != by_set["official"]
        assert game_of(kind, "official", **{name: official}) == by_set["official"]
        assert game_of(kind, "maison", **{name: maison}) == by_set["maison"]


def test_all_rows_taken_together_are_the_other_set() -> None:
    for kind in GAMES:
        rows = {ROWS[row][0]: ROWS[row][2] for row in ROWS if kind in OF.get(row, GAMES)}
        assert game_of(kind, "maison", **rows) == game_of(kind, "official")


def test_which_variant_has_which_row() -> None:
    for kind in GAMES:
        names = {option.name for option in variant(kind).options}
        for row, (name, *values_) in ROWS.items():
            assert (name in names) == (kind in OF.get(row, GAMES))
            for option in variant(kind).options:
                if option.name == name:
                    assert option.values == ("by_rule_set", *values_)
                    assert option.default == "by_rule_set"


def test_targets_and_defaults() -> None:
    for kind, usual in (("belote", 1000), ("belote-no-trump", 1000), ("coinche", 2000)):
        entry = variant(kind)
        assert (entry.payout, entry.hidden, entry.seats) == ("S1", True, 4)
        assert entry.sides == ((0, 2), (1, 3))
        assert entry.settled_target(None) == usual
        assert [n for n in range(3200) if entry.targets.take(n)] == [501, 1000, 1500, 2000, 3000]
        with pytest.raises(BadTargetError):
            build(kind, 1, {}, 500)
        defaults = {option.name: option.default for option in entry.options}
        assert (defaults["rule_set"], defaults["declarations"]) == ("maison", "yes")
        assert (defaults["declare"], defaults["no_win_on_belote_only"]) == (
            "automatic",
            "by_rule_set",
        )
    assert {v.id for v in editions()} >= set(GAMES)


COMBINATIONS = list(product(GAMES, ("maison", "official"), ("yes", "no")))


@pytest.mark.parametrize(("kind", "rule_set", "declarations"), COMBINATIONS)
def test_twelve_combinations_are_playable(kind: str, rule_set: str, declarations: str) -> None:
    game = game_of(kind, rule_set, declarations=declarations)
    endings = set()
    for seed in range(40):
        for state in at_random(game, Random(seed), SEATS[seed % 4]):
            all_cards_are_there(state)
        assert state.result is not None
        endings.add(state.result.ending)
        if declarations == "no" and state.counted:
            assert state.counted.won == (0, 0)
    assert len(COMBINATIONS) == 12
    assert "failed" in endings


def all_cards_are_there(state: State) -> None:
    if state.stage is Stage.DEAL:
        return
    held = [card for hand in state.hands for card in hand]
    if state.play is not None:
        held += [card for hand in state.play.hands for card in hand]
        held += [*state.play.trick, *state.play.played]
    assert sorted([*held, *state.turned, *state.rest]) == sorted(SHORT_PACK)
