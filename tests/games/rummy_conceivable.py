"""For the conformance suite: what could be done in a hand of rummy, and what is conserved."""

from __future__ import annotations

from itertools import combinations, product
from typing import Any, Final

from kafeneio_games import koumkan, rummy, rummy_hand
from kafeneio_games.cards import FULL_PACK, HIDDEN, JOKER, SUITS, Card, Deal
from kafeneio_games.melds import ORDER, End, Kind, Meld, sorted_hand
from kafeneio_games.rummy_hand import PACK, Stage

from tests.games.rummy_tables import all_cards

TABLE_MOST: Final = 5
"""Melds on the table for which lay-offs are tried."""


def runs() -> list[Meld]:
    """Of up to four cards with up to two jokers, longer ones without."""
    found = []
    for suit, length in product(SUITS, range(3, 14)):
        for low in range(14 - length):
            window = [Card(ORDER[low + i] + suit) for i in range(length)]
            for jokers in range((2 if length <= 4 else 0) + 1):
                for places in combinations(range(length), jokers):
                    cards = [JOKER if i in places else card for i, card in enumerate(window)]
                    found.append(Meld(Kind.RUN, tuple(cards)))
    return found


def groups() -> list[Meld]:
    """All, the most jokers three."""
    return [
        Meld(Kind.GROUP, (*[Card(rank + suit) for suit in suits], *[JOKER] * jokers))
        for rank in ORDER
        for size in range(1, 5)
        for suits in combinations(SUITS, size)
        for jokers in range(max(0, 3 - size), 5 - size)
    ]


CARDS: Final = (*FULL_PACK, JOKER, HIDDEN)
OF_THANASIS: Final[tuple[Any, ...]] = (
    *(rummy.DrawStock(), rummy.TakeDiscard(), rummy.PutBack(None), rummy.PutBack(-1)),
    *(rummy.PutBack(place) for place in range(110)),
    *(rummy.Reshuffle(()), rummy.Reshuffle((HIDDEN,) * 9), rummy.Reshuffle(PACK)),
    *(Deal(()), Deal(((), ())), Deal((PACK[:10], PACK[10:20]), PACK[20:21], PACK[22:])),
    *(make(card) for make in (rummy.Discard, rummy.GoOut) for card in CARDS),
    *(rummy.LayMeld(Meld(Kind.RUN, FULL_PACK[:3])), rummy.LayOff(JOKER, 1, End.LOW)),
    rummy.SwapJoker(Card("7S"), 1),
)
OF_KOUMKAN: Final[tuple[Any, ...]] = (
    *OF_THANASIS[:-3],
    *(rummy.LayMeld(meld) for meld in (*runs(), *groups())),
    *(rummy.LayMeld(Meld(kind, (JOKER,) * 3)) for kind in Kind),
    *(rummy.LayMeld(Meld(Kind.GROUP, (Card("7C"), Card("7S"), Card("7H")))),),
    *(
        make(card, number)
        for make in (rummy.LayOff, rummy.SwapJoker)
        for card in CARDS
        for number in range(TABLE_MOST + 1)
    ),
    *(
        rummy.LayOff(card, number, end)
        for card in (JOKER, Card("AS"), Card("7H"))
        for number in range(TABLE_MOST + 1)
        for end in End
    ),
)


def of_rummy(state: Any) -> None:
    """108 cards, wherever they are; hands are in order; who takes no part holds none."""
    assert isinstance(state, rummy_hand.State)
    if state.stage is Stage.DEAL:
        assert all_cards(state) == []
        return
    assert sorted(all_cards(state)) == sorted(PACK)
    for seat, hand in enumerate(state.hands):
        assert hand == sorted_hand(hand)
        assert seat in state.live or hand == ()
    if isinstance(state, koumkan.State) and state.stage is not Stage.PLAY:
        assert (state.taken, state.owed) == (None, 0)
