"""What operators do in tests: correct settled games, and look at the books."""

from __future__ import annotations

from collections.abc import Sequence

from kafeneio.rules.v1 import actions_pb2
from kafeneio.settlement.v1 import corrections_pb2, ledger_pb2
from kafeneio.settlement.v1 import settlement_pb2 as pb

from tests.settlement.house import OPERATOR, SEATS, SECOND, House, Says, money, new_id


async def played(
    house: House,
    winner: int = 0,
    stake: int = 400,
    fee: int = 0,
    players: Sequence[str] = SEATS,
) -> Says:
    """A game of two that was paid; its events."""
    says = Says((await house.hold(stake=stake, fee=fee, players=players)).game_id)
    await house.publish(says.started(players), says.finished(winner=winner), says.closed())
    return says


async def void(
    house: House, game_id: str, who: str = OPERATOR, request_id: str = ""
) -> corrections_pb2.Correction:
    """An operator proposes that a game was void."""
    request = corrections_pb2.VoidSettlementRequest(
        request_id=request_id or new_id(), game_id=game_id, reason="a stranger sat in"
    )
    return (await house.ask(house.games.VoidSettlement, request, who)).correction


def result_request(
    game_id: str,
    winners: Sequence[int] = (1,),
    stake: int | None = None,
    fee: int | None = None,
    out: Sequence[int] = (),
    currency: str = "EUR",
    void_reason: str = "",
    request_id: str = "",
) -> corrections_pb2.CorrectResultRequest:
    """Another result."""
    request = corrections_pb2.CorrectResultRequest(
        request_id=request_id or new_id(),
        game_id=game_id,
        forfeited_seats=out,
        fee_basis_points=fee,
        reason="the wrong one was paid",
    )
    if void_reason:
        request.void_reason = actions_pb2.VoidReason.Value(f"VOID_REASON_{void_reason}")
    else:
        request.decided.winners.extend(winners)
    if stake is not None:
        request.stake.CopyFrom(money(stake, currency))
    return request


async def correct(
    house: House, request: corrections_pb2.CorrectResultRequest, who: str = OPERATOR
) -> corrections_pb2.Correction:
    """An operator proposes another result."""
    return (await house.ask(house.games.CorrectResult, request, who)).correction


async def approve(
    house: House, game_id: str, number: int = 1, who: str = SECOND, request_id: str = ""
) -> pb.Settlement:
    """Another operator approves."""
    request = corrections_pb2.ApproveCorrectionRequest(
        request_id=request_id or new_id(), game_id=game_id, number=number
    )
    return (await house.ask(house.games.ApproveCorrection, request, who)).settlement


async def report(house: House) -> ledger_pb2.GetLedgerReportResponse:
    """The state of the books."""
    request = ledger_pb2.GetLedgerReportRequest()
    return await house.ask(house.games.GetLedgerReport, request, OPERATOR)


async def verify(
    house: House, after: int = 0, seal: bytes = b"", size: int = 0
) -> ledger_pb2.VerifyLedgerResponse:
    """A page of the chain."""
    request = ledger_pb2.VerifyLedgerRequest(after_number=after, after_hash=seal, page_size=size)
    return await house.ask(house.games.VerifyLedger, request, OPERATOR)
