"""What is played for one stake: which game is next, who opens it, the score, and who has won.

A match is a frozen value that hears results; the games know nothing of it.  What chance decides
between the games (the opening throw) is an action of CHANCE in the match's own notation.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Final, Protocol

from .game import AnyGame, Draw, Illegal, Result, Seat, Unreadable


@dataclass(frozen=True, slots=True)
class Round:
    """The next game of a match: its rules, who opens it, and the seats that take part."""

    game: AnyGame
    first: Seat
    live: tuple[Seat, ...]


@dataclass(frozen=True, slots=True)
class Outcome:
    """How the staked game ended.

    Either decided, with the winning seats, or void with a reason (NO_SHOW, HOUSE, OPERATOR,
    ALL_FORFEITED, CANCELLED) and no winners.  `score` has one number per side; `ending` is the
    ending of the last game ("single", "forfeit" ...), "void" when void.
    """

    winners: tuple[Seat, ...]
    score: tuple[int, ...]
    ending: str
    void: str | None = None


@dataclass(frozen=True, slots=True)
class OpeningThrow:
    """Each seat's one die, in order of seats (V2.4): "opening 63"."""

    dice: tuple[int, ...]


class Match(Protocol):
    """Games played for one stake.

    While `next()` is None an action of chance is due: `chance` draws it, `opened` hears it.
    """

    @property
    def sides(self) -> tuple[tuple[Seat, ...], ...]:
        """As in `Game`."""

    @property
    def score(self) -> tuple[int, ...]:
        """Points by side."""

    @property
    def standing(self) -> tuple[object, ...]:
        """All that changes as the match goes on, for digests."""

    def next(self) -> Round | None:
        """The next game, or None when chance must first say who opens it.

        ValueError when the match is over.
        """

    def chance(self, draw: Draw) -> str:
        """The due action of chance, in notation."""

    def opened(self, text: str) -> Match:
        """The match after that action; `Unreadable`, or `Illegal` when none is due."""

    def after(self, result: Result) -> Match:
        """The match when the game that was `next` has ended so."""

    def withdraw(self, seat: Seat) -> Match:
        """Rules F: what a forfeited seat does to the match."""

    def outcome(self) -> Outcome | None:
        """None while it goes on."""


OPENING: Final = "opening "


def write_opening(throw: OpeningThrow) -> str:
    """ "opening 63": the die of seat 0, then of seat 1."""
    return OPENING + "".join(map(str, throw.dice))


def read_opening(text: str) -> OpeningThrow:
    """The exact inverse; `Unreadable` for anything else."""
    dice = text.removeprefix(OPENING)
    if not text.startswith(OPENING) or not dice or not set(dice) <= set("123456"):
        raise Unreadable(f"no opening throw reads {text[:20]!r}")
    return OpeningThrow(tuple(map(int, dice)))


@dataclass(frozen=True, slots=True)
class PointsMatch:
    """A sequence of games, repeated until a side has `target` points (V2.4, V2.5, VA8, VA19).

    Or, with `once`, played once round: then more points win, whatever the target, and while they
    are level one more game of the sequence is played, each after a new opening throw.
    `scored` are the points of both sides, `played` the finished games, drawn ones included.
    `opener` is who opens the next game; None asks for an opening throw, before the first game and
    after a drawn one.  `gone` is the seat that forfeited the match (F2), `ending` that of the last
    game.
    """

    games: tuple[AnyGame, ...]
    target: int
    scored: tuple[int, ...] = (0, 0)
    played: int = 0
    opener: Seat | None = None
    gone: Seat | None = None
    ending: str = ""
    once: bool = False

    @property
    def sides(self) -> tuple[tuple[Seat, ...], ...]:
        """Those of the games."""
        return self.games[0].sides

    @property
    def score(self) -> tuple[int, ...]:
        """Points by side; the last game may overshoot the target, which changes nothing (VA19)."""
        return self.scored

    @property
    def standing(self) -> tuple[object, ...]:
        """Score, games played, opener, forfeited seat, last ending."""
        return (self.scored, self.played, self.opener, self.gone, self.ending)

    def next(self) -> Round | None:
        """The game whose turn it is in the sequence; None until the opening throw is decided."""
        if self.outcome() is not None:
            raise ValueError("the match is over")
        if self.opener is None:
            return None
        live = tuple(seat for side in self.sides for seat in side)
        return Round(self.games[self.played % len(self.games)], self.opener, live)

    def chance(self, draw: Draw) -> str:
        """One die per side; equal ones are thrown again as an action of their own."""
        if self.next() is not None:
            raise ValueError("no opening throw is due")
        return write_opening(OpeningThrow(tuple([1 + draw.below(6) for _ in self.sides])))

    def opened(self, text: str) -> PointsMatch:
        """The higher die opens; a tie changes nothing, so the throw stays due (V2.4)."""
        throw = read_opening(text)
        if self.outcome() is not None or self.opener is not None:
            raise Illegal("V2.4", "no opening throw is due")
        if len(throw.dice) != len(self.sides):
            raise Illegal("V2.4", "each side throws one die")
        highest = max(throw.dice)
        if throw.dice.count(highest) > 1:
            return self
        return replace(self, opener=self.sides[throw.dice.index(highest)][0])

    def after(self, result: Result) -> PointsMatch:
        """Points are added; the winner opens the next game, after a draw the dice say (VA8)."""
        if self.next() is None:
            raise ValueError("no game was being played")
        scored = tuple(a + b for a, b in zip(self.scored, result.points, strict=True))
        best = max(result.points)
        drawn = result.points.count(best) > 1
        extra = self.once and self.played + 1 >= len(self.games)
        return replace(
            self,
            scored=scored,
            played=self.played + 1,
            opener=None if drawn or extra else self.sides[result.points.index(best)][0],
            ending=result.ending,
        )

    def withdraw(self, seat: Seat) -> PointsMatch:
        """The match goes to the other side at any score (F2, VA12); the first to leave loses."""
        if not any(seat in side for side in self.sides):
            raise ValueError(f"no seat {seat}")
        if self.outcome() is not None:
            return self
        return replace(self, gone=seat, ending="forfeit")

    def outcome(self) -> Outcome | None:
        """Won by the first side with `target` points, or by the side that has not left.

        Once round by the side with more points, when all games have been played.
        """
        for side in self.sides:
            if self.gone is not None and self.gone not in side:
                return Outcome(side, self.scored, self.ending)
        if self.once:
            won_with = self._most() if self.played >= len(self.games) else None
        else:
            won_with = self.target
        for side, points in zip(self.sides, self.scored, strict=True):
            if won_with is not None and points >= won_with:
                return Outcome(side, self.scored, self.ending)
        return None

    def _most(self) -> int | None:
        """The points of the side that is ahead; None while they are level."""
        most = max(self.scored)
        return None if self.scored.count(most) > 1 else most
