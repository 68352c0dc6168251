"""What a hand can do in the six games of tricks, and how it is written.

    the house   deal 7S8S.../.../.../...    the shuffled pack, by hands (`cards.Deal`)
    bidding     90H  capotH  pass           a value and a trump suit; all tricks
                contra 3  recontra          an answer to the third bid of this auction (A16)
    choosing    take                        the turned suit, or "I take" without trumps
                choose H  pass              another suit
    exchange    exchange  pass              the seven of trumps for the turned card (T3)
    play        declare                     one's declaration, before one's first card (P48, B13)
                JS                          a card

Coinche and surcoinche are written as contra and recontra: one notation for all six games.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final, TypeAlias

from .cards import DEAL, SHORT_PACK, SUITS, Card, Deal, deal_shown, read_deal, write_deal
from .game import Seat, Unreadable


@dataclass(frozen=True, slots=True)
class Bid:
    """A number of points with that trump suit: "90H".  Not all tricks, whatever the number."""

    value: int
    suit: str


@dataclass(frozen=True, slots=True)
class Capot:
    """All tricks with that trump suit: "capotH"."""

    suit: str


@dataclass(frozen=True, slots=True)
class Pass:
    """Nothing to say, of whatever was asked: "pass"."""


@dataclass(frozen=True, slots=True)
class Contra:
    """The contract will fail: "contra 3" answers the third `Bid` or `Capot` of this auction.

    The number makes it refusable when another bid has come in between (A16).
    """

    bid: int


@dataclass(frozen=True, slots=True)
class Recontra:
    """The contract will be made all the same: "recontra"."""


@dataclass(frozen=True, slots=True)
class Take:
    """The turned suit becomes trump; without trumps, "I take": "take"."""


@dataclass(frozen=True, slots=True)
class Choose:
    """That other suit becomes trump: "choose H"."""

    suit: str


@dataclass(frozen=True, slots=True)
class Exchange:
    """The seven of trumps for the turned card: "exchange"."""


@dataclass(frozen=True, slots=True)
class Declare:
    """One's declarations, before one's first card: "declare".  The hand says which they are."""


@dataclass(frozen=True, slots=True)
class PlayCard:
    """A card to the trick: "JS"."""

    card: Card


Call: TypeAlias = Bid | Capot | Pass | Contra | Recontra | Take | Choose
"""What may be said before the play, the exchange aside."""

Action: TypeAlias = Deal | Call | Exchange | Declare | PlayCard

PASS: Final = Pass()
RECONTRA: Final = Recontra()
TAKE: Final = Take()
EXCHANGE: Final = Exchange()
DECLARE: Final = Declare()
CHOICES: Final[Mapping[str, Choose]] = {suit: Choose(suit) for suit in SUITS}
CAPOTS: Final[Mapping[str, Capot]] = {suit: Capot(suit) for suit in SUITS}
CARDS: Final[Mapping[Card, PlayCard]] = {card: PlayCard(card) for card in SHORT_PACK}
"""One action per card, so that listing what is legal makes no objects."""

_CONTRA: Final = "contra "


def write(action: Action) -> str:
    """The notation of an action, readable without a state; a deal in full."""
    match action:
        case PlayCard(card):
            return card
        case Bid(value, suit):
            return f"{value}{suit}"
        case Capot(suit):
            return f"capot{suit}"
        case Contra(bid):
            return f"{_CONTRA}{bid}"
        case Choose(suit):
            return f"choose {suit}"
        case Deal():
            return write_deal(action)
    return _WORDS[action]


_WORDS: Final[Mapping[Action, str]] = {
    PASS: "pass",
    RECONTRA: "recontra",
    TAKE: "take",
    EXCHANGE: "exchange",
    DECLARE: "declare",
}
_BY_TEXT: Final[Mapping[str, Action]] = {
    write(action): action
    for action in (*CARDS.values(), *CAPOTS.values(), *CHOICES.values(), *_WORDS)
}


def read(text: str) -> Action:
    """The exact inverse of `write`, a shown deal included; `Unreadable` for every other text."""
    action = _BY_TEXT.get(text)
    if action is not None:
        return action
    if text.startswith(DEAL):
        return read_deal(text)
    if text.startswith(_CONTRA):
        return Contra(_number(text.removeprefix(_CONTRA), text))
    if text[-1:] in SUITS:
        return Bid(_number(text[:-1], text), text[-1:])
    raise Unreadable(f"no call or card reads {text[:20]!r}")


def show(action: Action, seat: Seat | None) -> str:
    """As `write`; of a deal only what that seat, or a spectator (None), may see."""
    return write_deal(deal_shown(action, seat)) if isinstance(action, Deal) else write(action)


def _number(digits: str, text: str) -> int:
    """A whole number from 1 to 999, written in the one way that `write` has."""
    if not (digits.isascii() and digits.isdecimal() and len(digits) <= 3 and digits[0] != "0"):
        raise Unreadable(f"no call or card reads {text[:20]!r}")
    return int(digits)
