"""Draws what is on the table for a terminal of 80 columns, readable without colours too."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from kafeneio.rules.v1 import actions_pb2, rulebook_pb2
from kafeneio.rules.v1 import game_pb2 as pb
from kafeneio.rules.v1.views_pb2 import View
from rich.text import Text

from kafeneio_client import rummy_table, tavli_table, trick_table
from kafeneio_client.pen import ASCII, INDENT, UNICODE, Pen, Signs, plain

__all__ = ["ASCII", "UNICODE", "Drawing", "Signs", "plain", "variant_name"]


_OUT: Final = {
    actions_pb2.FORFEIT_REASON_LEFT: "left the game",
    actions_pb2.FORFEIT_REASON_CONNECTION_LOST: "was away for too long",
    actions_pb2.FORFEIT_REASON_TIMEOUTS_EXCEEDED: "was late too often",
}
_VOID: Final = {
    actions_pb2.VOID_REASON_ALL_FORFEITED: "for everybody is gone",
    actions_pb2.VOID_REASON_NO_SHOW: "for not everybody sat down",
    actions_pb2.VOID_REASON_HOUSE: "for the house could not go on",
    actions_pb2.VOID_REASON_OPERATOR: "ended by an operator",
}


@dataclass(frozen=True, slots=True)
class Drawing:
    """How one game is drawn: who sits where, who looks, and with which characters.

    Sides are the seats in turn: of four players 0 and 2 play together, and 1 and 3.
    """

    names: tuple[str, ...]
    target: int
    lower: int = 0
    signs: Signs = UNICODE

    @classmethod
    def of(cls, game: pb.Game, lower: int = 0, signs: Signs = UNICODE) -> Drawing:
        """The drawing of a game, seen from one seat."""
        names = tuple(plain(seat.player_id) for seat in game.seats)
        return cls(names, game.terms.target, lower, signs)

    @property
    def pen(self) -> Pen:
        """With what it is drawn."""
        return Pen(self.names, self.lower, self.signs)

    def player(self, seat: int) -> Text:
        """A seat's checker and name, in its colour."""
        return self.pen.player(seat)

    def position(self, position: pb.Position) -> Text:
        """The whole table: heading, board where there is one, and whose turn it is."""
        text = self._heading(position)
        match position.view.WhichOneof("table"):
            case "tavli":
                text.append_text(tavli_table.drawn(self.pen, position.view.tavli))
            case "tricks":
                text.append_text(trick_table.drawn(self.pen, position.view.tricks))
            case "rummy":
                text.append_text(rummy_table.drawn(self.pen, position.view.rummy))
        text.append_text(self.prompt(position))
        return text

    def last_round(self, position: pb.Position) -> Text:
        """How the round before this one ended, in a line or two; nothing in the first."""
        if not position.HasField("last_round"):
            return Text()
        last = position.last_round
        points = " : ".join(map(str, last.points))
        text = Text(INDENT).append(f"round {last.round}: {points} ({plain(last.ending)})\n", "bold")
        if last.view.HasField("tricks"):
            text.append_text(trick_table.sheet(self.pen, last.view.tricks))
        if last.view.HasField("rummy"):
            text.append_text(rummy_table.ends(self.pen, last.view.rummy))
        return text

    def _heading(self, position: pb.Position) -> Text:
        dot = f" {self.signs.dot} "
        name = _name(position.view)
        parts = [name] if name else []
        parts += [f"round {position.round}"] if position.round else []
        parts += [f"to {self.target} point{'s' if self.target != 1 else ''}"]
        text = Text(INDENT).append(dot.join(parts), "bold").append("   ")
        sides = len(position.score)
        for side, points in enumerate(position.score):
            together = tuple(range(side, len(self.names), sides))
            text.append(dot if side else "").append_text(self.pen.side(together))
            text.append(f" {points}")
        return text.append("\n")

    def prompt(self, position: pb.Position) -> Text:
        """Whose turn it is and with what, or how it ended; one line."""
        text = Text(INDENT)
        if position.HasField("outcome"):
            return text.append_text(self.outcome(position)).append("\n")
        if not position.HasField("turn"):
            return text.append("nobody is to play\n")
        text.append_text(self.player(position.turn.seat))
        match position.view.WhichOneof("table"):
            case "tricks":
                text.append(trick_table.awaited(position.view.tricks))
            case "rummy":
                text.append(rummy_table.awaited(position.view.rummy))
            case _:
                text.append_text(tavli_table.awaited(position.view.tavli))
        return text.append("\n")

    def outcome(self, position: pb.Position) -> Text:
        """How a game that is over has ended."""
        outcome = position.outcome
        if outcome.WhichOneof("end") == "void_reason":
            reason = _VOID.get(outcome.void_reason, "void")
            return Text(f"void, {reason}: nobody wins, every stake goes back", "bold")
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
            notation = self._notation(entry)
            if entry.seat != previous or entry.seat < 0:
                text.append("\n" if previous is not None else "").append(INDENT)
                text.append_text(self._doer(entry)).append(": ")
            else:
                text.append(" ")
            text.append_text(notation)
            previous = entry.seat
        return text.append("\n") if entries else text

    def _notation(self, entry: pb.LogEntry) -> Text:
        action = entry.action
        if action.HasField("deal"):
            return Text("deals")
        if action.HasField("reshuffle"):
            return Text("shuffles the discards")
        if action.HasField("resign_round"):
            return Text("gives the round up")
        if action.HasField("forfeit"):
            return Text(f"is out: {_OUT.get(action.forfeit.reason, 'forfeited')}")
        if action.HasField("first_dealer"):
            return Text("the first dealer is ").append_text(self.player(action.first_dealer.seat))
        if action.HasField("play_card"):
            return self.pen.card(action.play_card.card)
        return Text(plain(action.notation))

    def _doer(self, entry: pb.LogEntry) -> Text:
        if 0 <= entry.seat < len(self.names):
            return self.player(entry.seat)
        thrown = entry.action.WhichOneof("action") in (None, "roll_dice", "opening_throw")
        return Text("dice" if entry.seat == -1 and thrown else "house", "dim")


def _name(view: View) -> str:
    match view.WhichOneof("table"):
        case "tavli":
            return tavli_table.name(view.tavli)
        case "tricks":
            return trick_table.name(view.tricks)
        case "rummy":
            return rummy_table.name(view.rummy)
    return ""


def variant_name(variant: rulebook_pb2.Variant, language: str) -> str:
    """A variant's name in "el" or "en"."""
    return variant.name.el if language == "el" else variant.name.en
