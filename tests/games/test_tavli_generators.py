"""Plakoto, Fevga and Gul Bara against the second generator, filter by filter.

Each test prints how many positions every filter changed; with any one of them left out the
comparison fails.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from functools import cache
from itertools import islice

import pytest
from kafeneio_games.fevga import Fevga
from kafeneio_games.game import Seat
from kafeneio_games.gulbara import Gulbara
from kafeneio_games.plakoto import Plakoto
from kafeneio_games.tavli import MoveChecker

from tests.games import simple_tavli
from tests.games.boards import SEATS, told
from tests.games.simple_tavli import FORCED, HANDED, LEAVE, WALLS, Position
from tests.games.tavli_positions import SOURCES, Thrown, played
from tests.games.tavli_tables import (
    GAMES,
    AnyTavli,
    ends,
    plain_of,
    rules_of,
    table_of,
)

SEED = 20261130
PLAYED = "played"
# How many positions of each source, and which filters are counted on them.
COUNTS: dict[str, dict[str, tuple[int, tuple[str, ...]]]] = {
    "plakoto": {"few movers": (2200, FORCED), "pinned": (500, ()), PLAYED: (150, ())},
    "fevga": {
        "few movers": (2200, FORCED),
        "start wall": (850, WALLS[:1]),
        "front wall": (750, WALLS[1:]),
        "lock": (700, (LEAVE,)),
        PLAYED: (150, ()),
    },
    # Of random play none: an escalation has too many ends where there is room.
    "gulbara": {"few movers": (1800, FORCED[::2]), "escalations": (1200, HANDED[:3])},
}
AT_LEAST = 300
CASES = [
    (name, source, left_out)
    for name, sources in COUNTS.items()
    for source, (_, filters) in sources.items()
    for left_out in filters
]


@cache
def positions(name: str, source: str) -> tuple[tuple[Thrown, Seat], ...]:
    """Those of one source, for either seat in turn."""
    made = played(name, SEED) if source == PLAYED else SOURCES[name][source](SEED)
    found = islice(made, COUNTS[name][source][0])
    return tuple((thrown, SEATS[number % 2]) for number, thrown in enumerate(found))


def plainly(game: AnyTavli, thrown: Thrown, without: str = "") -> set[object]:
    """What the second generator says: positions, in Gul Bara each with what is handed over."""
    rules, position = rules_of(game), thrown.table.plain()
    first, second = map(int, thrown.roll)
    throw = thrown.table.throws[0] + 1
    if isinstance(game, Gulbara):
        given = simple_tavli.numbers(rules, first, second, throw, without)
        return set(simple_tavli.thrown(rules, position, given, without))
    given = simple_tavli.numbers(rules, first, second, 1)
    return set(simple_tavli.legal_finals(rules, position, given, without))


def engine(game: AnyTavli, thrown: Thrown, seat: Seat) -> set[object]:
    """What the engine says, in the same form, by walking all chains of legal steps."""
    after = ends(game, thrown.table.thrown(game, thrown.roll, seat))
    if isinstance(game, Gulbara):
        return {(plain_of(state, seat), state.received) for state in after}
    return {plain_of(state, seat) for state in after}


@pytest.mark.matrix
@pytest.mark.parametrize(
    ("name", "source"), [(name, source) for name, sources in COUNTS.items() for source in sources]
)
def test_same_turns_as_the_second_generator(name: str, source: str) -> None:
    game, changed = GAMES[name], Counter[str]()
    filters = COUNTS[name][source][1]
    for number, (thrown, seat) in enumerate(positions(name, source)):
        expected = plainly(game, thrown)
        with told(f"{SEED}, {source} {number}", position=f"{thrown.table} {thrown.roll} {seat}"):
            assert engine(game, thrown, seat) == expected
        for left_out in filters:
            changed[left_out] += plainly(game, thrown, left_out) != expected
    print(f"\n{name}, {source}: {len(positions(name, source))} positions; changed by the filter")
    for left_out in filters:
        print(f"  {left_out:24} {changed[left_out]}")
    assert all(changed[left_out] >= AT_LEAST for left_out in filters)


@pytest.mark.parametrize(("name", "source", "left_out"), CASES)
def test_without_a_filter_the_comparison_fails(name: str, source: str, left_out: str) -> None:
    game = GAMES[name]
    differs = (
        engine(game, thrown, seat) != plainly(game, thrown, left_out)
        for thrown, seat in positions(name, source)
    )
    assert any(differs)


# ---------------------------------------------------------------- received numbers

RECEIVED = ("both dice", "larger die", "skipping")


def receptions() -> list[tuple[Thrown, tuple[int, ...]]]:
    """Positions of few movers, and what may be received: pairs, rests of doubles and of more."""
    lists: list[tuple[int, ...]] = [(n,) for n in range(1, 7)]
    lists += [(a, b) for a in range(2, 7) for b in range(1, a)] * 3
    lists += [(n,) * count for n in range(1, 7) for count in (2, 3, 4)]
    lists += [
        tuple([n] * count + [higher for higher in range(n + 1, 7) for _ in range(4)])
        for n in range(2, 6)
        for count in (1, 2, 3, 4)
    ]
    found = []
    for number, thrown in enumerate(islice(SOURCES["gulbara"]["few movers"](SEED + 1), 5000)):
        first, second = sorted(map(int, thrown.roll), reverse=True)
        as_thrown = first != second and number % 2 == 0
        found.append((thrown, (first, second) if as_thrown else lists[number % len(lists)]))
    return found


def after_receiving(game: Gulbara, thrown: Thrown, given: tuple[int, ...]) -> set[Position]:
    seat = SEATS[len(given) % 2]
    after = ends(game, thrown.table.receiving(given, seat))
    assert all(state.mover == seat and not state.received for state in after if not state.result)
    return {plain_of(state, seat) for state in after}


def test_received_numbers_are_played_as_the_second_generator_plays_them() -> None:
    changed = Counter[str]()
    for thrown, given in receptions():
        for game in (Gulbara(), Gulbara("stop")):
            rules, position = rules_of(game), thrown.table.plain()
            expected = simple_tavli.received(rules, position, given)
            with told(SEED, position=f"{thrown.table} {given} {game}"):
                assert after_receiving(game, thrown, given) == expected
            for left_out in RECEIVED:
                other = simple_tavli.received(rules, position, given, left_out)
                changed[left_out] += other != expected
    print(f"\nreceived: {len(receptions())} positions and lists, twice; changed by the filter")
    for left_out in RECEIVED:
        print(f"  {left_out:24} {changed[left_out]}")
    assert min(changed[left_out] for left_out in RECEIVED) >= AT_LEAST


# ---------------------------------------------------------------- options

OPTIONS: dict[str, tuple[AnyTavli, ...]] = {
    "pinned": (
        Plakoto("continues"),
        Plakoto("continues", "none"),
        Plakoto("waits", "none"),
        Plakoto("continues", pinned_outside_ignored=True),
        Plakoto("continues", pinned_counts_as_highest=True),
        Plakoto("continues", "none", True, True),
    ),
    "start wall": (
        Fevga("always", wall_front=False),
        Fevga("both_quadrants"),
        Fevga("four_points"),
        Fevga("any_six"),
        Fevga(wall_when="every_move"),
    ),
    "front wall": (
        Fevga("always", wall_front=False),
        Fevga("both_quadrants"),
        Fevga(wall_when="every_move"),
    ),
    "lock": (Fevga(leave_move="off"), Fevga("any_six", leave_move="off")),
    "escalations": (Gulbara(escalate_from_own_throw=5), Gulbara(escalate_from_own_throw=9)),
}


@pytest.mark.matrix
@pytest.mark.parametrize(
    ("source", "game"),
    [(source, game) for source, games in OPTIONS.items() for game in games],
    ids=[f"{source} {n}" for source, games in OPTIONS.items() for n in range(len(games))],
)
def test_options_as_the_second_generator_knows_them(source: str, game: AnyTavli) -> None:
    """And each of them matters: somewhere the turns are others than without it."""
    name = game.name.partition("@")[0]
    differs = 0
    for number, thrown in enumerate(islice(SOURCES[name][source](SEED + 2), 150)):
        seat = SEATS[number % 2]
        with told(f"{SEED + 2}, {source} {number}", position=f"{thrown.table} {thrown.roll}"):
            found = engine(game, thrown, seat)
            assert found == plainly(game, thrown)
        differs += found != plainly(GAMES[name], thrown)
    assert differs


# ---------------------------------------------------------------- steps


@pytest.mark.parametrize("name", ["plakoto", "fevga"])
def test_first_steps_are_those_of_legal_turns(name: str) -> None:
    """In the midst of turns too; with doubles that is VA4."""
    game: AnyTavli = GAMES[name]
    rules = rules_of(game)
    for source, make in SOURCES[name].items():
        for thrown in islice(make(SEED + 3), 100):
            state = thrown.table.thrown(game, thrown.roll, SEATS[0])
            while state.mover == 0 and game.prompted(state) == 0:
                steps = [s for s in game.legal(state, SEATS[0]) if isinstance(s, MoveChecker)]
                with told(f"{SEED + 3}, {source}", position=f"{table_of(state, SEATS[0])} {state}"):
                    plain = simple_tavli.first_steps(rules, plain_of(state, SEATS[0]), state.dice)
                    assert {(step.start, step.die) for step in steps} == plain
                state = game.apply(state, SEATS[0], steps[len(steps) // 2])


def test_the_sources_keep_their_promises() -> None:
    """What is rare in play is common in them."""
    limits: dict[str, Callable[[Position], bool]] = {
        "start wall": lambda p: sum(p.mine[point] > 0 for point in range(19, 25)) >= 4,
        "front wall": lambda p: sum(p.mine[point] > 0 for point in range(6, 12)) >= 4,
        "pinned": lambda p: bool(p.pinned or p.their_pinned),
    }
    for name, sources in SOURCES.items():
        for source, make in sources.items():
            tables = [thrown.table for thrown in islice(make(SEED), 200)]
            assert all(sum(table.mine) == sum(table.theirs) == 15 for table in tables)
            if source in limits:
                assert sum(limits[source](table.plain()) for table in tables) >= 120
            rules = rules_of(GAMES[name])
            assert all(simple_tavli.ending(rules, table.plain()) is None for table in tables)
