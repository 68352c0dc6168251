"""Reports and block lists, as players make them."""

from __future__ import annotations

import asyncio

import pytest
from kafeneio.matchmaking.v1 import players_pb2 as pb

from tests.harness import OPERATOR, new_id
from tests.matchmaking.players.club import Club, Story
from tests.rules.refusal import refusal


def told(story: Story, player: str = "nikos", request_id: str = "") -> pb.ReportPlayerRequest:
    """A report."""
    return pb.ReportPlayerRequest(
        request_id=request_id or new_id(),
        player_id=player,
        game_id=story.game_id,
        category=pb.REPORT_CATEGORY_HARASSMENT,
        text="he was rude",
    )


async def reports(club: Club, **asked: object) -> list[pb.Report]:
    """What operators see."""
    request = pb.ListReportsRequest(**asked)  # type: ignore[arg-type] # each test says what it asks
    return list((await club.ask("ListReports", request)).reports)


async def test_a_report_is_for_operators(club: Club) -> None:
    story = await club.played(0)
    report = (await club.ask("ReportPlayer", told(story), "eleni")).report
    (seen,) = await reports(club)
    assert seen == report
    assert (seen.reporter_id, seen.player_id, seen.game_id) == ("eleni", "nikos", story.game_id)
    assert (seen.variant, seen.text) == ("portes", "he was rude")
    assert (seen.category, seen.status) == (pb.REPORT_CATEGORY_HARASSMENT, pb.REPORT_STATUS_OPEN)


async def test_while_the_game_goes_on_too(club: Club) -> None:
    story = Story()
    await club.tell(story.started())
    assert (await club.ask("ReportPlayer", told(story), "eleni")).report.report_id


async def test_one_report_for_each_player_and_game(club: Club) -> None:
    story, other = await club.played(0), await club.played(1)
    request = told(story)
    answers = await asyncio.gather(*(club.ask("ReportPlayer", request, "eleni") for _ in range(5)))
    assert all(answer == answers[0] for answer in answers)
    before = await club.snapshot()
    found = await refusal(club.ask("ReportPlayer", told(story), "eleni"))
    assert found.what == ("ALREADY_EXISTS", "REPORT_EXISTS")
    assert found.metadata == {"report_id": answers[0].report.report_id}
    assert await club.snapshot() == before
    await club.ask("ReportPlayer", told(other), "eleni")
    await club.ask("ReportPlayer", told(story, "eleni"), "nikos")
    assert len(await reports(club)) == 3


async def test_who_may_report_whom(club: Club) -> None:
    story, house = await club.played(0), Story(("eleni", "computer-1"))
    unfinished = Story()
    await club.tell(house.started(1), unfinished.void("NO_SHOW"))
    before = await club.snapshot()
    for request, who, what in (
        (told(Story()), "eleni", ("NOT_FOUND", "GAME_UNKNOWN")),
        (told(unfinished), "eleni", ("NOT_FOUND", "GAME_UNKNOWN")),
        (told(story), "maria", ("PERMISSION_DENIED", "NOT_YOUR_SEAT")),
        (told(story, "maria"), "eleni", ("FAILED_PRECONDITION", "NOT_AT_TABLE")),
        (told(house, "computer-1"), "eleni", ("FAILED_PRECONDITION", "NOT_AT_TABLE")),
        (told(story, "eleni"), "eleni", ("INVALID_ARGUMENT", "MALFORMED")),
        (told(story, "ni\0kos"), "eleni", ("INVALID_ARGUMENT", "MALFORMED")),
    ):
        assert (await refusal(club.ask("ReportPlayer", request, who))).what == what
    assert await club.snapshot() == before


async def test_reports_are_closed_once_and_filtered(club: Club) -> None:
    stories = [await club.played(0) for _ in range(3)]
    made = [
        (await club.ask("ReportPlayer", told(story), "eleni")).report.report_id for story in stories
    ]
    await club.ask("ReportPlayer", told(stories[0], "eleni"), "nikos")
    request = pb.CloseReportRequest(request_id=new_id(), report_id=made[1], outcome="warned")
    closed = (await club.ask("CloseReport", request)).report
    assert (closed.status, closed.closed_by, closed.outcome) == (
        pb.REPORT_STATUS_CLOSED,
        OPERATOR,
        "warned",
    )
    assert closed.HasField("closed_at")
    assert (await club.ask("CloseReport", request)).report == closed
    request.request_id = new_id()
    found = await refusal(club.ask("CloseReport", request))
    assert found.what == ("FAILED_PRECONDITION", "REPORT_CLOSED")
    request.report_id = new_id()
    assert (await refusal(club.ask("CloseReport", request))).what == ("NOT_FOUND", "REPORT_UNKNOWN")
    only_open = await reports(club, status=pb.REPORT_STATUS_OPEN, player_id="nikos")
    assert [each.report_id for each in only_open] == [made[2], made[0]]
    only_closed = await reports(club, status=pb.REPORT_STATUS_CLOSED)
    assert [each.report_id for each in only_closed] == [made[1]]
    first = await club.ask("ListReports", pb.ListReportsRequest(page_size=2))
    rest = await club.ask(
        "ListReports", pb.ListReportsRequest(page_size=2, page_token=first.next_page_token)
    )
    assert [len(page.reports) for page in (first, rest)] == [2, 2]
    assert not rest.next_page_token
    assert len({each.report_id for page in (first, rest) for each in page.reports}) == 4


# --- blocks ----------------------------------------------------------------------------------


async def block(club: Club, who: str, whom: str, request_id: str = "") -> None:
    """One player blocks another one."""
    request = pb.BlockPlayerRequest(request_id=request_id or new_id(), player_id=whom)
    await club.ask("BlockPlayer", request, who)


async def blocked(club: Club, who: str, size: int = 50, token: str = "") -> pb.ListBlockedResponse:
    """Whom he has blocked."""
    request = pb.ListBlockedRequest(page_size=size, page_token=token)
    answer = await club.ask("ListBlocked", request, who)
    assert isinstance(answer, pb.ListBlockedResponse)
    return answer


async def test_blocked_and_free_again(club: Club) -> None:
    for whom in ("nikos", "maria", "nikos"):
        await block(club, "eleni", whom)
    answer = await blocked(club, "eleni")
    assert [each.player_id for each in answer.blocked] == ["maria", "nikos"]
    assert answer.limit == 200
    assert not (await blocked(club, "nikos")).blocked
    request = pb.UnblockPlayerRequest(request_id=new_id(), player_id="nikos")
    for _ in range(2):
        await club.ask("UnblockPlayer", request, "eleni")
    request.request_id = new_id()
    await club.ask("UnblockPlayer", request, "eleni")
    assert [each.player_id for each in (await blocked(club, "eleni")).blocked] == ["maria"]


async def test_a_block_that_is_sent_again_is_not_made_again(club: Club) -> None:
    request_id = new_id()
    await block(club, "eleni", "nikos", request_id)
    free = pb.UnblockPlayerRequest(request_id=new_id(), player_id="nikos")
    await club.ask("UnblockPlayer", free, "eleni")
    before = await club.snapshot()
    await asyncio.gather(*(block(club, "eleni", "nikos", request_id) for _ in range(5)))
    assert await club.snapshot() == before


async def test_one_may_block_two_hundred(club: Club) -> None:
    await club.hall.database.execute(
        "INSERT INTO blocks (player_id, blocked_id)"
        " SELECT 'eleni', 'p' || n FROM generate_series(1, 198) AS n"
    )
    results = await asyncio.gather(
        *(block(club, "eleni", f"q{number}") for number in range(5)), return_exceptions=True
    )
    assert sum(result is None for result in results) == 2
    found = await refusal(block(club, "eleni", "one more"))
    assert found.what == ("FAILED_PRECONDITION", "BLOCK_LIST_FULL")
    assert found.metadata == {"limit": "200"}
    await block(club, "eleni", "p7")  # he is blocked already
    await block(club, "nikos", "eleni")
    seen, token = 0, ""
    while True:
        page = await blocked(club, "eleni", 90, token)
        seen, token = seen + len(page.blocked), page.next_page_token
        if not token:
            break
    assert seen == 200


@pytest.mark.parametrize("name", ["eleni", "tab\there", "ni\0kos"])
async def test_nobody_blocks_himself_or_what_is_nobody(club: Club, name: str) -> None:
    before = await club.snapshot()
    assert (await refusal(block(club, "eleni", name))).what == ("INVALID_ARGUMENT", "MALFORMED")
    request = pb.UnblockPlayerRequest(request_id=new_id(), player_id=name)
    found = await refusal(club.ask("UnblockPlayer", request, "eleni"))
    assert found.what == ("INVALID_ARGUMENT", "MALFORMED")
    assert await club.snapshot() == before
