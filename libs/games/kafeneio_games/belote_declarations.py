"""The declarations of belote: which of a hand count, and which side's.

B14, A8, A9  what beats what: carre, hundred, fifty, tierce; then points and rank, or top card
B30, A24     a side with the strongest declaration scores all of its own; a long run is one
N4           the carres' own scale without trumps
N5, A2, A10  equal best ones of both sides
N6, A7       whether one card may stand in two
A22, A23     who declares, and whether declarations are played at all
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import combinations
from typing import Final, Literal, TypeAlias

from .cards import Card
from .declarations import (
    CARRE_POINTS,
    NATURAL_ORDER,
    Declaration,
    Kind,
    carres,
    sequences,
)
from .trick_play import Announced
from .trick_view import Contract
from .tricks import NO_TRUMP, side_of

NO_TRUMP_CARRES: Final[Mapping[str, int]] = {
    "A": 200,
    "T": 150,
    "K": 100,
    "Q": 100,
    "J": 100,
    "9": 100,
}
"""The official scale without trumps, the better one first (N4)."""

_KINDS: Final = (Kind.TIERCE, Kind.FIFTY, Kind.HUNDRED, Kind.CARRE)  # from weak to strong (B14)

Strength: TypeAlias = tuple[int, int]


@dataclass(frozen=True, slots=True)
class DeclarationRules:
    """What a table may choose of declarations.

    `played` whether there are any (A23); `by_player` whether a player says himself that he
    declares (A22); `tie` N5, the side that took or the declaration in trumps; `overlap` N6, whether
    a card may stand in two; `own_scale` N4, whether carres have a scale of their own without
    trumps.
    """

    played: bool = True
    by_player: bool = False
    tie: Literal["taker", "trump"] = "taker"
    overlap: bool = True
    own_scale: bool = False

    def scale(self, trump: str) -> Mapping[str, int]:
        """What carres are worth by rank, the better one first."""
        return NO_TRUMP_CARRES if self.own_scale and trump == NO_TRUMP else CARRE_POINTS


MAISON: Final = DeclarationRules()
"""The house's own rules, which are the default."""


def of_hand(hand: tuple[Card, ...], trump: str, rules: DeclarationRules) -> tuple[Declaration, ...]:
    """The declarations of eight cards in the order of `tricks.sorted_hand`, the best one first."""
    scale = rules.scale(trump)
    fours = carres(hand, scale)
    if not fours:
        found = sequences(hand)
    elif rules.overlap:
        found = (*fours, *sequences(hand))
    else:
        found = max(_disjoint(hand, fours), key=lambda chosen: _worth(chosen, scale))
    if len(found) < 2:
        return found
    return tuple(sorted(found, key=lambda one: strength(one, scale), reverse=True))


def _disjoint(
    hand: tuple[Card, ...], fours: tuple[Declaration, ...]
) -> Iterator[tuple[Declaration, ...]]:
    """The sets in which no card stands twice: some of the carres, and the runs of what is left.

    No run is cut but by a carre: a longer one is never worse, and two pieces of one run are one
    declaration (A24).
    """
    for count in range(len(fours), -1, -1):
        for chosen in combinations(fours, count):
            used = {card for four in chosen for card in four.cards}
            left = tuple([card for card in hand if card not in used])
            yield (*chosen, *sequences(left))


def _worth(chosen: tuple[Declaration, ...], scale: Mapping[str, int]) -> tuple[Strength, int, int]:
    """Which set is kept: by its strongest declaration, its points, its cards (A7)."""
    best = max([strength(one, scale) for one in chosen], default=(-1, 0))
    return best, sum(one.points for one in chosen), sum(len(one.cards) for one in chosen)


def strength(declaration: Declaration, scale: Mapping[str, int]) -> Strength:
    """The stronger declaration has the greater pair; equal ones tie (B14, A8, A9)."""
    if declaration.kind is Kind.CARRE:
        height = -list(scale).index(declaration.top)
    else:
        height = NATURAL_ORDER.index(declaration.top)
    return _KINDS.index(declaration.kind), height


def scoring_side(
    announced: tuple[Announced, ...], contract: Contract, rules: DeclarationRules
) -> int | None:
    """The side that scores its declarations; None when there are none, or nobody scores (N5)."""
    scale = rules.scale(contract.trump)
    best: list[tuple[Strength, bool]] = [((-1, 0), False), ((-1, 0), False)]
    for entry in announced:
        side = side_of(entry.seat)
        for one in entry.found:
            in_trump = one.kind is not Kind.CARRE and one.suit == contract.trump
            best[side] = max(best[side], (strength(one, scale), in_trump))
    (first, first_in_trump), (second, second_in_trump) = best
    if not announced:
        return None
    if first != second:
        return 0 if first > second else 1
    if rules.tie == "taker":
        return contract.side
    if first_in_trump == second_in_trump:
        return None
    return 0 if first_in_trump else 1


def won_points(
    announced: tuple[Announced, ...], contract: Contract, rules: DeclarationRules
) -> tuple[int, int]:
    """What the declarations bring each side: all of one side's, nothing of the other's (B30)."""
    scoring = scoring_side(announced, contract, rules)
    points = sum(
        one.points for entry in announced if side_of(entry.seat) == scoring for one in entry.found
    )
    return (0, points) if scoring == 1 else (points, 0)
