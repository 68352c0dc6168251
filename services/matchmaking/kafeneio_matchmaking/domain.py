"""What `matchmaking` knows: who waits for what, whom that makes a match of, and how a match is
carried through or taken back.

Pure: no wire, no store, no clock. The two tables below are all that may ever happen to a ticket and
to a match; the store moves nothing that is not in them.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from types import MappingProxyType
from typing import Final
from uuid import UUID, uuid5


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
    """A variant as `rules` offers it: `options` are name -> values, the default first."""

    variant: str
    edition: int
    seats: int
    options: Mapping[str, tuple[str, ...]]
    targets: tuple[int, int, int]
    """Smallest, largest and usual."""


class NotOfferedError(ValueError):
    """`name` is the option, or "target" or "edition", that the variant has not got."""

    def __init__(self, name: str, text: str) -> None:
        super().__init__(text)
        self.name = name


@dataclass(frozen=True, slots=True)
class Wish:
    """What a player asks for; 0 and what is not named are the usual."""

    edition: int
    options: Mapping[str, str]
    target: int
    currency: str
    stake: int


def settle(wish: Wish, offer: Offer, fee_basis_points: int) -> Terms:
    """The terms that a wish comes to. Raises NotOfferedError."""
    if wish.edition not in (0, offer.edition):
        raise NotOfferedError("edition", f"{offer.variant} is played in edition {offer.edition}")
    for name, value in wish.options.items():
        if name not in offer.options:
            raise NotOfferedError(name, f"{offer.variant} has no option {name!r}")
        if value not in offer.options[name]:
            raise NotOfferedError(name, f"{name} is one of {', '.join(offer.options[name])}")
    least, most, usual = offer.targets
    target = wish.target or usual
    if not least <= target <= most:
        raise NotOfferedError("target", f"{offer.variant} is played to {least} to {most} points")
    options = {name: wish.options.get(name, values[0]) for name, values in offer.options.items()}
    return Terms(
        variant=offer.variant,
        edition=offer.edition,
        options=tuple(sorted(options.items())),
        target=target,
        currency=wish.currency if wish.stake else "",
        stake=wish.stake,
        fee_basis_points=fee_basis_points if wish.stake else 0,
        seats=offer.seats,
    )


# --- tickets ---------------------------------------------------------------------------------


class TicketStatus(StrEnum):
    """Where a ticket stands."""

    QUEUED = "queued"
    PAIRED = "paired"
    MATCHED = "matched"
    ENDED = "ended"


class TicketMove(StrEnum):
    """What may happen to a ticket."""

    PAIR = "pair"
    CANCEL = "cancel"
    EXPIRE = "expire"
    MATCH = "match"
    RETURN = "return"
    REFUSE = "refuse"


class End(StrEnum):
    """Why a ticket led to no game."""

    CANCELLED = "cancelled"
    EXPIRED = "expired"
    INSUFFICIENT_FUNDS = "insufficient_funds"
    SUSPENDED = "suspended"
    PLAYER_UNKNOWN = "player_unknown"
    TERMS_REFUSED = "terms_refused"


TICKET_MOVES: Final = MappingProxyType(
    {
        (TicketStatus.QUEUED, TicketMove.PAIR): TicketStatus.PAIRED,
        (TicketStatus.QUEUED, TicketMove.CANCEL): TicketStatus.ENDED,
        (TicketStatus.QUEUED, TicketMove.EXPIRE): TicketStatus.ENDED,
        (TicketStatus.PAIRED, TicketMove.MATCH): TicketStatus.MATCHED,
        (TicketStatus.PAIRED, TicketMove.RETURN): TicketStatus.QUEUED,
        (TicketStatus.PAIRED, TicketMove.REFUSE): TicketStatus.ENDED,
    }
)
"""No status but MATCHED and ENDED is without a way out, and PAIRED never lasts: its match is driven
until it is over."""

LIVE: Final = (TicketStatus.QUEUED, TicketStatus.PAIRED)
"""Of these a player has one at the most."""


class ForbiddenMoveError(ValueError):
    """A move that is not in the table."""


def move_ticket(status: TicketStatus, move: TicketMove) -> TicketStatus:
    """Where a ticket stands after a move. Raises ForbiddenMoveError."""
    try:
        return TICKET_MOVES[status, move]
    except KeyError:
        raise ForbiddenMoveError(f"a ticket that is {status} can't {move}") from None


def source(move: TicketMove) -> TicketStatus:
    """Where a ticket must stand for a move: every move has one such status."""
    (found,) = (status for status, each in TICKET_MOVES if each is move)
    return found


@dataclass(frozen=True, slots=True)
class Ticket:
    """One player's place in the queue. `queued_at` stays when it comes back into the queue."""

    ticket_id: UUID
    player_id: str
    terms: Terms
    status: TicketStatus
    version: int
    queued_at: datetime
    expires_at: datetime
    game_id: UUID | None
    end: End | None


# --- pairing ---------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Pairing:
    """Tickets that make a match: one for each seat, in the order of the seats."""

    terms: Terms
    tickets: tuple[Ticket, ...]


def pair(tickets: Iterable[Ticket], now: datetime) -> tuple[Pairing, ...]:
    """The matches that the waiting tickets make: on equal terms, the oldest first, each ticket in
    one at the most.

    A ticket whose time is over is not paired, and nobody is paired with himself, whatever he has
    managed to send.
    """
    waiting: dict[Terms, list[Ticket]] = {}
    taken: set[str] = set()
    made: list[Pairing] = []
    for ticket in sorted(tickets, key=lambda each: (each.queued_at, each.ticket_id)):
        if ticket.expires_at <= now or ticket.player_id in taken:
            continue
        taken.add(ticket.player_id)
        group = waiting.setdefault(ticket.terms, [])
        group.append(ticket)
        if len(group) == ticket.terms.seats:
            made.append(Pairing(ticket.terms, tuple(group)))
            del waiting[ticket.terms]
    return tuple(made)


# --- matches ---------------------------------------------------------------------------------


class MatchStatus(StrEnum):
    """How far a match has come."""

    PAIRED = "paired"
    """The game has its id; nothing has been asked for."""
    HELD = "held"
    """The stakes are held."""
    CREATED = "created"
    """`rules` has the game."""
    MATCHED = "matched"
    """The tickets have it, too."""
    CANCELLING = "cancelling"
    """The game must never start."""
    RELEASING = "releasing"
    """It never will, so the stakes may go back."""
    UNDONE = "undone"
    """Nothing is left of it."""


class MatchMove(StrEnum):
    """What may happen to a match: the definite answers of others, and what follows from them."""

    HOLD = "hold"
    HOLD_REFUSED = "hold_refused"
    CREATE = "create"
    CREATE_REFUSED = "create_refused"
    CREATE_TAKEN = "create_taken"
    TELL = "tell"
    TOO_LATE = "too_late"
    CANCEL = "cancel"
    CANCEL_PLAYED = "cancel_played"
    RELEASE = "release"


MATCH_MOVES: Final = MappingProxyType(
    {
        (MatchStatus.PAIRED, MatchMove.HOLD): MatchStatus.HELD,
        # An earlier call whose answer was lost may still be under way: a release ends that, too.
        (MatchStatus.PAIRED, MatchMove.HOLD_REFUSED): MatchStatus.RELEASING,
        (MatchStatus.HELD, MatchMove.CREATE): MatchStatus.CREATED,
        (MatchStatus.HELD, MatchMove.CREATE_REFUSED): MatchStatus.CANCELLING,
        # Somebody else's game has the id: it is none of ours to cancel.
        (MatchStatus.HELD, MatchMove.CREATE_TAKEN): MatchStatus.RELEASING,
        (MatchStatus.CREATED, MatchMove.TELL): MatchStatus.MATCHED,
        (MatchStatus.CREATED, MatchMove.TOO_LATE): MatchStatus.CANCELLING,
        (MatchStatus.CANCELLING, MatchMove.CANCEL): MatchStatus.RELEASING,
        # Its players have found it by themselves; then it is a match.
        (MatchStatus.CANCELLING, MatchMove.CANCEL_PLAYED): MatchStatus.MATCHED,
        (MatchStatus.RELEASING, MatchMove.RELEASE): MatchStatus.UNDONE,
    }
)

OVER: Final = (MatchStatus.MATCHED, MatchStatus.UNDONE)
"""Nothing is left to be done."""


def move_match(status: MatchStatus, move: MatchMove) -> MatchStatus:
    """How far a match is after a move. Raises ForbiddenMoveError."""
    try:
        return MATCH_MOVES[status, move]
    except KeyError:
        raise ForbiddenMoveError(f"a match that is {status} can't {move}") from None


@dataclass(frozen=True, slots=True)
class Seat:
    """Who is to sit in a match; `end` is set where he, or what he asked for, was refused."""

    ticket_id: UUID
    player_id: str
    end: End | None


@dataclass(frozen=True, slots=True)
class Match:
    """A pairing on its way to a game. `tries` counts the calls of this step without an answer."""

    match_id: UUID
    game_id: UUID
    terms: Terms
    status: MatchStatus
    join_by: datetime | None
    tries: int
    seats: tuple[Seat, ...]

    @property
    def players(self) -> tuple[str, ...]:
        """Who is to play, seat 0 first."""
        return tuple(seat.player_id for seat in self.seats)

    def request_id(self, call: str) -> UUID:
        """The id of the one call of this kind that is made for the match, however often it is
        sent."""
        return uuid5(self.match_id, call)


def blame(match: Match, end: End, player: str | None = None) -> dict[UUID, End]:
    """Whose tickets end, and why, when a match is refused: the player's own, or where nobody is
    named all of them."""
    return {
        seat.ticket_id: end for seat in match.seats if player is None or seat.player_id == player
    }


def retry_seconds(tries: int) -> float:
    """How long to wait after so many calls in a row without an answer."""
    return float(min(0.1 * 2 ** min(tries, 10), 5))
