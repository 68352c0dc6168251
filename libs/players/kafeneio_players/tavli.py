"""The computer player of the four tavli games."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from kafeneio_games.game import AnyGame, Seat
from kafeneio_games.tavli import Action

from . import fevga, gulbara, lookahead, plakoto, portes
from .lookahead import Decision, Finder

FINDERS: Final[Mapping[str, Finder[Any]]] = {
    "portes": portes.lines,
    "plakoto": plakoto.lines,
    "fevga": fevga.lines,
    "gulbara": gulbara.lines,
}


def decide(game: AnyGame, state: Any, seat: Seat) -> Decision:
    """What to play, its worth and the work that it took; ValueError when `seat` is not to move.

    `game` is one of the four with its house rules, `state` what the seat sees: a tavli state.
    """
    return lookahead.decide(game, state, seat, FINDERS[game.name.partition("@")[0]])


def choose(game: AnyGame, state: Any, seat: Seat) -> tuple[Action, ...]:
    """The whole rest of the turn, of numbers received in Gul Bara up to the own throw.

    The same view is always answered the same.  ValueError when `seat` is not to move.
    """
    return decide(game, state, seat).actions
