"""SIGKILL at every named failpoint of the code, and what holds after the next start."""

from __future__ import annotations

import ast
import asyncio
import signal
from collections.abc import Awaitable, Callable
from contextlib import aclosing, suppress
from datetime import timedelta
from pathlib import Path

import asyncpg
import pytest
from kafeneio.rules.v1 import actions_pb2
from kafeneio.rules.v1 import game_pb2 as pb
from kafeneio_client.errors import KafeneioError, Unreachable

from tests.survival.process import PATIENCE, Running, serving
from tests.survival.table import PLAYERS, Turn, play, started

ROOT = Path(__file__).resolve().parents[2]
GAME_ID = "01980000-0000-7000-8000-000000000001"
REQUEST_ID = "01980000-0000-7000-8000-000000000002"

Scene = Callable[[Path, str, str], Awaitable[None]]


ELSEWHERE = ("settlement.", "clock.", "matchmaking.")
"""Failpoints whose scenes stand with the tests of their service."""


def failpoints() -> set[str]:
    """Every name that stands in a call of `failpoint` in the code."""
    names = set()
    for folder in ("libs", "services", "deploy"):
        for path in (ROOT / folder).rglob("*.py"):
            if "generated" in path.parts:
                continue
            for node in ast.walk(ast.parse(path.read_text("utf-8"))):
                if (
                    isinstance(node, ast.Call)
                    and isinstance(node.func, ast.Name)
                    and node.func.id == "failpoint"
                ):
                    argument = node.args[0]
                    assert isinstance(argument, ast.Constant), f"{path}: a name is a literal"
                    names.add(str(argument.value))
    return names


async def dies(house: Running, call: Awaitable[object]) -> None:
    """The call is not answered, because the house dies."""
    with pytest.raises(Unreachable):
        await call
    assert await house.killed() == -signal.SIGKILL


async def announced(url: str) -> tuple[int, int]:
    """Events in the outbox, and how many of them have been published."""
    connection = await asyncpg.connect(url)
    try:
        row = await connection.fetchrow("SELECT count(*), count(published_at) FROM rules.outbox")
    finally:
        await connection.close()
    assert row is not None
    return row[0], row[1]


async def played_out(house: Running, game_id: str) -> None:
    """The game can be played to its end, and its record is good."""
    position = await play(house, game_id, turns=2000)
    assert position.status == pb.GAME_STATUS_FINISHED
    assert await house.service.games.verify(game_id) == ()
    events = [event async for event in house.service.games.events(game_id)]
    assert [event.sequence for event in events] == [*range(1, len(events) + 1)]
    assert events[-1].WhichOneof("event") == "game_finished"


async def create(folder: Path, url: str, failpoint: str) -> None:
    """Nothing was made; the same call makes it."""

    def made(house: Running) -> Awaitable[pb.Game]:
        return house.service.games.create("portes", PLAYERS, game_id=GAME_ID, request_id=REQUEST_ID)

    async with serving(folder, KAFENEIO_DATABASE_URL=url, KAFENEIO_FAILPOINT=failpoint) as house:
        await dies(house, made(house))
    async with serving(folder, KAFENEIO_DATABASE_URL=url) as house:
        with pytest.raises(KafeneioError):
            await house.service.games.get(GAME_ID)
        first, again = await made(house), await made(house)
        assert first == again
        assert len([game async for game in house.service.games.list()]) == 1


async def start(folder: Path, url: str, failpoint: str) -> None:
    """The last seat has not joined; when it joins again the game starts, once."""
    async with serving(folder, KAFENEIO_DATABASE_URL=url, KAFENEIO_FAILPOINT=failpoint) as house:
        game = await house.service.games.create("portes", PLAYERS, game_id=GAME_ID)
        first, last = (house.client(player).games for player in PLAYERS)
        await first.join(GAME_ID, game.commitment, b"")
        await dies(house, last.join(GAME_ID, game.commitment, b"", request_id=REQUEST_ID))
    async with serving(folder, KAFENEIO_DATABASE_URL=url) as house:
        waiting = await house.service.games.get(GAME_ID)
        assert [seat.joined for seat in waiting.seats] == [True, False]
        last = house.client(PLAYERS[1]).games
        for _ in range(2):
            joined = await last.join(GAME_ID, game.commitment, b"", request_id=REQUEST_ID)
            assert joined.position.version == 1
        await played_out(house, GAME_ID)


async def no_show(folder: Path, url: str, failpoint: str) -> None:
    """The game is still waiting; it ends void after the next start."""
    async with serving(folder, KAFENEIO_DATABASE_URL=url, KAFENEIO_FAILPOINT=failpoint) as house:
        await house.service.games.create(
            "portes", PLAYERS, game_id=GAME_ID, join_timeout=timedelta(seconds=1)
        )
        assert await house.killed() == -signal.SIGKILL
    assert await announced(url) == (0, 0)
    async with serving(folder, KAFENEIO_DATABASE_URL=url) as house:
        async with (
            asyncio.timeout(PATIENCE),
            aclosing(house.service.games.watch(GAME_ID)) as updates,
        ):
            async for update in updates:
                assert update.position.outcome.void_reason == actions_pb2.VOID_REASON_NO_SHOW
        await house.end()
    assert await announced(url) == (1, 1)


async def act_unwritten(folder: Path, url: str, failpoint: str) -> None:
    """The turn was not played; it can still be."""
    async with serving(folder, KAFENEIO_DATABASE_URL=url, KAFENEIO_FAILPOINT=failpoint) as house:
        game_id = await started(house)
        turn = await Turn.chosen(house, game_id, seed=1)
        await dies(house, turn.play(house, game_id, request_id=REQUEST_ID))
    async with serving(folder, KAFENEIO_DATABASE_URL=url) as house:
        assert (await house.service.games.get(game_id)).position.version == turn.version
        await turn.play(house, game_id, request_id=REQUEST_ID)
        await played_out(house, game_id)


async def act_written(folder: Path, url: str, failpoint: str) -> None:
    """The turn was played, although nobody was told; the same call tells it."""
    async with serving(folder, KAFENEIO_DATABASE_URL=url, KAFENEIO_FAILPOINT=failpoint) as house:
        game_id = await started(house)
        turn = await Turn.chosen(house, game_id, seed=1)
        await dies(house, turn.play(house, game_id, request_id=REQUEST_ID))
    async with serving(folder, KAFENEIO_DATABASE_URL=url) as house:
        position = (await house.service.games.get(game_id)).position
        assert position.version == turn.version + 2
        answer = await turn.play(house, game_id, request_id=REQUEST_ID)
        assert answer.house.position == position
        await played_out(house, game_id)


async def relay(folder: Path, url: str, failpoint: str) -> None:
    """What was announced and not marked as published is published after the next start."""
    async with serving(folder, KAFENEIO_DATABASE_URL=url, KAFENEIO_FAILPOINT=failpoint) as house:
        await started_until_it_dies(house)
    events, published = await announced(url)
    assert events > published == 0
    async with serving(folder, KAFENEIO_DATABASE_URL=url) as house:
        await house.end()
    assert await announced(url) == (events, events)


async def started_until_it_dies(house: Running) -> None:
    """The start of a game is what the relay is the first to carry."""
    with suppress(Unreachable):  # it may die before the last answer
        await started(house)
    assert await house.killed() == -signal.SIGKILL


SCENES: dict[str, Scene] = {
    "rules.create.before_commit": create,
    "rules.start.before_commit": start,
    "rules.no_show.before_commit": no_show,
    "rules.append.before": act_unwritten,
    "rules.append.after": act_written,
    "outbox.taken": relay,
    "outbox.published": relay,
}


def test_every_failpoint_of_the_code_has_a_scene() -> None:
    assert {name for name in failpoints() if not name.startswith(ELSEWHERE)} == set(SCENES)


@pytest.mark.matrix
@pytest.mark.parametrize("failpoint", SCENES)
async def test_killed_at(failpoint: str, folder: Path, database_url: str) -> None:
    assert failpoint in failpoints()
    await SCENES[failpoint](folder, database_url, failpoint)
