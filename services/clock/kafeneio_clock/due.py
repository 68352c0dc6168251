"""Fires what is due: asks `rules` before it charges, has a forfeit recorded before it tells.

A deadline may fire late, never early; every replica looks, and each due clock goes to one of them.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final
from uuid import UUID, uuid5

from kafeneio_runtime import logs
from kafeneio_runtime.clock import Time
from kafeneio_runtime.errors import Refusal
from kafeneio_runtime.failpoints import failpoint
from prometheus_client import Histogram

from kafeneio_clock import domain, listening, wire
from kafeneio_clock.consumer import Consumer
from kafeneio_clock.keeper import Keeper
from kafeneio_clock.life import Life
from kafeneio_clock.peer import Rules, RunningTurn, UnreachableError
from kafeneio_clock.rows import Due, Row
from kafeneio_clock.storage import Clocks
from kafeneio_clock.turns import Cause, Micros, Turn
from kafeneio_clock.values import (
    Confirmed,
    Event,
    Intent,
    Outage,
    Presence,
    Refused,
    RulesOutage,
    State,
    Tick,
    TurnPassed,
    TurnRuns,
    Unreachable,
)

LATENESS: Final = Histogram(
    "kafeneio_clock_lateness_seconds",
    "How late due clocks were looked at.",
    buckets=(0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30),
)
POLL_SECONDS: Final = 0.015
"""No two looks are closer to each other."""
LONGEST_SECONDS: Final = 1.0
"""No two looks are further apart: another replica may have died with what it knew to be due."""
RETRY_SECONDS: Final = 0.5
CLAIM_SECONDS: Final = 5.0
"""Longer than `rules` may take to answer."""
BATCH: Final = 200

_log: Final = logs.logger(__name__)


@dataclass(frozen=True, slots=True)
class Seen:
    """What is known when clocks are due: outages of `clock` since the oldest of their turns began,
    and when each replica was last alive."""

    outages: tuple[Outage, ...]
    alive: Mapping[str, Micros]


class Firing:
    """Looks for due clocks; `run` until it is cancelled."""

    def __init__(
        self,
        clocks: Clocks,
        keeper: Keeper,
        rules: Rules,
        consumer: Consumer,
        life: Life,
        time: Time,
    ) -> None:
        self._clocks = clocks
        self._keeper = keeper
        self._rules = rules
        self._consumer = consumer
        self._life = life
        self._time = time
        self._woken = asyncio.Event()
        self._looks_at = 0.0
        self._tasks: set[asyncio.Task[None]] = set()

    def wake(self, row: Row) -> None:
        """Called after each commit: something may be due before the next look."""
        deadline = row.next_deadline
        if deadline is not None and row.now:
            due = self._time.monotonic() + (deadline - row.now) / wire.SECOND
            if due < self._looks_at:
                self._woken.set()
        elif deadline is not None:
            self._woken.set()

    async def run(self) -> None:
        """Look, fire, rest until the next deadline, and so on."""
        try:
            while True:
                try:
                    await self._life.sure()
                    await self._look()
                except Exception as error:  # noqa: BLE001 (the store is away; look again)
                    _log.warning("no look at what is due", exc_info=error)
                    await self._time.sleep(RETRY_SECONDS)
        finally:
            for task in self._tasks:
                task.cancel()

    async def _look(self) -> None:
        began = self._time.monotonic()
        found = await self._clocks.due(BATCH, CLAIM_SECONDS)
        seen = await self._see(found)
        for due in found:
            task = asyncio.create_task(self.fire(due, seen))
            self._tasks.add(task)
            task.add_done_callback(self._tasks.discard)
        await self._time.sleep(max(0.0, began + POLL_SECONDS - self._time.monotonic()))
        if found:
            return
        self._woken.clear()
        seconds = await self._clocks.next_due()
        rest = LONGEST_SECONDS if seconds is None else min(LONGEST_SECONDS, seconds)
        self._looks_at = self._time.monotonic() + rest
        if rest > 0:
            alarm = asyncio.create_task(self._time.sleep(rest))
            woken = asyncio.create_task(self._woken.wait())
            try:
                await asyncio.wait({alarm, woken}, return_when=asyncio.FIRST_COMPLETED)
            finally:
                alarm.cancel()
                woken.cancel()

    async def _see(self, found: Sequence[Due]) -> Seen:
        turns = [due.state.turn.since for due in found if due.state.turn is not None]
        if not turns:
            return Seen((), {})
        outages, alive = await self._clocks.seen(min(turns))
        return Seen(tuple(Outage(each.began, each.ended) for each in outages), alive)

    async def fire(self, due: Due, seen: Seen) -> None:
        """What is to be done for one clock that is due."""
        if due.deadline is not None and due.deadline <= due.now:
            LATENESS.observe((due.now - due.deadline) / wire.SECOND)
        try:
            await self._settle(due, seen)
        except UnreachableError as error:
            _log.warning("rules can't be asked", game_id=str(due.game_id), error=str(error))
            await self._rest(due.game_id, (Unreachable(),))
        except Exception as error:  # noqa: BLE001 (it stays due, and comes again)
            _log.error("not fired", game_id=str(due.game_id), exc_info=error)

    async def _rest(self, game_id: UUID, events: Sequence[Event]) -> None:
        try:
            await self._keeper.apply(game_id, lambda state, now: events, RETRY_SECONDS)
        except Exception as error:  # noqa: BLE001 (it stays due, and comes again)
            _log.error("not put off", game_id=str(game_id), exc_info=error)

    async def _settle(self, due: Due, seen: Seen) -> None:
        intents = intended(due.state)
        if not intents:
            if listening.is_quiet(due.state, due.now):
                await self._consumer.catch_up(due.game_id)
            if not domain.overdue(due.state, due.now):
                await self._keeper.apply(due.game_id, lambda state, now: (Tick(),), 0, due)
                return
            row = await self._ask(due, seen)
            intents = {} if row is None else intended(row.state)
        for seat, intent in intents.items():
            try:
                await self.forfeit(due.game_id, seat, intent)
            except Refusal as refusal:
                _log.info("forfeit refused", game_id=str(due.game_id), reason=refusal.reason_name)

    async def _ask(self, due: Due, seen: Seen) -> Row | None:
        """Charge what is over if its turn still runs; the clock after it."""
        turn = due.state.turn
        assert turn is not None, "only a turn is overdue"
        if not self._witnessed(due.state, turn, seen):
            await self._rest(due.game_id, (Tick(),))
            return None
        answer = await self._rules.turn(due.game_id)
        if answer.turn != turn.number:
            await self._consumer.catch_up(due.game_id)
            passed = (TurnPassed(),)
            return await self._keeper.apply(due.game_id, lambda state, now: passed, RETRY_SECONDS)
        given = _credits(turn, answer, seen)
        charges = (*given, TurnRuns(turn.number, due.now))
        # Silence is credited until now, which is later than what was read.
        same = None if due.state.silent_since else due
        return await self._keeper.apply(due.game_id, lambda state, now: charges, 0, same)

    def _witnessed(self, state: State, turn: Turn, seen: Seen) -> bool:
        """Whether the replica that has the stream was alive when the time was over: if it had died
        before, the player would be unknown and his time stand still."""
        seat, crossing = state.seats[turn.seat], turn.next_crossing(state.options)
        if crossing is None or crossing.cause is Cause.AWAY:
            return True
        if seat.presence is not Presence.ATTACHED or seat.replica == self._life.replica:
            return True
        alive = seen.alive.get(seat.replica)
        return alive is not None and alive >= crossing.due

    async def forfeit(self, game_id: UUID, seat: int, intent: Intent) -> None:
        """Have an intended forfeit recorded, and then announce it.

        Raises the Refusal of `rules`, after which nothing is intended any more, or
        UnreachableError: then it is asked again from time to time.
        """
        request_id = (
            UUID(intent.request)
            if intent.request
            else uuid5(game_id, f"clock.forfeit {seat} {intent.turn}")
        )
        try:
            await self._rules.forfeit(game_id, seat, intent.reason, intent.turn, request_id)
        except Refusal:
            await self._consumer.catch_up(game_id)  # what came first
            await self._keeper.apply(game_id, lambda state, now: (Refused(seat),), 0)
            raise
        failpoint("clock.forfeit.recorded")
        await self._keeper.apply(game_id, lambda state, now: (Confirmed(seat),), 0)


def _credits(turn: Turn, answer: RunningTurn, seen: Seen) -> list[Event]:
    """Outages of both services since the turn began."""
    return [
        *(each for each in seen.outages if each.ended > turn.since),
        *(RulesOutage(each.began, each.ended) for each in answer.outages),
    ]


def intended(state: State) -> dict[int, Intent]:
    """The forfeits that `rules` is to be asked for, by seat."""
    if state.closed:
        return {}
    return {
        number: seat.intent for number, seat in enumerate(state.seats) if seat.intent is not None
    }
