"""Two plain players of tavli, as a measure for the others."""

from __future__ import annotations

from random import Random
from typing import Any

from kafeneio_games.game import AnyGame, Seat
from kafeneio_games.tavli import PASS, Action, other

from .boards import pips


def any_legal(game: AnyGame, state: Any, seat: Seat, random: Random) -> tuple[Action, ...]:
    """One action, each legal one as likely."""
    return (random.choice(list(game.legal(state, seat))),)


def fewest_pips(game: Any, state: Any, seat: Seat, random: Random) -> tuple[Action, ...]:
    """The turn after which the seat has the fewest pips to go beside the other's, each of equals
    as likely: it runs, and hits whatever it can."""
    left = [(pips(end[1][seat]) - pips(end[1][other(seat)]), end[0]) for end in game.turns(state)]
    fewest = min(difference for difference, _ in left)
    path: tuple[Action, ...] = random.choice([path for now, path in left if now == fewest])
    return path or (PASS,)
