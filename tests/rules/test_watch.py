"""Streams: every row once and in order, from any version, until the end or until the house goes."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest
from kafeneio.rules.v1 import actions_pb2
from kafeneio.rules.v1 import game_pb2 as pb

from tests.harness import OPERATOR, PATIENCE, SEATS, SERVICE, STRANGER, Rules
from tests.rules.referee import check_rows, texts
from tests.rules.streams import ended, messages, next_message, next_update


async def test_from_any_version_exactly_the_missing_rows(rules: Rules) -> None:
    game = await rules.start(target=15)
    await rules.play_turns(game, 45)
    running = (await rules.get(game.game_id)).position.version
    assert running > 64, "more rows than a process keeps at hand"
    await rules.abort(game.game_id)
    rows = await rules.updates(game.game_id)
    check_rows(game, rows)
    assert len(rows) == running + 1
    for version in range(len(rows) + 1):
        assert await rules.updates(game.game_id, after=version) == rows[version:]


async def test_it_goes_on_where_it_was_left(rules: Rules) -> None:
    game = await rules.start()
    position, seen = game.position, list[pb.GameUpdate]()
    for _ in range(4):
        version = seen[-1].position.version if seen else 0
        stream = rules.watch(game.game_id, after=version)
        position = (await rules.play_turn(game.game_id, position)).house.position
        while not seen or seen[-1].position != position:
            seen.append(await next_update(stream))
        stream.cancel()
    check_rows(game, seen)
    assert len(seen) == 9


async def test_a_stream_ends_after_the_row_that_ends_the_game(rules: Rules) -> None:
    game = await rules.start()
    stream = rules.watch(game.game_id, SEATS[1])
    assert (await messages(stream, 1))[0].update.position == game.position
    await rules.resign(game.game_id, SEATS[0])
    (last,) = await messages(stream, 1)
    assert last.update.position.status == pb.GAME_STATUS_FINISHED
    assert await ended(stream)
    late = rules.watch(game.game_id, after=2)
    assert await ended(late), "of a game that is over nothing more comes"


async def test_a_game_that_waits_can_be_watched(database_url: str, keys: Path) -> None:
    async with Rules.serve(database_url, keys, heartbeat_seconds=0.05) as rules:
        game = await rules.create()
        stream = rules.watch(game.game_id, SEATS[1])
        assert (await next_message(stream)).HasField("heartbeat")
        await rules.join(game, SEATS[0])
        assert (await next_message(stream)).HasField("heartbeat"), "a seat is no row"
        started = await rules.join(game, SEATS[1])
        first = await next_update(stream)
        assert first.position == started.position
        assert texts(first)[0][1].startswith("opening ")
        stream.cancel()


@pytest.mark.parametrize("ending", ["cancel", "abort"])
async def test_who_watches_a_game_that_never_starts_is_told(rules: Rules, ending: str) -> None:
    game = await rules.create()
    stream = rules.watch(game.game_id, SEATS[0])
    if ending == "cancel":
        await rules.cancel(game.game_id)
    else:
        await rules.abort(game.game_id)
    (last,) = await messages(stream, 1)
    assert last.update.position.version == 1
    kinds = {"cancel": "cancel_before_start", "abort": "void_game"}
    assert last.update.entries[0].action.WhichOneof("action") == kinds[ending]
    if ending == "abort":
        reason = last.update.entries[0].action.void_game.reason
        assert reason == actions_pb2.VOID_REASON_OPERATOR
    assert await ended(stream)


async def test_many_watchers_are_told_the_same(rules: Rules) -> None:
    game = await rules.start()
    crowd = (*SEATS, STRANGER, OPERATOR, SERVICE) * 8
    watching = [asyncio.create_task(rules.updates(game.game_id, who)) for who in crowd]
    await rules.play_turns(game, 15)
    await rules.resign(game.game_id, SEATS[0])
    told = await asyncio.gather(*watching)
    check_rows(game, told[0])
    assert all(rows == told[0] for rows in told)
    assert len(told[0]) == 32


async def test_one_who_goes_disturbs_nobody(rules: Rules) -> None:
    game = await rules.start()
    leaving = [rules.watch(game.game_id) for _ in range(5)]
    staying = asyncio.create_task(rules.updates(game.game_id))
    for stream in leaving:
        await messages(stream, 1)
        stream.cancel()
    await rules.play_turns(game, 3)
    await rules.resign(game.game_id, SEATS[1])
    check_rows(game, await staying)


async def test_a_heartbeat_comes_in_silence(database_url: str, keys: Path) -> None:
    async with Rules.serve(database_url, keys, heartbeat_seconds=0.05) as rules:
        game = await rules.start()
        stream = rules.watch(game.game_id, after=1)
        beats = await messages(stream, 3)
        assert all(beat.HasField("heartbeat") for beat in beats)
        times = [beat.heartbeat.server_time.ToDatetime() for beat in beats]
        assert times == sorted(set(times))
        assert (times[2] - times[0]).total_seconds() >= 0.1
        since = game.position.turn.since.ToDatetime()
        assert abs((times[0] - since).total_seconds()) < PATIENCE, "the server's time of day"
        answer = await rules.play_turn(game.game_id, game.position)
        assert (await next_update(stream)).entries == answer.played.entries
        assert await next_update(stream) == answer.house
        stream.cancel()


async def test_a_heartbeat_comes_also_where_others_keep_looking(
    database_url: str, keys: Path
) -> None:
    """A game that waits changes without a row: neither seats nor looks may silence its streams."""
    async with Rules.serve(database_url, keys, heartbeat_seconds=0.2) as rules:
        game = await rules.create()
        stream = rules.watch(game.game_id)
        beat = asyncio.create_task(messages(stream, 1))
        looks = 0
        while not beat.done():
            await rules.get(game.game_id)
            looks += 1
            assert looks < 3_000, "no heartbeat in thousands of calls"
        assert (await beat)[0].HasField("heartbeat")
        stream.cancel()


async def test_a_stream_is_ended_by_a_message_when_the_house_goes(
    database_url: str, keys: Path
) -> None:
    async with Rules.serve(database_url, keys, heartbeat_seconds=0.05) as going:
        game = await going.start()
        waiting = await going.create()
        streams = [going.watch(game.game_id, who, after=1) for who in (*SEATS, STRANGER)]
        streams.append(going.watch(waiting.game_id))
        for stream in streams:
            assert (await next_message(stream)).HasField("heartbeat")
        await going.drain()
        for stream in streams:
            while (last := await next_message(stream)).HasField("heartbeat"):
                pass
            assert last.HasField("draining")
            assert await ended(stream)
    async with Rules.serve(database_url, keys) as staying:
        stream = staying.watch(game.game_id, after=1)
        answer = await staying.play_turn(game.game_id, game.position)
        assert (await next_update(stream)).entries == answer.played.entries
        assert await next_update(stream) == answer.house
        stream.cancel()
