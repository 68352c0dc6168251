"""Attend and Heartbeat: who is there, and who is not."""

from __future__ import annotations

from pathlib import Path

import pytest
from kafeneio.clock.v1 import clock_pb2 as pb

from tests.clock.house import House, kinds, message, mover, rest, shown
from tests.harness import SEATS


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
