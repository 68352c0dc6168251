"""`make up`: two replicas of every service as processes of their own, behind Envoy, on NATS."""

from __future__ import annotations

import asyncio
import signal
from collections.abc import AsyncIterator
from contextlib import aclosing, asynccontextmanager
from datetime import timedelta

import psutil
import pytest
from kafeneio.rules.v1.actions_pb2 import Action
from kafeneio_client.client import Client, House
from kafeneio_runtime.auth import Role, development_key
from kafeneio_runtime.settings import Settings

from tests.journeys.guests import FOUR, PLAYERS, Guests
from tests.journeys.test_variants import check_played
from tests.up.running import PATIENCE, Running, left

pytestmark = [pytest.mark.timeout(300), pytest.mark.xdist_group("up")]


SERVICES = ("rules", "clock", "settlement", "matchmaking")


@asynccontextmanager
async def guests(up: Running) -> AsyncIterator[Guests]:
    """Who comes through the edge."""
    settings = Settings(data_dir=up.folder)
    url = f"postgresql://postgres@/postgres?host={up.folder}/postgres"
    public = up.addresses["public"]
    async with House(public, clock=public, settlement=public, matchmaking=public) as house:
        yield Guests(url=url, settings=settings, house=house)


@pytest.mark.parametrize("variant", ["portes", "pilotta", "koumkan"])
async def test_a_variant_of_each_family_from_the_queue_to_the_ledger(
    up: Running, variant: str
) -> None:
    async with guests(up) as house:
        await check_played(house, variant, [f"{name}-of-{variant}" for name in FOUR])


async def test_what_is_played_on_one_replica_is_seen_on_the_other(up: Running) -> None:
    token = development_key(Settings(data_dir=up.folder)).sign
    here, there = up.replicas("rules")
    async with guests(up) as house, House(here) as one, House(there) as other:
        game_id = await house.matched(players=PLAYERS)
        await house.join(game_id)
        seats = await house.seats(game_id)
        position = await house.position(game_id)

        def client(place: House, name: str) -> Client:
            return place.client(token(name, Role.PLAYER, timedelta(hours=1)))

        mover = client(one, seats[position.turn.seat])
        watcher = client(other, seats[1 - position.turn.seat])
        async with (
            asyncio.timeout(PATIENCE),
            aclosing(watcher.games.watch(game_id, position.version)) as updates,
        ):
            seen = asyncio.create_task(anext(updates))
            steps: list[Action] = []
            while not (legal := await mover.games.legal_actions(game_id, steps)).complete:
                steps.append(legal.actions[0])
            await mover.games.act(game_id, position.version, steps)
            assert (await seen).position.version == position.version + 1


def test_it_ends_as_it_should_and_leaves_no_process_behind(up: Running) -> None:
    processes = [psutil.Process(up.process.pid), *left(up.folder)]
    commands = " ".join(word for each in processes for word in each.cmdline())
    for name in ("postgres", "nats-server", "envoy", "http.server", *SERVICES):
        assert name in commands
    assert up.end(signal.SIGINT) == 0
    assert "The house is closed." in (up.folder / "said.txt").read_text("utf-8")
    assert not left(up.folder)
