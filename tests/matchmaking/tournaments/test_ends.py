"""Whatever happens in a tournament, it ends, with a place for everybody and the money conserved."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise
from typing import Final

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from kafeneio_matchmaking.tournaments.course import most_games, places, to_start
from kafeneio_matchmaking.tournaments.domain import LARGEST, SMALLEST, Course, Format, Places
from kafeneio_settlement.prizes import Prizes, prizes

from tests.matchmaking.tournaments.chances import FORMATS, Evening, by_chance

every_format = pytest.mark.parametrize("kind", FORMATS)

SMALL: Final = 32
"""Larger tournaments of this sweep lose their entrants sooner; drills.py plays them out."""

FEE: Final = 7
"""A number that no pool can be divided evenly by."""


def judge(course: Course, games: int) -> None:
    """What holds for every tournament that is over."""
    assert course.finished
    assert to_start(course) == ()
    assert all(match.is_over and not match.running for match in course.matches)
    assert games <= most_games(course)
    ranking = places(course)
    assert sorted(seed for place in ranking for seed in place) == list(course.seeds)
    assert all(list(place) == sorted(place) for place in ranking)
    behind = [bool(course.disqualified.intersection(place)) for place in ranking]
    assert behind == sorted(behind), "the disqualified come last"
    for match in course.matches:
        if len(match.sides) == 2 and match.winner is None:
            assert match.how in ("no_show", "walkover"), "only where neither was there"
    assert_conserved(ranking, course.size)


def assert_conserved(ranking: Places, size: int) -> None:
    """The prizes are the whole pool: what came in goes out."""
    named = [[str(seed) for seed in place] for place in ranking]
    for shares in ((10_000,), (5_000, 3_000, 2_000), (3_334, 3_333, 3_333)):
        paid = prizes(size * FEE, Prizes(shares), named)
        assert sum(paid.values()) == size * FEE
        assert min(paid.values()) >= 0
        by_place = [[paid[who] for who in place] for place in named]
        for ahead, after in pairwise(by_place):
            assert min(ahead) >= max(after), "a better place is never paid less"


@every_format
def test_every_size_ends(kind: Format) -> None:
    for size in range(SMALLEST, LARGEST + 1):
        evening = by_chance(f"{kind} {size}", leaving=5 if size <= SMALL else 25)
        judge(evening.play(kind, size), evening.games)


@every_format
@given(st.data())
@settings(max_examples=30, deadline=None)
def test_any_order_of_whatever_ends(kind: Format, data: st.DataObject) -> None:
    size = data.draw(st.one_of(st.integers(SMALLEST, 12), st.integers(SMALLEST, LARGEST)))
    leaving = data.draw(st.sampled_from((0, 5, 30, 80)))
    random = data.draw(st.randoms(use_true_random=False))
    length = data.draw(st.integers(0, 9)) if kind is Format.SWISS else 0
    evening = Evening(random.randrange, leaving)
    judge(evening.play(kind, size, length), evening.games)


@every_format
def test_nobody_is_left(kind: Format) -> None:
    """All leave before anything was played: all share all places."""
    for size in range(SMALLEST, 40):
        course = by_chance(f"{kind} {size}", leaving=100).play(kind, size)
        judge(course, 0)
        assert course.gone == set(course.seeds) or len(course.gone) == size - 1


@every_format
def test_what_was_played_stays(kind: Format) -> None:
    """Rounds that are over never change, whoever leaves later."""
    seen: list[Course] = []
    evening = by_chance(f"{kind} 11", leaving=15)
    evening.watch = seen.append
    last = evening.play(kind, 11)
    for before in seen:
        done = before.rounds[:-1]
        assert last.rounds[: len(done)] == done
        assert before.gone <= last.gone
    assert len({replace(course, rounds=()) for course in seen}) > 1, "somebody has left"
