"""Attend and Heartbeat: who is there, and who is not."""

from __future__ import annotations

from pathlib import Path

import pytest
from kafeneio.clock.v1 import clock_pb2 as pb

from tests.clock.house import House, kinds, message, mover, rest, shown
from tests.harness import SEATS
from tests.rules.refusal import refusal


async def test_a_stream_tells_how_time_is_kept_and_what_happens(house: House) -> None:
    game = await house.rules.start()
    stream, attached = await house.clock.attended(game.game_id, SEATS[0])
    assert (attached.epoch, attached.seat, attached.timeouts) == (1, 0, 5)
    assert attached.move.ToTimedelta().total_seconds() == 30
    assert attached.grace.ToTimedelta().total_seconds() == 0.5
    assert attached.silent.ToTimedelta().total_seconds() == 12
    clock = (await message(stream)).clock
    assert clock.turn.seat == game.position.turn.seat
    assert clock.turn.since == game.position.turn.since
    deadline = clock.turn.deadline.ToNanoseconds() - clock.turn.since.ToNanoseconds()
    assert deadline == 30_500_000_000
    assert [seat.presence for seat in clock.seats] == [pb.PRESENCE_ATTACHED, pb.PRESENCE_EXPECTED]

    await house.rules.play_turn(game.game_id, game.position)
    clock = await shown(stream, lambda each: each.turn.turn == 2)
    assert clock.turn.seat == 1 - game.position.turn.seat
    await house.rules.resign(game.game_id, mover(game))
    messages = await rest(stream)
    assert messages[-1].clock.closed
    assert kinds(await house.clock.events(game.game_id)) == ["clock_closed"]


async def test_a_newer_device_takes_over(house: House) -> None:
    game = await house.rules.start()
    first, attached = await house.clock.attended(game.game_id, SEATS[0])
    second, again = await house.clock.attended(game.game_id, SEATS[0])
    assert (attached.epoch, again.epoch) == (1, 2)
    assert (await rest(first))[-1].HasField("taken_over")
    refused = await refusal(house.clock.heartbeat(game.game_id, SEATS[0], 1))
    assert refused.what == ("ABORTED", "STALE_EPOCH")
    assert refused.metadata == {"epoch": "2"}
    await house.clock.heartbeat(game.game_id, SEATS[0], 2)
    clock = await house.clock.get(game.game_id)
    assert clock.seats[0].presence == pb.PRESENCE_ATTACHED
    second.cancel()
    await house.clock.until(game.game_id, lambda c: c.seats[0].presence == pb.PRESENCE_LOST)
    assert kinds(await house.clock.events(game.game_id)) == ["connection_lost"]


async def test_closing_the_stream_is_losing_the_connection(house: House) -> None:
    game = await house.rules.start()
    other, _ = await house.clock.attended(game.game_id, SEATS[1])
    stream, _ = await house.clock.attended(game.game_id, SEATS[0])
    stream.cancel()
    lost = await shown(other, lambda c: c.seats[0].presence == pb.PRESENCE_LOST)
    assert lost.seats[0].lost_since.ToNanoseconds() > 0
    refused = await refusal(house.clock.heartbeat(game.game_id, SEATS[0], 1))
    assert refused.what == ("FAILED_PRECONDITION", "NOT_ATTENDING")
    _, attached = await house.clock.attended(game.game_id, SEATS[0])
    assert attached.epoch == 2
    await shown(other, lambda c: c.seats[0].presence == pb.PRESENCE_ATTACHED)
    events = await house.clock.events(game.game_id)
    assert kinds(events) == ["connection_lost", "connection_restored"]
    assert events[0].connection_lost.since == lost.seats[0].lost_since


@pytest.mark.parametrize("heartbeats", [False, True])
async def test_silence(database_url: str, keys: Path, heartbeats: bool) -> None:
    """Nothing heard for a while is a loss from then on; a heartbeat, or an action, is heard."""
    async with House.serve(database_url, keys, clock_silent_seconds=0.6) as house:
        game = await house.rules.start()
        other, other_seat = await house.clock.attended(game.game_id, SEATS[1])
        stream, attached = await house.clock.attended(game.game_id, SEATS[0])
        if not heartbeats:
            await shown(stream, lambda c: c.seats[0].presence == pb.PRESENCE_LOST)
            # The stream is still open: life comes back on it.
            await house.clock.heartbeat(game.game_id, SEATS[0], attached.epoch)
            await shown(stream, lambda c: c.seats[0].presence == pb.PRESENCE_ATTACHED)
            return
        clock = await house.clock.get(game.game_id)
        end = clock.at.ToNanoseconds() + 1_500_000_000
        while clock.at.ToNanoseconds() < end:
            await house.clock.heartbeat(game.game_id, SEATS[0], attached.epoch)
            await house.clock.heartbeat(game.game_id, SEATS[1], other_seat.epoch)
            clock = await house.clock.get(game.game_id)
        assert kinds(await house.clock.events(game.game_id)) == []
        assert not other.done()
