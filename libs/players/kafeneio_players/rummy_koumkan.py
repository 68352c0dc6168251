"""Koum-kan: where a card is drawn, what is laid on the table, what is discarded.

Some plans for the turn are weighed, each with every discard.  What a plan costs is what stays in
hand: all of it if somebody goes out before the next turn, else what will be left after that.
"""

from __future__ import annotations

import enum
import math
from collections.abc import Iterator
from typing import Final

from kafeneio_games.cards import JOKER, Card
from kafeneio_games.deadwood import WILD_VALUE, value
from kafeneio_games.game import Seat
from kafeneio_games.koumkan import ACE, Koumkan
from kafeneio_games.melds import ends_for, swap_place
from kafeneio_games.rummy import Action, Discard, DrawStock, TakeDiscard
from kafeneio_games.rummy_hand import next_live
from kafeneio_games.rummy_view import RummyView

from .rummy_cover import Cover
from .rummy_debt import paid
from .rummy_turn import Turn
from .rummy_unseen import Unseen

# All in points, found by games of the player against itself and against a plain one.
OUT: Final = 50.0  # what going out is worth, beside what it saves
TAKING: Final = 1.0  # what the top discard must be better than the stock
EXPOSED: Final = 5.0  # a meld on the table helps the others
GIVEN_JOKER: Final = 20.0  # the next player gets a joker by the discard
GIVEN_LAY_OFF: Final = 6.0  # or a card that he can lay off

# How likely it is that a player goes out before the next turn, by the cards in his hand.
OPEN_RISKS: Final = (0.0, 0.3, 0.25, 0.25, 0.2, 0.15, 0.1, 0.08)
CLOSED_RISK: Final = 0.1


class Plan(enum.Enum):
    """What is laid on the table."""

    ALL = "whatever can be"
    NEEDED = "no joker but in melds that need it"
    NATURALS = "no joker"
    NOTHING = "nothing"


def drawn(game: Koumkan, view: RummyView, seat: Seat) -> Action:
    """The top discard if less is left with it than with an unseen card."""
    top = view.discard_top
    if top is None:
        return DrawStock()
    cover = Cover(view.hand, game.meld_rules, ACE, Turn(game, view, seat).reachable)
    hand = cover.whole()
    left = cover.left_with(top, *hand, kept=True)
    if left and left >= Unseen(view).ahead(cover, *hand, OUT) - TAKING:
        return DrawStock()
    return TakeDiscard()


def played(game: Koumkan, view: RummyView, seat: Seat) -> tuple[Action, ...]:
    """The turn after the draw, up to the discard."""
    weigher = _Weigher(view, seat)
    best: tuple[Action, ...] = ()
    least = math.inf
    for turn in _turns(game, view, seat):
        for card, cost in weigher.discards(turn):
            if cost < least:
                least, best = cost, (*turn.actions, Discard(card))
    if best:
        return best
    steps, after = paid(game, view, seat)
    return (*steps, *played(game, after, seat))


def _turns(game: Koumkan, view: RummyView, seat: Seat) -> Iterator[Turn]:
    """One for each plan that can be ended with a discard."""
    met = set()
    for plan in Plan:
        turn = Turn(game, view, seat)
        if plan is not Plan.NOTHING:
            _fill(turn, plan)
        outcome = (turn.hand, *turn.table)
        if not turn.owed and outcome not in met:
            met.add(outcome)
            yield turn


def _fill(turn: Turn, plan: Plan) -> None:
    """Until nothing more can be laid: a first own meld opens the table, a swap brings a joker."""
    more = True
    while more:
        cover = Cover(
            turn.hand,
            turn.rules,
            ACE,
            turn.reachable,
            idle=WILD_VALUE if plan is Plan.ALL else 0,
            barred=turn.barred,
        )
        more = turn.carry_out(cover.best(0 if plan is Plan.NATURALS else cover.wild))
        if plan is Plan.ALL:
            more = turn.lay_off_jokers() or more


class _Weigher:
    """What it costs to end a turn."""

    def __init__(self, view: RummyView, seat: Seat) -> None:
        self.melds = len(view.melds)
        self.unseen = Unseen(view)
        self.next_opened = view.opened[next_live(seat, view.live)]
        self.risk = 1 - math.prod(1 - _risk(view, each) for each in view.live if each != seat)

    def discards(self, turn: Turn) -> Iterator[tuple[Card, float]]:
        """Every card that may be discarded, with its cost."""
        cover = Cover(turn.hand, turn.rules, ACE, turn.reachable)
        points = sum(value(card, turn.rules, ACE) for card in turn.hand)
        exposed = EXPOSED * (len(turn.table) - self.melds)
        for card in turn.discards():
            if len(turn.hand) == 1:
                yield card, -math.inf
                return
            stays = points - value(card, turn.rules, ACE)
            later = self.unseen.ahead(cover, *cover.less(card), OUT)
            cost = self.risk * stays + (1 - self.risk) * later
            yield card, cost + exposed + self._given(turn, card)

    def _given(self, turn: Turn, card: Card) -> float:
        """What the next player gets by that discard, as far as it can be seen."""
        if card == JOKER:
            return GIVEN_JOKER
        if self.next_opened:
            if any(swap_place(meld, card, turn.rules) is not None for meld in turn.table):
                return GIVEN_JOKER
            if any(ends_for(meld, card, turn.rules) for meld in turn.table):
                return GIVEN_LAY_OFF
        return 0.0


def _risk(view: RummyView, seat: Seat) -> float:
    if not view.opened[seat]:
        return CLOSED_RISK
    return OPEN_RISKS[min(view.counts[seat], len(OPEN_RISKS) - 1)]
