"""To attend is to hold a stream, to beat, to come back, and to give way."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import aclosing, asynccontextmanager
from typing import TypeAlias

import grpc
import pytest
from google.protobuf.duration_pb2 import Duration
from kafeneio.clock.v1 import clock_pb2 as pb
from kafeneio.rules.v1 import game_pb2
from kafeneio_client import House, Refused, Unreachable, new_id
from kafeneio_client.clock import BEAT_SECONDS, Attendance
from kafeneio_client.programs import Player, RandomProgram
from kafeneio_client.watch import SILENCE_SECONDS

from tests.client.fake_calls import Call, refuse
from tests.client.fake_clock import FakeClock
from tests.client.fake_house import FakeHouse, everywhere, serving

GAME = new_id()
BEAT = pb.AttendResponse(heartbeat=pb.ServerHeartbeat())
DRAINING = pb.AttendResponse(draining=pb.Draining())
TAKEN_OVER = pb.AttendResponse(taken_over=pb.TakenOver())
Streams: TypeAlias = tuple[Sequence[pb.AttendResponse | str], ...]
BROKEN = "broken"
OPEN = "open"


def attached(epoch: int, silent: int = 12) -> pb.AttendResponse:
    """The first message of a stream."""
    message = pb.Attached(epoch=epoch, seat=1, silent=Duration(seconds=silent))
    return pb.AttendResponse(attached=message)


def clock(version: int, *, closed: bool = False, out: bool = False) -> pb.AttendResponse:
    """A clock of two seats; perhaps the second is out."""
    presence = pb.PRESENCE_FORFEITED if out else pb.PRESENCE_ATTACHED
    seats = [pb.SeatClock(seat=0), pb.SeatClock(seat=1, presence=presence)]
    return pb.AttendResponse(clock=pb.Clock(version=version, closed=closed, seats=seats))


class Scripted(FakeClock):
    """A clock whose streams say what the test wants; a name refuses, the last is for all after."""

    def __init__(self, house: FakeHouse, *streams: Sequence[pb.AttendResponse | str]) -> None:
        super().__init__(house, house.settlements)
        self.streams = list(streams)
        self.opened = 0
        self.epochs_beaten: list[int] = []
        self.answers: list[str] = []
        self._beaten = asyncio.Condition()

    async def Attend(
        self, request: pb.AttendRequest, context: Call
    ) -> AsyncIterator[pb.AttendResponse]:
        self.opened += 1
        stream = self.streams.pop(0) if len(self.streams) > 1 else self.streams[0]
        for message in stream:
            if isinstance(message, pb.AttendResponse):
                yield message
            elif message == OPEN:
                await asyncio.Event().wait()
            elif message == BROKEN:
                await context.abort(grpc.StatusCode.UNAVAILABLE, "connection reset")
            else:
                await refuse(context, grpc.StatusCode.FAILED_PRECONDITION, message, "no")

    async def Heartbeat(self, request: pb.HeartbeatRequest, context: Call) -> pb.HeartbeatResponse:
        async with self._beaten:
            self.epochs_beaten.append(request.epoch)
            self._beaten.notify_all()
        if self.answers:
            code = grpc.StatusCode.FAILED_PRECONDITION
            await refuse(context, code, self.answers.pop(0), "no")
        return pb.HeartbeatResponse()

    async def until_beaten(self, times: int) -> None:
        async with self._beaten:
            await self._beaten.wait_for(lambda: len(self.epochs_beaten) >= times)

    async def GetClock(self, request: pb.GetClockRequest, context: Call) -> pb.GetClockResponse:
        return pb.GetClockResponse(clock=clock(99, closed=True).clock)


class Hurried:
    """Time in which beats come at once, pauses take no time, and nothing is silent for long."""

    def __init__(self) -> None:
        self.beats = asyncio.Semaphore(0)
        self.asked: list[float] = []
        self.waiting = asyncio.Event()
        self.elapsed = 0.0

    def monotonic(self) -> float:
        return self.elapsed

    async def sleep(self, seconds: float) -> None:
        if seconds == SILENCE_SECONDS:
            await asyncio.Event().wait()
        if seconds > 2:
            self.asked.append(seconds)
            self.waiting.set()
            await self.beats.acquire()
        self.elapsed += seconds


@asynccontextmanager
async def attending(
    *streams: Sequence[pb.AttendResponse | str], time: Hurried | None = None
) -> AsyncIterator[tuple[Scripted, Attendance]]:
    """Attend a game whose streams are these."""
    house = FakeHouse()
    house.clocks = scripted = Scripted(house, *streams)
    async with (
        serving(house) as address,
        House(address, clock=address, time=time) as opened,
        opened.client("eleni").clock.attending(GAME) as attendance,
    ):
        yield scripted, attendance


async def seen(attendance: Attendance) -> list[int]:
    """The versions of all clocks until the end."""
    return [one.version async for one in attendance]


def is_version(version: int) -> Callable[[pb.Clock], bool]:
    return lambda clock: clock.version == version


async def test_it_begins_with_the_seat_and_the_clock() -> None:
    async with attending([attached(7), clock(3), OPEN]) as (_, attendance):
        assert (attendance.attached.epoch, attendance.attached.seat) == (7, 1)
        assert attendance.clock.version == 3
        assert not attendance.ended


@pytest.mark.parametrize(
    "last", [clock(2, closed=True), clock(2, out=True), clock(2, closed=True, out=True)]
)
async def test_it_ends_with_the_game_or_with_the_seat(last: pb.AttendResponse) -> None:
    async with attending([attached(1), clock(1), BEAT, last]) as (scripted, attendance):
        assert (await seen(attendance))[-1] == 2
        assert attendance.ended
        assert not attendance.taken_over
        assert await seen(attendance) == [2], "who comes late sees how it stands"
    assert scripted.opened == 1


@pytest.mark.parametrize("end", [[BROKEN], [DRAINING], []])
async def test_it_is_attached_again(end: list[pb.AttendResponse | str]) -> None:
    streams: Streams = ([attached(1), clock(1), *end], [attached(2), clock(5), OPEN])
    async with attending(*streams) as (scripted, attendance):
        await attendance.until(is_version(5))
        assert attendance.attached.epoch == 2
    assert scripted.opened == 2


async def test_a_newer_device_ends_it_quietly() -> None:
    async with attending([attached(1), clock(1), TAKEN_OVER]) as (scripted, attendance):
        assert await seen(attendance) == [1]
        assert attendance.taken_over
        assert attendance.ended
    assert scripted.opened == 1


@pytest.mark.parametrize("reason", ["GAME_NOT_STARTED", "GAME_OVER", "NOT_YOUR_SEAT"])
async def test_who_can_not_sit_down_is_told(reason: str) -> None:
    with pytest.raises(Refused) as caught:
        async with attending([reason]):
            pytest.fail("nobody sits there")
    assert caught.value.reason == reason


@pytest.mark.parametrize("reason", ["GAME_OVER", "SEAT_FORFEITED"])
async def test_what_ended_while_the_stream_was_broken_ends_it(reason: str) -> None:
    async with attending([attached(1), clock(1), BROKEN], [reason]) as (_, attendance):
        assert (await seen(attendance))[-1] == 99, "the clock as it was closed"


async def test_another_refusal_comes_to_who_listens() -> None:
    with pytest.raises(Refused) as caught:
        async with attending([attached(1), clock(1), BROKEN], ["INTERNAL"]) as (_, attendance):
            await seen(attendance)
    assert caught.value.reason == "INTERNAL"


async def test_or_at_the_end_to_who_does_not() -> None:
    entered = attending([attached(1), clock(1), BROKEN], [BROKEN], time=Hurried())
    _, attendance = await entered.__aenter__()
    with pytest.raises(Unreachable, match="connection reset"):
        await seen(attendance)
    with pytest.raises(Unreachable, match="connection reset"):
        await entered.__aexit__(None, None, None)


# --- heartbeats ------------------------------------------------------------------------------


async def test_a_beat_every_five_seconds_with_the_epoch() -> None:
    time = Hurried()
    streams: Streams = ([attached(1), clock(1), OPEN],)
    async with attending(*streams, time=time) as (scripted, _):
        for number in range(1, 4):
            time.beats.release()
            await scripted.until_beaten(number)
    assert scripted.epochs_beaten == [1, 1, 1]
    assert set(time.asked) == {BEAT_SECONDS}


async def test_a_house_that_wants_more_beats_gets_them() -> None:
    time = Hurried()
    async with attending([attached(1, silent=6), clock(1), OPEN], time=time):
        await time.waiting.wait()
    assert time.asked == [2.5]


async def test_a_beat_finds_out_that_the_stream_is_gone() -> None:
    time = Hurried()
    streams: Streams = ([attached(1), clock(1), OPEN], [attached(2), clock(2), OPEN])
    async with attending(*streams, time=time) as (scripted, attendance):
        scripted.answers = ["NOT_ATTENDING"]
        time.beats.release()
        await attendance.until(is_version(2))
    assert scripted.epochs_beaten == [1]


async def test_a_beat_finds_out_that_a_newer_device_is_there() -> None:
    time = Hurried()
    async with attending([attached(1), clock(1), OPEN], time=time) as (scripted, attendance):
        scripted.answers = ["STALE_EPOCH"]
        time.beats.release()
        assert await seen(attendance) == [1]
        assert attendance.taken_over
    assert scripted.opened == 1, "they would take the seat from each other for ever"


@pytest.mark.parametrize("answer", ["RATE_LIMITED", "GAME_OVER"])
async def test_any_other_refusal_of_a_beat_is_left_to_the_stream(answer: str) -> None:
    time = Hurried()
    async with attending([attached(1), clock(1), OPEN], time=time) as (scripted, attendance):
        scripted.answers = [answer]
        for number in (1, 2):
            time.beats.release()
            await scripted.until_beaten(number)
        assert not attendance.ended
    assert scripted.opened == 1


# --- the other calls -------------------------------------------------------------------------


async def test_attend_alone_says_nothing_of_its_own() -> None:
    house = FakeHouse()
    house.clocks = scripted = Scripted(
        house, [attached(1), clock(1), BROKEN], [attached(2), clock(2, closed=True)]
    )
    async with (
        serving(house) as address,
        House(address, clock=address) as opened,
        aclosing(opened.client("eleni").clock.attend(GAME)) as told,
    ):
        kinds = [type(one) async for one in told]
    assert kinds == [pb.Attached, pb.Clock] * 2
    assert scripted.epochs_beaten == []


async def test_looking_leaving_and_events() -> None:
    house = FakeHouse()
    async with serving(house) as address, everywhere(address) as opened:
        eleni, nikos = opened.client("eleni"), opened.client("nikos")
        game = await eleni.games.create("portes", ["eleni", "nikos"])
        for player in (eleni, nikos):
            await player.games.join(game.game_id, game.commitment, b"")
        async with nikos.clock.attending(game.game_id) as attendance:
            assert not (await eleni.clock.get(game.game_id)).closed
            await nikos.clock.heartbeat(game.game_id, attendance.attached.epoch)
            await nikos.clock.leave(game.game_id)
            last = await attendance.until(lambda clock: clock.closed)
        assert last.seats[1].presence == pb.PRESENCE_FORFEITED
        assert [e.sequence async for e in eleni.clock.events(new_id(), 5)] == [6, 7]


async def test_programs_attend_the_game_that_they_play() -> None:
    house = FakeHouse()
    async with serving(house) as address, everywhere(address) as opened:
        clients = [opened.client(name) for name in ("eleni", "nikos")]
        game = await clients[0].games.create("portes", ["eleni", "nikos"])
        sitting = [
            asyncio.ensure_future(Player(one, game.game_id, seat, RandomProgram(seat)).sit())
            for seat, one in enumerate(clients)
        ]
        for one in clients:
            await one.games.join(game.game_id, game.commitment, b"")
        for end in await asyncio.gather(*sitting):
            assert end.status == game_pb2.GAME_STATUS_FINISHED
        assert house.calls["Attend"] == 2
        late = Player(clients[0], game.game_id, 0, RandomProgram(0))
        assert (await late.sit()).status == game_pb2.GAME_STATUS_FINISHED
