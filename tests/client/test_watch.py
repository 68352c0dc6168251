"""A watch outlives broken, silent and draining streams, and yields each row once."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import AsyncExitStack, aclosing

import grpc
import pytest
from kafeneio.rules.v1 import game_pb2 as pb
from kafeneio_client import House, Refused, Unreachable, new_id
from kafeneio_client.client import Client
from kafeneio_client.watch import PATIENCE_SECONDS, SILENCE_SECONDS
from kafeneio_runtime.clock import ManualTime

from tests.client.fake_calls import Call, refuse, retry_in
from tests.client.fake_house import FakeHouse, serving

BEAT = pb.WatchGameResponse(heartbeat=pb.Heartbeat())
DRAINING = pb.WatchGameResponse(draining=pb.Draining())
BROKEN = "broken"
SILENT = "silent"
GARBLED = "garbled"
HURRIED = "hurried"


def row(version: int, *, last: bool = False) -> pb.WatchGameResponse:
    """A row of the log."""
    status = pb.GAME_STATUS_FINISHED if last else pb.GAME_STATUS_RUNNING
    position = pb.Position(version=version, status=status)
    return pb.WatchGameResponse(update=pb.GameUpdate(position=position))


class Scripted(FakeHouse):
    """A house whose streams say what the test wants; the last one is for all that follow."""

    def __init__(self, *streams: Sequence[pb.WatchGameResponse | str]) -> None:
        super().__init__()
        self.streams = list(streams)
        self.asked: list[int] = []
        self.position = pb.Position(version=1, status=pb.GAME_STATUS_RUNNING)

    async def GetGame(self, request: pb.GetGameRequest, context: Call) -> pb.GetGameResponse:
        return pb.GetGameResponse(game=pb.Game(position=self.position))

    async def WatchGame(
        self, request: pb.WatchGameRequest, context: Call
    ) -> AsyncIterator[pb.WatchGameResponse]:
        self.asked.append(request.after_version)
        stream = self.streams.pop(0) if len(self.streams) > 1 else self.streams[0]
        for message in stream:
            if isinstance(message, pb.WatchGameResponse):
                yield message
            elif message == BROKEN:
                await context.abort(grpc.StatusCode.UNAVAILABLE, "connection reset")
            elif message == GARBLED:
                await context.abort(grpc.StatusCode.INTERNAL, "received RST_STREAM")
            elif message == HURRIED:
                code = grpc.StatusCode.RESOURCE_EXHAUSTED
                await refuse(context, code, "RATE_LIMITED", "too many", retry_in(0.2))
            else:
                await asyncio.Event().wait()


async def versions(client: Client, after: int = 0) -> list[int]:
    """What a watch brings until its end."""
    return [u.position.version async for u in client.games.watch(new_id(), after)]


async def watched(house: Scripted, after: int = 0) -> list[int]:
    async with serving(house) as address, House(address) as opened:
        return await versions(opened.client("eleni"), after)


async def test_rows_come_until_the_game_is_over() -> None:
    house = Scripted([row(1), BEAT, row(2), row(3, last=True)])
    assert await watched(house) == [1, 2, 3]
    assert house.asked == [0]


@pytest.mark.parametrize("end", [[BROKEN], [DRAINING], [GARBLED], [HURRIED], []])
async def test_it_resumes_where_a_stream_ended(end: list[pb.WatchGameResponse | str]) -> None:
    house = Scripted([row(1), row(2), *end], [row(3), *end], [row(4, last=True)])
    assert await watched(house) == [1, 2, 3, 4]
    assert house.asked == [0, 2, 3]


async def test_a_row_that_comes_twice_is_shown_once() -> None:
    house = Scripted([row(1), row(2), BROKEN], [row(2), row(3, last=True)])
    assert await watched(house) == [1, 2, 3]


async def test_a_game_that_was_over_before_ends_at_once() -> None:
    house = Scripted([])
    house.position = pb.Position(version=7, status=pb.GAME_STATUS_FINISHED)
    assert await watched(house, after=7) == []


async def test_a_stream_that_ends_before_the_last_row_is_opened_again() -> None:
    house = Scripted([row(1)], [row(2, last=True)])
    house.position = pb.Position(version=2, status=pb.GAME_STATUS_FINISHED)
    assert await watched(house) == [1, 2]


async def test_a_cancelled_game_ends_it() -> None:
    cancelled = row(1)
    cancelled.update.position.status = pb.GAME_STATUS_CANCELLED
    assert await watched(Scripted([cancelled])) == [1]


async def test_a_refusal_is_raised() -> None:
    house = FakeHouse()
    async with serving(house) as address, House(address) as opened:
        with pytest.raises(Refused) as caught:
            await versions(opened.client("eleni"))
    assert caught.value.reason == "GAME_UNKNOWN"
    assert house.calls["WatchGame"] == 1


async def test_a_silent_stream_is_given_up_after_25_seconds() -> None:
    time = ManualTime()
    house = Scripted([row(1), SILENT], [row(2), SILENT], [row(3, last=True)])
    async with AsyncExitStack() as stack:
        address = await stack.enter_async_context(serving(house))
        opened = await stack.enter_async_context(House(address, time=time))
        updates = opened.client("eleni").games.watch(new_id())
        await stack.enter_async_context(aclosing(updates))
        assert (await anext(updates)).position.version == 1
        for version in (2, 3):
            following = asyncio.ensure_future(anext(updates))
            await time.until_sleeping()
            time.advance(SILENCE_SECONDS - 1)
            await asyncio.sleep(0)
            assert len(house.asked) == version - 1, "it gave a stream up before its time"
            time.advance(1)
            await time.until_sleeping()  # the pause before the next attempt
            time.advance(2)
            assert (await following).position.version == version
    assert house.asked == [0, 1, 2]


class CountedTime(ManualTime):
    """Time that tells how often somebody began to sleep."""

    def __init__(self) -> None:
        super().__init__()
        self.slept = 0
        self._more = asyncio.Condition()

    async def sleep(self, seconds: float) -> None:
        self.slept += 1
        async with self._more:
            self._more.notify_all()
        await super().sleep(seconds)

    async def until_slept(self, times: int) -> None:
        async with self._more:
            await self._more.wait_for(lambda: self.slept >= times)


async def test_heartbeats_keep_a_stream_alive() -> None:
    time = CountedTime()

    class Beating(Scripted):
        async def WatchGame(
            self, request: pb.WatchGameRequest, context: Call
        ) -> AsyncIterator[pb.WatchGameResponse]:
            self.asked.append(request.after_version)
            for beat in range(1, 6):
                await time.until_slept(beat)  # the client waits for this one
                await time.until_sleeping()
                time.advance(10)
                yield BEAT
            yield row(1, last=True)

    house = Beating([])
    async with serving(house) as address, House(address, time=time) as opened:
        assert await versions(opened.client("eleni")) == [1]
    assert house.asked == [0]
    assert time.monotonic() == 50


class HastyTime:
    """Time in which pauses take no time, and nothing is ever silent for too long."""

    def __init__(self) -> None:
        self.elapsed = 0.0

    def monotonic(self) -> float:
        return self.elapsed

    async def sleep(self, seconds: float) -> None:
        if seconds == SILENCE_SECONDS:
            await asyncio.Event().wait()
        self.elapsed += seconds


async def test_patience_ends_after_a_minute_without_the_house() -> None:
    time = HastyTime()
    house = Scripted([BROKEN])
    async with serving(house) as address, House(address, time=time) as opened:
        with pytest.raises(Unreachable, match="connection reset"):
            await versions(opened.client("eleni"))
    assert PATIENCE_SECONDS - 2 <= time.elapsed <= PATIENCE_SECONDS
    assert len(house.asked) < 70, "it must not hammer a house in trouble"


async def test_a_house_that_restarts_on_its_port_is_found_again() -> None:
    first = Scripted([row(1), SILENT])
    second = Scripted([row(2, last=True)])
    got: list[int] = []
    seen = asyncio.Event()
    async with AsyncExitStack() as old, AsyncExitStack() as new:
        address = await old.enter_async_context(serving(first))
        opened = await new.enter_async_context(House(address))

        async def follow() -> None:
            async for update in opened.client("eleni").games.watch(new_id()):
                got.append(update.position.version)
                seen.set()

        following = asyncio.create_task(follow())
        await seen.wait()
        await old.aclose()
        await new.enter_async_context(serving(second, int(address.rpartition(":")[2])))
        await following
    assert got == [1, 2]
    assert second.asked == [1]


async def test_leaving_early_closes_the_stream() -> None:
    house = Scripted([row(1), SILENT])
    async with serving(house) as address, House(address) as opened:
        async with aclosing(opened.client("eleni").games.watch(new_id())) as updates:
            assert (await anext(updates)).position.version == 1
        with pytest.raises(StopAsyncIteration):
            await anext(updates)
