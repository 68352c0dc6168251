"""How the time of one turn is measured, and when it costs a timeout.

Pure. Times are whole microseconds since the epoch. A turn is kept as what really happened: spans in
which the move clock ran (the player was there) or in which he was away, and intervals that are
credited. Everything else is worked out from that, so it does not matter when somebody looks.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum
from itertools import islice
from typing import NamedTuple, TypeAlias

Micros: TypeAlias = int


@dataclass(frozen=True, slots=True)
class Options:
    """The times of a game; `timeouts` is the one with which a seat is out (X2, X3, X11)."""

    move: Micros
    grace: Micros
    timeouts: int
    silent: Micros
    unknown: Micros

    @property
    def period(self) -> Micros:
        """A period of a move with its grace."""
        return self.move + self.grace


class Cause(StrEnum):
    """What time is used for."""

    MOVE = "move"
    AWAY = "away"


class CreditReason(StrEnum):
    """Whose fault it was (X10), or that an operator had paused the game."""

    CLOCK_OUTAGE = "CLOCK_OUTAGE"
    RULES_OUTAGE = "RULES_OUTAGE"
    RULES_UNREACHABLE = "RULES_UNREACHABLE"
    STREAM_ENDED = "STREAM_ENDED"
    PAUSED = "PAUSED"


@dataclass(frozen=True, slots=True)
class Interval:
    """From one moment to another."""

    began: Micros
    ended: Micros


@dataclass(frozen=True, slots=True)
class Credit(Interval):
    """Time that counts for nobody."""

    reason: CreditReason


@dataclass(frozen=True, slots=True)
class Span:
    """Time of a turn in which one thing went on; the last one may go on for ever."""

    cause: Cause
    began: Micros
    ended: Micros | None


@dataclass(frozen=True, slots=True)
class Crossing:
    """A period of a move ended, or the time away reached a multiple, at this moment."""

    at: Micros
    cause: Cause

    @property
    def due(self) -> Micros:
        """When it may be charged: a period must have been over, a multiple reached (X11)."""
        return self.at + 1 if self.cause is Cause.MOVE else self.at


class Turn(NamedTuple):
    """A prompt that runs. `away_before` is the seat's T when it began; `charged` of its crossings
    have been charged; `credits` don't overlap."""

    number: int
    seat: int
    since: Micros
    away_before: Micros
    spans: tuple[Span, ...] = ()
    credits: tuple[Credit, ...] = ()
    charged: int = 0

    def turned(self, cause: Cause | None, at: Micros) -> Turn:
        """From `at` on something else goes on, or nothing. What lies before stays."""
        at = max(at, self.since)
        spans = self.spans
        if spans:
            last = spans[-1]
            if last.ended is None:
                at = max(at, last.began)
                spans = spans[:-1]
                if at > last.began:
                    spans += (Span(last.cause, last.began, at),)
            else:
                at = max(at, last.ended)
        if cause is not None:
            spans += (Span(cause, at, None),)
        # Written out, for every turn of every game comes here twice.
        return Turn(
            self.number,
            self.seat,
            self.since,
            self.away_before,
            spans,
            self.credits,
            self.charged,
        )

    def credited(self, given: Interval, reason: CreditReason) -> tuple[Turn, Micros]:
        """The turn with an interval taken out, and how much of its time that was: what has been
        credited before is not credited again, and what lies before the turn not at all."""
        given = Interval(max(given.began, self.since), given.ended)
        pieces = _less(given, self.credits)
        if not pieces:
            return self, 0
        used = sum(
            max(0, min(piece.ended, span.ended or piece.ended) - max(piece.began, span.began))
            for piece in pieces
            for span in self.spans
        )
        fresh = (Credit(piece.began, piece.ended, reason) for piece in pieces)
        together = tuple(sorted((*self.credits, *fresh), key=lambda each: each.began))
        return self._replace(credits=together), used

    def still(self, interval: Interval) -> Micros:
        """How much of an interval lies in the turn and is not credited."""
        whole = Interval(max(interval.began, self.since), interval.ended)
        return sum(piece.ended - piece.began for piece in _less(whole, self.credits))

    def crossings(self, options: Options) -> Iterator[Crossing]:
        """All that the turn has crossed, in order, and for ever on if nothing changes."""
        used, away = 0, self.away_before % options.move
        for span in self.counted():
            at = span.began
            full = options.period if span.cause is Cause.MOVE else options.move
            gone = used if span.cause is Cause.MOVE else away
            while span.ended is None or Crossing(at + full - gone, span.cause).due <= span.ended:
                at += full - gone
                gone = 0
                yield Crossing(at, span.cause)
            gone += span.ended - at
            if span.cause is Cause.MOVE:
                used = gone
            else:
                away = gone

    def next_crossing(self, options: Options) -> Crossing | None:
        """The first one that has not been charged; None where the time stands still before it."""
        if len(self.spans) == 1 and not self.credits and self.spans[0].ended is None:
            return self._simply_crossed(options, self.spans[0])
        return next(islice(self.crossings(options), self.charged, None), None)

    def _simply_crossed(self, options: Options, span: Span) -> Crossing:
        """The same where one thing has gone on since the turn began, as in nearly all turns."""
        if span.cause is Cause.MOVE:
            return Crossing(span.began + options.period * (self.charged + 1), span.cause)
        gone = self.away_before % options.move
        return Crossing(span.began + options.move * (self.charged + 1) - gone, span.cause)

    def used(self, cause: Cause, until: Micros) -> Micros:
        """How much time went to one thing up to a moment, less credits."""
        return sum(
            max(0, min(until, until if span.ended is None else span.ended) - span.began)
            for span in self.counted()
            if span.cause is cause
        )

    def away(self, until: Micros) -> Micros:
        """The seat's T at a moment of the turn (X6)."""
        return self.away_before + self.used(Cause.AWAY, until)

    def move_left(self, options: Options, until: Micros) -> Micros:
        """What is left of the running period of the move."""
        used = self.used(Cause.MOVE, until)
        charged = sum(
            crossing.cause is Cause.MOVE
            for crossing in islice(self.crossings(options), self.charged)
        )
        return max(0, options.period * (charged + 1) - used)

    def is_ordinary(self, options: Options) -> bool:
        """Whether a turn that is over has cost nothing and could not have: its player was there
        from its begin to its end, within one period, or nobody was waited for."""
        if len(self.spans) != 1:
            return not self.spans
        span = self.spans[0]
        if span.cause is not Cause.MOVE or self.credits:
            return False
        return span.ended is not None and span.ended <= span.began + options.period

    def counted(self) -> Iterator[Span]:
        """The spans less the credits."""
        for span in self.spans:
            if span.ended is not None:
                for piece in _less(Interval(span.began, span.ended), self.credits):
                    yield Span(span.cause, piece.began, piece.ended)
                continue
            began = span.began
            for credit in self.credits:
                if credit.began > began:
                    yield Span(span.cause, began, credit.began)
                began = max(began, credit.ended)
            yield Span(span.cause, began, None)


def _less(whole: Interval, taken: Sequence[Interval]) -> list[Interval]:
    """What is left of an interval; `taken` is in order."""
    left: list[Interval] = []
    began = whole.began
    for each in taken:
        if each.began >= whole.ended:
            break
        if each.began > began:
            left.append(Interval(began, each.began))
        began = max(began, each.ended)
    if began < whole.ended:
        left.append(Interval(began, whole.ended))
    return left
