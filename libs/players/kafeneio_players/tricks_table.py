"""The 32 cards as bits, so that a hand is one whole number and much can be played in little time.

Two orders of the bits: in a *plain* mask bit i is card i of `SHORT_PACK`, whatever is trump; in a
*ranked* one, a `Table`'s own, the cards of a suit go from its lowest to its highest, and the trump
suit comes last.  A card of a ranked mask is the number of its bit.
"""

from __future__ import annotations

import functools
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final, TypeAlias

from kafeneio_games.cards import SHORT_PACK, SUITS, Card
from kafeneio_games.tricks import PLAIN_ORDER, TRUMP_ORDER, points_table

Mask: TypeAlias = int

PACK: Final[Mask] = (1 << len(SHORT_PACK)) - 1
BIT: Final = {card: 1 << place for place, card in enumerate(SHORT_PACK)}
"""The plain mask of one card."""

SUIT: Final = {suit: 0xFF << 8 * place for place, suit in enumerate(SUITS)}
"""The plain mask of one suit."""

# What is thrown away, and what is given to one's partner: the first first; True are trumps.
_AWAY: Final = (
    *(("789", False), ("J", False), ("Q", False), ("K", False), ("78", True), ("Q", True)),
    *(("K", True), ("T", False), ("T", True), ("A", False), ("A", True), ("9", True), ("J", True)),
)
_GIVE: Final = (
    *(("T", False), ("A", False), ("K", False), ("Q", False), ("J", False), ("789", False)),
    *(("T", True), ("K", True), ("Q", True), ("78", True), ("A", True), ("9", True), ("J", True)),
)


def plain(cards: Iterable[Card]) -> Mask:
    """Cards as a plain mask."""
    return sum(map(BIT.__getitem__, cards))


@functools.lru_cache(maxsize=1 << 14)
def cards_of(mask: Mask) -> tuple[Card, ...]:
    """The cards of a plain mask, in the order of every hand."""
    return tuple([card for card in SHORT_PACK if BIT[card] & mask])


def bits(mask: Mask) -> list[int]:
    """The numbers of the bits, from low to high."""
    found = []
    while mask:
        low = mask & -mask
        found.append(low.bit_length() - 1)
        mask ^= low
    return found


@dataclass(frozen=True, slots=True)
class Table:
    """What cards are and do with one trump suit, or with none; lists are by card.

    `trumps` is the trump suit, 0 if there is none.  `suit` is the whole suit of a card, `points`
    what it is worth, `beats` what would win from it where it is winning: the higher ones of its
    suit, and trumps.  `away` and `give` are the pack in groups, in the order in which a card is
    thrown away, or given to the partner.  `ranked` makes ranked masks of plain ones, a byte at a
    time.
    """

    trumps: Mask
    cards: tuple[Card, ...]
    suit: tuple[Mask, ...]
    points: tuple[int, ...]
    beats: tuple[Mask, ...]
    away: tuple[Mask, ...]
    give: tuple[Mask, ...]
    ranked: tuple[tuple[Mask, ...], ...]

    def of(self, mask: Mask) -> Mask:
        """The ranked mask of a plain one."""
        first, second, third, fourth = self.ranked
        return (
            first[mask & 255]
            | second[mask >> 8 & 255]
            | third[mask >> 16 & 255]
            | fourth[mask >> 24 & 255]
        )


@functools.cache
def table(trump: str, plain_ace: int = 11) -> Table:
    """The table for that trump suit, "" for none; `plain_ace` is what an ace counts (N3)."""
    suits = [suit for suit in SUITS if suit != trump] + [trump] * (trump != "")
    order = [(suit, TRUMP_ORDER if suit == trump else PLAIN_ORDER) for suit in suits]
    cards = tuple([Card(rank + suit) for suit, ranks in order for rank in ranks])
    number = {card: place for place, card in enumerate(cards)}
    trumps = 0xFF << 24 if trump else 0
    whole = tuple([0xFF << card // 8 * 8 for card in range(32)])
    worth = points_table(trump, plain_ace)
    beats = [whole[c] & -1 << c + 1 | (0 if whole[c] == trumps else trumps) for c in range(32)]
    away, give = (
        tuple([_group(cards, ranks, trump, own) for ranks, own in groups if trump or not own])
        for groups in (_AWAY, _GIVE)
    )
    ranked = [
        [sum(1 << number[card] for card in cards_of(byte << 8 * place)) for byte in range(256)]
        for place in range(4)
    ]
    return Table(
        trumps,
        cards,
        whole,
        tuple([worth[card] for card in cards]),
        tuple(beats),
        away,
        give,
        tuple(map(tuple, ranked)),
    )


def _group(cards: tuple[Card, ...], ranks: str, trump: str, own: bool) -> Mask:
    """All cards of those ranks, of the trump suit or of the others."""
    return sum(
        1 << place
        for place, card in enumerate(cards)
        if card[0] in ranks and (card[1] == trump) == own
    )
