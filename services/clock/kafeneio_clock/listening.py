"""When a clock asks `rules` by itself what has happened. Pure.

Who waits for an event that the bus has lost would wait for ever. While a player is on turn his
time runs out, and `rules` is asked before anything is charged. Nobody's time runs while nobody is
on turn, or a computer, or the game is paused: then the clock asks after LISTEN, and ever less
often, for it may simply be that nothing happens.
"""

from __future__ import annotations

from typing import Final

from kafeneio_clock import domain
from kafeneio_clock.turns import Micros
from kafeneio_clock.values import State

LISTEN: Final[Micros] = 3_000_000
LONGEST: Final[Micros] = 60_000_000


def is_quiet(state: State, now: Micros) -> bool:
    """Whether `rules` is to be asked, if anybody looks at the clock."""
    since = _quiet_since(state)
    return since is not None and since + LISTEN <= now


def listens_at(state: State, now: Micros) -> Micros | None:
    """When `rules` is to be asked after `now`; None where somebody's time runs out before it could
    matter, or the game is over."""
    since = _quiet_since(state)
    if since is None:
        return None
    gone, wait = max(0, now - since), LISTEN
    while wait <= gone and wait < LONGEST:
        wait *= 2
    return since + (wait if wait > gone else (gone // LONGEST + 1) * LONGEST)


def _quiet_since(state: State) -> Micros | None:
    """Since when nothing is heard of a game in which nobody's time runs."""
    if state.closed or domain.expiry(state) is not None:
        return None
    if any(seat.intent is not None for seat in state.seats):
        return None
    return max(state.idle_since if state.turn is None else state.turn.since, state.paused_since)
