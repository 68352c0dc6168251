"""A mutating call that is sent n times is as if sent once."""

import asyncio
import uuid
from datetime import timedelta

import asyncpg
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from kafeneio_runtime.errors import Refusal, stale
from kafeneio_runtime.ids import new_id
from kafeneio_runtime.requests import once, purge
from kafeneio_runtime.store import Store


class Till:
    """A mutating RPC: it puts an amount into a till and answers with the total."""

    def __init__(self, store: Store) -> None:
        self.store = store
        self.effects = 0
        self.refuses = False
        self.entered = asyncio.Event()
        self.gate = asyncio.Event()
        self.gate.set()

    async def create(self) -> None:
        async with self.store.acquire() as connection:
            await connection.execute("CREATE TABLE IF NOT EXISTS till (amount int)")

    async def put(self, amount: int, request_id: uuid.UUID, caller: str = "nikos") -> int:
        async with self.store.transaction() as connection:

            async def effect() -> bytes:
                self.effects += 1
                self.entered.set()
                await self.gate.wait()
                await connection.execute("INSERT INTO till VALUES ($1)", amount)
                if self.refuses:
                    raise stale(1)
                total: int = await connection.fetchval("SELECT sum(amount) FROM till")
                return str(total).encode()

            digest = str(amount).encode()
            return int(await once(connection, caller, "Put", request_id, digest, effect))

    async def total(self) -> int:
        async with self.store.acquire() as connection:
            total: int = await connection.fetchval("SELECT coalesce(sum(amount), 0) FROM till")
        return total


@pytest.fixture
async def till(store: Store) -> Till:
    made = Till(store)
    await made.create()
    return made


async def test_the_answer_is_given_again(till: Till) -> None:
    request_id = new_id()
    assert await till.put(5, request_id) == 5
    assert await till.put(7, new_id()) == 12
    assert await till.put(5, request_id) == 5
    assert (till.effects, await till.total()) == (2, 12)


async def test_callers_do_not_share_request_ids(till: Till) -> None:
    request_id = new_id()
    assert await till.put(5, request_id, "nikos") == 5
    assert await till.put(5, request_id, "eleni") == 10


async def test_the_same_id_for_another_request_is_refused(till: Till) -> None:
    request_id = new_id()
    await till.put(5, request_id)
    with pytest.raises(Refusal) as caught:
        await till.put(6, request_id)
    assert caught.value.reason_name == "REQUEST_ID_REUSED"
    assert await till.total() == 5


async def test_a_refusal_is_judged_anew(till: Till) -> None:
    request_id = new_id()
    till.refuses = True
    for _ in range(2):
        with pytest.raises(Refusal):
            await till.put(5, request_id)
    assert (till.effects, await till.total()) == (2, 0)
    till.refuses = False
    assert await till.put(6, request_id) == 6  # nothing was kept, so even the body may differ


async def test_a_second_call_waits_for_the_first(till: Till) -> None:
    request_id = new_id()
    till.gate.clear()
    first = asyncio.create_task(till.put(5, request_id))
    await till.entered.wait()
    second = asyncio.create_task(till.put(5, request_id))
    await _until_waiting(till.store)
    assert not second.done()
    till.gate.set()
    assert (await first, await second) == (5, 5)
    assert (till.effects, await till.total()) == (1, 5)


async def test_a_second_call_goes_ahead_when_the_first_is_rolled_back(till: Till) -> None:
    request_id = new_id()
    till.gate.clear()
    first = asyncio.create_task(till.put(5, request_id))
    await till.entered.wait()
    second = asyncio.create_task(till.put(5, request_id))
    await _until_waiting(till.store)
    first.cancel()
    await asyncio.wait([first])
    till.gate.set()
    assert await second == 5
    assert (till.effects, await till.total()) == (2, 5)


async def _until_waiting(store: Store) -> None:
    """Until a statement of our database waits for a lock."""
    async with asyncio.timeout(10), store.acquire() as connection:
        while not await connection.fetchval(
            "SELECT count(*) FROM pg_stat_activity"
            " WHERE wait_event_type = 'Lock' AND datname = current_database()"
        ):
            await connection.execute("SELECT pg_sleep(0.005)")


@settings(
    max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(
    calls=st.lists(st.tuples(st.integers(0, 4), st.integers(1, 3)), min_size=1, max_size=12),
    together=st.booleans(),
)
def test_n_times_is_once(database_url: str, calls: list[tuple[int, int]], together: bool) -> None:
    """For any calls, one by one or at once: an id has one effect, one body and one answer."""

    async def run() -> None:
        store = await Store.open(database_url, "echo", pool_size=6)
        till = Till(store)
        await till.create()
        before = await till.total()
        ids = [new_id() for _ in range(5)]
        puts = [till.put(amount, ids[number]) for number, amount in calls]
        if together:
            outcomes = await asyncio.gather(*puts, return_exceptions=True)
        else:
            outcomes = [(await asyncio.gather(put, return_exceptions=True))[0] for put in puts]
        done: dict[int, tuple[int, int]] = {}
        for (number, amount), outcome in zip(calls, outcomes, strict=True):
            if isinstance(outcome, BaseException):
                assert isinstance(outcome, Refusal)
                assert outcome.reason_name == "REQUEST_ID_REUSED"
            else:
                assert done.setdefault(number, (amount, outcome)) == (amount, outcome)
        assert set(done) == {number for number, _ in calls}
        assert till.effects == len(done)
        assert await till.total() - before == sum(amount for amount, _ in done.values())
        await store.close()

    asyncio.run(run())


async def test_it_must_be_in_a_transaction(store: Store) -> None:
    async def effect() -> bytes:
        return b""

    async with store.acquire() as connection:
        with pytest.raises(RuntimeError, match="transaction"):
            await once(connection, "nikos", "Put", new_id(), b"", effect)


async def test_old_answers_are_forgotten(till: Till) -> None:
    old, young = new_id(), new_id()
    await till.put(5, old)
    await till.put(5, young)
    async with till.store.acquire() as connection:
        await connection.execute(
            "UPDATE requests SET created_at = now() - interval '25 hours' WHERE request_id = $1",
            old,
        )
    assert await purge(till.store, timedelta(hours=24)) == 1
    assert await purge(till.store, timedelta(hours=24)) == 0
    assert await till.put(5, young) == 10
    assert await till.put(5, old) == 15


async def test_many_old_answers_are_forgotten_in_steps(store: Store) -> None:
    async with store.acquire() as connection:
        await connection.execute(
            "INSERT INTO requests (caller, method, request_id, digest, created_at)"
            " SELECT 'nikos', 'Put', gen_random_uuid(), '', now() - interval '2 days'"
            " FROM generate_series(1, 2500)"
        )
    assert await purge(store, timedelta(days=1)) == 2500


def test_asyncpg_knows_the_tables_by_the_search_path(database_url: str) -> None:
    async def run() -> str:
        connection = await asyncpg.connect(database_url)
        try:
            found: str = await connection.fetchval("SELECT to_regclass('requests')::text")
        finally:
            await connection.close()
        return found

    assert asyncio.run(run()) is None  # so a service never sees the tables of another by accident
