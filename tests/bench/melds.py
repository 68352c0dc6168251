"""The best use of a hand and the list of its melds, by classes of hands: median, p99, worst.

In CPU time, so that other work on the machine does not count.
"""

from __future__ import annotations

import random
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Final

from kafeneio_games.cards import JOKER, Card
from kafeneio_games.deadwood import after_discards, best_partition
from kafeneio_games.melds import ORDER, MeldRules, single_melds
from kafeneio_games.rummy_hand import PACK

HANDS: Final = 2_000
PLAIN: Final = MeldRules()
THANASIS: Final = MeldRules("5")
DYNAMITIS: Final = MeldRules("25")
Hand = list[Card]


@dataclass(frozen=True)
class Class:
    """Hands of one sort, what is done with them, and the time that it may take at the 99th."""

    name: str
    hands: Callable[[random.Random], Hand]
    work: Callable[[Hand], object]
    goal_ms: float


def drawn(size: int) -> Callable[[random.Random], Hand]:
    """A hand of the whole pack."""
    return lambda chance: chance.sample(PACK, size)


def with_jokers(least: int, most: int) -> Callable[[random.Random], Hand]:
    """Eleven cards with so many wild ones in Dynamitis."""
    wild = [card for card in PACK if card == JOKER or card[0] in "25"]
    others = [card for card in PACK if card not in wild]

    def hand(chance: random.Random) -> Hand:
        jokers = chance.randint(least, most)
        return [*chance.sample(wild, jokers), *chance.sample(others, 11 - jokers)]

    return hand


def one_suit(jokers: int, size: int = 11) -> Callable[[random.Random], Hand]:
    """Cards of one suit, twins among them, so that nearly everything connects."""
    suited = [Card(rank + "C") for rank in ORDER] * 2
    return lambda chance: [*chance.sample(suited, size - jokers), *[JOKER] * jokers]


def partition(rules: MeldRules) -> Callable[[Hand], object]:
    """The least deadwood, and the melds that leave it."""
    return lambda hand: best_partition(hand, rules, 1)


CLASSES: Final = (
    Class("Thanasis, 11 cards", drawn(11), partition(THANASIS), 20),
    Class("Dynamitis, 11 cards", drawn(11), partition(DYNAMITIS), 20),
    Class("Dynamitis, every discard", drawn(11), lambda h: after_discards(h, DYNAMITIS, 1), 20),
    Class("4 to 8 wild cards", with_jokers(4, 8), partition(DYNAMITIS), 100),
    Class("one suit, 0 jokers", one_suit(0), partition(PLAIN), 100),
    Class("one suit, 2 jokers", one_suit(2), partition(PLAIN), 100),
    Class("one suit, 4 jokers", one_suit(4), partition(PLAIN), 100),
    Class("one suit, two naturals", one_suit(4), partition(MeldRules("", True, True)), 100),
    Class("one suit, 14 cards", one_suit(3, 14), partition(PLAIN), 100),
    Class("all melds, 11 cards", drawn(11), lambda h: list(single_melds(h, PLAIN)), 20),
    Class("all melds, 4 jokers", one_suit(4), lambda h: list(single_melds(h, PLAIN)), 100),
)


def timed(each: Class) -> Iterator[float]:
    """CPU seconds for each hand."""
    chance = random.Random(each.name)
    for _ in range(HANDS):
        hand = each.hands(chance)
        begin = time.thread_time()
        each.work(hand)
        yield time.thread_time() - begin


async def melds() -> None:
    """Print each class on its own line."""
    for each in CLASSES:
        times = sorted(seconds * 1e3 for seconds in timed(each))
        print(
            f"{each.name:<25} {times[HANDS // 2]:8.2f} ms, p99 {times[HANDS * 99 // 100]:7.2f},"
            f" worst {times[-1]:7.2f} (goal: p99 under {each.goal_ms:.0f})"
        )
