"""Puts events to clocks: reads the row, asks the domain, writes what has changed, tells whoever
waits for it. The only way in which a clock changes; what comes together is committed together.
"""

from __future__ import annotations

import asyncio
from collections import Counter as Counts
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Final, TypeAlias
from uuid import UUID

from kafeneio_runtime.failpoints import failpoint
from kafeneio_runtime.group import GroupCommit
from prometheus_client import Counter

from kafeneio_clock import domain
from kafeneio_clock.rows import Row, Write
from kafeneio_clock.storage import Clocks, Work
from kafeneio_clock.turns import Micros
from kafeneio_clock.values import Announcement, Charged, Event, Forfeited, Reason, State

TIMEOUTS: Final = Counter("kafeneio_timeouts_total", "Timeouts that were charged.")
FORFEITS: Final = Counter("kafeneio_forfeits_total", "Seats that are out.", ["reason"])
for _reason in Reason:
    FORFEITS.labels(_reason.value)

MOST: Final = 128
"""Of one commit: more would cost little less each."""

AT_ONCE: Final = 16
"""Then others have the loop: what is due goes through several rounds of it."""

Decide: TypeAlias = Callable[[State, Micros], Sequence[Event]]
"""What happens to a clock, given its state and the database's time."""


@dataclass(frozen=True, slots=True)
class _Wish:
    """What is to happen to one clock."""

    game_id: UUID
    decide: Decide
    rest: float | None
    row: Row | None


class Keeper:
    """The clocks, as they are changed by this replica. `written` is told of each after a commit."""

    def __init__(self, clocks: Clocks, written: Callable[[Row], None]) -> None:
        self._clocks = clocks
        self._written = written
        self._group = GroupCommit(self._commit, most=MOST)
        # What is due waits for none of the others. Whoever has a row first has it: both lock their
        # rows in one order.
        self._due = GroupCommit(self._commit, most=MOST)
        self._unchanged = GroupCommit(self._commit_unchanged, most=MOST)

    async def apply(
        self, game_id: UUID, decide: Decide, rest: float | None = None, row: Row | None = None
    ) -> Row | None:
        """The clock after some events, committed with whatever else is under way; None where the
        game has none.

        `rest` says that the row is one that was due: it is looked at again when it is next due, but
        not within so many seconds.
        """
        wish = _Wish(game_id, decide, rest, row)
        if row is not None and (written := await self._unchanged.submit(wish)) is not None:
            return written
        group = self._group if rest is None else self._due
        return await group.submit(wish)

    async def close(self) -> None:
        """Take nothing more in, and return when all is committed."""
        await self._unchanged.close()
        await self._group.close()
        await self._due.close()

    async def _commit(self, wishes: Sequence[_Wish]) -> list[Row | None]:
        """All of them in one transaction. Each is a version of its own: two devices that attend at
        once have two epochs, and see each other's change."""
        written: dict[int, Write] = {}
        async with self._clocks.transaction() as work:
            rows = await work.lock({wish.game_id for wish in wishes})
            for some in _rounds(wishes):
                resting: list[tuple[Row, float]] = []
                fresh: list[Write] = []
                for number, (place, wish) in enumerate(some, 1):
                    if number % AT_ONCE == 0:
                        await asyncio.sleep(0)
                    if wish.game_id not in rows:
                        continue
                    row = rows[wish.game_id]
                    write = written[place] = self.decided(row, wish.decide, wish.rest or 0)
                    if write.changes:
                        fresh.append(write)
                        rows[wish.game_id] = write.written
                    elif wish.rest is not None:
                        resting.append((row, wish.rest))
                await work.write(fresh)
                await work.put_off(resting)
            failpoint("clock.apply.before_commit")
        failpoint("clock.apply.committed")
        done = {place: self.done([write])[0] for place, write in written.items()}
        return [done.get(place) for place in range(len(wishes))]

    async def _commit_unchanged(self, wishes: Sequence[_Wish]) -> list[Row | None]:
        """Those whose clock is still as it was read, by one statement; None for one that is not, or
        that would be no other."""
        fresh: dict[UUID, tuple[int, Write]] = {}
        for place, wish in enumerate(wishes):
            if wish.row is not None and wish.game_id not in fresh:
                write = self.decided(wish.row, wish.decide, wish.rest or 0)
                if write.changes:
                    fresh[wish.game_id] = place, write
        written = await self._clocks.write_unchanged([write for _, write in fresh.values()])
        failpoint("clock.apply.committed")
        done = {
            place: self.done([write])[0]
            for game_id, (place, write) in fresh.items()
            if game_id in written
        }
        return [done.get(place) for place in range(len(wishes))]

    async def apply_all(self, game_ids: Iterable[UUID], decide: Decide) -> None:
        """The same events to many games, in one commit."""
        async with self._clocks.transaction() as work:
            rows = await work.lock(game_ids)
            writes = [self.decided(row, decide) for row in rows.values()]
            writes = [write for write in writes if write.changes]
            await work.write(writes)
        self.done(writes)

    @staticmethod
    def decided(row: Row, decide: Decide, rest: float = 0) -> Write:
        """A clock after some events, not yet written."""
        state, told = row.state, list[Announcement]()
        for event in decide(state, row.now):
            state, more = domain.advance(state, event, row.now)
            told += more
        return Write(row.game_id, row, state, row.heard, tuple(told), rest)

    async def write(self, work: Work, writes: Sequence[Write]) -> None:
        """Write in a transaction of the caller's, who calls `done` after it."""
        await work.write([write for write in writes if write.changes])

    def done(self, writes: Sequence[Write]) -> list[Row]:
        """The clocks after a commit; tells whoever waits for them."""
        rows: list[Row] = []
        for write in writes:
            if not write.changes:
                assert write.row is not None, "a new one is a change"
                rows.append(write.row)
                continue
            for told in write.told:
                if isinstance(told, Charged):
                    TIMEOUTS.inc()
                elif isinstance(told, Forfeited):
                    FORFEITS.labels(told.reason.value).inc()
            row = write.written
            self._clocks.keep(row)
            rows.append(row)
            self._written(row)
        return rows


def _rounds(wishes: Sequence[_Wish]) -> list[list[tuple[int, _Wish]]]:
    """The wishes, numbered, so that no two in a round are about the same game."""
    rounds: list[list[tuple[int, _Wish]]] = []
    seen: Counts[UUID] = Counts()
    for place, wish in enumerate(wishes):
        turn = seen[wish.game_id]
        seen[wish.game_id] += 1
        if turn == len(rounds):
            rounds.append([])
        rounds[turn].append((place, wish))
    return rounds
