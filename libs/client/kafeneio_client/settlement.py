"""The calls of `kafeneio.settlement.v1.SettlementService`."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterable, Sequence
from dataclasses import dataclass
from typing import Final

import grpc
from kafeneio.rules.v1 import actions_pb2
from kafeneio.settlement.v1 import corrections_pb2, events_pb2, ledger_pb2, settlement_pb2_grpc
from kafeneio.settlement.v1 import settlement_pb2 as pb

from kafeneio_client.channel import Caller, new_id
from kafeneio_client.errors import Unreachable
from kafeneio_client.money import Money
from kafeneio_client.time import Time

SETTLED_SECONDS: Final = 30.0
"""How long a finished game may wait for its money."""

_LOOK_FIRST_SECONDS: Final = 0.05
_LOOK_MAX_SECONDS: Final = 1.0
_STANDING: Final = frozenset(
    {pb.SETTLEMENT_STATE_SETTLED, pb.SETTLEMENT_STATE_RELEASED, pb.SETTLEMENT_STATE_MISMATCH}
)


@dataclass(frozen=True, slots=True)
class Verification:
    """Up to which seal the ledger is as it was sealed, that seal, and what is wrong."""

    verified_to: int
    hash: bytes
    faults: tuple[ledger_pb2.LedgerFault, ...]


class Settlements:
    """The stakes of games, and what became of them.

    Whatever changes something makes a request id of its own. To send a call again whose answer
    got lost, give it the `request_id` of the error that it raised.
    """

    def __init__(self, channel: grpc.aio.Channel, caller: Caller, time: Time) -> None:
        self._stub = settlement_pb2_grpc.SettlementServiceStub(channel)
        self._caller = caller
        self._time = time

    async def hold(
        self,
        game_id: str,
        player_ids: Sequence[str],
        stake: Money,
        *,
        fee_basis_points: int = 0,
        request_id: str = "",
    ) -> pb.Settlement:
        """HoldStakes: every seat's stake into the escrow of a game. Role: service."""
        request = pb.HoldStakesRequest(
            request_id=request_id or new_id(),
            game_id=game_id,
            player_ids=player_ids,
            stake=stake.message(),
            fee_basis_points=fee_basis_points,
        )
        answer = await self._caller.call(self._stub.HoldStakes, request, request.request_id)
        return answer.settlement

    async def release(self, game_id: str, *, request_id: str = "") -> pb.Settlement:
        """ReleaseStakes: give the stakes back of a game that never starts. Role: service."""
        request = pb.ReleaseStakesRequest(request_id=request_id or new_id(), game_id=game_id)
        answer = await self._caller.call(self._stub.ReleaseStakes, request, request.request_id)
        return answer.settlement

    async def get(self, game_id: str) -> pb.Settlement:
        """GetSettlement: where a game's money stands. Role: its players, services, operators."""
        request = pb.GetSettlementRequest(game_id=game_id)
        return (await self._caller.call(self._stub.GetSettlement, request)).settlement

    async def settled(self, game_id: str, within: float = SETTLED_SECONDS) -> pb.Settlement:
        """GetSettlement, until the game is paid, or nobody will be without an operator.

        Unreachable where that is not so after `within` seconds. There is no stream of it; who has
        money to get hears of it by `wallet.watch`.
        """
        given_up_at, pause = self._time.monotonic() + within, _LOOK_FIRST_SECONDS
        while (settlement := await self.get(game_id)).state not in _STANDING:
            if self._time.monotonic() + pause > given_up_at:
                state = pb.SettlementState.Name(settlement.state)
                why = f"the game is still {state.removeprefix('SETTLEMENT_STATE_')}"
                raise Unreachable(self._caller.address, f"{why} after {within:.0f} s")
            await self._time.sleep(pause)
            pause = min(2 * pause, _LOOK_MAX_SECONDS)
        return settlement

    async def preview(
        self,
        payout_rule: str,
        seats: int,
        stake: Money,
        *,
        winners: Iterable[int] | None = None,
        void: actions_pb2.VoidReason.ValueType | None = None,
        forfeited_seats: Iterable[int] = (),
        fee_basis_points: int = 0,
    ) -> pb.Payout:
        """PreviewPayout: what a game would pay with these winners, or void; give one of both."""
        request = pb.PreviewPayoutRequest(
            payout_rule=payout_rule,
            seats=seats,
            stake=stake.message(),
            fee_basis_points=fee_basis_points,
            forfeited_seats=forfeited_seats,
        )
        if winners is not None:
            request.winners.CopyFrom(pb.Winners(seats=winners))
        if void is not None:
            request.void_reason = void
        return (await self._caller.call(self._stub.PreviewPayout, request)).payout

    async def resolve(
        self,
        game_id: str,
        resolution: pb.Resolution.ValueType,
        reason: str,
        *,
        request_id: str = "",
    ) -> pb.Settlement:
        """ResolveMismatch: decide a game that could not be paid. Role: operator."""
        request = pb.ResolveMismatchRequest(
            request_id=request_id or new_id(), game_id=game_id, resolution=resolution, reason=reason
        )
        answer = await self._caller.call(self._stub.ResolveMismatch, request, request.request_id)
        return answer.settlement

    async def void(
        self, game_id: str, reason: str, *, request_id: str = ""
    ) -> corrections_pb2.Correction:
        """VoidSettlement: propose that a settled game was void. Role: operator."""
        request = corrections_pb2.VoidSettlementRequest(
            request_id=request_id or new_id(), game_id=game_id, reason=reason
        )
        answer = await self._caller.call(self._stub.VoidSettlement, request, request.request_id)
        return answer.correction

    async def correct(
        self,
        game_id: str,
        reason: str,
        *,
        winners: Iterable[int] | None = None,
        void: actions_pb2.VoidReason.ValueType | None = None,
        forfeited_seats: Iterable[int] = (),
        stake: Money | None = None,
        fee_basis_points: int | None = None,
        request_id: str = "",
    ) -> corrections_pb2.Correction:
        """CorrectResult: propose another result of a settled game, or other terms; give winners or
        void. Role: operator."""
        request = corrections_pb2.CorrectResultRequest(
            request_id=request_id or new_id(),
            game_id=game_id,
            forfeited_seats=forfeited_seats,
            fee_basis_points=fee_basis_points,
            reason=reason,
        )
        if winners is not None:
            request.decided.winners.extend(winners)
        if void is not None:
            request.void_reason = void
        if stake is not None:
            request.stake.CopyFrom(stake.message())
        answer = await self._caller.call(self._stub.CorrectResult, request, request.request_id)
        return answer.correction

    async def approve(
        self, game_id: str, number: int, reason: str = "", *, request_id: str = ""
    ) -> pb.Settlement:
        """ApproveCorrection: do what another operator has proposed for a game. Role: operator."""
        return (await self.approve_any(game_id, number, reason, request_id=request_id)).settlement

    async def approve_any(
        self, name: str, number: int, reason: str = "", *, request_id: str = ""
    ) -> pb.ApproveCorrectionResponse:
        """ApproveCorrection: the same for a game or a tournament, whichever has that id; the answer
        holds the one or the other. Role: operator."""
        request = corrections_pb2.ApproveCorrectionRequest(
            request_id=request_id or new_id(), game_id=name, number=number, reason=reason
        )
        return await self._caller.call(self._stub.ApproveCorrection, request, request.request_id)

    async def report(self) -> ledger_pb2.GetLedgerReportResponse:
        """GetLedgerReport: whether the books are in order. Role: operator."""
        request = ledger_pb2.GetLedgerReportRequest()
        return await self._caller.call(self._stub.GetLedgerReport, request)

    async def verify(self, after_number: int = 0, after_hash: bytes = b"") -> Verification:
        """VerifyLedger, page by page to the end of the chain. `after_hash` is what that seal was
        when it was written down; empty to trust what is there. Role: operator."""
        verified_to, seal = after_number, after_hash
        faults: list[ledger_pb2.LedgerFault] = []
        while True:
            request = ledger_pb2.VerifyLedgerRequest(
                after_number=after_number, after_hash=after_hash
            )
            page = await self._caller.call(self._stub.VerifyLedger, request)
            if not faults:
                verified_to, seal = page.verified_to, page.hash
            faults += page.faults
            if page.complete:
                return Verification(verified_to, seal, tuple(faults))
            after_number, after_hash = page.page_end, page.page_hash

    async def events(
        self, game_id: str, after_sequence: int = 0
    ) -> AsyncIterator[events_pb2.SettlementEvent]:
        """ListEvents: what was announced about a game's money. Role: service."""
        while True:
            request = pb.ListEventsRequest(game_id=game_id, after_sequence=after_sequence)
            page = await self._caller.call(self._stub.ListEvents, request)
            if not page.events:
                return
            for event in page.events:
                yield event
            after_sequence = page.events[-1].sequence
