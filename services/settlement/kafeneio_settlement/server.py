"""SettlementService: message -> domain -> message. What moves money is in settling.py."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from kafeneio.common.v1 import errors_pb2
from kafeneio.settlement.v1 import settlement_pb2 as pb
from kafeneio.settlement.v1 import settlement_pb2_grpc
from kafeneio_runtime.errors import failed, not_found
from kafeneio_runtime.ids import parse_id

from kafeneio_settlement import payouts, wire
from kafeneio_settlement.guards import check_own_game, game_unknown, storable
from kafeneio_settlement.payouts import Result, Stakes
from kafeneio_settlement.settling import Settling
from kafeneio_settlement.storage import Looks

MOST_EVENTS: Final = 2**63 - 1
"""No sequence of events is longer: the database counts no further."""


@dataclass(frozen=True, slots=True)
class SettlementServicer(settlement_pb2_grpc.SettlementServiceServicer):
    """The calls of `kafeneio.settlement.v1.SettlementService`; their meaning stands in the
    contract."""

    looks: Looks
    settling: Settling

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

    async def GetSettlement(
        self, request: pb.GetSettlementRequest, context: object
    ) -> pb.GetSettlementResponse:
        """Where a game's money stands."""
        game_id = parse_id(request.game_id, "game_id")
        dossier = await self.looks.dossier(game_id)
        if dossier is None:
            raise game_unknown(game_id)
        check_own_game(dossier.game.players)
        return pb.GetSettlementResponse(settlement=wire.settlement(dossier))

    async def PreviewPayout(
        self, request: pb.PreviewPayoutRequest, context: object
    ) -> pb.PreviewPayoutResponse:
        """What a game would pay."""
        name = storable(request.payout_rule, "payout_rule")
        void = wire.void_name(request.void_reason) if request.HasField("void_reason") else ""
        try:
            rule = payouts.rule_named(name)
            paid = payouts.pay(
                name,
                Stakes(request.stake.minor_units, request.seats),
                Result(tuple(request.winners.seats), void),
                frozenset(request.forfeited_seats),
                request.fee_basis_points,
            )
        except payouts.UnknownRuleError as error:
            raise not_found(errors_pb2.ERROR_REASON_PAYOUT_RULE_UNKNOWN, str(error)) from error
        except payouts.NotPayableError as error:
            raise failed(errors_pb2.ERROR_REASON_PAYOUT_IMPOSSIBLE, str(error)) from error
        except payouts.TooLargeError as error:
            raise failed(errors_pb2.ERROR_REASON_AMOUNT_OVERFLOW, str(error)) from error
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
