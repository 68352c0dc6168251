"""What counts beside the tricks in a deal: declarations, belote, and what all tricks are worth."""

from __future__ import annotations

import functools
from collections.abc import Sequence

from kafeneio_games.cards import Card
from kafeneio_games.game import Seat
from kafeneio_games.trick_play import BELOTE_POINTS, Announced
from kafeneio_games.trick_view import Contract, Declared, TrickView
from kafeneio_games.tricks import LAST_TRICK, side_of

from .tricks_deals import Hands
from .tricks_guess import may_declare
from .tricks_house import Dealt, House, Pair
from .tricks_playout import Law
from .tricks_table import BIT, Mask, Table, cards_of, table


def law_of(house: House, trump: str) -> Law:
    """What may be played with that trump."""
    return Law(table(trump, house.plain_ace), house.exempt, house.undertrump)


class Reckoner:
    """Counts what lies beside the tricks, in the deals of one view and one contract."""

    def __init__(
        self, view: TrickView, house: House, contract: Contract, played: Sequence[Mask]
    ) -> None:
        self._house, self._contract, self._played = house, contract, played
        self._table = table(contract.trump, house.plain_ace)
        told = view.declarations
        compared = len(view.played) + len(view.trick) > house.seats or (
            bool(told) and told[0].scored is not None
        )
        self._compared = _told(told) if compared else None
        # They have played their first card, and announced nothing.
        self._silent = {seat for seat, _ in (*view.played, *view.trick)} - {
            one.seat for one in told
        }

    def dealt(self, hands: Hands) -> Dealt:
        """What counts in one deal; `hands` are still held, by plain masks."""
        whole = [hand | own for hand, own in zip(hands, self._played, strict=True)]
        declarations = self._compared
        if declarations is None:
            declarations = self._to_be_told(whole)
        pool = _pool(self._table, sum(whole))
        return Dealt(declarations, _belote(self._contract.trump, whole), pool)

    def _to_be_told(self, whole: Sequence[Mask]) -> Pair:
        """What the hands say, each seat that has not played yet announcing all it can."""
        announced = []
        for number, hand in enumerate(whole):
            if number not in self._silent and may_declare(hand):
                found = self._house.found(cards_of(hand), self._contract.trump)
                if found:
                    announced.append(Announced(Seat(number), found))
        return self._house.called(tuple(announced), self._contract) if announced else (0, 0)


def _told(told: Sequence[Declared]) -> Pair:
    first, second = (
        sum(one.points for one in told if one.scored and side_of(one.seat) == side)
        for side in (0, 1)
    )
    return first, second


@functools.lru_cache(maxsize=1 << 10)
def _pool(cards: Table, in_play: Mask) -> int:
    """What the tricks are worth together; `in_play` is a plain mask."""
    ranked = cards.of(in_play)
    return LAST_TRICK + sum([cards.points[card] for card in range(32) if ranked >> card & 1])


@functools.cache
def _pair(trump: str) -> Mask:
    return BIT[Card("K" + trump)] | BIT[Card("Q" + trump)]


def _belote(trump: str, whole: Sequence[Mask]) -> Pair:
    if trump:
        pair = _pair(trump)
        for seat, hand in enumerate(whole):
            if pair & ~hand == 0:
                return (0, BELOTE_POINTS) if side_of(seat) else (BELOTE_POINTS, 0)
    return (0, 0)
