"""How a tavli board lies on the table: numbers of points, and what a move does to a view.

This is what anybody sees who looks at a board. It knows no rule; what may be played the house says.
"""

from __future__ import annotations

from typing import Final

from kafeneio.rules.v1.views_pb2 import TavliView

OFF: Final = 0
BAR: Final = 25
# In these games both sides walk the same way round, starting from opposite corners.
_SAME_WAY: Final = frozenset({"fevga", "gulbara"})


def facing(game: str, point: int) -> int:
    """The other seat's number of the point that one seat calls `point`, 1 to 24."""
    if game in _SAME_WAY:
        return point + 12 if point <= 12 else point - 12
    return 25 - point


def count(view: TavliView, seat: int, point: int) -> int:
    """How many checkers `seat` has on its own point (0 off, 25 bar)."""
    return view.sides[seat].points[point]


def opposing(view: TavliView, seat: int, point: int) -> int:
    """How many checkers the other seat has on the point that `seat` calls `point`, 1 to 24."""
    return count(view, 1 - seat, facing(view.game, point))


def landing(start: int, die: int) -> int:
    """Where a checker comes to stand: a point, or 0 for off."""
    return max(OFF, start - die)


def lifted(view: TavliView, seat: int, start: int, die: int) -> TavliView:
    """The board with one checker of `seat` put where the die takes it, the others as they are."""
    after = TavliView()
    after.CopyFrom(view)
    after.sides[seat].points[start] -= 1
    after.sides[seat].points[landing(start, die)] += 1
    return after
