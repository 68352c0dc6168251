"""A match of belote or coinche: deals to a target, with what a deal leaves to the next.

B2        the first dealer is drawn by the house, then the next seat deals
B15       the target counts after a deal; the higher side wins, level ones play one more
B22, A19  what a litige holds goes to the winner of the next scored deal; several add up;
          what is still held when the match ends is lost
A18       where it is played, belote alone does not win for a side that has lost its deal
F1        a seat that leaves is played on by a computer; when all have left it is void
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from .belote_scoring import PASSED, DealResult, Pair
from .game import AnyGame, Draw, Illegal, Result, Seat
from .match import Outcome, Round
from .target_match import (
    ALL_FORFEITED,
    added,
    ahead,
    drawn_dealer,
    next_seat,
    read_dealer,
    seats_of,
)


@dataclass(frozen=True, slots=True)
class BeloteMatch:
    """Deals of one game until a side has `target` points.

    `scored` are the points by side, `played` the finished deals, passed ones included.  `dealer`
    deals next; None before the first one is drawn.  `gone` are the forfeited seats, in that order;
    `ending` that of the last deal.  `pot` is what litiges hold.  `idle` is what each side marked in
    the last scored deal for its belote though it had lost it (A18), which counts when
    `no_win_on_belote_only` is played.
    """

    game: AnyGame
    target: int
    no_win_on_belote_only: bool = False
    scored: Pair = (0, 0)
    played: int = 0
    dealer: Seat | None = None
    gone: tuple[Seat, ...] = ()
    ending: str = ""
    pot: int = 0
    idle: Pair = (0, 0)

    @property
    def sides(self) -> tuple[tuple[Seat, ...], ...]:
        """Those of the game."""
        return self.game.sides

    @property
    def score(self) -> tuple[int, ...]:
        """Points by side, without what is held."""
        return self.scored

    @property
    def standing(self) -> tuple[object, ...]:
        """Score, deals played, next dealer, forfeited seats, last ending, pot, idle belote."""
        return (
            *(self.scored, self.played, self.dealer, self.gone, self.ending),
            *(self.pot, self.idle),
        )

    def next(self) -> Round | None:
        """The next deal; None until the first dealer is drawn; ValueError when it is over."""
        if self.outcome() is not None:
            raise ValueError("the match is over")
        return None if self.dealer is None else Round(self.game, self.dealer, self._seats)

    def chance(self, draw: Draw) -> str:
        """The first dealer, in notation."""
        if self.next() is not None:
            raise ValueError("no dealer is to be drawn")
        return drawn_dealer(draw, len(self._seats))

    def opened(self, text: str) -> BeloteMatch:
        """The match with its first dealer (B2); `Illegal` when none is due, or no such seat is."""
        seat = read_dealer(text)
        if self.outcome() is not None or self.dealer is not None:
            raise Illegal("B2", "the first dealer is drawn already")
        if seat not in self._seats:
            raise Illegal("B2", f"there is no seat {seat}")
        return replace(self, dealer=seat)

    def after(self, result: Result) -> BeloteMatch:
        """The marks added; the pot filled, handed out, or left where it is (B22)."""
        if self.outcome() is not None or self.dealer is None:
            raise ValueError("no deal was being played")
        if not isinstance(result, DealResult):
            raise ValueError("not the result of a deal of belote")
        first, second = added(self.scored, result.points)
        if result.winner is None:
            pot = self.pot + result.held
        else:
            pot = 0
            first, second = added((first, second), _given(result.winner, self.pot))
        return replace(
            self,
            scored=(first, second),
            played=self.played + 1,
            dealer=next_seat(self.dealer, len(self._seats)),
            ending=result.ending,
            pot=pot,
            idle=self.idle if result.ending == PASSED else result.idle,
        )

    def withdraw(self, seat: Seat) -> BeloteMatch:
        """The seat is noted; the play goes on until the last one has left (F1)."""
        if seat not in self._seats:
            raise ValueError(f"no seat {seat}")
        if self.outcome() is not None or seat in self.gone:
            return self
        return replace(self, gone=(*self.gone, seat))

    def outcome(self) -> Outcome | None:
        """Void when all seats have left; else won by the side that is ahead with the target."""
        side = ahead(self._towards_target(), self.target)
        if side is not None:
            return Outcome(self.sides[side], self.scored, self.ending)
        if len(self.gone) == len(self._seats):
            return Outcome((), self.scored, "void", ALL_FORFEITED)
        return None

    def _towards_target(self) -> tuple[int, ...]:
        """The score, without a side that belote alone has brought to the target (A18)."""
        if not self.no_win_on_belote_only:
            return self.scored
        return tuple(
            points if points - idle >= self.target else 0
            for points, idle in zip(self.scored, self.idle, strict=True)
        )

    @property
    def _seats(self) -> tuple[Seat, ...]:
        return seats_of(self.sides)


def _given(side: int, points: int) -> Pair:
    """So much for that side, nothing for the other."""
    return (points, 0) if side == 0 else (0, points)
