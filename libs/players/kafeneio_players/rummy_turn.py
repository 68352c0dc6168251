"""A turn of Koum-kan as it is put together, with what is then in hand and on the table."""

from __future__ import annotations

from collections.abc import Iterable

from kafeneio_games.cards import JOKER, Card
from kafeneio_games.game import Seat
from kafeneio_games.koumkan import Koumkan
from kafeneio_games.melds import (
    LEAST,
    Kind,
    Meld,
    MeldRules,
    card_at,
    ends_for,
    laid_off,
    sorted_hand,
    swap_place,
    swapped,
    without,
)
from kafeneio_games.rummy import Action, LayMeld, LayOff, SwapJoker
from kafeneio_games.rummy_view import RummyView

from .rummy_table import Group, Lay, Run, Swap, Use


class Turn:
    """The steps so far; one is made only if it may be and leaves a card to discard (K19, K20).

    `opened`, `taken` and `owed` are those of the view, after these steps.
    """

    def __init__(self, game: Koumkan, view: RummyView, seat: Seat) -> None:
        self.game, self.rules = game, game.meld_rules
        self.hand = view.hand
        self.table = [Meld(meld.kind, meld.cards) for meld in view.melds]
        self.opened = view.opened[seat]
        self.taken, self.owed = view.taken, view.owed
        self.actions: list[Action] = []

    @property
    def reachable(self) -> list[Meld]:
        """The melds to which cards may be laid off: none before an own one lies there (K15)."""
        return self.table if self.opened else []

    @property
    def barred(self) -> Card | None:
        """The card that may not be discarded (K19)."""
        return self._barred(self.hand, ())

    def discards(self) -> list[Card]:
        """The different cards that may be discarded."""
        barred = self.barred
        return [card for card in dict.fromkeys(self.hand) if card != barred]

    def carry_out(self, uses: Iterable[Use]) -> bool:
        """Those of the uses that can be, jokers from the table first; whether any could."""
        before = len(self.actions)
        steps = [use.step for use in uses]
        for step in steps:
            if isinstance(step, Swap):
                self._swap(step)
        for step in steps:
            if isinstance(step, Run | Group):
                self._lay_meld(_meld(step, self.rules))
        for step in steps:
            if isinstance(step, Lay):
                for card in step.cards:
                    self._lay_off(card, step.number)
        return len(self.actions) > before

    def lay_off_jokers(self) -> bool:
        """All jokers that have a place and can be spared; whether any could."""
        before = len(self.actions)
        for number in range(1, len(self.table) + 1):
            for _ in range(self.hand.count(JOKER)):
                self._lay_off(JOKER, number)
        return len(self.actions) > before

    def _swap(self, step: Swap) -> None:
        meld = self.table[step.number - 1]
        left = without(self.hand, (step.card,))
        if not self.opened or left is None or swap_place(meld, step.card, self.rules) is None:
            return
        filled, joker = swapped(meld, step.card, self.rules)
        self._did(SwapJoker(step.card, step.number), (*left, joker), (step.card,))
        self.table[step.number - 1] = filled
        self.owed += self.game.joker_must_be_used

    def _lay_meld(self, meld: Meld) -> None:
        left = without(self.hand, meld.cards)
        if left is not None and self._keeps_one(left, meld.cards):
            self._did(LayMeld(meld), left, meld.cards)
            self.table.append(meld)
            self.opened = True

    def _lay_off(self, card: Card, number: int) -> None:
        meld = self.table[number - 1]
        left = without(self.hand, (card,))
        ends = ends_for(meld, card, self.rules)
        if self.opened and ends and left is not None and self._keeps_one(left, (card,)):
            self._did(LayOff(card, number, ends[0]), left, (card,))
            self.table[number - 1] = laid_off(meld, card, ends[0], self.rules)

    def _did(self, action: Action, left: Iterable[Card], used: tuple[Card, ...]) -> None:
        self.actions.append(action)
        self.hand = sorted_hand(left)
        if self.taken in used:
            self.taken = None
        self.owed = max(0, self.owed - used.count(JOKER))

    def _keeps_one(self, left: tuple[Card, ...], used: tuple[Card, ...]) -> bool:
        barred = self._barred(left, used)
        return any(card != barred for card in left)

    def _barred(self, hand: tuple[Card, ...], used: tuple[Card, ...]) -> Card | None:
        """The card of a hand that may not be discarded when those have been used."""
        taken = self.taken
        if self.game.allow_same_discard or taken is None or taken in used:
            return None
        return taken if hand.count(taken) == 1 else None


def _meld(step: Run | Group, rules: MeldRules) -> Meld:
    """The meld with no more jokers than it needs."""
    if isinstance(step, Group):
        jokers = [JOKER] * (LEAST - len(step.cards))
        return Meld(Kind.GROUP, (*sorted_hand(step.cards), *jokers))
    length = max(LEAST, step.numbers[-1] - step.numbers[0] + 1)
    low = min(step.numbers[0], rules.highest + 1 - length)
    places = range(low, low + length)
    cards = [card_at(each, step.suit) if each in step.numbers else JOKER for each in places]
    return Meld(Kind.RUN, tuple(cards))
