"""Between messages and values: what clients and consumers send and get."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Final, TypeAlias
from uuid import UUID, uuid5

from google.protobuf.duration_pb2 import Duration
from google.protobuf.timestamp_pb2 import Timestamp
from kafeneio.clock.v1 import clock_pb2, events_pb2
from kafeneio.rules.v1 import actions_pb2
from kafeneio_runtime import outbox
from kafeneio_runtime.bus import Event

from kafeneio_clock.turns import Cause, CreditReason, Interval, Micros, Options
from kafeneio_clock.values import (
    Announcement,
    Charged,
    Closed,
    ConnectionLost,
    ConnectionRestored,
    Credited,
    Forfeit,
    Forfeited,
    Kept,
    Paused,
    Presence,
    Reason,
    Resumed,
    Seat,
    State,
)

Outgoing: TypeAlias = outbox.Announcement

EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
SECOND: Final = 1_000_000
"""In microseconds."""

PRESENCES: Final = {
    Presence.EXPECTED: clock_pb2.PRESENCE_EXPECTED,
    Presence.ATTACHED: clock_pb2.PRESENCE_ATTACHED,
    Presence.UNKNOWN: clock_pb2.PRESENCE_UNKNOWN,
    Presence.LOST: clock_pb2.PRESENCE_LOST,
    Presence.OUT: clock_pb2.PRESENCE_FORFEITED,  # where the seat was anybody's
}
CAUSES: Final = {
    Cause.MOVE: events_pb2.CHARGE_CAUSE_MOVE,
    Cause.AWAY: events_pb2.CHARGE_CAUSE_AWAY,
}


# --- times -----------------------------------------------------------------------------------


def micros(at: datetime) -> Micros:
    """A time of the database as the domain counts it."""
    return (at - EPOCH) // timedelta(microseconds=1)


def moment(at: Micros) -> datetime:
    """The inverse of `micros`."""
    return EPOCH + timedelta(microseconds=at)


def from_timestamp(message: Timestamp) -> Micros:
    """A time of a message."""
    return message.seconds * SECOND + message.nanos // 1000


def timestamp(at: Micros) -> Timestamp:
    """The inverse of `from_timestamp`."""
    return Timestamp(seconds=at // SECOND, nanos=at % SECOND * 1000)


def duration(length: Micros) -> Duration:
    """A length of time, which is never negative here."""
    return Duration(seconds=length // SECOND, nanos=length % SECOND * 1000)


# --- clocks ----------------------------------------------------------------------------------


def attached(state: State, seat: int, epoch: int) -> clock_pb2.Attached:
    """The first message of a stream."""
    options = state.options
    return clock_pb2.Attached(
        epoch=epoch,
        seat=seat,
        move=duration(options.move),
        grace=duration(options.grace),
        timeouts=options.timeouts,
        silent=duration(options.silent),
    )


def clock(game_id: UUID, version: int, state: State, now: Micros) -> clock_pb2.Clock:
    """A clock as anybody may see it."""
    message = clock_pb2.Clock(
        game_id=str(game_id), version=version, at=timestamp(now), closed=state.closed
    )
    turn = state.turn
    if state.paused_since:
        message.paused_since.CopyFrom(timestamp(state.paused_since))
        if turn is not None:
            paused = Interval(state.paused_since, now)
            turn, _ = turn.credited(paused, CreditReason.PAUSED)
    if turn is not None:
        message.turn.turn = turn.number
        message.turn.seat = turn.seat
        message.turn.since.CopyFrom(timestamp(turn.since))
        if state.seats[turn.seat].presence is not Presence.OUT:
            message.turn.move_left.CopyFrom(duration(turn.move_left(state.options, now)))
            crossing = turn.next_crossing(state.options)
            if crossing is not None and not state.paused_since:
                message.turn.deadline.CopyFrom(timestamp(crossing.at))
    out = {forfeit.seat: forfeit.reason for forfeit in state.forfeits}
    for number, seat in enumerate(state.seats):
        told = message.seats.add(
            seat=number,
            charged=seat.charged,
            presence=PRESENCES[seat.presence] if seat.player else clock_pb2.PRESENCE_COMPUTER,
            computer=seat.computer,
        )
        if seat.presence is Presence.LOST:
            told.lost_since.CopyFrom(timestamp(seat.since))
        if seat.until and not state.paused_since:
            told.present_until.CopyFrom(timestamp(seat.until))
        if number in out:
            told.forfeit = forfeit_reason(out[number])
        if seat.presence is not Presence.OUT:
            away = turn.away(now) if turn is not None and turn.seat == number else seat.away
            told.window.CopyFrom(duration(window(seat, away, state.options)))
    return message


def window(seat: Seat, away: Micros, options: Options) -> Micros:
    """The time that is left to come back (X4); `away` is the seat's T."""
    return max(0, options.move * (options.timeouts - seat.charged) - away % options.move)


# --- events ----------------------------------------------------------------------------------


def forfeit_reason(reason: Reason) -> actions_pb2.ForfeitReason.ValueType:
    """A reason of X12 as a number of the contract."""
    return actions_pb2.ForfeitReason.Value(f"FORFEIT_REASON_{reason}")


def read_reason(number: actions_pb2.ForfeitReason.ValueType) -> Reason:
    """The inverse of `forfeit_reason`."""
    return Reason(actions_pb2.ForfeitReason.Name(number).removeprefix("FORFEIT_REASON_"))


def outgoing(game_id: UUID, sequence: int, told: Announcement) -> Outgoing:
    """An event of the outbox; its id follows from its place, so that two replicas that fire the
    same make the same."""
    message = events_pb2.ClockEvent(game_id=str(game_id), sequence=sequence)
    match told:
        case Charged(seat, turn, charged, cause):
            message.timeout_incurred.seat = seat
            message.timeout_incurred.turn = turn
            message.timeout_incurred.charged = charged
            message.timeout_incurred.cause = CAUSES[cause]
        case ConnectionLost(seat, since):
            message.connection_lost.seat = seat
            message.connection_lost.since.CopyFrom(timestamp(since))
        case ConnectionRestored(seat):
            message.connection_restored.seat = seat
        case Forfeited(seat, reason):
            message.seat_forfeited.CopyFrom(_forfeited(seat, reason))
        case Credited(seat, length, why):
            message.clock_credited.seat = seat
            message.clock_credited.duration.CopyFrom(duration(length))
            message.clock_credited.reason = credit_reason(why)
        case Paused(reason):
            message.clock_paused.reason = reason
        case Resumed():
            message.clock_resumed.SetInParent()
        case Kept():
            raise TypeError("what is kept is told to nobody")
        case Closed(forfeits):
            message.clock_closed.forfeits.extend(map(_forfeit, forfeits))
            message.clock_closed.SetInParent()
    kind = message.WhichOneof("event") or ""
    event_id = uuid5(game_id, f"clock.events {sequence}")
    return Outgoing(event_id, game_id, sequence, kind, message.SerializeToString())


def credit_reason(reason: CreditReason) -> events_pb2.CreditReason.ValueType:
    """A reason of a credit as a number of the contract."""
    return events_pb2.CreditReason.Value(f"CREDIT_REASON_{reason}")


def _forfeit(forfeit: Forfeit) -> events_pb2.SeatForfeited:
    return _forfeited(forfeit.seat, forfeit.reason)


def _forfeited(seat: int, reason: Reason) -> events_pb2.SeatForfeited:
    return events_pb2.SeatForfeited(seat=seat, reason=forfeit_reason(reason))


def stored_event(stored: Event) -> events_pb2.ClockEvent:
    """An event as consumers get it."""
    message = events_pb2.ClockEvent.FromString(stored.payload)
    message.event_id = str(stored.id)
    message.occurred_at.FromDatetime(stored.occurred_at)
    return message
