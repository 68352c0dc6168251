"""What several replicas rely on in the database: who gets what is due, who may write, and what is
committed together."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from datetime import timedelta
from typing import Any, cast
from uuid import UUID, uuid5

import pytest
from kafeneio_clock import domain, wire
from kafeneio_clock.background import INBOX_RETENTION, purge_inbox
from kafeneio_clock.due import Firing, Seen
from kafeneio_clock.keeper import Keeper
from kafeneio_clock.names import SCHEMA
from kafeneio_clock.peer import Rules, RunningTurn
from kafeneio_clock.rows import Row, Write
from kafeneio_clock.storage import SUBJECT, Clocks, ConflictError
from kafeneio_clock.turns import CreditReason
from kafeneio_clock.values import (
    Attached,
    Charged,
    Event,
    Lost,
    Presence,
    State,
    TurnRuns,
    TurnStarted,
    Unreachable,
)
from kafeneio_runtime.clock import SystemTime
from kafeneio_runtime.directory import Directory
from kafeneio_runtime.settings import Settings
from kafeneio_runtime.store import Store

from tests.clock.table import USUAL
from tests.harness import new_id

LONG_AGO = 1_000 * wire.SECOND


@pytest.fixture
async def store(database_url: str) -> AsyncIterator[Store]:
    """The clock's tables."""
    opened = await Store.open(database_url, SCHEMA)
    yield opened
    await opened.close()


async def put(clocks: Clocks, count: int) -> list[UUID]:
    """Games whose first turn began long ago; both seats attend somewhere."""
    writes = []
    for _ in range(count):
        state = domain.begin(("eleni", "nikos"), USUAL, LONG_AGO)
        for event in (Attached(0, "x"), Attached(1, "x"), TurnStarted(1, 0, LONG_AGO)):
            state, _ = domain.advance(state, event, LONG_AGO)
        writes.append(Write(UUID(new_id()), None, state, 2, ()))
    async with clocks.transaction() as work:
        await work.write(writes)
    return [write.game_id for write in writes]


def nobody(row: Row) -> None:
    """Nobody waits for changes."""


async def test_what_is_due_goes_to_one_replica_each(store: Store) -> None:
    """However many ask at once; and to another one when the first has not been heard of."""
    clocks = Clocks(store)
    games = await put(clocks, 60)
    found = await asyncio.gather(*(clocks.due(25, 60) for _ in range(4)))
    ids = [due.game_id for some in found for due in some]
    assert sorted(ids) == sorted(games)
    assert await clocks.due(100, 60) == []
    async with store.acquire() as connection:
        await connection.execute("UPDATE clocks SET due_at = due_at - interval '61 s'")
    again = await clocks.due(100, 60)
    assert sorted(due.game_id for due in again) == sorted(games)


async def test_a_locked_row_holds_nobody_up(store: Store) -> None:
    clocks = Clocks(store)
    games = await put(clocks, 3)
    async with clocks.transaction() as work:
        await work.lock(games[:1])
        async with asyncio.timeout(5):
            found = await clocks.due(10, 60)
    assert sorted(due.game_id for due in found) == sorted(games[1:])


def charged(row: Row) -> Write:
    """One timeout."""
    state, told = domain.advance(row.state, TurnRuns(1, LONG_AGO + 31 * wire.SECOND), row.now)
    assert [type(each) for each in told] == [Charged]
    return Write(row.game_id, row, state, row.heard, tuple(told))


async def test_what_is_still_as_it_was_read_needs_no_lock(store: Store) -> None:
    """What somebody changes meanwhile, or has changed, is not written, nor what it would have
    announced; nobody waits for it."""
    clocks = Clocks(store)
    games = await put(clocks, 3)
    found = await clocks.due(10, 60)
    same, changing, changed = sorted(found, key=lambda due: games.index(due.game_id))
    async with clocks.transaction() as work:
        await work.write([charged(changed)])
    async with clocks.transaction() as work:
        await work.lock([changing.game_id])
        async with asyncio.timeout(5):
            written = await clocks.write_unchanged(list(map(charged, found)))
    assert written == {same.game_id}
    told = [await clocks.events(game_id, 0, 10) for game_id in games]
    assert [len(events) for events in told] == [1, 0, 1]
    rows = [await clocks.load(game_id) for game_id in games]
    assert [row and row.version for row in rows] == [2, 1, 2]


async def test_what_has_changed_since_it_was_read_is_judged_again(store: Store) -> None:
    """Once each, whether it is written as it was read or not."""
    clocks = Clocks(store)
    games = await put(clocks, 2)
    keeper = Keeper(clocks, nobody)
    found = await clocks.due(10, 60)
    await keeper.apply(games[0], lambda state, now: (Attached(0, "y"),))
    rows = await asyncio.gather(
        *(
            keeper.apply(due.game_id, lambda state, now: (Attached(0, "z"),), 0, due)
            for due in found
        )
    )
    epochs = {row.game_id: row.state.seats[0].epoch for row in rows if row is not None}
    assert epochs == {games[0]: 3, games[1]: 2}


class LateAnswer(Rules):
    """`rules` that says when it has answered, by the database's time."""

    def __init__(self, store: Store) -> None:
        super().__init__(Directory(Settings(), "clock"))
        self._store = store
        self.answered = 0

    async def turn(self, game_id: UUID) -> RunningTurn:
        async with self._store.acquire() as connection:
            self.answered = wire.micros(await connection.fetchval("SELECT clock_timestamp()"))
        return RunningTurn(1, cancelled=False, outages=())


class Elsewhere:
    """What else a firing needs: a replica called "x", and a consumer that has heard everything."""

    replica = "x"

    async def catch_up(self, game_id: UUID) -> None:
        """There is nothing."""


async def test_the_silence_of_rules_is_credited_until_it_answers(store: Store) -> None:
    """And not only until the clock was read."""
    clocks = Clocks(store)
    (game_id,) = await put(clocks, 1)
    keeper, rules, elsewhere = Keeper(clocks, nobody), LateAnswer(store), cast("Any", Elsewhere())
    silent = await keeper.apply(game_id, lambda state, now: (Unreachable(),), 0)
    assert silent is not None
    assert silent.state.silent_since
    firing = Firing(clocks, keeper, rules, elsewhere, elsewhere, SystemTime())
    (due,) = await clocks.due(10, 60)
    await firing.fire(due, Seen((), {}))
    row = await clocks.load(game_id)
    assert row is not None
    assert row.state.turn is not None
    (credit,) = row.state.turn.credits
    assert credit.reason is CreditReason.RULES_UNREACHABLE
    assert credit.began == silent.state.silent_since
    assert credit.ended >= rules.answered > due.now


async def test_who_writes_an_old_version_writes_nothing(store: Store) -> None:
    """Neither the clock nor what it would have announced, nor its neighbours in the batch."""
    clocks = Clocks(store)
    old, other = await put(clocks, 2)
    first, neighbour = await clocks.load(old), await clocks.load(other)
    assert first is not None
    assert neighbour is not None

    async with clocks.transaction() as work:
        await work.write([charged(first)])
    with pytest.raises(ConflictError):
        async with clocks.transaction() as work:
            await work.write([charged(neighbour), charged(first)])
    assert [each.sequence for each in await clocks.events(old, 0, 10)] == [1]
    assert await clocks.events(other, 0, 10) == []
    after = await clocks.load(other)
    assert after is not None
    assert after.version == neighbour.version


async def test_ids_of_events_follow_from_their_place(store: Store) -> None:
    """So two replicas that would announce the same make the same event."""
    clocks = Clocks(store)
    (game_id,) = await put(clocks, 1)
    keeper = Keeper(clocks, nobody)
    asked = LONG_AGO + 70 * wire.SECOND
    await keeper.apply(game_id, lambda state, now: (TurnRuns(1, asked),))
    events = await clocks.events(game_id, 0, 10)
    assert [each.id for each in events] == [
        uuid5(game_id, f"{SUBJECT} {sequence}") for sequence in (1, 2)
    ]


async def test_what_comes_together_is_committed_together(store: Store) -> None:
    clocks = Clocks(store)
    games = await put(clocks, 40)
    written: list[Row] = []
    keeper = Keeper(clocks, written.append)
    lost = [keeper.apply(game_id, lambda state, now: (Lost(0, 1, now),)) for game_id in games]
    unknown = keeper.apply(UUID(new_id()), lambda state, now: (Lost(0, 1, now),))
    *rows, none = await asyncio.gather(*lost, unknown)
    assert none is None, "a game without a clock fails nobody"
    assert [row.game_id for row in rows if row is not None] == games
    assert {row.version for row in written} == {2}
    async with store.acquire() as connection:
        transactions = await connection.fetchval("SELECT count(DISTINCT xmin::text) FROM clocks")
    assert transactions <= 2


async def test_two_changes_of_one_game_in_one_commit(store: Store) -> None:
    """Two devices that attend at once: each has an epoch of its own."""
    clocks = Clocks(store)
    (game_id,) = await put(clocks, 1)
    keeper = Keeper(clocks, nobody)
    rows = await asyncio.gather(
        *(keeper.apply(game_id, lambda state, now: (Attached(0, "y"),)) for _ in range(3))
    )
    assert [row.state.seats[0].epoch for row in rows if row is not None] == [2, 3, 4]
    assert [row.version for row in rows if row is not None] == [2, 3, 4]


async def test_who_goes_away_does_not_take_his_change_back(store: Store) -> None:
    clocks = Clocks(store)
    (game_id,) = await put(clocks, 1)
    keeper = Keeper(clocks, nobody)
    task = asyncio.create_task(keeper.apply(game_id, lambda state, now: (Lost(0, 1, now),)))
    await asyncio.sleep(0)
    task.cancel()
    await asyncio.gather(task, return_exceptions=True)
    await keeper.close()
    row = await clocks.load(game_id)
    assert row is not None
    assert row.state.seats[0].presence is Presence.LOST


async def test_one_that_fails_does_not_fail_its_neighbours(store: Store) -> None:
    clocks = Clocks(store)
    good, bad = await put(clocks, 2)
    keeper = Keeper(clocks, nobody)

    def fails(state: State, now: int) -> tuple[Event, ...]:
        raise ValueError("no")

    row, error = await asyncio.gather(
        keeper.apply(good, lambda state, now: (Lost(0, 1, now),)),
        keeper.apply(bad, fails),
        return_exceptions=True,
    )
    assert isinstance(row, Row)
    assert row.state.seats[0].presence is Presence.LOST
    assert isinstance(error, ValueError)


async def test_the_inbox_does_not_grow_for_ever(store: Store) -> None:
    """What nobody delivers again is dropped; that a game has heard an event, its row says."""
    async with store.acquire() as connection:
        await connection.execute(
            "INSERT INTO inbox (consumer, event_id, handled_at)"
            " SELECT 'clock', gen_random_uuid(), clock_timestamp() - $1::interval * (n % 2)"
            " FROM generate_series(1, 2500) AS n",
            INBOX_RETENTION + timedelta(minutes=1),
        )
    assert await purge_inbox(store, INBOX_RETENTION) == 1250
    async with store.acquire() as connection:
        left = await connection.fetchval("SELECT count(*) FROM inbox")
    assert left == 1250
    assert await purge_inbox(store, INBOX_RETENTION) == 0
