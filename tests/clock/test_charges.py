"""What time costs: charges, forfeits, and what is charged to nobody."""

from __future__ import annotations

from pathlib import Path

from kafeneio.clock.v1 import clock_pb2 as pb
from kafeneio.clock.v1 import events_pb2

from tests.clock.house import House, kinds, message, rest, shown
from tests.harness import SEATS


async def test_away_and_back(database_url: str, keys: Path) -> None:
    """X4, X5, X6: charged while away, plays on, and the move clock stood still."""
    async with House.serve(
        database_url, keys, clock_move_seconds=0.4, clock_grace_seconds=5
    ) as house:
        game = await house.rules.start()
        seat = game.position.turn.seat
        stream, _ = await house.clock.attended(game.game_id, SEATS[seat])
        stream.cancel()
        await house.clock.announced(game.game_id, "timeout_incurred", 2)
        stream, attached = await house.clock.attended(game.game_id, SEATS[seat])
        assert attached.epoch == 2
        clock = (await message(stream)).clock
        assert clock.seats[seat].presence == pb.PRESENCE_ATTACHED
        assert clock.turn.move_left.ToTimedelta().total_seconds() > 4.5
        charged = clock.seats[seat].charged
        assert charged in (2, 3)
        await house.rules.play_turn(game.game_id, game.position)
        await shown(stream, lambda c: c.turn.turn == 2)
        events = await house.clock.events(game.game_id)
        causes = {e.timeout_incurred.cause for e in events if e.HasField("timeout_incurred")}
        assert causes == {events_pb2.CHARGE_CAUSE_AWAY}
        assert kinds(events)[0] == "connection_lost"
        assert kinds(events)[-1] == "connection_restored"


async def test_rules_can_not_be_asked(brisk: House) -> None:
    """The clock asks again, and the time until the answer is credited."""
    game = await brisk.rules.start()
    seat = game.position.turn.seat
    stream, _ = await brisk.clock.attended(game.game_id, SEATS[seat])
    await shown(stream, lambda c: c.turn.turn == 1)
    brisk.clock.directory.cut = True
    await brisk.asked_in_vain()
    began = await brisk.clock.get(game.game_id)
    assert began.seats[seat].charged == 0, "nobody is charged while nobody can be asked"
    await brisk.clock.until(
        game.game_id, lambda c: c.at.ToNanoseconds() > began.at.ToNanoseconds() + 1_500_000_000
    )
    brisk.clock.directory.cut = False
    events = await brisk.clock.announced(game.game_id, "timeout_incurred")
    assert kinds(events) == ["clock_credited", "timeout_incurred"]
    credited = events[0].clock_credited
    assert credited.reason == events_pb2.CREDIT_REASON_RULES_UNREACHABLE
    assert 1.4 < credited.duration.ToTimedelta().total_seconds() < 4
    clock = await brisk.clock.get(game.game_id)
    length = clock.turn.deadline.ToNanoseconds() - clock.turn.since.ToNanoseconds()
    assert length == 2_400_000_000 + credited.duration.ToNanoseconds()


async def test_an_outage_of_rules_is_credited(brisk: House) -> None:
    """`rules` tells of it when it is asked."""
    game = await brisk.rules.start()
    await brisk.clock.until(game.game_id, lambda c: c.turn.turn == 1)
    since = game.position.turn.since.ToDatetime()
    await brisk.rules.database.execute(
        "INSERT INTO outages (began, ended)"
        " VALUES ($1::timestamp AT TIME ZONE 'UTC' + interval '0.1 s',"
        " $1::timestamp AT TIME ZONE 'UTC' + interval '0.9 s')",
        since,
    )
    events = await brisk.clock.announced(game.game_id, "timeout_incurred")
    assert kinds(events) == ["clock_credited", "timeout_incurred"]
    assert events[0].clock_credited.reason == events_pb2.CREDIT_REASON_RULES_OUTAGE
    assert events[0].clock_credited.duration.ToTimedelta().total_seconds() == 0.8


async def test_who_does_not_come_back_after_a_drain_is_lost(database_url: str, keys: Path) -> None:
    async with House.serve(database_url, keys, clock_unknown_seconds=0.3) as house:
        game = await house.rules.start()
        await house.clock.attended(game.game_id, SEATS[0])
        await house.restart_clock()
        clock = await house.clock.until(
            game.game_id, lambda c: c.seats[0].presence == pb.PRESENCE_LOST
        )
        assert clock.seats[1].presence == pb.PRESENCE_EXPECTED


async def test_an_old_stream_is_asked_to_come_again(database_url: str, keys: Path) -> None:
    """Before its connection is cut for its age, so that nobody takes the cut for a loss."""
    async with House.serve(database_url, keys, max_connection_age_seconds=1) as house:
        game = await house.rules.start()
        stream, _ = await house.clock.attended(game.game_id, SEATS[0])
        assert (await rest(stream))[-1].HasField("draining")
        clock = await house.clock.until(
            game.game_id, lambda c: c.seats[0].presence == pb.PRESENCE_UNKNOWN
        )
        assert not clock.closed
