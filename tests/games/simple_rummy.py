"""Rummy a second time, plain and slow, for the tests to agree with.

Cards are texts, a meld is "run 4C*6C" or "group KSKD*", an action is its notation.  Everything is
found by trying all that can be written.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cache
from itertools import combinations, product

NAMES = "A23456789TJQKA"
SUITS = "SHDC"


@dataclass(frozen=True)
class Rules:
    """House rules; `wild` are the wild ranks."""

    wild: str = ""
    ace_high: bool = False
    least: int = 1
    same_discard: bool = False
    must_use: bool = False


def wild(card: str, rules: Rules) -> bool:
    """A joker, by print or by rank."""
    return card == "*" or card[0] in rules.wild


def is_run(cards: Sequence[str], rules: Rules) -> bool:
    """In this order, from low to high."""
    if not 3 <= len(cards) <= 13 or sum(not wild(card, rules) for card in cards) < rules.least:
        return False
    top = 14 if rules.ace_high else 13
    return any(
        all(wild(card, rules) or card == NAMES[low + i] + suit for i, card in enumerate(cards))
        for suit in SUITS
        for low in range(top + 1 - len(cards))
    )


def is_group(cards: Sequence[str], rules: Rules) -> bool:
    """In any order."""
    naturals = [card for card in cards if not wild(card, rules)]
    return (
        3 <= len(cards) <= 4
        and len(naturals) >= rules.least
        and len({card[0] for card in naturals}) == 1
        and len({card[1] for card in naturals}) == len(naturals)
    )


# ---------------------------------------------------------------- deadwood


def melds_somehow(cards: Sequence[str], rules: Rules) -> bool:
    """Whether these cards make one meld, in some order."""
    if is_group(cards, rules):
        return True
    naturals = [card for card in cards if not wild(card, rules)]
    if not 3 <= len(cards) <= 13 or len(naturals) < rules.least:
        return False
    top = 14 if rules.ace_high else 13
    for suit, low in product(SUITS, range(top + 1 - len(cards))):
        window = [NAMES[low + i] + suit for i in range(len(cards))]
        if len(set(naturals)) == len(naturals) and set(naturals) <= set(window):
            return True
    return False


def points(card: str, rules: Rules, ace: int) -> int:
    """What it counts in hand."""
    if wild(card, rules):
        return 25
    return {"A": ace, "T": 10, "J": 10, "Q": 10, "K": 10}.get(card[0]) or int(card[0])


def least_deadwood(hand: Sequence[str], rules: Rules, ace: int) -> int:
    """Over all ways to part the hand."""
    n = len(hand)
    cards = [[hand[i] for i in range(n) if bits >> i & 1] for bits in range(1 << n)]
    melds = [bits for bits in range(1 << n) if melds_somehow(cards[bits], rules)]

    @cache
    def least(bits: int) -> int:
        if not bits:
            return 0
        first = bits & -bits
        found = points(cards[first][0], rules, ace) + least(bits ^ first)
        for meld in melds:
            if meld & first and not meld & ~bits:
                found = min(found, least(bits ^ meld))
        return found

    return least((1 << n) - 1)


# ---------------------------------------------------------------- melds in a hand


def less(hand: Sequence[str], cards: Sequence[str]) -> tuple[str, ...] | None:
    """The hand without those cards, None if it has not got them."""
    left = list(hand)
    for card in cards:
        if card not in left:
            return None
        left.remove(card)
    return tuple(left)


def single_melds(hand: Sequence[str], rules: Rules) -> set[str]:
    """With printed jokers only."""
    found = set()
    top = 14 if rules.ace_high else 13
    jokers = hand.count("*")
    for suit, length in product(SUITS, range(3, min(13, len(hand)) + 1)):
        for low in range(top + 1 - length):
            window = [NAMES[low + i] + suit for i in range(length)]
            for number in range(jokers + 1):
                for places in combinations(range(length), number):
                    run = ["*" if i in places else card for i, card in enumerate(window)]
                    if less(hand, run) is not None and is_run(run, rules):
                        found.add(f"run {''.join(run)}")
    for rank, number in product(NAMES[:13], range(jokers + 1)):
        for size in range(1, 5):
            for suits in combinations(SUITS, size):
                group = [rank + suit for suit in suits] + ["*"] * number
                if less(hand, group) is not None and is_group(group, rules):
                    found.add(f"group {''.join(group)}")
    return found


def cut(text: str) -> tuple[str, ...]:
    """ "4C*6C" as cards."""
    cards: list[str] = []
    for letter in text:
        if cards and len(cards[-1]) == 1 and cards[-1] != "*":
            cards[-1] += letter
        else:
            cards.append(letter)
    return tuple(cards)


# ---------------------------------------------------------------- a hand of Koum-kan


@dataclass(frozen=True)
class Position:
    """Two to four players in a hand; a table meld is its owner, its kind and its cards."""

    hands: tuple[tuple[str, ...], ...]
    table: tuple[tuple[int, str, tuple[str, ...]], ...]
    stock: tuple[str, ...]
    pile: tuple[str, ...]
    mover: int
    drawn: bool
    taken: str = ""
    owed: int = 0


def moves(position: Position, rules: Rules) -> Iterator[tuple[str, Position]]:
    """All that the mover can do, with what comes of it; the stock must not be empty."""
    hand, mover = position.hands[position.mover], position.mover
    if not hand or any(not each for each in position.hands):
        return
    if not position.drawn:
        drawn = replace(position, drawn=True)
        yield (
            "draw",
            replace(with_hand(drawn, (*hand, position.stock[0])), stock=position.stock[1:]),
        )
        if position.pile:
            top = position.pile[-1]
            taken = with_hand(drawn, (*hand, top))
            yield "take", replace(taken, pile=position.pile[:-1], taken=top)
        return
    for text, after in steps(position, rules):
        if finishes(after, rules):
            yield text, after
    for card in discards(position, rules):
        left = less(hand, (card,))
        assert left is not None
        after = with_hand(position, left)
        after = replace(after, pile=(*after.pile, card), taken="", drawn=False)
        yield f"discard {card}", replace(after, mover=(mover + 1) % len(position.hands))


def with_hand(position: Position, hand: tuple[str, ...]) -> Position:
    hands = list(position.hands)
    hands[position.mover] = tuple(sorted(hand))
    return replace(position, hands=tuple(hands))


def discards(position: Position, rules: Rules) -> set[str]:
    return set() if position.owed else kept(position, rules)


def kept(position: Position, rules: Rules) -> set[str]:
    """What may be discarded but for a joker that is owed."""
    hand = position.hands[position.mover]
    return {
        card
        for card in hand
        if rules.same_discard or card != position.taken or hand.count(card) > 1
    }


def finishes(position: Position, rules: Rules) -> bool:
    """A card is kept, and some way of playing on uses the jokers owed."""
    if not kept(position, rules):
        return False
    if not position.owed:
        return True
    return any(finishes(after, rules) for _, after in steps(position, rules))


def steps(position: Position, rules: Rules) -> Iterator[tuple[str, Position]]:
    """Melds, lay-offs and swaps that leave a card, whatever comes after."""
    hand, mover = position.hands[position.mover], position.mover
    for meld in sorted(single_melds(hand, rules)):
        kind, _, text = meld.partition(" ")
        left = less(hand, cut(text))
        if left:
            table = (*position.table, (mover, kind, cut(text)))
            yield f"meld {meld}", used(replace(position, table=table), cut(text), left)
    if all(owner != mover for owner, _, _ in position.table):
        return
    for card in sorted(set(hand)):
        left = less(hand, (card,))
        assert left is not None
        for number in range(1, len(position.table) + 1):
            if left:
                for end, grown in grown_melds(position.table[number - 1], card, rules):
                    text = f"lay {card} {number}{end}"
                    yield text, used(put(position, number, grown), (card,), left)
            if card != "*":
                for swapped in swapped_melds(position.table[number - 1], card, rules):
                    after = used(put(position, number, swapped), (card,), (*left, "*"))
                    owed = after.owed + (1 if rules.must_use else 0)
                    yield f"swap {card} {number}", replace(after, owed=owed)
                    break


def used(position: Position, cards: Sequence[str], left: tuple[str, ...]) -> Position:
    taken = "" if position.taken in cards else position.taken
    owed = max(0, position.owed - list(cards).count("*"))
    return replace(with_hand(position, left), taken=taken, owed=owed)


Laid = tuple[int, str, tuple[str, ...]]


def put(position: Position, number: int, cards: tuple[str, ...]) -> Position:
    table = list(position.table)
    owner, kind, _ = table[number - 1]
    table[number - 1] = (owner, kind, cards)
    return replace(position, table=tuple(table))


def grown_melds(laid: Laid, card: str, rules: Rules) -> list[tuple[str, tuple[str, ...]]]:
    """The end that is said, and the meld."""
    _, kind, cards = laid
    if kind == "group":
        grown = (*cards, card)
        return [("", in_order(grown))] if is_group(grown, rules) else []
    ends = [(" low", (card, *cards)), (" high", (*cards, card))]
    found = [(end, grown) for end, grown in ends if is_run(grown, rules)]
    if card != "*" and len(found) == 1:
        return [("", found[0][1])]
    return found


def swapped_melds(laid: Laid, card: str, rules: Rules) -> Iterator[tuple[str, ...]]:
    _, kind, cards = laid
    for place, held in enumerate(cards):
        if held == "*":
            filled = (*cards[:place], card, *cards[place + 1 :])
            if kind == "run" and is_run(filled, rules):
                yield filled
            if kind == "group" and is_group(filled, rules):
                yield in_order(filled)


def in_order(cards: Sequence[str]) -> tuple[str, ...]:
    return tuple(
        sorted(cards, key=lambda card: (card == "*", card != "*" and SUITS.index(card[1])))
    )


def perft(position: Position, rules: Rules, depth: int) -> int:
    """The paths of that many actions."""
    if depth == 0:
        return 1
    return sum(perft(after, rules, depth - 1) for _, after in moves(position, rules))
