"""How the trump of pilotta is fixed: bids, contra and its timing, the turned card, the exchange."""

from __future__ import annotations

from random import Random

import pytest
from kafeneio_games.cards import SHORT_PACK, Card, Deal
from kafeneio_games.classic_pilotta import ClassicPilotta
from kafeneio_games.game import CHANCE, Illegal, Seat
from kafeneio_games.pilotta import ContraTiming, Pilotta
from kafeneio_games.pilotta_play import State
from kafeneio_games.pilotta_two import PilottaTwo
from kafeneio_games.trick_view import Contract, Stage

from tests.games.pilotta_hands import AnyPilotta, cards, filled, say, seats_of, start

A, B, C, D = map(Seat, range(4))
FOUR = Pilotta()
TWO = PilottaTwo()
DEAL = Deal(filled(["", "", "", ""], Random(11)))


def with_turned(hands: list[str], turned: str, each: int) -> Deal:
    """A deal of the classic games in which some cards are given."""
    *full, (card, *_) = filled([*hands, turned], Random(5), each=each)
    known = {card, *(card for hand in full for card in hand)}
    return Deal(tuple(full), (card,), tuple(card for card in SHORT_PACK if card not in known))


FIVE_EACH = with_turned(["", "", "", ""], "TS", each=5)


def texts(game: AnyPilotta, state: State, seat: Seat) -> list[str]:
    return [game.write(action) for action in game.legal(state, seat)]


def rule_of(game: AnyPilotta, state: State, seat: Seat, text: str) -> str:
    with pytest.raises(Illegal) as refused:
        game.apply(state, seat, game.read(text))
    return refused.value.rule


def bidding(game: Pilotta, line: str = "") -> State:
    return say(game, start(game, DEAL), line)


# ---------------------------------------------------------------- bids


def test_p6_first_bids() -> None:
    """80 to 240 in tens in any suit, and capot; the suits in no order of worth."""
    found = texts(FOUR, bidding(Pilotta()), A)
    numbers = [f"{value}{suit}" for value in range(80, 250, 10) for suit in "SHDC"]
    assert found == ["pass", *numbers, "capotS", "capotH", "capotD", "capotC"]


@pytest.mark.parametrize(
    ("line", "text", "rule"),
    [
        ("", "70H", "P6"),
        ("", "85H", "P6"),
        ("", "250H", "P6"),
        ("80H", "80S", "P6"),
        ("120H", "110S", "P6"),
        ("240H", "260H", "P6"),
        ("capotH", "capotS", "P7"),
        ("capotH", "240S", "P7"),
        ("", "recontra", "P14"),
        ("", "contra 1", "P13"),
        ("80H pass pass pass", "90H", "P10"),
        ("80H pass pass pass", "recontra", "P14"),
        ("80H pass pass pass", "contra 2", "P16"),
        ("80H pass pass pass contra:1", "contra 1", "P16"),
        ("80H pass pass pass contra:1", "90H", "P10"),
        ("", "take", "P6"),
        ("", "choose H", "P6"),
        ("", "exchange", "P6"),
        ("", "declare", "P6"),
        ("", "deal 7S/8S/9S/TS//", "P4"),
    ],
)
def test_refused_calls(line: str, text: str, rule: str) -> None:
    state = bidding(FOUR, line)
    (seat,) = FOUR.to_act(state)
    assert rule_of(FOUR, state, seat, text) == rule
    for other in set(seats_of(FOUR)) - {seat}:
        if not text.startswith("deal"):
            assert rule_of(FOUR, state, other, text) == "P3"


def test_p6_cap() -> None:
    for cap, last in ((160, 160), (240, 240), (490, 490)):
        game = Pilotta(numeric_bid_cap=cap)
        numbers = [t for t in texts(game, bidding(game), A) if t.endswith("H") and t[0].isdigit()]
        assert numbers[-1] == f"{last}H"
        assert rule_of(game, bidding(game), A, f"{cap + 10}H") == "P6"


def test_p7_capot_is_above_every_number() -> None:
    game = Pilotta(numeric_bid_cap=490)
    state = bidding(game, "300H capotS")
    assert state.contract == Contract(B, 1, 250, "S", capot=True)
    assert texts(game, state, C) == ["pass"]
    assert rule_of(game, state, C, "490H") == "P7"


def test_p7_a_number_of_250_is_no_capot() -> None:
    game = Pilotta(numeric_bid_cap=490)
    state = bidding(game, "250H")
    assert state.contract == Contract(A, 0, 250, "H", capot=False)
    assert "capotH" in texts(game, state, B)


def test_p8_p9_bids_after_a_pass_and_over_the_partner() -> None:
    state = bidding(Pilotta(), "pass 80H 90S 100H 110S pass pass pass")
    assert state.contract == Contract(A, 0, 110, "S")
    assert state.stage is Stage.CONTRA


def test_p10_three_passes_in_a_row() -> None:
    for line in ("80H pass pass", "80H pass pass 90H pass pass", "pass pass pass 80H pass pass"):
        assert bidding(Pilotta(), line).stage is Stage.BIDDING
        assert bidding(Pilotta(), f"{line} pass").stage is Stage.CONTRA


def test_p11_four_passes() -> None:
    state = bidding(Pilotta(), "pass pass pass")
    assert state.stage is Stage.BIDDING
    assert say(FOUR, state, "pass").stage is Stage.OVER


# ---------------------------------------------------------------- contra


def test_p13_the_opponents_are_asked_in_order() -> None:
    """B calls: C is asked, then A; the first contra ends the asking."""
    game = Pilotta()
    state = bidding(game, "pass 80H pass pass pass")
    assert game.prompted(state) == C
    assert texts(game, state, C) == ["pass", "contra 1"]
    assert game.prompted(say(game, state, "contra:1")) == D
    state = say(game, state, "pass")
    assert game.prompted(state) == A
    assert say(game, state, "pass").stage is Stage.PLAYING
    assert game.prompted(say(game, state, "contra:1")) == B


def test_p14_the_calling_side_is_asked_in_order() -> None:
    """B called, A said contra: B is asked, then D."""
    game = Pilotta()
    state = bidding(game, "pass 80H pass pass pass pass contra:1")
    assert (state.stage, game.prompted(state)) == (Stage.RECONTRA, B)
    assert texts(game, state, B) == ["pass", "recontra"]
    done = say(game, state, "recontra")
    assert done.contract == Contract(B, 1, 80, "H", multiplier=4)
    assert (done.stage, game.prompted(done)) == (Stage.PLAYING, A)
    state = say(game, state, "pass")
    assert game.prompted(state) == D
    assert say(game, state, "recontra").contract == Contract(B, 1, 80, "H", multiplier=4)
    assert say(game, state, "pass").contract == Contract(B, 1, 80, "H", multiplier=2)


@pytest.mark.parametrize("timing", ["after_auction", "in_turn", "any_time"])
def test_p15_contra_on_capot(timing: ContraTiming) -> None:
    game = Pilotta(contra_timing=timing)
    line = "capotH pass pass pass contra:1" if timing == "after_auction" else "capotH contra:1"
    state = bidding(game, line)
    assert state.contract == Contract(A, 0, 250, "H", capot=True, multiplier=2)
    assert state.stage is Stage.RECONTRA


def test_in_turn() -> None:
    """P13: instead of a bid; it ends the bidding. Without one the play begins at once."""
    game = Pilotta(contra_timing="in_turn")
    state = bidding(game, "80H")
    assert texts(game, state, B)[-1] == "contra 1"
    assert rule_of(game, state, D, "contra 1") == "P3"
    assert rule_of(game, bidding(game), A, "contra 1") == "P16"
    assert rule_of(game, bidding(game, "80H pass"), C, "contra 1") == "P16"
    assert rule_of(game, bidding(game, "80H 90S"), C, "contra 1") == "P16"
    closed = say(game, state, "contra:1")
    assert rule_of(game, closed, C, "90H") == "P10"
    assert game.prompted(closed) == C
    assert say(game, state, "pass pass pass").stage is Stage.PLAYING


def test_any_time() -> None:
    """P13, A16: either opponent of the highest bidder, while that bid stands."""
    game = Pilotta(contra_timing="any_time")
    assert game.to_act(bidding(game)) == (A,)
    state = bidding(game, "80H")
    assert game.to_act(state) == (B, D)
    assert game.prompted(state) == B
    assert texts(game, state, B)[-1] == "contra 1"
    assert texts(game, state, D) == ["contra 1"]
    assert texts(game, state, A) == texts(game, state, C) == []
    assert rule_of(game, state, C, "contra 1") == "P16"
    assert rule_of(game, state, D, "90H") == rule_of(game, state, D, "pass") == "P3"
    state = say(game, state, "90S")  # B's own side may not answer it, and bid 1 stands no more
    assert game.to_act(state) == (C, A)
    assert rule_of(game, state, D, "contra 1") == "P16"
    assert rule_of(game, state, A, "contra 1") == "P16"
    closed = game.apply(state, A, game.read("contra 2"))
    assert closed.contract == Contract(B, 1, 90, "S", multiplier=2)
    assert game.to_act(closed) == (B,)
    assert rule_of(game, closed, C, "contra 2") == "P3"
    assert rule_of(game, closed, B, "contra 2") == "P16"
    assert say(game, closed, "pass pass").stage is Stage.PLAYING
    assert bidding(game, "80H pass pass pass").stage is Stage.PLAYING


# ---------------------------------------------------------------- the deal


@pytest.mark.parametrize(
    ("game", "deal", "rule"),
    [(Pilotta(), DEAL, "P4"), (ClassicPilotta(), FIVE_EACH, "C1"), (PilottaTwo(), None, "T1")],
    ids=["four", "classic", "two"],
)
def test_deals_that_are_refused(game: AnyPilotta, deal: Deal | None, rule: str) -> None:
    deal = deal or with_turned(["", ""], "TS", each=6)
    dealer = seats_of(game)[-1]
    before = game.start(dealer, seats_of(game))
    twice = Deal((deal.hands[0][:-1] + deal.hands[0][:1], *deal.hands[1:]), deal.turned, deal.rest)
    unseen = Deal(tuple((Card("?"),) * len(hand) for hand in deal.hands), deal.turned, deal.rest)
    uneven = Deal((deal.hands[0] + deal.hands[1][:1], deal.hands[1][1:], *deal.hands[2:]))
    for bad in (twice, unseen, uneven, Deal(()), Deal(deal.hands[:1], (), deal.rest)):
        with pytest.raises(Illegal) as refused:
            game.apply(before, CHANCE, bad)
        assert refused.value.rule == rule
    for state, seat in ((before, Seat(0)), (start(game, deal, dealer), CHANCE)):
        with pytest.raises(Illegal) as refused:
            game.apply(state, seat, deal)
        assert refused.value.rule == rule
    assert game.to_act(before) == (CHANCE,)
    assert list(game.legal(before, CHANCE)) == []


# ---------------------------------------------------------------- the turned card


def test_c2_first_round() -> None:
    game = ClassicPilotta()
    state = start(game, FIVE_EACH)
    assert texts(game, state, A) == ["pass", "take"]
    assert rule_of(game, state, A, "choose H") == "C3"
    assert rule_of(game, state, B, "take") == "P3"
    assert rule_of(game, state, A, "80H") == rule_of(game, state, A, "exchange") == "C2"
    assert rule_of(game, state, A, "contra 1") == rule_of(game, state, A, "recontra") == "C5"
    assert game.view(state, B).turned == "TS"
    state = say(game, state, "pass take")
    assert state.contract == Contract(B, 1, 0, "S")
    assert state.play is not None
    assert state.play.turn == A, "forehand leads, not the chooser (C11)"
    assert set(cards("TS")) < set(state.play.hands[B])
    assert game.view(state, A).turned is None


def test_c3_second_round() -> None:
    game = ClassicPilotta()
    state = say(game, start(game, FIVE_EACH), "pass pass pass pass")
    assert texts(game, state, A) == ["pass", "choose H", "choose D", "choose C"]
    assert rule_of(game, state, A, "take") == "C2"
    assert rule_of(game, state, A, "choose S") == "C3"


def test_c4_all_pass_twice() -> None:
    game = ClassicPilotta()
    state = say(game, start(game, FIVE_EACH), "pass " * 8)
    result = game.result(state)
    assert result is not None
    assert (result.points, result.ending) == ((0, 0), "passed")


# ---------------------------------------------------------------- the exchange


def for_two(first: str, turned: str, line: str, second: str = "") -> State:
    """Seat 1 deals, so that seat 0, who holds `first`, speaks first."""
    deal = with_turned([first, second], turned, each=6)
    return say(TWO, start(TWO, deal, dealer=B), line)


def test_t3_exchange() -> None:
    state = for_two("7C", "KC", "take")
    assert (state.stage, TWO.prompted(state)) == (Stage.EXCHANGE, A)
    assert texts(TWO, state, A) == ["pass", "exchange"]
    assert TWO.view(state, B).turned == "KC"
    done = say(TWO, state, "exchange")
    assert done.play is not None
    mine, his = done.play.hands
    assert set(cards("KC")) < set(mine)
    assert not set(cards("7C")) & {*mine, *his}
    assert set(mine) == {*state.hands[0], *cards("KC"), *state.rest[:3]} - set(cards("7C"))
    assert set(his) == {*state.hands[1], *state.rest[3:6]}
    assert TWO.view(done, B).calls == ((A, "take"), (A, "exchange"))


def test_t5_without_exchange_nobody_takes_the_card() -> None:
    state = say(TWO, for_two("7C", "KC", "take"), "pass")
    assert state.play is not None
    assert state.stage is Stage.PLAYING
    assert not any(set(cards("KC")) & set(hand) for hand in state.play.hands)
    assert [len(hand) for hand in state.play.hands] == [9, 9]


def test_t3_only_who_holds_the_seven() -> None:
    """The question is asked all the same: it must not tell."""
    state = for_two("8C", "KC", "take", second="7C")
    assert (state.stage, texts(TWO, state, A)) == (Stage.EXCHANGE, ["pass"])
    assert rule_of(TWO, state, A, "exchange") == "T3"
    assert rule_of(TWO, state, B, "exchange") == "T2"
    assert rule_of(TWO, state, A, "8C") == rule_of(TWO, state, A, "take") == "T4"


def test_t3_only_the_chooser() -> None:
    """B takes; A, who holds the seven, is not asked."""
    state = for_two("7C", "KC", "pass take")
    assert TWO.prompted(state) == B
    assert rule_of(TWO, state, A, "exchange") == "T2"


def test_t3_only_in_the_exchange() -> None:
    state = for_two("7C", "KC", "")
    assert rule_of(TWO, state, A, "exchange") == "T3"


def test_t4_the_turned_card_is_the_seven() -> None:
    state = for_two("8C", "7C", "take")
    assert state.stage is Stage.PLAYING
    assert state.play is not None
    assert not any(set(cards("7C")) & set(hand) for hand in state.play.hands)


def test_t2_the_other_speaks_first() -> None:
    for dealer, first in ((A, B), (B, A)):
        deal = with_turned(["", ""], "TS", each=6)
        state = start(TWO, deal, dealer=dealer)
        assert TWO.prompted(state) == first
        assert rule_of(TWO, state, dealer, "pass") == "T2"
        assert TWO.prompted(say(TWO, state, "pass pass pass choose:H")) == first
