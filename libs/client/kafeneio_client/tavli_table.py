"""Draws a tavli board, as the lower seat sees it: its home is at the lower right.

Every seat's own numbers of the points stand at its label.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from kafeneio.rules.v1.views_pb2 import TavliView
from rich.text import Text

from kafeneio_client import board
from kafeneio_client.pen import INDENT, Pen

_ROWS: Final = 5  # of checkers in each half; a sixth becomes a number


def name(view: TavliView) -> str:
    """Which game of tavli this is."""
    return view.game.capitalize()


def drawn(pen: Pen, view: TavliView) -> Text:
    """The board."""
    return _Board(pen, view).drawn()


def awaited(view: TavliView) -> Text:
    """With what the mover plays."""
    text = Text(" to play")
    if view.rolled:
        text.append(f": threw {'-'.join(map(str, view.rolled))}", "bold")
    elif view.received:
        text.append(f": got {' '.join(map(str, view.received))}", "bold")
    if view.rolled or view.received:
        text.append(f", left {' '.join(map(str, view.dice)) or 'nothing'}")
    return text


@dataclass(frozen=True, slots=True)
class _Board:
    pen: Pen
    view: TavliView

    def drawn(self) -> Text:
        """Labels, the two halves, labels."""
        text = Text()
        upper_points, lower_points = tuple(range(13, 25)), tuple(range(12, 0, -1))
        text.append_text(self._labels(upper_points)).append_text(self._rule(0))
        for row in range(_ROWS):
            text.append_text(self._row(upper_points, row, self._off(row, upper=True)))
        text.append_text(self._rule(3))
        for row in reversed(range(_ROWS)):
            text.append_text(self._row(lower_points, row, self._off(row, upper=False)))
        return text.append_text(self._rule(6)).append_text(self._labels(lower_points))

    def _labels(self, points: Sequence[int]) -> Text:
        """Each seat's own numbers of these points; the seat that looks nearest to the board."""
        lower = self.pen.lower
        others = [board.facing(self.view.game, point) for point in points]
        lines = [self._label_line(1 - lower, others), self._label_line(lower, points)]
        if points[0] == 12:
            lines.reverse()
        return Text().join(lines)

    def _label_line(self, seat: int, numbers: Sequence[int]) -> Text:
        cells = [f" {number:>2} " for number in numbers]
        line = "".join(cells[:6]) + " " * 7 + "".join(cells[6:])
        sign = self.pen.sign(seat)
        return Text(f"     {sign}  {line}".rstrip() + "\n", self.pen.style(seat))

    def _rule(self, first: int) -> Text:
        signs = self.pen.signs
        left, middle, right = tuple(signs.corners[first : first + 3])
        quarter, bar = signs.line * 24, signs.line * 5
        return Text(f"{INDENT}{left}{quarter}{middle}{bar}{middle}{quarter}{right}\n")

    def _row(self, points: Sequence[int], row: int, aside: Text) -> Text:
        wall = self.pen.signs.wall
        # A checker on the bar waits in the half in which it has to enter.
        waiting = self.pen.lower if points[0] == 13 else 1 - self.pen.lower
        text = Text(INDENT).append(wall)
        for place, point in enumerate(points):
            if place == 6:
                text.append(wall).append_text(self._bar(waiting, row)).append(wall)
            text.append_text(self._cell(point, row))
        return text.append(wall).append_text(aside).append("\n")

    def _cell(self, point: int, row: int) -> Text:
        lower = self.pen.lower
        own = board.count(self.view, lower, point)
        other = board.opposing(self.view, lower, point)
        stack = [lower] * own + [1 - lower] * other
        if board.facing(self.view.game, point) in self.view.sides[1 - lower].pinned:
            stack.reverse()  # the pinned one lies beneath
        return Text(" ").append_text(self._checker(stack, row)).append(" ")

    def _bar(self, seat: int, row: int) -> Text:
        stack = [seat] * board.count(self.view, seat, board.BAR)
        return Text(" ").append_text(self._checker(stack, row)).append("  ")

    def _checker(self, stack: Sequence[int], row: int) -> Text:
        """What of a stack is to be seen in a row, counted from the edge; two columns."""
        if row >= len(stack):
            return Text("  ")
        if row == _ROWS - 1 and len(stack) > _ROWS:
            return Text(f"{len(stack):>2}", self.pen.style(stack[-1]))
        return Text(f" {self.pen.sign(stack[row])}", self.pen.style(stack[row]))

    def _off(self, row: int, *, upper: bool) -> Text:
        """Beside the outermost row of each side: what it has borne off."""
        seat = 1 - self.pen.lower if upper else self.pen.lower
        if row != 0:
            return Text()
        off = board.count(self.view, seat, board.OFF)
        return Text(f"  {self.pen.sign(seat)} off {off}", self.pen.style(seat))
