"""What can be got rid of together, and where on the table there is a place for it.

A place is taken up by one use only, so each is a bit, beside the bits of the cards in hand.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Final, NamedTuple, TypeAlias

from kafeneio_games.cards import Card
from kafeneio_games.melds import (
    GROUP_MOST,
    RUN_MOST,
    Kind,
    Meld,
    MeldRules,
    card_at,
    ends_for,
    is_wild,
    numbers,
    run_low,
    stands_for,
    swap_place,
)


class Run(NamedTuple):
    """Natural cards of a suit for a run, by their numbers; wild ones fill it up."""

    suit: str
    numbers: tuple[int, ...]


class Group(NamedTuple):
    """Natural cards for a group; wild ones fill it up."""

    cards: tuple[Card, ...]


class Lay(NamedTuple):
    """Cards to be laid off to meld `number`, one after the other."""

    cards: tuple[Card, ...]
    number: int


class Swap(NamedTuple):
    """A card for a joker of meld `number`."""

    card: Card
    number: int


Step: TypeAlias = Run | Group | Lay | Swap


class Use(NamedTuple):
    """A way to get rid of cards.

    `bits` are the natural cards and the places that it takes, `needed` the wild cards, -1 where it
    brings one, `room` how many more wild ones it could take.
    """

    bits: int
    needed: int
    room: int
    step: Step


LOWER, UPPER, FOURTH, JOKER_OF = 1, 2, 4, 8  # the places of a meld, times its `bit`
PLACES: Final = 4


class _Laid(NamedTuple):
    """A meld; its suit and the numbers of its ends, "" and 0 for a group."""

    number: int
    meld: Meld
    suit: str
    low: int
    high: int
    bit: int


class Table:
    """The melds to which cards may be added; the bits of their places begin with number `first`.

    `room` wild cards can be added, and `jokers` melds hold one that could be taken.
    """

    def __init__(self, melds: Iterable[Meld], rules: MeldRules, first: int) -> None:
        self.rules = rules
        self.laid: list[_Laid] = []
        self.room = self.jokers = 0
        for number, meld in enumerate(melds, 1):
            run = meld.kind is Kind.RUN
            low = run_low(meld, rules) if run else 0
            high = low + len(meld.cards) - 1 if run else 0
            suit = stands_for(meld, rules)[0][1] if run else ""
            bit = 1 << (first + PLACES * len(self.laid))
            self.laid.append(_Laid(number, meld, suit, low, high, bit))
            self.room += (RUN_MOST if run else GROUP_MOST) - len(meld.cards)
            self.jokers += any(is_wild(card, rules) for card in meld.cards)
        self.places = sum(laid.bit * (LOWER | UPPER | FOURTH | JOKER_OF) for laid in self.laid)

    def uses(self, card: Card, bit: int, held: Mapping[Card, int], *, on: bool) -> Iterator[Use]:
        """Lay-offs and swaps of a natural card, beside others of `held`, which are given by bits.

        The card is the last one laid off, or with `on` perhaps one before the last.
        """
        for laid in self.laid:
            if laid.meld.kind is Kind.GROUP:
                if ends_for(laid.meld, card, self.rules):
                    yield Use(bit | laid.bit * FOURTH, 0, 0, Lay((card,), laid.number))
            elif laid.suit == card[1] and len(laid.meld.cards) < RUN_MOST:
                yield from self._chains(laid, card, bit, held, on=on)
            if swap_place(laid.meld, card, self.rules) is not None:
                yield Use(bit | laid.bit * JOKER_OF, -1, 0, Swap(card, laid.number))

    def _chains(
        self, laid: _Laid, card: Card, bit: int, held: Mapping[Card, int], *, on: bool
    ) -> Iterator[Use]:
        """Cards that make a run longer, from its end to `card` and on."""
        for number in numbers(card, self.rules):
            for start, step, end in ((laid.low - 1, -1, LOWER), (laid.high + 1, 1, UPPER)):
                before = [card_at(each, laid.suit) for each in range(start, number, step)]
                if (number - start) * step < 0 or not all(each in held for each in before):
                    continue
                bits = sum([held[each] for each in before], bit | laid.bit * end)
                chain = (*before, card)
                yield Use(bits, 0, 0, Lay(chain, laid.number))
                further = number + step
                while on and 1 <= further <= self.rules.highest:
                    after = card_at(further, laid.suit)
                    if after not in held or held[after] & bits:
                        break
                    bits |= held[after]
                    chain = (*chain, after)
                    yield Use(bits, 0, 0, Lay(chain, laid.number))
                    further += step
