"""Which declarations of pilotta count, and which are better: rules P32-P43.

P35       four of a kind beat every sequence
P36       of two fours the higher: J 9 A T K Q (8 7)
P40       of two sequences the longer, then the one with the higher top, then the one in trumps
P41       equal best calls of both sides: nothing counts
P42       equal best calls of partners are no tie
P33, P34  the side with the best call counts one call of each of its players, the other nothing
"""

from __future__ import annotations

import functools
from collections.abc import Iterable
from typing import Final, TypeAlias

from .cards import Card
from .declarations import CARRE_POINTS, NATURAL_ORDER, Declaration, Kind, carres, sequences
from .trick_play import Announced
from .tricks import side_of

LOW_CARRES: Final = {**CARRE_POINTS, "8": 100, "7": 100}
"""With `low_carres_count` (P37): the lowest of all."""

_CARRE_RANK: Final = {rank: -place for place, rank in enumerate(LOW_CARRES)}
Strength: TypeAlias = tuple[int, int, int, bool]


def strength(call: Declaration, trump: str) -> Strength:
    """Greater for the better call; equal only for sequences that tie (P35, P36, P40)."""
    if call.kind is Kind.CARRE:
        return (1, _CARRE_RANK[call.top], 0, False)
    return (0, len(call.cards), NATURAL_ORDER.index(call.top), call.suit == trump)


@functools.lru_cache(maxsize=1 << 10)
def found(hand: tuple[Card, ...], trump: str, low_carres: bool) -> tuple[Declaration, ...]:
    """All declarations of a hand, the best first; of equal ones the one in the earlier suit."""
    calls = (*carres(hand, LOW_CARRES if low_carres else CARRE_POINTS), *sequences(hand))
    if len(calls) < 2:
        return calls
    return tuple(sorted(calls, key=lambda call: strength(call, trump), reverse=True))


def best_side(announced: Iterable[Announced], trump: str) -> int | None:
    """The side whose declarations count; None when there are none, or the best are equal (P41)."""
    best: dict[int, Strength] = {}
    for entry in announced:
        side, own = side_of(entry.seat), strength(entry.found[0], trump)
        best[side] = max(best.get(side, own), own)
    if len(best) < 2:
        return next(iter(best), None)
    return None if best[0] == best[1] else max(best, key=best.__getitem__)


def counted(entry: Announced, score_all: bool) -> tuple[Declaration, ...]:
    """What one player of that side scores: his best call (P33), or with the switch all of them."""
    return entry.found if score_all else entry.found[:1]


def points(announced: tuple[Announced, ...], trump: str, score_all: bool) -> tuple[int, int]:
    """What the declarations give each side, side 0 first."""
    if not announced:
        return (0, 0)
    side = best_side(announced, trump)
    total = sum(
        call.points
        for entry in announced
        if side_of(entry.seat) == side
        for call in counted(entry, score_all)
    )
    return (total, 0) if side == 0 else (0, total)
