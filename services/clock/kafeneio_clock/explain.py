"""How the timeouts of a seat came about: which intervals counted for each, so that anybody can add
them up again (X2, X6, X11).

Pure, and worked out from the turns as they were kept, not from the sums that the clock went by.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import islice

from kafeneio_clock.turns import Cause, Micros, Options, Turn


@dataclass(frozen=True, slots=True)
class Past:
    """A turn, and when it ended; None while it runs."""

    turn: Turn
    ended: Micros | None


@dataclass(frozen=True, slots=True)
class Counted:
    """Time of a turn that counted."""

    turn: int
    began: Micros
    ended: Micros


@dataclass(frozen=True, slots=True)
class Sum:
    """One charge: the lengths of `counted` add up to one period. `multiple` says which period of
    its turn it was (MOVE), or which multiple of a period the seat's T had reached (AWAY)."""

    turn: int
    cause: Cause
    at: Micros
    counted: tuple[Counted, ...]
    multiple: int


def sums(
    options: Options, turns: Sequence[Past], charged: Mapping[int, int], now: Micros
) -> list[Sum]:
    """Every charge of a seat, in order, from its turns in order and how many were charged in each.

    The begun part of an absence goes on in the next turn of the seat, that of a move does not. What
    was crossed and not charged was forgiven; it ends a part all the same.
    """
    found: list[Sum] = []
    begun: tuple[Counted, ...] = ()
    for past in turns:
        turn, number = past.turn, past.turn.number
        due = list(islice(turn.crossings(options), charged.get(number, 0)))
        until = now if past.ended is None else past.ended
        if due:  # asked for after the turn's end it would not have been charged
            until = max(until, due[-1].due)
        over = turn.turned(None, until)
        last = {Cause.MOVE: turn.since, Cause.AWAY: turn.since}
        multiples = {Cause.MOVE: 0, Cause.AWAY: turn.away_before // options.move}
        for place, crossing in enumerate(over.crossings(options)):
            cause = crossing.cause
            counted = _counted(over, cause, last[cause], crossing.at)
            if cause is Cause.AWAY:
                counted, begun = begun + counted, ()
            last[cause] = crossing.at
            multiples[cause] += 1
            if place < len(due):
                found.append(Sum(number, cause, crossing.at, counted, multiples[cause]))
        begun += _counted(over, Cause.AWAY, last[Cause.AWAY], until)
    return found


def _counted(turn: Turn, cause: Cause, after: Micros, until: Micros) -> tuple[Counted, ...]:
    """The time of a turn that is over that went to one thing, between two moments."""
    return tuple(
        Counted(turn.number, max(span.began, after), min(span.ended, until))
        for span in turn.counted()
        if span.cause is cause and span.ended is not None
        if max(span.began, after) < min(span.ended, until)
    )
