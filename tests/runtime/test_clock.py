"""Time: the machine's, and one that a test moves by hand."""

import asyncio
from datetime import UTC, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st
from kafeneio_runtime.clock import ManualTime, SystemTime, Time


async def test_system_time_is_utc_and_goes_on() -> None:
    time: Time = SystemTime()
    begin, start = time.monotonic(), time.now()
    await time.sleep(0.001)
    assert time.monotonic() - begin >= 0.001
    assert time.now() >= start
    assert start.tzinfo is UTC


async def test_manual_time_stands_still_until_it_is_moved() -> None:
    time = ManualTime()
    start = time.now()
    sleeper = asyncio.create_task(time.sleep(5))
    await time.until_sleeping()
    time.advance(4.5)
    assert time.sleeping == 1
    time.advance(0.5)
    await sleeper
    assert time.now() - start == timedelta(seconds=5)
    assert time.monotonic() == 5


@given(st.lists(st.integers(0, 50), min_size=1, max_size=20), st.integers(1, 50))
def test_sleepers_wake_in_the_order_of_their_alarms(alarms: list[int], step: int) -> None:
    async def run() -> None:
        time = ManualTime()
        woken: list[int] = []

        async def sleep(seconds: int) -> None:
            await time.sleep(seconds)
            woken.append(seconds)

        tasks = [asyncio.create_task(sleep(seconds)) for seconds in alarms]
        await time.until_sleeping(sum(alarm > 0 for alarm in alarms))
        for _ in range(0, 51, step):
            time.advance(step)
        await asyncio.gather(*tasks)
        assert woken == sorted(alarms)

    asyncio.run(run())


@pytest.mark.parametrize("seconds", [0, -1])
async def test_no_time_is_no_sleep(seconds: float) -> None:
    time = ManualTime()
    async with asyncio.timeout(5):
        await time.sleep(seconds)
    assert time.sleeping == 0


async def test_a_sleeper_that_is_cancelled_is_forgotten() -> None:
    time = ManualTime()
    sleeper = asyncio.create_task(time.sleep(5))
    await time.until_sleeping()
    sleeper.cancel()
    await asyncio.wait([sleeper])
    assert time.sleeping == 0
    time.advance(10)
    assert sleeper.cancelled()
