"""What went wrong in other houses, and can not here; each test bears the number of a complaint."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from itertools import permutations
from pathlib import Path
from typing import Final

import pytest
from kafeneio.clock.v1 import clock_pb2 as pb
from kafeneio.clock.v1 import events_pb2
from kafeneio.rules.v1 import actions_pb2
from kafeneio_clock.values import Attached, Event, Heard, Lost, StreamEnded
from prometheus_client import REGISTRY

from tests.clock.house import House, kinds, mover, rest, shown
from tests.clock.table import Table
from tests.harness import SEATS, new_id
from tests.rules.refusal import refusal

METHODS: Final = pb.DESCRIPTOR.services_by_name["ClockService"].methods


def sample(name: str, **labels: str) -> float:
    """A metric as it is now."""
    return REGISTRY.get_sample_value(name, labels) or 0.0


async def test_row_1_away_on_another_ones_turn_costs_nothing(brisk: House) -> None:
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


@pytest.mark.parametrize("name", [message.input_type.name for message in METHODS])
def test_row_2_no_client_says_what_time_it_is(name: str) -> None:
    """Nothing in a request is a time or a length of time: only the house's own count. The grace is
    the same for everybody, and told."""
    request = pb.DESCRIPTOR.message_types_by_name[name]
    types = [field.message_type.full_name for field in request.fields if field.message_type]
    assert types == []
    numbers = {field.name for field in request.fields if field.cpp_type != field.CPPTYPE_STRING}
    assert numbers <= {"epoch", "after_sequence", "page_size", "seat", "refresh"}


@pytest.mark.parametrize(("seconds", "charges"), [(30.5, 0), (30.500001, 1)])
def test_row_2_the_grace_has_an_end(seconds: float, charges: int) -> None:
    table = Table.playing()
    table.fire_until(seconds)
    assert len(table.charges()) == charges


async def test_row_3_a_move_in_the_log_is_never_charged(brisk: House) -> None:
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


async def test_row_4_a_drain_charges_nobody(database_url: str, keys: Path) -> None:
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


@pytest.mark.usefixtures("sharp")
async def test_row_5_a_credit_is_told_with_its_reason(brisk: House) -> None:
    game = await brisk.rules.start()
    seat = game.position.turn.seat
    await brisk.clock.until(game.game_id, lambda c: c.turn.turn == 1)
    # Nobody attends: both are expected, so the move clock runs.
    await brisk.restart_clock(after=1.5)
    events = await brisk.clock.announced(game.game_id, "timeout_incurred")
    assert {*kinds(events)} == {"clock_credited", "timeout_incurred"}
    assert events[0].clock_credited.duration.ToTimedelta().total_seconds() > 1.4
    clock = await brisk.clock.get(game.game_id)
    length = clock.turn.deadline.ToNanoseconds() - clock.turn.since.ToNanoseconds()
    # A machine that stands still for a moment has outages of its own, and they are told as well.
    later = await brisk.clock.events(game.game_id)
    told = (2_400_000_000 + credited(some, seat) for some in (events, later))
    assert length in told


def credited(events: Sequence[events_pb2.ClockEvent], seat: int) -> int:
    """How many nanoseconds a seat was given for outages of the clock; nobody was given others."""
    given = [event.clock_credited for event in events if event.HasField("clock_credited")]
    assert {each.seat for each in given} == {seat}
    assert {each.reason for each in given} == {events_pb2.CREDIT_REASON_CLOCK_OUTAGE}
    return sum(each.duration.ToNanoseconds() for each in given)


async def test_row_6_nothing_is_final_before_it_is_recorded(house: House) -> None:
    """It is recorded as soon as `rules` can be asked, by whichever replica looks; the call sent
    again is answered."""
    game = await house.rules.start()
    await house.clock.until(game.game_id, lambda c: c.turn.turn == 1)
    house.clock.directory.cut = True
    request_id = new_id()
    refused = await refusal(house.clock.leave(game.game_id, SEATS[0], request_id))
    assert refused.what == ("UNAVAILABLE", "UNAVAILABLE")
    assert kinds(await house.clock.events(game.game_id)) == []
    house.clock.directory.cut = False
    events = await house.clock.announced(game.game_id, "clock_closed")
    assert kinds(events) == ["seat_forfeited", "clock_closed"]
    await house.clock.leave(game.game_id, SEATS[0], request_id)
    refused = await refusal(house.clock.leave(game.game_id, SEATS[0]))
    assert refused.what == ("FAILED_PRECONDITION", "GAME_OVER")


async def test_row_7_a_game_that_the_house_ends_has_no_forfeits(house: House) -> None:
    game = await house.rules.start()
    stream, _ = await house.clock.attended(game.game_id, SEATS[0])
    await house.rules.abort(game.game_id)
    assert (await rest(stream))[-1].clock.closed
    (event,) = await house.clock.events(game.game_id)
    assert not event.clock_closed.forfeits


@pytest.mark.parametrize("connected", [True, False])
async def test_row_8_a_game_in_which_nobody_moves_ends(
    database_url: str, keys: Path, connected: bool
) -> None:
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


async def test_row_9_nothing_is_played_at_a_timeout(brisk: House) -> None:
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
    position = (await brisk.rules.get(game.game_id)).position
    assert position.version == game.position.version, "nothing is in the log"
    await brisk.rules.play_turn(game.game_id, game.position)
    clock = await shown(stream, lambda c: c.turn.turn == 2)
    assert clock.seats[seat].charged == 1
    assert clock.seats[seat].window.ToTimedelta().total_seconds() == 4
    await brisk.rules.resign(game.game_id, mover(game))
    assert (await rest(stream))[-1].clock.closed
    assert sample("kafeneio_timeouts_total") == charged + 1
    assert sample("kafeneio_clock_lateness_seconds_count") > looked


async def test_row_10_coming_back_is_attending_again(house: House) -> None:
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


def _late(kind: type[Event], epoch: int, now: int) -> Event:
    if kind is Heard:
        return Heard(0, epoch, "here")
    return Lost(0, epoch, now) if kind is Lost else StreamEnded(0, epoch, now)


@pytest.mark.parametrize("kind", [Lost, StreamEnded, Heard])
@pytest.mark.parametrize("devices", [2, 3, 5])
def test_row_11_a_late_word_of_an_old_stream_is_ignored(kind: type[Event], devices: int) -> None:
    """Whichever of the older streams it comes from, and in whatever order."""
    for order in permutations(range(1, devices)):
        table = Table.playing()
        for _ in range(devices - 1):
            table.happen(Attached(0, "there"))
        before = table.state
        for epoch in order:
            table.happen(_late(kind, epoch, table.micros))
        assert table.state == before
        assert table.state.seats[0].epoch == devices


async def test_row_11_an_old_socket_closes_after_the_new_one(house: House) -> None:
    """At the same replica or at another one."""
    other = await house.another()
    game = await house.rules.start()
    for replica in (house.clock, other):
        old, _ = await replica.attended(game.game_id, SEATS[0])
        new, attached = await house.clock.attended(game.game_id, SEATS[0])
        old.cancel()
        await house.clock.heartbeat(game.game_id, SEATS[0], attached.epoch)
        clock = await house.clock.get(game.game_id)
        assert clock.seats[0].presence == pb.PRESENCE_ATTACHED
        assert not new.done()
    assert kinds(await house.clock.events(game.game_id)) == []


async def test_row_12_a_newer_device_takes_over(house: House) -> None:
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


async def test_row_13_a_seat_is_not_tied_to_a_replica_that_died(house: House) -> None:
    game = await house.rules.start()
    seat = game.position.turn.seat
    stream, _ = await house.clock.attended(game.game_id, SEATS[seat])
    await shown(stream, lambda c: c.turn.turn == 1)
    # As if the stream had been at another one, which was last alive a while ago.
    await house.database.execute(
        "UPDATE clocks SET version = version + 1, replicas = '{gone}',"
        " state = replace(state::text, replicas[1], 'gone')::jsonb"
    )
    await house.database.execute(
        "INSERT INTO replicas (name, at) VALUES ('gone', now() - interval '4 s')"
    )
    clock = await house.clock.until(
        game.game_id, lambda c: c.seats[seat].presence != pb.PRESENCE_ATTACHED
    )
    assert clock.seats[seat].presence == pb.PRESENCE_UNKNOWN
    await house.clock.attended(game.game_id, SEATS[seat])
    (event,) = await house.clock.announced(game.game_id, "clock_credited")
    assert event.clock_credited.reason == events_pb2.CREDIT_REASON_STREAM_ENDED
    # Its seats are looked after first, then it is forgotten.
    left = await house.database.fetchval("SELECT count(*) FROM replicas WHERE name = 'gone'")
    assert left == 0


async def test_row_26_one_game_is_nothing_to_another(brisk: House) -> None:
    """The same two play two games at once. What runs out, is lost or is left in one of them is not
    felt in the other, and an epoch of the one says nothing in the other."""
    first, second = await brisk.rules.start(), await brisk.rules.start()
    await brisk.clock.attended(first.game_id, SEATS[0])
    _, attached = await brisk.clock.attended(first.game_id, SEATS[0])
    stream, other = await brisk.clock.attended(second.game_id, SEATS[0])
    assert (attached.epoch, other.epoch) == (2, 1)
    refused = await refusal(brisk.clock.heartbeat(second.game_id, SEATS[0], attached.epoch))
    assert refused.reason == "STALE_EPOCH"
    await brisk.clock.pause(second.game_id)
    await brisk.clock.announced(first.game_id, "timeout_incurred")
    await brisk.clock.leave(first.game_id, SEATS[0])
    await brisk.clock.announced(first.game_id, "clock_closed")
    clock = await brisk.clock.get(second.game_id)
    assert not clock.closed
    assert [seat.charged for seat in clock.seats] == [0, 0]
    assert clock.seats[0].presence == pb.PRESENCE_ATTACHED
    assert not stream.done()
    assert kinds(await brisk.clock.events(second.game_id)) == ["clock_paused"]


async def test_row_28_nothing_comes_after_the_end(brisk: House) -> None:
    """A seat that is away, and one whose period runs, when the game ends: nothing is charged."""
    game = await brisk.rules.start()
    stream, _ = await brisk.clock.attended(game.game_id, mover(game))
    stream.cancel()
    await brisk.clock.announced(game.game_id, "connection_lost")
    await brisk.rules.abort(game.game_id)
    events = await brisk.clock.announced(game.game_id, "clock_closed")
    clock = await brisk.clock.get(game.game_id)
    row = await brisk.database.fetchrow("SELECT deadline, due_at FROM clocks")
    assert row is not None
    assert (row["deadline"], row["due_at"]) == (None, None)
    assert clock.closed
    for who in SEATS:
        refused = await refusal(_first(brisk, game.game_id, who))
        assert refused.what == ("FAILED_PRECONDITION", "GAME_OVER")
        refused = await refusal(brisk.clock.heartbeat(game.game_id, who, 1))
        assert refused.what == ("FAILED_PRECONDITION", "GAME_OVER")
    assert await brisk.clock.events(game.game_id) == events


async def _first(house: House, game_id: str, who: str) -> pb.AttendResponse | object:
    return await house.clock.attend(game_id, who).read()
