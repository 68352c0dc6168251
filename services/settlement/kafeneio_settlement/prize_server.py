"""PrizeService: message -> domain -> message. What moves money is in pooling.py."""

from __future__ import annotations

from dataclasses import dataclass

from kafeneio.settlement.v1 import prizes_pb2 as pb
from kafeneio.settlement.v1 import prizes_pb2_grpc
from kafeneio_runtime.auth import Role
from kafeneio_runtime.ids import parse_id
from kafeneio_runtime.interceptors.current import caller

from kafeneio_settlement import pool_wire
from kafeneio_settlement.guards import pool_unknown
from kafeneio_settlement.pool_correcting import PoolCorrecting
from kafeneio_settlement.pool_storage import PoolLooks
from kafeneio_settlement.pooling import Pooling


@dataclass(frozen=True, slots=True)
class PrizeServicer(prizes_pb2_grpc.PrizeServiceServicer):
    """The calls of `kafeneio.settlement.v1.PrizeService`; their meaning stands in the contract."""

    looks: PoolLooks
    pooling: Pooling
    correcting: PoolCorrecting

    async def OpenPrizePool(
        self, request: pb.OpenPrizePoolRequest, context: object
    ) -> pb.OpenPrizePoolResponse:
        """The terms of a tournament."""
        return await self.pooling.open(request)

    async def HoldEntryFees(
        self, request: pb.HoldEntryFeesRequest, context: object
    ) -> pb.HoldEntryFeesResponse:
        """An entry pays."""
        return await self.pooling.hold(request)

    async def ReleaseEntryFees(
        self, request: pb.ReleaseEntryFeesRequest, context: object
    ) -> pb.ReleaseEntryFeesResponse:
        """An entry gets its fees back."""
        return await self.pooling.release(request)

    async def SettleTournament(
        self, request: pb.SettleTournamentRequest, context: object
    ) -> pb.SettleTournamentResponse:
        """The prizes are paid."""
        return await self.pooling.settle(request)

    async def VoidTournament(
        self, request: pb.VoidTournamentRequest, context: object
    ) -> pb.VoidTournamentResponse:
        """Every fee goes back."""
        return await self.pooling.void(request)

    async def GetPrizePool(
        self, request: pb.GetPrizePoolRequest, context: object
    ) -> pb.GetPrizePoolResponse:
        """Where a tournament's money stands."""
        tournament_id = parse_id(request.tournament_id, "tournament_id")
        pool = await self.looks.pool(tournament_id)
        if pool is None:
            raise pool_unknown(tournament_id)
        shown = pool_wire.pool(pool, corrections=caller().role is not Role.PLAYER)
        return pb.GetPrizePoolResponse(pool=shown)

    async def CorrectTournament(
        self, request: pb.CorrectTournamentRequest, context: object
    ) -> pb.CorrectTournamentResponse:
        """An operator proposes how it should have been."""
        return await self.correcting.correct(request)
