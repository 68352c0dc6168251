"""Thanasis and Dynamitis: what is discarded.  Nobody can take it, so only the own hand counts."""

from __future__ import annotations

from typing import Final

from kafeneio_games.melds import MeldRules
from kafeneio_games.rummy import Action, Discard, GoOut
from kafeneio_games.rummy_view import RummyView
from kafeneio_games.thanasis import ACE, Thanasis

from .rummy_cover import Cover
from .rummy_unseen import Unseen

# In points, found by games against a plain player.
OUT: Final = 40.0  # what going out is worth, beside what it saves
SURCHARGE: Final = 10  # what a card that is left over costs more: it also delays going out
RISK: Final = 0.1  # how likely it is that somebody goes out before the next turn


def discarded(game: Thanasis, view: RummyView) -> Action:
    """Going out if possible, else the discard that leaves least, now and after the next draw."""
    rules = MeldRules("".join(view.wild_ranks), game.ace_high_low, game.two_naturals)
    cover = Cover(view.hand, rules, ACE, surcharge=SURCHARGE)
    unseen = Unseen(view)
    costs: dict[Action, float] = {}
    for card in dict.fromkeys(view.hand):
        hand = cover.less(card)
        left = cover.left(*hand)
        if not left:
            return GoOut(card)
        later = unseen.ahead(cover, *hand, OUT)
        costs[Discard(card)] = RISK * left + (1 - RISK) * later
    return min(costs, key=costs.__getitem__)
