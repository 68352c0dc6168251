"""Clocks as they are read from the table and written to it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from uuid import UUID

from asyncpg import Record

from kafeneio_clock import codec, domain, listening, wire
from kafeneio_clock.turns import Micros
from kafeneio_clock.values import Announcement, Kept, State


@dataclass(frozen=True)  # without slots, for what is found once
class Row:
    """A clock at one version, as it was `now`; `heard` and `sequence` number the last events of
    `rules` and of its own."""

    game_id: UUID
    version: int
    heard: int
    sequence: int
    state: State
    now: Micros

    @cached_property
    def next_deadline(self) -> Micros | None:
        """When something is to be done, if nothing happens before."""
        return domain.next_deadline(self.state)


@dataclass(frozen=True)
class Due(Row):
    """A clock that is to be looked at: something was due at `deadline`, or it has heard nothing for
    some time."""

    deadline: Micros | None


@dataclass(frozen=True)  # without slots, for what is found once
class Write:
    """A clock to be written: `row` is what it was, None for a new one; `rest` is how many seconds
    nobody needs to look at it."""

    game_id: UUID
    row: Row | None
    state: State
    heard: int
    told: tuple[Announcement, ...]
    rest: float = 0

    @cached_property
    def changes(self) -> bool:
        """Whether there is anything to write."""
        row = self.row
        return row is None or row.state != self.state or row.heard != self.heard

    @cached_property
    def announced(self) -> list[Announcement]:
        """What others are told."""
        return [each for each in self.told if not isinstance(each, Kept)]

    @cached_property
    def written(self) -> Row:
        """The clock after it."""
        version, sequence, now = 0, 0, 0
        if self.row is not None:
            version, sequence, now = self.row.version, self.row.sequence, self.row.now
        sequence += len(self.announced)
        return Row(self.game_id, version + 1, self.heard, sequence, self.state, now)


def row_of(row: Record) -> Row:
    """A row as it was read, with its state."""
    return Row(
        game_id=row["game_id"],
        version=row["version"],
        heard=row["heard"],
        sequence=row["sequence"],
        state=codec.read(row["state"]),
        now=row["now"],
    )


def due_at(state: State, deadline: Micros | None, now: Micros, rest: float) -> Micros | None:
    """When a clock is to be looked at: at its deadline, or when it is to ask what has happened, and
    not before it has rested so many seconds."""
    listens = listening.listens_at(state, now)
    found = [at for at in (deadline, listens) if at is not None]
    if not found:
        return None
    earliest = now + round(rest * wire.SECOND) if rest else 0
    return max(min(found), earliest)


def columns(writes: Sequence[Write]) -> list[str]:
    """What the statements take, a text for each column."""
    return ["\n".join(column) for column in zip(*map(_line, writes), strict=True)]


def _line(write: Write) -> tuple[str, ...]:
    state, row = write.state, write.row
    deadline = write.written.next_deadline
    looked_at = due_at(state, deadline, 0 if row is None else row.now, write.rest)
    return (
        write.game_id.hex,
        str(0 if row is None else row.version),
        str(write.heard),
        str(write.written.sequence),
        codec.write(state),
        " ".join(sorted({seat.replica for seat in state.seats if seat.replica})),
        "-1" if deadline is None else str(deadline),
        "-1" if looked_at is None else str(looked_at),
        "t" if state.closed else "f",
    )


def announcements(write: Write) -> Iterable[wire.Outgoing]:
    """What a write tells others, numbered."""
    before = 0 if write.row is None else write.row.sequence
    for sequence, told in enumerate(write.announced, before + 1):
        yield wire.outgoing(write.game_id, sequence, told)
