"""Swiss system: everybody plays every round, against somebody who has done as well so far.

A win is a point, and so is a round without an opponent. Each round is drawn as a whole so that, in
this order: as few as can be meet again or rest again; points differ by as little as can be (the sum
of the squares of the differences); the upper half of each score group meets the lower half, by
seeds, and who has to leave his group is its last and meets the first of another one. With an odd
number one of the fewest points rests, the last seed of them.

Ties: Buchholz (the sum of the opponents' points; a round without one counts one's own), then
Sonneborn-Berger (the points of those whom one has beaten); else they share.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from itertools import combinations
from typing import Final

import rustworkx

from kafeneio_matchmaking.tournaments.domain import MET, Course, Match, Round, wins

_DIFFERENCE: Final = 10**5
"""More than all that the places in the groups can cost, whoever meets whom: 65 matches of 130."""

_AGAIN: Final = 10**8 * _DIFFERENCE
"""More than all that differences of points can cost: 65 times 129 squared."""


def draw(course: Course) -> Round | None:
    """The next round of those who are still there."""
    there = [seed for seed in course.seeds if seed not in course.gone]
    if not there or len(course.rounds) == rounds_of(course.size, course.length):
        return None
    points = wins(course.matches)
    there.sort(key=lambda seed: (-points.get(seed, 0), seed))
    pairs = _pairs(there, points, Counter(frozenset(match.sides) for match in course.matches))
    rests = [seed for seed in there if not any(seed in pair for pair in pairs)]
    return tuple(Match(one, two) for one, two in pairs) + tuple(Match(s, None) for s in rests)


def _pairs(
    there: Sequence[int], points: Mapping[int, int], met: Mapping[frozenset[int], int]
) -> list[tuple[int, int]]:
    """Who meets whom, the best first; with an odd number one is left over. `there` is by points
    and seeds, `met` counts who has met whom; whoever has rested has met nobody but himself."""
    groups: dict[int, list[int]] = {}
    for seed in there:
        groups.setdefault(points.get(seed, 0), []).append(seed)
    stands = {seed: place for group in groups.values() for place, seed in enumerate(group)}

    def cost(one: int, two: int) -> int:
        above, below = points.get(one, 0), points.get(two, 0)
        if above == below:
            place = abs(stands[two] - stands[one] - len(groups[above]) // 2)
        else:
            place = len(groups[above]) - 1 - stands[one] + stands[two]
        again = met.get(frozenset((one, two)), 0)
        return again * _AGAIN + (above - below) ** 2 * _DIFFERENCE + place

    def rest(seed: int) -> int:
        above = points.get(seed, 0)
        again = met.get(frozenset((seed,)), 0)
        place = len(groups[above]) - 1 - stands[seed]
        return again * _AGAIN + (above - min(groups)) ** 2 * _DIFFERENCE + place

    graph: rustworkx.PyGraph[int, int] = rustworkx.PyGraph(multigraph=False)
    graph.add_nodes_from(there)
    graph.add_edges_from(
        [(i, j, -cost(there[i], there[j])) for i, j in combinations(range(len(there)), 2)]
    )
    if len(there) % 2:
        nobody = graph.add_node(0)
        graph.add_edges_from([(i, nobody, -rest(seed)) for i, seed in enumerate(there)])
    chosen = rustworkx.max_weight_matching(graph, max_cardinality=True, weight_fn=int)
    pairs = sorted((min(pair), max(pair)) for pair in chosen)
    return [(there[one], there[two]) for one, two in pairs if two < len(there)]


def merits(course: Course) -> list[tuple[int, ...]]:
    """Points, Buchholz, Sonneborn-Berger."""
    points = wins(course.matches)
    buchholz: Counter[int] = Counter()
    beaten: Counter[int] = Counter()
    for match in course.matches:
        for seed in match.sides:
            other = match.opponent(seed) if match.how in MET else seed
            buchholz[seed] += points.get(seed if other is None else other, 0)
        if match.how in MET and match.winner is not None and match.loser is not None:
            beaten[match.winner] += points.get(match.loser, 0)
    return [(points.get(seed, 0), buchholz[seed], beaten[seed]) for seed in course.seeds]


def rounds_of(size: int, length: int) -> int:
    """How many rounds are played: `length`, or as many as make one the best of all; never more
    than it takes for everybody to have met everybody."""
    return min(length or (size - 1).bit_length(), size - 1 + size % 2)


def most_matches(size: int, length: int) -> int:
    """All tables in all rounds."""
    return rounds_of(size, length) * (size // 2)
