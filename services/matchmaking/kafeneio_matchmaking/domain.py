"""What `matchmaking` knows: who waits for what, and how a match is carried through or taken back.
Whom the waiting tickets make a match of is in pairing.py.

Pure: no wire, no store, no clock. The two tables below are all that may ever happen to a ticket and
to a match; the store moves nothing that is not in them.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum
from types import MappingProxyType
from typing import Final
from uuid import UUID, uuid5

PARTNERS: Final = ((0, 2), (1, 3))
"""The seats of partners where two play against two."""

COMPUTER: Final = "computer-"
"""Ids that begin so are the computers' own: "computer-1" and so on."""


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


class End(StrEnum):
    """Why a ticket led to no game."""

    CANCELLED = "cancelled"
    EXPIRED = "expired"
    INSUFFICIENT_FUNDS = "insufficient_funds"
    SUSPENDED = "suspended"
    PLAYER_UNKNOWN = "player_unknown"
    TERMS_REFUSED = "terms_refused"
    PARTNER_LEFT = "partner_left"


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
    }
)
"""No status but MATCHED and ENDED is without a way out, and PAIRED never lasts: its match is driven
until it is over."""

LIVE: Final = (TicketStatus.WAITING_FOR_PARTNER, TicketStatus.QUEUED, TicketStatus.PAIRED)
"""Of these a player has one at the most."""


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


class ForbiddenMoveError(ValueError):
    """A move that is not in the table."""


def move_match(status: MatchStatus, move: MatchMove) -> MatchStatus:
    """How far a match is after a move. Raises ForbiddenMoveError."""
    try:
        return MATCH_MOVES[status, move]
    except KeyError:
        raise ForbiddenMoveError(f"a match that is {status} can't {move}") from None


@dataclass(frozen=True, slots=True)
class Seat:
    """Who is to sit in a match; `end` is set where he, or what he asked for, was refused. Without a
    ticket it is a computer."""

    ticket_id: UUID | None
    player_id: str
    end: End | None
    partner: str = ""


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

    @property
    def tickets(self) -> tuple[tuple[UUID, End | None], ...]:
        """The tickets of those who are no computers, and whether they were refused."""
        return tuple((s.ticket_id, s.end) for s in self.seats if s.ticket_id is not None)

    @property
    def computer_seats(self) -> tuple[int, ...]:
        """Where a computer is to play."""
        return tuple(number for number, seat in enumerate(self.seats) if seat.ticket_id is None)

    def request_id(self, call: str) -> UUID:
        """The id of the one call of this kind that is made for the match, however often it is
        sent."""
        return uuid5(self.match_id, call)


def blame(match: Match, end: End, players: Collection[str] | None = None) -> dict[UUID, End]:
    """Whose tickets end, and why, when a match is refused: those of the players, or where nobody is
    named all of them. Whose partner has to leave leaves with him."""
    named = match.players if players is None else players
    found: dict[UUID, End] = {}
    for seat in match.seats:
        if seat.ticket_id is not None and seat.player_id in named:
            found[seat.ticket_id] = end
        elif seat.ticket_id is not None and seat.partner in named:
            found[seat.ticket_id] = End.PARTNER_LEFT
    return found


def retry_seconds(tries: int) -> float:
    """How long to wait after so many calls in a row without an answer."""
    return float(min(0.1 * 2 ** min(tries, 10), 5))
