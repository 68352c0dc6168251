"""Belote once more, plain and slow, from the rule book alone: what the engine must agree with."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import chain, combinations

NATURAL = "789TJQKA"
TRUMP = "78QKTA9J"
PLAIN = "789JQKTA"
POINTS = {"A": 11, "T": 10, "K": 4, "Q": 3, "J": 2, "9": 0, "8": 0, "7": 0}
TRUMP_POINTS = {**POINTS, "J": 20, "9": 14}
KINDS = ("tierce", "fifty", "hundred", "carre")
CARRES = {"trump": "J9ATKQ", "no_trump": "ATKQJ9"}  # best first: 200, 150, then 100 each
SUITS = "SHDC"

Declared = tuple[str, frozenset[str], int]  # kind, cards, points


# ---------------------------------------------------------------- tricks


def beats(card: str, other: str, trump: str) -> bool:
    """Whether a card played later beats one that holds the trick."""
    if card[1] == other[1]:
        order = TRUMP if card[1] == trump else PLAIN
        return order.index(card[0]) > order.index(other[0])
    return card[1] == trump


def holder(trick: Iterable[str], trump: str) -> int:
    """The place of the card that holds the trick."""
    cards = list(trick)
    best = 0
    for place, card in enumerate(cards):
        if beats(card, cards[best], trump):
            best = place
    return best


def legal(hand: Iterable[str], trick: tuple[str, ...], trump: str, undertrump: bool) -> set[str]:
    """B6-B11, and B24 where there is no trump: one rule after the other."""
    held = set(hand)
    if not trick:
        return held
    led = trick[0][1]
    follow = {card for card in held if card[1] == led}
    trumps = {card for card in held if card[1] == trump}
    on_table = [card for card in trick if card[1] == trump]
    higher = {card for card in trumps if all(beats(card, lying, trump) for lying in on_table)}
    if led == trump:  # B7
        return higher or follow or held
    if follow:  # B6
        return follow
    if not trumps:  # B11, B24
        return held
    partner = len(trick) - 2
    if partner >= 0 and holder(trick, trump) == partner:  # B8
        return held
    return higher or (trumps if undertrump else held)  # B9, B10


def card_points(cards: Iterable[str], trump: str, ace: int = 11) -> int:
    """B4, B25."""
    plain = {**POINTS, "A": ace}
    return sum((TRUMP_POINTS if card[1] == trump else plain)[card[0]] for card in cards)


# ---------------------------------------------------------------- declarations


def runs(hand: Iterable[str]) -> list[tuple[str, ...]]:
    """Every stretch of three or more cards of a suit in a row, long ones' pieces included."""
    held = set(hand)
    found = []
    for suit in SUITS:
        for low in range(8):
            for high in range(low + 3, 9):
                cards = tuple(rank + suit for rank in NATURAL[low:high])
                if held.issuperset(cards):
                    found.append(cards)
    return found


def candidates(hand: Iterable[str], scale: str) -> list[Declared]:
    """All that could be declared, pieces of runs too."""
    held = set(hand)
    found: list[Declared] = []
    for cards in runs(held):
        kind, points = {3: ("tierce", 20), 4: ("fifty", 50)}.get(len(cards), ("hundred", 100))
        found.append((kind, frozenset(cards), points))
    for place, rank in enumerate(CARRES[scale]):
        four = frozenset(rank + suit for suit in SUITS)
        if four <= held:
            found.append(("carre", four, {0: 200, 1: 150}.get(place, 100)))
    return found


def strength(declared: Declared, scale: str) -> tuple[int, int]:
    """B14: kind first; then the carre's place, or the top card."""
    kind, cards, _ = declared
    if kind == "carre":
        return 3, -CARRES[scale].index(next(iter(cards))[0])
    return KINDS.index(kind), max(NATURAL.index(card[0]) for card in cards)


def of_hand(hand: Iterable[str], scale: str, overlap: bool) -> list[Declared]:
    """What a hand declares (N6, A7, A24), the best first."""
    held = set(hand)
    found = candidates(held, scale)
    whole = [run for run in found if not any(run[1] < other[1] for other in found)]
    if overlap:
        chosen = [one for one in found if one[0] == "carre" or one in whole]
    else:
        chosen = max(
            (list(some) for some in subsets(found) if fits(some, whole)),
            key=lambda some: (
                max((strength(one, scale) for one in some), default=(-1, 0)),
                sum(points for _, _, points in some),
                sum(len(cards) for _, cards, _ in some),
            ),
        )
    return sorted(chosen, key=lambda one: strength(one, scale), reverse=True)


def subsets(found: list[Declared]) -> Iterable[tuple[Declared, ...]]:
    """Up to two: three or more of at least three cards each are in no hand of eight."""
    return chain.from_iterable(combinations(found, count) for count in range(3))


def fits(some: tuple[Declared, ...], whole: list[Declared]) -> bool:
    """No card twice, and no run in two pieces."""
    if len(some) < 2:
        return True
    (_, first, _), (_, second, _) = some
    return not first & second and not any(first | second <= cards for _, cards, _ in whole)


def scoring(
    hands: dict[int, list[Declared]], trump: str, taker: int, scale: str, tie: str
) -> int | None:
    """The side whose declarations score (N5)."""
    best = {}
    for side in (0, 1):
        mine = [one for seat, found in hands.items() if seat % 2 == side for one in found]
        best[side] = max(
            ((strength(one, scale), is_trump(one, trump)) for one in mine), default=None
        )
    if best[0] is None or best[1] is None:
        return 0 if best[0] else 1 if best[1] else None
    if best[0][0] != best[1][0]:
        return 0 if best[0][0] > best[1][0] else 1
    if tie == "taker":
        return taker
    if best[0][1] == best[1][1]:
        return None
    return 0 if best[0][1] else 1


def is_trump(declared: Declared, trump: str) -> bool:
    """Whether it is a sequence in trumps."""
    kind, cards, _ = declared
    return kind != "carre" and next(iter(cards))[1] == trump
