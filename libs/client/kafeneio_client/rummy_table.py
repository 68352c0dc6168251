"""Draws a hand of rummy: the piles, who holds how many cards, the melds, one's own cards."""

from __future__ import annotations

from typing import Final

from kafeneio.rules.v1 import views_pb2
from kafeneio.rules.v1.views_pb2 import HandEnd, Meld, RummyView
from rich.text import Text

from kafeneio_client.pen import INDENT, Pen

_NAME_WIDTH: Final = 20


def name(view: RummyView) -> str:
    """Which game this is."""
    return view.game.capitalize()


def awaited(view: RummyView) -> str:
    """What the prompted seat is to do."""
    if view.stage == views_pb2.RUMMY_STAGE_DRAW:
        return " to draw"
    return " to meld, lay off, or discard"


def drawn(pen: Pen, view: RummyView) -> Text:
    """The piles, the players, the melds with their numbers, the hand."""
    text = Text(f"{INDENT}stock {view.stock_left}")
    if view.discard_top:
        text.append("   discards ").append_text(pen.card(view.discard_top))
        text.append(f" on {view.discard_count - 1} more")
    if view.turned:
        text.append("   turned ").append_text(pen.card(view.turned))
    if view.wild_ranks:
        text.append(f"   wild: {' '.join(view.wild_ranks)} and *")
    text.append("\n")
    for seat, cards in enumerate(view.counts):
        text.append(f"{INDENT}{pen.names[seat]:<{_NAME_WIDTH}}", pen.style(seat))
        text.append(" D " if seat == view.dealer else "   ", "bold")
        if seat in view.live:
            text.append(f"{cards} card{'s' if cards != 1 else ''}\n")
        else:
            text.append("out\n", "dim")
    for number, meld in enumerate(view.melds, 1):
        text.append(f"{INDENT}{number:>2}  ").append_text(_meld(pen, meld)).append("\n")
    if view.hand:
        text.append(f"{INDENT}your hand: ").append_text(pen.cards(list(view.hand))).append("\n")
    return text


def ends(pen: Pen, view: RummyView) -> Text:
    """What each hand was worth, a line for each, with the melds found in it."""
    text = Text()
    for end in view.ends:
        text.append_text(_end(pen, end))
    return text


def _end(pen: Pen, end: HandEnd) -> Text:
    text = Text(INDENT + "  ").append_text(pen.player(end.seat)).append(f" {end.deadwood}: ")
    parts = [pen.cards(list(meld.cards)) for meld in end.melds]
    shown = [Text("{").append_text(part).append("}") for part in parts]
    if end.left:
        shown.append(pen.cards(list(end.left)))
    return text.append_text(Text(" ").join(shown)).append("\n")


def _meld(pen: Pen, meld: Meld) -> Text:
    text = pen.cards(list(meld.cards))
    if meld.HasField("owner"):
        text.append(f"  ({pen.names[meld.owner]})", "dim")
    return text
