"""Koum-kan's rules one by one, and its legal actions against the second generator."""

from __future__ import annotations

import inspect
import re
from random import Random

import pytest
from kafeneio_games import deadwood, koumkan, melds, rummy_hand, thanasis
from kafeneio_games.game import CHANCE, Illegal, Seat, Unreadable
from kafeneio_games.koumkan import Koumkan
from kafeneio_games.rulebook import rules_text
from kafeneio_games.rummy import show
from kafeneio_games.rummy_hand import PACK, Stage

from tests.games.rummy_tables import (
    SWITCHES,
    all_cards,
    cards,
    dealt,
    koumkan_state,
    meld,
    played,
    refused,
    spelt,
    stepped,
)

GAME = Koumkan()
switches = pytest.mark.parametrize("game", SWITCHES, ids=lambda game: repr(game)[7:])
NINES = "0 group 9S 9H 9C"


# ---------------------------------------------------------------- the deal and the draw


@pytest.mark.parametrize("players", [2, 3, 4])
def test_k35_the_deal(players: int) -> None:
    state = dealt(Koumkan(players), Random(players))
    assert [len(hand) for hand in state.hands] == [10] * players
    assert len(state.discards) == 1
    assert len(state.stock) == 108 - 10 * players - 1
    assert (state.stage, state.mover) == (Stage.DRAW, 0), "the dealer was the last seat (K3)"
    assert spelt(Koumkan(players), state) == {"draw", "take"}


def test_the_deal_skips_who_is_out() -> None:
    game = Koumkan(4)
    state = dealt(game, Random(1), (Seat(1), Seat(3)))
    assert [len(hand) for hand in state.hands] == [0, 10, 0, 10]
    assert state.mover == 1
    state = game.apply(state, Seat(1), game.read("draw"))
    state = game.apply(state, Seat(1), next(game.legal_of(state, Seat(1), "discards")))
    assert state.mover == 3


def test_a_wrong_deal() -> None:
    game = Koumkan()
    start = game.start(Seat(0), (Seat(0), Seat(1)))
    deal = rummy_hand.cut(start, PACK)
    text = game.write(deal)
    assert game.apply(start, CHANCE, deal).stage is Stage.DRAW
    for wrong, rule in (
        (text.replace("8H/9H/", "8H9H//"), "K35"),
        (text.replace("/9H/", "//9H"), "K35"),
        (text[:-1], "K2"),
        (text[:-1] + "2S", "K2"),
        (show(deal, Seat(0)), "K2"),
        (text.replace("deal ", "deal /"), "K35"),
    ):
        assert refused(game, start, wrong, CHANCE) == rule
    assert refused(game, start, text, Seat(0)) == "K34"
    assert refused(game, game.apply(start, CHANCE, deal), text, CHANCE) == "K34"


def test_start_wants_a_table() -> None:
    for players, first, live in ((1, 0, (0,)), (5, 0, (0, 1)), (2, 0, (0,)), (3, 2, (0, 1))):
        with pytest.raises(ValueError):
            Koumkan(players).start(Seat(first), tuple(map(Seat, live)))
    for live in ((1, 0), (0, 3), (0, 0)):
        with pytest.raises(ValueError):
            Koumkan(3).start(Seat(0), tuple(map(Seat, live)))


def test_k34_order_of_a_turn() -> None:
    state = koumkan_state("4C 5C 6C 9D|KH", drawn=False)
    for text in ("meld run 4C5C6C", "discard 9D", "lay 4C 1", "swap 4C 1"):
        assert refused(GAME, state, text) == "K34"
    drawn = played(GAME, state, "draw")
    assert refused(GAME, drawn, "draw") == refused(GAME, drawn, "take") == "K34"
    assert refused(GAME, drawn, "discard 4C", Seat(1)) == "K34"
    assert refused(GAME, drawn, "discard 4S") == "K34", "not in the hand"
    assert refused(GAME, drawn, "meld run 4S5S6S") == "K34"
    assert GAME.mid_turn(drawn)
    assert not GAME.mid_turn(state)
    assert GAME.prompted(state) == GAME.prompted(drawn) == 0


def test_k18_the_top_discard() -> None:
    state = koumkan_state("4C|KH", pile="KS QS", drawn=False)
    taken = played(GAME, state, "take")
    assert taken.hands[0] == cards("QS 4C")
    assert taken.discards == cards("KS")
    assert taken.taken == "QS"
    empty = koumkan_state("4C 5C|KH", pile="", drawn=False)
    assert spelt(GAME, empty) == {"draw"}
    assert refused(GAME, empty, "take") == "K18"


def test_k32_jokers_in_the_pile() -> None:
    state = koumkan_state("4C *|KH 3D", pile="KS")
    after = played(GAME, state, "discard *, take")
    assert after.hands[1] == cards("KH 3D *")
    assert refused(GAME, after, "discard *", Seat(1)) == "K19"


# ---------------------------------------------------------------- K19, K20


def test_k19_the_card_just_taken() -> None:
    state = koumkan_state("4C 8D|KH", pile="KS QS", drawn=False)
    taken = played(GAME, state, "take")
    assert refused(GAME, taken, "discard QS") == "K19"
    assert spelt(GAME, taken) == {"discard 4C", "discard 8D"}
    assert "discard QS" in spelt(Koumkan(allow_same_discard=True), taken)
    later = played(GAME, taken, "discard 4C, draw, discard KH")
    assert "discard QS" in spelt(GAME, GAME.apply(later, Seat(0), GAME.read("draw")))


def test_k19_the_twin_may_be_discarded() -> None:
    state = koumkan_state("4C QS|KH", pile="KS QS", drawn=False)
    taken = played(GAME, state, "take")
    assert spelt(GAME, taken) == {"discard 4C", "discard QS"}
    assert played(GAME, taken, "discard QS").hands[0] == cards("QS 4C")


def test_k19_of_twins_the_one_taken_is_used_first() -> None:
    state = koumkan_state("TS JS QS QS|KH", taken="QS")
    after = played(GAME, state, "meld run TSJSQS")
    assert spelt(GAME, after) == {"discard QS"}


def test_k19_a_meld_leaves_a_card_that_may_be_discarded() -> None:
    state = koumkan_state("4C 5C 6C QS|KH", taken="QS")
    assert refused(GAME, state, "meld run 4C5C6C") == "K19"
    assert spelt(GAME, state) == {"discard 4C", "discard 5C", "discard 6C"}
    assert "meld run 4C5C6C" in spelt(Koumkan(allow_same_discard=True), state)
    laid = koumkan_state("9D QS|KH", [NINES], taken="QS")
    assert refused(GAME, laid, "lay 9D 1") == "K19"
    swap = koumkan_state("3C QS|KH", [NINES, "1 run 2C * 4C"], taken="QS")
    assert spelt(GAME, played(GAME, swap, "swap 3C 2")) >= {"discard *"}
    assert refused(GAME, played(GAME, swap, "swap 3C 2"), "lay * 1") == "K19"


def test_k19_not_even_when_an_exchange_could_follow() -> None:
    """7C could go for the joker just laid, but the meld itself leaves no card to discard."""
    state = koumkan_state("7H 7C * *|KH", taken="7C")
    assert refused(GAME, state, "meld group 7H**") == "K19"
    assert "meld group 7H7C*" in spelt(GAME, state)


def test_k20_nobody_goes_out_otherwise() -> None:
    state = koumkan_state("4C 5C 6C 7C|KH")
    assert refused(GAME, state, "meld run 4C5C6C7C") == "K20"
    assert refused(GAME, state, "out 4C") == "K20"
    last = koumkan_state("9D|KH", [NINES])
    assert spelt(GAME, last) == {"discard 9D"}


# ---------------------------------------------------------------- melds and lay-offs


def test_k14_k15_any_number_in_one_turn() -> None:
    state = koumkan_state("4C 5C 6C 7C 8S 8H 8D 2S|KH", ["1 run TC JC QC"])
    assert refused(GAME, state, "lay 4C 1") == "K15"
    after = played(GAME, state, "meld run 4C5C6C, lay 7C 2, meld group 8S8H8D, discard 2S")
    assert after.stage is Stage.OVER
    assert [laid.owner for laid in after.table] == [1, 0, 0]
    assert after.out == 0


def test_k16_two_groups_of_a_rank() -> None:
    state = koumkan_state("9S 9H 9D 2S|KH", [NINES])
    after = played(GAME, state, "meld group 9S9H9D")
    assert len(after.table) == 2


def test_k17_a_full_group_still_gives_its_joker() -> None:
    state = koumkan_state("9D 9S 2S|KH", ["0 group 9S 9H 9C *"])
    assert refused(GAME, state, "lay 9D 1") == "K17"
    assert "swap 9D 1" in spelt(GAME, state)
    assert "swap 9S 1" not in spelt(GAME, state)
    assert played(GAME, state, "swap 9D 1").table[0].meld == meld("group 9S 9H 9D 9C")


def test_no_such_meld() -> None:
    state = koumkan_state("9D 2S|KH", [NINES])
    assert refused(GAME, state, "lay 9D 2") == "K38"
    assert refused(GAME, state, "swap 9D 2") == "K10"
    assert refused(GAME, state, "lay 8D 1") == "K34"


def test_k9_the_end_of_a_joker_is_said() -> None:
    state = koumkan_state("* 2S|KH", ["0 run 4C 5C 6C"])
    laid = {text for text in spelt(GAME, state) if text.startswith("lay")}
    assert laid == {"lay * 1 low", "lay * 1 high"}
    assert refused(GAME, state, "lay * 1") == "K9"
    low = played(GAME, state, "lay * 1 low")
    assert low.table[0].meld == meld("run * 4C 5C 6C")


def test_house_rules_of_melds() -> None:
    state = koumkan_state("QC KC AC 7D * * 3S|KH")
    assert {"meld run QCKCAC", "meld group 7D**", "meld run 7D**"} & spelt(GAME, state) == {
        "meld group 7D**",
        "meld run 7D**",
    }
    assert "meld run QCKCAC" in spelt(Koumkan(ace_high_low=True), state)
    assert refused(Koumkan(two_naturals=True), state, "meld run 7D**") == "K8"


# ---------------------------------------------------------------- K11's house rule


USE = Koumkan(joker_must_be_used=True)
FULL = ["0 group 9S 9H 9D 9C", "1 group 4S 4H 4D *"]


def test_k11_the_joker_must_be_used() -> None:
    state = koumkan_state("3C 8D TS|KH", [NINES, "1 run 2C * 4C"])
    after = played(USE, state, "swap 3C 2")
    assert after.owed == 1
    assert refused(USE, after, "discard TS") == refused(USE, after, "discard *") == "K11"
    laid = played(USE, after, "lay * 1")
    assert laid.owed == 0
    assert spelt(USE, laid) == {"discard 8D", "discard TS"}


def test_k11_no_exchange_that_leads_nowhere() -> None:
    """All melds are full, and the hand makes no meld with the joker."""
    state = koumkan_state("4C 8D TS|KH", FULL)
    assert refused(USE, state, "swap 4C 2") == "K11"
    assert "swap 4C 2" in spelt(GAME, state)
    for hand in ("4C 8D 8S TS|KH", "4C 8D 9D TS|KH"):
        after = played(USE, koumkan_state(hand, FULL), "swap 4C 2")
        assert all(text.startswith("meld ") for text in spelt(USE, after))
    two = koumkan_state("4C 8D 8S|KH", FULL)
    assert refused(USE, two, "swap 4C 2") == "K11", "no card would be left to discard"


def test_k11_a_step_may_not_strand_the_joker() -> None:
    """The group could take the joker; once it is full nothing can."""
    state = koumkan_state("4C 9D TS 2H|KH", ["0 group 9S 9H 9C", "1 group 4S 4H 4D *"])
    after = played(USE, state, "swap 4C 2")
    assert refused(USE, after, "lay 9D 1") == "K11"
    assert spelt(USE, after) == {"lay * 1"}


def test_k11_another_exchange_can_help() -> None:
    """One joker more makes the meld."""
    full = ["0 group 9S 9H 9D 9C", "1 group 4S 4H 4D *", "1 group 6S 6H 6D *"]
    state = koumkan_state("4C 6C TS QH|KH", full)
    after = played(USE, state, "swap 4C 2")
    assert spelt(USE, after) == {"swap 6C 3"}
    done = played(USE, after, "swap 6C 3, meld group TS**")
    assert spelt(USE, done) == {"discard QH"}
    assert done.owed == 0


# ---------------------------------------------------------------- whole hands


@pytest.mark.parametrize("players", [2, 3, 4])
@switches
def test_cards_are_conserved(game: Koumkan, players: int) -> None:
    random = Random(players)
    fields = {name: getattr(game, name) for name in game.__slots__} | {"players": players}
    game = Koumkan(**fields)
    for _ in range(3):
        state = dealt(game, random)
        while state.result is None:
            state = stepped(game, state, random)
            assert sorted(all_cards(state)) == sorted(PACK)
            assert all(hand == melds.sorted_hand(hand) for hand in state.hands)
        assert game.to_act(state) == ()
        assert game.prompted(state) is None
        if state.result.ending == "went-out":
            assert state.hands[state.out] == ()
            assert state.result.points[state.out] == 0
            assert refused(game, state, "draw", state.mover) == "K37"
            assert refused(game, state, "lay 9S 1", state.mover) == "K37"


# ---------------------------------------------------------------- notation, and what is not there


@pytest.mark.parametrize(
    "text",
    [
        *("draw ", "Draw", "take 1", "meld", "meld run", "meld run ", "meld row 4C5C6C"),
        *("meld run 4C5C6", "meld run 4C 5C 6C", "meld run 4C?6C", "lay 7C", "lay 7C 0"),
        *("lay 7C 01", "lay 7C 2 mid", "lay 7C8C 2", "lay 7C ²", "lay 7C 1000", "swap ? 1"),
        *("discard", "discard 9X", "discard ?", "discard 9S9S", "out", "put-back", "put-back -1"),
        *("put-back 1000", "reshuffle", "reshuffle ", "reshuffle 9X", "", " ", "deal", "deal 4C"),
    ],
)
def test_unreadable(text: str) -> None:
    with pytest.raises(Unreadable):
        GAME.read(text)


@pytest.mark.parametrize(
    "text",
    [
        *("draw", "take", "meld run 4C*6C", "meld group KSKD*", "lay 7C 2", "lay * 2 low"),
        *("lay * 12 high", "swap 3C 1", "discard 9S", "discard *", "out 9S", "put-back 0"),
        *("put-back ?", "reshuffle 9S*", "reshuffle ??", "deal 4C/*/KS/?"),
    ],
)
def test_notation(text: str) -> None:
    assert GAME.write(GAME.read(text)) == text


def test_what_is_hidden_of_chance() -> None:
    deal = GAME.read("deal 4C5C/*/KS/2S3S")
    assert GAME.show(deal, Seat(0)) == "deal 4C5C/?/KS/??"
    assert GAME.show(deal, None) == "deal ??/?/KS/??"
    assert GAME.show(GAME.read("reshuffle 2S*"), Seat(0)) == "reshuffle ??"
    assert GAME.show(GAME.read("put-back 17"), Seat(0)) == "put-back ?"
    for text in ("draw", "take", "meld run 4C*6C", "discard 9S"):
        assert GAME.show(GAME.read(text), None) == text


def test_no_resignation() -> None:
    state = koumkan_state("4C|KH")
    assert GAME.concession(state, Seat(0)) is None
    with pytest.raises(Illegal) as caught:
        GAME.resign(state, Seat(0))
    assert caught.value.rule == "K40"


@pytest.mark.parametrize("variant", ["koumkan", "thanasis", "dynamitis"])
def test_every_rule_that_refuses_has_a_text(variant: str) -> None:
    own = koumkan if variant == "koumkan" else thanasis
    shared = (rummy_hand, deadwood) if variant != "koumkan" else (rummy_hand, melds)
    sources = "".join(map(inspect.getsource, (own, *shared)))
    named = set(re.findall(r'"([KH]\d+b?)"', sources))
    assert len(named) > 5
    for language in ("el", "en"):
        assert named <= {rule.id for rule in rules_text(variant, language)}
