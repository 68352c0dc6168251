"""The computer player of Koum-kan, Thanasis and Dynamitis.

It knows the cards of its hand and those that lie open, and counts all others as equally likely.
"""

from __future__ import annotations

from typing import Final

from kafeneio_games.game import AnyGame, Seat
from kafeneio_games.koumkan import Koumkan
from kafeneio_games.rummy import Action, DrawStock
from kafeneio_games.rummy_hand import Stage
from kafeneio_games.rummy_view import RummyView
from kafeneio_games.thanasis import Thanasis

from . import rummy_koumkan, rummy_thanasis

GAMES: Final = ("koumkan", "thanasis", "dynamitis")


def choose(game: AnyGame, view: RummyView, seat: Seat) -> tuple[Action, ...]:
    """The draw; and when a card has been drawn, everything up to the discard.

    ValueError when it is not that seat's turn, not its view, or another game.
    """
    if view.stage not in (Stage.DRAW, Stage.PLAY) or view.mover != seat:
        raise ValueError("it is not this seat's turn")
    if len(view.hand) != view.counts[seat]:
        raise ValueError("that is another seat's view")
    if isinstance(game, Koumkan):
        if view.drawn:
            return rummy_koumkan.played(game, view, seat)
        return (rummy_koumkan.drawn(game, view, seat),)
    if isinstance(game, Thanasis):
        return (rummy_thanasis.discarded(game, view) if view.drawn else DrawStock(),)
    raise ValueError(f"{game.name} is no game of rummy")
