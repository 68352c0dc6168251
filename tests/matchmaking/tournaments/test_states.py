"""The two tables: every move that is in them, and none that is not."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID

import pytest
from kafeneio_matchmaking.domain import ForbiddenMoveError, Terms
from kafeneio_matchmaking.matching import Finish
from kafeneio_matchmaking.tournaments.course import Absent, Report, Voided, Won, begin, leave
from kafeneio_matchmaking.tournaments.domain import Format, Match
from kafeneio_matchmaking.tournaments.playing import report
from kafeneio_matchmaking.tournaments.states import (
    ENTRY_MOVES,
    MOVES,
    EntryMove,
    EntryStatus,
    Move,
    Status,
    entry_moved,
    moved,
)
from kafeneio_matchmaking.tournaments.values import (
    Conditions,
    ConditionsError,
    Entry,
    Fixture,
    changed,
    check,
    course_of,
    numbered,
    retry_seconds,
    seats_of,
    seeding,
    side_of,
)

NOW = datetime(2030, 1, 6, 20, 0, tzinfo=UTC)
GAME = Terms("portes", 1, (), 1, "EUR", 500, 250, 2)

WAYS = """
    announced: open=open refuse=cancelled cancel=cancelling
    open: close=starting cancel=cancelling
    starting: start=running fall_short=cancelling cancel=cancelling
    running: pause=paused end=settling cancel=cancelling
    paused: resume=running cancel=cancelling
    settling: pay=finished find_void=cancelled
    cancelling: refund=cancelled
    finished:
    cancelled:
"""

ENTRY_WAYS = """
    waiting_for_partner: join=paying leave=ended dissolve=ended
    paying: pay=entered leave=leaving dissolve=ended
    entered: leave=leaving dissolve=ended withdraw=withdrawn disqualify=disqualified
    leaving: release=ended dissolve=ended
    withdrawn: disqualify=disqualified
    disqualified:
    ended:
"""


def ways(text: str) -> dict[tuple[str, str], str]:
    """A table as it is written above."""
    found: dict[tuple[str, str], str] = {}
    for line in text.split("\n"):
        status, _, moves = line.strip().partition(":")
        found |= {(status, move.split("=")[0]): move.split("=")[1] for move in moves.split()}
    return found


def test_every_move_of_a_tournament() -> None:
    expected = ways(WAYS)
    assert {(a.value, b.value): c.value for (a, b), c in MOVES.items()} == expected
    for status in Status:
        for move in Move:
            if (status.value, move.value) in expected:
                assert moved(status, move).value == expected[status.value, move.value]
            else:
                with pytest.raises(ForbiddenMoveError):
                    moved(status, move)


def test_every_move_of_an_entry() -> None:
    expected = ways(ENTRY_WAYS)
    assert {(a.value, b.value): c.value for (a, b), c in ENTRY_MOVES.items()} == expected
    for status in EntryStatus:
        for move in EntryMove:
            if (status.value, move.value) in expected:
                assert entry_moved(status, move).value == expected[status.value, move.value]
            else:
                with pytest.raises(ForbiddenMoveError):
                    entry_moved(status, move)


def conditions(**changes: Any) -> Conditions:
    """What may be published."""
    asked: dict[str, Any] = {
        "name": "Thursday",
        "format": Format.SINGLE_ELIMINATION,
        "length": 0,
        "game": GAME,
        "shares": (7_000, 3_000),
        "min_entries": 2,
        "max_entries": 8,
        "min_rating": None,
        "max_rating": None,
        "starts_at": NOW + timedelta(hours=1),
        **changes,
    }
    return Conditions(**asked)


def test_conditions() -> None:
    check(conditions(), NOW)
    check(conditions(format=Format.SWISS, length=5, min_rating=1_500, max_rating=1_500), NOW)
    wrong: tuple[tuple[str, dict[str, Any]], ...] = (
        ("prize_shares", {"shares": (9_999,)}),
        ("prize_shares", {"shares": (3_000, 7_000)}),
        ("max_entries", {"min_entries": 9}),
        ("max_entries", {"max_entries": 131}),
        ("max_entries", {"min_entries": 1}),
        ("max_rating", {"min_rating": 2, "max_rating": 1}),
        ("rounds", {"length": 1}),
        ("starts_at", {"starts_at": NOW}),
        ("starts_at", {"starts_at": NOW + timedelta(days=367)}),
    )
    for field, changes in wrong:
        with pytest.raises(ConditionsError) as error:
            check(conditions(**changes), NOW)
        assert error.value.field == field


def test_a_match_is_played_for_no_stake() -> None:
    made = conditions()
    assert made.match_terms == Terms("portes", 1, (), 1, "", 0, 0, 2)
    assert made.players_per_entry == 1


def entry(number: int, **changes: Any) -> Entry:
    """An entry that is in."""
    asked: dict[str, Any] = {
        "entry_id": UUID(int=number),
        "tournament_id": UUID(int=0),
        "players": (f"player-{number}",),
        "waits_for": "",
        "status": EntryStatus.ENTERED,
        "end": None,
        "reason": "",
        "seed": number,
        "rating": None,
        "place": None,
        "played_place": None,
        "registered_at": NOW,
        "version": 1,
        "tries": 0,
        **changes,
    }
    return Entry(**asked)


def fixture(turn: int, number: int, match: Match) -> Fixture:
    """A match as it is kept."""
    return Fixture(UUID(int=0), turn, number, match, None, False, (), None, 0, NOW, NOW, 1)


@pytest.mark.parametrize("kind", list(Format))
def test_what_is_kept_is_the_course(kind: Format) -> None:
    """Also that of a tournament that is finished, and of one that nobody is left of."""
    course = leave(leave(begin(kind, 5), 2), 4, disqualified=True)
    for _ in range(2):
        entries = [
            entry(
                seed,
                status=EntryStatus.DISQUALIFIED
                if seed in course.disqualified
                else EntryStatus.WITHDRAWN
                if seed in course.gone
                else EntryStatus.ENTERED,
            )
            for seed in course.seeds
        ]
        refused = entry(9, seed=None, status=EntryStatus.ENDED)
        kept = [
            fixture(turn, number, match)
            for turn, matches in enumerate(course.rounds)
            for number, match in enumerate(matches)
        ]
        published = conditions(format=kind)
        assert course_of(published, [refused, *entries], kept[::-1]) == course
        course = leave(leave(leave(course, 1), 3), 5)
    assert course.finished


def test_what_has_changed() -> None:
    before = begin(Format.SINGLE_ELIMINATION, 4)
    after = leave(before, 1)
    assert changed((), before.rounds) == [(0, 0, Match(1, 4)), (0, 1, Match(2, 3))]
    assert [(turn, number) for turn, number, _ in changed(before.rounds, after.rounds)] == [(0, 0)]


def test_seeds_go_by_rating_then_by_registration() -> None:
    late, early = entry(1, registered_at=NOW + timedelta(seconds=1)), entry(2)
    best, same = entry(3, registered_at=NOW + timedelta(hours=1)), entry(4)
    ratings = {late.entry_id: 1_500, early.entry_id: 1_500, best.entry_id: 1_600}
    ratings[same.entry_id] = 1_500
    seeded = seeding(ratings, [late, same, early, best])
    assert [(each.players[0], each.seed, each.rating) for each in seeded] == [
        ("player-3", 1, 1_600),
        ("player-2", 2, 1_500),
        ("player-4", 3, 1_500),
        ("player-1", 4, 1_500),
    ]


def test_seats() -> None:
    assert seats_of(("a",), ("b",)) == ("a", "b")
    assert seats_of(("a", "c"), ("b", "d")) == ("a", "b", "c", "d")
    assert [side_of(seat) for seat in range(4)] == [0, 1, 0, 1]
    assert numbered([["a"], ["b", "c"], ["d"]]) == {"a": 1, "b": 2, "c": 2, "d": 4}
    assert [retry_seconds(undone) for undone in (0, 1, 5, 99)] == [0.5, 1, 16, 60]


@pytest.mark.parametrize(
    ("finish", "told"),
    [
        (Finish(True, "", (0, 2), (1, 0), (), ()), Won(7)),
        (Finish(True, "", (1, 3), (0, 1), (), (0,)), Won(9)),
        (Finish(False, "NO_SHOW", (), (), (2,), ()), Absent(frozenset({9}))),
        (Finish(False, "NO_SHOW", (), (), (1, 3), ()), Absent(frozenset({7}))),
        (Finish(False, "NO_SHOW", (), (), (0, 3), ()), Absent(frozenset())),
        (Finish(False, "OPERATOR", (), (), (0,), ()), Voided()),
        (Finish(True, "OPERATOR", (), (), (), ()), Voided()),
        (Finish(True, "HOUSE", (), (), (), ()), Voided()),
        (Finish(True, "ALL_FORFEITED", (), (), (), (0, 1, 2, 3)), Voided()),
    ],
)
def test_what_a_game_decides(finish: Finish, told: Report) -> None:
    """A side of which one was absent was absent (S5)."""
    assert report(fixture(0, 0, Match(7, 9, running=True)), finish) == told
