"""Which game is played by whom: a module for each family of games, a function for each game.

NoPlayerError(LookupError)   no computer player knows this game
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final, TypeAlias

from kafeneio_games.game import AnyGame, Seat

from . import rummy, tavli, tricks_player

Player: TypeAlias = Callable[[AnyGame, Any, Seat], tuple[Any, ...]]
"""(game, what the seat sees, the seat) -> the actions of its turn, to be sent together."""

PLAYERS: Final[Mapping[str, Player]] = {
    **dict.fromkeys(tavli.FINDERS, tavli.choose),
    **dict.fromkeys(tricks_player.GAMES, tricks_player.choose),
    **dict.fromkeys(rummy.GAMES, rummy.choose),
}


class NoPlayerError(LookupError):
    """No computer player knows this game; `game` is its name."""

    def __init__(self, game: str) -> None:
        super().__init__(f"no computer player knows {game}")
        self.game = game


def choose(game: AnyGame, view: Any, seat: Seat) -> tuple[Any, ...]:
    """The actions of `seat`, to be sent together; the same view is always answered the same.

    `NoPlayerError` where nobody knows the game, ValueError when `seat` is not to act.
    """
    player = PLAYERS.get(game.name.partition("@")[0])
    if player is None:
        raise NoPlayerError(game.name)
    return player(game, view, seat)
