"""Path counts of Plakoto, Fevga and Gul Bara, on which engine and second generator agree."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import pytest
from kafeneio_games.game import Seat, perft

from tests.games import simple_tavli
from tests.games.boards import SEATS
from tests.games.case_files import asked, game_with
from tests.games.simple_tavli import Hand
from tests.games.tavli_tables import GAMES, AnyState, AnyTavli, Table, rules_of

FOLDER = Path(__file__).parents[1] / "perft"


@dataclass(frozen=True)
class Line:
    """One line of a file."""

    name: str
    game: AnyTavli
    table: Table
    roll: str
    received: tuple[int, ...]
    counts: tuple[int, ...]

    def state(self, seat: Seat) -> AnyState:
        """The position with `seat` on move."""
        if self.received:
            return self.table.receiving(self.received, seat)
        return self.table.thrown(self.game, self.roll, seat)


def read_lines(game: str) -> list[Line]:
    found = []
    for line in (FOLDER / f"{game}.txt").read_text().splitlines():
        if line and not line.startswith("#"):
            name, position, words, counts = (part.strip() for part in line.split(";"))
            roll, received, throw, options = asked(words.split())
            table = Table.read(position, (throw - 1, 0))
            numbers = tuple(map(int, counts.split()))
            found.append(Line(name, game_with(game, options), table, roll, received, numbers))
    return found


LINES = [line for game in GAMES for line in read_lines(game)]
lines = pytest.mark.parametrize("line", LINES, ids=[f"{x.game.name}-{x.name}" for x in LINES])


@lines
@pytest.mark.parametrize("seat", SEATS, ids=["straight", "mirrored"])
def test_perft(line: Line, seat: Seat) -> None:
    state = line.state(seat)
    found = tuple(perft(line.game, state, depth + 1) for depth in range(len(line.counts)))
    assert found == line.counts


@lines
def test_perft_by_the_second_generator(line: Line) -> None:
    rules, position, state = rules_of(line.game), line.table.plain(), line.state(SEATS[0])
    depths = range(1, len(line.counts) + 1)
    if rules.game == "gulbara":
        hand = Hand(position, state.dice, bool(line.received), state.throws)
        found = [simple_tavli.perft_gulbara(rules, hand, depth) for depth in depths]
    else:
        found = [simple_tavli.perft(rules, position, state.dice, depth) for depth in depths]
    assert tuple(found) == line.counts
