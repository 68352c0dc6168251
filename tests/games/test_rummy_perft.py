"""Path counts of the rummy games, on which engine and second generator agree."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest
from kafeneio_games import koumkan, thanasis
from kafeneio_games.game import perft
from kafeneio_games.koumkan import Koumkan
from kafeneio_games.rummy_hand import Stage
from kafeneio_games.thanasis import Thanasis

from tests.games import simple_rummy
from tests.games.rummy_tables import koumkan_state, plain, plain_rules, thanasis_state

FOLDER = Path(__file__).parents[1] / "perft"


@dataclass(frozen=True)
class Line:
    """One line of a file."""

    name: str
    game: Koumkan | Thanasis
    state: Any
    counts: tuple[int, ...]


def fields(file: str) -> Iterator[list[str]]:
    for line in (FOLDER / file).read_text().splitlines():
        if line and not line.startswith("#"):
            yield [part.strip() for part in line.split(";")]


def options_of(words: list[str], players: int) -> dict[str, Any]:
    pairs = (word.split("=") for word in words if word.endswith(("=yes", "=no")))
    return {name: value == "yes" for name, value in pairs} | {"players": players}


def of_koumkan() -> Iterator[Line]:
    for name, hands, melds, words, counts in fields("koumkan.txt"):
        given = dict(word.split("=") for word in words.split() if "=" in word)
        state = koumkan_state(
            hands,
            [meld.strip() for meld in melds.split(",") if meld.strip()],
            pile=given["pile"],
            drawn="draw" not in words.split(),
            taken=given.get("taken", ""),
            stock=108,
        )
        game = Koumkan(**options_of(words.split(), len(state.hands)))
        yield Line(name, game, state, tuple(map(int, counts.split())))


def of_thanasis() -> Iterator[Line]:
    for name, hands, turned, words, counts in fields("thanasis.txt"):
        state = thanasis_state(hands, turned, stock=108)
        options = options_of(words.split(), len(state.hands))
        game = Thanasis(wild_twos="dynamitis" in words.split(), **options)
        yield Line(name, game, state, tuple(map(int, counts.split())))


LINES = (*of_koumkan(), *of_thanasis())
lines = pytest.mark.parametrize("line", LINES, ids=[f"{x.game.name}-{x.name}" for x in LINES])


@lines
def test_perft(line: Line) -> None:
    found = [perft(line.game, line.state, depth + 1) for depth in range(len(line.counts))]
    assert tuple(found) == line.counts


@lines
def test_perft_by_the_second_generator(line: Line) -> None:
    depths = range(1, len(line.counts) + 1)
    if isinstance(line.game, Koumkan):
        assert isinstance(line.state, koumkan.State)
        rules, position = plain_rules(line.game), plain(line.state)
        found = [simple_rummy.perft(position, rules, depth) for depth in depths]
    else:
        found = [perft_thanasis(line.game, line.state, depth) for depth in depths]
    assert tuple(found) == line.counts


def perft_thanasis(game: Thanasis, state: thanasis.State, depth: int) -> int:
    """By the slow search; a hand that is over has no paths on."""
    if depth == 0:
        return 1
    ranks = game.meld_rules(state).wild_ranks
    rules = simple_rummy.Rules(ranks, game.ace_high_low, 2 if game.two_naturals else 1)
    hand, mover = state.hands[state.mover], state.mover
    hands = list(state.hands)
    if state.stage is Stage.DRAW:
        hands[mover] = (*hand, state.stock[0])
        drawn = replace(state, hands=tuple(hands), stock=state.stock[1:], stage=Stage.PLAY)
        return perft_thanasis(game, drawn, depth - 1)
    paths = 0
    for card in set(hand):
        left = list(hand)
        left.remove(card)
        if simple_rummy.least_deadwood(left, rules, 1) == 0:
            paths += depth == 1
        hands[mover] = tuple(left)
        following = type(mover)((mover + 1) % len(hands))
        after = replace(state, hands=tuple(hands), mover=following, stage=Stage.DRAW)
        paths += perft_thanasis(game, after, depth - 1)
    return paths
