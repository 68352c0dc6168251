"""A game as the pure core sees it, with a `rules` that answers at once."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, field
from typing import Final

from kafeneio_clock import domain, wire
from kafeneio_clock.turns import Options
from kafeneio_clock.values import (
    Announcement,
    Attached,
    Charged,
    Closed,
    Confirmed,
    Event,
    Finished,
    Forfeit,
    ForfeitRecorded,
    Leaving,
    Lost,
    Presence,
    Refused,
    State,
    Tick,
    TurnEnded,
    TurnRuns,
    TurnStarted,
)

USUAL: Final = Options(
    move=30 * wire.SECOND,
    grace=wire.SECOND // 2,
    timeouts=5,
    silent=12 * wire.SECOND,
    unknown=20 * wire.SECOND,
)


@dataclass
class Table:
    """`now` is in seconds, and moved by the test; `turn` is the one that runs in the log."""

    state: State
    now: float = 0
    turn: tuple[int, int] | None = None
    told: list[Announcement] = field(default_factory=list)
    turns: int = 0

    @classmethod
    def playing(cls, used: int = 0, options: Options = USUAL) -> Table:
        """Both attend, seat 0 is on turn since 0, and has been charged already."""
        state = domain.begin(("eleni", "nikos"), options, 0)
        table = cls(state)
        for seat in (0, 1):
            table.attach(seat)
        if used:
            charged = table.state.seats[0]._replace(charged=used)
            table.state = table.state._replace(seats=(charged, table.state.seats[1]))
        table.start_turn(0)
        return table

    @classmethod
    def of_four(cls, computers: Collection[int] = ()) -> Table:
        """Four seats, in some of them computers; nobody attends yet, and nobody is on turn."""
        return cls(domain.begin(("eleni", "nikos", "maria", "petros"), USUAL, 0, computers))

    @property
    def micros(self) -> int:
        """Now, as the core counts."""
        return round(self.now * wire.SECOND)

    def happen(self, event: Event) -> None:
        """An event, now."""
        self.state, told = domain.advance(self.state, event, self.micros)
        self.told += told

    def attach(self, seat: int) -> None:
        """Somebody opens a stream."""
        if self.state.seats[seat].presence is not Presence.ATTACHED:
            self.happen(Attached(seat, "here"))

    def lose(self, seat: int) -> None:
        """Somebody closes his."""
        self.happen(Lost(seat, self.state.seats[seat].epoch, self.micros))

    def start_turn(self, seat: int) -> None:
        """`rules` prompts a seat."""
        self.turns += 1
        self.turn = (self.turns, seat)
        self.happen(TurnStarted(self.turns, seat, self.micros))

    def end_turn(self) -> None:
        """The prompted seat has played."""
        assert self.turn is not None
        self.happen(TurnEnded(self.turn[0], self.micros))
        self.turn = None

    def finish(self) -> None:
        """The game is over."""
        self.turn = None
        self.happen(Finished())

    def leave(self, seat: int) -> None:
        """A seat leaves, and `rules` records it."""
        self.happen(Leaving(seat, "request"))
        self.happen(Confirmed(seat))

    def replace(self, seat: int) -> None:
        """`rules` tells that a computer plays on for a seat that has just been forfeited."""
        self.happen(ForfeitRecorded(seat, self.state.forfeits[-1].reason, computer=True))

    def fire(self) -> None:
        """What a replica does when something is due: `rules` is asked, and asked to record."""
        self.happen(Tick())
        if self.state.turn is not None and domain.overdue(self.state, self.micros):
            assert self.turn is not None, "the bus is never late here"
            self.happen(TurnRuns(self.turn[0], self.micros))
        for number, seat in enumerate(self.state.seats):
            if seat.intent is not None:
                runs = self.turn is not None and self.turn[0] == seat.intent.turn
                self.happen(Confirmed(number) if runs else Refused(number))

    def fire_until(self, moment: float) -> None:
        """Time passes, and everything is fired in time."""
        while True:
            due = domain.next_deadline(self.state)
            if due is None or due > round(moment * wire.SECOND):
                break
            self.now = max(self.now, due / wire.SECOND)
            self.fire()
        self.now = moment

    def deadline(self) -> float | None:
        """When something is due, in seconds."""
        due = domain.next_deadline(self.state)
        return None if due is None else due / wire.SECOND

    def move_left(self) -> int:
        """What is left of the running period."""
        assert self.state.turn is not None
        return self.state.turn.move_left(self.state.options, self.micros)

    def charges(self) -> list[Charged]:
        """Every charge that was announced."""
        return [each for each in self.told if isinstance(each, Charged)]

    def closed(self) -> tuple[Forfeit, ...]:
        """The forfeits with which the clock was closed."""
        (found,) = (each for each in self.told if isinstance(each, Closed))
        assert self.told[-1] is found, "nothing comes after it"
        return found.forfeits
