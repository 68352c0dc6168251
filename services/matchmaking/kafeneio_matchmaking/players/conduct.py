"""What stands out in what players do to each other (M1, M2). Pure: counts come in, flags go out.

A flag says how often something has happened, how often one would have expected it, and how
surprising that is: -log10 of the chance that as much or more comes about by accident. It is for
operators to look at. The thresholds are high, because a house has many pairs of players: of ten
thousand honest ones one in a hundred houses would see one flagged at surprise 6.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import timedelta
from enum import StrEnum
from math import lgamma, log, log10
from typing import Final

from kafeneio_matchmaking.players.ratings import chance

WINDOW: Final = timedelta(days=30)
"""So long a game counts."""

LEAST_MEETINGS: Final = 10
LEAST_TIMES_EXPECTED: Final = 3.0
"""Who plays at the same hours, or as well as another one, meets him more often than by chance."""
LEAST_STAKED: Final = 10
MOST_LOST: Final = 0.5
"""Who passes stakes on wins back at the most so much of what one would expect. Of two who have
played a thousand games one is a little stronger than the ratings say."""
LEAST_LEFT_PAIR: Final = 3
LEAST_LEFT: Final = 5
LEAST_TIMES_LEFT: Final = 2.0
SURPRISE: Final = 6.0
"""What is looked for in all pairs, or all players."""
SURPRISE_IN_PAIR: Final = 5.0
"""What is looked for in those who meet often enough."""

PRIOR_GAMES: Final = 10
"""To a player's games so many are added of which everybody's share is left."""
LEAST_SHARE_LEFT: Final = 0.01
"""Everybody's share of games that are left is taken to be this at least."""
LIKELIEST: Final = 0.99
"""However strong a player is."""


class FlagKind(StrEnum):
    """What stands out."""

    MEETS_OFTEN = "meets_often"
    ONE_WAY_FLOW = "one_way_flow"
    LEAVES = "leaves"
    LEAVES_OFTEN = "leaves_often"


@dataclass(frozen=True, slots=True)
class Activity:
    """What one player did in one variant: his decided `games`, how many opponents he `met` in them
    (three at a table of four who play for themselves), and how many he `left`."""

    variant: str
    player_id: str
    games: int
    met: int
    left: int


@dataclass(frozen=True, slots=True)
class Meetings:
    """What two players did in one variant: decided games against each other, how many of the staked
    ones each has won while the other one lost, and how many each has left. `values` are their
    ratings before the first of these games: who passes stakes on loses points by it, too."""

    variant: str
    players: tuple[str, str]
    games: int
    won: tuple[int, int]
    left: tuple[int, int]
    values: tuple[int, int]


@dataclass(frozen=True, slots=True)
class Flag:
    """Something that stands out: `count` of `games`, where one would have expected `expected`."""

    kind: FlagKind
    player_id: str
    other_id: str
    count: int
    games: int
    expected: float
    surprise: float


class House:
    """Everybody's activity, by which one judges what is to be expected."""

    def __init__(self, activities: Iterable[Activity]) -> None:
        self._in: dict[tuple[str, str], Activity] = {}
        self._seats: defaultdict[str, int] = defaultdict(int)
        self.games: defaultdict[str, int] = defaultdict(int)
        self.left: defaultdict[str, int] = defaultdict(int)
        for each in activities:
            self._in[each.variant, each.player_id] = each
            self._seats[each.variant] += each.games
            self.games[each.player_id] += each.games
            self.left[each.player_id] += each.left

    @property
    def share_left(self) -> float:
        """Everybody's share of games that are left."""
        games = sum(self.games.values())
        return max(sum(self.left.values()) / games if games else 0.0, LEAST_SHARE_LEFT)

    def expected(self, variant: str, players: tuple[str, str]) -> float:
        """How often two would meet in a variant if every opponent came by lot out of the seats that
        others have taken."""
        one, other = (self._in.get((variant, player)) for player in players)
        if one is None or other is None:
            return 0.0
        return max(self._draws(one, other), self._draws(other, one))

    def expected_in_all(self, players: tuple[str, str]) -> float:
        """The same over all variants."""
        return sum(self.expected(variant, players) for variant in self._seats)

    def _draws(self, one: Activity, other: Activity) -> float:
        return one.met * other.games / max(self._seats[one.variant] - one.games, other.games)


def flags(activities: Iterable[Activity], meetings: Iterable[Meetings]) -> list[Flag]:
    """What stands out, the most surprising first."""
    house = House(activities)
    pairs: defaultdict[tuple[str, str], list[Meetings]] = defaultdict(list)
    for each in meetings:
        pairs[each.players].append(each)
    found = [flag for pair in pairs.values() for flag in _of_pair(house, pair)]
    found += _of_players(house.games, house.left, house.share_left)
    return sorted(
        found, key=lambda flag: (-flag.surprise, flag.kind, flag.player_id, flag.other_id)
    )


def _of_pair(house: House, meetings: list[Meetings]) -> Iterator[Flag]:
    players = meetings[0].players
    met = sum(each.games for each in meetings)
    expected = house.expected_in_all(players)
    surprise = poisson_surprise(met, expected)
    often = met >= max(LEAST_MEETINGS, LEAST_TIMES_EXPECTED * expected)
    if often and surprise >= SURPRISE:
        yield Flag(FlagKind.MEETS_OFTEN, *players, met, met, expected, surprise)
    for me, other in ((0, 1), (1, 0)):
        yield from _flow(meetings, me, other)
        yield from _leaving(house, meetings, me, other)


def _flow(meetings: list[Meetings], me: int, other: int) -> Iterator[Flag]:
    """Of the games that one of the two has won and the other one lost: how many I have."""
    games = sum(sum(each.won) for each in meetings)
    if games < LEAST_STAKED:
        return
    expected = sum(
        sum(each.won) * min(max(0.5, chance(each.values[me], each.values[other])), LIKELIEST)
        for each in meetings
    )
    won = sum(each.won[me] for each in meetings)
    surprise = binomial_surprise(won, games, expected / games)
    one_way = games - won <= MOST_LOST * (games - expected)
    if one_way and surprise >= SURPRISE_IN_PAIR:
        players = meetings[0].players
        who = players[me], players[other]
        yield Flag(FlagKind.ONE_WAY_FLOW, *who, won, games, expected, surprise)


def _leaving(house: House, meetings: list[Meetings], me: int, other: int) -> Iterator[Flag]:
    """Of the games against him: how many I have left, by what I do against others."""
    games = sum(each.games for each in meetings)
    left = sum(each.left[me] for each in meetings)
    if left < LEAST_LEFT_PAIR:
        return
    players = meetings[0].players
    left_elsewhere = house.left[players[me]] - left + PRIOR_GAMES * house.share_left
    elsewhere = left_elsewhere / (house.games[players[me]] - games + PRIOR_GAMES)
    share = max(elsewhere, house.share_left)
    surprise = binomial_surprise(left, games, min(share, LIKELIEST))
    if left >= LEAST_TIMES_LEFT * games * share and surprise >= SURPRISE_IN_PAIR:
        who = players[me], players[other]
        yield Flag(FlagKind.LEAVES, *who, left, games, games * share, surprise)


def _of_players(games: Mapping[str, int], left: Mapping[str, int], share: float) -> Iterator[Flag]:
    for player, count in left.items():
        if count < LEAST_LEFT:
            continue
        surprise = binomial_surprise(count, games[player], min(share, LIKELIEST))
        expected = games[player] * share
        if count >= LEAST_TIMES_LEFT * expected and surprise >= SURPRISE:
            yield Flag(FlagKind.LEAVES_OFTEN, player, "", count, games[player], expected, surprise)


def poisson_surprise(count: int, expected: float) -> float:
    """-log10 of the chance of `count` or more where so many are `expected`, > 0."""
    if not count:
        return 0.0
    first = count * log(expected) - expected - lgamma(count + 1)
    total, term, number = 1.0, 1.0, count
    # Each further term is the one before it times this; they fall once the number is past what is
    # expected.
    while number < expected or term > total * 1e-12:
        number += 1
        term *= expected / number
        total += term
    return max(-first / log(10) - log10(total), 0.0)


def binomial_surprise(count: int, games: int, share: float) -> float:
    """-log10 of the chance of `count` or more of so many games, each with a chance of `share`,
    between 0 and 1."""
    if not count:
        return 0.0
    ways = lgamma(games + 1) - lgamma(count + 1) - lgamma(games - count + 1)
    first = ways + count * log(share) + (games - count) * log(1 - share)
    total, term = 1.0, 1.0
    for number in range(count, games):
        term *= (games - number) / (number + 1) * share / (1 - share)
        total += term
    return max(-first / log(10) - log10(total), 0.0)
