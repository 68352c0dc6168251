"""Draws what is on the table for a terminal of 80 columns, readable without colours too.

The lower side is the seat that looks; every seat's own numbers of the points stand at its label.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from kafeneio.rules.v1 import actions_pb2, rulebook_pb2
from kafeneio.rules.v1 import game_pb2 as pb
from kafeneio.rules.v1.views_pb2 import TavliView
from rich.text import Text

from kafeneio_client import board

NAME_LENGTH_MAX: Final = 24
_ROWS: Final = 5  # of checkers in each half; a sixth becomes a number
_INDENT: Final = 7
_LOWER_STYLE: Final = "bold cyan"
_UPPER_STYLE: Final = "bold yellow"


@dataclass(frozen=True, slots=True)
class Signs:
    """The characters that a board is made of."""

    lower: str
    upper: str
    line: str
    wall: str
    corners: str  # top left, top, top right, left, middle, right, bottom left, bottom, bottom right
    dot: str


UNICODE: Final = Signs("●", "○", "─", "│", "┌┬┐├┼┤└┴┘", "·")
ASCII: Final = Signs("X", "O", "-", "|", "+++++++++", "-")


def plain(text: str) -> str:
    """Somebody else's text, cut short, and without characters that would steer the terminal."""
    shown = "".join(c if c.isprintable() else "?" for c in text)
    return shown if len(shown) <= NAME_LENGTH_MAX else shown[: NAME_LENGTH_MAX - 1] + "…"


@dataclass(frozen=True, slots=True)
class Drawing:
    """How one game is drawn: who sits where, who looks, and with which characters."""

    names: tuple[str, ...]
    target: int
    lower: int = 0
    signs: Signs = UNICODE

    @classmethod
    def of(cls, game: pb.Game, lower: int = 0, signs: Signs = UNICODE) -> Drawing:
        """The drawing of a game, seen from one seat."""
        names = tuple(plain(seat.player_id) for seat in game.seats)
        return cls(names, game.terms.target, lower, signs)

    def style(self, seat: int) -> str:
        """A seat's colour."""
        return _LOWER_STYLE if seat == self.lower else _UPPER_STYLE

    def sign(self, seat: int) -> str:
        """A seat's checker."""
        return self.signs.lower if seat == self.lower else self.signs.upper

    def player(self, seat: int) -> Text:
        """A seat's checker and name, in its colour."""
        return Text(f"{self.sign(seat)} {self.names[seat]}", self.style(seat))

    def position(self, position: pb.Position) -> Text:
        """The whole table: heading, board where there is one, and whose turn it is."""
        text = self._heading(position)
        if position.view.HasField("tavli"):
            text.append_text(_Board(self, position.view.tavli).drawn())
        text.append_text(self.prompt(position))
        return text

    def _heading(self, position: pb.Position) -> Text:
        dot = f" {self.signs.dot} "
        game = position.view.tavli.game if position.view.HasField("tavli") else ""
        parts = [game.capitalize()] if game else []
        parts += [f"round {position.round}"] if position.round else []
        parts += [f"to {self.target} point{'s' if self.target != 1 else ''}"]
        text = Text(" " * _INDENT).append(dot.join(parts), "bold").append("   ")
        for seat, points in enumerate(position.score):
            text.append(dot if seat else "").append_text(self.player(seat)).append(f" {points}")
        return text.append("\n")

    def prompt(self, position: pb.Position) -> Text:
        """Whose turn it is and with what, or how it ended; one line."""
        text = Text(" " * _INDENT)
        if position.HasField("outcome"):
            return text.append_text(self.outcome(position)).append("\n")
        if not position.HasField("turn"):
            return text.append("nobody is to play\n")
        text.append_text(self.player(position.turn.seat)).append(" to play")
        table = position.view.tavli
        if table.rolled:
            text.append(f": threw {'-'.join(map(str, table.rolled))}", "bold")
        elif table.received:
            text.append(f": got {' '.join(map(str, table.received))}", "bold")
        if table.rolled or table.received:
            text.append(f", left {' '.join(map(str, table.dice)) or 'nothing'}")
        return text.append("\n")

    def outcome(self, position: pb.Position) -> Text:
        """How a game that is over has ended."""
        outcome = position.outcome
        if outcome.WhichOneof("end") == "void_reason":
            reason = actions_pb2.VoidReason.Name(outcome.void_reason)
            reason = reason.removeprefix("VOID_REASON_")
            return Text(f"void ({reason}): nobody wins, every stake goes back", "bold")
        if outcome.WhichOneof("end") is None:
            return Text("cancelled", "bold")
        decided = outcome.decided
        text = Text()
        for place, seat in enumerate(decided.winners):
            text.append(" and " if place else "").append_text(self.player(seat))
        text.append(" won " if len(decided.winners) == 1 else " win ", "bold")
        text.append(" : ".join(map(str, decided.score)), "bold")
        return text.append(f" ({plain(decided.ending)})" if decided.ending else "")

    def happened(self, entries: Sequence[pb.LogEntry]) -> Text:
        """What one row of the log says, a line for each who did something."""
        text = Text()
        previous: int | None = None
        for entry in entries:
            notation = plain(entry.action.notation)
            if entry.seat != previous or entry.seat < 0:
                text.append("\n" if previous is not None else "").append(" " * _INDENT)
                text.append_text(self._doer(entry.seat)).append(": ")
            else:
                text.append(" ")
            text.append(notation)
            previous = entry.seat
        return text.append("\n") if entries else text

    def _doer(self, seat: int) -> Text:
        if 0 <= seat < len(self.names):
            return self.player(seat)
        return Text("dice" if seat == -1 else "house", "dim")


@dataclass(frozen=True, slots=True)
class _Board:
    """One tavli board, as the lower seat sees it: its home is at the lower right."""

    drawing: Drawing
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
        lower = self.drawing.lower
        others = [board.facing(self.view.game, point) for point in points]
        lines = [self._label_line(1 - lower, others), self._label_line(lower, points)]
        if points[0] == 12:
            lines.reverse()
        return Text().join(lines)

    def _label_line(self, seat: int, numbers: Sequence[int]) -> Text:
        cells = [f" {number:>2} " for number in numbers]
        line = "".join(cells[:6]) + " " * 7 + "".join(cells[6:])
        sign = self.drawing.sign(seat)
        return Text(f"     {sign}  {line}".rstrip() + "\n", self.drawing.style(seat))

    def _rule(self, first: int) -> Text:
        signs = self.drawing.signs
        left, middle, right = tuple(signs.corners[first : first + 3])
        quarter, bar = signs.line * 24, signs.line * 5
        return Text(f"{' ' * _INDENT}{left}{quarter}{middle}{bar}{middle}{quarter}{right}\n")

    def _row(self, points: Sequence[int], row: int, aside: Text) -> Text:
        wall = self.drawing.signs.wall
        # A checker on the bar waits in the half in which it has to enter.
        waiting = self.drawing.lower if points[0] == 13 else 1 - self.drawing.lower
        text = Text(" " * _INDENT).append(wall)
        for place, point in enumerate(points):
            if place == 6:
                text.append(wall).append_text(self._bar(waiting, row)).append(wall)
            text.append_text(self._cell(point, row))
        return text.append(wall).append_text(aside).append("\n")

    def _cell(self, point: int, row: int) -> Text:
        lower = self.drawing.lower
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
            return Text(f"{len(stack):>2}", self.drawing.style(stack[-1]))
        return Text(f" {self.drawing.sign(stack[row])}", self.drawing.style(stack[row]))

    def _off(self, row: int, *, upper: bool) -> Text:
        """Beside the outermost row of each side: what it has borne off."""
        seat = 1 - self.drawing.lower if upper else self.drawing.lower
        if row != 0:
            return Text()
        off = board.count(self.view, seat, board.OFF)
        return Text(f"  {self.drawing.sign(seat)} off {off}", self.drawing.style(seat))


def variant_name(variant: rulebook_pb2.Variant, language: str) -> str:
    """A variant's name in "el" or "en"."""
    return variant.name.el if language == "el" else variant.name.en
