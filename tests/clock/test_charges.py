"""What time costs: charges, forfeits, and what is charged to nobody."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from pathlib import Path

import pytest
from kafeneio.clock.v1 import clock_pb2 as pb
from kafeneio.clock.v1 import events_pb2
from kafeneio.rules.v1 import actions_pb2
from prometheus_client import REGISTRY

from tests.clock.house import House, kinds, message, mover, rest, shown
from tests.harness import SEATS


def sample(name: str, **labels: str) -> float:
    """A metric as it is now."""
    return REGISTRY.get_sample_value(name, labels) or 0.0


@pytest.fixture
def sharp() -> Iterator[None]:
    """An outage is noticed after a quarter of a second."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("kafeneio_runtime.heartbeat.GAP_SECONDS", 0.25)
        patch.setattr("kafeneio_runtime.heartbeat.BEAT_SECONDS", 0.05)
        patch.setattr("kafeneio_clock.life.GAP_SECONDS", 0.25)
        patch.setattr("kafeneio_clock.life.BEAT_SECONDS", 0.05)
        yield


async def test_a_timeout_is_charged_and_survived(brisk: House) -> None:
    charged = sample("kafeneio_timeouts_total")
    looked = sample("kafeneio_clock_lateness_seconds_count")
    game = await brisk.rules.start()
    seat = game.position.turn.seat
    stream, _ = await brisk.clock.attended(game.game_id, mover(game))
    (event,) = await brisk.clock.announced(game.game_id, "timeout_incurred")
    assert event.timeout_incurred == events_pb2.TimeoutIncurred(
        seat=seat, turn=1, charged=1, cause=events_pb2.CHARGE_CAUSE_MOVE
    )
    clock = await shown(stream, lambda c: c.seats[seat].charged == 1)
    # The next period begins where the last one ended, grace included.
    deadline = clock.turn.deadline.ToNanoseconds() - clock.turn.since.ToNanoseconds()
    assert deadline == 2_400_000_000
    await brisk.rules.play_turn(game.game_id, game.position)
    clock = await shown(stream, lambda c: c.turn.turn == 2)
    assert clock.seats[seat].charged == 1
    assert clock.seats[seat].window.ToTimedelta().total_seconds() == 4
    await brisk.rules.resign(game.game_id, mover(game))
    assert (await rest(stream))[-1].clock.closed
    assert sample("kafeneio_timeouts_total") == charged + 1
    assert sample("kafeneio_clock_lateness_seconds_count") > looked


@pytest.mark.parametrize("connected", [True, False])
async def test_five_timeouts(database_url: str, keys: Path, connected: bool) -> None:
    async with House.serve(
        database_url, keys, clock_move_seconds=0.2, clock_grace_seconds=0.05
    ) as house:
        game = await house.rules.start(target=3)
        seat = game.position.turn.seat
        stream, _ = await house.clock.attended(game.game_id, SEATS[seat])
        other, _ = await house.clock.attended(game.game_id, SEATS[1 - seat])
        if not connected:
            stream.cancel()
        events = await house.clock.announced(game.game_id, "clock_closed")
        reason = "TIMEOUTS_EXCEEDED" if connected else "CONNECTION_LOST"
        number = actions_pb2.ForfeitReason.Value(f"FORFEIT_REASON_{reason}")
        charges = [e.timeout_incurred for e in events if e.HasField("timeout_incurred")]
        assert [each.charged for each in charges] == [1, 2, 3, 4, 5]
        forfeit = events_pb2.SeatForfeited(seat=seat, reason=number)
        assert [e.seat_forfeited for e in events if e.HasField("seat_forfeited")] == [forfeit]
        assert list(events[-1].clock_closed.forfeits) == [forfeit]
        assert kinds(events)[-2:] == ["seat_forfeited", "clock_closed"]
        assert kinds(events).count("connection_lost") == (0 if connected else 1)
        assert [event.sequence for event in events] == list(range(1, len(events) + 1))
        # What is announced stands in the log.
        last = (await house.rules.events(game.game_id))[-1].game_finished
        assert [(each.seat, each.reason) for each in last.forfeits] == [(seat, number)]
        end = (await rest(other))[-1].clock
        assert end.closed
        assert end.seats[seat].presence == pb.PRESENCE_FORFEITED
        assert end.seats[seat].forfeit == number
        assert sample("kafeneio_forfeits_total", reason=reason) >= 1


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


async def test_away_off_turn_costs_nothing(brisk: House) -> None:
    game = await brisk.rules.start()
    seat = game.position.turn.seat
    for who in SEATS:
        stream, _ = await brisk.clock.attended(game.game_id, who)
        if who == SEATS[1 - seat]:
            stream.cancel()
    await brisk.clock.announced(game.game_id, "timeout_incurred", 1)
    clock = await brisk.clock.get(game.game_id)
    assert [each.charged for each in clock.seats] == ([1, 0] if seat == 0 else [0, 1])
    assert clock.seats[1 - seat].window.ToTimedelta().total_seconds() == 5


async def test_a_move_that_is_in_the_log_when_the_clock_asks_is_not_charged(brisk: House) -> None:
    """X11: the bus is slower than the move, and the clock asks."""
    game = await brisk.rules.start()
    seat = game.position.turn.seat
    stream, _ = await brisk.clock.attended(game.game_id, SEATS[1 - seat])
    await shown(stream, lambda c: c.turn.turn == 1)
    brisk.bus.open.clear()
    await brisk.rules.play_turn(game.game_id, game.position)
    # The clock finds out by itself when the period is over, and goes on with the next turn.
    clock = await shown(stream, lambda c: c.turn.turn == 2)
    assert [each.charged for each in clock.seats] == [0, 0]
    position = (await brisk.rules.get(game.game_id)).position
    assert clock.turn.since == position.turn.since, "a turn begins when it begins"
    brisk.bus.open.set()


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


@pytest.mark.usefixtures("sharp")
async def test_an_outage_of_the_clock_is_credited(brisk: House) -> None:
    game = await brisk.rules.start()
    seat = game.position.turn.seat
    await brisk.clock.until(game.game_id, lambda c: c.turn.turn == 1)
    # Nobody attends: both are expected, so the move clock runs.
    await brisk.restart_clock(after=1.5)
    events = await brisk.clock.announced(game.game_id, "timeout_incurred")
    assert kinds(events) == ["clock_credited", "timeout_incurred"]
    credited = events[0].clock_credited
    assert credited.seat == seat
    assert credited.reason == events_pb2.CREDIT_REASON_CLOCK_OUTAGE
    assert credited.duration.ToTimedelta().total_seconds() > 1.4
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


async def test_a_drain_charges_nobody(database_url: str, keys: Path) -> None:
    """A stream that the house ends makes its seat unknown; who comes back finds his time."""
    async with House.serve(
        database_url, keys, clock_move_seconds=2, clock_grace_seconds=0
    ) as house:
        game = await house.rules.start()
        seat = game.position.turn.seat
        stream, _ = await house.clock.attended(game.game_id, SEATS[seat])
        await house.clock.until(game.game_id, lambda c: c.turn.turn == 1)
        messages = asyncio.create_task(rest(stream))
        await house.restart_clock()
        assert (await messages)[-1].HasField("draining")
        clock = await house.clock.get(game.game_id)
        assert clock.seats[seat].presence == pb.PRESENCE_UNKNOWN
        assert not clock.turn.HasField("deadline")
        assert clock.seats[seat].present_until.ToNanoseconds() > clock.at.ToNanoseconds()
        stream, attached = await house.clock.attended(game.game_id, SEATS[seat])
        assert attached.epoch == 2
        await shown(stream, lambda c: c.seats[seat].presence == pb.PRESENCE_ATTACHED)
        events = await house.clock.events(game.game_id)
        assert kinds(events) == ["clock_credited"]
        assert events[0].clock_credited.reason == events_pb2.CREDIT_REASON_STREAM_ENDED


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
