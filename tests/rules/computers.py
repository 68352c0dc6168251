"""Games with computers, and who plays for them: a worker as simple as one can be."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Final, TypeAlias

import grpc
from kafeneio.rules.v1 import actions_pb2
from kafeneio.rules.v1 import game_pb2 as pb

from tests.harness import PATIENCE, SEATS, SERVICE, Rules
from tests.rules.refusal import Refused, outcome_of
from tests.rules.stage import COMPUTER

Turns: TypeAlias = (
    "grpc.aio.UnaryStreamCall[pb.WatchComputerTurnsRequest, pb.WatchComputerTurnsResponse]"
)
PLAYERS: Final = (SEATS[0], COMPUTER)
"""eleni, and a computer in seat 1."""


async def against_computer(rules: Rules, target: int = 0) -> pb.Game:
    """A game that eleni has begun, of which the computer is to play seat 1."""
    return await rules.start(players=PLAYERS, computers=[1], target=target)


def watch_turns(rules: Rules) -> Turns:
    """The computers' turns."""
    request = pb.WatchComputerTurnsRequest()
    return rules.games.WatchComputerTurns(request, metadata=rules.credentials(SERVICE))


async def next_told(stream: Turns) -> pb.WatchComputerTurnsResponse:
    """What comes next; fails where the stream has ended."""
    async with asyncio.timeout(PATIENCE):
        message = await stream.read()
    assert isinstance(message, pb.WatchComputerTurnsResponse), "the stream has ended"
    return message


async def next_turn(stream: Turns) -> pb.ComputerTurn:
    """The next turn that is told, heartbeats passed over."""
    while (message := await next_told(stream)).HasField("heartbeat"):
        pass
    assert message.HasField("turn")
    return message.turn


async def whole_turn(rules: Rules, game_id: str, seat: int) -> list[actions_pb2.Action]:
    """The steps of a turn of a computer, asked for one by one."""
    chosen: list[actions_pb2.Action] = []
    while not (legal := await rules.legal(game_id, SERVICE, chosen, as_seat=seat)).complete:
        chosen.append(legal.actions[len(legal.actions) // 2])
    return chosen


async def answer_turn(rules: Rules, turn: pb.ComputerTurn, request_id: str = "") -> pb.ActResponse:
    """Plays a turn for a computer as it was told."""
    actions = await whole_turn(rules, turn.game_id, turn.seat)
    return await rules.act(
        turn.game_id, turn.version, SERVICE, actions, request_id, as_seat=turn.seat
    )


@dataclass
class Worker:
    """Plays every turn that it is told. `told` are they all, `answers` what came of each."""

    rules: Rules
    told: list[pb.ComputerTurn] = field(default_factory=list)
    answers: list[pb.ActResponse | Refused] = field(default_factory=list)

    async def run(self) -> None:
        """Until the stream ends, or it is cancelled."""
        async for message in watch_turns(self.rules):
            if message.HasField("turn"):
                self.told.append(message.turn)
                self.answers.append(await outcome_of(answer_turn(self.rules, message.turn)))

    @property
    def played(self) -> list[pb.ActResponse]:
        """The turns that were its own."""
        return [answer for answer in self.answers if isinstance(answer, pb.ActResponse)]

    @property
    def refused(self) -> set[tuple[str, str]]:
        """How the others were refused."""
        return {answer.what for answer in self.answers if isinstance(answer, Refused)}


@asynccontextmanager
async def working(*houses: Rules) -> AsyncIterator[list[Worker]]:
    """While this lasts a worker at each of these replicas plays for the computers."""
    workers = [Worker(rules) for rules in houses]
    tasks = [asyncio.create_task(worker.run()) for worker in workers]
    try:
        yield workers
    finally:
        for task in tasks:
            task.cancel()
        ended = await asyncio.gather(*tasks, return_exceptions=True)
    assert all(isinstance(end, asyncio.CancelledError) or end is None for end in ended), ended


async def some_turn_of(rules: Rules, game_id: str, who: str) -> list[actions_pb2.Action]:
    """A whole turn of a person, asked for step by step as a computer's is."""
    chosen: list[actions_pb2.Action] = []
    while not (legal := await rules.legal(game_id, who, chosen)).complete:
        chosen.append(legal.actions[len(legal.actions) // 2])
    return chosen


async def play_person(
    rules: Rules, game_id: str, most: int = 1_000, who: str = SEATS[0], seat: int = 0
) -> pb.Position:
    """Plays a person's turns as they come until the game is over, or so many; where it stands
    then."""
    position, turns = pb.Position(), 0
    stream = rules.watch(game_id, who, after=0)
    async with asyncio.timeout(4 * PATIENCE):
        async for message in stream:
            if not message.HasField("update"):
                continue
            position = message.update.position
            if not position.HasField("turn") or position.turn.seat != seat:
                continue
            if (await rules.turn(game_id)).version != position.version:
                continue  # an old row, played already
            if turns == most:
                break
            actions = await some_turn_of(rules, game_id, who)
            await rules.act(game_id, position.version, who, actions)
            turns += 1
    stream.cancel()
    return position
