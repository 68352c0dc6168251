"""Several replicas of the clock on one database."""

from __future__ import annotations

import asyncio
from pathlib import Path

from kafeneio.clock.v1 import clock_pb2 as pb
from kafeneio_clock.names import SCHEMA
from kafeneio_clock.schema import metadata
from kafeneio_runtime.migrations import drift

from tests.clock.house import House, kinds, message, mover, rest, shown
from tests.harness import SEATS
from tests.rules.refusal import refusal


async def test_the_migrations_make_the_tables(database_url: str) -> None:
    assert await asyncio.to_thread(drift, database_url, SCHEMA, metadata) == []


async def test_two_replicas_are_one_clock(house: House) -> None:
    other = await house.another()
    game = await house.rules.start()
    here, attached = await house.clock.attended(game.game_id, SEATS[0])
    there, _ = await other.attended(game.game_id, SEATS[1])
    for stream in (here, there):
        await shown(
            stream, lambda c: all(seat.presence == pb.PRESENCE_ATTACHED for seat in c.seats)
        )
    # A heartbeat is good wherever it comes; a device takes over wherever the older one is.
    await other.heartbeat(game.game_id, SEATS[0], attached.epoch)
    newer, again = await other.attended(game.game_id, SEATS[0])
    assert again.epoch == 2
    assert (await rest(here))[-1].HasField("taken_over")
    refused = await refusal(house.clock.heartbeat(game.game_id, SEATS[0], 1))
    assert refused.reason == "STALE_EPOCH"
    await house.rules.play_turn(game.game_id, game.position)
    await shown(there, lambda c: c.turn.turn == 2)
    await house.clock.leave(game.game_id, SEATS[1])
    assert (await rest(newer))[-1].clock.closed
    assert (await rest(there))[-1].clock.seats[1].presence == pb.PRESENCE_FORFEITED
    events = await house.clock.events(game.game_id)
    assert kinds(events) == ["seat_forfeited", "clock_closed"]


async def test_a_timeout_is_charged_by_one_of_them(brisk: House) -> None:
    for _ in range(2):
        await brisk.another()
    games = [await brisk.rules.start() for _ in range(5)]
    for game in games:
        await brisk.clock.attended(game.game_id, mover(game))
    for game in games:
        await brisk.clock.announced(game.game_id, "timeout_incurred", 2)
        events = await brisk.clock.events(game.game_id)
        charged = [e.timeout_incurred.charged for e in events if e.HasField("timeout_incurred")]
        assert charged == list(range(1, len(charged) + 1))


async def test_life_at_another_replica_is_heard(database_url: str, keys: Path) -> None:
    """A stream is not silent whose player's heartbeats come to another replica."""
    async with House.serve(database_url, keys, clock_silent_seconds=1) as house:
        other = await house.another()
        game = await house.rules.start()
        stream, attached = await house.clock.attended(game.game_id, SEATS[0])
        clock = (await message(stream)).clock
        end = clock.at.ToNanoseconds() + 2_500_000_000
        while clock.at.ToNanoseconds() < end:
            await other.heartbeat(game.game_id, SEATS[0], attached.epoch)
            clock = await other.get(game.game_id)
        assert clock.seats[0].presence == pb.PRESENCE_ATTACHED
        await shown(stream, lambda c: c.seats[0].presence == pb.PRESENCE_LOST)
        refused = await refusal(other.heartbeat(game.game_id, SEATS[0], attached.epoch))
        assert refused.reason == "NOT_ATTENDING", "whoever is told so opens a new stream"
