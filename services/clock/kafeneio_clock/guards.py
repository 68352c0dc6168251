"""What a call must pass before anything is done."""

from __future__ import annotations

import grpc
from kafeneio.common.v1 import errors_pb2
from kafeneio_runtime.errors import Refusal, failed, forbidden, malformed
from kafeneio_runtime.interceptors.current import caller

from kafeneio_clock.rows import Row
from kafeneio_clock.values import Presence


def own_seat(row: Row, named: int | None = None) -> int:
    """The caller's seat; raises NOT_YOUR_SEAT where he has none or has named another, and GAME_OVER
    where the game never started: then we do not know who was to sit there."""
    if not row.state.seats:
        raise game_over()
    for number, seat in enumerate(row.state.seats):
        if seat.player == caller().subject and named in (None, number):
            return number
    raise forbidden(errors_pb2.ERROR_REASON_NOT_YOUR_SEAT, "you have no seat in this game")


def asked_seat(row: Row, named: int | None) -> int:
    """The seat that an operator asks about; raises INVALID_ARGUMENT where there is none, and
    GAME_OVER where the game never started."""
    if not row.state.seats:
        raise game_over()
    if named is None or named >= len(row.state.seats):
        raise malformed("seat", "name a seat of the game")
    return named


def check_open(row: Row) -> None:
    """Raises GAME_OVER."""
    if row.state.closed:
        raise game_over()


def check_seated(row: Row, seat: int) -> None:
    """Raises GAME_OVER, or SEAT_FORFEITED for a seat that is out (X8)."""
    check_open(row)
    if row.state.seats[seat].presence is Presence.OUT:
        why = {each.seat: each.reason for each in row.state.forfeits}
        metadata = {"forfeit": why[seat].value} if seat in why else {}
        raise failed(
            errors_pb2.ERROR_REASON_SEAT_FORFEITED, "the seat is out of the game", **metadata
        )


def game_over() -> Refusal:
    """The game is decided or void."""
    return failed(errors_pb2.ERROR_REASON_GAME_OVER, "the game is over")


def stale_epoch(current: int) -> Refusal:
    """A newer device has the seat."""
    return Refusal(
        grpc.StatusCode.ABORTED,
        errors_pb2.ERROR_REASON_STALE_EPOCH,
        "the seat was taken over by another stream",
        metadata={"epoch": str(current)},
    )
