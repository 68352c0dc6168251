"""Between messages and values: what clients send and get, and what events say."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import datetime
from typing import Final
from uuid import UUID

from google.protobuf.timestamp_pb2 import Timestamp
from kafeneio.clock.v1 import events_pb2 as clock_events_pb2
from kafeneio.common.v1 import money_pb2
from kafeneio.rules.v1 import actions_pb2
from kafeneio.rules.v1 import events_pb2 as rules_events_pb2
from kafeneio.settlement.v1 import corrections_pb2, events_pb2, settlement_pb2, wallet_pb2
from kafeneio_runtime.bus import Event

from kafeneio_settlement.corrections import Correction
from kafeneio_settlement.domain import (
    PAYOUT_VERSION,
    Closing,
    Finish,
    Forfeit,
    Game,
    Hold,
    Kind,
    Problem,
    Standing,
    State,
    Transfer,
    Verdict,
)
from kafeneio_settlement.dossiers import Dossier, Payment
from kafeneio_settlement.ledger import Entry
from kafeneio_settlement.payouts import Payout, Stakes
from kafeneio_settlement.witnesses import Witness

STATES: Final = {
    State.HELD: settlement_pb2.SETTLEMENT_STATE_HELD,
    State.RELEASED: settlement_pb2.SETTLEMENT_STATE_RELEASED,
    State.STARTED: settlement_pb2.SETTLEMENT_STATE_STARTED,
    State.PENDING: settlement_pb2.SETTLEMENT_STATE_PENDING,
    State.MISMATCH: settlement_pb2.SETTLEMENT_STATE_MISMATCH,
    State.SETTLED: settlement_pb2.SETTLEMENT_STATE_SETTLED,
}
PROBLEMS: Final = {
    None: settlement_pb2.PROBLEM_UNSPECIFIED,
    Problem.FORFEITS_DIFFER: settlement_pb2.PROBLEM_FORFEITS_DIFFER,
    Problem.PLAYERS_DIFFER: settlement_pb2.PROBLEM_PLAYERS_DIFFER,
    Problem.NOT_PAYABLE: settlement_pb2.PROBLEM_NOT_PAYABLE,
    Problem.STAKES_RELEASED: settlement_pb2.PROBLEM_STAKES_RELEASED,
}
KINDS: Final = {
    Kind.DEPOSIT: wallet_pb2.ENTRY_KIND_DEPOSIT,
    Kind.WITHDRAWAL: wallet_pb2.ENTRY_KIND_WITHDRAWAL,
    Kind.HOLD: wallet_pb2.ENTRY_KIND_HOLD,
    Kind.RELEASE: wallet_pb2.ENTRY_KIND_RELEASE,
    Kind.PAYOUT: wallet_pb2.ENTRY_KIND_PAYOUT,
    Kind.REVERSAL: wallet_pb2.ENTRY_KIND_REVERSAL,
    Kind.CORRECTION: wallet_pb2.ENTRY_KIND_CORRECTION,
}
WALLET_STATUSES: Final = {
    "active": wallet_pb2.WALLET_STATUS_ACTIVE,
    "suspended": wallet_pb2.WALLET_STATUS_SUSPENDED,
}
WALLET_STATUS_NAMES: Final = {number: name for name, number in WALLET_STATUSES.items()}

HEARD: Final = frozenset({"game_started", "game_finished"})
"""The events of `rules` that say something of money; most others are turns."""


def timestamp(moment: datetime) -> Timestamp:
    """A time of the database as a message."""
    message = Timestamp()
    message.FromDatetime(moment)
    return message


def money(currency: str, amount: int) -> money_pb2.Money:
    """An amount."""
    return money_pb2.Money(currency_code=currency, minor_units=amount)


# --- what others have announced --------------------------------------------------------------


def rules_event(event: Event) -> Witness | None:
    """What an event of `rules` says of money; None for most."""
    if event.type not in HEARD:
        return None
    message = rules_events_pb2.GameEvent.FromString(event.payload)
    return rules_witness(event.key, message, event.occurred_at)


def rules_witness(
    game_id: UUID, message: rules_events_pb2.GameEvent, at: datetime
) -> Witness | None:
    """The same, of a message."""
    if message.HasField("game_started"):
        return Witness(game_id, seated=tuple(message.game_started.player_ids), started_at=at)
    if message.HasField("game_finished"):
        return Witness(game_id, finish=_finish(message.game_finished), finished_at=at)
    return None


def clock_event(event: Event) -> Witness | None:
    """What an event of `clock` says of money; None for all but the last of a game."""
    message = clock_events_pb2.ClockEvent.FromString(event.payload)
    return clock_witness(event.key, message, event.occurred_at)


def clock_witness(
    game_id: UUID, message: clock_events_pb2.ClockEvent, at: datetime
) -> Witness | None:
    """The same, of a message."""
    if not message.HasField("clock_closed"):
        return None
    out = tuple(_forfeit(each.seat, each.reason) for each in message.clock_closed.forfeits)
    return Witness(game_id, closing=Closing(out), closed_at=at)


def _finish(message: rules_events_pb2.GameFinished) -> Finish:
    decided = message.decided
    void = ""
    if message.HasField("void_reason"):
        void = void_name(message.void_reason)
    return Finish(
        winners=tuple(decided.winners),
        score=tuple(decided.score),
        ending=decided.ending,
        void=void,
        forfeits=tuple(_forfeit(each.seat, each.reason) for each in message.forfeits),
        variant=message.variant,
        payout_rule=message.payout_rule,
    )


def _forfeit(seat: int, reason: int) -> Forfeit:
    # A reason that this release does not know yet is kept as its number.
    known = actions_pb2.ForfeitReason.values()
    name = actions_pb2.ForfeitReason.Name(reason) if reason in known else str(reason)  # type: ignore[arg-type]
    return Forfeit(seat, name.removeprefix("FORFEIT_REASON_"))


def void_name(reason: int) -> str:
    """Why a game is void, as it is kept."""
    known = actions_pb2.VoidReason.values()
    name = actions_pb2.VoidReason.Name(reason) if reason in known else str(reason)  # type: ignore[arg-type]
    return name.removeprefix("VOID_REASON_")


# --- what we announce ------------------------------------------------------------------------


def stakes_held(game_id: UUID, sequence: int, hold: Hold) -> bytes:
    """An event of the outbox, without its id and its time, which the database gives."""
    held = events_pb2.StakesHeld(
        player_ids=hold.players,
        stake=money(hold.currency, hold.stake),
        fee_basis_points=hold.fee_basis_points,
    )
    return events_pb2.SettlementEvent(
        game_id=str(game_id), sequence=sequence, stakes_held=held
    ).SerializeToString()


def game_settled(game_id: UUID, sequence: int, hold: Hold | None, verdict: Verdict) -> bytes:
    """The same, for a game that was paid."""
    # Put together in place: every game that is played comes here.
    message = events_pb2.SettlementEvent(game_id=str(game_id), sequence=sequence)
    settled = message.game_settled
    settled.settlement_version, settled.void = PAYOUT_VERSION, verdict.void
    if hold is not None and verdict.payout is not None:
        for player, net in zip(hold.players, verdict.payout.nets, strict=True):
            told = settled.nets.add(player_id=player)
            told.amount.currency_code, told.amount.minor_units = hold.currency, net
        settled.fee.currency_code = hold.currency
        settled.fee.minor_units = verdict.payout.fee
    return message.SerializeToString()


def settlement_corrected(
    sequence: int, game: Game, correction: Correction, verdict: Verdict
) -> bytes:
    """The same, for a game of which two operators have replaced what it paid."""
    told = events_pb2.SettlementCorrected(
        settlement_version=correction.corrects + 1,
        corrects_version=correction.corrects,
        void=verdict.void,
        winners=() if verdict.void else correction.terms.winners,
    )
    if game.escrow is not None and verdict.payout is not None:
        for player, net in zip(game.escrow.players, verdict.payout.nets, strict=True):
            told.nets.add(player_id=player, amount=money(game.escrow.currency, net))
        told.fee.CopyFrom(money(game.escrow.currency, verdict.payout.fee))
    return events_pb2.SettlementEvent(
        game_id=str(game.game_id), sequence=sequence, settlement_corrected=told
    ).SerializeToString()


def stored_event(stored: Event) -> events_pb2.SettlementEvent:
    """An event as consumers get it."""
    message = events_pb2.SettlementEvent.FromString(stored.payload)
    message.event_id = str(stored.id)
    message.occurred_at.FromDatetime(stored.occurred_at)
    return message


# --- what clients get ------------------------------------------------------------------------


def entry(value: Entry, currency: str) -> wallet_pb2.Entry:
    """One change of an account."""
    return wallet_pb2.Entry(
        version=value.version,
        transaction_id=str(value.transaction_id),
        kind=KINDS[value.kind],
        amount=money(currency, value.amount),
        balance=money(currency, value.balance),
        game_id="" if value.game_id is None else str(value.game_id),
        at=timestamp(value.at),
        tournament_id="" if value.tournament_id is None else str(value.tournament_id),
    )


def wallet(player: str, status: str, accounts: Iterable[tuple[str, Standing]]) -> wallet_pb2.Wallet:
    """What a player owns."""
    message = wallet_pb2.Wallet(player_id=player, status=WALLET_STATUSES[status])
    for currency, standing in accounts:
        account = message.accounts.add(
            balance=money(currency, standing.balance), version=standing.version
        )
        if standing.balance < 0:
            account.owed.CopyFrom(money(currency, -standing.balance))
    return message


def payout(rule: str, version: int, value: Payout) -> settlement_pb2.Payout:
    """What a game pays."""
    return settlement_pb2.Payout(
        payout_rule=rule,
        rule_version=version,
        void=value.void,
        shares=value.shares,
        nets=value.nets,
        fee=value.fee,
    )


def settlement(dossier: Dossier) -> settlement_pb2.Settlement:
    """Everything about a game's money."""
    game = dossier.game
    message = settlement_pb2.Settlement(
        game_id=str(game.game_id), state=STATES[game.state], problem=PROBLEMS[game.problem]
    )
    if game.hold is not None:
        message.hold.player_ids.extend(game.hold.players)
        message.hold.stake.CopyFrom(money(game.hold.currency, game.hold.stake))
        message.hold.fee_basis_points = game.hold.fee_basis_points
        if game.held_at is not None:
            message.hold.held_at.FromDatetime(game.held_at)
    if game.finish is not None:
        _put_finish(message.finished, game.finish)
    if game.closing is not None:
        message.clock_closed = True
        message.clock_forfeits.extend(_recorded(game.closing.forfeits))
    if dossier.newest is not None:
        _put_settled(message.settled, game.hold, dossier.newest)
    for payment in dossier.payments[:-1]:
        _put_settled(message.corrected.add(), game.hold, payment)
    currency = "" if game.hold is None else game.hold.currency
    message.corrections.extend(correction(each, currency) for each in dossier.corrections)
    return message


def _put_finish(message: rules_events_pb2.GameFinished, finish: Finish) -> None:
    message.variant, message.payout_rule = finish.variant, finish.payout_rule
    message.forfeits.extend(_recorded(finish.forfeits))
    if finish.void:
        message.void_reason = _number(actions_pb2.VoidReason, "VOID_REASON_", finish.void)  # type: ignore[assignment]
    else:
        message.decided.winners.extend(finish.winners)
        message.decided.score.extend(finish.score)
        message.decided.ending = finish.ending


def _recorded(values: Sequence[Forfeit]) -> list[rules_events_pb2.SeatForfeitRecorded]:
    return [
        rules_events_pb2.SeatForfeitRecorded(
            seat=value.seat,
            reason=_number(actions_pb2.ForfeitReason, "FORFEIT_REASON_", value.reason),  # type: ignore[arg-type]
        )
        for value in values
    ]


def _number(enum: object, prefix: str, name: str) -> int:
    """The inverse of the names above."""
    return int(name) if name.isdecimal() else int(enum.Value(prefix + name))  # type: ignore[attr-defined]


def _put_settled(message: settlement_pb2.Settled, hold: Hold | None, payment: Payment) -> None:
    settled = payment.settled
    message.settlement_version = settled.version
    message.resolved_by, message.reason = settled.resolved_by, settled.reason
    message.approved_by = settled.approved_by
    message.settled_at.FromDatetime(settled.at)
    if settled.shares is None or hold is None:
        message.payout.payout_rule = settled.payout_rule
        message.payout.rule_version = settled.rule_version
        message.payout.void = settled.void
        return
    stakes = Stakes(settled.stake or hold.stake, len(hold.players))
    paid = Payout(stakes, settled.shares, settled.fee, settled.void)
    message.payout.CopyFrom(payout(settled.payout_rule, settled.rule_version, paid))
    message.transaction_id = str(settled.transaction_id)
    message.transfers.extend(_transfers(payment.transfers, hold.currency))
    if settled.stake is not None:
        message.corrected_stake.CopyFrom(money(hold.currency, settled.stake))
    if settled.reversal_id is not None:
        message.reversal_transaction_id = str(settled.reversal_id)
        message.reversal_transfers.extend(_transfers(payment.reversal, hold.currency))


def _transfers(values: Iterable[Transfer], currency: str) -> list[settlement_pb2.Transfer]:
    return [
        settlement_pb2.Transfer(
            debit_account=each.debit,
            credit_account=each.credit,
            amount=money(currency, each.amount),
        )
        for each in values
    ]


def correction(value: Correction, currency: str) -> corrections_pb2.Correction:
    """What an operator has proposed, of a game that is played in that currency."""
    terms = value.terms
    message = corrections_pb2.Correction(
        game_id=str(value.game_id),
        number=value.number,
        corrects_version=value.corrects,
        forfeited_seats=terms.forfeited,
        fee_basis_points=terms.fee_basis_points,
        reason=value.reason,
        proposed_by=value.proposed_by,
        proposed_at=timestamp(value.proposed_at),
        approved_by=value.approved_by,
        settlement_version=value.version,
    )
    if terms.void:
        message.void_reason = _number(actions_pb2.VoidReason, "VOID_REASON_", terms.void)  # type: ignore[assignment]
    else:
        message.decided.winners.extend(terms.winners)
    if terms.stake is not None:
        message.stake.CopyFrom(money(currency, terms.stake))
    if value.approved_at is not None:
        message.approved_at.FromDatetime(value.approved_at)
    return message
