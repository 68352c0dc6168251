"""What a call must pass before it is judged, and that one which is sent twice counts once."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from datetime import datetime, timedelta
from typing import TypeVar

from google.protobuf.timestamp_pb2 import Timestamp
from kafeneio.common.v1 import errors_pb2
from kafeneio_runtime.auth import Role, is_subject
from kafeneio_runtime.errors import forbidden, malformed
from kafeneio_runtime.ids import parse_id
from kafeneio_runtime.interceptors.current import caller, request_digest
from kafeneio_runtime.requests import once

from kafeneio_matchmaking.players.paging import PAGE
from kafeneio_matchmaking.storage import Matchmaking, Work
from kafeneio_matchmaking.wire import moment

Item = TypeVar("Item")


async def at_most_once(
    storage: Matchmaking,
    method: str,
    request_id: str,
    effect: Callable[[Work], Awaitable[bytes]],
) -> bytes:
    """Run a call in one transaction, and at most once."""
    async with storage.work() as work:
        return await once(
            work.connection,
            caller().subject,
            method,
            parse_id(request_id, "request_id"),
            request_digest(),
            lambda: effect(work),
        )


def player_named(text: str, field: str = "player_id") -> str:
    """A player's id. Raises MALFORMED where nobody can be called so."""
    if not is_subject(text):
        raise malformed(field, "must be a player's id")
    return text


def storable(text: str, field: str) -> str:
    """A text as it was sent. Raises MALFORMED where PostgreSQL can't keep it."""
    if "\0" in text:
        raise malformed(field, "must not have a NUL in it")
    return text


def another(text: str, field: str = "player_id") -> str:
    """A player who is not the caller. Raises MALFORMED."""
    if player_named(text, field) == caller().subject:
        raise malformed(field, "must be another player")
    return text


def anybody(text: str) -> str:
    """A player whom a list is about, or "" for all. Raises MALFORMED."""
    return player_named(text) if text else ""


def whose(text: str) -> str:
    """Whom a look is at, the caller where nobody is named. Raises MALFORMED."""
    return player_named(text) if text else caller().subject


def whose_limits(text: str) -> str:
    """Whose limits are looked at: a player sees his own. Raises NOT_YOUR_LIMITS, or MALFORMED where
    an operator names nobody."""
    who = caller()
    if who.role is Role.PLAYER:
        if text not in ("", who.subject):
            reason = errors_pb2.ERROR_REASON_NOT_YOUR_LIMITS
            raise forbidden(reason, "a player sees his own limits only")
        return who.subject
    return player_named(text)


def later(message: Timestamp, field: str, now: datetime, within: timedelta) -> datetime:
    """A moment after now. Raises MALFORMED where it is not, or further away than `within`."""
    try:
        found = moment(message)
    except (ValueError, OverflowError) as error:
        raise malformed(field, "must be a moment from the year 1 to 9999") from error
    if not now < found <= now + within:
        raise malformed(field, f"must be later than now, by {within.days} days at the most")
    return found


def page_of(found: Sequence[Item], size: int) -> tuple[Sequence[Item], Item | None]:
    """Of one more than a page holds: the page, and what it ends with where there is more."""
    return found[:size], found[size - 1] if len(found) > size else None


def size_of(asked: int) -> int:
    """How many are on a page."""
    return asked or PAGE
