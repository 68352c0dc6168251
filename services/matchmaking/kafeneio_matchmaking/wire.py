"""Between messages and values: what clients send and get, and what the other services do."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import UTC, datetime

from google.protobuf.timestamp_pb2 import Timestamp
from kafeneio.common.v1 import money_pb2
from kafeneio.matchmaking.v1 import quick_match_pb2 as pb
from kafeneio.rules.v1 import actions_pb2, events_pb2, game_pb2, rulebook_pb2

from kafeneio_matchmaking.domain import PARTNERS, Offer, Terms, Ticket, TicketStatus, Wish
from kafeneio_matchmaking.matching import Finish

STATUSES = {
    TicketStatus.WAITING_FOR_PARTNER: pb.TICKET_STATUS_WAITING_FOR_PARTNER,
    TicketStatus.QUEUED: pb.TICKET_STATUS_QUEUED,
    TicketStatus.PAIRED: pb.TICKET_STATUS_PAIRED,
    TicketStatus.MATCHED: pb.TICKET_STATUS_MATCHED,
    TicketStatus.STARTED: pb.TICKET_STATUS_STARTED,
    TicketStatus.ENDED: pb.TICKET_STATUS_ENDED,
}


def timestamp(moment: datetime) -> Timestamp:
    """A time of the database as a message."""
    message = Timestamp()
    message.FromDatetime(moment)
    return message


def heartbeat(now: datetime) -> pb.Heartbeat:
    """What a stream says where nothing has happened."""
    return pb.Heartbeat(server_time=timestamp(now))


def moment(message: Timestamp) -> datetime:
    """The inverse of `timestamp`."""
    return message.ToDatetime(UTC)


def ticket(value: Ticket) -> pb.Ticket:
    """A ticket as its player sees it."""
    message = pb.Ticket(
        ticket_id=str(value.ticket_id),
        player_id=value.player_id,
        terms=terms(value.terms),
        status=STATUSES[value.status],
        version=value.version,
        queued_at=timestamp(value.queued_at),
        expires_at=timestamp(value.expires_at),
        fee_basis_points=value.terms.fee_basis_points,
        partner_player_id=value.partner,
        house=value.house_seat is not None,
    )
    if value.game_id is not None:
        message.game_id = str(value.game_id)
    if value.end is not None:
        message.end = pb.TicketEnd.Value(f"TICKET_END_{value.end.name}")
    return message


def terms(value: Terms) -> pb.QuickTerms:
    """What is to be played, everything named."""
    message = pb.QuickTerms(
        variant=value.variant,
        edition=value.edition,
        options=dict(value.options),
        target=value.target,
    )
    if value.stake:
        message.stake.CopyFrom(money(value))
    return message


def money(value: Terms) -> money_pb2.Money:
    """The stake of one player."""
    return money_pb2.Money(currency_code=value.currency, minor_units=value.stake)


def wish(message: pb.QuickTerms, *, partner: bool = False, house: bool = False) -> Wish:
    """What a player asks for, with a partner or against the house."""
    return Wish(
        edition=message.edition,
        options=dict(message.options),
        target=message.target,
        currency=message.stake.currency_code,
        stake=message.stake.minor_units,
        partner=partner,
        house=house,
    )


def offer(variant: rulebook_pb2.Variant, seats: Callable[[Mapping[str, str]], int]) -> Offer:
    """What `rules` offers; the default of an option comes first."""
    return Offer(
        variant=variant.variant,
        edition=variant.edition,
        seats=seats,
        options={
            option.name: (
                option.default_value,
                *(value for value in option.values if value != option.default_value),
            )
            for option in variant.options
        },
        targets=(variant.target_min, variant.target_max, variant.target_default),
        only=tuple(variant.targets),
        many=frozenset(option.name for option in variant.options if option.many),
        partners=tuple(tuple(side.seats) for side in variant.sides) == PARTNERS,
    )


def rules_terms(value: Terms) -> game_pb2.Terms:
    """What `rules` is told of the terms: everything but the money."""
    return game_pb2.Terms(
        variant=value.variant,
        edition=value.edition,
        options=dict(value.options),
        target=value.target,
    )


def finish(message: events_pb2.GameFinished, *, started: bool) -> Finish:
    """How a game ended, of which is known whether it had started."""
    void = ""
    if message.HasField("void_reason"):
        name = actions_pb2.VoidReason.Name(message.void_reason)
        void = name.removeprefix("VOID_REASON_")
    return Finish(
        started=started,
        void=void,
        winners=tuple(message.decided.winners),
        score=tuple(message.decided.score),
        absent=tuple(message.absent_seats),
        forfeits=tuple(each.seat for each in message.forfeits),
    )
