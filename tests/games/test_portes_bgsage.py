"""Portes against an independent program: equal sets of resulting positions.

All wins are one class (VA3).  The test prints how many positions each forced-dice filter changed,
and a second test shows that without any one of them the comparison fails.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable
from functools import lru_cache
from itertools import islice
from typing import TypeAlias

import bgsage
import pytest
from kafeneio_games import lookahead
from kafeneio_games.lookahead import Groups
from kafeneio_games.portes import State, turns
from kafeneio_games.tavli import Path, other

from tests.games.boards import text, told
from tests.games.positions import played, tight

Found: TypeAlias = Groups[dict[int, Path]]
PLAYED, TIGHT, SEED = 4000, 4000, 20261130
WIN = "win"


def longest_of_two(groups: Found) -> Found:
    """`most_dice`, only for two different dice."""
    return groups if is_double(groups) else lookahead.most_dice(groups)


def longest_of_double(groups: Found) -> Found:
    """`most_dice`, only for doubles."""
    return lookahead.most_dice(groups) if is_double(groups) else groups


def is_double(groups: Found) -> bool:
    """Whether a double is being played: some turn of two or more equal dice, or one die only."""
    return len({die for used in groups for die in used}) == 1 and max(map(len, groups)) != 1


FILTERS: dict[str, Callable[[Found], Found]] = {
    "both dice": longest_of_two,
    "all of a double": longest_of_double,
    "larger die": lookahead.larger_die,
}


@lru_cache(maxsize=1)
def positions() -> tuple[State, ...]:
    return (*islice(played(SEED), PLAYED), *islice(tight(SEED), TIGHT))


def judge(state: State) -> set[object]:
    """What bgsage says: both boards after the turn, in the mover's numbering."""
    mine, theirs = state.boards[state.mover], state.boards[other(state.mover)]
    counts = [theirs[25], *(mine[p] - theirs[25 - p] for p in range(1, 25)), mine[25]]
    found: list[list[int]] = bgsage.possible_moves(counts, *state.rolled)
    return {as_judged(after) for after in found or [counts]}


def as_judged(counts: list[int]) -> object:
    return tuple(counts) if any(n > 0 for n in counts[1:]) else WIN


def engine(
    state: State,
    filters: Iterable[Callable[[Found], Found]] = (lookahead.most_dice, lookahead.larger_die),
) -> set[object]:
    """What the engine says, in the same form."""
    results: set[object] = set()
    for _, boards in turns(state, filters):
        mine, theirs = boards[state.mover], boards[other(state.mover)]
        counts = [theirs[25], *(mine[p] - theirs[25 - p] for p in range(1, 25)), mine[25]]
        results.add(as_judged(counts))
    return results


def test_same_results_as_an_independent_program() -> None:
    changed: Counter[str] = Counter()
    for number, state in enumerate(positions()):
        expected = judge(state)
        with told(f"{SEED}, position {number}", position=describe(state)):
            assert engine(state) == expected
        for name in FILTERS:
            changed[name] += engine(state, all_but(name)) != expected
    print(f"\n{len(positions())} positions and rolls, {TIGHT} of them tight; changed by the filter")
    for name in FILTERS:
        print(f"  {name:16} {changed[name]}")
    # By VA4 no choice shortens a double; that filter drops what sorted generation leaves behind.
    # So the other two must reach the number by themselves.
    assert changed["both dice"] + changed["larger die"] >= 300
    assert min(changed.values()) >= 100


@pytest.mark.parametrize("name", FILTERS)
def test_without_a_filter_the_comparison_fails(name: str) -> None:
    assert any(engine(state, all_but(name)) != judge(state) for state in positions())


def all_but(name: str) -> list[Callable[[Found], Found]]:
    return [keep for other_name, keep in FILTERS.items() if other_name != name]


def test_the_tight_positions_are_tight() -> None:
    """The generator keeps its promise: men on the bar, and turns that cannot be played in full."""
    sample = positions()[PLAYED:]
    on_bar = sum(state.boards[state.mover][25] > 0 for state in sample)
    short = sum(len(turns(state)[0][0]) < len(state.dice) for state in sample)
    assert len(sample) * 3 >= len(positions())
    assert on_bar >= 600
    assert short >= 1000


def describe(state: State) -> str:
    mine, theirs = state.boards[state.mover], state.boards[other(state.mover)]
    return f"seat {state.mover} {state.rolled}: {text(mine)} | {text(theirs)}"
