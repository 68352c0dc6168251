"""Matches: who opens, the score, draws, resignation, forfeits, overshooting."""

from __future__ import annotations

import pytest
from kafeneio_games.game import Illegal, Result, Seat, Unreadable
from kafeneio_games.match import (
    OpeningThrow,
    Outcome,
    PointsMatch,
    read_opening,
    write_opening,
)
from kafeneio_games.portes import Portes

A, B = Seat(0), Seat(1)
SINGLE_A, SINGLE_B = Result((1, 0), "single"), Result((0, 1), "single")
DOUBLE_A, DOUBLE_B = Result((2, 0), "double"), Result((0, 2), "double")
DRAW = Result((0, 0), "drawn")


def match(target: int) -> PointsMatch:
    return PointsMatch((Portes(),), target)


def first_of(match: PointsMatch) -> Seat | None:
    following = match.next()
    return following.first if following else None


def test_v2_4_the_higher_die_opens_and_ties_are_thrown_again() -> None:
    fresh = match(5)
    assert first_of(fresh) is None
    tied = fresh.opened("opening 44")
    assert tied == fresh
    assert first_of(tied.opened("opening 63")) == A
    assert first_of(tied.opened("opening 16")) == B


def test_v2_4_no_opening_throw_when_none_is_due() -> None:
    with pytest.raises(Illegal) as caught:
        match(5).opened("opening 63").opened("opening 63")
    assert caught.value.rule == "V2.4"
    with pytest.raises(Illegal):
        match(5).opened("opening 631")


def test_v2_5_the_winner_opens_the_next_game() -> None:
    after = match(5).opened("opening 63").after(SINGLE_B)
    assert first_of(after) == B
    assert first_of(after.after(DOUBLE_A)) == A


def test_va8_after_a_draw_the_dice_say_who_opens() -> None:
    after = match(1).opened("opening 63").after(DRAW)
    assert after.score == (0, 0)
    assert after.outcome() is None
    assert first_of(after) is None
    assert first_of(after.opened("opening 12")) == B


def test_mf1_a_sequence_of_three_games() -> None:
    """The flow of a Greek set, with three games that can be told apart."""
    one, two, three = Portes(), Portes("two"), Portes()
    now = PointsMatch((one, two, three), 5).opened("opening 63")
    openers, games = [first_of(now)], [now.next().game]  # type: ignore[union-attr]
    for result in (DOUBLE_A, DRAW, SINGLE_B, DOUBLE_A, SINGLE_A):
        now = now.after(result)
        if now.outcome() is None and now.next() is None:
            openers.append(None)
            now = now.opened("opening 26")
        following = now.next() if now.outcome() is None else None
        if following:
            openers.append(following.first)
            games.append(following.game)
    assert openers == [A, A, None, B, B, A]
    assert games == [one, two, three, one, two]
    assert now.outcome() == Outcome((A,), (5, 1), "single")


@pytest.mark.parametrize(
    ("last", "score"), [(SINGLE_A, (5, 4)), (DOUBLE_A, (6, 4)), (DOUBLE_B, (4, 6))]
)
def test_va19_overshooting_is_ignored(last: Result, score: tuple[int, int]) -> None:
    now = match(5).opened("opening 63")
    for result in (DOUBLE_A, DOUBLE_A, DOUBLE_B, DOUBLE_B):
        now = now.after(result)
    assert now.score == (4, 4)
    assert now.outcome() is None
    outcome = now.after(last).outcome()
    assert outcome is not None
    assert outcome.score == score
    assert outcome.winners == ((A,) if score[0] > score[1] else (B,))


@pytest.mark.parametrize("seat", [A, B])
def test_f2_va12_a_forfeit_gives_the_match_away_at_any_score(seat: Seat) -> None:
    ahead = match(15).opened("opening 63").after(DOUBLE_A if seat == A else DOUBLE_B)
    outcome = ahead.withdraw(seat).outcome()
    assert outcome is not None
    assert outcome.winners == (Seat(1 - seat),)
    assert outcome.void is None


def test_f2_if_both_leave_the_first_loses() -> None:
    gone = match(5).opened("opening 63").withdraw(A)
    assert gone.withdraw(B) == gone
    assert gone.outcome().winners == (B,)  # type: ignore[union-attr]


def test_a_decided_match_stays_decided() -> None:
    won = match(1).opened("opening 63").after(SINGLE_A)
    assert won.withdraw(A) == won
    with pytest.raises(ValueError, match="over"):
        won.next()
    with pytest.raises(ValueError, match="over"):
        won.after(SINGLE_A)


def test_wrong_calls_are_refused() -> None:
    with pytest.raises(ValueError, match="no game was being played"):
        match(5).after(SINGLE_A)
    with pytest.raises(ValueError, match="no seat"):
        match(5).withdraw(Seat(2))


@pytest.mark.parametrize("text", ["opening 63", "opening 11", "opening 6314"])
def test_opening_notation(text: str) -> None:
    assert write_opening(read_opening(text)) == text
    assert read_opening("opening 63") == OpeningThrow((6, 3))


@pytest.mark.parametrize("text", ["", "opening", "opening ", "opening 07", "Opening 63", "63", "x"])
def test_unreadable_opening(text: str) -> None:
    with pytest.raises(Unreadable):
        read_opening(text)
