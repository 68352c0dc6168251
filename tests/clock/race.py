"""What the machine of `test_race` talks to instead of PostgreSQL and `rules`: a log that decides,
and moments at which a firing stands still."""

from __future__ import annotations

from collections.abc import Coroutine, Generator
from dataclasses import dataclass, field
from typing import Any, Final
from uuid import UUID

import grpc
from kafeneio.common.v1 import errors_pb2
from kafeneio_clock.turns import Options
from kafeneio_clock.values import Event, Finished, ForfeitRecorded, Reason, TurnEnded, TurnStarted
from kafeneio_runtime.errors import Refusal

QUICK: Final = Options(move=30, grace=1, timeouts=2, silent=12, unknown=20)
"""Out with the second timeout, so that it is often reached."""
PLAYERS: Final = ("eleni", "nikos", "maria")


class Commit:
    """A change of the clock waits to be committed."""

    def __await__(self) -> Generator[object, Any, None]:
        yield self


@dataclass
class Question:
    """A call of `rules`: asked, then perhaps decided, then answered."""

    kind: str
    arguments: tuple[Any, ...] = ()
    answer: object = None
    decided: bool = False

    def __await__(self) -> Generator[object, Any, Any]:
        return (yield self)


@dataclass
class Log:
    """`rules`: the log of the game, and what it decides when it is asked."""

    events: list[tuple[Event, int]] = field(default_factory=list)
    turn: int = 0
    seat: int = -1
    forfeits: dict[int, Reason] = field(default_factory=dict)
    requests: set[UUID] = field(default_factory=set)
    finished: bool = False

    def tell(self, event: Event, now: int) -> None:
        self.events.append((event, now))

    def move(self, now: int) -> None:
        """The prompted seat plays, and the next one is prompted."""
        if self.turn:
            self.tell(TurnEnded(self.turn, now), now)
        self.turn += 1
        self.seat = (self.seat + 1) % len(PLAYERS)
        self.tell(TurnStarted(self.turn, self.seat, now), now)

    def finish(self, now: int) -> None:
        self.finished = True
        self.tell(Finished(), now)

    def record(self, seat: int, reason: Reason, turn: int, request: UUID, now: int) -> object:
        """A forfeit, or why not."""
        if request in self.requests:
            return None
        if self.finished:
            return _refused(errors_pb2.ERROR_REASON_GAME_OVER)
        if turn and turn != self.turn:
            return _refused(errors_pb2.ERROR_REASON_TURN_PASSED)
        if seat in self.forfeits:
            return _refused(errors_pb2.ERROR_REASON_SEAT_FORFEITED)
        self.requests.add(request)
        self.forfeits[seat] = reason
        self.tell(ForfeitRecorded(seat, reason, computer=True), now)
        if len(self.forfeits) == len(PLAYERS):
            self.finish(now)
        return None


def _refused(reason: errors_pb2.ErrorReason.ValueType) -> Refusal:
    return Refusal(grpc.StatusCode.FAILED_PRECONDITION, reason, "no")


@dataclass
class Flight:
    """One firing, or one Leave, that stands still at what it waits for."""

    work: Coroutine[object, object, object]
    at: Commit | Question | None = None


@dataclass
class Here:
    """The life of the replica that has everybody's stream."""

    replica: str = "here"
