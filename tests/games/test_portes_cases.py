"""The worked cases of Portes, each for both seats; named after their ids."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
from kafeneio_games.game import Result, Seat
from kafeneio_games.portes import Stage, State, turns
from kafeneio_games.tavli import PASS, other

from tests.games import simple_portes
from tests.games.boards import GAME, SEATS, board, is_pass, to_move

FILE = Path(__file__).parents[1] / "golden" / "portes_cases.txt"


@dataclass(frozen=True)
class Case:
    """A position and roll, the results as (mine, theirs, points won or 0), and their number."""

    name: str
    roll: str
    mine: bytes
    theirs: bytes
    results: frozenset[tuple[bytes, bytes, int]]
    count: int


def read_position(line: str) -> tuple[bytes, bytes, int]:
    mine, theirs, *win = line.split("|")
    return board(mine), board(theirs), int(win[0].split()[1]) if win else 0


def read_cases(lines: Iterator[str]) -> Iterator[Case]:
    for line in lines:
        if not line.startswith("case "):
            continue
        _, name, roll = line.split()
        mine, theirs, _ = read_position(next(lines))
        results: set[tuple[bytes, bytes, int]] = set()
        count = 0
        for result in iter(lambda: next(lines, "").strip(), ""):
            if result.startswith("count"):
                count = int(result.split()[1])
            else:
                results.add(read_position(result.removeprefix("->")))
        yield Case(name, roll, mine, theirs, frozenset(results), count or len(results))


CASES = tuple(read_cases(iter(FILE.read_text().splitlines())))
cases = pytest.mark.parametrize("case", CASES, ids=[f"tavli-{case.name}" for case in CASES])
seats = pytest.mark.parametrize("seat", SEATS, ids=["straight", "mirrored"])


def after(state: State, path: tuple[object, ...]) -> State:
    for step in path or (PASS,):
        state = GAME.apply(state, state.mover, step)  # type: ignore[arg-type]
    return state


@cases
@seats
def test_case(case: Case, seat: Seat) -> None:
    state = to_move(case.mine, case.theirs, case.roll, seat)
    found = set()
    for path, boards in turns(state):
        final = after(state, path)
        assert final.boards == boards
        assert final.stage is not Stage.MOVE
        won = final.result.points[seat] if final.result else 0
        found.add((boards[seat], boards[other(seat)], won))
    assert len(found) == case.count
    if case.results:
        assert found == case.results


@cases
def test_case_by_the_second_generator(case: Case) -> None:
    state = to_move(case.mine, case.theirs, case.roll)
    finals = simple_portes.legal_finals((tuple(case.mine), tuple(case.theirs)), state.dice)
    assert len(finals) == case.count
    if case.results:
        assert finals == {(tuple(mine), tuple(theirs)) for mine, theirs, _ in case.results}


def test_every_case_is_there() -> None:
    given = {case.name for case in CASES if not case.name.startswith("own-")}
    rolls = {f"P-start-{a}{b}" for a in range(1, 7) for b in range(1, a + 1)}
    numbers = (6, 8, 11, 14, 15, 16, 17, 18, 19, 20, 21)
    assert given == rolls | {f"P{n:02}" for n in numbers}


@seats
def test_double_win_counts_two_and_single_one(seat: Seat) -> None:
    """P20 and P12: the same moves, with and without a checker borne off by the loser."""
    for case in CASES:
        if case.name in ("P20", "own-P12-double-win"):
            state = to_move(case.mine, case.theirs, case.roll, seat)
            final = after(state, turns(state)[0][0])
            points = 1 if case.name == "P20" else 2
            ending = "single" if points == 1 else "double"
            assert final.result == Result((points, 0) if seat == 0 else (0, points), ending)


@seats
def test_a_forced_pass_is_the_only_action(seat: Seat) -> None:
    case = next(case for case in CASES if case.name == "P14")
    state = to_move(case.mine, case.theirs, case.roll, seat)
    assert GAME.to_act(state) == (seat,)
    assert GAME.prompted(state) is None
    (only,) = GAME.legal(state, seat)
    assert is_pass(only)
