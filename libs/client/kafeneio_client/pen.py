"""With what a table is drawn in a terminal: who sits there, who looks, and which characters."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from rich.text import Text

NAME_LENGTH_MAX: Final = 24
INDENT: Final = " " * 7
_STYLES: Final = ("bold cyan", "bold yellow", "bold magenta", "bold green")


@dataclass(frozen=True, slots=True)
class Signs:
    """The characters that a table is made of; `suits` are spades, hearts, diamonds, clubs."""

    lower: str
    upper: str
    line: str
    wall: str
    corners: str  # top left, top, top right, left, middle, right, bottom left, bottom, bottom right
    dot: str
    suits: str


UNICODE: Final = Signs("●", "○", "─", "│", "┌┬┐├┼┤└┴┘", "·", "♠♥♦♣")
ASCII: Final = Signs("X", "O", "-", "|", "+++++++++", "-", "SHDC")


def plain(text: str, longest: int = NAME_LENGTH_MAX) -> str:
    """Somebody else's text, cut short, and without characters that would steer the terminal."""
    shown = "".join(c if c.isprintable() else "?" for c in text)
    return shown if len(shown) <= longest else shown[: longest - 1] + "…"


@dataclass(frozen=True, slots=True)
class Pen:
    """How one table is drawn; `lower` is the seat that looks."""

    names: tuple[str, ...]
    lower: int
    signs: Signs

    def style(self, seat: int) -> str:
        """A seat's colour; the first one is that of the seat that looks."""
        return _STYLES[(seat - self.lower) % len(self.names) % len(_STYLES)]

    def sign(self, seat: int) -> str:
        """A seat's checker."""
        return self.signs.lower if seat == self.lower else self.signs.upper

    def player(self, seat: int) -> Text:
        """A seat's name in its colour; of two players with the checker, which tells them apart."""
        name = self.names[seat]
        shown = name if len(self.names) > 2 else f"{self.sign(seat)} {name}"
        return Text(shown, self.style(seat))

    def side(self, seats: tuple[int, ...]) -> Text:
        """Those who play together: "eleni & maria", in their colours."""
        return Text(" & ").join([self.player(seat) for seat in seats])

    def card(self, card: str) -> Text:
        """A card as it is typed, with its suit's symbol: "T♠"; hearts and diamonds are red."""
        place = "SHDC".find(card[-1:])
        if len(card) != 2 or place < 0:
            return Text(plain(card))
        return Text(card[0] + self.signs.suits[place], "red" if card[1] in "HD" else "")

    def cards(self, cards: list[str] | tuple[str, ...]) -> Text:
        """Several, with spaces between them."""
        return Text(" ").join(map(self.card, cards))
