"""Playing cards, and the deal: what all card games share.

A card is its rank and its suit, "TS" the ten of spades; a joker is "*". Two packs hold every card
twice, and twins are equal. A deal is one action of CHANCE: the whole pack, once shuffled, so that
everything drawn later is determined; only it, and a reshuffle, must ever be hidden.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final, NewType

from .game import Seat, Unreadable

Card = NewType("Card", str)
"""Rank and suit, "7H", "TS", "AC"; or `JOKER`."""

SUITS: Final = "SHDC"
"""Spades, hearts, diamonds, clubs."""

RANKS: Final = "23456789TJQKA"

JOKER: Final = Card("*")
HIDDEN: Final = Card("?")
"""A card's place, shown to a seat that may not see the card."""

FULL_PACK: Final = tuple(Card(rank + suit) for suit in SUITS for rank in RANKS)
SHORT_PACK: Final = tuple(card for card in FULL_PACK if card[0] in "789TJQKA")
"""The 32 cards of pilotta and belote."""

_KNOWN: Final = frozenset((*FULL_PACK, JOKER, HIDDEN))


def read_cards(text: str) -> tuple[Card, ...]:
    """ "KSKD*" as cards; the exact inverse of joining them; `Unreadable` for anything else."""
    cards = []
    place = 0
    while place < len(text):
        width = 1 if text[place] in (JOKER, HIDDEN) else 2
        card = Card(text[place : place + width])
        if card not in _KNOWN:
            raise Unreadable(f"no card reads {card!r}")
        cards.append(card)
        place += width
    return tuple(cards)


@dataclass(frozen=True, slots=True)
class Deal:
    """A whole shuffled pack: each seat's hand in order of seats, the card turned up, the rest.

    A seat that does not take part has an empty hand. `rest` is taken from its front.
    """

    hands: tuple[tuple[Card, ...], ...]
    turned: tuple[Card, ...] = ()
    rest: tuple[Card, ...] = ()


DEAL: Final = "deal "


def write_deal(deal: Deal) -> str:
    """ "deal 7S8S/9S../KH/2C3C": the hands, the turned cards, the rest, in one line."""
    groups = (*deal.hands, deal.turned, deal.rest)
    return DEAL + "/".join("".join(group) for group in groups)


def read_deal(text: str) -> Deal:
    """The exact inverse; `Unreadable` for anything else."""
    groups = text.removeprefix(DEAL).split("/")
    if not text.startswith(DEAL) or not 4 <= len(groups) <= 10:
        raise Unreadable(f"no deal reads {text[:20]!r}")
    *hands, turned, rest = [read_cards(group) for group in groups]
    return Deal(tuple(hands), turned, rest)


def deal_shown(deal: Deal, seat: Seat | None) -> Deal:
    """The deal as `seat` may see it: its own hand and what is turned up."""
    return Deal(
        tuple(hand if place == seat else _hidden(hand) for place, hand in enumerate(deal.hands)),
        deal.turned,
        _hidden(deal.rest),
    )


def _hidden(cards: Iterable[Card]) -> tuple[Card, ...]:
    return tuple(HIDDEN for _ in cards)
