"""Path counts as text files, on which the engine and a second, plain generator agree."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from kafeneio_games.game import Seat, perft
from kafeneio_games.portes import Stage, State

from tests.games import simple_portes
from tests.games.boards import GAME, SEATS, board, to_move

FILE = Path(__file__).parents[1] / "perft" / "portes.txt"


def lines() -> Iterator[tuple[str, str, str, list[int]]]:
    for line in FILE.read_text().splitlines():
        if line and not line.startswith("#"):
            name, position, roll, counts = (part.strip() for part in line.split(";"))
            yield name, position, roll, [int(count) for count in counts.split()]


def start_of(position: str, roll: str, seat: Seat) -> State:
    mine, theirs = map(board, position.split("|"))
    if roll != "-":
        return to_move(mine, theirs, roll, seat)
    boards = (mine, theirs) if seat == 0 else (theirs, mine)
    return State(boards, seat, (), (), Stage.ROLL, None)


LINES = tuple(lines())
perfts = pytest.mark.parametrize(
    ("position", "roll", "counts"), [line[1:] for line in LINES], ids=[line[0] for line in LINES]
)


@perfts
@pytest.mark.parametrize("seat", SEATS, ids=["straight", "mirrored"])
def test_perft(position: str, roll: str, counts: list[int], seat: Seat) -> None:
    state = start_of(position, roll, seat)
    found = [perft(GAME, state, depth) for depth in range(1, len(counts) + 1)]
    assert found == counts


@perfts
def test_perft_by_the_second_generator(position: str, roll: str, counts: list[int]) -> None:
    mine, theirs = (tuple(board(side)) for side in position.split("|"))
    dice = start_of(position, roll, SEATS[0]).dice
    found = [
        simple_portes.perft((mine, theirs), dice, depth) for depth in range(1, len(counts) + 1)
    ]
    assert found == counts
