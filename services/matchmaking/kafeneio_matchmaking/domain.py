"""What `matchmaking` knows of those who want to play: what a wish comes to, and who waits for what.
Whom the waiting tickets make a match of is in pairing.py, what becomes of that in matching.py.

Pure: no wire, no store, no clock. The table below is all that may ever happen to a ticket; the
store moves nothing that is not in it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum
from types import MappingProxyType
from typing import Final
from uuid import UUID

PARTNERS: Final = ((0, 2), (1, 3))
"""The seats of partners where two play against two."""

COMPUTER: Final = "computer-"
"""Ids that begin so are the computers' own: "computer-1" and so on. No person's begins so, in
capitals either."""


@dataclass(frozen=True, slots=True)
class Terms:
    """What is to be played and for how much, everything settled.

    `options` are (name, value), sorted, all of them. `stake` is in the smallest unit; a game for
    nothing has stake 0 and no currency, so that all of those are equal.
    """

    variant: str
    edition: int
    options: tuple[tuple[str, str], ...]
    target: int
    currency: str
    stake: int
    fee_basis_points: int
    seats: int


@dataclass(frozen=True, slots=True)
class Offer:
    """A variant as `rules` offers it: `options` are name -> values, the default first; `seats` says
    how many sit at a table with these options."""

    variant: str
    edition: int
    seats: Callable[[Mapping[str, str]], int]
    options: Mapping[str, tuple[str, ...]]
    targets: tuple[int, int, int]
    """Smallest, largest and usual."""
    only: tuple[int, ...] = ()
    """The only targets; none where all from the smallest to the largest are."""
    many: frozenset[str] = frozenset()
    """Options that take several of their values, with commas."""
    partners: bool = False
    """Whether two play against two, as PARTNERS says."""


class NotOfferedError(ValueError):
    """`name` is what the variant has not got: the option, "target", "edition", "stake" (against a
    computer) or "partner_player_id"."""

    def __init__(self, name: str, text: str) -> None:
        super().__init__(text)
        self.name = name


@dataclass(frozen=True, slots=True)
class Wish:
    """What a player asks for; 0 and what is not named are the usual. `partner` is whether he names
    one, `house` whether he wants to play against computers."""

    edition: int
    options: Mapping[str, str]
    target: int
    currency: str
    stake: int
    partner: bool = False
    house: bool = False


def settle(wish: Wish, offer: Offer, fee_basis_points: int) -> Terms:
    """The terms that a wish comes to. Raises NotOfferedError."""
    if wish.edition not in (0, offer.edition):
        raise NotOfferedError("edition", f"{offer.variant} is played in edition {offer.edition}")
    for name, value in wish.options.items():
        if name not in offer.options:
            raise NotOfferedError(name, f"{offer.variant} has no option {name!r}")
        parts = value.split(",") if name in offer.many else [value]
        if any(part not in offer.options[name] for part in parts):
            raise NotOfferedError(name, f"{name} is one of {', '.join(offer.options[name])}")
    least, most, usual = offer.targets
    target = wish.target or usual
    if not least <= target <= most or target not in (offer.only or [target]):
        points = ", ".join(map(str, offer.only)) or f"{least} to {most}"
        raise NotOfferedError("target", f"{offer.variant} is played to {points} points")
    options = {name: wish.options.get(name, values[0]) for name, values in offer.options.items()}
    seats = offer.seats(options)
    if wish.partner and not (offer.partners and seats == 2 * len(PARTNERS)):
        raise NotOfferedError("partner_player_id", f"there are no partners in {offer.variant}")
    if wish.house and wish.stake:
        raise NotOfferedError("stake", "a computer never sits at a table with a stake (S0)")
    return Terms(
        variant=offer.variant,
        edition=offer.edition,
        options=tuple(sorted(options.items())),
        target=target,
        currency=wish.currency if wish.stake else "",
        stake=wish.stake,
        fee_basis_points=fee_basis_points if wish.stake else 0,
        seats=seats,
    )


# --- tickets ---------------------------------------------------------------------------------


class TicketStatus(StrEnum):
    """Where a ticket stands."""

    WAITING_FOR_PARTNER = "waiting_for_partner"
    QUEUED = "queued"
    PAIRED = "paired"
    MATCHED = "matched"
    STARTED = "started"
    ENDED = "ended"


class TicketMove(StrEnum):
    """What may happen to a ticket."""

    JOIN = "join"
    PAIR = "pair"
    CANCEL = "cancel"
    EXPIRE = "expire"
    MATCH = "match"
    RETURN = "return"
    REFUSE = "refuse"
    START = "start"


class End(StrEnum):
    """Why a ticket, or a seat that was taken, led to no game."""

    CANCELLED = "cancelled"
    EXPIRED = "expired"
    INSUFFICIENT_FUNDS = "insufficient_funds"
    SUSPENDED = "suspended"
    PLAYER_UNKNOWN = "player_unknown"
    TERMS_REFUSED = "terms_refused"
    PARTNER_LEFT = "partner_left"
    NO_SHOW = "no_show"
    CALLED_OFF = "called_off"


TICKET_MOVES: Final = MappingProxyType(
    {
        (TicketStatus.WAITING_FOR_PARTNER, TicketMove.JOIN): TicketStatus.QUEUED,
        (TicketStatus.WAITING_FOR_PARTNER, TicketMove.CANCEL): TicketStatus.ENDED,
        (TicketStatus.WAITING_FOR_PARTNER, TicketMove.EXPIRE): TicketStatus.ENDED,
        (TicketStatus.QUEUED, TicketMove.PAIR): TicketStatus.PAIRED,
        (TicketStatus.QUEUED, TicketMove.CANCEL): TicketStatus.ENDED,
        (TicketStatus.QUEUED, TicketMove.EXPIRE): TicketStatus.ENDED,
        (TicketStatus.PAIRED, TicketMove.MATCH): TicketStatus.MATCHED,
        (TicketStatus.PAIRED, TicketMove.RETURN): TicketStatus.QUEUED,
        (TicketStatus.PAIRED, TicketMove.REFUSE): TicketStatus.ENDED,
        # The game waits for its seats. Not all have joined: who has is back in front, who has not
        # is out (F6).
        (TicketStatus.MATCHED, TicketMove.START): TicketStatus.STARTED,
        (TicketStatus.MATCHED, TicketMove.RETURN): TicketStatus.QUEUED,
        (TicketStatus.MATCHED, TicketMove.REFUSE): TicketStatus.ENDED,
    }
)
"""No status but STARTED and ENDED is without a way out, and neither PAIRED nor MATCHED lasts: the
match is driven until its game waits for its seats, and asked for until it has started or not."""

LIVE: Final = (
    TicketStatus.WAITING_FOR_PARTNER,
    TicketStatus.QUEUED,
    TicketStatus.PAIRED,
    TicketStatus.MATCHED,
)
"""Of these a player has one at the most."""


class ForbiddenMoveError(ValueError):
    """A move that is in no table."""


def sources(move: TicketMove) -> tuple[TicketStatus, ...]:
    """Where a ticket may stand for a move."""
    return tuple(status for status, each in TICKET_MOVES if each is move)


def target(move: TicketMove) -> TicketStatus:
    """Where a ticket stands after a move: every move leads to one status."""
    (found,) = {after for (_, each), after in TICKET_MOVES.items() if each is move}
    return found


@dataclass(frozen=True, slots=True)
class NewTicket:
    """A ticket that is asked for, see Ticket."""

    ticket_id: UUID
    player_id: str
    terms: Terms
    time_to_live: timedelta
    partner: str = ""
    house_seat: int | None = None


@dataclass(frozen=True, slots=True)
class Ticket:
    """One player's place in the queue. `queued_at` stays when it comes back into the queue.

    `partner` is with whom he wants to sit, "" for anybody. `house_seat` is his own seat at a table
    of computers, None where he plays with others.
    """

    ticket_id: UUID
    player_id: str
    terms: Terms
    status: TicketStatus
    version: int
    queued_at: datetime
    expires_at: datetime
    game_id: UUID | None
    end: End | None
    partner: str = ""
    house_seat: int | None = None

    def is_of(self, new: NewTicket) -> bool:
        """Whether the same was asked for. The seat among computers is nothing that one asks for."""
        return (self.player_id, self.terms, self.partner, self.house_seat is None) == (
            new.player_id,
            new.terms,
            new.partner,
            new.house_seat is None,
        )
