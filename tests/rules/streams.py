"""Streams, read message by message."""

from __future__ import annotations

import asyncio

import grpc
from kafeneio.rules.v1 import game_pb2 as pb

from tests.harness import PATIENCE, Watch


async def next_message(stream: Watch) -> pb.WatchGameResponse:
    """What comes next; fails where the stream has ended."""
    async with asyncio.timeout(PATIENCE):
        message = await stream.read()
    assert isinstance(message, pb.WatchGameResponse), "the stream has ended"
    return message


async def next_update(stream: Watch) -> pb.GameUpdate:
    """The next row of a stream, heartbeats passed over."""
    while (message := await next_message(stream)).HasField("heartbeat"):
        pass
    assert message.HasField("update")
    return message.update


async def messages(stream: Watch, count: int) -> list[pb.WatchGameResponse]:
    """The next so many messages."""
    return [await next_message(stream) for _ in range(count)]


async def ended(stream: Watch) -> bool:
    """Whether a stream has ended well, without another message."""
    async with asyncio.timeout(PATIENCE):
        return await stream.read() is grpc.aio.EOF and await stream.code() is grpc.StatusCode.OK
