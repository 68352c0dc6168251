"""What stands out, from the games that were heard to the operator who looks at it."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from kafeneio.matchmaking.v1 import players_pb2 as pb
from kafeneio_matchmaking.players.pairs import compute_flags

from tests.matchmaking.players.club import Club, Story
from tests.rules.refusal import refusal


async def compute(club: Club, at: datetime | None = None) -> int:
    """Look for what stands out, as the job of the service does."""
    async with club.hall.database.transaction():
        return await compute_flags(club.hall.database, at or datetime.now(UTC))


async def flags(club: Club, **asked: Any) -> list[pb.PairFlag]:
    """What operators see."""
    return list((await club.ask("ListPairFlags", pb.ListPairFlagsRequest(**asked))).flags)


async def pair(club: Club, one: str, other: str) -> pb.GetPairStatisticsResponse:
    """The numbers of two."""
    request = pb.GetPairStatisticsRequest(player_id=one, other_player_id=other)
    answer = await club.ask("GetPairStatistics", request)
    assert isinstance(answer, pb.GetPairStatisticsResponse)
    return answer


async def games(
    club: Club,
    players: Sequence[str],
    winners: Sequence[int],
    count: int = 1,
    nets: Sequence[int] = (),
    **story: Any,
) -> list[str]:
    """So many games of the same players with the same end; the newest last."""
    left = story.pop("left", ())
    made = []
    for _ in range(count):
        one = Story(players, **story)
        await club.tell(one.started(), one.won(*winners, left=left), one.settled(*nets))
        made.append(one.game_id)
    return made


async def crowd(club: Club, count: int = 60) -> None:
    """Honest games of others."""
    names = [f"p{number}" for number in range(12)]
    for number in range(count):
        one, other = names[number % 12], names[(number * 5 + 1 + number // 12) % 12]
        if one != other:
            await games(club, (one, other), (number % 2,), nets=(100, -100) if number % 2 else ())


async def test_two_who_pass_on_stakes(club: Club) -> None:
    await crowd(club)
    evidence = await games(club, ("rich", "poor"), (0,), 25, nets=(500, -500))
    assert await compute(club) == 2
    often, flow = sorted(await flags(club), key=lambda flag: flag.kind)
    assert often.kind == pb.PAIR_FLAG_KIND_MEETS_OFTEN
    assert {often.player_id, often.other_player_id} == {"rich", "poor"}
    assert (often.count, often.games) == (25, 25)
    assert flow.kind == pb.PAIR_FLAG_KIND_ONE_WAY_FLOW
    assert (flow.player_id, flow.other_player_id) == ("rich", "poor")
    # That the one is the stronger by now, because of these games, is no excuse.
    assert (flow.count, flow.games, flow.expected) == (25, 25, 12.5)
    newest = list(reversed(evidence))[:20]
    assert list(often.game_ids) == newest
    assert list(flow.game_ids) == newest
    # Nobody has lost anything by it but to see operators look.
    assert await club.hall.enqueue("rich")


async def test_a_flag_is_kept_as_long_as_it_stands_out(club: Club) -> None:
    await crowd(club)
    await games(club, ("rich", "poor"), (0,), 25, nets=(500, -500))
    await compute(club)
    first = {flag.kind: flag for flag in await flags(club)}
    later = datetime.now(UTC) + timedelta(hours=1)
    await compute(club, later)
    for flag in await flags(club):
        assert flag.first_flagged_at == first[flag.kind].first_flagged_at
        assert flag.computed_at.ToDatetime(UTC) == later
    await compute(club, later + timedelta(days=30))
    assert await flags(club) == []


async def test_lists_are_filtered_and_paged(club: Club) -> None:
    later = datetime.now(UTC) + timedelta(hours=1)  # not what the job of the service finds old
    rows = [
        ("meets_often", "a", "b", 9.5),
        ("meets_often", "a", "c", 9.5),
        ("one_way_flow", "b", "a", 9.5),
        ("leaves_often", "d", "", 12.25),
        ("leaves", "d", "a", 7.0),
    ]
    await club.hall.database.executemany(
        "INSERT INTO pair_flags (kind, player_id, other_id, count, games, expected, surprise,"
        " game_ids, first_flagged_at, computed_at)"
        " VALUES ($1, $2, $3, 1, 2, 0.5, $4, '{}', $5, $5)",
        [(*row, later) for row in rows],
    )

    def names(found: Sequence[pb.PairFlag]) -> list[str]:
        return [f"{flag.player_id}{flag.other_player_id}" for flag in found]

    assert names(await flags(club)) == ["d", "ab", "ac", "ba", "da"]
    assert names(await flags(club, kind=pb.PAIR_FLAG_KIND_MEETS_OFTEN)) == ["ab", "ac"]
    assert names(await flags(club, player_id="b")) == ["ab", "ba"]
    for size in (1, 2, 3, 4, 5):
        seen, token = [], ""
        while True:
            request = pb.ListPairFlagsRequest(page_size=size, page_token=token)
            answer = await club.ask("ListPairFlags", request)
            seen += names(answer.flags)
            token = answer.next_page_token
            if not token:
                break
        assert seen == ["d", "ab", "ac", "ba", "da"]


async def test_the_numbers_of_two(club: Club) -> None:
    await games(club, ("a", "b"), (0,), 3, nets=(500, -500))
    await games(club, ("b", "a"), (0,), 1, nets=(200, -200), left=(1,))
    newest = await games(club, ("a", "b"), (0,), 2)
    await games(club, ("a", "c"), (1,), 2, left=(0,))
    found = await pair(club, "a", "b")
    assert (found.meetings, found.partnerships) == (6, 0)
    one, other = found.sides
    assert (one.player_id, one.games, one.left, one.left_against_other) == ("a", 8, 3, 1)
    assert (other.player_id, other.games, other.left, other.left_against_other) == ("b", 6, 0, 0)
    assert (one.share_against_other, other.share_against_other) == (0.75, 1)
    # Games for nothing are no flow.
    assert (one.won_against_other, other.won_against_other) == (3, 1)
    assert [money.minor_units for money in one.flow] == [1300]
    assert [money.minor_units for money in other.flow] == [-1300]
    # a's eight opponents came out of the eight seats of b and c, of which b has six.
    assert found.expected_meetings == pytest.approx(8 * 6 / 8)
    assert list(found.game_ids)[:2] == list(reversed(newest))
    mirrored = await pair(club, "b", "a")
    assert [side.player_id for side in mirrored.sides] == ["b", "a"]
    assert mirrored.meetings == 6
    nobody = await pair(club, "x", "y")
    assert (nobody.meetings, nobody.expected_meetings, len(nobody.sides)) == (0, 0, 2)
    assert nobody.sides[0].share_against_other == 0


async def test_partners_are_no_opponents(club: Club) -> None:
    four = ("a", "b", "c", "d")
    await games(club, four, (0, 2), 2, nets=(500, -500, 500, -500), variant="pilotta")
    found = await pair(club, "a", "c")
    assert (found.meetings, found.partnerships) == (0, 2)
    assert not found.sides[0].flow
    against = await pair(club, "a", "d")
    assert (against.meetings, against.partnerships) == (2, 0)
    assert against.sides[0].won_against_other == 2
    # Where everybody plays for himself they are.
    await games(club, four, (0,), 1, variant="koumkan")
    assert (await pair(club, "a", "c")).meetings == 1


async def test_what_does_not_count(club: Club) -> None:
    """Void games, games that go on, with a computer, or of an earlier month."""
    void, running, old = Story(("a", "b")), Story(("a", "b")), Story(("a", "b"))
    house, corrected = Story(("a", "b", "computer-1")), Story(("a", "b"))
    then = datetime.now(UTC) - timedelta(days=31)
    await club.tell(void.started(), void.void(), running.started())
    await club.tell(house.started(2), house.won(0))
    await club.tell(old.started(at=then), old.won(0, at=then))
    await club.tell(corrected.started(), corrected.won(0), corrected.settled(500, -500))
    assert (await pair(club, "a", "b")).meetings == 1
    await club.tell(corrected.corrected(amounts=(0, 0)))
    assert (await pair(club, "a", "b")).meetings == 0


async def test_the_two_are_two(club: Club) -> None:
    found = await refusal(pair(club, "a", "a"))
    assert (found.what, found.fields) == (("INVALID_ARGUMENT", "MALFORMED"), ("other_player_id",))
