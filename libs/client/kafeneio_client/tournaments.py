"""The calls of `kafeneio.matchmaking.v1.TournamentService`."""

from __future__ import annotations

from collections.abc import AsyncGenerator, AsyncIterator, Callable, Sequence
from contextlib import aclosing
from dataclasses import dataclass, field
from datetime import datetime
from typing import Final, TypeAlias

import grpc
from google.protobuf.timestamp_pb2 import Timestamp
from kafeneio.matchmaking.v1 import tournaments_pb2 as pb
from kafeneio.matchmaking.v1 import tournaments_pb2_grpc
from kafeneio.rules.v1 import game_pb2

from kafeneio_client.channel import Caller, new_id
from kafeneio_client.money import Money
from kafeneio_client.time import Time
from kafeneio_client.watch import Source, Stream, Watcher

OVER: Final = frozenset({pb.TOURNAMENT_STATUS_FINISHED, pb.TOURNAMENT_STATUS_CANCELLED})

Format: TypeAlias = pb.TournamentFormat.ValueType
Status: TypeAlias = pb.TournamentStatus.ValueType


def terms(
    name: str,
    kind: Format,
    game: game_pb2.Terms,
    starts_at: datetime,
    *,
    fee: Money | None = None,
    fee_basis_points: int = 0,
    shares: Sequence[int] = (10_000,),
    entries: tuple[int, int] = (2, 130),
    ratings: tuple[int | None, int | None] = (None, None),
    rounds: int = 0,
) -> pb.TournamentTerms:
    """What is published of a tournament. `shares` are of the pool, in hundredths of a percent;
    `entries` and `ratings` the fewest or lowest, and the most or highest; `starts_at` has a time
    zone."""
    begin = Timestamp()
    begin.FromDatetime(starts_at)
    message = pb.TournamentTerms(
        name=name,
        format=kind,
        rounds=rounds,
        game=game,
        fee_basis_points=fee_basis_points,
        prize_shares=shares,
        min_entries=entries[0],
        max_entries=entries[1],
        min_rating=ratings[0],
        max_rating=ratings[1],
        starts_at=begin,
    )
    if fee is not None and fee.minor_units:
        message.entry_fee.CopyFrom(fee.message())
    return message


@dataclass
class Board:
    """A tournament as somebody knows it who watches it: `take` what has changed."""

    tournament: pb.Tournament = field(default_factory=pb.Tournament)
    entries: dict[str, pb.Entry] = field(default_factory=dict)
    """By their ids."""
    matches: dict[tuple[int, int], pb.TournamentMatch] = field(default_factory=dict)
    """By round and number."""

    def take(self, change: pb.TournamentChange) -> None:
        """What has changed."""
        self.tournament = change.tournament
        self.entries |= {entry.entry_id: entry for entry in change.entries}
        self.matches |= {(match.round, match.number): match for match in change.matches}

    def name(self, entry_id: str) -> str:
        """Who an entry is; empty for nobody."""
        return " and ".join(self.entries[entry_id].player_ids) if entry_id else ""

    def playing(self, player_id: str = "") -> list[pb.TournamentMatch]:
        """The matches with a game to be joined, or being played; only those of a player."""
        return [
            match
            for match in self.matches.values()
            if match.state == pb.MATCH_STATE_PLAYING
            and (not player_id or player_id in match.player_ids)
        ]


class _Changes(Source[pb.WatchTournamentResponse, pb.TournamentChange]):
    """The changes of a tournament, by its versions."""

    def __init__(
        self, open_stream: Callable[[int], Stream[pb.WatchTournamentResponse]], version: int
    ) -> None:
        self._open_stream = open_stream
        self._version = version
        self._after = version

    def open(self) -> Stream[pb.WatchTournamentResponse]:
        return self._open_stream(self._after)

    def take(self, message: pb.WatchTournamentResponse) -> pb.TournamentChange | None:
        if not message.HasField("change"):
            return None
        change, tournament = message.change, message.change.tournament
        if not change.more:
            self._after = tournament.version
            self.finished = tournament.status in OVER
        if tournament.version <= self._version:
            return None
        if not change.more:
            self._version = tournament.version
        return change

    async def ended(self) -> None:
        """Perhaps there is nothing after the version: the next stream shows it as it is."""
        self._after = 0


class Tournaments:
    """Tournaments, for players and for operators.

    Whatever changes something makes a request id of its own. To send a call again whose answer
    got lost, give it the `request_id` of the error that it raised.
    """

    def __init__(self, channel: grpc.aio.Channel, caller: Caller, time: Time) -> None:
        self._stub = tournaments_pb2_grpc.TournamentServiceStub(channel)
        self._caller = caller
        self._time = time

    # --- players -----------------------------------------------------------------------------

    async def register(
        self, tournament_id: str, *, partner: str = "", request_id: str = ""
    ) -> pb.Entry:
        """RegisterForTournament: enter, where pairs play with `partner`, who names the caller, too.
        Role: player."""
        request = pb.RegisterForTournamentRequest(
            request_id=request_id or new_id(),
            tournament_id=tournament_id,
            partner_player_id=partner,
        )
        call = self._stub.RegisterForTournament
        return (await self._caller.call(call, request, request.request_id)).entry

    async def withdraw(self, tournament_id: str, *, request_id: str = "") -> pb.Entry:
        """WithdrawFromTournament: before the start the fee comes back. Role: player."""
        request = pb.WithdrawFromTournamentRequest(
            request_id=request_id or new_id(), tournament_id=tournament_id
        )
        call = self._stub.WithdrawFromTournament
        return (await self._caller.call(call, request, request.request_id)).entry

    # --- everybody ---------------------------------------------------------------------------

    async def get(self, tournament_id: str) -> pb.GetTournamentResponse:
        """GetTournament: a tournament, with the caller's own entry."""
        request = pb.GetTournamentRequest(tournament_id=tournament_id)
        return await self._caller.call(self._stub.GetTournament, request)

    async def list(
        self,
        *,
        status: Status = pb.TOURNAMENT_STATUS_UNSPECIFIED,
        variant: str = "",
        kind: Format = pb.TOURNAMENT_FORMAT_UNSPECIFIED,
        player_id: str = "",
        page_size: int = 0,
    ) -> AsyncIterator[pb.Tournament]:
        """ListTournaments: the newest first, page after page as the caller goes on."""
        request = pb.ListTournamentsRequest(
            status=status, variant=variant, format=kind, player_id=player_id, page_size=page_size
        )
        while True:
            page = await self._caller.call(self._stub.ListTournaments, request)
            for tournament in page.tournaments:
                yield tournament
            if not page.next_page_token:
                return
            request.page_token = page.next_page_token

    async def entries(self, tournament_id: str, *, page_size: int = 0) -> AsyncIterator[pb.Entry]:
        """ListEntries: by their seeds, page after page as the caller goes on."""
        request = pb.ListEntriesRequest(tournament_id=tournament_id, page_size=page_size)
        while True:
            page = await self._caller.call(self._stub.ListEntries, request)
            for entry in page.entries:
                yield entry
            if not page.next_page_token:
                return
            request.page_token = page.next_page_token

    async def standings(
        self, tournament_id: str, *, page_size: int = 0
    ) -> AsyncIterator[pb.Standing]:
        """ListStandings: the first place first, page after page as the caller goes on."""
        request = pb.ListStandingsRequest(tournament_id=tournament_id, page_size=page_size)
        while True:
            page = await self._caller.call(self._stub.ListStandings, request)
            for standing in page.standings:
                yield standing
            if not page.next_page_token:
                return
            request.page_token = page.next_page_token

    async def bracket(
        self, tournament_id: str, *, turn: int = 0, page_size: int = 0
    ) -> AsyncIterator[pb.TournamentMatch]:
        """GetBracket: the matches of all rounds, or of one, page after page as the caller goes
        on."""
        request = pb.GetBracketRequest(tournament_id=tournament_id, round=turn, page_size=page_size)
        while True:
            page = await self._caller.call(self._stub.GetBracket, request)
            for match in page.matches:
                yield match
            if not page.next_page_token:
                return
            request.page_token = page.next_page_token

    def watch(
        self, tournament_id: str, after_version: int = 0
    ) -> AsyncGenerator[pb.TournamentChange, None]:
        """WatchTournament: everything, then each change, until it is FINISHED or CANCELLED.

        It is resumed like `games.watch`, and closed like it.
        """

        def open_stream(version: int) -> Stream[pb.WatchTournamentResponse]:
            request = pb.WatchTournamentRequest(tournament_id=tournament_id, after_version=version)
            return self._stub.WatchTournament(request, metadata=self._caller.metadata)

        source = _Changes(open_stream, after_version)
        return Watcher(source, self._time, self._caller.address).updates()

    async def boards(self, tournament_id: str) -> AsyncGenerator[Board, None]:
        """WatchTournament: all of it as it stands, then again after each change. Close it like
        `watch`."""
        board = Board()
        async with aclosing(self.watch(tournament_id)) as changes:
            async for change in changes:
                board.take(change)
                if not change.more:
                    yield board

    # --- operators ---------------------------------------------------------------------------

    async def create(self, published: pb.TournamentTerms, *, request_id: str = "") -> pb.Tournament:
        """CreateTournament: publish it; `terms` makes the message. Role: operator."""
        request = pb.CreateTournamentRequest(request_id=request_id or new_id(), terms=published)
        call = self._stub.CreateTournament
        return (await self._caller.call(call, request, request.request_id)).tournament

    async def start(self, tournament_id: str, *, request_id: str = "") -> pb.Tournament:
        """StartTournament: before its time. Role: operator."""
        request = pb.StartTournamentRequest(
            request_id=request_id or new_id(), tournament_id=tournament_id
        )
        call = self._stub.StartTournament
        return (await self._caller.call(call, request, request.request_id)).tournament

    async def pause(self, tournament_id: str, *, request_id: str = "") -> pb.Tournament:
        """PauseTournament: no further game is started. Role: operator."""
        request = pb.PauseTournamentRequest(
            request_id=request_id or new_id(), tournament_id=tournament_id
        )
        call = self._stub.PauseTournament
        return (await self._caller.call(call, request, request.request_id)).tournament

    async def resume(self, tournament_id: str, *, request_id: str = "") -> pb.Tournament:
        """ResumeTournament: it goes on. Role: operator."""
        request = pb.ResumeTournamentRequest(
            request_id=request_id or new_id(), tournament_id=tournament_id
        )
        call = self._stub.ResumeTournament
        return (await self._caller.call(call, request, request.request_id)).tournament

    async def cancel(
        self, tournament_id: str, reason: str, *, request_id: str = ""
    ) -> pb.Tournament:
        """CancelTournament: every fee goes back. Role: operator."""
        request = pb.CancelTournamentRequest(
            request_id=request_id or new_id(), tournament_id=tournament_id, reason=reason
        )
        call = self._stub.CancelTournament
        return (await self._caller.call(call, request, request.request_id)).tournament

    async def disqualify(
        self, tournament_id: str, entry_id: str, reason: str, *, request_id: str = ""
    ) -> pb.Entry:
        """DisqualifyEntry: take an entry out for good. Role: operator."""
        request = pb.DisqualifyEntryRequest(
            request_id=request_id or new_id(),
            tournament_id=tournament_id,
            entry_id=entry_id,
            reason=reason,
        )
        call = self._stub.DisqualifyEntry
        return (await self._caller.call(call, request, request.request_id)).entry

    async def correct(
        self,
        tournament_id: str,
        order: Sequence[Sequence[str]],
        reason: str,
        *,
        request_id: str = "",
    ) -> pb.Tournament:
        """CorrectTournament: propose other places; `order` is entries by place, those who share one
        together. `settlement.approve_any` with the tournament's id, and the number of the
        correction, does it. Role: operator."""
        request = pb.CorrectTournamentRequest(
            request_id=request_id or new_id(), tournament_id=tournament_id, reason=reason
        )
        place = 1
        for shared in order:
            request.places.add(place=place, entry_ids=shared)
            place += len(shared)
        call = self._stub.CorrectTournament
        return (await self._caller.call(call, request, request.request_id)).tournament
