"""What stands out: colluders among honest players do, and honest regulars of a small house do
not."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import combinations
from math import comb, exp, factorial, log10
from random import Random

import pytest
from kafeneio_matchmaking.players.conduct import (
    Activity,
    Flag,
    FlagKind,
    House,
    Meetings,
    binomial_surprise,
    flags,
    poisson_surprise,
)


@dataclass(frozen=True)
class Game:
    """A game for a stake at a table of those who play for themselves: the first one wins."""

    players: tuple[str, ...]
    left: tuple[str, ...] = ()
    variant: str = "portes"


def counted(games: list[Game], values: dict[str, int]) -> tuple[list[Activity], list[Meetings]]:
    """The counts of games, as the database would have them."""
    played: Counter[tuple[str, str]] = Counter()
    met: Counter[tuple[str, str]] = Counter()
    left: Counter[tuple[str, str]] = Counter()
    pairs: defaultdict[tuple[str, str, str], Counter[str]] = defaultdict(Counter)
    for game in games:
        for player in game.players:
            played[game.variant, player] += 1
            met[game.variant, player] += len(game.players) - 1
            left[game.variant, player] += player in game.left
        for one, other in combinations(sorted(game.players), 2):
            count = pairs[game.variant, one, other]
            count["games"] += 1
            count["won"] += game.players[0] == one
            count["lost"] += game.players[0] == other
            count["left"] += one in game.left
            count["other left"] += other in game.left
    activities = [
        Activity(*key, games=number, met=met[key], left=left[key]) for key, number in played.items()
    ]
    meetings = [
        Meetings(
            variant,
            (one, other),
            count["games"],
            (count["won"], count["lost"]),
            (count["left"], count["other left"]),
            (values.get(one, 1500), values.get(other, 1500)),
        )
        for (variant, one, other), count in pairs.items()
    ]
    return activities, meetings


def found(games: list[Game], values: dict[str, int] | None = None) -> list[Flag]:
    """What stands out in games."""
    return flags(*counted(games, values or {}))


def honest(chance: Random, players: int, games: int, seats: int = 2) -> Iterator[Game]:
    """Everybody meets everybody, some play more than others, and some are stronger."""
    names = [f"p{number}" for number in range(players)]
    weights = [chance.paretovariate(1.5) for _ in names]
    for _ in range(games):
        table: list[str] = []
        while len(table) < seats:
            (name,) = chance.choices(names, weights)
            if name not in table:
                table.append(name)
        chance.shuffle(table)
        left = (table[1],) if chance.random() < 0.03 else ()
        yield Game(tuple(table), left)


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize(
    ("players", "games", "seats"), [(4, 600, 2), (12, 1500, 2), (300, 9000, 2), (40, 3000, 4)]
)
def test_honest_players_do_not_stand_out(seed: int, players: int, games: int, seats: int) -> None:
    assert found(list(honest(Random(seed), players, games, seats))) == []


def test_two_who_are_alone_in_the_house_do_not_stand_out() -> None:
    chance = Random(1)
    games = [Game(tuple(chance.sample(("a", "b"), 2))) for _ in range(200)]
    assert found(games) == []


@pytest.mark.parametrize("seed", range(5))
def test_two_who_pass_on_stakes_do(seed: int) -> None:
    chance = Random(seed)
    games = [*honest(chance, 200, 6000), *([Game(("winner", "loser"))] * 20)]
    for name in ("winner", "loser"):
        games += [Game((name, f"p{chance.randrange(200)}")) for _ in range(10)]
    chance.shuffle(games)
    flagged = found(games)
    assert {(flag.kind, flag.player_id, flag.other_id) for flag in flagged} == {
        (FlagKind.MEETS_OFTEN, "loser", "winner"),
        (FlagKind.ONE_WAY_FLOW, "winner", "loser"),
    }
    often, flow = (
        next(flag for flag in flagged if flag.kind is kind)
        for kind in (FlagKind.MEETS_OFTEN, FlagKind.ONE_WAY_FLOW)
    )
    assert (often.count, often.games) == (20, 20)
    assert often.expected < 1
    assert (flow.count, flow.games, flow.expected) == (20, 20, 10)
    assert flow.surprise == pytest.approx(20 * log10(2))


def test_two_against_the_others_at_a_table_of_four_do() -> None:
    chance = Random(3)
    games = list(honest(chance, 100, 3000, 4))
    for _ in range(25):
        others = chance.sample(range(100), 2)
        games.append(Game(("winner", "loser", *(f"p{number}" for number in others))))
    kinds = {
        flag.kind for flag in found(games) if {flag.player_id, flag.other_id} == {"winner", "loser"}
    }
    assert kinds == {FlagKind.MEETS_OFTEN, FlagKind.ONE_WAY_FLOW}


def test_a_master_who_beats_a_beginner_does_not_stand_out() -> None:
    """His rating has it that he wins."""
    games = [Game(("master", "beginner"))] * 27 + [Game(("beginner", "master"))] * 3
    values = {"master": 2000, "beginner": 1600}
    flow = [flag for flag in found(games, values) if flag.kind is FlagKind.ONE_WAY_FLOW]
    assert flow == []
    equal = [flag for flag in found(games) if flag.kind is FlagKind.ONE_WAY_FLOW]
    assert [(flag.player_id, flag.other_id) for flag in equal] == [("master", "beginner")]


def test_regulars_who_are_not_quite_equal_do_not() -> None:
    """Of a thousand games one has won six hundred, and he has left more of them."""
    games = [Game(("a", "b"))] * 590 + [Game(("b", "a"))] * 380
    games += [Game(("b", "a"), left=("a",))] * 20 + [Game(("a", "b"), left=("b",))] * 10
    assert found(games) == []


def test_who_leaves_against_one_player_does() -> None:
    chance = Random(5)
    games = list(honest(chance, 50, 2000))
    games += [Game((f"p{chance.randrange(50)}", "leaver")) for _ in range(40)]
    games += [Game(("friend", "leaver"), left=("leaver",))] * 5 + [Game(("friend", "leaver"))]
    flagged = found(games)
    assert [(flag.kind, flag.player_id, flag.other_id) for flag in flagged] == [
        (FlagKind.LEAVES, "leaver", "friend")
    ]
    assert (flagged[0].count, flagged[0].games) == (5, 6)


def test_who_leaves_again_and_again_does() -> None:
    chance = Random(6)
    games = list(honest(chance, 50, 2000))
    for number in range(30):
        left = ("leaver",) if number % 2 else ()
        games.append(Game((f"p{chance.randrange(50)}", "leaver"), left))
    (flag,) = found(games)
    assert (flag.kind, flag.player_id, flag.other_id) == (FlagKind.LEAVES_OFTEN, "leaver", "")
    assert (flag.count, flag.games) == (15, 30)


def test_who_partners_only_another_one_is_not_met() -> None:
    """Partners are no opponents: the database does not count them as meetings."""
    activities = [Activity("pilotta", name, 40, 80, 0) for name in "abcd"]
    assert flags(activities, []) == []


def test_what_is_expected() -> None:
    """Of ten games of a, each of the other twenty seats is b's in five cases of twenty."""
    house = House(
        [
            Activity("portes", "a", 10, 10, 1),
            Activity("portes", "b", 5, 5, 0),
            Activity("portes", "c", 15, 15, 2),
        ]
    )
    assert house.expected("portes", ("a", "b")) == pytest.approx(10 * 5 / 20)
    assert house.expected("portes", ("b", "a")) == house.expected("portes", ("a", "b"))
    assert house.expected("portes", ("a", "nobody")) == 0
    assert house.expected_in_all(("a", "c")) == pytest.approx(10)
    assert house.share_left == pytest.approx(0.1)


@pytest.mark.parametrize(("count", "expected"), [(0, 2.0), (1, 2.0), (5, 2.0), (3, 7.5), (12, 1.5)])
def test_poisson(count: int, expected: float) -> None:
    below = sum(exp(-expected) * expected**k / factorial(k) for k in range(count))
    assert poisson_surprise(count, expected) == pytest.approx(-log10(1 - below), abs=1e-6)


@pytest.mark.parametrize(
    ("count", "games", "share"),
    [(0, 5, 0.5), (5, 5, 0.5), (8, 10, 0.5), (3, 30, 0.02), (1, 9, 0.9)],
)
def test_binomial(count: int, games: int, share: float) -> None:
    chance = sum(
        comb(games, k) * share**k * (1 - share) ** (games - k) for k in range(count, games + 1)
    )
    assert binomial_surprise(count, games, share) == pytest.approx(-log10(chance), abs=1e-6)


def test_far_away_from_what_is_expected() -> None:
    assert poisson_surprise(1, 5000.0) == 0
    assert poisson_surprise(5000, 1.0) > 10_000
    assert binomial_surprise(4000, 4000, 0.01) == pytest.approx(8000)
