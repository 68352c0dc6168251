"""The tournaments of the fake house: they change by what is called, and by what a test tells."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from dataclasses import dataclass, field

import grpc
from kafeneio.matchmaking.v1 import quick_match_pb2, tournaments_pb2_grpc
from kafeneio.matchmaking.v1 import tournaments_pb2 as pb
from kafeneio_client import new_id

from tests.client.fake_calls import Call, Desk, refuse

OVER = (pb.TOURNAMENT_STATUS_FINISHED, pb.TOURNAMENT_STATUS_CANCELLED)


@dataclass
class Evening:
    """One tournament: every version of it, as a change."""

    changes: list[pb.TournamentChange] = field(default_factory=list)
    entries: list[pb.Entry] = field(default_factory=list)
    matches: list[pb.TournamentMatch] = field(default_factory=list)

    @property
    def now(self) -> pb.Tournament:
        """As it stands."""
        return self.changes[-1].tournament


@dataclass
class FakeTournaments(tournaments_pb2_grpc.TournamentServiceServicer):
    """The servicer of TournamentService."""

    desk: Desk
    evenings: dict[str, Evening] = field(default_factory=dict)
    changed: asyncio.Event = field(default_factory=asyncio.Event)

    def tell(
        self,
        evening: Evening,
        status: pb.TournamentStatus.ValueType = pb.TOURNAMENT_STATUS_UNSPECIFIED,
        entry: pb.Entry | None = None,
        match: pb.TournamentMatch | None = None,
    ) -> pb.Tournament:
        """Something has happened; the tournament after it."""
        change = pb.TournamentChange(tournament=evening.now)
        change.tournament.version += 1
        change.tournament.status = status or evening.now.status
        if entry is not None:
            evening.entries = [e for e in evening.entries if e.entry_id != entry.entry_id]
            evening.entries.append(entry)
            change.entries.append(entry)
        if match is not None:
            evening.matches.append(match)
            change.matches.append(match)
        change.tournament.entries = len(evening.entries)
        evening.changes.append(change)
        self.changed.set()
        self.changed = asyncio.Event()
        return change.tournament

    async def _find(self, tournament_id: str, call: Call) -> Evening:
        if tournament_id not in self.evenings:
            code = grpc.StatusCode.NOT_FOUND
            await refuse(call, code, "TOURNAMENT_UNKNOWN", "there is no such tournament")
        return self.evenings[tournament_id]

    async def CreateTournament(
        self, request: pb.CreateTournamentRequest, context: Call
    ) -> pb.CreateTournamentResponse:
        name = await self.desk.called("CreateTournament", request, context)
        made = pb.Tournament(
            tournament_id=new_id(),
            terms=request.terms,
            status=pb.TOURNAMENT_STATUS_OPEN,
            version=1,
            created_by=name,
        )
        self.evenings[made.tournament_id] = Evening([pb.TournamentChange(tournament=made)])
        return pb.CreateTournamentResponse(tournament=made)

    async def RegisterForTournament(
        self, request: pb.RegisterForTournamentRequest, context: Call
    ) -> pb.RegisterForTournamentResponse:
        name = await self.desk.called("RegisterForTournament", request, context)
        evening = await self._find(request.tournament_id, context)
        entry = pb.Entry(entry_id=new_id(), player_ids=[name], status=pb.ENTRY_STATUS_PAYING)
        if request.partner_player_id:
            entry.status = pb.ENTRY_STATUS_WAITING_FOR_PARTNER
            entry.waits_for_player_id = request.partner_player_id
        told = self.tell(evening, entry=entry)
        return pb.RegisterForTournamentResponse(entry=entry, tournament=told)

    async def WithdrawFromTournament(
        self, request: pb.WithdrawFromTournamentRequest, context: Call
    ) -> pb.WithdrawFromTournamentResponse:
        name = await self.desk.called("WithdrawFromTournament", request, context)
        evening = await self._find(request.tournament_id, context)
        (entry,) = [each for each in evening.entries if name in each.player_ids]
        entry.status, entry.end = pb.ENTRY_STATUS_LEAVING, pb.ENTRY_END_WITHDRAWN
        told = self.tell(evening, entry=entry)
        return pb.WithdrawFromTournamentResponse(entry=entry, tournament=told)

    async def StartTournament(
        self, request: pb.StartTournamentRequest, context: Call
    ) -> pb.StartTournamentResponse:
        await self.desk.called("StartTournament", request, context)
        evening = await self._find(request.tournament_id, context)
        told = self.tell(evening, pb.TOURNAMENT_STATUS_STARTING)
        return pb.StartTournamentResponse(tournament=told)

    async def PauseTournament(
        self, request: pb.PauseTournamentRequest, context: Call
    ) -> pb.PauseTournamentResponse:
        await self.desk.called("PauseTournament", request, context)
        evening = await self._find(request.tournament_id, context)
        told = self.tell(evening, pb.TOURNAMENT_STATUS_PAUSED)
        return pb.PauseTournamentResponse(tournament=told)

    async def ResumeTournament(
        self, request: pb.ResumeTournamentRequest, context: Call
    ) -> pb.ResumeTournamentResponse:
        await self.desk.called("ResumeTournament", request, context)
        evening = await self._find(request.tournament_id, context)
        told = self.tell(evening, pb.TOURNAMENT_STATUS_RUNNING)
        return pb.ResumeTournamentResponse(tournament=told)

    async def CancelTournament(
        self, request: pb.CancelTournamentRequest, context: Call
    ) -> pb.CancelTournamentResponse:
        await self.desk.called("CancelTournament", request, context)
        evening = await self._find(request.tournament_id, context)
        evening.now.cancel_reason = request.reason
        told = self.tell(evening, pb.TOURNAMENT_STATUS_CANCELLED)
        return pb.CancelTournamentResponse(tournament=told)

    async def DisqualifyEntry(
        self, request: pb.DisqualifyEntryRequest, context: Call
    ) -> pb.DisqualifyEntryResponse:
        await self.desk.called("DisqualifyEntry", request, context)
        evening = await self._find(request.tournament_id, context)
        (entry,) = [each for each in evening.entries if each.entry_id == request.entry_id]
        entry.status, entry.reason = pb.ENTRY_STATUS_DISQUALIFIED, request.reason
        told = self.tell(evening, entry=entry)
        return pb.DisqualifyEntryResponse(entry=entry, tournament=told)

    async def CorrectTournament(
        self, request: pb.CorrectTournamentRequest, context: Call
    ) -> pb.CorrectTournamentResponse:
        name = await self.desk.called("CorrectTournament", request, context)
        evening = await self._find(request.tournament_id, context)
        evening.now.corrections.add(
            number=len(evening.now.corrections) + 1,
            reason=request.reason,
            proposed_by=name,
            places=request.places,
        )
        return pb.CorrectTournamentResponse(tournament=self.tell(evening))

    async def GetTournament(
        self, request: pb.GetTournamentRequest, context: Call
    ) -> pb.GetTournamentResponse:
        name = await self.desk.called("GetTournament", request, context)
        evening = await self._find(request.tournament_id, context)
        own = [each for each in evening.entries if name in each.player_ids]
        return pb.GetTournamentResponse(tournament=evening.now, own_entry=own[0] if own else None)

    async def ListTournaments(
        self, request: pb.ListTournamentsRequest, context: Call
    ) -> pb.ListTournamentsResponse:
        """Two a page, as are all lists."""
        await self.desk.called("ListTournaments", request, context)
        found = [each.now for each in self.evenings.values()]
        start, more = _page(request.page_token, len(found))
        return pb.ListTournamentsResponse(
            tournaments=found[start : start + 2], next_page_token=more
        )

    async def ListEntries(
        self, request: pb.ListEntriesRequest, context: Call
    ) -> pb.ListEntriesResponse:
        await self.desk.called("ListEntries", request, context)
        found = (await self._find(request.tournament_id, context)).entries
        start, more = _page(request.page_token, len(found))
        return pb.ListEntriesResponse(entries=found[start : start + 2], next_page_token=more)

    async def ListStandings(
        self, request: pb.ListStandingsRequest, context: Call
    ) -> pb.ListStandingsResponse:
        await self.desk.called("ListStandings", request, context)
        evening = await self._find(request.tournament_id, context)
        found = [
            pb.Standing(place=each.place, entry=each) for each in evening.entries if each.place
        ]
        start, more = _page(request.page_token, len(found))
        return pb.ListStandingsResponse(standings=found[start : start + 2], next_page_token=more)

    async def GetBracket(
        self, request: pb.GetBracketRequest, context: Call
    ) -> pb.GetBracketResponse:
        await self.desk.called("GetBracket", request, context)
        found = (await self._find(request.tournament_id, context)).matches
        start, more = _page(request.page_token, len(found))
        return pb.GetBracketResponse(matches=found[start : start + 2], next_page_token=more)

    async def WatchTournament(
        self, request: pb.WatchTournamentRequest, context: Call
    ) -> AsyncIterator[pb.WatchTournamentResponse]:
        """Every change in two messages; the stream drains after each but the last."""
        await self.desk.called("WatchTournament", request, context)
        evening = await self._find(request.tournament_id, context)
        while True:
            changed = self.changed
            for change in evening.changes:
                if change.tournament.version > request.after_version:
                    part = pb.TournamentChange(tournament=change.tournament, more=True)
                    yield pb.WatchTournamentResponse(change=part)
                    yield pb.WatchTournamentResponse(change=change)
                    if change.tournament.status not in OVER:
                        yield pb.WatchTournamentResponse(draining=quick_match_pb2.Draining())
                    return
            if evening.now.status in OVER:
                return
            await changed.wait()


def _page(token: str, count: int) -> tuple[int, str]:
    start = int(token or 0)
    return start, str(start + 2) if count > start + 2 else ""
