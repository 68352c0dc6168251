"""Runs and groups, jokers in them, and what can be added to them: rules K5-K10, K12, K17, K33.

    K5      the ace is low: A-2-3 is a run, Q-K-A and K-A-2 are none (unless `ace_high`)
    K6      a run is 3 to 13 cards of one suit that follow one another
    K7      a group is 3 or 4 cards of one rank, all suits different, jokers counted
    K8      any number of jokers, but at least one natural card (two with `two_naturals`)
    K9      in a run a joker stands for its position, in a group for any missing suit
    K10     a natural card may take the place of the joker that stands for it
    K12     what is melded never moves
    K17     to a group of 4 and a run of 13 nothing can be added

A wild card is a joker or a card of a wild rank (H1, D1). It is never natural, not even where it
stands for itself (H11, D3). All wild cards are alike: a function that chooses wild cards from a
hand takes them in the order of `sorted_hand`.
"""

from __future__ import annotations

import enum
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Final

from .cards import JOKER, SUITS, Card
from .game import Illegal

ORDER: Final = "A23456789TJQK"
"""The ranks from low to high (K5); a rank's number is its place here, from 1."""

LEAST: Final = 3
RUN_MOST: Final = 13
GROUP_MOST: Final = 4
ACE_HIGH: Final = 14
"""The number of an ace above the king."""


class Kind(enum.Enum):
    """What a meld is."""

    RUN = "run"
    GROUP = "group"


class End(enum.Enum):
    """Where a run grows."""

    LOW = "low"
    HIGH = "high"


@dataclass(frozen=True, slots=True)
class MeldRules:
    """The house rules of melds.

    `wild_ranks` are ranks beside the printed jokers, "5" or "25"; `ace_high` lets the ace stand
    above the king too (K5); `two_naturals` asks for two natural cards in each meld (K8).
    """

    wild_ranks: str = ""
    ace_high: bool = False
    two_naturals: bool = False

    @property
    def naturals_least(self) -> int:
        """How many natural cards a meld needs."""
        return 2 if self.two_naturals else 1

    @property
    def highest(self) -> int:
        """The highest number in a run: 13, or 14 for an ace above the king."""
        return ACE_HIGH if self.ace_high else len(ORDER)


@dataclass(frozen=True, slots=True)
class Meld:
    """A run from low to high with its jokers in their places, or a group.

    A group has its natural cards in the order spades, hearts, diamonds, clubs, then its jokers.
    """

    kind: Kind
    cards: tuple[Card, ...]


# ---------------------------------------------------------------- cards


def is_wild(card: Card, rules: MeldRules) -> bool:
    """Whether the card is a joker, printed or by its rank."""
    return card == JOKER or card[0] in rules.wild_ranks


def sorted_hand(cards: Iterable[Card]) -> tuple[Card, ...]:
    """By suits (spades, hearts, diamonds, clubs), each from the ace up; jokers last."""
    return tuple(sorted(cards, key=_place))


def _place(card: Card) -> tuple[int, int]:
    return (len(SUITS), 0) if card == JOKER else (SUITS.index(card[1]), ORDER.index(card[0]))


def numbers(card: Card, rules: MeldRules) -> tuple[int, ...]:
    """The places that a natural card may have in a run: its number, for an ace perhaps also 14."""
    number = ORDER.index(card[0]) + 1
    return (number, ACE_HIGH) if number == 1 and rules.ace_high else (number,)


def card_at(number: int, suit: str) -> Card:
    """The card that a place in a run stands for."""
    return Card(ORDER[(number - 1) % len(ORDER)] + suit)


def without(hand: tuple[Card, ...], cards: Iterable[Card]) -> tuple[Card, ...] | None:
    """The hand less those cards, None if it does not hold them all."""
    left = list(hand)
    for card in cards:
        if card not in left:
            return None
        left.remove(card)
    return tuple(left)


# ---------------------------------------------------------------- is it a meld?


def check(meld: Meld, rules: MeldRules) -> None:
    """`Illegal` with the rule (K5-K8) by which it is no meld; also if a group is out of order."""
    if meld.kind is Kind.RUN:
        run_low(meld, rules)
        return
    naturals = _naturals(meld.cards, rules)
    if not LEAST <= len(meld.cards) <= GROUP_MOST:
        raise Illegal("K7", "a group has three or four cards")
    if len({card[0] for card in naturals}) > 1:
        raise Illegal("K7", "a group is of one rank")
    if len(set(naturals)) < len(naturals):
        raise Illegal("K7", "the suits of a group are all different")
    if meld.cards != _group(meld.cards, rules).cards:
        raise Illegal("K7", "a group is laid as spades, hearts, diamonds, clubs, jokers last")


def run_low(meld: Meld, rules: MeldRules) -> int:
    """The number of a run's first place; `Illegal` (K5, K6, K8) if it is no run."""
    cards = meld.cards
    if not LEAST <= len(cards) <= RUN_MOST:
        raise Illegal("K6", "a run has three to thirteen cards")
    naturals = _naturals(cards, rules)
    if len({card[1] for card in naturals}) > 1:
        raise Illegal("K6", "a run is of one suit")
    place = cards.index(naturals[0])
    for number in numbers(naturals[0], rules):
        low = number - place
        if 1 <= low <= rules.highest + 1 - len(cards) and all(
            is_wild(card, rules) or low + i in numbers(card, rules) for i, card in enumerate(cards)
        ):
            return low
    around = ORDER.index(naturals[0][0]) - place
    if all(
        is_wild(card, rules) or ORDER.index(card[0]) == (around + i) % len(ORDER)
        for i, card in enumerate(cards)
    ):
        raise Illegal("K5", "no run goes on from the king to the ace and beyond")
    raise Illegal("K6", "the cards of a run follow one another, from low to high")


def stands_for(meld: Meld, rules: MeldRules) -> tuple[Card, ...]:
    """What each card of a valid meld stands for; a group's joker, for any missing suit, is "*"."""
    if meld.kind is Kind.GROUP:
        return tuple(JOKER if is_wild(card, rules) else card for card in meld.cards)
    low, suit = run_low(meld, rules), _suit(meld, rules)
    return tuple(card_at(low + place, suit) for place in range(len(meld.cards)))


def _naturals(cards: Sequence[Card], rules: MeldRules) -> list[Card]:
    naturals = [card for card in cards if not is_wild(card, rules)]
    if len(naturals) < rules.naturals_least:
        raise Illegal("K8", f"a meld needs natural cards, at least {rules.naturals_least}")
    return naturals


def _suit(meld: Meld, rules: MeldRules) -> str:
    return _naturals(meld.cards, rules)[0][1]


def _group(cards: Iterable[Card], rules: MeldRules) -> Meld:
    """A group in its order."""
    in_order = sorted(sorted_hand(cards), key=lambda card: is_wild(card, rules))
    return Meld(Kind.GROUP, tuple(in_order))


# ---------------------------------------------------------------- adding to a meld


def ends_for(meld: Meld, card: Card, rules: MeldRules) -> tuple[End | None, ...]:
    """How `card` may be laid off to a valid meld: the `end` that `laid_off` takes, () for nowhere.

    A joker's end of a run is always said, a natural card's only where it fits both (an ace, with
    `ace_high`); otherwise, and in a group, it is None.
    """
    wild = is_wild(card, rules)
    if meld.kind is Kind.GROUP:
        naturals = _naturals(meld.cards, rules)
        fits = wild or (card[0] == naturals[0][0] and card not in naturals)
        return (None,) if fits and len(meld.cards) < GROUP_MOST else ()
    if len(meld.cards) == RUN_MOST:
        return ()
    low, suit = run_low(meld, rules), _suit(meld, rules)
    places = ((End.LOW, low - 1), (End.HIGH, low + len(meld.cards)))
    ends = tuple(
        end
        for end, number in places
        if 1 <= number <= rules.highest
        and (wild or (card[1] == suit and number in numbers(card, rules)))
    )
    return ends if wild or len(ends) != 1 else (None,)


def laid_off(meld: Meld, card: Card, end: End | None, rules: MeldRules) -> Meld:
    """The meld with that card added; `Illegal` (K17, K9, K6, K7) where it cannot be."""
    ends = ends_for(meld, card, rules)
    group = meld.kind is Kind.GROUP
    if end not in ends:
        if len(meld.cards) == (GROUP_MOST if group else RUN_MOST):
            raise Illegal("K17", "nothing can be added to a full meld")
        if ends:
            raise Illegal("K9", "the end of a run is said exactly where a card fits more than one")
        raise Illegal("K7" if group else "K6", "the card does not fit there")
    if group:
        return _group((*meld.cards, card), rules)
    first = run_low(meld, rules) - 1
    low = end is End.LOW or (end is None and first >= 1 and first in numbers(card, rules))
    cards = (card, *meld.cards) if low else (*meld.cards, card)
    return Meld(Kind.RUN, cards)


def swapped(meld: Meld, card: Card, rules: MeldRules) -> tuple[Meld, Card]:
    """The meld with `card` in place of the joker that stands for it, and that joker (K10).

    `Illegal` (K10) if the card is itself a joker or no joker stands for it.
    """
    if is_wild(card, rules):
        raise Illegal("K10", "only a natural card takes the place of a joker")
    place = swap_place(meld, card, rules)
    if place is None:
        raise Illegal("K10", "no joker stands for that card there")
    cards = (*meld.cards[:place], card, *meld.cards[place + 1 :])
    after = Meld(Kind.RUN, cards) if meld.kind is Kind.RUN else _group(cards, rules)
    return after, meld.cards[place]


def swap_place(meld: Meld, card: Card, rules: MeldRules) -> int | None:
    """Where in a valid meld a joker stands for `card`, from 0; None if nowhere, or for a joker."""
    if is_wild(card, rules):
        return None
    wild = [i for i, held in enumerate(meld.cards) if is_wild(held, rules)]
    if meld.kind is Kind.GROUP:
        naturals = _naturals(meld.cards, rules)
        fits = card[0] == naturals[0][0] and card not in naturals
        return wild[0] if fits and wild else None
    if card[1] != _suit(meld, rules):
        return None
    low = run_low(meld, rules)
    places = [number - low for number in numbers(card, rules) if number - low in wild]
    return places[0] if places else None


# ---------------------------------------------------------------- the melds in a hand


def single_melds(hand: Iterable[Card], rules: MeldRules) -> Iterator[Meld]:
    """Every meld that cards of the hand make, once, lazily: runs by suit and lowest place, groups.

    Where a card is held a joker may stand for it all the same.
    """
    naturals, wild = _parted(hand, rules)
    for meld in _bare_melds(naturals, len(wild), rules):
        yield dressed((meld,), wild)[0]


def openings(hand: Iterable[Card], rules: MeldRules) -> Iterator[tuple[Meld, ...]]:
    """Every set of one or more melds that the hand makes at the same time, once, lazily."""
    naturals, wild = _parted(hand, rules)
    melds = tuple(_bare_melds(naturals, len(wild), rules))
    held = naturals + Counter({JOKER: len(wild)})
    for chosen in _disjoint(melds, 0, held):
        yield dressed(chosen, wild)


def _disjoint(
    melds: tuple[Meld, ...], first: int, held: Counter[Card]
) -> Iterator[tuple[Meld, ...]]:
    for place in range(first, len(melds)):
        meld = melds[place]
        left = held.copy()
        left.subtract(meld.cards)
        if min(left.values()) >= 0:
            yield (meld,)
            for others in _disjoint(melds, place, left):  # from here: two packs hold twins
                yield (meld, *others)


def dressed(melds: Iterable[Meld], wild: Sequence[Card]) -> tuple[Meld, ...]:
    """The melds with these wild cards, one after the other, where they have jokers."""
    supply = iter(wild)
    return tuple(
        Meld(meld.kind, tuple([next(supply) if card == JOKER else card for card in meld.cards]))
        for meld in melds
    )


def _parted(hand: Iterable[Card], rules: MeldRules) -> tuple[Counter[Card], tuple[Card, ...]]:
    """The natural cards, and the wild ones in order."""
    cards = sorted_hand(hand)
    wild = tuple(card for card in cards if is_wild(card, rules))
    return Counter(card for card in cards if not is_wild(card, rules)), wild


def _bare_melds(naturals: Counter[Card], wild: int, rules: MeldRules) -> Iterator[Meld]:
    """All melds, with "*" for every wild card."""
    for suit in SUITS:
        held = {n for card in naturals if card[1] == suit for n in numbers(card, rules)}
        for low in range(1, rules.highest + 2 - LEAST):
            yield from _runs(low, (), held, suit, wild, rules)
    for rank in ORDER:
        suited = [card for suit in SUITS if (card := Card(rank + suit)) in naturals]
        for size in range(rules.naturals_least, len(suited) + 1):
            for cards in combinations(suited, size):
                for jokers in range(max(0, LEAST - size), min(wild, GROUP_MOST - size) + 1):
                    yield Meld(Kind.GROUP, (*cards, *[JOKER] * jokers))


def _runs(
    low: int, cards: tuple[Card, ...], held: set[int], suit: str, wild: int, rules: MeldRules
) -> Iterator[Meld]:
    """The runs that begin with `cards` at `low`; `held` are the numbers in hand."""
    if len(cards) >= LEAST and len(cards) - cards.count(JOKER) >= rules.naturals_least:
        yield Meld(Kind.RUN, cards)
    number = low + len(cards)
    if number > rules.highest or len(cards) == RUN_MOST:
        return
    if number in held:
        yield from _runs(low, (*cards, card_at(number, suit)), held, suit, wild, rules)
    if wild:
        yield from _runs(low, (*cards, JOKER), held, suit, wild - 1, rules)
