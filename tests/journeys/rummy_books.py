"""A hand of rummy, kept by a test itself: who holds what, and who may know of which card.

It takes the packs from the test's own chance and the moves from the players, and nothing of what
the house says.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from copy import deepcopy
from dataclasses import dataclass, field
from typing import Final, TypeVar

from google.protobuf.message import Message
from kafeneio.rules.v1 import actions_pb2, views_pb2
from kafeneio_games.cards import read_cards
from kafeneio_games.chance import ProvableDraw

T = TypeVar("T")
WORDS_OF_CARDS: Final = re.compile(r"(?<![0-9A-Za-z])(?:[2-9TJQKA][SHDC]|\*)+(?![0-9A-Za-z])")
HIDDEN: Final = "?"
RANKS: Final = "A23456789TJQK"
"""The ace is low (K5)."""


class Recorded(ProvableDraw):
    """The chance of a seed; what has been shuffled goes to a list."""

    def __init__(self, seed: int, shuffled: list[tuple[str, ...]]) -> None:
        super().__init__(seed.to_bytes(32, "big"), b"rummy")
        self._shuffled = shuffled

    def shuffled(self, cards: Sequence[T]) -> tuple[T, ...]:
        """As ever."""
        order = super().shuffled(cards)
        self._shuffled.append(tuple(map(str, order)))
        return order


@dataclass
class Books:
    """One hand. `public` are the cards that all have seen, `own` those that each has held."""

    seats: int
    live: list[int]
    hands: list[list[str]] = field(default_factory=list)
    stock: list[str] = field(default_factory=list)
    pile: list[str] = field(default_factory=list)
    melds: list[list[str]] = field(default_factory=list)
    taken: str = ""
    reshuffles: int = 0
    over: bool = False
    public: set[str] = field(default_factory=set)
    own: list[set[str]] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.hands = self.hands or [[] for _ in range(self.seats)]
        self.own = [set(hand) for hand in self.hands]

    @classmethod
    def dealt(cls, pack: Sequence[str], seats: int, live: Sequence[int]) -> Books:
        """K35: ten cards to each in order of seats, one is turned, the rest is the stock."""
        hands: list[list[str]] = [[] for _ in range(seats)]
        for number, seat in enumerate(live):
            hands[seat] = list(pack[10 * number : 10 * number + 10])
        turned, *stock = pack[10 * len(live) :]
        return cls(seats, list(live), hands, stock, [turned], public={turned})

    def copy(self) -> Books:
        """As it is now."""
        return deepcopy(self)

    # ------------------------------------------------------------ what is done

    def play(self, seat: int, text: str) -> None:
        """A move; "draw" only where the stock has a card."""
        kind, _, said = text.partition(" ")
        if kind == "draw":
            self._to_hand(seat, self.stock.pop(0))
            return
        if kind == "take":
            self.taken = self.pile.pop()
            self._to_hand(seat, self.taken)
            return
        named = read_cards(said.split(" ")[kind == "meld"])
        for card in named:
            self.hands[seat].remove(card)
        if self.taken in named and self.taken not in self.hands[seat]:
            self.taken = ""
        self.public.update(named)
        if kind == "meld":
            self.melds.append(list(named))
        elif kind in ("lay", "swap"):
            meld = self.melds[int(said.split(" ")[1]) - 1]
            meld += named
            if kind == "swap":
                meld.remove("*")
                self._to_hand(seat, "*")
        else:
            self.pile += named
            self.taken = ""
            self.over = not self.hands[seat]

    def reshuffle(self, stock: Sequence[str]) -> None:
        """K22: all discards but the top one are the stock."""
        assert not self.stock
        assert sorted(stock) == sorted(self.pile[:-1])
        self.stock, self.pile = list(stock), self.pile[-1:]
        self.reshuffles += 1

    def leave(self, seat: int) -> None:
        """F3."""
        self.live.remove(seat)
        self.hands[seat] = []

    def _to_hand(self, seat: int, card: str) -> None:
        self.hands[seat].append(card)
        self.own[seat].add(card)

    # ------------------------------------------------------------ what may be known

    def known(self, seat: int | None) -> set[str]:
        """Cards of which a seat, or a spectator, may have heard in this hand."""
        found = self.public | (set() if seat is None else self.own[seat])
        if self.over:
            found.update(*self.hands)
        return found

    def unknown(self, seat: int | None) -> set[str]:
        """Cards in other hands or in the stock of which it may not have heard."""
        held = set(self.stock).union(*self.hands)
        return held - self.known(seat)

    def check(self, table: views_pb2.RummyView, seat: int | None) -> set[str]:
        """A view shows what there is to be seen, card for card; what jokers are said to stand for,
        which follows from what lies there."""
        assert sorted(table.hand) == sorted([] if seat is None else self.hands[seat])
        assert list(table.counts) == list(map(len, self.hands))
        assert table.stock_left == len(self.stock)
        assert table.discard_count == len(self.pile)
        assert table.discard_top == (self.pile[-1] if self.pile else "")
        assert table.reshuffles == self.reshuffles
        assert [sorted(meld.cards) for meld in table.melds] == [sorted(m) for m in self.melds]
        assert table.taken == self.taken
        ends = [(seat, sorted(self.hands[seat])) for seat in self.live] if self.over else []
        assert [(end.seat, sorted(end.hand)) for end in table.ends] == ends
        return set().union(*map(stand_ins, table.melds))


def stand_ins(meld: views_pb2.Meld) -> set[str]:
    """What the jokers of a run stand for (K9): the cards that it lacks."""
    pairs = list(zip(meld.cards, meld.stands_for, strict=True))
    stand: set[str] = {meant for card, meant in pairs if card == "*"}
    assert all(card == meant for card, meant in pairs if card != "*")
    if meld.kind == actions_pb2.MELD_KIND_GROUP:
        assert stand <= {"*"}
        return stand
    assert "".join(card[0] for card in meld.stands_for) in RANKS
    assert {card[1] for card in meld.stands_for} == {card[1] for card in meld.cards if card != "*"}
    return stand


# ---------------------------------------------------------------- what is told


def leaves(message: Message) -> Iterator[object]:
    """Every value in a message that is no message."""
    for descriptor, value in message.ListFields():
        values = value if descriptor.is_repeated else [value]
        if descriptor.message_type is not None and descriptor.message_type.GetOptions().map_entry:
            values = [*value.keys(), *value.values()]
        for each in values:
            if isinstance(each, Message):
                yield from leaves(each)
            else:
                yield each


def named(message: Message) -> set[str]:
    """Every card that is named anywhere in a message.

    Other bytes than the 32 of a hash are not known to hold none: it fails on them.
    """
    found: set[str] = set()
    for leaf in leaves(message):
        if isinstance(leaf, str):
            found |= cards_in(leaf)
        elif isinstance(leaf, bytes):
            assert len(leaf) == 32
    return found


def cards_in(text: str) -> set[str]:
    """Every card that is named in a text."""
    return {card for word in WORDS_OF_CARDS.findall(text) for card in read_cards(word)}
