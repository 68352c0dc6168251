"""What tournaments ask of `settlement`: their prize pools."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final
from uuid import UUID

from kafeneio.common.v1 import money_pb2
from kafeneio.settlement.v1 import prizes_pb2 as pb
from kafeneio_client.errors import Refused

from kafeneio_matchmaking import wire
from kafeneio_matchmaking.peers import CALL_SECONDS, Peers
from kafeneio_matchmaking.tournaments.states import EntryEnd
from kafeneio_matchmaking.tournaments.values import Correction, Entry, Tournament

CURRENCY: Final = "EUR"
"""That of a pool into which nothing is paid: it has to have one."""

FAULTS: Final[Mapping[str, EntryEnd]] = {
    "INSUFFICIENT_FUNDS": EntryEnd.INSUFFICIENT_FUNDS,
    "WALLET_SUSPENDED": EntryEnd.SUSPENDED,
    "WALLET_UNKNOWN": EntryEnd.PLAYER_UNKNOWN,
}
"""Refusals of an entry fee that are about its players."""


@dataclass(frozen=True, slots=True)
class Pools(Peers):
    """Each call raises UnansweredError, or Refused where the answer is no. Each is the same call,
    and has one effect, however often it is made."""

    async def open(self, tournament: Tournament) -> None:
        """Write down the terms of the pool."""
        conditions = tournament.conditions
        terms = pb.PoolTerms(
            entry_fee=money_pb2.Money(
                currency_code=conditions.game.currency or CURRENCY,
                minor_units=conditions.game.stake,
            ),
            fee_basis_points=conditions.game.fee_basis_points,
            prize_shares=conditions.shares,
            players_per_entry=conditions.players_per_entry,
            starts_at=wire.timestamp(conditions.starts_at),
        )
        request = pb.OpenPrizePoolRequest(
            request_id=str(tournament.request_id("OpenPrizePool")),
            tournament_id=str(tournament.tournament_id),
            terms=terms,
        )
        await self._once("settlement", _path("OpenPrizePool"), request, pb.OpenPrizePoolResponse)

    async def hold_fees(self, entry: Entry) -> None:
        """Take the fees of an entry."""
        request = pb.HoldEntryFeesRequest(
            request_id=str(entry.request_id("HoldEntryFees")),
            tournament_id=str(entry.tournament_id),
            entry_id=str(entry.entry_id),
            player_ids=entry.players,
        )
        await self._once("settlement", _path("HoldEntryFees"), request, pb.HoldEntryFeesResponse)

    async def release_fees(self, entry: Entry) -> None:
        """Give the fees of an entry back, also where they were never taken: then they never
        will be."""
        request = pb.ReleaseEntryFeesRequest(
            request_id=str(entry.request_id("ReleaseEntryFees")),
            tournament_id=str(entry.tournament_id),
            entry_id=str(entry.entry_id),
        )
        answer = pb.ReleaseEntryFeesResponse
        await self._once("settlement", _path("ReleaseEntryFees"), request, answer)

    async def pay(self, tournament: Tournament, entries: Sequence[Entry]) -> None:
        """Pay the prizes; `entries` are all that have played, with their places."""
        request = pb.SettleTournamentRequest(
            request_id=str(tournament.request_id("SettleTournament")),
            tournament_id=str(tournament.tournament_id),
            standings=standings(entries),
        )
        answer = pb.SettleTournamentResponse
        await self._once("settlement", _path("SettleTournament"), request, answer)

    async def void(self, tournament: Tournament) -> None:
        """Give every fee back."""
        request = pb.VoidTournamentRequest(
            request_id=str(tournament.request_id("VoidTournament")),
            tournament_id=str(tournament.tournament_id),
            reason=tournament.cancel_reason,
        )
        await self._once("settlement", _path("VoidTournament"), request, pb.VoidTournamentResponse)

    async def corrections(self, tournament_id: UUID) -> list[Correction]:
        """What was proposed for a tournament, and approved."""
        request = pb.GetPrizePoolRequest(tournament_id=str(tournament_id))
        found = await self._ask(
            "settlement", _path("GetPrizePool"), request, pb.GetPrizePoolResponse
        )
        return [correction(each) for each in found.pool.corrections]

    async def correct(
        self,
        request: pb.CorrectTournamentRequest,
        operator: Sequence[tuple[str, str]],
        within: float | None,
    ) -> Correction:
        """Propose other places in the name of an operator, whose token is the metadata: it has to
        be another one who approves them."""
        found = await self._ask(
            "settlement",
            _path("CorrectTournament"),
            request,
            pb.CorrectTournamentResponse,
            CALL_SECONDS if within is None else min(within, CALL_SECONDS),
            operator,
        )
        return correction(found.correction)


def is_void(refused: Refused) -> bool:
    """Whether a pool is not paid because all fees are back."""
    return refused.reason == "POOL_SETTLED" and refused.metadata.get("state") == "VOID"


def standings(entries: Sequence[Entry]) -> pb.Standings:
    """The places of entries, those who share one in the order of their seeds."""
    places: dict[int, list[str]] = {}
    for entry in sorted(entries, key=lambda each: (each.place or 0, each.seed or 0)):
        places.setdefault(entry.place or 0, []).append(str(entry.entry_id))
    return pb.Standings(
        places=[pb.Place(place=place, entry_ids=shared) for place, shared in places.items()]
    )


def correction(message: pb.TournamentCorrection) -> Correction:
    """What an operator has proposed."""
    places = None
    if message.HasField("standings"):
        places = tuple(
            tuple(UUID(entry) for entry in place.entry_ids) for place in message.standings.places
        )
    return Correction(
        number=message.number,
        reason=message.reason,
        proposed_by=message.proposed_by,
        proposed_at=wire.moment(message.proposed_at),
        approved_by=message.approved_by,
        approved_at=wire.moment(message.approved_at) if message.HasField("approved_at") else None,
        settlement_version=message.settlement_version,
        places=places,
    )


def _path(call: str) -> str:
    return f"/kafeneio.settlement.v1.PrizeService/{call}"
