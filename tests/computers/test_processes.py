"""The worker as a process beside a house that is one too: it dies, it follows, it ends."""

from __future__ import annotations

import asyncio
import base64
import signal
from contextlib import aclosing
from pathlib import Path

import psutil
import pytest
from kafeneio.clock.v1 import clock_pb2
from kafeneio.rules.v1 import game_pb2 as pb
from kafeneio_client.programs import Player, RandomProgram

from tests.fixtures.waiting import until
from tests.survival.process import PATIENCE, Running, serving

PLAYER = "eleni"
COMPUTER = "computer"


def workers(house: Running) -> list[psutil.Process]:
    """The computer players of a house, also when it is gone."""
    children = psutil.Process(house.process.pid).children(recursive=True)
    return [each for each in children if "kafeneio_computers.child" in each.cmdline()]


async def worker(house: Running) -> psutil.Process:
    """The one worker of a house, as soon as there is one."""
    await until(lambda: len(workers(house)) == 1)
    return workers(house)[0]


async def started(house: Running, variant: str = "portes", target: int = 1) -> pb.Game:
    """A game against a computer, which has begun."""
    game = await house.service.games.create(
        variant, (PLAYER, COMPUTER), target=target, computer_seats=(1,)
    )
    return await house.client(PLAYER).games.join(game.game_id, game.commitment, b"a word")


async def sat(house: Running, game: pb.Game) -> pb.Position:
    """The end of a game that a program has played."""
    player = Player(house.client(PLAYER), game.game_id, 0, RandomProgram(1))
    async with asyncio.timeout(PATIENCE):
        return await player.sit()


async def closed(house: Running, game: pb.Game) -> clock_pb2.Clock:
    """The clock of a game that is over, as soon as it has heard of that."""
    async with asyncio.timeout(PATIENCE):
        while not (  # noqa: ASYNC110 (it tells only who sits there)
            clock := await house.service.clock.get(game.game_id)
        ).closed:
            await asyncio.sleep(0.02)
        return clock


async def beyond(house: Running, game: pb.Game, version: int) -> None:
    """Return when a game has got so far."""
    async with (
        asyncio.timeout(PATIENCE),
        aclosing(house.service.games.watch(game.game_id)) as updates,
    ):
        async for update in updates:
            if update.position.version >= version:
                return


async def test_a_game_against_the_computer_of_a_house(folder: Path) -> None:
    key = base64.b64encode(bytes(32)).decode()
    async with serving(folder, KAFENEIO_CHANCE_KEY=key, KAFENEIO_COMPUTERS="true") as house:
        game = await started(house)
        position = await sat(house, game)
        assert position.outcome.HasField("decided")
        assert await house.service.games.verify(game.game_id) == ()
        clock = await closed(house, game)
        assert [seat.charged for seat in clock.seats] == [0, 0]
        assert [seat.computer for seat in clock.seats] == [False, True]
        assert not any(seat.forfeit for seat in clock.seats)
        process = await worker(house)
        # What it must not know, and what nobody must see in a list of processes.
        assert process.cmdline()[1:] == ["-m", "kafeneio_computers.child"]
        assert "KAFENEIO_CHANCE_KEY" in psutil.Process(house.process.pid).environ()
        assert not {"KAFENEIO_CHANCE_KEY", "KAFENEIO_DATABASE_URL"} & process.environ().keys()
        assert key not in process.environ().values()
        await house.end()
        _, alive = psutil.wait_procs([process], timeout=0)
        assert not alive, "it ends before the house"


async def test_a_worker_that_is_killed_is_followed_by_another(folder: Path) -> None:
    async with serving(folder, KAFENEIO_COMPUTERS="true") as house:
        game = await started(house, target=3)
        playing = asyncio.create_task(sat(house, game))
        for _ in range(2):
            process = await worker(house)
            version = (await house.service.games.get(game.game_id)).position.version
            process.send_signal(signal.SIGKILL)
            await until(lambda gone=process: not gone.is_running())  # type: ignore[misc]
            following = await worker(house)
            assert following.pid != process.pid
            await beyond(house, game, version + 8)
        position = await playing
        assert position.outcome.HasField("decided")
        assert await house.service.games.verify(game.game_id) == ()


@pytest.mark.parametrize("busy", [False, True], ids=["idle", "busy"])
async def test_a_house_that_is_killed_leaves_no_worker(folder: Path, busy: bool) -> None:
    async with serving(folder, KAFENEIO_COMPUTERS="true") as house:
        process = await worker(house)
        if busy:
            await started(house, "gulbara")
        await house.kill()
        await until(lambda: not process.is_running())
        assert not process.is_running()


async def test_a_house_without_computers(folder: Path) -> None:
    async with serving(folder, KAFENEIO_COMPUTERS="false") as house:
        game = await started(house)
        assert game.position.status == pb.GAME_STATUS_RUNNING
        assert workers(house) == []
        await house.end()
