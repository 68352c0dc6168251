"""TournamentService: message -> domain -> message."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import dataclass
from datetime import datetime
from typing import Final, TypeAlias

from kafeneio.common.v1 import errors_pb2
from kafeneio.matchmaking.v1 import tournaments_pb2 as pb
from kafeneio.matchmaking.v1 import tournaments_pb2_grpc
from kafeneio_runtime.errors import failed, malformed
from kafeneio_runtime.ids import new_id, parse_id
from kafeneio_runtime.interceptors.current import caller

from kafeneio_matchmaking.entrance import Offers, person
from kafeneio_matchmaking.players.gate import Gate
from kafeneio_matchmaking.players.guards import another, anybody, at_most_once, storable
from kafeneio_matchmaking.storage import Matchmaking, Work
from kafeneio_matchmaking.tournaments import wire
from kafeneio_matchmaking.tournaments.correcting import Correcting
from kafeneio_matchmaking.tournaments.driving import fall
from kafeneio_matchmaking.tournaments.playing import resumed
from kafeneio_matchmaking.tournaments.registering import (
    disqualify,
    known,
    locked,
    register,
    withdraw,
    wrong_status,
)
from kafeneio_matchmaking.tournaments.showing import Showing, page_start
from kafeneio_matchmaking.tournaments.states import MOVES, Move, Status
from kafeneio_matchmaking.tournaments.storage import Sheet
from kafeneio_matchmaking.tournaments.values import (
    Conditions,
    ConditionsError,
    Entry,
    Tournament,
    check,
)

PAGE: Final = 50
MATCHES_A_PAGE: Final = 100

Operators: TypeAlias = (
    pb.StartTournamentRequest
    | pb.PauseTournamentRequest
    | pb.ResumeTournamentRequest
    | pb.CancelTournamentRequest
    | pb.CorrectTournamentRequest
)

Entrants: TypeAlias = (
    pb.RegisterForTournamentRequest | pb.WithdrawFromTournamentRequest | pb.DisqualifyEntryRequest
)

Effect: TypeAlias = Callable[[Sheet, Tournament], Awaitable[Tournament]]
"""What a call does to a locked tournament."""


@dataclass(frozen=True, slots=True)
class TournamentServicer(tournaments_pb2_grpc.TournamentServiceServicer):
    """The calls of `kafeneio.matchmaking.v1.TournamentService`; their meaning stands in the
    contract. `ring` is called when there is something to be driven."""

    storage: Matchmaking
    offers: Offers
    gate: Gate
    showing: Showing
    correcting: Correcting
    ring: Callable[[], None]

    # --- publishing --------------------------------------------------------------------------

    async def CreateTournament(
        self, request: pb.CreateTournamentRequest, context: object
    ) -> pb.CreateTournamentResponse:
        """Publish a tournament."""
        conditions = await self._conditions(request.terms)

        async def effect(work: Work) -> bytes:
            sheet, made = Sheet(work.connection), new_id()
            _judge(conditions, await work.now())
            await sheet.create(made, conditions, caller().subject)
            shown = wire.tournament(known(await sheet.tournament(made), made))
            return pb.CreateTournamentResponse(tournament=shown).SerializeToString()

        answer = await self._once("CreateTournament", request.request_id, effect)
        return pb.CreateTournamentResponse.FromString(answer)

    async def _conditions(self, terms: pb.TournamentTerms) -> Conditions:
        """What an operator publishes, settled. Raises VARIANT_UNKNOWN, OPTION_INVALID, MALFORMED or
        UNAVAILABLE."""
        storable(terms.name, "terms.name")
        variant = terms.game.variant
        game = await self.offers.settle(variant, wire.wish(terms), terms.fee_basis_points)
        pairs = (await self.offers.find(variant)).partners
        if game.seats != (4 if pairs else 2):
            reason = errors_pb2.ERROR_REASON_OPTION_INVALID
            raise failed(reason, "a match is between two sides", option="players")
        try:
            return wire.conditions(terms, game)
        except (ValueError, OverflowError) as error:
            text = "must be a moment from the year 1 to 9999"
            raise malformed("terms.starts_at", text) from error

    # --- players -----------------------------------------------------------------------------

    async def RegisterForTournament(
        self, request: pb.RegisterForTournamentRequest, context: object
    ) -> pb.RegisterForTournamentResponse:
        """Enter the caller."""
        player, partner = person(), request.partner_player_id
        if partner:
            another(partner, "partner_player_id")

        async def enter(sheet: Sheet, tournament: Tournament) -> Entry:
            return await register(sheet, tournament, player, partner, self.gate)

        entry, shown = await self._change_entry("RegisterForTournament", request, enter)
        return pb.RegisterForTournamentResponse(entry=entry, tournament=shown)

    async def WithdrawFromTournament(
        self, request: pb.WithdrawFromTournamentRequest, context: object
    ) -> pb.WithdrawFromTournamentResponse:
        """Take the caller's entry out."""

        async def leave(sheet: Sheet, tournament: Tournament) -> Entry:
            return await withdraw(sheet, tournament, caller().subject)

        entry, shown = await self._change_entry("WithdrawFromTournament", request, leave)
        return pb.WithdrawFromTournamentResponse(entry=entry, tournament=shown)

    # --- operators ---------------------------------------------------------------------------

    async def StartTournament(
        self, request: pb.StartTournamentRequest, context: object
    ) -> pb.StartTournamentResponse:
        """Start a tournament before its time."""

        async def start(sheet: Sheet, tournament: Tournament) -> Tournament:
            _may(tournament, Move.CLOSE, errors_pb2.ERROR_REASON_TOURNAMENT_NOT_OPEN)
            if tournament.entries < tournament.conditions.min_entries:
                count = str(tournament.entries)
                reason = errors_pb2.ERROR_REASON_TOO_FEW_ENTRIES
                raise failed(reason, "too few have entered", entries=count)
            return await sheet.move(tournament, Move.CLOSE)

        shown = await self._change("StartTournament", request, start)
        return pb.StartTournamentResponse(tournament=shown)

    async def DisqualifyEntry(
        self, request: pb.DisqualifyEntryRequest, context: object
    ) -> pb.DisqualifyEntryResponse:
        """Take an entry out for good."""
        entry_id = parse_id(request.entry_id, "entry_id")
        why = storable(request.reason, "reason")

        async def remove(sheet: Sheet, tournament: Tournament) -> Entry:
            return await disqualify(sheet, tournament, entry_id, why)

        entry, shown = await self._change_entry("DisqualifyEntry", request, remove)
        return pb.DisqualifyEntryResponse(entry=entry, tournament=shown)

    async def PauseTournament(
        self, request: pb.PauseTournamentRequest, context: object
    ) -> pb.PauseTournamentResponse:
        """See to it that no further game is started."""

        async def pause(sheet: Sheet, tournament: Tournament) -> Tournament:
            _may(tournament, Move.PAUSE, errors_pb2.ERROR_REASON_TOURNAMENT_NOT_RUNNING)
            return await sheet.move(tournament, Move.PAUSE)

        shown = await self._change("PauseTournament", request, pause)
        return pb.PauseTournamentResponse(tournament=shown)

    async def ResumeTournament(
        self, request: pb.ResumeTournamentRequest, context: object
    ) -> pb.ResumeTournamentResponse:
        """Let a paused tournament go on."""

        async def resume(sheet: Sheet, tournament: Tournament) -> Tournament:
            _may(tournament, Move.RESUME, errors_pb2.ERROR_REASON_TOURNAMENT_NOT_PAUSED)
            running = await sheet.move(tournament, Move.RESUME)
            return await resumed(sheet, running, await sheet.course(running))

        shown = await self._change("ResumeTournament", request, resume)
        return pb.ResumeTournamentResponse(tournament=shown)

    async def CancelTournament(
        self, request: pb.CancelTournamentRequest, context: object
    ) -> pb.CancelTournamentResponse:
        """Call a tournament off."""
        why = storable(request.reason, "reason")

        async def cancel(sheet: Sheet, tournament: Tournament) -> Tournament:
            _may(tournament, Move.CANCEL, errors_pb2.ERROR_REASON_TOURNAMENT_OVER)
            return await fall(sheet, tournament, Move.CANCEL, why)

        shown = await self._change("CancelTournament", request, cancel)
        return pb.CancelTournamentResponse(tournament=shown)

    async def CorrectTournament(
        self, request: pb.CorrectTournamentRequest, context: object
    ) -> pb.CorrectTournamentResponse:
        """Propose other places."""
        storable(request.reason, "reason")

        async def correct(sheet: Sheet, tournament: Tournament) -> Tournament:
            if tournament.status is not Status.FINISHED:
                reason = errors_pb2.ERROR_REASON_TOURNAMENT_NOT_FINISHED
                raise wrong_status(reason, tournament)
            await self.correcting.propose(sheet, tournament, request)
            return tournament

        shown = await self._change("CorrectTournament", request, correct)
        return pb.CorrectTournamentResponse(tournament=shown)

    # --- looking -----------------------------------------------------------------------------

    async def GetTournament(
        self, request: pb.GetTournamentRequest, context: object
    ) -> pb.GetTournamentResponse:
        """A tournament, with the caller's own entry."""
        tournament_id = parse_id(request.tournament_id, "tournament_id")
        async with self.storage.look() as work:
            sheet = Sheet(work.connection)
            shown = await self.showing.shown(sheet, tournament_id)
            own = await sheet.own(tournament_id, caller().subject, live=False)
        answer = pb.GetTournamentResponse(tournament=shown)
        if own is not None:
            answer.own_entry.CopyFrom(wire.entry(own))
        return answer

    async def ListTournaments(
        self, request: pb.ListTournamentsRequest, context: object
    ) -> pb.ListTournamentsResponse:
        """Tournaments, the newest first."""
        size = request.page_size or PAGE
        before = parse_id(request.page_token, "page_token") if request.page_token else None
        async with self.storage.look() as work:
            found = await Sheet(work.connection).listed(
                status=wire.asked_status(request.status),
                variant=storable(request.variant, "variant"),
                kind=wire.asked_format(request.format),
                player=anybody(request.player_id),
                before=before,
                limit=size + 1,
            )
        answer = pb.ListTournamentsResponse(tournaments=map(wire.tournament, found[:size]))
        if len(found) > size:
            answer.next_page_token = str(found[size - 1].tournament_id)
        return answer

    async def WatchTournament(
        self, request: pb.WatchTournamentRequest, context: object
    ) -> AsyncIterator[pb.WatchTournamentResponse]:
        """A tournament as it stands, then each change."""
        tournament_id = parse_id(request.tournament_id, "tournament_id")
        async for message in self.showing.watch(tournament_id, request.after_version):
            yield message

    async def ListEntries(
        self, request: pb.ListEntriesRequest, context: object
    ) -> pb.ListEntriesResponse:
        """The entries by their seeds."""
        tournament_id = parse_id(request.tournament_id, "tournament_id")
        size, skip = request.page_size or PAGE, page_start(request.page_token)
        async with self.storage.look() as work:
            sheet = Sheet(work.connection)
            known(await sheet.tournament(tournament_id), tournament_id)
            found = await sheet.entries(tournament_id, skip=skip, limit=size + 1)
        answer = pb.ListEntriesResponse(entries=map(wire.entry, found[:size]))
        if len(found) > size:
            answer.next_page_token = str(skip + size)
        return answer

    async def ListStandings(
        self, request: pb.ListStandingsRequest, context: object
    ) -> pb.ListStandingsResponse:
        """Who stands where."""
        tournament_id = parse_id(request.tournament_id, "tournament_id")
        size, skip = request.page_size or PAGE, page_start(request.page_token)
        async with self.storage.look() as work:
            sheet = Sheet(work.connection)
            tournament = known(await sheet.tournament(tournament_id), tournament_id)
            found, final = await self.showing.standings(sheet, tournament)
        answer = pb.ListStandingsResponse(standings=found[skip : skip + size], final=final)
        if len(found) > skip + size:
            answer.next_page_token = str(skip + size)
        return answer

    async def GetBracket(
        self, request: pb.GetBracketRequest, context: object
    ) -> pb.GetBracketResponse:
        """The matches round by round."""
        tournament_id = parse_id(request.tournament_id, "tournament_id")
        size, skip = request.page_size or MATCHES_A_PAGE, page_start(request.page_token)
        turn = request.round - 1 if request.round else None
        async with self.storage.look() as work:
            sheet = Sheet(work.connection)
            known(await sheet.tournament(tournament_id), tournament_id)
            found = await sheet.fixtures(tournament_id, turn=turn, skip=skip, limit=size + 1)
            seeds = await self.showing.seeds(sheet, tournament_id)
        answer = pb.GetBracketResponse(matches=[wire.match(each, seeds) for each in found[:size]])
        if len(found) > size:
            answer.next_page_token = str(skip + size)
        return answer

    # --- changing ----------------------------------------------------------------------------

    async def _change(self, method: str, request: Operators, change: Effect) -> pb.Tournament:
        """The tournament of a request after a change of it, which is made once."""
        tournament_id = parse_id(request.tournament_id, "tournament_id")

        async def effect(work: Work) -> bytes:
            sheet = Sheet(work.connection)
            await change(sheet, await locked(sheet, tournament_id))
            shown = await self.showing.shown(sheet, tournament_id)
            return shown.SerializeToString()

        return pb.Tournament.FromString(await self._once(method, request.request_id, effect))

    async def _change_entry(
        self,
        method: str,
        request: Entrants,
        change: Callable[[Sheet, Tournament], Awaitable[Entry]],
    ) -> tuple[pb.Entry, pb.Tournament]:
        """The same of an entry of it."""
        tournament_id = parse_id(request.tournament_id, "tournament_id")

        async def effect(work: Work) -> bytes:
            sheet = Sheet(work.connection)
            entry = await change(sheet, await locked(sheet, tournament_id))
            shown = await self.showing.shown(sheet, tournament_id)
            answer = pb.DisqualifyEntryResponse(entry=wire.entry(entry), tournament=shown)
            return answer.SerializeToString()

        kept = await self._once(method, request.request_id, effect)
        answer = pb.DisqualifyEntryResponse.FromString(kept)
        return answer.entry, answer.tournament

    async def _once(
        self, method: str, request_id: str, effect: Callable[[Work], Awaitable[bytes]]
    ) -> bytes:
        answer = await at_most_once(self.storage, method, request_id, effect)
        self.ring()
        return answer


def _judge(conditions: Conditions, now: datetime) -> None:
    """Raises TERMS_INVALID."""
    try:
        check(conditions, now)
    except ConditionsError as error:
        reason = errors_pb2.ERROR_REASON_TERMS_INVALID
        raise failed(reason, f"{error.field}: {error}", field=error.field) from error


def _may(tournament: Tournament, move: Move, reason: errors_pb2.ErrorReason.ValueType) -> None:
    """Raises the refusal where a tournament can't be moved so."""
    if (tournament.status, move) not in MOVES:
        raise wrong_status(reason, tournament)
