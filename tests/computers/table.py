"""A worker in this process, and somebody who plays against it."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from random import Random
from typing import Final

from kafeneio.rules.v1 import actions_pb2
from kafeneio.rules.v1 import game_pb2 as pb
from kafeneio_computers import peer
from kafeneio_computers.worker import LANES, Worker
from kafeneio_runtime.clock import SystemTime
from kafeneio_runtime.directory import Directory

from tests.harness import Rules

FOUR: Final = ("eleni", "nikos", "maria", "petros")
END_SECONDS: Final = 90.0
"""A whole game on a busy machine."""


@asynccontextmanager
async def working(rules: Rules) -> AsyncIterator[Worker]:
    """A worker that plays for the computers of `rules`."""
    assert rules.server is not None, "it is served here"
    directory = Directory(rules.settings, "computers")
    directory.tell({"rules": rules.server.address})
    worker = Worker(peer.Rules(directory, SystemTime()), SystemTime())
    tasks = [asyncio.create_task(work()) for work in (worker.watch, *(worker.play,) * LANES)]
    try:
        yield worker
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        await worker.close()
        await directory.close()


async def awaited(rules: Rules, game_id: str, people: Sequence[int]) -> pb.Position:
    """The position in which one of the people is to play, or the last one."""
    async with asyncio.timeout(END_SECONDS):
        while True:
            position = (await rules.get(game_id)).position
            if position.status != pb.GAME_STATUS_RUNNING or position.turn.seat in people:
                return position
            stream = rules.watch(game_id, after=position.version)
            await stream.read()
            stream.cancel()


async def play(
    rules: Rules, game: pb.Game, people: Sequence[int], turns: int = 5_000, seed: int = 1
) -> pb.Position:
    """The people play any legal thing, so many turns or until the end; the position after it."""
    random = Random(seed)

    def some(actions: Sequence[actions_pb2.Action]) -> actions_pb2.Action:
        return random.choice(actions)

    for _ in range(turns):
        position = await awaited(rules, game.game_id, people)
        if position.status != pb.GAME_STATUS_RUNNING:
            return position
        who = game.seats[position.turn.seat].player_id
        steps = await rules.whole_turn(game.game_id, who, some)
        await rules.act(game.game_id, position.version, who, steps)
    return await awaited(rules, game.game_id, people)
