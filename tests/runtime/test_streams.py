"""The pace of a stream, with time moved by hand."""

from __future__ import annotations

import asyncio

import pytest
from kafeneio_runtime.clock import SystemTime
from kafeneio_runtime.streams import Pace


def pace(heartbeat: float = 60, stream: float = 60) -> Pace:
    """A pace by the machine's time."""
    return Pace(SystemTime(), heartbeat, stream, asyncio.Event())


async def test_a_bell_is_no_heartbeat() -> None:
    bell = asyncio.Event()
    bell.set()
    assert not await pace().begin().beats_before(bell)


async def test_silence_is_a_heartbeat_and_it_counts_as_sent() -> None:
    pulse = pace(heartbeat=0.01).begin()
    assert await pulse.beats_before(asyncio.Event())
    assert await pulse.beats_before(asyncio.Event())
    assert not pulse.is_over


async def test_a_stream_ends_before_its_connection_is_cut() -> None:
    pulse = pace(stream=0.01).begin()
    assert not await pulse.beats_before(asyncio.Event())
    assert pulse.is_over


async def test_a_look_is_no_heartbeat() -> None:
    pulse = pace().begin()
    assert not await pulse.beats_before(asyncio.Event(), at_most=0.01)
    assert not pulse.is_over


@pytest.mark.parametrize("draining", [False, True])
async def test_a_drain_ends_every_stream(draining: bool) -> None:
    kept = pace()
    if draining:
        kept.draining.set()
    assert kept.begin().is_over is draining
