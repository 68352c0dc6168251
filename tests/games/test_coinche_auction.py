"""The auctions of the rule book (U1-U13), each named by its id, and what stands beside them."""

from __future__ import annotations

from dataclasses import replace
from random import Random

import pytest
from kafeneio_games.belote_play import State
from kafeneio_games.coinche import Coinche
from kafeneio_games.game import CHANCE, TABLE, Seat
from kafeneio_games.trick_actions import Bid, Capot, Choose, Contra
from kafeneio_games.trick_view import Contract, Stage
from kafeneio_games.tricks import side_of

from tests.games.belote_tables import (
    SEATS,
    AnyBelote,
    E,
    N,
    S,
    Shuffler,
    W,
    game_of,
    line,
    refused,
    spelt,
)

MAISON, OFFICIAL = game_of("coinche"), game_of("coinche", "official")
both = pytest.mark.parametrize("game", [MAISON, OFFICIAL], ids=["maison", "official"])


def bidding(game: AnyBelote, calls: str = "") -> State:
    """N has dealt, and those calls were made."""
    state = game.start(N, SEATS)
    state = game.apply(state, CHANCE, game.chance(state, Shuffler(Random(7))))
    return line(game, state, calls) if calls else state


def standing(state: State) -> Contract:
    assert state.contract is not None
    return state.contract


# ---------------------------------------------------------------- U1-U13


def test_u1_contra_out_of_turn() -> None:
    state = line(MAISON, bidding(MAISON, "E 80H"), "N contra 1")
    assert standing(state) == Contract(E, 1, 80, "H", multiplier=2)
    assert (state.stage, MAISON.prompted(state)) == (Stage.RECONTRA, E)
    assert refused(OFFICIAL, bidding(OFFICIAL, "E 80H"), N, "contra 1") == "N9"


@both
def test_u2_contra_to_ones_own_side(game: AnyBelote) -> None:
    assert refused(game, bidding(game, "E 80H"), W, "contra 1") == "A16"
    assert refused(game, bidding(game, "E 80H, S pass"), W, "contra 1") == "A16"


@both
def test_u3_no_higher(game: AnyBelote) -> None:
    assert refused(game, bidding(game, "E 80H"), S, "80S") == "B26"


@pytest.mark.parametrize("rule_set", ["maison", "official"])
@pytest.mark.parametrize("bid", ["85H", "70H", "170H"])
def test_u4_no_such_bid(rule_set: str, bid: str) -> None:
    game = game_of("coinche", rule_set, declarations="no")
    assert refused(game, bidding(game), E, bid) in ("A13", "B26")


@both
def test_u5_nothing_above_capot(game: AnyBelote) -> None:
    state = bidding(game, "E capotS")
    for bid in ("160H", "650H", "capotH"):
        assert refused(game, state, S, bid) == "B26"


def test_u6_recontra_of_the_bidder() -> None:
    state = line(MAISON, bidding(MAISON, "E capotS"), "S contra 1, E recontra")
    assert standing(state) == Contract(E, 1, 250, "S", capot=True, multiplier=4)
    assert state.stage is Stage.PLAYING
    state = bidding(OFFICIAL, "E capotS, S contra 1")
    assert OFFICIAL.prompted(state) == W
    assert refused(OFFICIAL, state, E, "recontra") == "A15"


@both
def test_u7_all_pass(game: AnyBelote) -> None:
    state = bidding(game, "E pass, S pass, W pass, N pass")
    result = game.result(state)
    assert result is not None
    assert (result.points, result.ending, game.to_act(state)) == ((0, 0), "passed", ())


@both
def test_u8_who_passed_speaks_again(game: AnyBelote) -> None:
    state = bidding(game, "E pass, S 90C, W pass, N pass, E 100D")
    assert standing(state) == Contract(E, 1, 100, "D")
    assert game.prompted(state) == S


@both
def test_u9_three_passes(game: AnyBelote) -> None:
    state = bidding(game, "E 80H, S pass, W pass, N pass")
    assert standing(state) == Contract(E, 1, 80, "H")
    assert (state.stage, game.prompted(state)) == (Stage.PLAYING, E)


@both
def test_u10_frozen(game: AnyBelote) -> None:
    state = bidding(game, "E 80H, S contra 1")
    for seat in SEATS:
        assert refused(game, state, seat, "90H") == "B27"
        assert refused(game, state, seat, "capotH") == "B27"


def test_u11_a_race() -> None:
    later = bidding(MAISON, "E 80H, S 90S")
    assert refused(MAISON, later, N, "contra 1") == "A16"
    first = bidding(MAISON, "E 80H, N contra 1")
    assert refused(MAISON, first, S, "90S") == "B27"
    assert refused(OFFICIAL, bidding(OFFICIAL, "E 80H"), N, "contra 1") == "N9"
    assert refused(OFFICIAL, bidding(OFFICIAL, "E 80H, S 90S"), N, "contra 1") == "A16"
    # An opponent of the new bidder is stale too, if he answers the old one.
    assert refused(MAISON, later, W, "contra 1") == "A16"
    assert standing(line(MAISON, later, "W contra 2")).multiplier == 2


@pytest.mark.parametrize("rule_set", ["maison", "official"])
def test_u12_without_trumps_there_is_one_round(rule_set: str) -> None:
    game = game_of("belote-no-trump", rule_set)
    state = bidding(game, "E pass, S pass, W pass")
    assert spelt(game, state, N) == ["take", "pass"]
    result = game.result(line(game, state, "N pass"))
    assert result is not None
    assert (result.points, result.ending) == ((0, 0), "passed")


@pytest.mark.parametrize("rule_set", ["maison", "official"])
def test_u13_the_turned_suit_is_not_named(rule_set: str) -> None:
    game = game_of("belote", rule_set)
    state = bidding(game, "pass, pass, pass, pass")
    (turned,) = state.turned
    assert refused(game, state, E, f"choose {turned[1]}") == "B17"
    assert refused(game, state, E, "take") == "B17"
    others = [f"choose {suit}" for suit in "SHDC" if suit != turned[1]]
    assert spelt(game, state, E) == [*others, "pass"]


# ---------------------------------------------------------------- beside them


@both
def test_a13_the_highest_number(game: AnyBelote) -> None:
    assert spelt(game, bidding(game), E)[0] == "80S"
    assert "650C" in spelt(game, bidding(game), E)
    assert refused(game, bidding(game), E, "660C") == "A13"
    assert refused(game, bidding(game), E, "95C") == "A13"
    plain = game_of("coinche", "maison", declarations="no")
    bids = [f"{value}{suit}" for value in range(80, 161, 10) for suit in "SHDC"]
    capots = [f"capot{suit}" for suit in "SHDC"]
    assert spelt(plain, bidding(plain), E) == [*bids, *capots, "pass"]
    assert standing(bidding(game, "E 650H, S capotC")).capot


def test_a13_only_suits() -> None:
    for suit in ("", "N", "SH"):
        assert refused(MAISON, bidding(MAISON), E, Bid(90, suit)) == "B26"
        assert refused(MAISON, bidding(MAISON), E, Capot(suit)) == "B26"
    game = game_of("belote")
    state = bidding(game, "pass, pass, pass, pass")
    assert refused(game, state, E, Choose("")) == "B17"


def test_a15_maison_asks_the_bidder_first() -> None:
    state = bidding(MAISON, "E 80H, N contra 1")
    assert refused(MAISON, state, W, "recontra") == "A15"
    assert refused(MAISON, state, W, "pass") == "A15"
    for seat in (N, S):
        assert refused(MAISON, state, seat, "recontra") == "B27"
        assert refused(MAISON, state, seat, "contra 1") == "B27"
    state = line(MAISON, state, "E pass")
    assert (MAISON.prompted(state), MAISON.to_act(state)) == (W, (W,))
    assert standing(line(MAISON, state, "W recontra")).multiplier == 4
    state = line(MAISON, state, "W pass")
    assert (state.stage, standing(state).multiplier) == (Stage.PLAYING, 2)


@pytest.mark.parametrize(
    ("calls", "asked"),
    [
        ("E 80H, S contra 1", (W, E)),
        ("E pass, S 80H, W contra 1", (N, S)),
        ("E 80H, S pass, W pass, N contra 1", (E, W)),
    ],
)
def test_a15_official_asks_in_order_of_play(calls: str, asked: tuple[Seat, Seat]) -> None:
    state = bidding(OFFICIAL, calls)
    assert OFFICIAL.to_act(state) == (asked[0],)
    state = line(OFFICIAL, state, "pass")
    assert OFFICIAL.to_act(state) == (asked[1],)
    assert line(OFFICIAL, state, "recontra").stage is Stage.PLAYING
    assert line(OFFICIAL, state, "pass").stage is Stage.PLAYING


def test_a16_a_contra_names_its_bid() -> None:
    state = bidding(MAISON, "E pass, S 80H, W 90C, N 100D")
    for number in (1, 2, 4, 0):
        assert refused(MAISON, state, E, Contra(number)) == "A16"
    assert standing(line(MAISON, state, "E contra 3")).multiplier == 2
    assert refused(MAISON, bidding(MAISON), E, "contra 1") == "B27"


def test_n9_who_may_act() -> None:
    state = bidding(MAISON, "E 80H")
    assert MAISON.prompted(state) == S
    assert MAISON.to_act(state) == (S, N)
    assert spelt(MAISON, state, N) == ["contra 1"]
    assert spelt(MAISON, state, W) == spelt(MAISON, state, E) == []
    state = bidding(MAISON, "E 80H, S pass")
    assert (MAISON.prompted(state), MAISON.to_act(state)) == (W, (W, N, S))
    state = bidding(MAISON, "E 80H, S pass, W pass")
    assert MAISON.to_act(state) == (N, S)  # S, who has passed, may still say it
    assert standing(line(MAISON, state, "S contra 1")).multiplier == 2
    state = bidding(OFFICIAL, "E 80H")
    assert OFFICIAL.to_act(state) == (S,)
    assert "contra 1" in spelt(OFFICIAL, state, S)
    assert standing(line(OFFICIAL, state, "S contra 1")).multiplier == 2


@both
def test_out_of_turn(game: AnyBelote) -> None:
    state = bidding(game, "E 80H")
    for word in ("90H", "capotH", "pass"):
        for seat in (E, W, N, CHANCE, TABLE, Seat(9)):
            assert refused(game, state, seat, word) == "B2"
    for seat in (CHANCE, TABLE, Seat(9)):
        assert refused(game, state, seat, "contra 1") == "B2"
    assert refused(game, state, S, "recontra") == "B27"
    assert refused(game, state, S, "AS") == "B3"
    assert refused(game, state, S, "declare") in ("A22", "B13")
    for word in ("take", "choose H", "exchange"):
        assert refused(game, state, S, word) == "B26"


@both
def test_after_the_auction(game: AnyBelote) -> None:
    state = bidding(game, "E 80H, pass, pass, pass")
    for word in ("90H", "capotH", "pass"):
        assert refused(game, state, E, word) == "B26"
    assert refused(game, state, S, "contra 1") == "B27"
    assert refused(game, state, E, "recontra") == "B27"


@both
def test_no_raise_of_oneself(game: AnyBelote) -> None:
    """Three passes have ended the auction before its last bidder could speak again (B26)."""
    state = bidding(game, "E 80H, S 90H, W pass, N pass")
    assert (game.prompted(state), standing(state).seat) == (E, S)
    assert line(game, state, "E pass").stage is Stage.PLAYING


def test_every_bid_can_be_listed() -> None:
    """As high as an auction goes, the list of legal bids is what the rule says."""
    state = bidding(MAISON)
    for value in range(80, 651, 10):
        seat = MAISON.prompted(state)
        assert seat is not None
        bids = [word for word in spelt(MAISON, state, seat) if word[0].isdigit()]
        assert bids == [f"{v}{suit}" for v in range(value, 651, 10) for suit in "SHDC"]
        state = line(MAISON, state, f"{value}C")
    seat = MAISON.prompted(state)
    assert seat is not None
    assert spelt(MAISON, state, seat) == [
        *(f"capot{suit}" for suit in "SHDC"),
        "contra 58",
        "pass",
    ]
    state = line(MAISON, state, "capotH")
    opponents = [s for s in SEATS if side_of(s) != standing(state).side]
    assert all("contra 59" in spelt(MAISON, state, s) for s in opponents)


def test_the_view_of_an_auction() -> None:
    state = bidding(MAISON, "E 80H, S pass, W 90D")
    view = MAISON.view(state, S)
    assert view.calls == ((E, "80H"), (S, "pass"), (W, "90D"))
    assert view.contract == Contract(W, 1, 90, "D")
    assert (view.prompted, view.stage, view.counts) == (N, Stage.BIDDING, (8, 8, 8, 8))
    assert (view.dealer, view.seat, view.hand) == (N, S, state.hands[S])
    assert (view.game, view.turned, view.trick, view.sheet) == ("coinche", None, (), None)


def test_options_are_fields() -> None:
    """The two games differ in what the rule book's table names, and in nothing else."""
    assert isinstance(MAISON, Coinche)
    assert isinstance(OFFICIAL, Coinche)
    alike = replace(
        OFFICIAL,
        declarations=MAISON.declarations,
        marks=MAISON.marks,
        undertrump=True,
        contra_any_time=True,
    )
    assert alike == MAISON
