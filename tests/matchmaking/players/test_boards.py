"""Ratings as players see them: history, leaderboards and their pages."""

from __future__ import annotations

from typing import Any

import pytest
from kafeneio.matchmaking.v1 import players_pb2 as pb

from tests.harness import OPERATOR
from tests.matchmaking.players.club import Club
from tests.rules.refusal import refusal


async def seat(club: Club, *players: tuple[str, int, int], variant: str = "portes") -> None:
    """Players with their floor and their games; their value is 600 points higher."""
    await club.hall.database.executemany(
        "INSERT INTO ratings (variant, player_id, mu, sigma, value, floor, games)"
        " VALUES ($1, $2, $3::float8, 6.666666666666667, $4, $5, $6)",
        [
            (variant, name, 25 + (floor - 900) / 30, floor + 600, floor, games)
            for name, floor, games in players
        ],
    )


async def page(club: Club, size: int, token: str = "", variant: str = "portes") -> Any:
    """A page of a leaderboard."""
    request = pb.ListLeaderboardRequest(variant=variant, page_size=size, page_token=token)
    return await club.ask("ListLeaderboard", request, "eleni")


async def test_the_strongest_first_and_nobody_who_is_provisional(club: Club) -> None:
    await seat(club, ("b", 1200, 10), ("a", 1200, 30), ("c", 1400, 9), ("d", 1300, 11))
    await seat(club, ("z", 2000, 99), variant="plakoto")
    answer = await page(club, 10)
    assert [(each.rank, each.player_id) for each in answer.entries] == [
        (1, "d"),
        (2, "a"),
        (3, "b"),
    ]
    rating = answer.entries[0].rating
    assert (rating.value, rating.floor, rating.games) == (1900, 1300, 11)
    assert (rating.uncertainty, rating.provisional, rating.variant) == (200, False, "portes")
    assert not answer.next_page_token
    assert not (await page(club, 10, variant="fevga")).entries


@pytest.mark.parametrize("size", [1, 2, 3, 7, 20])
async def test_pages_hold_everybody_once(club: Club, size: int) -> None:
    await seat(club, *((f"p{number:02}", 1000 + number // 3, 10) for number in range(20)))
    seen: list[tuple[int, str]] = []
    token, pages = "", 0
    while True:
        answer = await page(club, size, token)
        seen += [(each.rank, each.player_id) for each in answer.entries]
        token, pages = answer.next_page_token, pages + 1
        if not token:
            break
    names = sorted((f"p{n:02}" for n in range(20)), key=lambda p: (-(int(p[1:]) // 3), p))
    assert seen == list(enumerate(names, 1))
    assert pages == -(-20 // size)


async def test_who_stands_still_is_neither_shown_twice_nor_left_out(club: Club) -> None:
    await seat(club, *((f"p{number}", 1000 + number, 10) for number in range(9)))
    first = await page(club, 3)
    # p8 falls to the end, p0 rises to the top, and there is somebody new.
    await club.hall.database.execute("UPDATE ratings SET floor = 1 WHERE player_id = 'p8'")
    await club.hall.database.execute("UPDATE ratings SET floor = 5000 WHERE player_id = 'p0'")
    await seat(club, ("new", 1003, 10))
    second = await page(club, 3, first.next_page_token)
    third = await page(club, 3, second.next_page_token)
    still = [f"p{number}" for number in (7, 6, 5, 4, 3, 2, 1)]
    shown = [each.player_id for answer in (first, second, third) for each in answer.entries]
    assert [name for name in shown if name in still] == still


async def test_history_page_by_page(club: Club) -> None:
    stories = [await club.played(number % 2) for number in range(5)]
    other = await club.played(0, variant="fevga")
    seen: list[str] = []
    token = ""
    while True:
        request = pb.GetRatingRequest(page_size=2, page_token=token)
        answer = await club.ask("GetRating", request, "eleni")
        assert [each.variant for each in answer.ratings] == ["fevga", "portes"]
        seen += [each.game_id for each in answer.changes]
        token = answer.next_page_token
        if not token:
            break
    assert seen == [other.game_id, *(story.game_id for story in reversed(stories))]
    request = pb.GetRatingRequest(player_id="eleni", variant="fevga")
    answer = await club.ask("GetRating", request, "nikos")
    assert [each.game_id for each in answer.changes] == [other.game_id]
    assert answer.changes[0].value_before == 1500
    assert answer.changes[0].value_after == answer.ratings[0].value


FORGED = ("x", "!!", "W10", "WzFd", "e30", "bnVsbA", "WzEsMixbXV0", "IgAi", "LTE", "MTAw" * 60)
"""Not base64, not JSON, or JSON of something else: [], [1], {}, null, [1,2,[]], a NUL, -1."""


async def test_a_token_that_was_not_made_here(club: Club) -> None:
    for token in FORGED:
        for call, request, who in (
            ("GetRating", pb.GetRatingRequest(page_token=token), "eleni"),
            ("ListLeaderboard", pb.ListLeaderboardRequest(variant="v", page_token=token), "eleni"),
            ("ListBlocked", pb.ListBlockedRequest(page_token=token), "eleni"),
            ("ListSuspensions", pb.ListSuspensionsRequest(page_token=token), OPERATOR),
            ("ListReports", pb.ListReportsRequest(page_token=token), OPERATOR),
            ("ListPairFlags", pb.ListPairFlagsRequest(page_token=token), OPERATOR),
        ):
            found = await refusal(club.ask(call, request, who))
            assert (found.what, found.fields) == (
                ("INVALID_ARGUMENT", "MALFORMED"),
                ("page_token",),
            ), (call, token)
