"""The contest to the target: totals, elimination, who deals, and the house's options."""

from __future__ import annotations

from random import Random

import pytest
from kafeneio_games import registry
from kafeneio_games.elimination_match import EliminationMatch
from kafeneio_games.game import CHANCE, Entry, Illegal, Result, Seat, Unreadable
from kafeneio_games.koumkan import Koumkan
from kafeneio_games.match import Outcome
from kafeneio_games.play import Play
from kafeneio_games.thanasis import Thanasis
from kafeneio_games.variant import BadTargetError, UnknownValueError

from tests.games.rummy_tables import Dice


def match_of(players: int, dealer: int = 0, target: int = 101) -> EliminationMatch:
    return EliminationMatch.begin(Koumkan(players), target).opened(f"dealer {dealer}")


def went(*points: int) -> Result:
    return Result(points, "went-out")


def dealer_of(match: EliminationMatch) -> int:
    following = match.next()
    assert following is not None
    assert following.live == match.live
    return following.first


def test_k36_the_first_dealer_is_drawn() -> None:
    fresh = EliminationMatch.begin(Koumkan(4), 101)
    assert fresh.next() is None
    texts = {fresh.chance(Dice(Random(seed))) for seed in range(50)}
    assert texts == {f"dealer {seat}" for seat in range(4)}
    assert dealer_of(fresh.opened("dealer 2")) == 2
    for text in ("dealer", "dealer ", "dealer 12", "dealer -1", "dealer x", "opening 63", "draw"):
        with pytest.raises(Unreadable):
            fresh.opened(text)
    with pytest.raises(Illegal) as caught:
        fresh.opened("dealer 4")
    assert caught.value.rule == "K36"
    with pytest.raises(Illegal) as caught:
        fresh.opened("dealer 2").opened("dealer 2")
    assert caught.value.rule == "K36"
    with pytest.raises(ValueError):
        fresh.opened("dealer 2").chance(Dice(Random(1)))
    with pytest.raises(ValueError):
        fresh.after(went(0, 0, 0, 0))


def test_k36_two_players_deal_in_turn() -> None:
    match = match_of(2, dealer=1)
    dealers = []
    for _ in range(4):
        dealers.append(dealer_of(match))
        match = match.after(went(0, 5))
    assert dealers == [1, 0, 1, 0]


def test_k25_the_target_is_enough() -> None:
    match = match_of(3).after(went(100, 0, 7))
    assert match.live == (0, 1, 2)
    match = match.after(went(1, 0, 7))
    assert match.live == (1, 2)
    assert match.score == (101, 0, 14)
    assert match.outcome() is None


def test_k29_the_dealer_skips_who_is_out() -> None:
    match = match_of(4, dealer=0).after(went(0, 101, 5, 5))
    assert dealer_of(match) == 2, "seat 1 was to deal, and is out"
    match = match.after(went(0, 0, 5, 5))
    assert dealer_of(match) == 3
    match = match.after(went(0, 0, 5, 90))
    assert (match.live, dealer_of(match)) == ((0, 2, 3), 0)
    match = match.after(went(0, 0, 5, 1))
    assert (match.live, dealer_of(match)) == ((0, 2), 2), "seat 3 is out; the deal goes on"


def test_k27_several_at_once() -> None:
    match = match_of(4, dealer=3).after(went(60, 60, 0, 60)).after(went(50, 50, 3, 0))
    assert match.live == (2, 3)
    assert dealer_of(match) == 2, "seat 0 dealt, seat 1 is out"
    over = match_of(4).after(went(101, 120, 0, 150))
    assert over.outcome() == Outcome((Seat(2),), (101, 120, 0, 150), "went-out")
    with pytest.raises(ValueError):
        over.next()
    with pytest.raises(ValueError):
        over.after(went(0, 0, 0, 0))
    with pytest.raises(Illegal):
        over.opened("dealer 2")


def test_k22_a_void_hand_passes_the_deal() -> None:
    match = match_of(3, dealer=1).after(Result((0, 0, 0), "void"))
    assert (match.score, dealer_of(match), match.hands) == ((0, 0, 0), 2, 1)


def test_f3_a_forfeit_eliminates() -> None:
    match = match_of(3, dealer=1).withdraw(Seat(2))
    assert match.live == (0, 1)
    assert match.outcome() is None
    match = match.after(went(0, 20, 0))
    assert dealer_of(match) == 0
    over = match.withdraw(Seat(0))
    assert over.outcome() == Outcome((Seat(1),), (0, 20, 0), "forfeit")
    assert over.withdraw(Seat(1)) is over
    out = match_of(3).after(went(0, 0, 120))
    assert out.withdraw(Seat(2)) is out, "one who is out already cannot leave"


def test_f3_the_dealer_leaves() -> None:
    match = match_of(3, dealer=1).withdraw(Seat(1)).after(went(0, 0, 9))
    assert dealer_of(match) == 2
    match = match_of(3, dealer=2).withdraw(Seat(0)).after(went(0, 9, 0))
    assert dealer_of(match) == 1


def test_f3_before_the_first_deal() -> None:
    fresh = EliminationMatch.begin(Koumkan(3), 101).withdraw(Seat(1))
    assert fresh.next() is None
    assert {fresh.chance(Dice(Random(seed))) for seed in range(30)} == {"dealer 0", "dealer 2"}
    with pytest.raises(Illegal):
        fresh.opened("dealer 1")
    assert fresh.withdraw(Seat(0)).outcome() == Outcome((Seat(2),), (0, 0, 0), "forfeit")


def test_standing_tells_matches_apart() -> None:
    one, other = match_of(3), match_of(3, dealer=1)
    assert one.standing != other.standing
    assert one.after(went(0, 1, 2)).standing != one.after(went(0, 2, 1)).standing
    assert one.withdraw(Seat(2)).standing != one.standing


# ---------------------------------------------------------------- the list of games


@pytest.mark.parametrize("name", ["koumkan", "thanasis", "dynamitis"])
def test_variant(name: str) -> None:
    variant = registry.variant(name)
    assert (variant.edition, variant.payout, variant.hidden, variant.seats) == (1, "S3", True, 2)
    assert [t for t in range(300) if variant.targets.take(t)] == [51, 101, 151, 201]
    assert variant.targets.default == 101
    with pytest.raises(BadTargetError):
        variant.build({}, 100)
    for players in ("2", "3", "4"):
        match = variant.build({"players": players}, None)
        assert match.sides == variant.sides_with({"players": players})
        assert match.sides == tuple((Seat(seat),) for seat in range(int(players)))
    with pytest.raises(UnknownValueError):
        variant.sides_with({"players": "5"})


def game_of(name: str, options: dict[str, str]) -> object:
    match = registry.build(name, 1, options, None)
    assert isinstance(match, EliminationMatch)
    return match.game


def test_options() -> None:
    chosen = {
        "players": "3",
        "ace_high_low": "yes",
        "two_naturals": "yes",
        "max_stock_reshuffles": "0",
    }
    assert game_of("koumkan", {}) == Koumkan()
    assert game_of("koumkan", {**chosen, "allow_same_discard": "yes"}) == Koumkan(
        3, True, True, allow_same_discard=True, max_stock_reshuffles=0
    )
    assert game_of("koumkan", {"joker_must_be_used": "yes"}) == Koumkan(joker_must_be_used=True)
    assert game_of("thanasis", {}) == Thanasis()
    assert game_of("dynamitis", chosen) == Thanasis(
        3, True, True, two_naturals=True, max_stock_reshuffles=0
    )
    names = {o.name for o in registry.variant("koumkan").options}
    assert names == {*chosen, "allow_same_discard", "joker_must_be_used"}
    assert {o.name for o in registry.variant("thanasis").options} == set(chosen)


def test_the_fold() -> None:
    """The lot, the deal, and the first prompt: the player after the dealer."""
    play = Play.begin(registry.build("koumkan", 1, {"players": "3"}, None))
    assert play.chance_due
    assert play.view(None) is None
    play = play.apply(Entry(CHANCE, "dealer 2"))
    play, (deal,) = play.advance(Dice(Random(1)))
    assert deal.text.startswith("deal ")
    assert (play.prompted, play.turn, play.score) == (0, 1, (0, 0, 0))
    play = play.apply(Entry(Seat(0), "draw"))
    assert (play.prompted, play.turn) == (0, 1), "draw to discard is one prompt (X1)"
    card = play.state.hands[0][0]
    play = play.apply(Entry(Seat(0), f"discard {card}"))
    assert (play.prompted, play.turn) == (1, 2)
