"""Gul Bara rule by rule: escalations, numbers handed over, and whose move it is."""

from __future__ import annotations

import pytest
from kafeneio_games import gulbara
from kafeneio_games.game import CHANCE, Entry, Illegal, Result, Seat
from kafeneio_games.gulbara import Gulbara, State
from kafeneio_games.play import Play
from kafeneio_games.registry import build
from kafeneio_games.tavli import PASS, Roll, Stage, other

from tests.games.boards import SEATS
from tests.games.refusals import check_texts, play_line, refused, rules_named_in, spelt
from tests.games.tavli_tables import Table

GAME = Gulbara()
seats = pytest.mark.parametrize("seat", SEATS, ids=["straight", "mirrored"])
GB06 = "16:1 1:14 | 16:1 6:14"
GB06_LIST = (4, 4, 5, 5, 5, 5, 6, 6, 6, 6)
GB07 = "16:1 8:14 | 24:1 16:14"


def thrown(position: str, roll: str, seat: Seat = SEATS[0], throw: int = 1) -> State:
    state: State = Table.read(position, (throw - 1, 0)).thrown(GAME, roll, seat)
    return state


def received(position: str, numbers: tuple[int, ...], seat: Seat = SEATS[0]) -> State:
    return Table.read(position).receiving(numbers, seat)


def points_to(seat: Seat, points: int) -> tuple[int, int]:
    return (points, 0) if seat == 0 else (0, points)


REFUSALS = [
    # rule, state, played before, the refused step
    ("V2.1", thrown("24:15 | 24:15", "64"), "", "24/21"),
    ("V2.1", thrown("24:15 | 24:15", "64"), "", "20/14"),
    ("V2.1", thrown("24:15 | 24:15", "64"), "", "bar/19"),
    ("V5.1", thrown("24:14 13:1 | 24:15", "21"), "", "13/12"),
    ("V2.6", thrown("7:1 6:14 | 1:15", "65"), "", "6/off"),
    ("V2.6", thrown("6:1 5:1 3:1 | 13:15", "54"), "", "3/off(5)"),
    ("V6.2", thrown("14:1 1:14 | 24:1 12:14", "44", throw=4), "", "14/9"),
    ("V6.2", thrown("14:1 1:14 | 24:1 12:14", "44", throw=4), "14/10", "10/5"),
    ("V6.2", received(GB07, GB06_LIST), "", "8/2"),
    ("V2.3", thrown("24:15 | 24:15", "64"), "", "pass"),
    ("V2.3", received(GB07, GB06_LIST), "", "pass"),
    ("V2.3", thrown("23:1 13:1 1:13 | 18:1 5:14", "61"), "", "13/12"),
    ("VA2", received("13:1 1:14 | 14:1 18:14", (6, 5)), "", "13/8"),
]


@pytest.mark.parametrize(("rule", "state", "before", "step"), REFUSALS)
def test_refusal(rule: str, state: State, before: str, step: str) -> None:
    state = play_line(GAME, state, before)
    assert refused(GAME, state, state.mover, step) == rule


def test_v2_1_and_v2_9_whose_turn_it_is() -> None:
    before = GAME.start(SEATS[0], SEATS)
    after = GAME.apply(before, CHANCE, Roll(6, 4))
    assert refused(GAME, before, SEATS[0], "24/18") == "V2.1"
    assert refused(GAME, after, SEATS[1], "24/18") == "V2.1"
    assert refused(GAME, after, SEATS[1], "pass") == "V2.1"
    assert refused(GAME, before, SEATS[0], "64") == "V2.9"
    assert refused(GAME, after, CHANCE, "64") == "V2.9"
    assert refused(GAME, received(GB07, GB06_LIST), CHANCE, "64") == "V2.9"


def test_v5_6_a_finished_game_takes_nothing() -> None:
    state = play_line(GAME, thrown("1:1 | 13:15", "64"), "1/off(6)")
    for seat in (*SEATS, CHANCE):
        assert refused(GAME, state, seat, "pass") == "V5.6"
    assert GAME.withdraw(state, SEATS[0]) == state
    assert not GAME.mid_turn(state)
    with pytest.raises(Illegal):
        GAME.resign(state, SEATS[0])


def test_every_rule_that_refuses_has_a_text() -> None:
    assert {"V5.1", "V5.6", "V6.2"} <= rules_named_in(gulbara)
    for variant in ("gulbara", "tavli-macedonian", "tavli-bulgarian", "tavli"):
        check_texts(variant, gulbara)


# ---------------------------------------------------------------- what a throw gives (GB01)


def test_gb01_numbers_of_a_throw() -> None:
    assert GAME.numbers((2, 2), 3) == (2,) * 4
    assert GAME.numbers((2, 2), 4) == (2,) * 4 + (3,) * 4 + (4,) * 4 + (5,) * 4 + (6,) * 4
    assert GAME.numbers((1, 1), 4) == tuple(n for n in range(1, 7) for _ in range(4))
    assert GAME.numbers((6, 6), 4) == (6,) * 4
    assert GAME.numbers((5, 4), 9) == (5, 4)
    assert GAME.numbers((4, 5), 9) == (5, 4)


@seats
def test_vg5_only_the_own_throws_count_passed_ones_too(seat: Seat) -> None:
    """Neither what was received nor the other's throws."""
    shut = "13:1 1:14 | 20:1 19:1 6:13"
    state = Table.read(shut, (2, 7)).thrown(GAME, "65", seat)
    assert state.throws[seat] == 3
    after = GAME.apply(state, seat, PASS)
    assert after.throws == state.throws
    assert after.received == (6, 5)
    done = play_line(GAME, after, " ".join(first_way(after)))
    assert done.throws == state.throws
    rolled = GAME.apply(done, CHANCE, Roll(3, 3))
    assert rolled.throws[other(seat)] == 8
    assert rolled.throws[seat] == 3


def first_way(state: State) -> list[str]:
    """The first legal steps to the end of this prompt."""
    seat, words = state.mover, list[str]()
    while not words or (state.mover == seat and GAME.mid_turn(state)):
        action = next(iter(GAME.legal(state, seat)))
        words.append(GAME.write(action))
        state = GAME.apply(state, seat, action)
    return words


@seats
def test_v6_1_the_fourth_throw_escalates_and_the_third_does_not(seat: Seat) -> None:
    position = "14:1 1:14 | 24:1 12:14"
    assert thrown(position, "44", seat, 3).dice == (4,) * 4
    assert thrown(position, "44", seat, 4).dice == (4,) * 4 + (5,) * 4 + (6,) * 4


# ---------------------------------------------------------------- handed over


@seats
def test_vg1_vg4_what_is_left_goes_over_in_order(seat: Seat) -> None:
    state = play_line(GAME, thrown(GB06, "44", seat, 5), "16/12 12/8")
    assert (state.mover, state.stage, state.rolled) == (other(seat), Stage.MOVE, ())
    assert state.received == state.dice == GB06_LIST
    third = play_line(GAME, thrown("8:1 1:14 | 14:1 6:14", "33", seat, 2), "8/5")
    assert third.received == (3, 3, 3)


@seats
def test_vg2_a_receiver_passes_over_what_he_cannot_play(seat: Seat) -> None:
    state = received(GB07, GB06_LIST, seat)
    assert spelt(GAME, state) == {"16/11", "8/3"}
    after = play_line(GAME, state, "8/3")
    assert after.received == GB06_LIST
    assert after.dice == (5, 5, 5, 6, 6, 6, 6), "the 4s are lost"
    stop = Gulbara("stop")
    assert stop.prompted(state) is None
    assert spelt(stop, state) == {"pass"}


@seats
def test_v6_3_the_receiver_throws_next_and_nothing_comes_back(seat: Seat) -> None:
    state = received("13:1 1:14 | 14:1 18:14", (6, 5), seat)
    after = play_line(GAME, state, "13/7")
    assert (after.mover, after.stage) == (seat, Stage.ROLL)
    assert after.received == after.dice == ()


@seats
def test_vg3_nothing_playable_is_a_pass_and_then_the_own_throw(seat: Seat) -> None:
    state = received("13:1 1:14 | 20:1 19:1 18:13", (6, 5), seat)
    assert GAME.prompted(state) is None
    assert list(GAME.legal(state, seat)) == [PASS]
    after = GAME.apply(state, seat, PASS)
    assert (after.mover, after.stage, after.received) == (seat, Stage.ROLL, ())


@seats
def test_vg10_a_receiver_may_win_before_his_throw(seat: Seat) -> None:
    state = received("6:1 | 18:10 6:4", (6, 5), seat)
    final = play_line(GAME, state, "6/off")
    assert final.result == Result(points_to(seat, 1), "single")
    assert final.received == final.dice == ()


@seats
def test_vg11_a_win_ends_the_escalation(seat: Seat) -> None:
    final = play_line(GAME, thrown("6:1 5:1 | 18:15", "55", seat, 4), "6/1 5/off 1/off(5)")
    assert final.result == Result(points_to(seat, 2), "double")
    assert final.received == final.dice == ()


@seats
def test_va9_resigning_drops_what_is_pending(seat: Seat) -> None:
    state = received(GB07, GB06_LIST, seat)
    for leaver in SEATS:
        final = GAME.resign(state, leaver)
        assert final.result == Result(points_to(other(leaver), 2), "resigned")
        assert final.received == final.dice == ()
        gone = GAME.withdraw(state, leaver)
        assert gone.result == Result(points_to(other(leaver), 2), "forfeit")
        assert gone.received == ()


# ---------------------------------------------------------------- prompts


@seats
def test_x1_playing_received_numbers_is_a_prompt_of_its_own(seat: Seat) -> None:
    state = received(GB07, GB06_LIST, seat)
    assert GAME.prompted(state) == seat
    assert not GAME.mid_turn(state)
    begun = play_line(GAME, state, "8/3")
    assert GAME.mid_turn(begun)
    done = play_line(GAME, begun, " ".join(first_way(begun)))
    assert not GAME.mid_turn(done)
    rolled = GAME.apply(done, CHANCE, Roll(2, 1))
    assert GAME.prompted(rolled) == seat
    assert not GAME.mid_turn(rolled)


def test_x1_turn_numbers_in_a_play() -> None:
    """Thrower, receiver, and the receiver's own throw: three prompts, without a row between."""
    play = Play.begin(build("gulbara", 1, {}, 1)).apply(Entry(CHANCE, "opening 63"))
    play = play.apply(Entry(CHANCE, "44"))
    assert (play.turn, play.prompted) == (1, 0)
    for word in ("24/20", "24/20", "20/16", "24/20"):
        assert play.prompted == 0
        play = play.apply(Entry(SEATS[0], word))
    assert (play.turn, play.prompted) == (1, None)
    stuck = Table.read("13:1 1:14 | 24:1 19:1 14:1 6:12", (6, 3)).thrown(GAME, "65", SEATS[0])
    play = Play(play.match, GAME, stuck, turn=9, awaited=SEATS[0])
    play = play.apply(Entry(SEATS[0], "13/8"))
    assert (play.turn, play.prompted) == (10, 1)
    assert play.state.received == (6,)
    play = play.apply(Entry(SEATS[1], "24/18"))
    assert (play.turn, play.prompted, play.chance_due) == (10, None, True)
    play = play.apply(Entry(CHANCE, "21"))
    assert (play.turn, play.prompted) == (11, 1)


@seats
def test_mf3_the_next_game_starts_without_numbers_and_throws(seat: Seat) -> None:
    play = Play.begin(build("gulbara", 1, {}, 15)).apply(Entry(CHANCE, "opening 63"))
    pending = received(GB07, GB06_LIST, seat)
    play = Play(play.match, GAME, pending, turn=9, awaited=seat)
    after = play.apply(Entry(seat, "!resign"))
    assert after.round == 2
    assert after.state == GAME.start(other(seat), SEATS)
    assert (after.state.received, after.state.throws) == ((), (0, 0))


# ---------------------------------------------------------------- the rest


def test_turns_go_number_by_number() -> None:
    escalated = thrown("14:1 1:14 | 24:1 12:14", "44", throw=4)
    assert {len(path) for path, _ in GAME.turns(escalated)} == {4}
    with pytest.raises(ValueError, match="no checker"):
        GAME.turns(GAME.start(SEATS[0], SEATS))
    shut = thrown("13:1 1:14 | 20:1 19:1 6:13", "65")
    assert GAME.turns(shut) == (((), shut.boards),)
    assert len(GAME.turns(received("13:1 1:14 | 18:15", (6, 5)))) == 1


def test_a_wall_may_stand_and_many_may_leave_the_start() -> None:
    state = thrown("24:9 23:1 22:1 21:1 20:1 5:2 | 24:14 18:1", "56")
    held = [all(boards[0][19:25]) for _, boards in GAME.turns(state)]
    assert any(held)
    start = thrown("24:15 | 24:15", "21")
    assert spelt(GAME, play_line(GAME, start, "24/22")) == {"24/23", "22/21"}


def test_va11_points_of_a_forfeit() -> None:
    state = thrown("6:10 | 13:15", "64")
    for game, points in ((GAME, 1), (Gulbara(disconnect_points="two"), 2)):
        assert game.withdraw(state, SEATS[0]).result == Result((0, points), "forfeit")
    with pytest.raises(ValueError, match="seats 0 and 1"):
        GAME.start(Seat(2), SEATS)
