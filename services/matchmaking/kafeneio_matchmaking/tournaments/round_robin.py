"""Round robin: everybody meets everybody once, by the circle method.

The first seat of the circle stays and the others move on by one each round; with an odd number one
rests in each. A win is a point. Who has left with fewer than half of his matches played is struck:
his matches count for nobody, and he comes after those who count. Who has left later loses the
matches that are left. Ties: the points among those who tie, then Sonneborn-Berger (the sum of the
points of those whom one has beaten); else they share.
"""

from __future__ import annotations

from collections import Counter

from kafeneio_matchmaking.tournaments.domain import MET, Course, How, Match, Round, paired, wins


def draw(course: Course) -> Round | None:
    """The next turn of the circle."""
    circle: list[int | None] = [*course.seeds]
    if len(circle) % 2:
        circle.append(None)
    turn = len(course.rounds)
    if turn == len(circle) - 1:
        return None
    moving = circle[1:]
    seats = [circle[0], *moving[len(moving) - turn :], *moving[: len(moving) - turn]]
    half = len(seats) // 2
    tables = zip(seats[:half], reversed(seats[half:]), strict=True)
    # The one who stays changes sides.
    sides = [pair[::-1] if turn % 2 else pair for pair in tables]
    return paired([seed for pair in sides for seed in pair])


def merits(course: Course) -> list[tuple[int, ...]]:
    """Whether he counts, points, points among those who tie, Sonneborn-Berger."""
    struck = _struck(course)
    counting = [
        match
        for match in course.matches
        if match.how is not How.BYE and not struck.intersection(match.sides)
    ]
    points = wins(counting)
    between, beaten = _ties(counting, points)
    return [
        (int(seed not in struck), points.get(seed, 0), between.get(seed, 0), beaten.get(seed, 0))
        for seed in course.seeds
    ]


def _ties(counting: list[Match], points: dict[int, int]) -> tuple[dict[int, int], dict[int, int]]:
    """Of each: his points among those who have as many, and the points of whom he has beaten."""
    equal = wins(
        match for match in counting if len({points.get(seed, 0) for seed in match.sides}) == 1
    )
    beaten: Counter[int] = Counter()
    for match in counting:
        if match.winner is not None and match.loser is not None:
            beaten[match.winner] += points.get(match.loser, 0)
    return equal, dict(beaten)


def _struck(course: Course) -> frozenset[int]:
    """Who has left with fewer than half of his matches played."""
    played = Counter(seed for match in course.matches if match.how in MET for seed in match.sides)
    return frozenset(seed for seed in course.gone if 2 * played[seed] < course.size - 1)


def most_matches(size: int, length: int) -> int:
    """Every two once."""
    return size * (size - 1) // 2
