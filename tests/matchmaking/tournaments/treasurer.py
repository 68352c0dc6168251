"""A stand-in for `settlement` that keeps its contract for prize pools, in memory: it outlives the
process that calls it."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any, TypeAlias

import grpc
from kafeneio.common.v1 import errors_pb2
from kafeneio.settlement.v1 import prizes_pb2 as pb
from kafeneio.settlement.v1 import prizes_pb2_grpc
from kafeneio_runtime.errors import Refusal, refuse, unavailable

Context: TypeAlias = Any
Reason: TypeAlias = errors_pb2.ErrorReason.ValueType

OPEN, SETTLED, VOID = pb.POOL_STATE_OPEN, pb.POOL_STATE_SETTLED, pb.POOL_STATE_VOID


@dataclass
class Treasurer(prizes_pb2_grpc.PrizeServiceServicer):
    """Who has which trouble, and which pools there are."""

    poor: set[str] = field(default_factory=set)
    suspended: set[str] = field(default_factory=set)
    unknown: set[str] = field(default_factory=set)
    pools: dict[str, pb.PrizePool] = field(default_factory=dict)
    held: dict[str, tuple[str, ...]] = field(default_factory=dict)
    """The players of each entry whose fees are held."""
    released: set[str] = field(default_factory=set)
    standings: dict[str, list[tuple[str, ...]]] = field(default_factory=dict)
    """Who shares which place, of each tournament that was paid."""
    calls: list[tuple[str, str, str]] = field(default_factory=list)
    """(call, tournament or entry, request id), in order."""
    proposed_by: list[str] = field(default_factory=list)
    """The tokens that corrections were proposed with."""
    away: int = 0
    """So many calls are not answered."""
    deaf: int = 0
    """So many calls are carried out, and not answered."""
    refusing: Reason | None = None
    """A reason that no player is to blame for."""
    before: Callable[[str], Awaitable[None]] | None = None
    """What happens elsewhere while a call is on its way; given its name."""
    address: str = ""

    async def OpenPrizePool(
        self, request: pb.OpenPrizePoolRequest, context: Context
    ) -> pb.OpenPrizePoolResponse:
        """The same terms are the same pool."""
        await self._called("OpenPrizePool", request.tournament_id, request.request_id, context)
        made = pb.PrizePool(tournament_id=request.tournament_id, state=OPEN, terms=request.terms)
        pool = self.pools.setdefault(request.tournament_id, made)
        if pool.terms != request.terms:
            await self._refuse(context, errors_pb2.ERROR_REASON_POOL_EXISTS)
        await self._answered(context)
        return pb.OpenPrizePoolResponse(pool=pool)

    async def HoldEntryFees(
        self, request: pb.HoldEntryFeesRequest, context: Context
    ) -> pb.HoldEntryFeesResponse:
        """All fees of an entry, or none."""
        entry = request.entry_id
        await self._called("HoldEntryFees", entry, request.request_id, context)
        await self._open(request.tournament_id, context)
        if entry in self.released:
            await self._refuse(context, errors_pb2.ERROR_REASON_ENTRY_RELEASED)
        for whose, reason in (
            (self.unknown, errors_pb2.ERROR_REASON_WALLET_UNKNOWN),
            (self.suspended, errors_pb2.ERROR_REASON_WALLET_SUSPENDED),
            (self.poor, errors_pb2.ERROR_REASON_INSUFFICIENT_FUNDS),
        ):
            if whose.intersection(request.player_ids) and entry not in self.held:
                await self._refuse(context, reason, seats="0")
        assert self.held.get(entry, tuple(request.player_ids)) == tuple(request.player_ids)
        self.held[entry] = tuple(request.player_ids)
        await self._answered(context)
        return pb.HoldEntryFeesResponse()

    async def ReleaseEntryFees(
        self, request: pb.ReleaseEntryFeesRequest, context: Context
    ) -> pb.ReleaseEntryFeesResponse:
        """Released twice is released, and can't be held any more."""
        await self._called("ReleaseEntryFees", request.entry_id, request.request_id, context)
        await self._open(request.tournament_id, context)
        self.held.pop(request.entry_id, None)
        self.released.add(request.entry_id)
        await self._answered(context)
        return pb.ReleaseEntryFeesResponse()

    async def SettleTournament(
        self, request: pb.SettleTournamentRequest, context: Context
    ) -> pb.SettleTournamentResponse:
        """Once, to all who have entered."""
        tournament = request.tournament_id
        await self._called("SettleTournament", tournament, request.request_id, context)
        places = [tuple(place.entry_ids) for place in request.standings.places]
        if self.standings.get(tournament) != places:
            await self._open(tournament, context)
        named = [entry for shared in places for entry in shared]
        assert sorted(named) == sorted(self.held)
        numbers = [place.place for place in request.standings.places]
        assert numbers == [1 + sum(map(len, places[:n])) for n in range(len(places))]
        self.standings[tournament] = places
        self.pools[tournament].state = SETTLED
        await self._answered(context)
        return pb.SettleTournamentResponse(pool=self.pools[tournament])

    async def VoidTournament(
        self, request: pb.VoidTournamentRequest, context: Context
    ) -> pb.VoidTournamentResponse:
        """Void twice is void."""
        tournament = request.tournament_id
        await self._called("VoidTournament", tournament, request.request_id, context)
        assert request.reason
        pool = self.pools[tournament]
        if pool.state == SETTLED:
            await self._settled(pool, context)
        pool.state = VOID
        self.held.clear()
        await self._answered(context)
        return pb.VoidTournamentResponse(pool=pool)

    async def CorrectTournament(
        self, request: pb.CorrectTournamentRequest, context: Context
    ) -> pb.CorrectTournamentResponse:
        """A proposal."""
        tournament = request.tournament_id
        await self._called("CorrectTournament", tournament, request.request_id, context)
        shown = dict(context.invocation_metadata())["authorization"]
        self.proposed_by.append(shown)
        pool = self.pools[tournament]
        made = pool.corrections.add(
            tournament_id=tournament,
            number=len(pool.corrections) + 1,
            corrects_version=1,
            standings=request.standings,
            reason=request.reason,
            proposed_by="operator",
        )
        await self._answered(context)
        return pb.CorrectTournamentResponse(correction=made)

    async def GetPrizePool(
        self, request: pb.GetPrizePoolRequest, context: Context
    ) -> pb.GetPrizePoolResponse:
        """As it stands."""
        await self._called("GetPrizePool", request.tournament_id, "", context)
        return pb.GetPrizePoolResponse(pool=self.pools[request.tournament_id])

    async def _open(self, tournament: str, context: Context) -> None:
        if tournament not in self.pools:
            code = grpc.StatusCode.NOT_FOUND
            await self._refuse(context, errors_pb2.ERROR_REASON_POOL_UNKNOWN, code)
        if self.pools[tournament].state != OPEN:
            await self._settled(self.pools[tournament], context)

    async def _settled(self, pool: pb.PrizePool, context: Context) -> None:
        state = pb.PoolState.Name(pool.state).removeprefix("POOL_STATE_")
        await self._refuse(context, errors_pb2.ERROR_REASON_POOL_SETTLED, state=state)

    async def _called(self, call: str, what: str, request_id: str, context: Context) -> None:
        self.calls.append((call, what, request_id))
        if self.before is not None:
            await self.before(call)
        if self.away:
            self.away -= 1
            await refuse(context, unavailable("closed"))
        if self.refusing is not None:
            await self._refuse(context, self.refusing)

    async def _answered(self, context: Context) -> None:
        if self.deaf:
            self.deaf -= 1
            await refuse(context, unavailable("lost"))

    async def _refuse(
        self,
        context: Context,
        reason: Reason,
        code: grpc.StatusCode = grpc.StatusCode.FAILED_PRECONDITION,
        **metadata: str,
    ) -> None:
        await refuse(context, Refusal(code, reason, "no", metadata=metadata))

    def same_calls(self) -> bool:
        """Whether whatever was sent more than once was the same call."""
        ids = {(call, what): request for call, what, request in self.calls}
        return all(
            ids[call, what] == request
            for call, what, request in self.calls
            if call != "CorrectTournament"
        )


@asynccontextmanager
async def treasurer() -> AsyncIterator[Treasurer]:
    """One that is served on a free port."""
    made = Treasurer()
    server = grpc.aio.server()
    prizes_pb2_grpc.add_PrizeServiceServicer_to_server(made, server)
    made.address = f"127.0.0.1:{server.add_insecure_port('127.0.0.1:0')}"
    await server.start()
    try:
        yield made
    finally:
        await server.stop(None)
