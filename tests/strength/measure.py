"""Many rounds of two players, and what they say about the difference in points."""

from __future__ import annotations

import math
import multiprocessing
import statistics
from collections.abc import Callable, Iterable, Iterator
from typing import Final, NamedTuple

NORMAL_95: Final = 1.96


class Contest(NamedTuple):
    """Who is measured against whom, and what is demanded.

    `play(number)` plays the pair of rounds with that number: the same chance twice, the seats
    exchanged.  It is sent to other processes by its name, so it stands at the top of a module.
    """

    name: str
    play: Callable[[int], Pair]
    demanded: float
    """What the lower bound of the interval must exceed, in points a game."""


class Pair(NamedTuple):
    """Points of the player who is measured in each game, and how long each decision took."""

    points: tuple[float, ...]
    seconds: tuple[float, ...]


class Measured(NamedTuple):
    """The outcome of a contest; times in milliseconds."""

    games: int
    mean: float
    low: float
    high: float
    p50_ms: float
    p99_ms: float
    max_ms: float


def measure(contest: Contest, games: int, workers: int) -> Measured:
    """Play so many games, two of every pair, and sum up.

    The interval is of the means of pairs, for the games of a pair depend on each other.
    """
    pairs = list(_played(contest.play, range((games + 1) // 2), workers))
    means = [statistics.fmean(pair.points) for pair in pairs]
    mean = statistics.fmean(means)
    error = NORMAL_95 * statistics.stdev(means) / math.sqrt(len(means))
    times = sorted(1000 * taken for pair in pairs for taken in pair.seconds)
    return Measured(
        games=sum(len(pair.points) for pair in pairs),
        mean=mean,
        low=mean - error,
        high=mean + error,
        p50_ms=times[len(times) // 2],
        p99_ms=times[math.ceil(len(times) * 0.99) - 1],
        max_ms=times[-1],
    )


def _played(play: Callable[[int], Pair], numbers: Iterable[int], workers: int) -> Iterator[Pair]:
    if workers == 1:
        yield from map(play, numbers)
        return
    with multiprocessing.get_context("spawn").Pool(workers) as pool:
        yield from pool.imap(play, numbers)
