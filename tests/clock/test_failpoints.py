"""SIGKILL at every failpoint of the clock, and what holds after the next start."""

from __future__ import annotations

import asyncio
import json
import re
import signal
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import Final, TypeAlias

import grpc
import kafeneio_clock
import pytest
from kafeneio_runtime.settings import Settings

from tests.clock.house import Callers, kinds, message
from tests.fixtures.waiting import eventually
from tests.harness import SEATS, Rules, new_id
from tests.survival.process import Running, serving

FOLDER: Final = Path(kafeneio_clock.__file__).parent
REQUEST_ID: Final = "01980000-0000-7000-8000-0000000000aa"
Scene: TypeAlias = Callable[[Callers, str], Awaitable[object]]


@asynccontextmanager
async def a_house(
    folder: Path, url: str, failpoint: str = ""
) -> AsyncIterator[tuple[Running, Callers]]:
    """A house in a process of its own, perhaps one that is going to die."""
    given = {
        "KAFENEIO_DATABASE_URL": url,
        "KAFENEIO_CLOCK_PORT": "0",
        "KAFENEIO_SETTLEMENT_PORT": "0",
        "KAFENEIO_MATCHMAKING_PORT": "0",
    }
    if failpoint:
        given["KAFENEIO_FAILPOINT"] = failpoint
    async with serving(folder, **given) as running:
        ready = json.loads(await asyncio.to_thread((folder / "ready.json").read_text))
        settings = Settings(data_dir=folder)
        async with (
            Rules.connected(url, settings, ready["rules"]) as rules,
            grpc.aio.insecure_channel(ready["clock"]) as channel,
        ):
            yield running, Callers(rules, channel)


async def waits(clock: Callers, game_id: str) -> None:
    """Nothing is done: the house dies of what it hears."""


async def attends(clock: Callers, game_id: str) -> None:
    """A seat attends."""
    await clock.until(game_id, lambda c: c.turn.turn == 1)
    await message(clock.attend(game_id, SEATS[0]))


async def leaves(clock: Callers, game_id: str) -> None:
    """A seat leaves."""
    await clock.leave(game_id, SEATS[0], REQUEST_ID)


SCENES: Final[dict[str, Scene]] = {
    "clock.heard.before_commit": waits,
    "clock.heard.committed": waits,
    "clock.apply.before_commit": attends,
    "clock.apply.committed": attends,
    "clock.forfeit.recorded": leaves,
}


def test_every_failpoint_has_a_scene() -> None:
    found = set()
    for path in FOLDER.rglob("*.py"):
        found |= set(re.findall(r'failpoint\("([a-z_.]+)"\)', path.read_text("utf-8")))
    assert found == set(SCENES)


@pytest.mark.timeout(180)
@pytest.mark.parametrize("failpoint", SCENES)
async def test_killed(
    tmp_path_factory: pytest.TempPathFactory, database_url: str, failpoint: str
) -> None:
    folder = tmp_path_factory.mktemp("house")
    scene, game_id = SCENES[failpoint], new_id()
    async with a_house(folder, database_url, failpoint) as (house, clock):
        with suppress(grpc.aio.AioRpcError):
            game = await clock.rules.create(game_id=game_id, join_timeout=600)
            for who in SEATS:
                await clock.rules.join(game, who)
            await scene(clock, game_id)
        assert await house.killed() == -signal.SIGKILL
    async with a_house(folder, database_url) as (_, clock):
        if scene is leaves:
            # Recorded, so it is announced, whether or not the player asks again.
            events = await clock.announced(game_id, "clock_closed")
            # On a slow machine the house is away for long enough to be credited.
            announced = [kind for kind in kinds(events) if kind != "clock_credited"]
            assert announced == ["seat_forfeited", "clock_closed"]
            await clock.leave(game_id, SEATS[0], REQUEST_ID)
            assert await clock.events(game_id) == events
            return
        await clock.until(game_id, lambda c: c.turn.turn == 1)
        _, attached = await clock.attended(game_id, SEATS[0])
        assert attached.epoch == (2 if failpoint == "clock.apply.committed" else 1)
        told = await clock.rules.events(game_id)

        async def heard() -> bool:
            row = await clock.rules.database.fetchrow("SELECT heard, sequence FROM clock.clocks")
            return row is not None and row["heard"] == len(told)

        await eventually(heard)
        events = await clock.events(game_id)
        assert not {"timeout_incurred", "seat_forfeited"} & set(kinds(events))
