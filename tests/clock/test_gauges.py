"""What operators are told of the clocks."""

from __future__ import annotations

from pathlib import Path

import pytest
from kafeneio_clock import background
from kafeneio_runtime import outbox
from prometheus_client import REGISTRY

from tests.clock.house import House
from tests.fixtures.waiting import eventually, until


async def reads(name: str, value: float, **labels: str) -> None:
    """Return when a gauge stands there."""
    await until(lambda: REGISTRY.get_sample_value(name, labels) == value)


async def test_a_game_that_nothing_ends_is_told(
    database_url: str, keys: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(background, "COUNT_SECONDS", 0.02)
    monkeypatch.setattr(background, "IDLE_SECONDS", 0.05)
    async with House.serve(database_url, keys) as house:
        games = [(await house.rules.start()).game_id for _ in range(3)]
        await reads("kafeneio_clock_open", 3)
        await reads("kafeneio_clock_running", 3)
        await reads("kafeneio_clock_idle", 0)
        await house.clock.pause(games[0])
        await reads("kafeneio_clock_running", 2)
        await house.database.execute(
            "UPDATE clocks SET deadline = NULL, due_at = NULL WHERE game_id = $1", games[1]
        )
        await reads("kafeneio_clock_idle", 1)
        await reads("kafeneio_clock_running", 1)
        await reads("kafeneio_clock_open", 3)


async def test_the_age_of_the_outbox_is_told(
    database_url: str, keys: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(background, "COUNT_SECONDS", 0.02)
    monkeypatch.setattr(outbox, "_POLL_SECONDS", 60.0)  # nobody tells it of what comes by SQL
    async with House.serve(database_url, keys) as house:
        await house.rules.start()
        await reads("kafeneio_outbox_age_seconds", 0, service="clock")
        await house.database.execute(
            "INSERT INTO outbox (event_id, subject_id, sequence, type, payload, occurred_at)"
            " VALUES (gen_random_uuid(), gen_random_uuid(), 1, 'x', '', now() - interval '1 hour')"
        )

        async def old() -> bool:
            age = REGISTRY.get_sample_value("kafeneio_outbox_age_seconds", {"service": "clock"})
            return age is not None and age > 3_599

        await eventually(old)
