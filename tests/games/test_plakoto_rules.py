"""Plakoto rule by rule: what is refused and by which rule, and what ends a game."""

from __future__ import annotations

from itertools import islice
from random import Random

import pytest
from kafeneio_games import plakoto
from kafeneio_games.game import CHANCE, Illegal, Result, Seat
from kafeneio_games.plakoto import Plakoto, State
from kafeneio_games.tavli import PASS, Roll, Stage, other

from tests.games.boards import SEATS
from tests.games.refusals import check_texts, play_line, refused, rules_named_in, spelt
from tests.games.tavli_positions import pinned_men
from tests.games.tavli_tables import Table, table_of

GAME = Plakoto()
GOES_ON = Plakoto("continues")
BETOMALL = Plakoto("continues", "none")
seats = pytest.mark.parametrize("seat", SEATS, ids=["straight", "mirrored"])


def thrown(position: str, roll: str, seat: Seat = SEATS[0]) -> State:
    state: State = Table.read(position).thrown(GAME, roll, seat)
    return state


def points_to(seat: Seat, points: int) -> tuple[int, int]:
    return (points, 0) if seat == 0 else (0, points)


REFUSALS = [
    # rule, game, position, roll, played before, the refused step
    ("V2.1", GAME, "24:15 | 24:15", "64", "", "24/21"),
    ("V2.1", GAME, "24:15 | 24:15", "64", "", "20/14"),
    ("V2.1", GAME, "24:15 | 24:15", "64", "", "bar/19"),
    ("V4.2", GAME, "24:13 12:1 8:p | 24:12 17:1 15:2", "42", "", "8/4"),
    ("V4.3", GAME, "24:13 12:1 8:p | 24:12 17:1 15:2", "42", "", "12/8"),
    ("V4.3", GAME, "24:13 12:1 8:p | 24:12 17:1 15:2", "42", "", "12/10"),
    ("V4.8", GAME, "6:5 5:5 4:3 2:p | 23:1 13:5", "65", "", "6/off"),
    ("V4.8", GAME, "6:2 4:2 3:p | 22:1 13:14", "65", "", "6/off"),
    ("V2.6", GAME, "7:1 6:14 | 13:15", "65", "", "6/off"),
    ("V2.6", GAME, "6:1 5:1 3:1 | 13:15", "54", "", "3/off(5)"),
    ("V2.6", GOES_ON, "6:1 5:1 3:1 2:p | 23:1 13:14", "54", "", "3/off(5)"),
    ("VP6", GOES_ON, "13:p 6:5 5:5 4:4 | 24:2 12:2 5:11", "65", "", "6/off"),
    (
        *("VP6", Plakoto("continues", "none", pinned_outside_ignored=True)),
        *("24:p 6:5 5:5 4:4 | 24:2 5:12 1:1", "65", "", "6/off"),
    ),
    (
        *("VP7", Plakoto("continues", pinned_counts_as_highest=True)),
        *("6:p 5:4 4:5 | 19:1 13:14", "64", "", "5/off(6)"),
    ),
    ("V2.3", GAME, "24:15 | 24:15", "64", "", "pass"),
    ("V2.3", GAME, "24:15 | 24:15", "64", "24/18", "pass"),
    ("V2.3", GAME, "24:1 10:1 2:13 | 20:2 19:2 18:2 14:2 5:2 1:5", "41", "", "10/9"),
    ("VA2", GAME, "24:1 1:14 | 11:2 8:3 6:2 3:8", "64", "", "24/20"),
]


@pytest.mark.parametrize(("rule", "game", "position", "roll", "before", "step"), REFUSALS)
@seats
def test_refusal(
    rule: str, game: Plakoto, position: str, roll: str, before: str, step: str, seat: Seat
) -> None:
    state = play_line(game, thrown(position, roll, seat), before)
    assert refused(game, state, seat, step) == rule


def test_v2_1_and_v2_9_whose_turn_it_is() -> None:
    before = GAME.start(SEATS[0], SEATS)
    after = GAME.apply(before, CHANCE, Roll(6, 4))
    assert refused(GAME, before, SEATS[0], "24/18") == "V2.1"
    assert refused(GAME, after, SEATS[1], "24/18") == "V2.1"
    assert refused(GAME, after, SEATS[1], "pass") == "V2.1"
    assert refused(GAME, before, SEATS[0], "64") == "V2.9"
    assert refused(GAME, after, CHANCE, "64") == "V2.9"
    with pytest.raises(Illegal) as caught:
        GAME.apply(before, CHANCE, Roll(7, 1))
    assert caught.value.rule == "V2.9"
    assert list(GAME.legal(after, SEATS[1])) == []


def test_v4_9_a_finished_game_takes_nothing() -> None:
    state = play_line(GAME, thrown("1:1 | 13:15", "64"), "1/off(6)")
    assert GAME.to_act(state) == ()
    for seat in (*SEATS, CHANCE):
        assert refused(GAME, state, seat, "pass") == "V4.9"
    assert GAME.withdraw(state, SEATS[0]) == state
    assert not GAME.mid_turn(state)
    with pytest.raises(Illegal):
        GAME.resign(state, SEATS[0])


def test_every_rule_that_refuses_has_a_text() -> None:
    assert {"V4.2", "V4.3", "V4.8", "V4.9", "VP6", "VP7"} <= rules_named_in(plakoto)
    check_texts("plakoto", plakoto)
    check_texts("tavli-greek", plakoto)


# ---------------------------------------------------------------- pinning


@seats
def test_v4_4_a_released_checker_may_move_again(seat: Seat) -> None:
    state = thrown("10:1 1:14 | 15:p 13:14", "21", seat)
    assert state.pinned[other(seat)] == (15,)
    after = play_line(GAME, state, "10/9 9/7")
    assert after.pinned == ((), ())
    assert "15/9" in spelt(GAME, play_line(GAME, after, "64"))


@seats
def test_vp13_touching_down_pins_only_for_the_moment(seat: Seat) -> None:
    state = thrown("24:14 10:1 | 24:14 19:1", "41", seat)
    middle = play_line(GAME, state, "10/6")
    assert middle.pinned[other(seat)] == (19,)
    assert GAME.mid_turn(middle)
    assert play_line(GAME, middle, "6/5").pinned == ((), ())


@seats
def test_vp14_pinned_again_in_the_same_turn(seat: Seat) -> None:
    state = play_line(GAME, thrown("11:1 8:1 1:13 | 17:p 13:14", "31", seat), "8/7")
    assert state.pinned == ((), ())
    assert play_line(GAME, state, "11/8").pinned[other(seat)] == (17,)


@seats
def test_v4_5_pinning_in_the_home_of_the_opponent(seat: Seat) -> None:
    after = play_line(GAME, thrown("24:15 | 24:14 2:1", "61", seat), "24/23 24/18")
    assert after.pinned[other(seat)] == (2,)


# ---------------------------------------------------------------- the mothers


@seats
def test_v4_6_won_at_once_when_the_own_start_is_empty(seat: Seat) -> None:
    final = play_line(GAME, thrown("12:14 4:1 | 24:1 5:14", "32", seat), "4/1")
    assert final.result == Result(points_to(seat, 2), "mother")
    assert (final.dice, final.stage) == ((), Stage.OVER)
    assert final.pinned[other(seat)] == (24,)


@seats
def test_vp1_otherwise_when_the_last_checker_leaves_it(seat: Seat) -> None:
    state = play_line(GAME, thrown("24:1 12:13 4:1 | 24:1 5:14", "32", seat), "4/1")
    assert state.result is None
    assert play_line(GAME, state, "24/22").result == Result(points_to(seat, 2), "mother")
    assert play_line(GAME, state, "12/10").stage is Stage.ROLL


@seats
def test_vp2_opposing_checkers_on_the_own_start_do_not_matter(seat: Seat) -> None:
    state = thrown("12:14 4:1 | 24:1 5:12 1:2", "31", seat)
    assert play_line(GAME, state, "4/1").result == Result(points_to(seat, 2), "mother")


@seats
def test_v4_7_vp3_drawn_at_once_whoever_was_second(seat: Seat) -> None:
    for game in (GAME, GOES_ON, BETOMALL):
        final = play_line(game, thrown("24:p 12:13 4:1 | 24:1 7:13 1:1", "63", seat), "4/1")
        assert final.result == Result((0, 0), "drawn")
        assert final.stage is Stage.OVER


@seats
def test_vp4_the_last_checker_is_the_mother_late_too(seat: Seat) -> None:
    """While two stand there the point is closed; when one has left it may be pinned."""
    two = thrown("4:1 3:14 | 24:2 5:13", "32", seat)
    assert "4/1" not in spelt(GAME, two)
    one = thrown("4:1 3:14 | 24:1 5:14", "31", seat)
    assert play_line(GAME, one, "4/1").result == Result(points_to(seat, 2), "mother")


@seats
def test_betomall_knows_no_mother(seat: Seat) -> None:
    state = play_line(BETOMALL, thrown("12:14 4:1 | 24:1 5:14", "32", seat), "4/1")
    assert state.result is None
    assert state.pinned[other(seat)] == (24,)
    bearing_off = thrown("6:1 1:1 | 24:p 13:14", "61", seat)
    free = play_line(BETOMALL, bearing_off, "1/off")
    assert free.pinned == ((), ())


def test_v4_10_v4_11_a_pinned_mother_is_never_released() -> None:
    """And her owner bears off no more, in random games."""
    random, seen = Random(5), 0
    for seed in range(40):
        state = GAME.start(SEATS[seed % 2], SEATS)
        while state.stage is not Stage.OVER:
            seat = GAME.to_act(state)[0]
            before = state
            state = GAME.apply(state, seat, random.choice(list(GAME.legal(state, seat))))
            for owner in SEATS:
                if 24 in before.pinned[owner]:
                    seen += 1
                    assert 24 in state.pinned[owner], (seed, before)
                    assert state.boards[owner][0] == 0
    assert seen > 200


@seats
def test_va10_resigning_with_the_mother_pinned_gives_two(seat: Seat) -> None:
    state = thrown("24:p 12:13 4:1 | 24:1 7:13 1:1", "63", seat)
    assert GAME.resign(state, seat).result == Result(points_to(other(seat), 2), "resigned")
    assert GAME.concession(state, other(seat)).points == points_to(seat, 2)


@seats
def test_va11_points_of_a_forfeit(seat: Seat) -> None:
    state = thrown("6:10 | 13:15", "64", seat)
    for game, points in ((GAME, 1), (Plakoto(disconnect_points="two"), 2)):
        result = game.withdraw(state, seat).result
        assert result == Result(points_to(other(seat), points), "forfeit")


# ---------------------------------------------------------------- bearing off


@seats
def test_v4_8_the_sets_differ(seat: Seat) -> None:
    state = thrown("6:5 5:5 4:3 2:p | 23:1 13:5", "65", seat)
    assert spelt(GAME, state) == {"6/1"}
    assert spelt(GOES_ON, state) == {"6/off", "5/off", "6/1"}


@seats
def test_vp10_bearing_off_goes_on_when_the_pin_is_gone(seat: Seat) -> None:
    pinned = thrown("6:2 4:2 3:p | 22:1 13:14", "65", seat)
    free = thrown("6:2 4:2 3:1 | 21:1 13:14", "65", seat)
    assert not any("off" in word for word in spelt(GAME, pinned))
    assert "6/off" in spelt(GAME, free)


@seats
def test_the_last_pinned_checker_waits_while_the_others_are_off(seat: Seat) -> None:
    state = thrown("3:p | 22:1 13:14", "65", seat)
    assert GOES_ON.prompted(state) is None
    assert list(GOES_ON.legal(state, seat)) == [PASS]


@seats
def test_va17_the_pass_is_forced_and_prompts_nobody(seat: Seat) -> None:
    state = thrown("24:15 | 7:15", "66", seat)
    assert GAME.prompted(state) is None
    assert GAME.to_act(state) == (seat,)
    after = GAME.apply(state, seat, PASS)
    assert (after.mover, after.stage) == (other(seat), Stage.ROLL)
    assert GAME.turns(state) == (((), state.boards, state.pinned),)


def test_va18_both_shut_out_is_a_draw() -> None:
    """It cannot come up in play, for V4.7 has drawn the game; the guard is there all the same."""
    state = thrown("24:p 1:14 | 24:p 1:14", "61")
    assert GAME.apply(state, SEATS[0], PASS).result == Result((0, 0), "drawn")
    one_moves = thrown("24:p 1:14 | 24:p 13:13 1:1", "61")
    assert GAME.apply(one_moves, SEATS[0], PASS).result is None


# ---------------------------------------------------------------- the rest


def test_turns_and_start_ask_for_the_right_moment() -> None:
    start = GAME.start(SEATS[0], SEATS)
    with pytest.raises(ValueError, match="no checker"):
        GAME.turns(start)
    with pytest.raises(ValueError, match="seats 0 and 1"):
        GAME.start(Seat(2), SEATS)
    with pytest.raises(ValueError, match="no roll"):
        GAME.chance(GAME.apply(start, CHANCE, Roll(6, 4)), None)  # type: ignore[arg-type]
    assert GAME.view(start, None) is start


def test_turns_say_which_checkers_are_pinned() -> None:
    """As `apply` does, whichever way the turn was reached."""
    for one in islice(pinned_men(3), 200):
        state = one.table.thrown(GAME, one.roll, SEATS[1])
        for path, boards, pinned in GAME.turns(state):
            after = state
            for step in path or (PASS,):
                after = GAME.apply(after, SEATS[1], step)
            assert (after.boards, after.pinned) == (boards, pinned)
            assert table_of(after, SEATS[0]).pinned == pinned
