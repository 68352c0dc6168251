"""Corrections of finished tournaments (S6): proposed here, approved by another operator in
`settlement`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final
from uuid import UUID

from kafeneio.common.v1 import errors_pb2
from kafeneio.matchmaking.v1 import tournaments_pb2 as pb
from kafeneio.settlement.v1 import prizes_pb2
from kafeneio_client.errors import Refused
from kafeneio_runtime.bus import Event, first_time
from kafeneio_runtime.calls import current_call
from kafeneio_runtime.errors import Refusal, failed, malformed, unavailable
from kafeneio_runtime.ids import parse_id
from kafeneio_runtime.interceptors.current import remaining_time

from kafeneio_matchmaking.peers import UnansweredError
from kafeneio_matchmaking.storage import Matchmaking
from kafeneio_matchmaking.tournaments.peers import Pools
from kafeneio_matchmaking.tournaments.storage import Sheet
from kafeneio_matchmaking.tournaments.values import Tournament

CONSUMER: Final = "matchmaking.tournaments"
CORRECTED: Final = "tournament_corrected"


@dataclass(frozen=True, slots=True)
class Correcting:
    """Proposes corrections, and hears what becomes of them."""

    storage: Matchmaking
    pools: Pools

    async def propose(
        self, sheet: Sheet, tournament: Tournament, request: pb.CorrectTournamentRequest
    ) -> None:
        """Tell `settlement` in the name of the caller, and keep what he has proposed. Raises
        STANDINGS_INCOMPLETE, MALFORMED, UNAVAILABLE, or what `settlement` refuses him for."""
        entries = await sheet.entries(tournament.tournament_id)
        seeds = {each.entry_id: each.seed for each in entries if each.seed is not None}
        proposal = prizes_pb2.CorrectTournamentRequest(
            request_id=request.request_id,
            tournament_id=request.tournament_id,
            standings=_standings(request.places, seeds),
            reason=request.reason,
        )
        shown = str(current_call.get().metadata["authorization"])
        try:
            made = await self.pools.correct(proposal, (("authorization", shown),), remaining_time())
        except UnansweredError as error:
            raise unavailable("`settlement` can't be asked now, please try again") from error
        except Refused as refused:
            reason = errors_pb2.ErrorReason.Value(f"ERROR_REASON_{refused.reason}")
            raise Refusal(
                refused.code, reason, refused.message, metadata=refused.metadata
            ) from refused
        await sheet.correct(tournament, made)

    async def hear(self, events: Sequence[Event]) -> None:
        """Events of `settlement`, in any order and any number of times: of a tournament that was
        corrected it is looked up what is true of it now."""
        for event in events:
            if event.type == CORRECTED:
                async with self.storage.work() as work:
                    if await first_time(work.connection, CONSUMER, [event.id]):
                        await Sheet(work.connection).ring(event.key)


def _standings(places: Sequence[pb.EntryPlace], seeds: dict[UUID, int]) -> prizes_pb2.Standings:
    """The places that an operator names, those who share one by their seeds. Raises MALFORMED or
    STANDINGS_INCOMPLETE."""
    found: list[prizes_pb2.Place] = []
    named: list[UUID] = []
    for number, place in enumerate(places):
        if place.place != len(named) + 1:
            raise malformed(f"places[{number}].place", f"must be {len(named) + 1}")
        shared = [parse_id(entry, f"places[{number}].entry_ids") for entry in place.entry_ids]
        named += shared
        shared.sort(key=lambda entry: seeds.get(entry, 0))
        found.append(prizes_pb2.Place(place=place.place, entry_ids=map(str, shared)))
    if len(named) != len(seeds) or set(named) != seeds.keys():
        text = "name every entry that has played, once"
        raise failed(errors_pb2.ERROR_REASON_STANDINGS_INCOMPLETE, text)
    return prizes_pb2.Standings(places=found)
