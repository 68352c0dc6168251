"""Tricks with 32 cards: ranks, card points, who wins, and which cards may be played.

Shared by pilotta (rules P20-P29) and belote (B4-B11, B24, B25).  A trick is the cards in the order
in which they were played; who played them is the game's business.  `trump` is a suit of `SUITS`, or
`NO_TRUMP`.  Seats 0, 2 ... play against 1, 3 ..., so that a seat's partner, where there is one,
played the last card but one.
"""

from __future__ import annotations

import enum
from collections.abc import Callable, Iterable, Mapping
from typing import Final

from .cards import SHORT_PACK, SUITS, Card
from .game import Seat

NO_TRUMP: Final = ""
TRUMPS: Final = (*SUITS, NO_TRUMP)
LAST_TRICK: Final = 10
"""What the last trick is worth beside its cards (P29, B5)."""

PLAIN_ORDER: Final = "789JQKTA"
"""The ranks of a suit that is not trump, from low to high (P27, B4, B24)."""

TRUMP_ORDER: Final = "78QKTA9J"

_PLAIN_POINTS: Final = {"A": 11, "T": 10, "K": 4, "Q": 3, "J": 2, "9": 0, "8": 0, "7": 0}
_TRUMP_POINTS: Final = {"J": 20, "9": 14, "A": 11, "T": 10, "K": 4, "Q": 3, "8": 0, "7": 0}

_PLACE: Final = {card: place for place, card in enumerate(SHORT_PACK)}


def sorted_hand(cards: Iterable[Card]) -> tuple[Card, ...]:
    """By suit (spades, hearts, diamonds, clubs), then 7 8 9 T J Q K A: the order of every hand."""
    return tuple(sorted(cards, key=_PLACE.__getitem__))


def side_of(seat: int) -> int:
    """0 for seats 0 and 2, 1 for seats 1 and 3; of two players each is a side."""
    return seat % 2


def next_seat(seat: Seat, seats: int) -> Seat:
    """The one after it in order of play (P3, B2); after the dealer it is forehand (P5, T2, B3)."""
    return Seat((seat + 1) % seats)


# ---------------------------------------------------------------- card points


def points_table(trump: str, plain_ace: int = 11) -> Mapping[Card, int]:
    """What each card is worth: 152 in all, 120 without trumps, with a `plain_ace` of 11.

    Official no-trump belote makes `plain_ace` 19, 152 in all again (N3).
    """
    plain = {**_PLAIN_POINTS, "A": plain_ace}
    return {card: (_TRUMP_POINTS if card[1] == trump else plain)[card[0]] for card in SHORT_PACK}


POINTS: Final = {trump: points_table(trump) for trump in TRUMPS}
"""By trump, then card: `points_table` with the ace at 11."""


# ---------------------------------------------------------------- who wins

# By trump, then suit led, then card: what wins the trick; 0 for a card that can win nothing.
_STRENGTH: Final = {
    trump: {
        led: {
            card: (
                10 + TRUMP_ORDER.index(card[0])
                if card[1] == trump
                else 1 + PLAIN_ORDER.index(card[0])
                if card[1] == led
                else 0
            )
            for card in SHORT_PACK
        }
        for led in SUITS
    }
    for trump in TRUMPS
}


def winner(trick: tuple[Card, ...], trump: str) -> int:
    """The place in the trick (0 is the lead) of the card that wins it so far (P28).

    The highest trump in it; if there is none, the highest card of the suit led.
    """
    worth = list(map(_STRENGTH[trump][trick[0][1]].__getitem__, trick))
    return worth.index(max(worth))


# ---------------------------------------------------------------- what may be played


class Duty(enum.Enum):
    """Why a card of one's own may not be played now; each family of games has its rule ids."""

    FOLLOW = "follow"  # a plain suit is led and held (P20, B6)
    FOLLOW_TRUMP = "follow trump"  # trump is led and held, and the card is none (P21, B6)
    BEAT = "beat"  # trump is led, and a trump held beats the best one so far (P21, B7)
    TRUMP = "trump"  # void in the suit led, nobody has trumped: a trump is due (P22, B9)
    OVERTRUMP = "overtrump"  # void, trumped, and a trump held beats the best one (P23, B9)
    UNDERTRUMP = "undertrump"  # void, trumped, only lower trumps held: one is due (P24, B10)


def following(
    hand: tuple[Card, ...],
    trick: tuple[Card, ...],
    trump: str,
    partner_exempt: bool = False,
    undertrump: bool = True,
) -> tuple[Card, ...]:
    """The cards of `hand` that may be played to `trick`, in the hand's order; all for the lead.

    Trump led is beaten where that is possible, even the partner's (P21, B7).  Without the suit led
    a trump is due (P22, B9), a higher one than those in the trick where possible (P23, B9), else
    any one while `undertrump` holds (P24), or any card while it does not (B10).  With
    `partner_exempt` nothing but following suit is due while the partner's card wins (B8).
    Without a trump suit following suit is the only duty (B24).
    """
    if not trick:
        return hand
    led = trick[0][1]
    same = tuple([card for card in hand if card[1] == led])
    if led == trump:
        return _higher(same, trick, trump) or same or hand
    if same or not trump:
        return same or hand
    trumps = tuple([card for card in hand if card[1] == trump])
    if not trumps or (partner_exempt and partner_wins(trick, trump)):
        return hand
    if all(card[1] != trump for card in trick):
        return trumps
    return _higher(trumps, trick, trump) or (trumps if undertrump else hand)


def partner_wins(trick: tuple[Card, ...], trump: str) -> bool:
    """Whether the partner of the seat that plays next, of four, holds the trick so far."""
    return len(trick) >= 2 and winner(trick, trump) == len(trick) - 2


def duty(
    card: Card,
    hand: tuple[Card, ...],
    trick: tuple[Card, ...],
    trump: str,
    partner_exempt: bool = False,
    undertrump: bool = True,
) -> Duty | None:
    """Why `following` leaves `card` of `hand` out; None when it does not."""
    allowed = following(hand, trick, trump, partner_exempt, undertrump)
    if card in allowed:
        return None
    led = trick[0][1]
    if any(held[1] == led for held in hand):
        if card[1] != led:
            return Duty.FOLLOW_TRUMP if led == trump else Duty.FOLLOW
        return Duty.BEAT
    if all(played[1] != trump for played in trick):
        return Duty.TRUMP
    best = max(map(_STRENGTH[trump][led].__getitem__, trick))
    return Duty.OVERTRUMP if _STRENGTH[trump][led][allowed[0]] > best else Duty.UNDERTRUMP


def _higher(trumps: tuple[Card, ...], trick: tuple[Card, ...], trump: str) -> tuple[Card, ...]:
    """Those of the trumps that would win the trick now."""
    worth: Callable[[Card], int] = _STRENGTH[trump][trick[0][1]].__getitem__
    best = max(map(worth, trick))
    return tuple([card for card in trumps if worth(card) > best])
