"""A match of hands dealt in turn, until a side reaches the target: pilotta, and most of belote.

P1, P2, B2   the first dealer is drawn by the house, "dealer 2"; then the next seat deals,
             after a hand that nobody took too
P63, B15     the target counts after a completed hand; if both reach it the higher total wins;
             if they are equal another hand is played
F1           a seat that leaves changes nothing, a computer plays on; when all seats have left
             the match is void at once
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Final

from .game import AnyGame, Draw, Illegal, Result, Seat, Unreadable
from .match import Outcome, Round
from .tricks import next_seat as next_seat  # who deals next: to be had from here too

ALL_FORFEITED: Final = "ALL_FORFEITED"
DEALER: Final = "dealer "


def write_dealer(seat: Seat) -> str:
    """ "dealer 2": the seat that deals first."""
    return f"{DEALER}{seat}"


def read_dealer(text: str) -> Seat:
    """The exact inverse; `Unreadable` for anything else."""
    digit = text.removeprefix(DEALER)
    if not text.startswith(DEALER) or len(digit) != 1 or digit not in "0123456789":
        raise Unreadable(f"no dealer reads {text[:20]!r}")
    return Seat(int(digit))


def drawn_dealer(draw: Draw, seats: int) -> str:
    """The first dealer by chance, in notation."""
    return write_dealer(Seat(draw.below(seats)))


def seats_of(sides: tuple[tuple[Seat, ...], ...]) -> tuple[Seat, ...]:
    """All seats of all sides, in order of play."""
    return tuple(sorted(seat for side in sides for seat in side))


def ahead(scored: tuple[int, ...], target: int) -> int | None:
    """The side that has won: it has the target, and more than the other; else None (P63, B15)."""
    most = max(scored)
    return None if most < target or scored.count(most) > 1 else scored.index(most)


def added(scored: tuple[int, ...], points: tuple[int, ...]) -> tuple[int, ...]:
    """The score of each side with its points of one hand."""
    return tuple(a + b for a, b in zip(scored, points, strict=True))


@dataclass(frozen=True, slots=True)
class TargetMatch:
    """Hands of one game until a side has `target` points.

    `scored` are the points of both sides, `played` the finished hands, passed ones included.
    `dealer` deals the next hand; None before the first dealer is drawn.  `gone` are the seats that
    were forfeited, in that order; `ending` that of the last hand.  `dealer_rule` is the rule's id
    that refuses a wrong "dealer ..." entry.
    """

    game: AnyGame
    target: int
    scored: tuple[int, ...] = (0, 0)
    played: int = 0
    dealer: Seat | None = None
    gone: tuple[Seat, ...] = ()
    ending: str = ""
    dealer_rule: str = "P1"

    @property
    def sides(self) -> tuple[tuple[Seat, ...], ...]:
        """Those of the game."""
        return self.game.sides

    @property
    def score(self) -> tuple[int, ...]:
        """Points by side."""
        return self.scored

    @property
    def standing(self) -> tuple[object, ...]:
        """Score, hands played, next dealer, forfeited seats, last ending."""
        return (self.scored, self.played, self.dealer, self.gone, self.ending)

    def next(self) -> Round | None:
        """The next hand; None until the first dealer is drawn; ValueError when it is over."""
        if self.outcome() is not None:
            raise ValueError("the match is over")
        return None if self.dealer is None else Round(self.game, self.dealer, self._seats)

    def chance(self, draw: Draw) -> str:
        """The first dealer, in notation."""
        if self.next() is not None:
            raise ValueError("no dealer is to be drawn")
        return drawn_dealer(draw, len(self._seats))

    def opened(self, text: str) -> TargetMatch:
        """The match with its first dealer (P1); `Illegal` when none is due, or no such seat is."""
        seat = read_dealer(text)
        if self.outcome() is not None or self.dealer is not None:
            raise Illegal(self.dealer_rule, "the first dealer is drawn already")
        if seat not in self._seats:
            raise Illegal(self.dealer_rule, f"there is no seat {seat}")
        return replace(self, dealer=seat)

    def after(self, result: Result) -> TargetMatch:
        """Points are added, and the next seat deals (P2)."""
        if self.outcome() is not None or self.dealer is None:
            raise ValueError("no hand was being played")
        return replace(
            self,
            scored=added(self.scored, result.points),
            played=self.played + 1,
            dealer=next_seat(self.dealer, len(self._seats)),
            ending=result.ending,
        )

    def withdraw(self, seat: Seat) -> TargetMatch:
        """The seat is noted; the play goes on until the last one has left (F1)."""
        if seat not in self._seats:
            raise ValueError(f"no seat {seat}")
        if self.outcome() is not None or seat in self.gone:
            return self
        return replace(self, gone=(*self.gone, seat))

    def outcome(self) -> Outcome | None:
        """Void when all seats have left; else won by the side that is ahead with the target."""
        side = ahead(self.scored, self.target)
        if side is not None:
            return Outcome(self.sides[side], self.scored, self.ending)
        if len(self.gone) == len(self._seats):
            return Outcome((), self.scored, "void", ALL_FORFEITED)
        return None

    @property
    def _seats(self) -> tuple[Seat, ...]:
        return seats_of(self.sides)
