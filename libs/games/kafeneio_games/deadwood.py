"""The best use of a hand: the least that can be left over when everything else is melded (H5, H8).

Exact. The cards are gone through from the first: each is left over, or it is the first card of a
meld. What a meld takes of the hand is a *claim*: its natural cards, the wild cards that it needs
at least, and how many more it could take. So the search knows wild cards only by their number.

No run longer than five places is tried, between its outer natural cards, where one natural card
is enough: a longer one falls into two melds that hold the same natural cards, need no more
wild ones and can take as many.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Final

from .cards import JOKER, Card
from .melds import (
    GROUP_MOST,
    LEAST,
    RUN_MOST,
    Kind,
    Meld,
    MeldRules,
    card_at,
    dressed,
    is_wild,
    numbers,
    sorted_hand,
)

WILD_VALUE: Final = 25
COURT_VALUE: Final = 10
_SPAN_MOST: Final = 5


def value(card: Card, rules: MeldRules, ace: int) -> int:
    """The points of a card left in hand (K24, H9, H10, D4); `ace` is what an ace counts."""
    if is_wild(card, rules):
        return WILD_VALUE
    if card[0] == "A":
        return ace
    return int(card[0]) if card[0].isdecimal() else COURT_VALUE


@dataclass(frozen=True, slots=True)
class Partition:
    """A hand as melds and what is left over, in the order of `sorted_hand`, with its points."""

    melds: tuple[Meld, ...]
    left: tuple[Card, ...]
    deadwood: int


def best_partition(hand: Iterable[Card], rules: MeldRules, ace: int) -> Partition:
    """The partition with the fewest points left over; of equal ones always the same (H8)."""
    return _Search(sorted_hand(hand), rules, ace).best()


def after_discards(hand: Iterable[Card], rules: MeldRules, ace: int) -> dict[Card, int]:
    """For each card of the hand, once: the least deadwood when it has been discarded."""
    search = _Search(sorted_hand(hand), rules, ace)
    return {card: search.least_without(card) for card in dict.fromkeys(sorted_hand(hand))}


def goes_out(hand: Iterable[Card], card: Card, rules: MeldRules) -> bool:
    """Whether the hand without `card`, which it holds, falls wholly into melds (H5)."""
    return _Search(sorted_hand(hand), rules, 1).least_without(card) == 0


@dataclass(frozen=True, slots=True)
class _Claim:
    """Natural cards as bits, the wild cards needed, how many more could go in, and the meld.

    `meld` has a joker in each needed wild place.
    """

    bits: int
    needed: int
    room: int
    meld: Meld


class _Search:
    """One hand: its claims, and what has been found out.

    Twins stand side by side and the second is never taken before the first: `_tidy` sees to that,
    so equal cards double no work.
    """

    def __init__(self, hand: tuple[Card, ...], rules: MeldRules, ace: int) -> None:
        self.rules = rules
        self.naturals = [card for card in hand if not is_wild(card, rules)]
        self.wild = [card for card in hand if is_wild(card, rules)]
        self.values = [value(card, rules, ace) for card in self.naturals]
        pairs = zip(self.naturals, self.naturals[1:], strict=False)
        self.twins = sum(2 << i for i, (a, b) in enumerate(pairs) if a == b)
        self.all = (1 << len(self.naturals)) - 1
        self.claims: list[list[_Claim]] = [[] for _ in self.naturals]
        for claim in self._claims():
            self.claims[_lowest(claim.bits)].append(claim)
        self.found: dict[tuple[int, int, int], int] = {}

    def least_without(self, card: Card) -> int:
        """The least deadwood of the hand less one card."""
        if is_wild(card, self.rules):
            return self._least(self.all, len(self.wild) - 1, 0)
        bit = 1 << self.naturals.index(card)
        return self._least(self._tidy(self.all ^ bit), len(self.wild), 0)

    def best(self) -> Partition:
        """The least deadwood with the melds that leave it, by going the best way again."""
        bits, wild, room = self.all, len(self.wild), 0
        claims: list[_Claim] = []
        left: list[Card] = []
        total = self._least(bits, wild, room)
        while bits:
            least = self._least(bits, wild, room)
            for claim in self.claims[_lowest(bits)]:
                after = self._after(bits, wild, room, claim)
                if after is not None and self._least(*after) == least:
                    claims.append(claim)
                    bits, wild, room = after
                    break
            else:
                left.append(self.naturals[_lowest(bits)])
                bits = self._tidy(bits & (bits - 1))
        bare = list(self._filled(claims, wild))
        used = sum(meld.cards.count(JOKER) for meld in bare)
        melds = dressed(bare, self.wild)
        return Partition(melds, sorted_hand((*left, *self.wild[used:])), total)

    def _least(self, bits: int, wild: int, room: int) -> int:
        """The least deadwood of the natural cards in `bits` and `wild` wild ones.

        The melds made so far can take `room` of those that no further meld needs.
        """
        if not bits:
            return WILD_VALUE * (wild - room)
        key = (bits, wild, room)
        known = self.found.get(key)
        if known is not None:
            return known
        first = _lowest(bits)
        least = WILD_VALUE * wild + sum(self.values)
        for claim in self.claims[first]:
            after = self._after(bits, wild, room, claim)
            if after is not None:
                least = min(least, self._least(*after))
                if not least:
                    break
        if least > self.values[first]:
            rest = self._least(self._tidy(bits & (bits - 1)), wild, room)
            least = min(least, self.values[first] + rest)
        self.found[key] = least
        return least

    def _after(self, bits: int, wild: int, room: int, claim: _Claim) -> tuple[int, int, int] | None:
        if claim.bits & ~bits or claim.needed > wild:
            return None
        wild -= claim.needed
        return self._tidy(bits ^ claim.bits), wild, min(wild, room + claim.room)

    def _tidy(self, bits: int) -> int:
        """The second of twins becomes the first where that is gone."""
        moved = bits & self.twins & ~(bits << 1)
        return bits ^ moved ^ moved >> 1

    # ------------------------------------------------------------ claims

    def _claims(self) -> Iterator[_Claim]:
        rules, wild = self.rules, len(self.wild)
        at = {card: 1 << self.naturals.index(card) for card in self.naturals}
        for suit in dict.fromkeys(card[1] for card in at):
            places = sorted(
                (number, bit)
                for card, bit in at.items()
                if card[1] == suit
                for number in numbers(card, rules)
            )
            yield from _run_claims(places, suit, wild, rules)
        for rank in dict.fromkeys(card[0] for card in at):
            suited = [card for card in at if card[0] == rank]
            # A single natural card is better off in a run, which has more room.
            for size in range(2, len(suited) + 1):
                for cards in combinations(suited, size):
                    needed = max(0, LEAST - size)
                    if needed <= wild:
                        bits = sum(at[card] for card in cards)
                        meld = Meld(Kind.GROUP, (*cards, *[JOKER] * needed))
                        yield _Claim(bits, needed, GROUP_MOST - size - needed, meld)

    def _filled(self, claims: Sequence[_Claim], wild: int) -> Iterator[Meld]:
        """The melds, with the wild cards that are left over going where there is room."""
        for claim in claims:
            more = min(wild, claim.room)
            wild -= more
            cards = claim.meld.cards
            if claim.meld.kind is Kind.RUN:
                high = min(more, self.rules.highest - self._last_place(claim))
                yield Meld(Kind.RUN, (*[JOKER] * (more - high), *cards, *[JOKER] * high))
            else:
                yield Meld(Kind.GROUP, (*cards, *[JOKER] * more))

    def _last_place(self, claim: _Claim) -> int:
        """The number of the last place of a run with its needed cards only."""
        cards = claim.meld.cards
        place, card = next((i, card) for i, card in enumerate(cards) if card != JOKER)
        for number in numbers(card, self.rules):
            last = number - place + len(cards) - 1
            if number > place and last <= self.rules.highest and self._reads(cards, number - place):
                return last
        raise AssertionError("a claim is a run")

    def _reads(self, cards: Sequence[Card], low: int) -> bool:
        return all(
            card == JOKER or low + i in numbers(card, self.rules) for i, card in enumerate(cards)
        )


def _run_claims(
    places: Sequence[tuple[int, int]], suit: str, wild: int, rules: MeldRules
) -> Iterator[_Claim]:
    """Of one suit; `places` are numbers and bits, from low to high, an ace's perhaps twice."""
    longest = _SPAN_MOST if rules.naturals_least == 1 else RUN_MOST
    for i, first in enumerate(places):
        within = [place for place in places[i + 1 :] if place[0] - first[0] < longest]
        for size in range(len(within) + 1):
            for others in combinations(within, size):
                chosen = (first, *others)
                span = chosen[-1][0] - first[0] + 1
                needed = max(LEAST, span) - len(chosen)
                if needed <= wild and len(chosen) >= rules.naturals_least:
                    bits = sum(bit for _, bit in chosen)
                    meld = _run(dict(chosen), first[0], max(LEAST, span), suit, rules)
                    yield _Claim(bits, needed, RUN_MOST - len(chosen) - needed, meld)


def _run(held: dict[int, int], low: int, length: int, suit: str, rules: MeldRules) -> Meld:
    low = min(low, rules.highest + 1 - length)
    places = range(low, low + length)
    return Meld(Kind.RUN, tuple([card_at(n, suit) if n in held else JOKER for n in places]))


def _lowest(bits: int) -> int:
    return (bits & -bits).bit_length() - 1
