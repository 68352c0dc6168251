"""Where tournaments and entries may stand, and what may happen to them: the two tables.

Pure. The store moves nothing that is not in them.
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from types import MappingProxyType
from typing import Final

from kafeneio_matchmaking.domain import ForbiddenMoveError


class Status(StrEnum):
    """Where a tournament stands."""

    ANNOUNCED = "announced"
    """Its terms are published; the prize pool is being opened."""
    OPEN = "open"
    STARTING = "starting"
    """Nobody enters any more; the last fees are being paid or given back."""
    RUNNING = "running"
    PAUSED = "paused"
    """Nothing is started, and nothing ends."""
    SETTLING = "settling"
    """Everybody has a place; the prizes are being paid."""
    FINISHED = "finished"
    CANCELLING = "cancelling"
    """The fees are going back."""
    CANCELLED = "cancelled"


class Move(StrEnum):
    """What may happen to a tournament."""

    OPEN = "open"
    REFUSE = "refuse"
    CLOSE = "close"
    START = "start"
    FALL_SHORT = "fall_short"
    PAUSE = "pause"
    RESUME = "resume"
    END = "end"
    PAY = "pay"
    FIND_VOID = "find_void"
    CANCEL = "cancel"
    REFUND = "refund"


MOVES: Final[Mapping[tuple[Status, Move], Status]] = MappingProxyType(
    {
        (Status.ANNOUNCED, Move.OPEN): Status.OPEN,
        # `settlement` does not take such terms, so there is nothing to give back.
        (Status.ANNOUNCED, Move.REFUSE): Status.CANCELLED,
        (Status.OPEN, Move.CLOSE): Status.STARTING,
        (Status.STARTING, Move.START): Status.RUNNING,
        (Status.STARTING, Move.FALL_SHORT): Status.CANCELLING,
        (Status.RUNNING, Move.PAUSE): Status.PAUSED,
        (Status.PAUSED, Move.RESUME): Status.RUNNING,
        (Status.RUNNING, Move.END): Status.SETTLING,
        (Status.SETTLING, Move.PAY): Status.FINISHED,
        # An operator has given all fees back in `settlement`.
        (Status.SETTLING, Move.FIND_VOID): Status.CANCELLED,
        (Status.ANNOUNCED, Move.CANCEL): Status.CANCELLING,
        (Status.OPEN, Move.CANCEL): Status.CANCELLING,
        (Status.STARTING, Move.CANCEL): Status.CANCELLING,
        (Status.RUNNING, Move.CANCEL): Status.CANCELLING,
        (Status.PAUSED, Move.CANCEL): Status.CANCELLING,
        (Status.CANCELLING, Move.REFUND): Status.CANCELLED,
    }
)

BEFORE: Final = (Status.ANNOUNCED, Status.OPEN, Status.STARTING)
"""It has not started."""

PLAYED: Final = (Status.RUNNING, Status.PAUSED)
"""It has started, and is not over."""

OVER: Final = (Status.FINISHED, Status.CANCELLED)
"""Nothing more comes, but corrections."""


class EntryStatus(StrEnum):
    """Where an entry stands."""

    WAITING_FOR_PARTNER = "waiting_for_partner"
    PAYING = "paying"
    ENTERED = "entered"
    LEAVING = "leaving"
    """Before the start; the fees are going back."""
    ENDED = "ended"
    """Before the start; nothing was paid, or it is back."""
    WITHDRAWN = "withdrawn"
    DISQUALIFIED = "disqualified"


class EntryMove(StrEnum):
    """What may happen to an entry."""

    JOIN = "join"
    PAY = "pay"
    LEAVE = "leave"
    RELEASE = "release"
    DISSOLVE = "dissolve"
    """The tournament is cancelled before its start: all fees go back together."""
    WITHDRAW = "withdraw"
    DISQUALIFY = "disqualify"


class EntryEnd(StrEnum):
    """Why an entry has not come to play."""

    WITHDRAWN = "withdrawn"
    REMOVED = "removed"
    PARTNER_MISSING = "partner_missing"
    INSUFFICIENT_FUNDS = "insufficient_funds"
    SUSPENDED = "suspended"
    PLAYER_UNKNOWN = "player_unknown"
    REFUSED = "refused"
    TOURNAMENT_CANCELLED = "tournament_cancelled"


ENTRY_MOVES: Final[Mapping[tuple[EntryStatus, EntryMove], EntryStatus]] = MappingProxyType(
    {
        (EntryStatus.WAITING_FOR_PARTNER, EntryMove.JOIN): EntryStatus.PAYING,
        (EntryStatus.WAITING_FOR_PARTNER, EntryMove.LEAVE): EntryStatus.ENDED,
        (EntryStatus.WAITING_FOR_PARTNER, EntryMove.DISSOLVE): EntryStatus.ENDED,
        (EntryStatus.PAYING, EntryMove.PAY): EntryStatus.ENTERED,
        # Also after a refusal: an earlier call whose answer was lost may have taken the fee.
        (EntryStatus.PAYING, EntryMove.LEAVE): EntryStatus.LEAVING,
        (EntryStatus.PAYING, EntryMove.DISSOLVE): EntryStatus.ENDED,
        (EntryStatus.ENTERED, EntryMove.LEAVE): EntryStatus.LEAVING,
        (EntryStatus.ENTERED, EntryMove.DISSOLVE): EntryStatus.ENDED,
        (EntryStatus.LEAVING, EntryMove.RELEASE): EntryStatus.ENDED,
        (EntryStatus.LEAVING, EntryMove.DISSOLVE): EntryStatus.ENDED,
        (EntryStatus.ENTERED, EntryMove.WITHDRAW): EntryStatus.WITHDRAWN,
        (EntryStatus.ENTERED, EntryMove.DISQUALIFY): EntryStatus.DISQUALIFIED,
        (EntryStatus.WITHDRAWN, EntryMove.DISQUALIFY): EntryStatus.DISQUALIFIED,
    }
)

HOLDING: Final = (EntryStatus.PAYING, EntryStatus.ENTERED, EntryStatus.LEAVING)
"""Of these there are as many as the terms allow: their fees are held, or may be."""

GONE: Final = (EntryStatus.WITHDRAWN, EntryStatus.DISQUALIFIED)
"""They have left after the start."""


def moved(status: Status, move: Move) -> Status:
    """Where a tournament stands after a move. Raises ForbiddenMoveError."""
    try:
        return MOVES[status, move]
    except KeyError:
        raise ForbiddenMoveError(f"a tournament that is {status} can't {move}") from None


def entry_moved(status: EntryStatus, move: EntryMove) -> EntryStatus:
    """Where an entry stands after a move. Raises ForbiddenMoveError."""
    try:
        return ENTRY_MOVES[status, move]
    except KeyError:
        raise ForbiddenMoveError(f"an entry that is {status} can't {move}") from None
