"""The best use of a hand: melds and lay-offs that leave the fewest points, exactly.

Natural cards are bits, wild ones a number.  The cards are gone through from the first: each is part
of a use, or stays in hand, or is the one that is discarded.  All questions about one hand, also
with a card more or less, share one memory; so many of them are cheap.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import combinations
from typing import Final

from kafeneio_games.cards import Card
from kafeneio_games.deadwood import WILD_VALUE, value
from kafeneio_games.melds import (
    GROUP_MOST,
    LEAST,
    RUN_MOST,
    Meld,
    MeldRules,
    is_wild,
    numbers,
    sorted_hand,
)

from .rummy_table import Group, Run, Table, Use

NEVER: Final = 1 << 20
"""Points of what cannot be: no card is left to discard."""

SPAN: Final = 5
"""Places of the longest run that is looked at; a longer one falls into two (see `deadwood`)."""


class Cover:
    """A hand, and the melds on the table if its owner may lay off.

    A natural card that stays counts its points and `surcharge`, a wild one `idle`.  `barred` may
    not be discarded.
    """

    def __init__(
        self,
        hand: Iterable[Card],
        rules: MeldRules,
        ace: int,
        melds: Sequence[Meld] = (),
        *,
        surcharge: int = 0,
        idle: int = WILD_VALUE,
        barred: Card | None = None,
    ) -> None:
        cards = sorted_hand(hand)
        self.rules, self.ace, self.surcharge, self.idle = rules, ace, surcharge, idle
        self.wild = sum(is_wild(card, rules) for card in cards)
        self.naturals = [card for card in cards if not is_wild(card, rules)]
        self._values = [self._value(card) for card in self.naturals]
        pairs = zip(self.naturals, self.naturals[1:], strict=False)
        self._twins = sum(2 << place for place, (one, two) in enumerate(pairs) if one == two)
        self._all = (1 << len(self.naturals)) - 1
        self._drawn = self._all + 1  # the bit of a card that is drawn
        self._bit = {card: 1 << self.naturals.index(card) for card in self.naturals}
        self._barred = self._bit.get(barred, 0) if barred else 0
        self._wild_barred = barred is not None and is_wild(barred, rules)
        self._table = Table(melds, rules, len(self.naturals) + 1)
        # More room than there can be wild cards is no use, and would be told apart in vain.
        self._room_most = self.wild + 1 + self._table.jokers
        self._room = min(self._room_most, self._table.room)
        self._uses: list[list[Use]] = [[] for _ in self.naturals]
        for use in self._all_uses():
            self._uses[_lowest(use.bits)].append(use)
        self._uses_drawn: dict[Card, list[Use]] = {}
        self._found: dict[tuple[int, int, int, bool], int] = {}

    # ------------------------------------------------------------ questions

    def whole(self) -> tuple[int, int]:
        """All of the hand: the bits of its natural cards and of all places, and its wild cards."""
        return self._all | self._table.places, self.wild

    def less(self, card: Card) -> tuple[int, int]:
        """The hand without a card that it holds."""
        bits, wild = self.whole()
        if card in self._bit:
            return self._tidy(bits ^ self._bit[card]), wild
        return bits, wild - 1

    def left(self, bits: int, wild: int) -> int:
        """The least that stays in hand when nothing is discarded."""
        return self._least(bits, wild, self._room, free=False)

    def left_after_discard(self, bits: int, wild: int) -> int:
        """The least that stays when one card is discarded; `NEVER` if none can be."""
        return self._least(bits, wild, self._room, free=True)

    def left_with(self, card: Card, bits: int, wild: int, *, kept: bool = False) -> int:
        """`left_after_discard` with one more card; with `kept` a natural one is not discarded."""
        if is_wild(card, self.rules):
            return self.left_after_discard(bits, wild + 1)
        least = self._value(card) + self.left_after_discard(bits, wild)
        if not kept:
            least = min(least, self.left(bits, wild))
        if card not in self._uses_drawn:
            self._uses_drawn[card] = list(self._uses_of_drawn(card))
        for use in self._uses_drawn[card]:
            after = self._after(bits | self._drawn, wild, self._room, use)
            if after is not None:
                least = min(least, self._least(*after, free=True))
        return least

    def best(self, wild: int) -> list[Use]:
        """Uses of the hand, with so many of its wild cards, that leave least after a discard."""
        bits, room, free = self._all | self._table.places, self._room, True
        uses: list[Use] = []
        while bits & self._all:
            least = self._least(bits, wild, room, free=free)
            first = _lowest(bits)
            for use in self._uses[first]:
                after = self._after(bits, wild, room, use)
                if after is not None and self._least(*after, free=free) == least:
                    uses.append(use)
                    bits, wild, room = after
                    break
            else:
                bits = self._tidy(bits & (bits - 1))
                kept = self._values[first] + self._least(bits, wild, room, free=free)
                free = free and kept == least
        return uses

    # ------------------------------------------------------------ the search

    def _least(self, bits: int, wild: int, room: int, *, free: bool) -> int:
        """The least that stays; `room` wild cards have a place, with `free` one is discarded."""
        if not bits & self._all:
            idle = max(0, wild - room)
            if not free:
                return self.idle * idle
            return self.idle * max(0, idle - 1) if wild > self._wild_barred else NEVER
        key = (bits, wild, room, free)
        known = self._found.get(key)
        if known is not None:
            return known
        first = _lowest(bits)
        rest = self._tidy(bits & (bits - 1))
        least = NEVER
        if free and not self._barred >> first & 1:
            least = self._least(rest, wild, room, free=False)
        for use in self._uses[first]:
            after = self._after(bits, wild, room, use) if least else None
            if after is not None:
                least = min(least, self._least(*after, free=free))
        if least > self._values[first]:
            least = min(least, self._values[first] + self._least(rest, wild, room, free=free))
        self._found[key] = least
        return least

    def _after(self, bits: int, wild: int, room: int, use: Use) -> tuple[int, int, int] | None:
        if use.bits & ~bits or use.needed > wild:
            return None
        room = min(self._room_most, room + use.room)
        return self._tidy(bits ^ use.bits), wild - use.needed, room

    def _tidy(self, bits: int) -> int:
        """Of twins the first is there as long as one is."""
        moved = bits & self._twins & ~(bits << 1)
        return bits ^ moved ^ moved >> 1

    def _value(self, card: Card) -> int:
        return self.surcharge + value(card, self.rules, self.ace)

    # ------------------------------------------------------------ uses

    def _all_uses(self) -> Iterator[Use]:
        later = dict(self._bit)
        for card, bit in self._bit.items():
            del later[card]
            yield from self._melds(card, bit, later, self.wild + 1)
            yield from self._table.uses(card, bit, self._bit, on=False)

    def _uses_of_drawn(self, card: Card) -> Iterator[Use]:
        held = {each: bit for each, bit in self._bit.items() if each != card}
        yield from self._melds(card, self._drawn, held, self.wild)
        yield from self._table.uses(card, self._drawn, held, on=True)

    def _melds(self, card: Card, bit: int, others: Mapping[Card, int], wild: int) -> Iterator[Use]:
        """The melds of a natural card and some of the others."""
        yield from _groups(card, bit, others, wild)
        least = self.rules.naturals_least
        span = SPAN if least == 1 else RUN_MOST
        for number in numbers(card, self.rules):
            near = [
                (each, held)
                for other, held in others.items()
                if other[1] == card[1]
                for each in numbers(other, self.rules)
                if each != number and abs(each - number) < span
            ]
            for size in range(least - 1, len(near) + 1):
                for chosen in combinations(near, size):
                    run = sorted((number, *[each for each, _ in chosen]))
                    length = run[-1] - run[0] + 1
                    needed = max(LEAST, length) - len(run)
                    bits = sum({held for _, held in chosen}, bit)
                    once = bits.bit_count() == len(run)  # an ace is not above and below
                    if once and length <= span and needed <= wild:
                        room = RUN_MOST - len(run) - needed
                        yield Use(bits, needed, room, Run(card[1], tuple(run)))


def _groups(card: Card, bit: int, others: Mapping[Card, int], wild: int) -> Iterator[Use]:
    near = [
        (other, held)
        for other, held in others.items()
        if other[0] == card[0] and other[1] != card[1]
    ]
    # A card alone among wild ones is better off in a run, which has more room.
    for size in range(1, len(near) + 1):
        needed = max(0, LEAST - 1 - size)
        if needed <= wild:
            for chosen in combinations(near, size):
                bits = sum([held for _, held in chosen], bit)
                cards = (card, *[other for other, _ in chosen])
                yield Use(bits, needed, GROUP_MOST - len(cards) - needed, Group(cards))


def _lowest(bits: int) -> int:
    return (bits & -bits).bit_length() - 1
