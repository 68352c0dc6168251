"""Between messages and values: tables as clients see them."""

from __future__ import annotations

from typing import Final

from kafeneio.matchmaking.v1 import quick_match_pb2
from kafeneio.matchmaking.v1 import tables_pb2 as pb

from kafeneio_matchmaking import wire
from kafeneio_matchmaking.seating.domain import Table, TableStatus
from kafeneio_matchmaking.seating.storage import Wanted

STATUSES: Final = {
    status: pb.TableStatus.Value(f"TABLE_STATUS_{status.name}") for status in TableStatus
}


def table(value: Table, player: str) -> pb.Table:
    """A table as a player may see it: its invitation only where he sits there."""
    message = pb.Table(
        table_id=str(value.table_id),
        version=value.version,
        status=STATUSES[value.status],
        terms=wire.terms(value.terms),
        fee_basis_points=value.terms.fee_basis_points,
        host_player_id=value.host,
        seats=[
            pb.TableSeat(seat=seat, player_id=chair.player_id, ready=chair.ready)
            for seat, chair in enumerate(value.chairs)
        ],
        seating=value.seating,
        private=bool(value.code),
        least_rating=value.least_rating,
        most_rating=value.most_rating,
        computers_fill=value.computers_fill,
        created_at=wire.timestamp(value.created_at),
        expires_at=wire.timestamp(value.expires_at),
        put_out=[
            pb.PutOut(
                player_id=each.player_id,
                reason=quick_match_pb2.TicketEnd.Value(f"TICKET_END_{each.end.name}"),
            )
            for each in value.put_out
        ],
    )
    if value.seat_of(player) is not None:
        message.invitation_code = value.code
    if value.game_id is not None:
        message.game_id = str(value.game_id)
    if value.end is not None:
        message.end = pb.TableEnd.Value(f"TABLE_END_{value.end.name}")
    return message


def wanted(request: pb.ListTablesRequest) -> Wanted:
    """Which tables are listed."""
    return Wanted(
        variant=request.variant,
        free_seats=request.free_seats,
        least_stake=request.least_stake,
        most_stake=request.most_stake if request.HasField("most_stake") else None,
        currency=request.currency_code,
    )
