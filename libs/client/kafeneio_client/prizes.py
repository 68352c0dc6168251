"""The calls of `kafeneio.settlement.v1.PrizeService`."""

from __future__ import annotations

from collections.abc import Sequence

import grpc
from kafeneio.settlement.v1 import prizes_pb2 as pb
from kafeneio.settlement.v1 import prizes_pb2_grpc

from kafeneio_client.channel import Caller, new_id


def standings(order: Sequence[Sequence[str]]) -> pb.Standings:
    """Entries by place, the first place first, as a message; those who share one come together, and
    the places after them are that many later."""
    message = pb.Standings()
    place = 1
    for tied in order:
        message.places.add(place=place, entry_ids=tied)
        place += len(tied)
    return message


class Prizes:
    """The entry fees and prizes of tournaments.

    Whatever changes something makes a request id of its own. To send a call again whose answer
    got lost, give it the `request_id` of the error that it raised.
    """

    def __init__(self, channel: grpc.aio.Channel, caller: Caller) -> None:
        self._stub = prizes_pb2_grpc.PrizeServiceStub(channel)
        self._caller = caller

    async def open(
        self, tournament_id: str, terms: pb.PoolTerms, *, request_id: str = ""
    ) -> pb.PrizePool:
        """OpenPrizePool: write the terms of a tournament down. Role: service."""
        request = pb.OpenPrizePoolRequest(
            request_id=request_id or new_id(), tournament_id=tournament_id, terms=terms
        )
        return (await self._caller.call(self._stub.OpenPrizePool, request, request.request_id)).pool

    async def hold(
        self,
        tournament_id: str,
        entry_id: str,
        player_ids: Sequence[str],
        *,
        request_id: str = "",
    ) -> pb.PoolEntry:
        """HoldEntryFees: the fee of every player of an entry into escrow. Role: service."""
        request = pb.HoldEntryFeesRequest(
            request_id=request_id or new_id(),
            tournament_id=tournament_id,
            entry_id=entry_id,
            player_ids=player_ids,
        )
        return (
            await self._caller.call(self._stub.HoldEntryFees, request, request.request_id)
        ).entry

    async def release(
        self, tournament_id: str, entry_id: str, *, request_id: str = ""
    ) -> pb.PoolEntry:
        """ReleaseEntryFees: the fees of an entry back to its players. Role: service."""
        request = pb.ReleaseEntryFeesRequest(
            request_id=request_id or new_id(), tournament_id=tournament_id, entry_id=entry_id
        )
        return (
            await self._caller.call(self._stub.ReleaseEntryFees, request, request.request_id)
        ).entry

    async def settle(
        self, tournament_id: str, order: Sequence[Sequence[str]], *, request_id: str = ""
    ) -> pb.PrizePool:
        """SettleTournament: pay the prizes; `order` is entries by place. Role: service."""
        request = pb.SettleTournamentRequest(
            request_id=request_id or new_id(),
            tournament_id=tournament_id,
            standings=standings(order),
        )
        return (
            await self._caller.call(self._stub.SettleTournament, request, request.request_id)
        ).pool

    async def void(self, tournament_id: str, reason: str, *, request_id: str = "") -> pb.PrizePool:
        """VoidTournament: every fee back. Role: service, operator."""
        request = pb.VoidTournamentRequest(
            request_id=request_id or new_id(), tournament_id=tournament_id, reason=reason
        )
        return (
            await self._caller.call(self._stub.VoidTournament, request, request.request_id)
        ).pool

    async def get(self, tournament_id: str) -> pb.PrizePool:
        """GetPrizePool: where a tournament's money stands."""
        request = pb.GetPrizePoolRequest(tournament_id=tournament_id)
        return (await self._caller.call(self._stub.GetPrizePool, request)).pool

    async def correct(
        self,
        tournament_id: str,
        reason: str,
        *,
        order: Sequence[Sequence[str]] | None = None,
        terms: pb.PoolTerms | None = None,
        request_id: str = "",
    ) -> pb.TournamentCorrection:
        """CorrectTournament: propose other standings, other terms, or (without an order) that it
        is void. `settlement.approve_any` with the tournament's id does it. Role: operator."""
        request = pb.CorrectTournamentRequest(
            request_id=request_id or new_id(),
            tournament_id=tournament_id,
            terms=terms,
            reason=reason,
        )
        if order is None:
            request.void = True
        else:
            request.standings.CopyFrom(standings(order))
        answer = await self._caller.call(self._stub.CorrectTournament, request, request.request_id)
        return answer.correction
