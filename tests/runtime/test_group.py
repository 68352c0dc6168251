"""Group commit: many callers, few commits, and nobody pays for a neighbour."""

import asyncio
from collections.abc import Sequence

import asyncpg
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from kafeneio_runtime.errors import Refusal
from kafeneio_runtime.group import GroupCommit
from kafeneio_runtime.store import Store


class Ledger:
    """A store in memory: what is in `kept` has been committed. Bad items are those of `bad`."""

    def __init__(self, bad: frozenset[int] = frozenset()) -> None:
        self.bad = bad
        self.kept: list[int] = []
        self.batches: list[tuple[int, ...]] = []
        self.gate = asyncio.Event()
        self.gate.set()
        self.entered = asyncio.Event()

    async def commit(self, items: Sequence[int]) -> list[int]:
        self.batches.append(tuple(items))
        self.entered.set()
        await self.gate.wait()
        if self.bad & set(items):
            raise asyncpg.CheckViolationError("one of them is bad")
        self.kept += items
        return [item * 10 for item in items]


async def test_what_queues_during_a_commit_goes_into_the_next() -> None:
    ledger = Ledger()
    group = GroupCommit(ledger.commit)
    ledger.gate.clear()
    first = asyncio.create_task(group.submit(0))
    await ledger.entered.wait()
    rest = [asyncio.create_task(group.submit(number)) for number in range(1, 6)]
    await asyncio.wait(rest, timeout=0)  # each gets its turn to queue
    ledger.gate.set()
    assert await asyncio.gather(first, *rest) == [0, 10, 20, 30, 40, 50]
    assert ledger.batches == [(0,), (1, 2, 3, 4, 5)]


async def test_a_batch_is_bounded() -> None:
    ledger = Ledger()
    group = GroupCommit(ledger.commit, most=3)
    await asyncio.gather(*(group.submit(number) for number in range(8)))
    assert [len(batch) for batch in ledger.batches] == [3, 3, 2]


async def test_a_client_that_goes_does_not_cancel_the_batch() -> None:
    ledger = Ledger()
    group = GroupCommit(ledger.commit)
    ledger.gate.clear()
    gone, stays = (asyncio.create_task(group.submit(number)) for number in (1, 2))
    await ledger.entered.wait()
    gone.cancel()
    await asyncio.wait([gone])
    ledger.gate.set()
    assert await stays == 20
    assert gone.cancelled()
    assert ledger.kept == [1, 2]


async def test_an_error_that_is_not_of_the_data_is_told_to_all_and_not_tried_again() -> None:
    calls = 0

    async def broken(_items: Sequence[int]) -> list[int]:
        nonlocal calls
        calls += 1
        raise asyncpg.ConnectionDoesNotExistError("gone")

    group = GroupCommit(broken)
    outcomes = await asyncio.gather(*(group.submit(n) for n in range(3)), return_exceptions=True)
    assert [type(each) for each in outcomes] == [asyncpg.ConnectionDoesNotExistError] * 3
    assert calls == 1


async def test_the_wrong_number_of_answers_is_an_error() -> None:
    async def forgetful(items: Sequence[int]) -> list[int]:
        return list(items)[:-1]

    group = GroupCommit(forgetful)
    outcomes = await asyncio.gather(*(group.submit(n) for n in range(3)), return_exceptions=True)
    assert [type(each) for each in outcomes] == [RuntimeError] * 3


async def test_closing_answers_what_is_queued_and_takes_nothing_more() -> None:
    ledger = Ledger()
    group = GroupCommit(ledger.commit)
    ledger.gate.clear()
    waiting = [asyncio.create_task(group.submit(number)) for number in range(3)]
    await ledger.entered.wait()
    closing = asyncio.create_task(group.close())
    await asyncio.wait([closing], timeout=0)
    with pytest.raises(Refusal) as caught:
        await group.submit(9)
    assert caught.value.reason_name == "UNAVAILABLE"
    ledger.gate.set()
    await closing
    assert await asyncio.gather(*waiting) == [0, 10, 20]


async def test_it_works_on_after_everything_was_answered() -> None:
    ledger = Ledger()
    group = GroupCommit(ledger.commit)
    assert [await group.submit(number) for number in range(3)] == [0, 10, 20]
    assert ledger.batches == [(0,), (1,), (2,)]


@settings(max_examples=60, deadline=None)
@given(
    items=st.lists(st.integers(0, 30), min_size=1, max_size=40),
    bad=st.frozensets(st.integers(0, 30), max_size=5),
    gone=st.frozensets(st.integers(0, 39), max_size=5),
    most=st.integers(1, 10),
)
def test_every_caller_gets_his_own_answer(
    items: list[int], bad: frozenset[int], gone: frozenset[int], most: int
) -> None:
    """Whatever is in the batches: a good item is committed once and answered, a bad one fails
    alone.
    """

    async def run() -> None:
        ledger = Ledger(bad)
        group = GroupCommit(ledger.commit, most=most)
        tasks = [asyncio.create_task(group.submit(item)) for item in items]
        await asyncio.wait(tasks, timeout=0)
        for index in gone & set(range(len(tasks))):
            tasks[index].cancel()
        outcomes = await asyncio.gather(*tasks, return_exceptions=True)
        await group.close()
        for index, (item, outcome) in enumerate(zip(items, outcomes, strict=True)):
            if index in gone:
                assert isinstance(outcome, asyncio.CancelledError)
            elif item in bad:
                assert isinstance(outcome, asyncpg.CheckViolationError)
            else:
                assert outcome == item * 10
        assert sorted(ledger.kept) == sorted(item for item in items if item not in bad)

    asyncio.run(run())


async def test_a_conflict_in_the_database_is_an_answer_and_not_an_error(store: Store) -> None:
    """The shape that a service uses: one statement, ON CONFLICT, RETURNING."""
    async with store.acquire() as connection:
        await connection.execute("CREATE TABLE log (game int, version int, UNIQUE (game, version))")

    async def commit(items: Sequence[tuple[int, int]]) -> list[bool]:
        async with store.transaction() as connection:
            rows = await connection.fetch(
                "INSERT INTO log SELECT * FROM unnest($1::int[], $2::int[])"
                " ON CONFLICT DO NOTHING RETURNING game, version",
                [game for game, _ in items],
                [version for _, version in items],
            )
        written = {(row["game"], row["version"]) for row in rows}
        return [item in written for item in items]

    group = GroupCommit(commit)
    items = [(game, 1) for game in range(20)]
    assert await asyncio.gather(*map(group.submit, items)) == [True] * 20
    again = await asyncio.gather(*map(group.submit, [(3, 1), (3, 2), (7, 1), (7, 2)]))
    assert again == [False, True, False, True]
