"""SIGKILL in mid-game: the same position, the same next answer, and watchers go on."""

from __future__ import annotations

import asyncio
import os
import signal
import socket
from contextlib import aclosing, suppress
from pathlib import Path

import psutil
import pytest
from kafeneio.rules.v1 import game_pb2 as pb

from tests.survival.process import PATIENCE, Running, serving
from tests.survival.table import Turn, play, started


def kill_postgres(folder: Path) -> None:
    """SIGKILL for every process of the house's own PostgreSQL."""
    server = psutil.Process(int((folder / "postgres" / "postmaster.pid").read_text().split()[0]))
    family = [server, *server.children(recursive=True)]
    for process in family:
        with suppress(psutil.NoSuchProcess):  # a worker ends when its master does
            process.send_signal(signal.SIGKILL)
    _, alive = psutil.wait_procs(family, timeout=PATIENCE)
    assert not alive


def quiet_port() -> int:
    """A free port that the system gives to nobody by itself, so that it stays free meanwhile."""
    for port in range(20_000 + os.getpid() % 9_000, 30_000):
        with socket.socket() as probe, suppress(OSError):
            probe.bind(("127.0.0.1", port))
            return port
    raise AssertionError("no port is free")


async def watched(house: Running, game_id: str, after: int, until: int) -> list[pb.GameUpdate]:
    """What a spectator is shown, up to a version."""
    updates = []
    async with (
        asyncio.timeout(PATIENCE),
        aclosing(house.service.games.watch(game_id, after)) as stream,
    ):
        async for update in stream:
            updates.append(update)
            if update.position.version >= until:
                return updates
    raise AssertionError("the stream ended early")


@pytest.mark.parametrize("with_postgres", [False, True], ids=["house", "house-and-postgres"])
async def test_a_killed_house_goes_on_where_it_was(folder: Path, with_postgres: bool) -> None:
    async with serving(folder) as house:
        game_id = await started(house, target=3)
        await play(house, game_id, turns=8)
        before = await house.service.games.get(game_id)
        shown = await watched(house, game_id, 0, before.position.version)
        running = await house.service.games.turn(game_id)
        turn = await Turn.chosen(house, game_id, seed=5)
        last = await turn.play(house, game_id, request_id="01980000-0000-7000-8000-00000000abcd")
        after = await house.service.games.get(game_id)
        await house.kill()
        if with_postgres:
            await asyncio.to_thread(kill_postgres, folder)

    async with serving(folder) as house:
        assert await house.service.games.get(game_id) == after
        # The same call again: nothing is played twice, the dice are those that were thrown.
        again = await turn.play(house, game_id, request_id="01980000-0000-7000-8000-00000000abcd")
        assert again == last
        assert await house.service.games.get(game_id) == after
        assert (await house.service.games.turn(game_id)).turn.turn == running.turn.turn + 1
        # A watcher that had seen everything until the last turn gets that, and then what comes.
        missed = await watched(house, game_id, before.position.version, after.position.version)
        assert [update.position.version for update in missed] == [
            *range(before.position.version + 1, after.position.version + 1)
        ]
        assert await watched(house, game_id, 0, before.position.version) == shown
        position = await play(house, game_id, turns=2000, seed=2)
        assert position.status == pb.GAME_STATUS_FINISHED
        assert await house.service.games.verify(game_id) == ()
        events = [event async for event in house.service.games.events(game_id)]
        assert [event.sequence for event in events] == [*range(1, len(events) + 1)]
        await house.end()


async def test_the_next_throw_is_the_one_that_would_have_come(
    folder: Path, database_url: str
) -> None:
    # Killed after the players' turn was chosen: the throws in answer to it follow from the secret,
    # the words and how many came before, so the record would show others.
    async with serving(folder, KAFENEIO_DATABASE_URL=database_url) as house:
        game_id = await started(house)
        await play(house, game_id, turns=3)
        turn = await Turn.chosen(house, game_id, seed=9)
        await house.kill()
    async with serving(folder, KAFENEIO_DATABASE_URL=database_url) as house:
        answer = await turn.play(house, game_id)
        await play(house, game_id, turns=2000, seed=3)
        record = await house.service.games.record(game_id)
        version = answer.played.position.version or answer.house.position.version - 1
        thrown = [entry.action.notation for entry in answer.house.entries]
        rows = {row.version: row for row in record.rows}
        assert thrown
        assert [line.partition(" ")[2] for line in rows[version + 1].entries] == thrown
        assert await house.service.games.verify(game_id) == ()


async def test_a_watcher_of_the_client_library_sees_every_row_once(
    folder: Path, database_url: str
) -> None:
    seen: list[int] = []
    port = {"KAFENEIO_RULES_PORT": str(quiet_port())}
    async with serving(folder, KAFENEIO_DATABASE_URL=database_url, **port) as house:
        game_id = await started(house)
        games = house.service.games

        async def watch() -> None:
            async for update in games.watch(game_id):
                seen.append(update.position.version)

        watcher = asyncio.create_task(watch())
        await play(house, game_id, turns=6)
        await house.kill()
        # The same address again: the watcher comes back by itself.
        async with serving(folder, KAFENEIO_DATABASE_URL=database_url, **port) as second:
            position = await play(second, game_id, turns=2000, seed=4)
            async with asyncio.timeout(PATIENCE):
                await watcher
    assert position.status == pb.GAME_STATUS_FINISHED
    assert seen == [*range(1, position.version + 1)]
