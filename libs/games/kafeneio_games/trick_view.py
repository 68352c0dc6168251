"""What one seat, or a spectator, may know of a game of tricks: one shape for all six games.

Everything in it follows from what is public and from the viewer's own hand: the view of a seat is
the same whatever the others hold.  Sides are 0 (seats 0 and 2) and 1 (seats 1 and 3); of two
players each is a side.  Pairs, and lists by side, have side 0 first.
"""

from __future__ import annotations

import enum
from dataclasses import dataclass

from .cards import Card
from .declarations import Kind
from .game import Result, Seat


class Stage(enum.StrEnum):
    """What is awaited, or that nothing is."""

    DEAL = "deal"  # the house's deal
    BIDDING = "bidding"  # a bid or a pass; also a contra where it is said in the auction
    CONTRA = "contra"  # an opponent of the caller is asked for a contra
    RECONTRA = "recontra"  # the calling side is asked for a recontra
    CHOOSING = "choosing"  # the turned suit, another one, "I take", or a pass
    EXCHANGE = "exchange"  # the chooser is asked for the exchange of the seven (T3)
    PLAYING = "playing"  # a card, or a declaration before it
    OVER = "over"


@dataclass(frozen=True, slots=True)
class Contract:
    """What is to be made, and by whom.

    `seat` bid it, or chose the trump; `side` is its side.  `value` is the number bid, 250 for all
    tricks, 0 where no number is bid.  `trump` is "S", "H", "D", "C", or "" without trumps.
    `capot` says that all tricks are due.  `multiplier` is 1, 2 after a contra, 4 after a recontra.
    """

    seat: Seat
    side: int
    value: int
    trump: str
    capot: bool = False
    multiplier: int = 1


@dataclass(frozen=True, slots=True)
class Declared:
    """One declaration, as far as the viewer may know it.

    `points` is what was announced (P32), 0 where only the kind is announced (B13) and the cards
    are not seen yet.  `kind` is None where only the points were announced, and `cards` is empty,
    until they may be seen: by its owner at once, by everybody when the first trick is over and the
    declaration counts (P44, B13), else never.  `scored` is None until the declarations have been
    compared, then whether this one counts.
    """

    seat: Seat
    kind: Kind | None
    points: int
    cards: tuple[Card, ...]
    scored: bool | None


@dataclass(frozen=True, slots=True)
class SideSheet:
    """How one side's points of a finished hand came about.

    `tricks` are the card points with the last trick's bonus, or what all tricks are worth instead;
    `declarations` and `belote` what they gave this side's count; `contract` the value it gains of
    the contract, with its multiplier.  `total` is what it gets, exactly, with what the other side
    lost to it; `marked` what goes on the score: rounded, in pilotta in tens.
    """

    tricks: int
    declarations: int
    belote: int
    contract: int
    total: int
    marked: int


@dataclass(frozen=True, slots=True)
class TrickView:
    """One hand of a game of tricks as `seat`, or a spectator (None), sees it.

    `game` is the variant's id ("pilotta"); `stage` what is awaited; `dealer` who dealt.
    `hand` are the viewer's own cards in the order of `tricks.sorted_hand`, () for a spectator;
    `counts` how many cards each seat holds, by seat.
    `calls` is the auction so far in the notation: who said what, exchanges and passes included.
    `turned` is the turned card as long as it lies on the table.
    `contract` is the highest bid so far while it can be overbid, then the contract; None before a
    bid or choice.
    `prompted` is whose move is awaited, None while the deal is due and when the hand is over.
    `trick` is the trick on the table, `last_trick` the one before it, both in order of play;
    `played` all cards of completed tricks, in order of play, so `last_trick` is its end.
    `tricks` are the tricks won and `points` the card points taken so far, by side, the last
    trick's bonus included once it is won, but not what all tricks are worth.
    `declarations` are those announced, in order; `belote` who has announced "belote" and
    "rebelote", in order.
    `can_declare` says whether the viewer may declare now.
    `result` is there when the hand is over; `sheet` its arithmetic, one entry per side, None
    before and when nobody has bid or taken.
    """

    game: str
    stage: Stage
    dealer: Seat
    seat: Seat | None
    hand: tuple[Card, ...]
    counts: tuple[int, ...]
    calls: tuple[tuple[Seat, str], ...]
    turned: Card | None
    contract: Contract | None
    prompted: Seat | None
    trick: tuple[tuple[Seat, Card], ...]
    last_trick: tuple[tuple[Seat, Card], ...]
    played: tuple[tuple[Seat, Card], ...]
    tricks: tuple[int, ...]
    points: tuple[int, ...]
    declarations: tuple[Declared, ...]
    belote: tuple[tuple[Seat, str], ...]
    can_declare: bool
    result: Result | None
    sheet: tuple[SideSheet, ...] | None
