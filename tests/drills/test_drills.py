"""What a house must survive. The reports are in `build/drills`."""

from __future__ import annotations

import signal

import pytest

from tests.drills.fire import fire

pytestmark = [pytest.mark.drill, pytest.mark.timeout(1200)]

BETWEEN_SECONDS = 3.0


async def test_every_replica_is_killed_in_the_midst_of_play() -> None:
    async with fire("every-replica-killed") as under:
        for part in under.house.replicas:
            await under.kill(part)
            await under.watching(BETWEEN_SECONDS)
        await under.end()


async def test_both_replicas_of_a_service_are_killed_at_once() -> None:
    async with fire("whole-services-killed") as under:
        for service in ("rules", "clock", "settlement", "matchmaking"):
            one, other = under.house.replicas.parts[service]
            await one.kill()
            await under.kill(other)
            await under.watching(BETWEEN_SECONDS)
        await under.end()


async def test_postgres_is_restarted_and_killed() -> None:
    async with fire("postgres-restarted") as under:
        await under.signal_postgres(signal.SIGINT, "restarted")
        await under.watching(10)
        await under.signal_postgres(signal.SIGKILL, "killed with SIGKILL")
        await under.watching(BETWEEN_SECONDS)
        await under.end()


async def test_nats_is_killed_and_cut_off_for_half_a_minute() -> None:
    async with fire("nats-cut-off") as under:
        assert under.house.nats is not None
        await under.kill(under.house.nats)
        await under.watching(5)
        await under.cut_off(under.house.nats, 30)
        await under.watching(5)
        await under.restart(under.house.nats)
        await under.watching(BETWEEN_SECONDS)
        await under.end()


async def test_everything_is_restarted_one_after_the_other() -> None:
    async with fire("rolling-restart") as under:
        for part in under.house.replicas:
            await under.restart(part)
        await under.end()
