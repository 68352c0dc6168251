"""What a seat, or chance, can do in Koum-kan, Thanasis and Dynamitis, and how it is written.

CHANCE     "deal .../.../../..."      `cards.Deal`
           "put-back 57"              the turned joker goes back into the stock (H3, D2)
           "reshuffle 7S8S..."        the new stock, its next card first
a seat     "draw"  "take"             a card of the stock, the top discard
           "meld run 4C*6C"           from low to high, jokers in their places
           "meld group KSKD*"         spades, hearts, diamonds, clubs, jokers
           "lay 7C 2"                 to meld number 2 on the table, from 1
           "lay * 2 low"  "high"      the end of a run, where a card fits both
           "swap 3C 1"                in place of a joker of meld 1
           "discard 9S"
           "out 9S"                   goes out with that discard (H5b)
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, TypeAlias

from .cards import DEAL, HIDDEN, Card, Deal, deal_shown, read_cards, read_deal, write_deal
from .game import Seat, Unreadable
from .melds import End, Kind, Meld


@dataclass(frozen=True, slots=True)
class PutBack:
    """The turned card goes back among those in the stock but the next one, which is turned.

    `place` is how many of them are above it; None where it is hidden.
    """

    place: int | None


@dataclass(frozen=True, slots=True)
class Reshuffle:
    """The new stock, its next card first."""

    cards: tuple[Card, ...]


@dataclass(frozen=True, slots=True)
class DrawStock:
    """A card of the stock."""


@dataclass(frozen=True, slots=True)
class TakeDiscard:
    """The top card of the discard pile."""


@dataclass(frozen=True, slots=True)
class LayMeld:
    """One meld from the hand to the table."""

    meld: Meld


@dataclass(frozen=True, slots=True)
class LayOff:
    """A card to a meld on the table; `number` counts the melds from 1, see `melds.ends_for`."""

    card: Card
    number: int
    end: End | None = None


@dataclass(frozen=True, slots=True)
class SwapJoker:
    """A natural card for the joker that stands for it in a meld on the table."""

    card: Card
    number: int


@dataclass(frozen=True, slots=True)
class Discard:
    """The card that ends the turn."""

    card: Card


@dataclass(frozen=True, slots=True)
class GoOut:
    """The discard with which a player goes out (H5b)."""

    card: Card


Action: TypeAlias = (
    Deal
    | PutBack
    | Reshuffle
    | DrawStock
    | TakeDiscard
    | LayMeld
    | LayOff
    | SwapJoker
    | Discard
    | GoOut
)

_PUT_BACK: Final = "put-back"
_RESHUFFLE: Final = "reshuffle"
_NUMBER_DIGITS: Final = 3


def write(action: Action) -> str:
    """The notation above."""
    match action:
        case Deal():
            return write_deal(action)
        case PutBack(place):
            return f"{_PUT_BACK} {HIDDEN if place is None else place}"
        case Reshuffle(cards):
            return f"{_RESHUFFLE} {''.join(cards)}"
        case DrawStock():
            return "draw"
        case TakeDiscard():
            return "take"
        case LayMeld(meld):
            return f"meld {meld.kind.value} {''.join(meld.cards)}"
        case LayOff(card, number, end):
            return f"lay {card} {number}" + (f" {end.value}" if end else "")
        case SwapJoker(card, number):
            return f"swap {card} {number}"
        case Discard(card):
            return f"discard {card}"
        case GoOut(card):
            return f"out {card}"


def read(text: str) -> Action:
    """The exact inverse of `write`, and of `show`; `Unreadable` for anything else."""
    if text.startswith(DEAL):
        return read_deal(text)
    match text.split(" "):
        case ["draw"]:
            return DrawStock()
        case ["take"]:
            return TakeDiscard()
        case ["put-back", place]:
            return PutBack(None if place == HIDDEN else _number(place, 0))
        case ["reshuffle", cards] if cards:
            return Reshuffle(read_cards(cards))
        case ["meld", "run" | "group" as kind, cards] if cards:
            return LayMeld(Meld(Kind(kind), _seen(cards)))
        case ["lay", card, number]:
            return LayOff(_card(card), _number(number, 1))
        case ["lay", card, number, "low" | "high" as end]:
            return LayOff(_card(card), _number(number, 1), End(end))
        case ["swap", card, number]:
            return SwapJoker(_card(card), _number(number, 1))
        case ["discard", card]:
            return Discard(_card(card))
        case ["out", card]:
            return GoOut(_card(card))
    raise Unreadable(f"no action reads {text[:40]!r}")


def show(action: Action, seat: Seat | None) -> str:
    """`write`, with "?" for each card of a deal or a reshuffle, and the place, that is hidden."""
    match action:
        case Deal():
            return write_deal(deal_shown(action, seat))
        case PutBack():
            return write(PutBack(None))
        case Reshuffle(cards):
            return write(Reshuffle((HIDDEN,) * len(cards)))
    return write(action)


def _seen(text: str) -> tuple[Card, ...]:
    cards = read_cards(text)
    if HIDDEN in cards:
        raise Unreadable("a card that is played is seen")
    return cards


def _card(text: str) -> Card:
    cards = _seen(text)
    if len(cards) != 1:
        raise Unreadable(f"{text[:20]!r} is not one card")
    return cards[0]


def _number(text: str, least: int) -> int:
    plain = text.isascii() and text.isdecimal() and len(text) <= _NUMBER_DIGITS
    if not plain or str(int(text)) != text or int(text) < least:
        raise Unreadable(f"no number reads {text[:20]!r}")
    return int(text)
