"""Single elimination: who loses is out.

The bracket is the next power of two; the best seeds have no opponent in the first round. A side to
which nobody came through is nobody's, and so on up the bracket. Places go by the round in which
somebody was out; those of one round share.
"""

from __future__ import annotations

from kafeneio_matchmaking.tournaments.domain import Course, Round, first_of_bracket, paired


def draw(course: Course) -> Round | None:
    """The winners of neighbouring matches meet."""
    if not course.rounds:
        return first_of_bracket(course.size)
    last = course.rounds[-1]
    return None if len(last) == 1 else paired([match.winner for match in last])


def merits(course: Course) -> list[tuple[int, ...]]:
    """How many rounds each has survived."""
    survived = [len(course.rounds)] * course.size
    for number, matches in enumerate(course.rounds):
        for seed in (seed for match in matches for seed in match.losers):
            survived[seed - 1] = number
    return [(each,) for each in survived]


def most_matches(size: int, length: int) -> int:
    """Every match puts somebody out, and one is left."""
    return size - 1
