"""Fevga rule by rule: what is refused and by which rule, and what the walls allow."""

from __future__ import annotations

from itertools import islice

import pytest
from kafeneio_games import fevga
from kafeneio_games.fevga import Fevga, State
from kafeneio_games.game import CHANCE, Illegal, Result, Seat
from kafeneio_games.tavli import PASS, Roll, Stage, other

from tests.games import simple_tavli
from tests.games.boards import SEATS, told
from tests.games.refusals import check_texts, play_line, refused, rules_named_in, spelt
from tests.games.tavli_positions import near_front_wall, near_lock, near_start_wall, played
from tests.games.tavli_tables import Table, plain_of, rules_of

GAME = Fevga()
BETOMALL = Fevga("always", wall_front=False)
seats = pytest.mark.parametrize("seat", SEATS, ids=["straight", "mirrored"])
F09 = "24:10 23:1 22:1 21:1 20:1 10:1 | 24:8 17:1 6:1 5:1 4:1 3:1 2:1 1:1"
F10 = "24:9 11:2 10:1 9:1 8:1 7:1 | 24:8 17:1 16:1 15:1 14:1 13:1 7:1 6:1"
F11C = "24:3 23:3 22:3 21:3 20:2 1:1 | 14:15"


def thrown(position: str, roll: str, seat: Seat = SEATS[0]) -> State:
    state: State = Table.read(position).thrown(GAME, roll, seat)
    return state


def points_to(seat: Seat, points: int) -> tuple[int, int]:
    return (points, 0) if seat == 0 else (0, points)


REFUSALS = [
    # rule, position, roll, played before, the refused step
    ("V2.1", "24:15 | 24:15", "64", "", "24/21"),
    ("V2.1", "24:15 | 24:15", "64", "", "20/14"),
    ("V2.1", "24:15 | 24:15", "64", "", "bar/19"),
    ("V5.1", "24:14 13:1 | 24:15", "21", "", "13/12"),
    ("V5.1", "24:14 13:1 | 24:14 6:1", "61", "", "24/18"),
    ("V5.2", "24:14 18:1 | 24:15", "21", "", "24/22"),
    ("V5.2", "24:15 | 24:15", "21", "24/22", "24/23"),
    ("V5.2", "24:14 13:1 | 23:1 22:1 21:1 20:1 19:10 2:1", "11", "", "24/23"),
    ("V5.4", F09, "65", "", "24/19"),
    ("V5.4", F09, "56", "", "24/19"),
    ("V5.4", F10, "65", "", "11/6"),
    ("V5.5", F11C, "21", "", "24/22"),
    ("V5.5", F11C, "61", "", "24/18"),
    ("V5.5", F11C, "61", "20/14", "24/23"),
    ("V2.6", "7:1 6:14 | 1:15", "65", "", "6/off"),
    ("V2.6", "6:1 5:1 3:1 | 13:15", "54", "", "3/off(5)"),
    ("V2.3", "24:15 | 24:15", "64", "", "pass"),
    ("V2.3", "23:1 13:1 1:13 | 18:1 5:14", "61", "", "13/12"),
    ("VA2", "23:1 1:14 | 1:1 2:1 24:13", "65", "", "23/18"),
]


@pytest.mark.parametrize(("rule", "position", "roll", "before", "step"), REFUSALS)
@seats
def test_refusal(rule: str, position: str, roll: str, before: str, step: str, seat: Seat) -> None:
    state = play_line(GAME, thrown(position, roll, seat), before)
    assert refused(GAME, state, seat, step) == rule


def test_v2_1_and_v2_9_whose_turn_it_is() -> None:
    before = GAME.start(SEATS[0], SEATS)
    after = GAME.apply(before, CHANCE, Roll(6, 4))
    assert refused(GAME, before, SEATS[0], "24/18") == "V2.1"
    assert refused(GAME, after, SEATS[1], "24/18") == "V2.1"
    assert refused(GAME, after, SEATS[1], "pass") == "V2.1"
    assert refused(GAME, before, SEATS[0], "64") == "V2.9"
    assert refused(GAME, after, CHANCE, "64") == "V2.9"
    assert list(GAME.legal(after, SEATS[1])) == []


def test_v5_6_a_finished_game_takes_nothing() -> None:
    state = play_line(GAME, thrown("1:1 | 13:15", "64"), "1/off(6)")
    assert state.result == Result((2, 0), "double")
    assert GAME.to_act(state) == ()
    for seat in (*SEATS, CHANCE):
        assert refused(GAME, state, seat, "pass") == "V5.6"
    assert GAME.withdraw(state, SEATS[0]) == state
    with pytest.raises(Illegal):
        GAME.resign(state, SEATS[0])


def test_every_rule_that_refuses_has_a_text() -> None:
    assert {"V5.1", "V5.2", "V5.4", "V5.5", "V5.6"} <= rules_named_in(fevga)
    check_texts("fevga", fevga)
    check_texts("tavli-greek", fevga)


# ---------------------------------------------------------------- the first checker


@seats
def test_v5_2_the_first_checker_frees_the_rest_in_mid_turn(seat: Seat) -> None:
    state = play_line(GAME, thrown("24:15 | 24:15", "55", seat), "24/19 19/14")
    assert spelt(GAME, state) == {"14/9"}
    assert spelt(GAME, play_line(GAME, state, "14/9")) == {"24/19", "9/4"}


@seats
def test_vf11_on_12_it_is_not_past(seat: Seat) -> None:
    state = thrown("24:14 12:1 | 23:1 22:1 21:1 20:1 18:10 2:1", "21", seat)
    assert spelt(GAME, state) == {"pass"}
    past = thrown("24:14 11:1 | 24:1 22:1 21:1 20:1 18:10 2:1", "21", seat)
    assert "24/23" in spelt(GAME, past)


def test_vf15_no_wall_while_it_runs() -> None:
    """Nor a lock: in random games the limits matter only when it has passed."""
    for one in islice(played("fevga", 4), 600):
        if not any(one.table.mine[:12]):
            held = sum(1 for point in range(1, 25) if one.table.mine[point])
            assert held <= 2


# ---------------------------------------------------------------- walls


@pytest.mark.parametrize("source", [near_start_wall, near_front_wall])
def test_v5_4_no_turn_ends_in_a_wall(source: object) -> None:
    rules = rules_of(GAME)
    ended = 0
    for one in islice(source(8), 250):  # type: ignore[operator]
        state = one.table.thrown(GAME, one.roll, SEATS[0])
        with told(8, position=f"{one.table} {one.roll}"):
            if simple_tavli.any_wall(rules, one.table.plain()):
                continue  # a wall that nobody could have built
            for path, boards in GAME.turns(state):
                after = plain_of(Table(*boards).thrown(GAME, "-", SEATS[0]), SEATS[0])
                assert not simple_tavli.any_wall(rules, after)
                ended += bool(path)
    assert ended > 1000


@seats
def test_vf2_a_wall_in_passing_is_no_wall(seat: Seat) -> None:
    state = thrown("24:10 23:1 22:1 21:1 20:1 1:1 | 24:10 21:1 6:1 5:1 4:1 3:1", "55", seat)
    middle = play_line(GAME, state, "24/19")
    assert spelt(GAME, middle) == {"24/19", "19/14"}
    assert GAME.prompted(middle) == seat
    each_move = Fevga(wall_when="every_move")
    assert spelt(each_move, state) == {"pass"}


@seats
def test_vf3_the_wall_counts_more_than_the_dice(seat: Seat) -> None:
    state = thrown(F09, "65", seat)
    assert spelt(GAME, state) == {"10/4"}
    after = play_line(GAME, state, "10/4")
    assert (after.mover, after.stage) == (other(seat), Stage.ROLL)


@seats
def test_vf4_a_wall_that_stands_may_stay(seat: Seat) -> None:
    """Nobody is behind it any more, or on his start."""
    start = thrown("24:2 23:2 22:2 21:2 20:2 19:2 1:3 | 6:1 5:14", "21", seat)
    assert "24/22" in spelt(GAME, start)
    front = thrown("11:2 10:2 9:2 8:2 7:2 6:2 1:3 | 23:1 5:14", "21", seat)
    assert "11/9" in spelt(GAME, front)


@seats
def test_vf5_vf6_who_is_behind(seat: Seat) -> None:
    wall = "24:10 23:1 22:1 21:1 20:1 2:1"
    behind, past = ("13:1 5:14", "24:1 5:14", "24:15"), ("6:15", "6:1", "1:15")
    for theirs, allowed in [(one, False) for one in behind] + [(one, True) for one in past]:
        state = thrown(f"{wall} | {theirs}", "54", seat)
        held = any(
            all(boards[seat][point] for point in range(19, 25)) for _, boards in GAME.turns(state)
        )
        assert held == allowed
    front = "24:9 11:2 10:1 9:1 8:1 7:1"
    for theirs, allowed in (("24:1 5:14", False), ("23:1 5:14", True), ("13:1 5:14", True)):
        state = thrown(f"{front} | {theirs}", "51", seat)
        held = any(all(boards[seat][6:12]) for _, boards in GAME.turns(state))
        assert held == allowed


@seats
def test_betomall_forbids_the_one_wall_always_and_the_other_never(seat: Seat) -> None:
    start = thrown("24:10 23:1 22:1 21:1 20:1 1:1 | 6:10 5:1 4:1 3:1 2:1 1:1", "65", seat)
    assert spelt(GAME, start) == {"24/19"}
    assert spelt(BETOMALL, start) == {"pass"}
    assert refused(BETOMALL, start, seat, "24/19") == "V5.4"
    front = thrown(F10, "65", seat)
    assert spelt(GAME, front) == {"pass"}
    assert spelt(BETOMALL, front) == {"11/6"}


# ---------------------------------------------------------------- leave a move


@seats
def test_vf9_a_lock_must_be_opened(seat: Seat) -> None:
    state = thrown(F11C, "21", seat)
    assert spelt(GAME, state) == {"20/18", "20/19"}
    assert len(GAME.turns(state)) == 1
    assert len(Fevga(leave_move="off").turns(state)) == 16


def test_vf7_vf8_the_opponent_has_a_move_where_that_can_be() -> None:
    """And no fewer dice are played for it."""
    off, opened = Fevga(leave_move="off"), 0
    rules = rules_of(GAME)
    for one in islice(near_lock(6), 250):
        state = one.table.thrown(GAME, one.roll, SEATS[0])
        with told(6, position=f"{one.table} {one.roll}"):
            turns, others = GAME.turns(state), off.turns(state)
            assert {len(path) for path, _ in turns} <= {len(path) for path, _ in others}
            moving = [simple_tavli.can_move(rules, Table(*boards).plain()) for _, boards in turns]
            assert all(moving) or len(turns) == len(others)
            opened += len(turns) < len(others)
    assert opened > 60


# ---------------------------------------------------------------- results and the rest


@seats
def test_va9_va11_resigning_and_leaving(seat: Seat) -> None:
    state = thrown("6:10 | 13:15", "64", seat)
    assert GAME.resign(state, seat).result == Result(points_to(other(seat), 1), "resigned")
    assert GAME.resign(state, other(seat)).result == Result(points_to(seat, 2), "resigned")
    for game, points in ((GAME, 1), (Fevga(disconnect_points="two"), 2)):
        result = game.withdraw(state, seat).result
        assert result == Result(points_to(other(seat), points), "forfeit")


@seats
def test_va17_the_pass_is_forced_and_prompts_nobody(seat: Seat) -> None:
    state = thrown("24:14 13:1 | 24:15", "11", seat)
    assert GAME.prompted(state) is None
    assert list(GAME.legal(state, seat)) == [PASS]
    after = GAME.apply(state, seat, PASS)
    assert (after.mover, after.stage) == (other(seat), Stage.ROLL)
    assert GAME.turns(state) == (((), state.boards),)


def test_turns_and_start_ask_for_the_right_moment() -> None:
    start = GAME.start(SEATS[0], SEATS)
    with pytest.raises(ValueError, match="no checker"):
        GAME.turns(start)
    with pytest.raises(ValueError, match="seats 0 and 1"):
        GAME.start(Seat(2), SEATS)
    assert GAME.view(start, None) is start
    assert GAME.show(PASS, None) == "pass"
