"""What operators look at, as messages."""

from __future__ import annotations

from typing import Final

from kafeneio.settlement.v1 import ledger_pb2 as pb

from kafeneio_settlement import pool_wire
from kafeneio_settlement.books import Report, Waiting
from kafeneio_settlement.seals import MOST_FAULTS, Fault, Verified
from kafeneio_settlement.wire import correction, money, timestamp

FAULTS: Final = {
    Fault.CHANGED: pb.FAULT_KIND_CHANGED,
    Fault.MISSING: pb.FAULT_KIND_MISSING,
    Fault.UNSEALED: pb.FAULT_KIND_UNSEALED,
    Fault.ACCOUNT: pb.FAULT_KIND_ACCOUNT,
    Fault.REWRITTEN: pb.FAULT_KIND_REWRITTEN,
}


def verified(page: Verified) -> pb.VerifyLedgerResponse:
    """A page of the chain."""
    return pb.VerifyLedgerResponse(
        verified_to=page.verified.number,
        hash=page.verified.hash,
        faults=[
            pb.LedgerFault(
                kind=FAULTS[each.fault],
                number=each.number,
                transaction_id="" if each.transaction_id is None else str(each.transaction_id),
                account=each.account,
            )
            for each in page.findings[:MOST_FAULTS]
        ],
        page_end=page.end.number,
        complete=page.complete,
        page_hash=page.end.hash,
    )


def report(value: Report) -> pb.GetLedgerReportResponse:
    """Everything."""
    message = pb.GetLedgerReportResponse(
        at=timestamp(value.at),
        imbalance=value.imbalance,
        unsettled=value.unsettled[0],
        unsettled_games=map(_open_game, value.unsettled[1]),
        old_holds=value.old_holds[0],
        old_hold_games=map(_open_game, value.old_holds[1]),
        orphaned_escrows=value.orphans[0],
        outbox_pending=value.outbox.pending,
        outbox_age_seconds=value.outbox.age_seconds,
        sealed_to=value.sealed.number,
        sealed_hash=value.sealed.hash,
        unsealed=value.unsealed,
        verified_to=value.verified.number,
        faults=value.faults,
        open_corrections=value.corrections[0],
        corrections=[correction(each, "") for each in value.corrections[1]],
        overdue_pools=value.overdue_pools[0],
        overdue_pool_tournaments=[
            pb.OpenPool(
                tournament_id=str(each.tournament_id),
                since=timestamp(each.since),
                entries=each.entries,
                escrow=money(each.currency, each.escrow),
            )
            for each in value.overdue_pools[1]
        ],
        open_tournament_corrections=value.pool_corrections[0],
        tournament_corrections=[pool_wire.correction(*each) for each in value.pool_corrections[1]],
    )
    for each in value.totals:
        message.totals.add(
            currency_code=each.currency,
            wallets=money(each.currency, each.wallets),
            owed=money(each.currency, each.owed),
            escrows=money(each.currency, each.escrows),
            fees=money(each.currency, each.fees),
            paid_in=money(each.currency, each.paid_in),
        )
    for orphan in value.orphans[1]:
        message.orphans.add(
            account=orphan.account,
            balance=money(orphan.currency, orphan.balance),
            state=orphan.state.upper(),
        )
    return message


def _open_game(value: Waiting) -> pb.OpenGame:
    message = pb.OpenGame(
        game_id=str(value.game_id),
        state=value.state.upper(),
        problem=value.problem.upper(),
        since=timestamp(value.since),
        awaited=",".join(value.awaited),
    )
    if value.escrow is not None:
        message.escrow.CopyFrom(money(value.currency, value.escrow))
    return message
