"""Draws a hand of pilotta or belote: who sits where, what was said, the trick, one's own cards."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from kafeneio.rules.v1 import actions_pb2, views_pb2
from kafeneio.rules.v1.views_pb2 import Contract, TrickCard, TrickView
from rich.text import Text

from kafeneio_client.pen import INDENT, Pen, plain

_SUITS: Final = {
    actions_pb2.SUIT_SPADES: "S",
    actions_pb2.SUIT_HEARTS: "H",
    actions_pb2.SUIT_DIAMONDS: "D",
    actions_pb2.SUIT_CLUBS: "C",
}
_AWAITED: Final = {
    views_pb2.TRICK_STAGE_BIDDING: "to bid or pass",
    views_pb2.TRICK_STAGE_CONTRA: "to say contra or pass",
    views_pb2.TRICK_STAGE_RECONTRA: "to say recontra or pass",
    views_pb2.TRICK_STAGE_CHOOSING: "to take, choose or pass",
    views_pb2.TRICK_STAGE_EXCHANGE: "to exchange the seven or pass",
    views_pb2.TRICK_STAGE_PLAYING: "to play a card",
}
_NAME_WIDTH: Final = 20
_CALLS_WIDTH: Final = 24


def name(view: TrickView) -> str:
    """Which game this is: "Classic pilotta two"."""
    return view.game.replace("-", " ").capitalize()


def awaited(view: TrickView) -> str:
    """What the prompted seat is to do."""
    return f" {_AWAITED.get(view.stage, 'to play')}" + (
        ", or declare first" if view.can_declare else ""
    )


def drawn(pen: Pen, view: TrickView) -> Text:
    """Contract, players with what they said and played, the last trick, declarations, the hand."""
    text = Text()
    if view.HasField("contract"):
        text.append_text(_contract(pen, view))
    if view.turned:
        text.append(f"{INDENT}turned: ").append_text(pen.card(view.turned)).append("\n")
    on_table = {played.seat: played.card for played in view.trick}
    for seat in range(len(view.counts)):
        text.append_text(_player(pen, view, seat, on_table.get(seat, "")))
    if view.last_trick:
        text.append(f"{INDENT}last trick: ").append_text(_trick(pen, view.last_trick))
    if view.declarations:
        text.append_text(_declared(pen, view))
    if view.belote:
        text.append_text(_belote(pen, view))
    if view.hand:
        text.append(f"{INDENT}your hand: ").append_text(pen.cards(list(view.hand))).append("\n")
    return text


def sheet(pen: Pen, view: TrickView) -> Text:
    """The arithmetic of a finished hand, a line for each side."""
    text = Text()
    for side, each in enumerate(view.sheet):
        together = tuple(range(side, len(pen.names), len(view.sheet)))
        parts = [f"tricks {each.tricks}"]
        parts += [f"declarations {each.declarations}"] if each.declarations else []
        parts += [f"belote {each.belote}"] if each.belote else []
        parts += [f"contract {each.contract}"] if each.contract else []
        text.append(INDENT + "  ").append_text(pen.side(together))
        text.append(f": {', '.join(parts)}; {each.total}, marked {each.marked}\n")
    return text


def _contract(pen: Pen, view: TrickView) -> Text:
    text = Text(INDENT).append("contract: ").append_text(_terms(pen, view.contract))
    text.append(" by ").append_text(pen.player(view.contract.seat))
    text.append(f"   tricks {' : '.join(map(str, view.tricks))}")
    return text.append(f", card points {' : '.join(map(str, view.points))}\n")


def _terms(pen: Pen, contract: Contract) -> Text:
    text = Text()
    if contract.capot:
        text.append("all tricks ")
    elif contract.value:
        text.append(f"{contract.value} ")
    letter = _SUITS.get(contract.trump)
    text.append_text(pen.card("X" + letter)[1:] if letter else Text("no trumps"))
    return text.append(f" x{contract.multiplier}" if contract.multiplier > 1 else "")


def _player(pen: Pen, view: TrickView, seat: int, card: str) -> Text:
    text = Text(f"{INDENT}{pen.names[seat]:<{_NAME_WIDTH}}", pen.style(seat))
    text.append(" D " if seat == view.dealer else "   ", "bold")
    text.append(f"{view.counts[seat]} card{'s' if view.counts[seat] != 1 else ' '}  ")
    said = " ".join(plain(each.call) for each in view.calls if each.seat == seat)
    said = said if len(said) <= _CALLS_WIDTH else "…" + said[1 - _CALLS_WIDTH :]
    text.append(f"{said:<{_CALLS_WIDTH}} ", "dim")
    return text.append_text(pen.card(card) if card else Text()).append("\n")


def _trick(pen: Pen, trick: Sequence[TrickCard]) -> Text:
    shown = [
        Text(f"{pen.names[one.seat]} ", "dim").append_text(pen.card(one.card)) for one in trick
    ]
    return Text(", ").join(shown).append("\n")


def _declared(pen: Pen, view: TrickView) -> Text:
    text = Text(f"{INDENT}declared: ")
    shown = []
    for each in view.declarations:
        what = each.kind if each.kind else str(each.points)
        one = Text(f"{pen.names[each.seat]} {what}", pen.style(each.seat))
        if each.cards:
            one.append(" (").append_text(pen.cards(list(each.cards))).append(")")
        if each.HasField("scored") and not each.scored:
            one.append(" does not count", "dim")
        shown.append(one)
    return text.append_text(Text(", ").join(shown)).append("\n")


def _belote(pen: Pen, view: TrickView) -> Text:
    said = [Text(f"{pen.names[each.seat]} {each.call}") for each in view.belote]
    return Text(f"{INDENT}said: ").append_text(Text(", ").join(said)).append("\n")
