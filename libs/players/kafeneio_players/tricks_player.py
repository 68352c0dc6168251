"""The computer player of the six games of tricks.

It sees its seat's view alone.  What it does not see it deals at random, in agreement with all that
the view tells; the generator is seeded by the view, so that the same view is always answered the
same.  How much is looked at is bounded by counts, never by time.
"""

from __future__ import annotations

from random import Random
from typing import Final

from kafeneio_games.game import AnyGame, Seat, digest
from kafeneio_games.trick_actions import CARDS, DECLARE, Action
from kafeneio_games.trick_view import Stage, TrickView

from . import tricks_auction, tricks_cards
from .tricks_house import house

GAMES: Final = (
    *("pilotta", "pilotta-classic", "pilotta-classic-2"),
    *("belote", "belote-no-trump", "coinche"),
)


def choose(game: AnyGame, view: TrickView, seat: Seat) -> tuple[Action, ...]:
    """One word of the auction; or a card, with the declaration that may be made before it.

    `game` is one of the six.  ValueError when it is not the view of `seat`, or not its turn.
    """
    if view.seat != seat or view.prompted != seat:
        raise ValueError("it is not this seat's turn, or not its view")
    rules, random = house(game), Random(digest(view))
    if view.stage is not Stage.PLAYING or view.contract is None:
        return (tricks_auction.said(view, rules, seat, random),)
    card = CARDS[tricks_cards.chosen(view, rules, view.contract, seat, random)]
    return (DECLARE, card) if view.can_declare else (card,)
