"""SettlementService: message -> domain -> message. What moves money is in settling.py."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Final

from kafeneio.settlement.v1 import corrections_pb2, ledger_pb2, settlement_pb2_grpc
from kafeneio.settlement.v1 import settlement_pb2 as pb
from kafeneio_runtime.auth import Role
from kafeneio_runtime.ids import parse_id
from kafeneio_runtime.interceptors.current import caller

from kafeneio_settlement import books_wire, payouts, wire
from kafeneio_settlement.books import Books
from kafeneio_settlement.correcting import Correcting
from kafeneio_settlement.guards import check_own_game, game_unknown, payable, storable
from kafeneio_settlement.payouts import Result, Stakes
from kafeneio_settlement.seals import Seal
from kafeneio_settlement.settling import Settling
from kafeneio_settlement.storage import Looks

PAGE: Final = 2000
"""Seals that one call verifies, unless it names a number."""
MOST_EVENTS: Final = 2**63 - 1
"""No sequence of events is longer: the database counts no further."""


@dataclass(frozen=True, slots=True)
class SettlementServicer(settlement_pb2_grpc.SettlementServiceServicer):
    """The calls of `kafeneio.settlement.v1.SettlementService`; their meaning stands in the
    contract."""

    looks: Looks
    settling: Settling
    correcting: Correcting
    books: Books

    async def HoldStakes(
        self, request: pb.HoldStakesRequest, context: object
    ) -> pb.HoldStakesResponse:
        """Move every seat's stake into escrow, or none."""
        return await self.settling.hold(request)

    async def ReleaseStakes(
        self, request: pb.ReleaseStakesRequest, context: object
    ) -> pb.ReleaseStakesResponse:
        """Give every stake back, before the start."""
        return await self.settling.release(request)

    async def ResolveMismatch(
        self, request: pb.ResolveMismatchRequest, context: object
    ) -> pb.ResolveMismatchResponse:
        """An operator decides."""
        return await self.settling.resolve(request)

    async def VoidSettlement(
        self, request: corrections_pb2.VoidSettlementRequest, context: object
    ) -> corrections_pb2.VoidSettlementResponse:
        """An operator proposes that a game was void."""
        return await self.correcting.void(request)

    async def CorrectResult(
        self, request: corrections_pb2.CorrectResultRequest, context: object
    ) -> corrections_pb2.CorrectResultResponse:
        """An operator proposes another result."""
        return await self.correcting.correct(request)

    async def ApproveCorrection(
        self, request: corrections_pb2.ApproveCorrectionRequest, context: object
    ) -> pb.ApproveCorrectionResponse:
        """Another operator approves."""
        return await self.correcting.approve(request)

    async def VerifyLedger(
        self, request: ledger_pb2.VerifyLedgerRequest, context: object
    ) -> ledger_pb2.VerifyLedgerResponse:
        """Whether the ledger is as it was sealed."""
        start = Seal(min(request.after_number, MOST_EVENTS), request.after_hash)
        return books_wire.verified(await self.books.verify(start, request.page_size or PAGE))

    async def GetLedgerReport(
        self, request: ledger_pb2.GetLedgerReportRequest, context: object
    ) -> ledger_pb2.GetLedgerReportResponse:
        """Whether the books are in order."""
        return books_wire.report(await self.books.report())

    async def GetSettlement(
        self, request: pb.GetSettlementRequest, context: object
    ) -> pb.GetSettlementResponse:
        """Where a game's money stands."""
        game_id = parse_id(request.game_id, "game_id")
        dossier = await self.looks.dossier(game_id)
        if dossier is None:
            raise game_unknown(game_id)
        check_own_game(dossier.game.players)
        if caller().role is Role.PLAYER:
            dossier = replace(dossier, corrections=())
        return pb.GetSettlementResponse(settlement=wire.settlement(dossier))

    async def PreviewPayout(
        self, request: pb.PreviewPayoutRequest, context: object
    ) -> pb.PreviewPayoutResponse:
        """What a game would pay."""
        name = storable(request.payout_rule, "payout_rule")
        void = wire.void_name(request.void_reason) if request.HasField("void_reason") else ""
        with payable():
            rule = payouts.rule_named(name)
            paid = payouts.pay(
                name,
                Stakes(request.stake.minor_units, request.seats),
                Result(tuple(request.winners.seats), void),
                frozenset(request.forfeited_seats),
                request.fee_basis_points,
            )
        return pb.PreviewPayoutResponse(payout=wire.payout(rule.name, rule.version, paid))

    async def ListEvents(
        self, request: pb.ListEventsRequest, context: object
    ) -> pb.ListEventsResponse:
        """What was announced about a game."""
        game_id = parse_id(request.game_id, "game_id")
        after = min(request.after_sequence, MOST_EVENTS)
        found = await self.looks.events(game_id, after, request.page_size or 100)
        if found is None:
            raise game_unknown(game_id)
        response = pb.ListEventsResponse()
        response.events.extend(map(wire.stored_event, found))
        return response
