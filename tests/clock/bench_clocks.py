"""Running clocks: how late what is due is charged while turns are re-armed, and what that takes.

`python -m tests.clock.bench_clocks [clocks=100000] [expiries=1000] [seconds=10] [rate=0]`; a rate
of 0 re-arms as fast as it can. The last part has two replicas, of which one is killed.
"""

from __future__ import annotations

import asyncio
import os
import random
import resource
import signal
import sys
import time
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Final
from uuid import UUID, uuid5

import structlog
import uvloop
from kafeneio.rules.v1 import events_pb2
from kafeneio_clock import consumer, storage, wire
from kafeneio_clock.consumer import Consumer
from kafeneio_clock.due import Firing
from kafeneio_clock.keeper import Decide, Keeper
from kafeneio_clock.life import Life
from kafeneio_clock.main import migrate_database
from kafeneio_clock.names import SCHEMA
from kafeneio_clock.peer import Rules, RunningTurn
from kafeneio_clock.rows import Row, Write
from kafeneio_clock.storage import Clocks
from kafeneio_clock.turns import Cause, Options, Span, Turn
from kafeneio_clock.values import Event as Happening
from kafeneio_clock.values import Presence, Seat, State, TurnEnded, TurnStarted
from kafeneio_runtime.bus import Event, InProcessBus
from kafeneio_runtime.clock import SystemTime
from kafeneio_runtime.directory import Directory
from kafeneio_runtime.heartbeat import Heartbeat
from kafeneio_runtime.ids import new_id
from kafeneio_runtime.outbox import Relay
from kafeneio_runtime.postgres import EmbeddedPostgres
from kafeneio_runtime.serve import spare_the_collector
from kafeneio_runtime.settings import Settings
from kafeneio_runtime.store import Store

from tests.bench.process import data_folder

OPTIONS: Final = Options(
    move=600 * wire.SECOND,
    grace=wire.SECOND // 2,
    timeouts=5,
    silent=600 * wire.SECOND,
    unknown=600 * wire.SECOND,
)
SEEDED_AT_ONCE: Final = 500
SEEDED_A_SECOND: Final = 3_000
"""On a busy machine; nothing is due before all are there."""
IN_FLIGHT: Final = 200
"""Re-armings that wait for their commit at once: as many players whose moves were just played."""
BATCH: Final = 100
"""Turn changes of one publish; each is two events."""
WARM_UP: Final = 1.0
"""Of re-arming before the first is due: every connection has prepared its statements by then."""
PATIENCE: Final = 30.0
WITNESS: Final = "bench"
"""The replica that has everybody's stream, and is always alive."""


@dataclass(frozen=True)
class Load:
    """What is asked of the clock."""

    clocks: int = 100_000
    expiries: int = 1_000
    seconds: int = 10
    rate: int = 0

    @property
    def expiring(self) -> int:
        """How many clocks run out in the time of the benchmark."""
        return min(self.clocks, self.expiries * self.seconds)


_FIRED: Final = "SELECT count(DISTINCT subject_id) FROM outbox WHERE type = 'timeout_incurred'"
_REPLICAS: Final = f"SELECT count(*) FROM replicas WHERE name != '{WITNESS}'"


class Answering(Rules):
    """`rules` that knows at once that the first turn still runs."""

    async def turn(self, game_id: UUID) -> RunningTurn:
        return RunningTurn(1, cancelled=False, outages=())


def running(since: int) -> State:
    """A game of two who attend, whose first turn runs."""
    seats = tuple(
        Seat(player, Presence.ATTACHED, since, epoch=1, replica=WITNESS)
        for player in ("eleni", "nikos")
    )
    return State(OPTIONS, seats, Turn(1, 0, since, 0, (Span(Cause.MOVE, since, None),)))


def micros() -> int:
    """Now; the database is on this machine."""
    return time.time_ns() // 1000


@dataclass
class Measured:
    """What one replica does, and how long after its time."""

    due: dict[UUID, int]
    others: list[UUID]
    late: list[float] = field(default_factory=list)
    rearmed: int = 0
    all_fired: asyncio.Event = field(default_factory=asyncio.Event)

    def written(self, row: Row) -> None:
        """A clock was committed."""
        if row.game_id in self.due and row.state.seats[0].charged:
            self.late.append((micros() - self.due.pop(row.game_id)) / 1000)
            if not self.due:
                self.all_fired.set()

    def report(self, name: str, load: Load, seconds: float, cpu: float) -> None:
        """Print it; lateness in milliseconds, from the deadline to the commit of the charge."""
        late = sorted(self.late)
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
        done = self.rearmed + len(late)
        print(
            f"{name}: {len(late):,} of {load.expiring:,} charged, late p50 {_at(late, 0.5):.0f},"
            f" p99 {_at(late, 0.99):.0f}, max {late[-1]:.0f} ms;"
            f" re-armed {self.rearmed / seconds:,.0f}/s;"
            f" {cpu / done * 1e6:.0f} µs of CPU each; memory {peak:.0f} MB;"
            f" load {os.getloadavg()[0]:.1f}",
            flush=True,
        )


def _at(ordered: Sequence[float], part: float) -> float:
    return ordered[min(len(ordered) - 1, int(len(ordered) * part))]


async def emptied(store: Store) -> None:
    """No clock is left, and nobody was ever alive but the witness."""
    async with store.acquire() as connection:
        await connection.execute(
            "TRUNCATE clocks, outbox, inbox, replicas, heartbeats, outages, turns"
        )
        await connection.execute(
            "INSERT INTO replicas (name, at) VALUES ($1, now() + interval '1 day')", WITNESS
        )


async def seeded(clocks: Clocks, store: Store, load: Load) -> Measured:
    """All clocks in the table, as if this replica had armed them: some run out one after the other,
    the others later."""
    begin = micros() + round(wire.SECOND * (2 + load.clocks / SEEDED_A_SECOND))
    measured = Measured({}, [])
    for first in range(0, load.clocks, SEEDED_AT_ONCE):
        writes = []
        for number in range(first, min(first + SEEDED_AT_ONCE, load.clocks)):
            game_id = new_id()
            if number < load.expiring:
                due = begin + number * wire.SECOND // load.expiries
                measured.due[game_id] = due
            else:
                due = begin + OPTIONS.period // 2
                measured.others.append(game_id)
            # It is over when more than a period has passed (X11).
            state = running(due - 1 - OPTIONS.period)
            writes.append(Write(game_id, None, state, 2, ()))
        async with clocks.transaction() as work:
            await work.write(writes)
        for write in writes:
            clocks.keep(write.written)
    async with store.acquire() as connection:
        await connection.execute("ANALYZE clocks")
    spare_the_collector()
    return measured


@asynccontextmanager
async def replica(
    clocks: Clocks,
    store: Store,
    written: Callable[[Row], None],
    bus: InProcessBus | None = None,
) -> AsyncIterator[tuple[Keeper, Consumer, Firing]]:
    """What of a replica changes clocks, at work; with a bus, also what it tells and hears."""
    at_time = SystemTime()
    rules = Answering(Directory(Settings(), "clock"))
    relay = None if bus is None else Relay(store, bus, storage.SUBJECT)

    def done(row: Row) -> None:
        written(row)
        firing.wake(row)
        if relay is not None:
            relay.wake()

    keeper = Keeper(clocks, done)
    hearing = Consumer(clocks, keeper, rules, OPTIONS, lambda game_id, seat: None)
    life = Life(Heartbeat(store, at_time), clocks, keeper, at_time, new_id().hex)
    firing = Firing(clocks, keeper, rules, hearing, life, at_time)
    await life.begin()
    works = [life.run(), firing.run()]
    if bus is not None and relay is not None:
        await bus.subscribe(consumer.SUBJECT, consumer.NAME, hearing.handle)
        works.append(relay.run())
    tasks = [asyncio.create_task(work) for work in works]
    try:
        yield keeper, hearing, firing
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


class Pace:
    """Lets through so many a second, or all."""

    def __init__(self, rate: int) -> None:
        self._rate = rate
        self._begin = time.monotonic()
        self._passed = 0

    async def next(self, count: int = 1) -> None:
        """Return when it is time."""
        self._passed += count
        if self._rate:
            wait = self._begin + self._passed / self._rate - time.monotonic()
            await asyncio.sleep(max(0.0, wait))


async def rearm_by_store(measured: Measured, keeper: Keeper, rate: int) -> None:
    """Turn after turn ends, by the keeper alone, until it is cancelled."""
    pace, order = Pace(rate), _shuffled(measured.others)
    turns: dict[UUID, int] = {}

    async def player() -> None:
        for game_id in order:
            await pace.next()
            turn = turns[game_id] = turns.get(game_id, 1) + 1
            at = micros()
            events = (TurnEnded(turn - 1, at), TurnStarted(turn, turn % 2, at))
            await keeper.apply(game_id, _happening(events))
            measured.rearmed += 1

    await asyncio.gather(*(player() for _ in range(IN_FLIGHT)))


def _happening(events: Sequence[Happening]) -> Decide:
    return lambda state, now: events


async def rearm_by_bus(measured: Measured, bus: InProcessBus, rate: int) -> None:
    """The same, as `rules` tells it; the next publish waits for the commit of the last."""
    pace, order = Pace(rate), _shuffled(measured.others)
    sequences: dict[UUID, int] = {}
    while True:
        events: list[Event] = []
        at = micros()
        for _ in range(min(BATCH, len(measured.others))):
            game_id = next(order)
            sequence = sequences[game_id] = sequences.get(game_id, 2) + 2
            events += _told(game_id, sequence, at)
        await pace.next(len(events) // 2)
        await bus.publish(events)
        measured.rearmed += len(events) // 2


def _told(game_id: UUID, sequence: int, at: int) -> Iterator[Event]:
    """The last two events of a game up to a sequence."""
    turn = sequence // 2
    ended = events_pb2.GameEvent(game_id=str(game_id), sequence=sequence - 1)
    ended.turn_ended.turn, ended.turn_ended.seat = turn - 1, (turn - 1) % 2
    started = events_pb2.GameEvent(game_id=str(game_id), sequence=sequence)
    started.turn_started.turn, started.turn_started.seat = turn, turn % 2
    for each in (ended, started):
        event_id = uuid5(game_id, f"rules.events {each.sequence}")
        kind, payload = each.WhichOneof("event") or "", each.SerializeToString()
        occurred = wire.moment(at)
        yield Event(event_id, consumer.SUBJECT, game_id, each.sequence, kind, payload, occurred)


def _shuffled(games: Sequence[UUID]) -> Iterator[UUID]:
    """All games in some order, again and again."""
    order = random.Random(7).sample(games, len(games))
    while order:
        yield from order


async def measure(name: str, url: str, load: Load, with_bus: bool) -> None:
    """One replica under load."""
    store = await Store.open(url, SCHEMA)
    await emptied(store)
    clocks = Clocks(store)
    measured = await seeded(clocks, store, load)
    bus = InProcessBus() if with_bus else None
    async with replica(clocks, store, measured.written, bus) as (keeper, _, _):
        first = min(measured.due.values())
        await asyncio.sleep(max(0.0, (first - micros()) / wire.SECOND - WARM_UP))
        if bus is None:
            work = rearm_by_store(measured, keeper, load.rate)
        else:
            work = rearm_by_bus(measured, bus, load.rate)
        task = asyncio.create_task(work)
        await asyncio.sleep(max(0.0, (first - micros()) / wire.SECOND))
        cpu, begin, measured.rearmed = time.process_time(), time.perf_counter(), 0
        async with asyncio.timeout(load.seconds + PATIENCE):
            await measured.all_fired.wait()
        seconds, cpu = time.perf_counter() - begin, time.process_time() - cpu
        measured.report(name, load, seconds, cpu)
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)
        await keeper.close()
    if bus is not None:
        await bus.close()
    await store.close()


async def two_replicas(url: str, load: Load) -> None:
    """One is killed in the middle: nothing is missed or fired twice."""
    store = await Store.open(url, SCHEMA)
    await emptied(store)
    processes = [
        await asyncio.create_subprocess_exec(
            sys.executable, "-m", "tests.clock.bench_clocks", "replica", url
        )
        for _ in range(2)
    ]
    try:
        async with asyncio.timeout(PATIENCE), store.acquire() as connection:
            while await connection.fetchval(_REPLICAS) < len(processes):  # noqa: ASYNC110
                await asyncio.sleep(0.2)
        measured = await seeded(Clocks(store), store, load)
        first, last = min(measured.due.values()), max(measured.due.values())
        await asyncio.sleep(max(0.0, ((first + last) / 2 - micros()) / wire.SECOND))
        processes[0].send_signal(signal.SIGKILL)
        async with asyncio.timeout(load.seconds + PATIENCE), store.acquire() as connection:
            while await connection.fetchval(_FIRED) < load.expiring:  # noqa: ASYNC110 (a process)
                await asyncio.sleep(0.2)
            rows = await connection.fetch(
                "SELECT subject_id, occurred_at FROM outbox WHERE type = 'timeout_incurred'"
            )
    finally:
        for process in processes:
            if process.returncode is None:
                process.terminate()
            await process.wait()
    late = sorted(
        (wire.micros(row["occurred_at"]) - measured.due[row["subject_id"]]) / 1000 for row in rows
    )
    fired = {row["subject_id"] for row in rows}
    print(
        f"two replicas, one killed: {len(fired):,} of {load.expiring:,} charged,"
        f" {len(rows) - len(fired)} twice, {sum(each < 0 for each in late)} early;"
        f" late p50 {_at(late, 0.5):.0f}, p99 {_at(late, 0.99):.0f}, max {late[-1]:.0f} ms"
        f" (a claim of the dead lasts 5 s); load {os.getloadavg()[0]:.1f}",
        flush=True,
    )
    await store.close()


async def one_of_two(url: str) -> None:
    """A replica in a process of its own, until it is ended."""
    store = await Store.open(url, SCHEMA)
    async with replica(Clocks(store), store, lambda row: None):
        await asyncio.Event().wait()


async def clocks(load: Load | None = None) -> None:
    """Print all of it."""
    load = load or Load()
    structlog.configure(wrapper_class=structlog.make_filtering_bound_logger(40))
    async with data_folder() as folder, EmbeddedPostgres(folder / "postgres") as url:
        await asyncio.to_thread(migrate_database, url)
        print(f"{load}", flush=True)
        await measure("the store alone", url, load, with_bus=False)
        await measure("with bus, inbox and outbox", url, load, with_bus=True)
        await two_replicas(url, load)


def main(arguments: Sequence[str]) -> None:
    """As the first lines say."""
    if arguments[:1] == ["replica"]:
        uvloop.run(one_of_two(arguments[1]))
        return
    given = dict(argument.split("=") for argument in arguments)
    uvloop.run(clocks(Load(**{name: int(value) for name, value in given.items()})))


if __name__ == "__main__":
    main(sys.argv[1:])
