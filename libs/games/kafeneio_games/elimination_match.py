"""Hands until one player is left: what is played for one stake in the rummy games.

K25, K26   whoever has `target` points or more after a hand is out of the game
K27        several may be at once; the one who went out stays
K29, K36   the first dealer is drawn by lot, "dealer 2"; then the next who is left deals,
           anti-clockwise, also after a void hand (K22)
K30, K40   the last one left wins the whole contest
F3         a forfeited seat is out at once
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from .game import AnyGame, Draw, Illegal, Result, Seat
from .match import Outcome, Round
from .rummy_hand import next_live
from .target_match import added, read_dealer, write_dealer


@dataclass(frozen=True, slots=True)
class EliminationMatch:
    """A `Match` of one game, hand after hand; its `score` are the totals by seat.

    `live` are the seats that are left.  `dealer` deals the next hand; None until the lot has said
    who.  `hands` counts the finished ones, `ending` is that of the last.
    """

    game: AnyGame
    target: int
    live: tuple[Seat, ...]
    totals: tuple[int, ...]
    dealer: Seat | None = None
    hands: int = 0
    ending: str = ""

    @classmethod
    def begin(cls, game: AnyGame, target: int) -> EliminationMatch:
        """Nothing has happened yet; all seats are in."""
        live = tuple(seat for side in game.sides for seat in side)
        return cls(game, target, live, (0,) * len(live))

    @property
    def sides(self) -> tuple[tuple[Seat, ...], ...]:
        """Those of the game."""
        return self.game.sides

    @property
    def score(self) -> tuple[int, ...]:
        """Each seat's total; it may overshoot the target."""
        return self.totals

    @property
    def standing(self) -> tuple[object, ...]:
        """Who is left, totals, dealer, hands played, last ending."""
        return (self.live, self.totals, self.dealer, self.hands, self.ending)

    def next(self) -> Round | None:
        """The next hand; None until the first dealer is drawn."""
        if self.outcome() is not None:
            raise ValueError("the match is over")
        return None if self.dealer is None else Round(self.game, self.dealer, self.live)

    def chance(self, draw: Draw) -> str:
        """The first dealer, each player equally likely (K36)."""
        if self.next() is not None:
            raise ValueError("no dealer is to be drawn")
        return write_dealer(self.live[draw.below(len(self.live))])

    def opened(self, text: str) -> EliminationMatch:
        """With the dealer that was drawn, "dealer 2"; `Unreadable`, or `Illegal` by K36."""
        seat = read_dealer(text)
        if self.outcome() is not None or self.dealer is not None:
            raise Illegal("K36", "no dealer is to be drawn")
        if seat not in self.live:
            raise Illegal("K36", "the dealer is one of the players")
        return replace(self, dealer=seat)

    def after(self, result: Result) -> EliminationMatch:
        """Points are added, whoever reached the target is out, the deal passes on."""
        if self.next() is None or self.dealer is None:
            raise ValueError("no hand was being played")
        totals = added(self.totals, result.points)
        live = tuple(seat for seat in self.live if totals[seat] < self.target)
        return replace(
            self,
            live=live,
            totals=totals,
            dealer=next_live(self.dealer, live),
            hands=self.hands + 1,
            ending=result.ending,
        )

    def withdraw(self, seat: Seat) -> EliminationMatch:
        """The seat is out at once (F3); nothing changes if it is already, or all is over."""
        if seat not in self.live or self.outcome() is not None:
            return self
        live = tuple(each for each in self.live if each != seat)
        ending = "forfeit" if len(live) == 1 else self.ending
        # Where the leaver was to deal: before the deal the hand is on the table already, so only
        # the hand after it is concerned, and `after` finds its dealer.
        return replace(self, live=live, ending=ending)

    def outcome(self) -> Outcome | None:
        """Decided when one is left."""
        return Outcome(self.live, self.totals, self.ending) if len(self.live) == 1 else None
