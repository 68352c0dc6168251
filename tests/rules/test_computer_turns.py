"""WatchComputerTurns: due turns first, told again, in silence a heartbeat, at the end a goodbye."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path

import grpc
from kafeneio.rules.v1 import game_pb2 as pb
from kafeneio_rules.computers import ComputerTurns
from kafeneio_rules.live import LiveGames
from kafeneio_rules.names import SCHEMA
from kafeneio_rules.storage import Games
from kafeneio_runtime.clock import ManualTime
from kafeneio_runtime.secrets import Vault, chance_key
from kafeneio_runtime.store import Store
from kafeneio_runtime.streams import Pace
from prometheus_client import REGISTRY

from tests.harness import PATIENCE, Rules
from tests.rules.computers import (
    against_computer,
    answer_turn,
    next_told,
    next_turn,
    watch_turns,
    whole_turn,
)
from tests.rules.moves import latest

HOUR = timedelta(hours=1)


async def waiting_for_computer(rules: Rules, target: int = 0) -> pb.Position:
    """Where a new game stands in which the computer is to move; its id is that of the newest."""
    game = await against_computer(rules, target)
    if game.position.turn.seat == 0:
        return latest(await rules.play_turn(game.game_id, game.position))
    return game.position


async def newest(rules: Rules) -> str:
    """The id of the game that was made last."""
    listed = await rules.ask(rules.games.ListGames, pb.ListGamesRequest(page_size=1))
    return listed.games[0].game_id


class Replica:
    """The computers' turns as one more replica sees them, whose time a test moves.

    It hears of nothing by itself, so it knows what its scans have found: one a second.
    """

    def __init__(self, turns: ComputerTurns, time: ManualTime) -> None:
        self.turns = turns
        self.time = time

    async def pass_seconds(self, seconds: int) -> None:
        """A second after the other, with the scan of each."""
        for _ in range(seconds):
            await self.time.until_sleeping()
            self.time.advance(1)
            await self.time.until_sleeping()

    async def told(self, stream: AsyncIterator[pb.WatchComputerTurnsResponse]) -> pb.ComputerTurn:
        """The next turn of a stream."""
        async with asyncio.timeout(PATIENCE):
            message = await anext(stream)
        assert message.HasField("turn")
        return message.turn


@asynccontextmanager
async def by_hand(
    rules: Rules, url: str, behind: timedelta = timedelta()
) -> AsyncIterator[Replica]:
    """Another replica on the database, with a time of its own: it stands still."""
    store = await Store.open(url, SCHEMA, 2)
    games = Games(store)
    time = ManualTime(datetime.now(UTC) - behind)
    live = LiveGames(games, Vault(chance_key(rules.settings)))
    turns = ComputerTurns(games, live, Pace(time, 3_600, 7_200, asyncio.Event()))
    scanning = asyncio.create_task(turns.scan())
    try:
        yield Replica(turns, time)
    finally:
        scanning.cancel()
        await asyncio.gather(scanning, return_exceptions=True)
        await games.close()
        await store.close()


async def test_turns_that_are_due_come_first(rules: Rules) -> None:
    due = {}
    for _ in range(5):
        position = await waiting_for_computer(rules)
        due[await newest(rules)] = (1, position.turn.turn, position.version)
    await rules.start()  # of people: nothing is told of it
    await rules.create(players=("eleni", "a computer"), computers=[1])  # not begun
    stream = watch_turns(rules)
    told = [await next_turn(stream) for _ in due]
    assert {turn.game_id: (turn.seat, turn.turn, turn.version) for turn in told} == due
    stream.cancel()


async def test_each_new_turn_is_told_at_once(rules: Rules) -> None:
    stream = watch_turns(rules)
    position = await waiting_for_computer(rules, 5)
    game_id, told = await newest(rules), [await next_turn(stream)]
    for _ in range(6):
        answer = await answer_turn(rules, told[-1])
        position = latest(answer)
        if position.turn.seat == 0:
            position = latest(await rules.play_turn(game_id, position))
        if position.turn.seat == 1:
            told.append(await next_turn(stream))
            assert told[-1] == pb.ComputerTurn(
                game_id=game_id, seat=1, turn=position.turn.turn, version=position.version
            )
    assert len(told) > 1
    assert len({turn.turn for turn in told}) == len(told)
    stream.cancel()


async def test_a_turn_that_nobody_answers_is_told_again_after_five_seconds(
    rules: Rules, database_url: str
) -> None:
    """A worker that was told and is lost loses nothing; and another that comes is told at once."""
    position = await waiting_for_computer(rules)
    async with by_hand(rules, database_url) as replica:
        lost = replica.turns.watch()
        await replica.pass_seconds(1)
        first = await replica.told(lost)
        assert (first.game_id, first.turn) == (await newest(rules), position.turn.turn)
        again = asyncio.create_task(replica.told(lost))
        await replica.pass_seconds(4)
        await rules.get(first.game_id)
        assert not again.done(), "a worker may think for five seconds"
        other = replica.turns.watch()
        assert await replica.told(other) == first
        await replica.pass_seconds(1)
        assert await again == first
        third = asyncio.create_task(replica.told(lost))
        await replica.pass_seconds(4)
        await rules.get(first.game_id)
        assert not third.done()
        await replica.pass_seconds(1)
        assert await third == first


async def test_a_part_of_a_turn_is_told_again_with_its_version(
    rules: Rules, database_url: str
) -> None:
    """Whoever played it was lost before the rest: another goes on where the game stands."""
    position = await waiting_for_computer(rules)
    game_id = await newest(rules)
    async with by_hand(rules, database_url) as replica:
        stream = replica.turns.watch()
        await replica.pass_seconds(1)
        first = await replica.told(stream)
        steps = await whole_turn(rules, game_id, 1)
        assert len(steps) > 1
        answer = await rules.act(game_id, position.version, "matchmaking", steps[:1], as_seat=1)
        again = asyncio.create_task(replica.told(stream))
        await replica.pass_seconds(5)
        turn = await again
        assert (turn.turn, turn.version) == (first.turn, latest(answer).version)
        rest = await answer_turn(rules, turn)
        assert latest(rest).turn.turn == first.turn + 1


async def test_an_answered_turn_is_not_told_again(rules: Rules, database_url: str) -> None:
    await waiting_for_computer(rules)
    async with by_hand(rules, database_url) as replica:
        stream = replica.turns.watch()
        await replica.pass_seconds(1)
        first = await replica.told(stream)
        position = latest(await answer_turn(rules, first))
        while position.turn.seat == 1:
            position = latest(
                await answer_turn(
                    rules, pb.ComputerTurn(game_id=first.game_id, seat=1, version=position.version)
                )
            )
        again = asyncio.create_task(replica.told(stream))
        await replica.pass_seconds(7)
        await rules.get(first.game_id)
        assert not again.done()
        await rules.resign(first.game_id, "eleni")
        await replica.pass_seconds(7)
        await rules.get(first.game_id)
        assert not again.done(), "a game that is over waits for nobody"
        again.cancel()
        await asyncio.gather(again, return_exceptions=True)


async def test_computers_that_do_not_move_are_counted(rules: Rules, database_url: str) -> None:
    """The gauge of which operators are warned: due for ten seconds by the house's time."""
    await waiting_for_computer(rules)
    await waiting_for_computer(rules)
    await rules.drain()  # its own scans set the same gauge
    async with by_hand(rules, database_url, behind=HOUR) as replica:
        await replica.pass_seconds(1)
        assert REGISTRY.get_sample_value("kafeneio_computer_turns_overdue") == 0
        replica.time.advance(HOUR.total_seconds() + 12)
        await replica.pass_seconds(1)
        assert REGISTRY.get_sample_value("kafeneio_computer_turns_overdue") == 2


async def test_a_heartbeat_comes_in_silence(database_url: str, keys: Path) -> None:
    async with Rules.serve(database_url, keys, heartbeat_seconds=0.05) as rules:
        stream = watch_turns(rules)
        beats = [await next_told(stream) for _ in range(3)]
        assert all(beat.HasField("heartbeat") for beat in beats)
        times = [beat.heartbeat.server_time.ToDatetime() for beat in beats]
        assert times == sorted(set(times))
        await waiting_for_computer(rules)
        turn = await next_turn(stream)
        assert turn.game_id == await newest(rules)
        stream.cancel()


async def test_a_stream_is_ended_by_a_message_when_the_house_goes(
    database_url: str, keys: Path
) -> None:
    async with Rules.serve(database_url, keys, heartbeat_seconds=0.05) as going:
        await waiting_for_computer(going)
        streams = [watch_turns(going) for _ in range(3)]
        told = [await next_turn(stream) for stream in streams]
        await going.drain()
        for stream in streams:
            while (last := await next_told(stream)).HasField("heartbeat"):
                pass
            assert last.HasField("draining")
            async with asyncio.timeout(PATIENCE):
                assert await stream.read() is grpc.aio.EOF
            assert await stream.code() is grpc.StatusCode.OK
    async with Rules.serve(database_url, keys) as staying:
        stream = watch_turns(staying)
        assert await next_turn(stream) == told[0]
        stream.cancel()


async def test_a_stream_says_goodbye_before_its_connection_is_cut(
    database_url: str, keys: Path
) -> None:
    async with Rules.serve(database_url, keys, max_connection_age_seconds=1) as rules:
        async with asyncio.timeout(PATIENCE):
            kinds = [message.WhichOneof("message") async for message in watch_turns(rules)]
        assert kinds[-1] == "draining"
