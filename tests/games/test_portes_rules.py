"""Portes rule by rule: what is refused, and by which rule; tests are named after the rule's id."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import islice
from random import Random

import pytest
from kafeneio_games import portes, tavli
from kafeneio_games.game import CHANCE, TABLE, Illegal, Result, Seat, Unreadable, perft
from kafeneio_games.portes import Portes, Stage, State, turns
from kafeneio_games.rulebook import rules_text
from kafeneio_games.tavli import PASS, MoveChecker, Roll, other

from tests.games import simple_portes
from tests.games.boards import GAME, SEATS, board, play_line, spelt, to_move, told
from tests.games.positions import played, tight
from tests.games.refusals import rules_named_in

seats = pytest.mark.parametrize("seat", SEATS, ids=["straight", "mirrored"])
START = "24:2 13:5 8:3 6:5"
FAR = "13:5 12:5 8:5"  # an opponent who is in nobody's way: my 12, 13, 17


def refused(state: State, seat: Seat, word: str) -> str:
    """The rule that refuses; the state is checked to be what it was."""
    before = hash(state)
    with pytest.raises(Illegal) as caught:
        GAME.apply(state, seat, GAME.read(word))
    assert hash(state) == before
    assert str(caught.value)
    return caught.value.rule


REFUSALS = [
    # rule, mine, theirs, roll, played before, the refused step
    ("V2.1", START, START, "64", "", "13/10"),
    ("V2.1", START, START, "64", "", "20/14"),
    ("V2.1", START, START, "64", "24/18", "18/12"),
    ("V2.1", START, START, "33", "24/21 21/18 18/15", "13/7"),
    ("V3.2", START, START, "65", "", "6/1"),
    ("V3.2", START, START, "55", "", "24/19"),
    ("V3.2", "bar:1 6:14", "6:2 13:13", "62", "", "bar/19"),
    ("V3.4", "bar:1 13:14", FAR, "63", "", "13/10"),
    ("V3.4", "bar:2 13:13", FAR, "63", "bar/22", "13/7"),
    ("V2.6", "7:1 6:14", FAR, "65", "", "6/off"),
    ("V2.6", "24:1 6:14", FAR, "65", "", "6/off"),
    ("V2.6", "6:1 5:1 3:1", FAR, "54", "", "3/off(5)"),
    ("V3.5", "18:1 3:4", FAR, "31", "", "3/off"),
    ("V2.3", "24:1 10:1 2:13", "7:2 6:2 5:2 20:2 11:2 24:2 17:3", "41", "", "10/9"),
    ("V2.3", START, START, "64", "", "pass"),
    ("V2.3", START, START, "64", "24/18", "pass"),
    ("VA2", "24:1 1:14", "11:2 6:5 8:3 3:5", "64", "", "24/20"),
]


@pytest.mark.parametrize(("rule", "mine", "theirs", "roll", "before", "step"), REFUSALS)
@seats
def test_refusal(
    rule: str, mine: str, theirs: str, roll: str, before: str, step: str, seat: Seat
) -> None:
    state = play_line(to_move(board(mine), board(theirs), roll, seat), before)
    assert refused(state, seat, step) == rule


def test_v2_1_only_the_mover_moves_and_only_after_the_roll() -> None:
    before = GAME.start(SEATS[0], SEATS)
    after = GAME.apply(before, CHANCE, Roll(6, 4))
    assert refused(before, SEATS[0], "24/18") == "V2.1"
    assert refused(before, SEATS[0], "pass") == "V2.1"
    for stranger in (SEATS[1], CHANCE, TABLE, Seat(7)):
        assert refused(after, stranger, "24/18") == "V2.1"
        assert refused(after, stranger, "pass") == "V2.1"
        assert list(GAME.legal(after, stranger)) == []


def test_v2_9_only_the_house_throws_and_only_once() -> None:
    before = GAME.start(SEATS[0], SEATS)
    after = GAME.apply(before, CHANCE, Roll(6, 4))
    assert refused(before, SEATS[0], "64") == "V2.9"
    assert refused(after, CHANCE, "64") == "V2.9"
    with pytest.raises(Illegal) as caught:
        GAME.apply(before, CHANCE, Roll(7, 1))
    assert caught.value.rule == "V2.9"


def test_v3_6_a_finished_game_takes_nothing() -> None:
    state = play_line(to_move(board("1:1"), board(FAR), "64"), "1/off(6)")
    assert state.stage is Stage.OVER
    assert GAME.to_act(state) == ()
    for seat in (*SEATS, CHANCE):
        assert list(GAME.legal(state, seat)) == []
        assert refused(state, seat, "pass") == "V3.6"
    assert GAME.withdraw(state, SEATS[0]) == state
    with pytest.raises(Illegal):
        GAME.resign(state, SEATS[0])


def test_every_rule_that_refuses_has_a_text() -> None:
    """All ids that the code can give stand in its source; the rule book has each of them."""
    raised = rules_named_in(portes)
    assert {"V2.1", "V2.3", "V2.6", "V2.9", "V3.2", "V3.4", "V3.5", "V3.6", "VA2"} <= raised
    for language in ("el", "en"):
        assert raised <= {rule.id for rule in rules_text("portes", language)}


# ---------------------------------------------------------------- the rules, one by one


@seats
def test_v2_2_a_double_is_four_moves_in_one_turn(seat: Seat) -> None:
    state = to_move(board(START), board(START), "33", seat)
    for step in ("24/21", "24/21", "13/10"):
        state = play_line(state, step)
        assert GAME.prompted(state) == seat
        assert GAME.mid_turn(state)
    state = play_line(state, "13/10")
    assert GAME.to_act(state) == (CHANCE,)
    assert state.mover == other(seat)


@seats
def test_v2_3_the_turn_ends_by_itself_when_nothing_is_left(seat: Seat) -> None:
    state = to_move(board("13:1 1:14"), board("18:2 5:7 1:6"), "33", seat)
    state = play_line(state, "13/10")
    assert state.stage is Stage.ROLL
    assert state.mover == other(seat)


def test_va1_a_first_step_must_leave_the_second() -> None:
    state = to_move(board("24:1 10:1 2:13"), board("7:2 6:2 5:2 20:2 11:2 24:2 17:3"), "41")
    assert spelt(GAME.legal(state, SEATS[0])) == {"24/23", "10/6"}


def test_va2_larger_die_or_the_one_that_moves() -> None:
    both_possible = to_move(board("24:1 1:14"), board("11:2 6:5 8:3 3:5"), "64")
    assert spelt(GAME.legal(both_possible, SEATS[0])) == {"24/18"}
    only_smaller = to_move(board("20:1 1:14"), board("15:2 14:2 13:2 12:2 11:2 1:5"), "61")
    assert spelt(GAME.legal(only_smaller, SEATS[0])) == {"20/19"}


@seats
def test_va3_a_win_needs_no_second_die(seat: Seat) -> None:
    state = to_move(board("3:1"), board("23:1 5:7 1:7"), "61", seat)
    assert spelt(GAME.legal(state, seat)) == {"3/off(6)", "3/2"}
    for line in ("3/off(6)", "3/2 2/off(6)"):
        final = play_line(state, line)
        assert final.result == Result((2, 0) if seat == 0 else (0, 2), "double")


def test_va4_no_choice_shortens_a_double() -> None:
    """Every way to play equal dice step by step is a legal turn of the second generator."""
    doubles = 0
    for state in islice((s for s in tight(4) if s.rolled[0] == s.rolled[1]), 250):
        mine, theirs = state.boards[state.mover], state.boards[other(state.mover)]
        with told("tight(4)", position=state):
            check_steps(state, (tuple(mine), tuple(theirs)), state.dice)
        doubles += 1
    assert doubles == 250


def check_steps(state: State, position: simple_portes.Position, dice: tuple[int, ...]) -> None:
    """The engine's first steps are the second generator's, here and everywhere after."""
    engine = {
        (s.start, s.die) for s in GAME.legal(state, state.mover) if isinstance(s, MoveChecker)
    }
    assert engine == simple_portes.first_steps(position, dice)
    for start, die in engine:
        after = GAME.apply(state, state.mover, MoveChecker(start, die))
        if after.stage is Stage.MOVE:
            reached = dict(simple_portes.single_steps(position, die))[start, die]
            check_steps(after, reached, after.dice)


def test_va7_a_hit_on_the_way_is_another_position() -> None:
    state = to_move(board("10:1 1:14"), board("16:1 3:14"), "21")
    assert len(turns(state)) == 2


@seats
def test_va9_resignation_on_either_turn(seat: Seat) -> None:
    state = to_move(board("6:10"), board("13:15"), "64", seat)
    one, two = GAME.resign(state, seat), GAME.resign(state, other(seat))
    assert one.result == Result((0, 1) if seat == 0 else (1, 0), "resigned")
    assert two.result == Result((2, 0) if seat == 0 else (0, 2), "resigned")
    assert GAME.concession(state, seat) == one.result


@seats
def test_va11_points_of_a_forfeit(seat: Seat) -> None:
    state = to_move(board("6:10"), board("13:15"), "64", seat)
    for game, points in ((Portes(), 1), (Portes("two"), 2)):
        result = game.withdraw(state, seat).result
        assert result == Result((0, points) if seat == 0 else (points, 0), "forfeit")
        assert game.concession(state, seat).points == ((0, 1) if seat == 0 else (1, 0))


@seats
def test_va17_the_pass_is_forced_and_prompts_nobody(seat: Seat) -> None:
    state = to_move(board("bar:1 6:14"), board("6:3 5:3 4:3 3:2 2:2 1:2"), "66", seat)
    assert GAME.prompted(state) is None
    assert GAME.to_act(state) == (seat,)
    assert list(GAME.legal(state, seat)) == [PASS]
    after = GAME.apply(state, seat, PASS)
    assert after.mover == other(seat)
    assert after.stage is Stage.ROLL
    assert turns(state) == (((), state.boards),)


def test_va18_both_shut_out_is_a_draw() -> None:
    """It cannot come up in play; the guard is there all the same."""
    shut = board("bar:1 6:3 5:3 4:2 3:2 2:2 1:2")
    state = GAME.apply(to_move(shut, shut, "61"), SEATS[0], PASS)
    assert state.result == Result((0, 0), "drawn")


@seats
def test_vb1_never_three_points(seat: Seat) -> None:
    state = to_move(board("1:1"), board("bar:1 24:14"), "64", seat)
    final = play_line(state, "1/off(6)")
    assert final.result == Result((2, 0) if seat == 0 else (0, 2), "double")


def test_vb3_after_entering_the_other_die_is_free() -> None:
    state = play_line(to_move(board("bar:1 13:14"), board(FAR), "63"), "bar/22")
    assert spelt(GAME.legal(state, SEATS[0])) == {"22/16", "13/7"}


def test_vb4_hit_and_run_is_allowed() -> None:
    state = to_move(board("6:1 1:14"), board("21:1 13:5 10:9"), "32")
    final = play_line(state, "6/4 4/1")
    assert final.boards[1][25] == 1


def test_vb5_the_opener_throws_afresh() -> None:
    state = GAME.start(SEATS[1], SEATS)
    assert GAME.to_act(state) == (CHANCE,)
    assert len(set(GAME.legal(state, CHANCE))) == 36


# ---------------------------------------------------------------- known faults of other programs


def test_entering_and_going_on_with_the_same_checker() -> None:
    """A double from the bar: one checker takes several of the four moves."""
    state = to_move(board("bar:1 6:2 3:12"), board("24:1 12:5 9:2 3:7"), "55")
    assert GAME.apply(play_line(state, "bar/20 20/15 15/10"), SEATS[0], GAME.read("10/5"))


def test_a_blocked_point_between_is_no_way_through() -> None:
    state = to_move(board("13:2 11:2 3:11"), board("13:2 1:13"), "11")
    assert len(turns(state)) == 14
    assert "13/12" not in spelt(GAME.legal(state, SEATS[0]))


# ---------------------------------------------------------------- notation


def test_notation_is_exact() -> None:
    assert len({GAME.write(action) for action in tavli.ACTIONS}) == len(tavli.ACTIONS)
    for action in tavli.ACTIONS:
        assert GAME.read(GAME.write(action)) == action
    examples: dict[str, tavli.Action] = {
        "64": Roll(6, 4),
        "46": Roll(4, 6),
        "13/8": MoveChecker(13, 5),
        "bar/20": MoveChecker(25, 5),
        "6/off": MoveChecker(6, 6),
        "3/off(6)": MoveChecker(3, 6),
        "pass": PASS,
    }
    for text, action in examples.items():
        assert GAME.read(text) == action
        assert GAME.write(action) == text
        assert GAME.show(action, None) == text


@pytest.mark.parametrize(
    "text",
    [
        *("", "0", "70", "6", "666", "13/13", "13/14", "13/6", "25/20", "bar/18", "bar/off"),
        *("24/0", "3/off(3)", "3/off(2)", "6/off(7)", "06/05", " 13/8", "13/8 ", "Pass"),
        *("１３/8", "x" * 9999),
    ],
)
def test_unreadable(text: str) -> None:
    with pytest.raises(Unreadable):
        GAME.read(text)


def test_turns_asks_for_a_roll_first() -> None:
    with pytest.raises(ValueError, match="no checker"):
        turns(GAME.start(SEATS[0], SEATS))


def test_start_asks_for_its_seats() -> None:
    with pytest.raises(ValueError, match="seats 0 and 1"):
        GAME.start(Seat(2), SEATS)
    with pytest.raises(ValueError, match="seats 0 and 1"):
        GAME.start(SEATS[0], (SEATS[0],))
    with pytest.raises(ValueError, match="no roll"):
        GAME.chance(to_move(board(START), board(START), "64"), Random(1))  # type: ignore[arg-type]


# ---------------------------------------------------------------- steps and whole turns agree


@pytest.mark.parametrize("source", [played, tight], ids=["played", "tight"])
def test_steps_lead_exactly_to_the_whole_turns(source: Callable[[int], Iterator[State]]) -> None:
    """All chains of legal single steps end where `turns` says, and where the second one says."""
    for state in islice(source(9), 150):
        mine, theirs = state.boards[state.mover], state.boards[other(state.mover)]
        with told(f"{source}(9)", position=state):
            found = turns(state)
            finals = [boards for _, boards in found]
            assert len(set(finals)) == len(finals)
            assert set(finals) == ends(state)
            plain = simple_portes.legal_finals((tuple(mine), tuple(theirs)), state.dice)
            by_seat = plain if state.mover == 0 else {(b, a) for a, b in plain}
            assert {(tuple(a), tuple(b)) for a, b in finals} == by_seat
            assert all(sum(a) == sum(b) == 15 for a, b in finals)


def ends(state: State) -> set[tavli.Boards]:
    """The boards at the end of every chain of legal steps."""
    mover, open_states, done, seen = state.mover, [state], set[tavli.Boards](), {state}
    while open_states:
        now = open_states.pop()
        for action in GAME.legal(now, mover):
            after = GAME.apply(now, mover, action)
            if after.stage is not Stage.MOVE or after.mover != mover:
                done.add(after.boards)
            elif after not in seen:
                seen.add(after)
                open_states.append(after)
    return done


def test_perft_of_nothing_is_one() -> None:
    assert perft(GAME, GAME.start(SEATS[0], SEATS), 0) == 1
