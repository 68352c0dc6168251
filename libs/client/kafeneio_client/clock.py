"""The calls of `kafeneio.clock.v1.ClockService`, and `attending`: to be at a table."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncGenerator, AsyncIterator, Callable
from dataclasses import replace
from typing import Final, TypeAlias

import grpc
from kafeneio.clock.v1 import clock_pb2 as pb
from kafeneio.clock.v1 import clock_pb2_grpc, events_pb2

from kafeneio_client.channel import Caller, new_id
from kafeneio_client.errors import KafeneioError, Refused, Unreachable
from kafeneio_client.time import Time
from kafeneio_client.watch import Source, Stream, Watcher

BEAT_SECONDS: Final = 5.0
"""How often a player who attends says that he is there."""

# A beat that is not answered by then must not hold up the next one: after 12 s he counts as lost.
_BEAT_DEADLINE_SECONDS: Final = 4.0
# Of the time that a player may be silent; 5 s of the usual 12.
_BEATS: Final = 5 / 12
_GONE: Final = frozenset({"GAME_OVER", "SEAT_FORFEITED"})

Attending: TypeAlias = pb.Attached | pb.Clock
"""What an Attend tells: the seat was taken (again), or the clock has changed."""


class _Seat(Source[pb.AttendResponse, Attending]):
    """One device of a player: its stream has no past, every one begins anew."""

    def __init__(self, open_stream: Callable[[], Stream[pb.AttendResponse]]) -> None:
        self._open_stream = open_stream
        self.attached = pb.Attached()
        self.epoch = 0  # of the stream that is open; 0 as long as it is not known
        self.taken_over = False

    def open(self) -> Stream[pb.AttendResponse]:
        self.epoch = 0
        return self._open_stream()

    def take(self, message: pb.AttendResponse) -> Attending | None:
        match message.WhichOneof("message"):
            case "attached":
                self.attached, self.epoch = message.attached, message.attached.epoch
                return message.attached
            case "clock":
                self.finished = _is_last(message.clock, self.attached.seat)
                return message.clock
            case "taken_over":
                self.give_way()
        return None

    def give_way(self) -> None:
        """A newer device has the seat."""
        self.taken_over = self.finished = True


def _is_last(clock: pb.Clock, seat: int) -> bool:
    """Whether no other clock comes for this seat."""
    out = any(one.seat == seat and one.presence == pb.PRESENCE_FORFEITED for one in clock.seats)
    return clock.closed or out


class Attendance:
    """A player at a table, seen from one of his devices; made by `Clocks.attending`.

    `async for clock in attendance` yields the clock as it stands, then whenever it has changed
    (changes that follow each other at once may be one), until the game is over, the seat is out,
    or a newer device has it.
    """

    def __init__(
        self,
        seat: _Seat,
        watcher: Watcher[pb.AttendResponse, Attending],
        clocks: Clocks,
        game_id: str,
        time: Time,
    ) -> None:
        self._seat = seat
        self._watcher = watcher
        self._clocks = clocks
        self._game_id = game_id
        self._time = time
        self._clock: pb.Clock | None = None
        self._ended = False
        self._failure: KafeneioError | None = None
        self._changed = asyncio.Event()

    @property
    def attached(self) -> pb.Attached:
        """How the house keeps the time of this game, and where the player sits."""
        return self._seat.attached

    @property
    def clock(self) -> pb.Clock:
        """The clock as it was last told."""
        assert self._clock is not None, "attending begins with a clock"
        return self._clock

    @property
    def taken_over(self) -> bool:
        """Whether a newer device of the player has the seat."""
        return self._seat.taken_over

    @property
    def ended(self) -> bool:
        """Whether nothing more is told here."""
        return self._ended

    async def __aiter__(self) -> AsyncGenerator[pb.Clock, None]:
        """The clock as it stands, then whenever it has changed."""
        shown: pb.Clock | None = None
        while True:
            changed = self._changed
            if self._clock is not None and self._clock is not shown:
                shown = self._clock
                yield shown
            elif self._ended:
                self.check()
                return
            else:
                await changed.wait()

    def check(self) -> None:
        """Raise what has ended it, where it did not end as it should."""
        if self._failure is not None:
            raise self._failure

    async def until(self, condition: Callable[[pb.Clock], bool]) -> pb.Clock:
        """The first clock of which something is true, or the last of all."""
        async with contextlib.aclosing(aiter(self)) as clocks:
            async for clock in clocks:
                if condition(clock):
                    break
        return self.clock

    async def follow(self) -> None:
        """Hold Attend open as long as there is something to hear."""
        try:
            async with contextlib.aclosing(self._watcher.updates()) as updates:
                async for told in updates:
                    if isinstance(told, pb.Clock):
                        self._show(told)
        except KafeneioError as error:
            await self._lost(error)
        finally:
            self._ended = True
            self._wake()

    async def beat(self) -> None:
        """Say again and again that the player is there."""
        while not self._ended:
            silent = self.attached.silent.ToTimedelta().total_seconds()
            await self._time.sleep(min(BEAT_SECONDS, _BEATS * silent) or BEAT_SECONDS)
            epoch = self._seat.epoch
            if not epoch:
                continue  # the stream is being opened again, which says it too
            try:
                await self._clocks.heartbeat(self._game_id, epoch)
            except Refused as refused:
                if epoch == self._seat.epoch:
                    self._refused(refused)
            except Unreachable:
                continue  # the next one may come through; the stream tells if the house is away

    def _refused(self, refused: Refused) -> None:
        """What a refused beat means for the stream that seems to be open still."""
        if refused.reason == "STALE_EPOCH":
            self._seat.give_way()
            self._watcher.reopen()
        elif refused.reason == "NOT_ATTENDING":
            self._watcher.reopen()

    async def _lost(self, error: KafeneioError) -> None:
        """The stream could not be opened again: perhaps because all was over meanwhile."""
        if self._clock is None or not (isinstance(error, Refused) and error.reason in _GONE):
            self._failure = error
            return
        try:
            self._show(await self._clocks.get(self._game_id))
        except KafeneioError as other:
            self._failure = other

    def _show(self, clock: pb.Clock) -> None:
        self._clock = clock
        self._wake()

    def _wake(self) -> None:
        self._changed.set()
        self._changed = asyncio.Event()


class Clocks:
    """The time of games, as one caller sees it."""

    def __init__(self, channel: grpc.aio.Channel, caller: Caller, time: Time) -> None:
        self._stub = clock_pb2_grpc.ClockServiceStub(channel)
        self._caller = caller
        self._beats = replace(caller, deadline=min(caller.deadline, _BEAT_DEADLINE_SECONDS))
        self._time = time

    @contextlib.asynccontextmanager
    async def attending(self, game_id: str) -> AsyncIterator[Attendance]:
        """Be at the table of a game that has started, inside of the `async with`. Role: its player.

        It holds Attend open (again, when it breaks or drains), and sends a Heartbeat every 5 s.
        It begins when the seat is taken: Refused where it can't be. Then it ends quietly when the
        game is over, the seat is out or a newer device has it, and the inside goes on; Unreachable
        comes only after a minute without the house, to who iterates, or at the end.
        """
        seat = self._seat(game_id)
        watcher = Watcher(seat, self._time, self._caller.address)
        attendance = Attendance(seat, watcher, self, game_id, self._time)
        tasks = [asyncio.create_task(attendance.follow())]
        try:
            await attendance.until(lambda clock: True)
            tasks.append(asyncio.create_task(attendance.beat()))
            yield attendance
        finally:
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)
        attendance.check()

    def attend(self, game_id: str) -> AsyncGenerator[Attending, None]:
        """Attend, and nothing else: resumed and closed like `games.watch`, without heartbeats.

        Role: the game's player. Who plays is better off with `attending`.
        """
        watcher = Watcher(self._seat(game_id), self._time, self._caller.address)
        return watcher.updates()

    def _seat(self, game_id: str) -> _Seat:
        def open_stream() -> Stream[pb.AttendResponse]:
            request = pb.AttendRequest(game_id=game_id)
            return self._stub.Attend(request, metadata=self._caller.about(game_id))

        return _Seat(open_stream)

    async def heartbeat(self, game_id: str, epoch: int) -> None:
        """Heartbeat: the player is still there. Role: the game's player."""
        request = pb.HeartbeatRequest(game_id=game_id, epoch=epoch)
        await self._beats.call(self._stub.Heartbeat, request)

    async def get(self, game_id: str) -> pb.Clock:
        """GetClock: a game's clock as it stands."""
        request = pb.GetClockRequest(game_id=game_id)
        return (await self._caller.call(self._stub.GetClock, request)).clock

    async def leave(self, game_id: str, *, request_id: str = "") -> None:
        """Leave: give the whole game up, at once and for good. Role: the game's player."""
        request = pb.LeaveRequest(request_id=request_id or new_id(), game_id=game_id)
        await self._caller.call(self._stub.Leave, request, request.request_id)

    async def explain(self, game_id: str, seat: int | None = None) -> pb.ExplainChargesResponse:
        """ExplainCharges: every timeout of a seat and how it came about. Roles: the game's player,
        for his own seat; operator, for the `seat` he names."""
        request = pb.ExplainChargesRequest(game_id=game_id, seat=seat)
        return await self._caller.call(self._stub.ExplainCharges, request)

    async def pause(self, game_id: str, reason: str, *, request_id: str = "") -> pb.Clock:
        """PauseGame: stop the time of a game; the clock after it. Role: operator."""
        request = pb.PauseGameRequest(
            request_id=request_id or new_id(), game_id=game_id, reason=reason
        )
        call = self._caller.call(self._stub.PauseGame, request, request.request_id)
        return (await call).clock

    async def resume(self, game_id: str, reason: str = "", *, request_id: str = "") -> pb.Clock:
        """ResumeGame: let the time of a game go on; the clock after it. Role: operator."""
        request = pb.ResumeGameRequest(
            request_id=request_id or new_id(), game_id=game_id, reason=reason
        )
        call = self._caller.call(self._stub.ResumeGame, request, request.request_id)
        return (await call).clock

    async def events(
        self, game_id: str, after_sequence: int = 0
    ) -> AsyncIterator[events_pb2.ClockEvent]:
        """ListEvents: what was announced about a game's time. Role: service."""
        while True:
            request = pb.ListEventsRequest(game_id=game_id, after_sequence=after_sequence)
            page = await self._caller.call(self._stub.ListEvents, request)
            if not page.events:
                return
            for event in page.events:
                yield event
            after_sequence = page.events[-1].sequence
