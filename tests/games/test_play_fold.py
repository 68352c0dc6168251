"""The fold of a staked game: table entries, turns, rounds, what the house does by itself."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise
from random import Random
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from kafeneio_games.game import (
    CHANCE,
    TABLE,
    Entry,
    Illegal,
    OutOfOrder,
    Refusal,
    Result,
    Seat,
    Unreadable,
)
from kafeneio_games.match import Outcome
from kafeneio_games.play import (
    FORFEIT_REASONS,
    VOID_REASONS,
    Forfeit,
    Play,
    forfeit_text,
    void_text,
)
from kafeneio_games.portes import Portes, State
from kafeneio_games.registry import build

from tests.games.boards import told
from tests.games.plays import opponent, random_act
from tests.games.positions import RandomDraw

A, B = Seat(0), Seat(1)


def begin(target: int = 1, **options: str) -> Play:
    return Play.begin(build("portes", 1, options, target))


def house(*texts: str) -> tuple[Entry, ...]:
    return tuple(Entry(CHANCE, text) for text in texts)


def turn(seat: Seat, line: str) -> tuple[Entry, ...]:
    return tuple(Entry(seat, word) for word in line.split())


def running(target: int = 1, **options: str) -> Play:
    """Seat 0 has opened with 31."""
    return begin(target, **options).apply_all(house("opening 63", "31"))


def on_and_on(play: Play, seed: int, until_turn: int) -> Play:
    """Played on at random, never to the end of the whole, up to that turn."""
    random = Random(seed)
    draw = RandomDraw(random)
    while play.turn < until_turn and not play.over:
        play, _ = play.advance(draw)
        if not play.over and play.prompted is not None and play.turn < until_turn:
            play = play.apply_all(random_act(play, random))
    return play


def bearing_off(seat: Seat, **options: str) -> Play:
    """A play in its first round in which that seat has borne off a checker."""
    for seed in range(50):
        random, play = Random(seed), running(5, **options)
        while play.round == 1:
            play, _ = play.advance(RandomDraw(random))
            if play.prompted is not None:
                play = play.apply_all(random_act(play, random))
            if play.round == 1 and play.state.boards[seat][0] > 0:
                return play
    raise AssertionError("no such play in fifty games")


def reason(play: Play, entry: Entry) -> str:
    before = play.digest()
    with pytest.raises(OutOfOrder) as caught:
        play.apply(entry)
    assert play.digest() == before
    return caught.value.reason


# ---------------------------------------------------------------- what the house does


def test_the_house_throws_until_somebody_opens() -> None:
    play = begin()
    assert play.chance_due
    assert play.to_act == (CHANCE,)
    assert play.state is None
    assert play.view(A) is None
    assert (play.round, play.turn, play.score) == (1, 0, (0, 0))
    tied = play.apply(Entry(CHANCE, "opening 55"))
    assert tied.chance_due
    opened = tied.apply(Entry(CHANCE, "opening 26"))
    assert opened.game is not None
    assert opened.chance_due
    assert opened.state.mover == B
    rolled = opened.apply(Entry(CHANCE, "64"))
    assert rolled.prompted == B
    assert rolled.turn == 1
    assert not rolled.chance_due


class Loaded:
    """A draw of given numbers."""

    def __init__(self, *numbers: int) -> None:
        self._numbers = list(numbers)

    def below(self, n: int) -> int:
        return self._numbers.pop(0)

    def shuffled(self, cards: object) -> tuple[object, ...]:
        raise NotImplementedError


def test_the_house_goes_on_until_a_seat_is_prompted() -> None:
    entries = begin().house_moves(Loaded(2, 2, 0, 4, 5, 3))  # type: ignore[arg-type]
    assert entries == house("opening 33", "opening 15", "64")
    play, again = begin().advance(Loaded(2, 2, 0, 4, 5, 3))  # type: ignore[arg-type]
    assert again == entries
    assert play == begin().apply_all(entries)
    assert play.house_moves(Loaded()) == ()  # type: ignore[arg-type]


def test_a_forced_pass_is_one_entry_of_the_house_and_no_turn() -> None:
    """Closed out on the bar: the pass is entered for the seat, the next roll follows."""
    draw = RandomDraw(Random(1))
    random = Random(2)
    found = 0
    for seed in range(30):
        play = begin()
        with told(seed):
            while not play.over and found < 5:
                before = play
                play, entries = play.advance(draw)
                passes = [entry for entry in entries if entry.text == "pass"]
                assert play.turn <= before.turn + 1
                found += len(passes)
                for entry, following in pairwise(entries):
                    if entry.text == "pass":
                        assert following.seat == CHANCE
                if not play.over:
                    play = play.apply_all(random_act(play, random))
    assert found >= 5


# ---------------------------------------------------------------- turns


def test_a_turn_is_one_prompt() -> None:
    play = running()
    assert (play.turn, play.prompted) == (1, A)
    half = play.apply(Entry(A, "8/5"))
    assert (half.turn, half.prompted) == (1, A)
    done = half.apply(Entry(A, "6/5"))
    assert (done.turn, done.prompted) == (1, None)
    answered = done.apply(Entry(CHANCE, "64"))
    assert (answered.turn, answered.prompted) == (2, B)
    assert list(answered.legal(A)) == []
    assert list(answered.legal(B))


def test_an_illegal_or_unreadable_entry_changes_nothing() -> None:
    play = running()
    for entry, error in (
        (Entry(A, "13/8"), Illegal),
        (Entry(B, "8/5"), Illegal),
        (Entry(CHANCE, "64"), Illegal),
        (Entry(A, "nonsense"), Unreadable),
        (Entry(A, "!nonsense"), Unreadable),
        (Entry(A, "!forfeit BORED"), Unreadable),
        (Entry(TABLE, "!void BORED"), Unreadable),
        (Entry(CHANCE, "opening 63"), Unreadable),
    ):
        before = hash(play)
        with pytest.raises(error):
            play.apply(entry)
        assert hash(play) == before
    with pytest.raises(Illegal):
        play.apply_all(turn(A, "8/5 8/5"))


def test_nobody_plays_before_the_opening() -> None:
    assert reason(begin(), Entry(A, "8/5")) == "NO_ROUND"
    assert reason(begin(), Entry(A, "!resign")) == "NO_ROUND"
    with pytest.raises(Unreadable):
        begin().apply(Entry(CHANCE, "64"))


# ---------------------------------------------------------------- resignation (V2.8, VA9)


@pytest.mark.parametrize("seat", [A, B])
def test_mf2_resignation_before_any_bear_off_is_two(seat: Seat) -> None:
    after = running(5).apply(Entry(seat, "!resign"))
    assert after.score == ((0, 2) if seat == A else (2, 0))
    assert not after.over
    assert after.round == 2
    assert after.chance_due
    assert after.state.mover == opponent(seat), "the other side starts the next game"


@pytest.mark.parametrize("seat", [A, B])
def test_mf2_resignation_after_a_bear_off_is_one(seat: Seat) -> None:
    after = bearing_off(seat).apply(Entry(seat, "!resign"))
    assert after.score == ((0, 1) if seat == A else (1, 0))


def test_resigning_the_only_game_ends_the_match() -> None:
    after = running(1).apply(Entry(B, "!resign"))
    assert after.outcome == Outcome((A,), (2, 0), "resigned")
    assert after.over
    assert after.round == 1
    assert after.state.result.ending == "resigned"
    assert (after.to_act, after.prompted, after.chance_due) == ((), None, False)
    assert list(after.legal(A)) == []


# ---------------------------------------------------------------- forfeits: rules F2, VA11 and VA12


@pytest.mark.parametrize("why", FORFEIT_REASONS)
@pytest.mark.parametrize("seat", [A, B])
def test_f2_a_forfeit_ends_the_match_at_any_score(seat: Seat, why: str) -> None:
    ahead = running(15).apply(Entry(opponent(seat), "!resign"))
    ahead = ahead.apply_all(house("31"))
    after = ahead.apply(Entry(seat, forfeit_text(why)))
    assert after.outcome == Outcome((opponent(seat),), (2, 2), "forfeit")
    assert after.forfeits == (Forfeit(seat, why),)
    assert after.score == (2, 2)


def test_f2_before_the_opening_throw_there_is_no_game_to_concede() -> None:
    after = begin(5).apply(Entry(A, "!forfeit LEFT"))
    assert after.outcome == Outcome((B,), (0, 0), "forfeit")


def test_f2_only_the_first_loses() -> None:
    after = running(5).apply(Entry(A, "!forfeit LEFT"))
    assert reason(after, Entry(B, "!forfeit LEFT")) == "OVER"


def test_va11_the_points_are_a_switch() -> None:
    assert bearing_off(A).apply(Entry(A, "!forfeit LEFT")).score == (0, 1)
    always_two = bearing_off(A, disconnect_points="two")
    assert always_two.apply(Entry(A, "!forfeit LEFT")).score == (0, 2)


class Peeping(Portes):
    """Shows as whom it is looked at."""

    def view(self, state: State, seat: Seat | None) -> Any:
        """The seat itself."""
        return seat


def test_f5_a_forfeited_seat_sees_what_a_spectator_sees() -> None:
    play = replace(running(), game=Peeping())
    assert [play.view(seat) for seat in (A, B, None)] == [A, B, None]
    lost = replace(play, forfeits=(Forfeit(A, "LEFT"),))
    assert [lost.view(seat) for seat in (A, B, None)] == [None, B, None]
    assert lost.view_digest(A) == lost.view_digest(None) != lost.view_digest(B)


# ---------------------------------------------------------------- the house ends it


@pytest.mark.parametrize("why", VOID_REASONS)
def test_void(why: str) -> None:
    for play in (begin(), running()):
        after = play.apply(Entry(TABLE, void_text(why)))
        assert after.outcome == Outcome((), (0, 0), "void", why)
        assert reason(after, Entry(TABLE, void_text(why))) == "OVER"


def test_cancel() -> None:
    assert begin().apply(Entry(TABLE, "!cancel")).outcome == Outcome(
        (), (0, 0), "void", "CANCELLED"
    )


def test_who_may_do_what() -> None:
    play = running()
    assert reason(play, Entry(A, "!void HOUSE")) == "NOT_THE_HOUSE"
    assert reason(play, Entry(A, "!cancel")) == "NOT_THE_HOUSE"
    for stranger in (TABLE, CHANCE, Seat(2)):
        assert reason(play, Entry(stranger, "!resign")) == "NOT_A_SEAT"
        assert reason(play, Entry(stranger, "!forfeit LEFT")) == "NOT_A_SEAT"
    with pytest.raises(ValueError, match="no reason"):
        forfeit_text("BORED")
    with pytest.raises(ValueError, match="no reason"):
        void_text("BORED")


def test_everything_is_refused_when_it_is_over() -> None:
    over = running().apply(Entry(A, "!resign"))
    for entry in (
        Entry(A, "!resign"),
        Entry(CHANCE, "64"),
        Entry(B, "24/18"),
        Entry(A, "nonsense"),
    ):
        assert reason(over, entry) == "OVER"


# ---------------------------------------------------------------- rounds


def test_match_at_four_all_to_five() -> None:
    """A match cannot be won without the points, and is won with one or two of them (VA19)."""
    play = running(5)
    for seat in (A, B, A, B):
        play = play.apply(Entry(seat, "!resign"))
        assert not play.over
        play = play.apply_all(house("31"))
    assert play.score == (4, 4)
    assert play.round == 5
    assert play.apply(Entry(A, "!resign")).outcome == Outcome((B,), (4, 6), "resigned")


def test_a_drawn_game_is_played_again() -> None:
    """S4: in a single game too; a new opening throw, the and the next round number."""
    drawn = running(1).match.after(Result((0, 0), "drawn"))
    assert drawn.outcome() is None
    assert drawn.next() is None
    again = replace(running(1), match=drawn, game=None, state=None, round=2)
    assert again.chance_due
    assert again.apply(Entry(CHANCE, "opening 12")).state.mover == B


@settings(max_examples=60, deadline=None)
@given(
    st.lists(st.tuples(st.integers(-3, 3), st.text(max_size=12)), max_size=30), st.integers(0, 40)
)
def test_any_entries_are_folded_or_refused(garbage: list[tuple[int, str]], seed: int) -> None:
    """Whatever comes in: a new value, or a refusal with the old one untouched."""
    play = on_and_on(running(3), seed, 6)
    words = ["!resign", "!forfeit LEFT", "64", "opening 63", "pass", "13/8", "6/off", "!cancel"]
    for seat, text in garbage:
        entry = Entry(Seat(seat), words[len(text)] if len(text) < len(words) else text)
        before = play.digest()
        try:
            play = play.apply(entry)
        except Refusal:
            assert play.digest() == before
