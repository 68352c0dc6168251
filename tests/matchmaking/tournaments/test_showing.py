"""What is shown of tournaments."""

from __future__ import annotations

import asyncio
from contextlib import aclosing
from typing import Final
from uuid import UUID

import pytest
from kafeneio.matchmaking.v1 import tournaments_pb2 as pb
from kafeneio_matchmaking.tournaments.looks import Looks
from kafeneio_matchmaking.tournaments.values import Correction

from tests.harness import PATIENCE
from tests.matchmaking.tournaments.club import (
    Club,
    running,
    sides,
)

FOUR: Final = ("eleni", "nikos", "maria", "kostas")
FINISHED: Final = pb.TOURNAMENT_STATUS_FINISHED


async def test_a_watcher_sees_every_match(club: Club) -> None:
    """Whoever comes late sees the same; whoever comes back only what is new."""
    tournament = await running(club, *FOUR)
    early = await club.play_on(tournament)
    late = await club.over(tournament)
    assert late.matches == early.matches
    assert late.entries == early.entries
    version = late.tournament.version
    stream = club.watch(tournament, after=version)
    assert [message async for message in stream] == []
    (message,) = [m async for m in club.watch(tournament, after=version - 1)]
    assert message.change.tournament == late.tournament
    assert list(message.change.matches) == []


async def test_what_is_shown_is_of_one_moment(club: Club, monkeypatch: pytest.MonkeyPatch) -> None:
    """Who enters while somebody looks is not shown beside a count without him."""
    tournament = await club.create()
    await club.entered(tournament, "eleni")
    found, others = Looks.corrections, ["nikos"]

    async def slowly(self: Looks, tournament_id: UUID) -> list[Correction]:
        """Between the tournament and its entries."""
        if others:
            await club.register(tournament, others.pop())
        return await found(self, tournament_id)

    monkeypatch.setattr(Looks, "corrections", slowly)
    async with asyncio.timeout(PATIENCE), aclosing(club.boards(tournament)) as boards:
        first = await anext(boards)
        players = [player for entry in first.entries.values() for player in entry.player_ids]
        assert (first.tournament.entries, players) == (1, ["eleni"])
        assert not others
        async for board in boards:
            if board.tournament.entries == 2:
                break
    assert board.entry_of("nikos").player_ids == ["nikos"]


async def test_standings_and_bracket_are_paged(club: Club) -> None:
    tournament = await running(club, *FOUR, format=pb.TOURNAMENT_FORMAT_ROUND_ROBIN)
    last = await club.play_on(tournament)
    seen: list[pb.TournamentMatch] = []
    token = ""
    while True:
        request = pb.GetBracketRequest(
            tournament_id=tournament.tournament_id, page_size=4, page_token=token
        )
        page = await club.ask(club.stub.GetBracket, request, "spyros")
        seen += page.matches
        token = page.next_page_token
        if not token:
            break
    assert seen == [last.matches[key] for key in sorted(last.matches)]
    assert all(all(sides(match)) for match in seen)
    request = pb.GetBracketRequest(tournament_id=tournament.tournament_id, round=2)
    page = await club.ask(club.stub.GetBracket, request, "spyros")
    assert [(match.round, match.number) for match in page.matches] == [(2, 1), (2, 2)]
    asked = pb.ListStandingsRequest(tournament_id=tournament.tournament_id, page_size=3)
    first = await club.ask(club.stub.ListStandings, asked, "spyros")
    asked.page_token = first.next_page_token
    second = await club.ask(club.stub.ListStandings, asked, "spyros")
    shown = [*first.standings, *second.standings]
    assert [(s.place, s.entry.player_ids[0], s.won, s.lost) for s in shown] == [
        (1, "eleni", 3, 0),
        (2, "nikos", 2, 1),
        (3, "maria", 1, 2),
        (4, "kostas", 0, 3),
    ]
    assert list(shown[0].merits) == [1, 3, 0, 3]
    assert first.final
    assert second.next_page_token == ""


async def test_lists(club: Club) -> None:
    one = await club.create(name="one", fee=0)
    two = await club.create(name="two", format=pb.TOURNAMENT_FORMAT_SWISS)
    await club.entered(one, "eleni", "nikos")

    async def names(**wanted: object) -> list[str]:
        request = pb.ListTournamentsRequest(**wanted)  # type: ignore[arg-type]
        page = await club.ask(club.stub.ListTournaments, request, "spyros")
        return [each.terms.name for each in page.tournaments]

    assert await names() == ["two", "one"]
    assert await names(player_id="eleni") == ["one"]
    assert await names(format=pb.TOURNAMENT_FORMAT_SWISS) == ["two"]
    assert await names(variant="fevga") == []
    await club.operate("Cancel", two, reason="no light")
    await club.over(two)
    assert await names(status=pb.TOURNAMENT_STATUS_OPEN) == ["one"]
    page = await club.ask(club.stub.ListTournaments, pb.ListTournamentsRequest(page_size=1))
    assert [each.terms.name for each in page.tournaments] == ["two"]
    assert await names(page_size=1, page_token=page.next_page_token) == ["one"]
    request = pb.ListEntriesRequest(tournament_id=one.tournament_id, page_size=1)
    entries = await club.ask(club.stub.ListEntries, request, "spyros")
    assert [list(entry.player_ids) for entry in entries.entries] == [["eleni"]]
    request.page_token = entries.next_page_token
    entries = await club.ask(club.stub.ListEntries, request, "spyros")
    assert [list(entry.player_ids) for entry in entries.entries] == [["nikos"]]
    assert entries.next_page_token == ""
    own = await club.get(one, "nikos")
    assert list(own.own_entry.player_ids) == ["nikos"]
    assert not (await club.get(one, "spyros")).HasField("own_entry")
