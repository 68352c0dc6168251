"""Path counts as a text file, on which the engine and a second, plain way of counting agree."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
from kafeneio_games.belote_play import State
from kafeneio_games.coinche import Coinche
from kafeneio_games.game import CHANCE, perft

from tests.games import simple_belote
from tests.games.belote_tables import SEATS, AnyBelote, N, game_of, line

FILE = Path(__file__).parents[1] / "perft" / "belote.txt"


@dataclass(frozen=True)
class Line:
    """A deal by N, calls and cards, and how many ways go on from there, by depth."""

    game: AnyBelote
    deal: str
    calls: str
    counts: tuple[int, ...]

    def state(self) -> State:
        state = self.game.apply(self.game.start(N, SEATS), CHANCE, self.game.read(self.deal))
        return line(self.game, state, self.calls) if self.calls != "-" else state


def lines() -> Iterator[tuple[str, Line]]:
    deals: dict[str, str] = {}
    for text in FILE.read_text().splitlines():
        if text.startswith("deal "):
            deals[text.split()[1]] = "deal " + text.split()[2]
        elif text and not text.startswith("#"):
            name, table, deal, calls, counts = (part.strip() for part in text.split(";"))
            kind, rules, *options = table.split()
            chosen = dict(option.split("=") for option in options)
            game = game_of(kind, rules, **chosen)
            yield name, Line(game, deals[deal], calls, tuple(map(int, counts.split())))


LINES = tuple(lines())
every = pytest.mark.parametrize("given", [one for _, one in LINES], ids=[name for name, _ in LINES])


@every
def test_perft(given: Line) -> None:
    state = given.state()
    found = tuple(perft(given.game, state, depth + 1) for depth in range(len(given.counts)))
    assert found == given.counts


@every
def test_perft_the_plain_way(given: Line) -> None:
    state = given.state()
    undertrump = given.game.undertrump if isinstance(given.game, Coinche) else True
    depths = range(1, len(given.counts) + 1)
    if state.play is not None:
        hands = tuple(map(frozenset, state.play.hands))
        table = (hands, int(state.play.turn), tuple(state.play.trick))
        found = tuple(cards(table, state.play.trump, undertrump, depth) for depth in depths)
    else:
        assert isinstance(given.game, Coinche)
        hands = tuple(map(frozenset, state.hands))
        said = tuple((int(seat), given.game.write(call)) for seat, call in state.calls)
        found = tuple(calls(said, given.game, hands, depth) for depth in depths)
    assert found == given.counts


def test_the_rule_sets_differ_where_they_should() -> None:
    """N8 and N9 change the counts of the same deals."""
    by_name = dict(LINES)
    for name in ("auction after a high bid", "auction after a capot", "play", "ruffs"):
        assert by_name[name].deal == by_name[f"{name}, official"].deal
        assert by_name[name].counts != by_name[f"{name}, official"].counts


Hands = tuple[frozenset[str], ...]
Table = tuple[Hands, int, tuple[str, ...]]


def cards(table: Table, trump: str, undertrump: bool, depth: int) -> int:
    """Ways to play so many cards."""
    hands, turn, trick = table
    if depth == 0:
        return 1
    count = 0
    for card in simple_belote.legal(hands[turn], trick, trump, undertrump):
        left = tuple(hand - {card} for hand in hands)
        lying, following = (*trick, card), (turn + 1) % 4
        if len(lying) == 4:
            following = (turn + 1 + simple_belote.holder(lying, trump)) % 4
            lying = ()
        count += cards((left, following, lying), trump, undertrump, depth - 1)
    return count


Said = tuple[tuple[int, str], ...]


def calls(said: Said, game: Coinche, hands: Hands, depth: int) -> int:
    """Ways that an auction opened by seat 1 can go on, and the play after it."""
    if depth == 0:
        return 1
    options = may_say(said, game)
    if options:
        return sum(calls((*said, one), game, hands, depth - 1) for one in options)
    bid = last_bid(said)
    return cards((hands, 1, ()), bid[-1], game.undertrump, depth) if bid else 0


def last_bid(said: Said) -> str:
    """The highest bid; "" where there is none."""
    bids = [word for _, word in said if word[0].isdigit() or word.startswith("capot")]
    return bids[-1] if bids else ""


def may_say(said: Said, game: Coinche) -> list[tuple[int, str]]:
    """Everything that anybody may say now, from the list of what was said."""
    words = [word for _, word in said]
    bids = [(seat, word) for seat, word in said if last_bid(((seat, word),))]
    contra = next((at for at, word in enumerate(words) if word.startswith("contra")), None)
    if contra is not None:
        bidder = bids[-1][0]
        first = bidder if game.contra_any_time else (said[contra][0] + 1) % 4
        asked = [first, (first + 2) % 4][len(said) - contra - 1 :]
        over = "recontra" in words or not asked
        return [] if over else [(asked[0], "recontra"), (asked[0], "pass")]
    turn = (1 + len(said)) % 4
    passes = len(words) if not bids else words[::-1].index(bids[-1][1])
    if passes == (3 if bids else 4):
        return []
    top = 650 if game.declarations.played else 160
    last = 70 if not bids else 999 if bids[-1][1].startswith("capot") else int(bids[-1][1][:-1])
    found = [f"{value}{suit}" for value in range(last + 10, top + 1, 10) for suit in "SHDC"]
    found += [f"capot{suit}" for suit in "SHDC"] if last < 999 else []
    options = [(turn, word) for word in [*found, "pass"]]
    if bids:
        others = [seat for seat in range(4) if seat % 2 != bids[-1][0] % 2]
        able = others if game.contra_any_time else [seat for seat in others if seat == turn]
        options += [(seat, f"contra {len(bids)}") for seat in able]
    return options
