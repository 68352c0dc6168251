"""How a person may write what he plays: any case, suits as symbols, "10" for a ten, short words.

Nothing is judged here. What is no action in any spelling is left as it was typed, for the house to
refuse.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

from kafeneio.rules.v1.views_pb2 import TrickView, View

_SYMBOLS: Final = str.maketrans("♠♥♦♣♤♡♢♧", "SHDCSHDC")
_CARD: Final = re.compile(r"(10|[2-9TJQKA])([SHDC])", re.IGNORECASE)
_CARDS: Final = re.compile(r"((10|[2-9TJQKA])[SHDC]|\*)+", re.IGNORECASE)
_BID: Final = re.compile(r"(\d{2,3}|CAPOT)([SHDC])", re.IGNORECASE)
_LONG: Final = {"meld": 3, "lay": 4, "swap": 3, "discard": 2, "out": 2}
_ENDS: Final = ("low", "high")


def spelled(view: View, words: Sequence[str]) -> list[str]:
    """What was typed, as actions in the house's notation."""
    plain = [word.translate(_SYMBOLS) for word in words]
    match view.WhichOneof("table"):
        case "tricks":
            return _tricks(view.tricks, plain)
        case "rummy":
            return _rummy(plain)
    return [word.lower() for word in plain]


def _tricks(table: TrickView, words: list[str]) -> list[str]:
    spelled, rest = list[str](), list(words)
    while rest:
        word = rest.pop(0)
        match word.lower():
            case "contra" | "coinche":
                number = rest.pop(0) if rest and rest[0].isdecimal() else str(_bids(table))
                spelled.append(f"contra {number}")
            case "surcoinche":
                spelled.append("recontra")
            case "choose" if rest:
                spelled.append(f"choose {rest.pop(0).upper()[:1]}")
            case other:
                spelled.append(_card(word) or _call(word) or other)
    return spelled


def _bids(table: TrickView) -> int:
    """How many bids there were in this auction."""
    return sum(_BID.fullmatch(each.call) is not None for each in table.calls)


def _call(word: str) -> str | None:
    found = _BID.fullmatch(word)
    return f"{found[1].lower()}{found[2].upper()}" if found else None


def _card(word: str) -> str | None:
    found = _CARD.fullmatch(word)
    return found[0].upper().replace("10", "T") if found else None


def _rummy(words: list[str]) -> list[str]:
    spelled, rest = list[str](), list(words)
    while rest:
        word = rest.pop(0).lower()
        taken = [word]
        while rest and len(taken) < _LONG.get(word, 1) and _belongs(word, len(taken), rest[0]):
            taken.append(_part(rest.pop(0)))
        spelled.append(" ".join(taken))
    return spelled


def _belongs(word: str, place: int, part: str) -> bool:
    """Whether what was typed next is part of the same action."""
    return not (word == "lay" and place == 3) or part.lower() in _ENDS


def _part(text: str) -> str:
    return text.upper().replace("10", "T") if _CARDS.fullmatch(text) else text.lower()
