"""Declarations: four of a kind, and sequences; finding them in a hand.

Rules P36-P39, P47, B14, B30.  Which of two is better, what happens to equal ones, and whether a
card may stand in two are each family's own business (`pilotta_calls` for pilotta).
"""

from __future__ import annotations

import enum
import itertools
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from .cards import SUITS, Card

NATURAL_ORDER: Final = "789TJQKA"
"""The order inside sequences, in trumps too (P38, B30)."""

CARRE_POINTS: Final[Mapping[str, int]] = {
    "J": 200,
    "9": 150,
    "A": 100,
    "T": 100,
    "K": 100,
    "Q": 100,
}
"""By rank, the better one first as pilotta has it (P36); sevens and eights are nothing (P37)."""


class Kind(enum.StrEnum):
    """The kinds of declarations; the word is what may be shown of one whose cards may not."""

    TIERCE = "tierce"  # three cards in sequence
    FIFTY = "fifty"  # four
    HUNDRED = "hundred"  # five or more
    CARRE = "carre"  # four of a kind


_OF_LENGTH: Final = {3: (Kind.TIERCE, 20), 4: (Kind.FIFTY, 50), 5: (Kind.HUNDRED, 100)}


@dataclass(frozen=True, slots=True)
class Declaration:
    """One declaration of a hand.

    `cards` are those of a sequence from low to high, or the four of a kind in the order of
    `cards.SUITS`; `points` what it is worth when it counts.
    """

    kind: Kind
    cards: tuple[Card, ...]
    points: int

    @property
    def top(self) -> str:
        """The rank of the highest card of a sequence; the rank of four of a kind."""
        return self.cards[-1][0]

    @property
    def suit(self) -> str:
        """The suit of a sequence; of four of a kind it means nothing."""
        return self.cards[-1][1]


def sequence(cards: tuple[Card, ...]) -> Declaration:
    """Three or more cards of a suit in a row, from low to high, as a declaration."""
    kind, points = _OF_LENGTH[min(len(cards), 5)]
    return Declaration(kind, cards, points)


def sequences(hand: tuple[Card, ...]) -> tuple[Declaration, ...]:
    """Every sequence of at least three cards, as long as it can be (B14, P39); by suit, low first.

    `hand` must be in the order of `tricks.sorted_hand`.
    """
    found = []
    run: list[Card] = []
    for card in hand:
        if run and _NEXT.get(run[-1]) != card:
            if len(run) >= 3:
                found.append(sequence(tuple(run)))
            run = []
        run.append(card)
    if len(run) >= 3:
        found.append(sequence(tuple(run)))
    return tuple(found)


def carres(
    hand: tuple[Card, ...], points: Mapping[str, int] = CARRE_POINTS
) -> tuple[Declaration, ...]:
    """Every four of a kind that `points` knows, in its order of ranks."""
    ranks = [card[0] for card in hand]
    return tuple(
        [
            Declaration(Kind.CARRE, tuple(Card(rank + suit) for suit in SUITS), worth)
            for rank, worth in points.items()
            if ranks.count(rank) == 4
        ]
    )


_NEXT: Final = {
    Card(low + suit): Card(high + suit)
    for suit in SUITS
    for low, high in itertools.pairwise(NATURAL_ORDER)
}
