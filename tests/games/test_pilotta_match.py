"""Hands of pilotta in turn until the target: dealers, winners, what leaving does (P1, P2, P63)."""

from __future__ import annotations

from dataclasses import replace
from random import Random

import pytest
from kafeneio_games.game import CHANCE, Entry, Illegal, OutOfOrder, Result, Seat, Unreadable
from kafeneio_games.match import Outcome
from kafeneio_games.pilotta import Pilotta
from kafeneio_games.pilotta_two import PilottaTwo
from kafeneio_games.play import Play
from kafeneio_games.registry import BadTargetError, build, variant
from kafeneio_games.target_match import TargetMatch, read_dealer, write_dealer

from tests.games.pilotta_hands import RandomDraw, random_action

A, B, C, D = map(Seat, range(4))
FOUR = TargetMatch(Pilotta(), 151)
TWO = TargetMatch(PilottaTwo(), 101)


def after(match: TargetMatch, *hands: tuple[int, int]) -> TargetMatch:
    for points in hands:
        match = match.after(Result(points, "made"))
    return match


def test_p1_the_first_dealer_is_drawn() -> None:
    for match, seats in ((FOUR, 4), (TWO, 2)):
        drawn = {match.chance(RandomDraw(Random(seed))) for seed in range(60)}
        assert drawn == {f"dealer {seat}" for seat in range(seats)}
        assert match.next() is None
        opened = match.opened(f"dealer {seats - 1}")
        following = opened.next()
        assert following is not None
        assert (following.first, following.live) == (seats - 1, tuple(range(seats)))
        with pytest.raises(Illegal) as refused:
            match.opened(f"dealer {seats}")
        assert refused.value.rule == "P1"
        with pytest.raises(Illegal):
            opened.opened("dealer 0")
        with pytest.raises(ValueError):
            opened.chance(RandomDraw(Random(1)))


@pytest.mark.parametrize("text", ["dealer", "dealer ", "dealer 10", "dealer x", "opening 63", "2"])
def test_no_dealer(text: str) -> None:
    with pytest.raises(Unreadable):
        FOUR.opened(text)


def test_dealers_are_written_exactly() -> None:
    assert [read_dealer(write_dealer(Seat(seat))) for seat in range(10)] == list(range(10))


def test_p2_the_next_seat_deals() -> None:
    match = FOUR.opened("dealer 2")
    dealers = []
    for points in ((10, 6), (0, 0), (0, 25), (16, 0), (0, 0)):
        following = match.next()
        assert following is not None
        dealers.append(following.first)
        match = match.after(Result(points, "passed" if points == (0, 0) else "made"))
    assert dealers == [2, 3, 0, 1, 2]
    assert match.score == (26, 31)
    two = after(TWO.opened("dealer 1"), (5, 3), (5, 3))
    assert two.dealer == 1


@pytest.mark.parametrize(
    ("scored", "hand", "winners"),
    [
        ((140, 100), (10, 20), None),  # 150: one short
        ((140, 100), (11, 5), (A, C)),  # exactly
        ((100, 140), (5, 40), (B, D)),
        ((140, 145), (20, 16), (B, D)),  # both over: the higher
        ((145, 140), (16, 22), (B, D)),
        ((140, 140), (20, 20), None),  # equal: another hand
        ((160, 160), (8, 9), (B, D)),  # and that decides
        ((160, 160), (0, 0), None),
    ],
)
def test_p63(
    scored: tuple[int, int], hand: tuple[int, int], winners: tuple[Seat, ...] | None
) -> None:
    match = after(replace(FOUR, scored=scored, dealer=A), hand)
    outcome = match.outcome()
    if winners is None:
        assert outcome is None
        assert match.next() is not None
        return
    assert outcome == Outcome(winners, match.score, "made")
    with pytest.raises(ValueError):
        match.next()
    with pytest.raises(ValueError):
        match.after(Result((1, 0), "made"))
    assert match.withdraw(A) == match


def test_f1_leaving_changes_nothing_until_all_are_gone() -> None:
    match = FOUR.opened("dealer 1")
    for seat in (C, A, D):
        match = match.withdraw(seat)
        assert match.outcome() is None
        assert match.next() == FOUR.opened("dealer 1").next()
    assert match.withdraw(A) == match
    assert match.withdraw(B).outcome() == Outcome((), (0, 0), "void", "ALL_FORFEITED")
    with pytest.raises(ValueError):
        match.withdraw(Seat(4))


def test_f4_of_two() -> None:
    match = TWO.opened("dealer 1").withdraw(B)
    assert match.outcome() is None
    assert match.withdraw(A).outcome() == Outcome((), (0, 0), "void", "ALL_FORFEITED")


def test_f1_a_hand_goes_on_when_a_seat_has_left() -> None:
    play = Play.begin(build("pilotta", 1, {}, 101))
    random = Random(3)
    draw = RandomDraw(random)
    play, _ = play.advance(draw)
    turn, prompted = play.turn, play.prompted
    play = play.apply(Entry(A, "!forfeit LEFT"))
    assert (play.turn, play.prompted, play.over) == (turn, prompted, False)
    while not play.over:
        play, _ = play.advance(draw)
        if play.game is not None and play.prompted is not None:
            seat, action = random_action(play.game, play.state, random)
            play = play.apply(Entry(seat, play.game.write(action)))
    assert play.outcome is not None
    assert play.outcome.winners in ((A, C), (B, D))


def test_nobody_resigns() -> None:
    play, _ = Play.begin(build("pilotta", 1, {}, 101)).advance(RandomDraw(Random(3)))
    with pytest.raises(OutOfOrder) as refused:
        play.apply(Entry(A, "!resign"))
    assert refused.value.reason == "NOT_RESIGNABLE"
    assert play.game is not None
    with pytest.raises(Illegal) as illegal:
        play.game.resign(play.state, A)
    assert illegal.value.rule == "F1"
    assert play.game.withdraw(play.state, A) is play.state


@pytest.mark.parametrize("name", ["pilotta", "pilotta-classic", "pilotta-classic-2"])
def test_p64_targets(name: str) -> None:
    for target in (101, 151, 201, 251, 301, 351):
        match = build(name, 1, {}, target)
        assert isinstance(match, TargetMatch)
        assert match.target == target
    default = build(name, 1, {}, None)
    assert isinstance(default, TargetMatch)
    assert default.target == 151
    for target in (0, 100, 102, 350, 401):
        with pytest.raises(BadTargetError):
            build(name, 1, {}, target)


def test_options() -> None:
    chosen = {
        "score_all_declarations": "yes",
        "low_carres_count": "yes",
        "round_highest_up": "yes",
        "six_six_to_caller": "yes",
        "partner_exemption": "yes",
        "contra_timing": "in_turn",
        "contra_winner_takes_pool": "yes",
        "failed_adds_game_value": "no",
        "numeric_bid_cap": "160",
    }
    assert {option.name for option in variant("pilotta").options} == set(chosen)
    assert build("pilotta", 1, chosen, 101) == TargetMatch(
        Pilotta(True, "in_turn", True, True, True, True, True, False, 160), 101
    )
    assert build("pilotta", 1, {}, 101) == TargetMatch(Pilotta(), 101)
    assert build("pilotta-classic-2", 1, {}, 101) == TargetMatch(PilottaTwo(), 101)
    assert variant("pilotta").payout == variant("pilotta-classic").payout == "S1"
    assert variant("pilotta-classic-2").payout == "S2"


def test_the_deal_is_the_whole_pack_once() -> None:
    """Four hands of eight in the order drawn, seat 0's first."""
    play, entries = Play.begin(build("pilotta", 1, {}, 101)).advance(RandomDraw(Random(3)))
    dealer, deal = entries
    assert dealer.seat == deal.seat == CHANCE
    assert dealer.text.startswith("dealer ")
    random = RandomDraw(Random(3))
    random.below(4)
    assert play.game is not None
    pack = play.game.write(play.game.chance(play.game.start(A, (A, B, C, D)), random))
    assert deal.text == pack
