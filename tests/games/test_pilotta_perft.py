"""Path counts of pilotta as a text file, on which the games and a second program agree."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
from kafeneio_games.cards import Deal
from kafeneio_games.game import Seat, perft

from tests.games import simple_pilotta_perft
from tests.games.pilotta_hands import GAMES, cards, say, start
from tests.games.simple_pilotta_perft import Position

FILE = Path(__file__).parents[1] / "perft" / "pilotta.txt"
BY_NAME = {game.name.removesuffix("@1"): game for game in GAMES}


@dataclass(frozen=True)
class Line:
    """A line of the file: see there."""

    name: str
    game: str
    dealer: Seat
    deal: Deal
    words: tuple[str, ...]
    counts: tuple[int, ...]


def lines() -> Iterator[Line]:
    for text in FILE.read_text().splitlines():
        if text and not text.startswith("#"):
            name, game, dealer, deal, words, counts = (part.strip() for part in text.split(";"))
            *hands, turned, rest = map(cards, deal.split("/"))
            yield Line(
                name,
                game,
                Seat(int(dealer)),
                Deal(tuple(hands), turned, rest),
                tuple(words.split()),
                tuple(map(int, counts.split())),
            )


LINES = tuple(lines())
perfts = pytest.mark.parametrize("line", LINES, ids=[line.name for line in LINES])


@perfts
def test_perft(line: Line) -> None:
    game = BY_NAME[line.game]
    state = say(game, start(game, line.deal, line.dealer), " ".join(line.words))
    counts = [perft(game, state, depth + 1) for depth in range(len(line.counts))]
    assert tuple(counts) == line.counts


@pytest.mark.matrix
@perfts
def test_perft_by_the_second_program(line: Line) -> None:
    words = tuple(word.replace(":", " ") for word in line.words)
    deal = line.deal
    position = Position(line.dealer, deal.hands, deal.turned, deal.rest, words)
    depths = range(1, len(line.counts) + 1)
    counts = [simple_pilotta_perft.perft(position, depth) for depth in depths]
    assert tuple(counts) == line.counts


def test_all_games_are_there() -> None:
    assert {line.game for line in LINES} == set(BY_NAME)
