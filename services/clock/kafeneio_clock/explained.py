"""The account of a seat as its message: what was announced, the facts, and how they add up."""

from __future__ import annotations

from collections import Counter

from kafeneio.clock.v1 import clock_pb2, events_pb2

from kafeneio_clock import wire
from kafeneio_clock.accounts import Account
from kafeneio_clock.explain import Past, Sum, sums


def message(account: Account) -> clock_pb2.ExplainChargesResponse:
    """The answer of ExplainCharges."""
    state, seat, now = account.state, account.seat, account.now
    options = state.options
    charged = [each for each in account.events if _is_charge(each, seat)]
    counts = Counter(each.timeout_incurred.turn for each in charged)
    running = state.turn if state.turn is not None and state.turn.seat == seat else None
    away = state.seats[seat].away if running is None else running.away(now)
    answer = clock_pb2.ExplainChargesResponse(
        seat=seat,
        move=wire.duration(options.move),
        grace=wire.duration(options.grace),
        timeouts=options.timeouts,
        at=wire.timestamp(now),
        away=wire.duration(away),
    )
    found = sums(options, account.turns, counts, now)
    for event, each in zip(charged, found, strict=True):
        answer.charges.append(_charge(event, each))
    answer.turns.extend(map(_turn, account.turns))
    for event in account.events:
        if event.HasField("clock_credited") and event.clock_credited.seat == seat:
            answer.credits.add(
                sequence=event.sequence, at=event.occurred_at, credited=event.clock_credited
            )
    return answer


def _is_charge(event: events_pb2.ClockEvent, seat: int) -> bool:
    return event.HasField("timeout_incurred") and event.timeout_incurred.seat == seat


def _charge(event: events_pb2.ClockEvent, found: Sum) -> clock_pb2.Charge:
    length = sum(each.ended - each.began for each in found.counted)
    charge = clock_pb2.Charge(
        charged=event.timeout_incurred.charged,
        turn=found.turn,
        cause=wire.CAUSES[found.cause],
        at=wire.timestamp(found.at),
        charged_at=event.occurred_at,
        sequence=event.sequence,
        length=wire.duration(length),
        multiple=found.multiple,
    )
    for each in found.counted:
        charge.counted.add(
            turn=each.turn, began=wire.timestamp(each.began), ended=wire.timestamp(each.ended)
        )
    return charge


def _turn(past: Past) -> clock_pb2.AccountedTurn:
    turn = past.turn
    told = clock_pb2.AccountedTurn(
        turn=turn.number,
        began=wire.timestamp(turn.since),
        away_before=wire.duration(turn.away_before),
    )
    ended = past.ended
    if ended is not None:
        told.ended.CopyFrom(wire.timestamp(ended))
        turn = turn.turned(None, ended)
    for span in turn.spans:
        shown = told.spans.add(cause=wire.CAUSES[span.cause], began=wire.timestamp(span.began))
        if span.ended is not None:
            shown.ended.CopyFrom(wire.timestamp(span.ended))
    for credit in turn.credits:
        told.credits.add(
            reason=wire.credit_reason(credit.reason),
            began=wire.timestamp(credit.began),
            ended=wire.timestamp(credit.ended),
        )
    return told
