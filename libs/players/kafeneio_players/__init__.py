"""Computer players: what a seat sees goes in, its turn comes out.

`choose` is all that a program needs.  A player knows the rules by `kafeneio_games` alone; it sees
its seat's view and nothing more, draws no random numbers and looks at no clock.
"""

from .registry import PLAYERS, NoPlayerError, Player, choose

__all__ = ["PLAYERS", "NoPlayerError", "Player", "choose"]
