"""The cards that a seat cannot see, and what the next one brings on the average."""

from __future__ import annotations

from collections import Counter

from kafeneio_games.rummy_hand import PACK
from kafeneio_games.rummy_view import RummyView

from .rummy_cover import Cover


class Unseen:
    """What is neither in the hand of a view nor open; the next card of the stock is one of it.

    Discards that are covered count as unseen: a view does not tell what they were.
    """

    def __init__(self, view: RummyView) -> None:
        seen = Counter(view.hand)
        for meld in view.melds:
            seen.update(meld.cards)
        seen.update(card for card in (view.discard_top, view.turned) if card is not None)
        self.counts = Counter(PACK) - seen
        self.total = self.counts.total()

    def ahead(self, cover: Cover, bits: int, wild: int, bonus: float) -> float:
        """What stays on the average after the next card and its discard; going out is -`bonus`."""
        total = 0.0
        for card, times in self.counts.items():
            total += times * (cover.left_with(card, bits, wild) or -bonus)
        return total / self.total
