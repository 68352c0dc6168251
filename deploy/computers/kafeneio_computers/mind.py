"""From what a seat sees to what it does. Pure: nothing else is known, and nothing is kept."""

from __future__ import annotations

from kafeneio.rules.v1 import game_pb2 as pb
from kafeneio_client import seen
from kafeneio_games.game import Seat
from kafeneio_players import choose


def decide(game: pb.Game, seat: int) -> list[str]:
    """The actions of the seat that is on turn, in notation, to be sent together.

    `game` is what the seat may see. The same game is always answered the same. Whatever a player
    of the house raises comes through, and `NotSeenError` or a `BuildError` for a game that is
    unknown here.
    """
    rules = seen.game_of(game.terms, game.position)
    view = seen.view(rules, game.position)
    return [rules.write(action) for action in choose(rules, view, Seat(seat))]
