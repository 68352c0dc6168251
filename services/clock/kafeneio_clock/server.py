"""ClockService: message -> domain -> message.

Every call climbs the same ladder: is the game known, does the caller sit there, is it running, is
the seat still in it.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from dataclasses import dataclass
from typing import Final
from uuid import UUID, uuid5

from google.protobuf.timestamp_pb2 import Timestamp
from kafeneio.clock.v1 import clock_pb2, clock_pb2_grpc
from kafeneio.common.v1 import errors_pb2
from kafeneio_runtime import logs
from kafeneio_runtime.auth import Role
from kafeneio_runtime.clock import Time
from kafeneio_runtime.errors import exists, failed
from kafeneio_runtime.ids import parse_id
from kafeneio_runtime.interceptors.current import caller, request_digest
from kafeneio_runtime.requests import once

from kafeneio_clock import explained, wire
from kafeneio_clock.attendance import Attachment, Attendance
from kafeneio_clock.consumer import Consumer
from kafeneio_clock.due import Firing
from kafeneio_clock.guards import asked_seat, check_open, check_seated, own_seat, stale_epoch
from kafeneio_clock.keeper import Keeper
from kafeneio_clock.peer import UnreachableError, away
from kafeneio_clock.replicas import Replicas
from kafeneio_clock.rows import Row, Write
from kafeneio_clock.storage import Clocks
from kafeneio_clock.values import Event, Leaving, Pausing, Presence, Reason, Resuming

MOST_EVENTS: Final = 2**63 - 1
"""No sequence of events is longer: the database counts no further."""

_log: Final = logs.logger(__name__)


@dataclass(frozen=True, slots=True)
class Stream:
    """How long a stream may be silent, and how old it may be, in seconds."""

    heartbeat: float
    age: float


@dataclass(frozen=True, slots=True)
class ClockServicer(clock_pb2_grpc.ClockServiceServicer):
    """The calls of `kafeneio.clock.v1.ClockService`; their meaning stands in the contract."""

    clocks: Clocks
    keeper: Keeper
    consumer: Consumer
    firing: Firing
    attendance: Attendance
    replicas: Replicas
    time: Time
    stream: Stream
    draining: asyncio.Event

    # --- being there -------------------------------------------------------------------------

    async def Attend(
        self, request: clock_pb2.AttendRequest, context: object
    ) -> AsyncIterator[clock_pb2.AttendResponse]:
        """The caller sits at the table for as long as the stream is open."""
        row = await self._row(parse_id(request.game_id, "game_id"))
        seat = own_seat(row)
        check_seated(row, seat)
        async with self.attendance.opened(row.game_id, seat) as attachment:
            attached = wire.attached(attachment.row.state, seat, attachment.epoch)
            yield clock_pb2.AttendResponse(attached=attached)
            async for message in self._messages(attachment):
                yield message

    async def _messages(self, attachment: Attachment) -> AsyncIterator[clock_pb2.AttendResponse]:
        sent, now = 0, self.time.monotonic()
        ends_at, beat_at = now + self.stream.age, now + self.stream.heartbeat
        while True:
            changed, row = attachment.changed, attachment.row  # in this order: no change is missed
            if not attachment.current:
                yield clock_pb2.AttendResponse(taken_over=clock_pb2.TakenOver())
                return
            if row.version != sent:
                clock = wire.clock(row.game_id, row.version, row.state, row.now)
                yield clock_pb2.AttendResponse(clock=clock)
                sent, beat_at = row.version, self.time.monotonic() + self.stream.heartbeat
            if row.state.closed or attachment.now.presence is Presence.OUT:
                return
            if self.draining.is_set() or self.time.monotonic() >= ends_at:
                attachment.by_house = True
                yield clock_pb2.AttendResponse(draining=clock_pb2.Draining())
                return
            try:
                async with asyncio.timeout(min(beat_at, ends_at) - self.time.monotonic()):
                    await changed.wait()
            except TimeoutError:
                if self.time.monotonic() >= beat_at:
                    beat = clock_pb2.ServerHeartbeat(server_time=self._server_time())
                    yield clock_pb2.AttendResponse(heartbeat=beat)
                    beat_at = self.time.monotonic() + self.stream.heartbeat

    async def Heartbeat(
        self, request: clock_pb2.HeartbeatRequest, context: object
    ) -> clock_pb2.HeartbeatResponse:
        """The caller is still there."""
        game_id = parse_id(request.game_id, "game_id")
        row = self.attendance.known(game_id)
        if row is None:
            row = await self._row(game_id)
        seat = own_seat(row)
        check_seated(row, seat)
        if not self.attendance.alive(game_id, seat, request.epoch):
            row = await self._row(game_id)  # the stream may be at another replica
            check_seated(row, seat)
            now = row.state.seats[seat]
            if now.epoch != request.epoch:
                raise stale_epoch(now.epoch)
            if not now.replica:
                raise failed(
                    errors_pb2.ERROR_REASON_NOT_ATTENDING, "the stream has ended; open it again"
                )
            self.replicas.alive(game_id, seat, request.epoch)
        return clock_pb2.HeartbeatResponse(server_time=self._server_time())

    # --- looking -----------------------------------------------------------------------------

    async def GetClock(
        self, request: clock_pb2.GetClockRequest, context: object
    ) -> clock_pb2.GetClockResponse:
        """The clock of a game."""
        row = await self._row(parse_id(request.game_id, "game_id"))
        clock = wire.clock(row.game_id, row.version, row.state, row.now)
        return clock_pb2.GetClockResponse(clock=clock)

    async def ExplainCharges(
        self, request: clock_pb2.ExplainChargesRequest, context: object
    ) -> clock_pb2.ExplainChargesResponse:
        """What a seat was charged for."""
        row = await self._row(parse_id(request.game_id, "game_id"))
        named = request.seat if request.HasField("seat") else None
        seat = asked_seat(row, named) if caller().role is Role.OPERATOR else own_seat(row, named)
        return explained.message(await self.clocks.account(row.game_id, seat))

    async def ListEvents(
        self, request: clock_pb2.ListEventsRequest, context: object
    ) -> clock_pb2.ListEventsResponse:
        """What was announced about a game."""
        game_id = parse_id(request.game_id, "game_id")
        after = min(request.after_sequence, MOST_EVENTS)
        if request.refresh:
            await self._refresh(game_id)
        found = await self.clocks.events(game_id, after, request.page_size or 100)
        if not found:
            await self._row(game_id)
        response = clock_pb2.ListEventsResponse()
        response.events.extend(map(wire.stored_event, found))
        return response

    # --- leaving -----------------------------------------------------------------------------

    async def Leave(
        self, request: clock_pb2.LeaveRequest, context: object
    ) -> clock_pb2.LeaveResponse:
        """The caller gives the game up."""
        game_id = parse_id(request.game_id, "game_id")
        request_id = parse_id(request.request_id, "request_id")
        who, digest = caller().subject, request_digest()
        known = await self.clocks.answer(who, "Leave", request_id)
        if known is not None and known[0] == digest:
            return clock_pb2.LeaveResponse.FromString(known[1])
        if known is not None:
            raise exists(
                errors_pb2.ERROR_REASON_REQUEST_ID_REUSED,
                "the request id was used for another request",
            )
        row = await self._row(game_id)
        seat = own_seat(row)
        # What `rules` is asked with follows from the call, so that the call sent again is known.
        asked = str(uuid5(request_id, f"clock.leave {who}"))
        if not any(each.request == asked for each in row.state.forfeits):
            check_seated(row, seat)
            await self._leave(row, seat, asked)

        async def effect() -> bytes:
            return clock_pb2.LeaveResponse().SerializeToString()

        async with self.clocks.transaction() as work:
            answer = await once(work.connection, who, "Leave", request_id, digest, effect)
        return clock_pb2.LeaveResponse.FromString(answer)

    async def _leave(self, row: Row, seat: int, asked: str) -> None:
        """Intend it, have it recorded, announce it; a replica that dies on the way is followed by
        one that goes on where it stood."""
        leaving = Leaving(seat, asked)
        after = await self.keeper.apply(row.game_id, lambda state, now: (leaving,))
        assert after is not None, "a clock does not go away"
        check_open(after)
        intent = after.state.seats[seat].intent
        if intent is None:
            check_seated(after, seat)
            return
        try:
            await self.firing.forfeit(row.game_id, seat, intent)
        except UnreachableError as error:
            raise away() from error
        if intent.reason is not Reason.LEFT:  # his time was over, and nobody had noticed yet
            after = await self.clocks.load(row.game_id)
            assert after is not None, "a clock does not go away"
            check_seated(after, seat)

    # --- pausing -----------------------------------------------------------------------------

    async def PauseGame(
        self, request: clock_pb2.PauseGameRequest, context: object
    ) -> clock_pb2.PauseGameResponse:
        """The time of a game stands still."""
        pausing = Pausing(request.reason)
        clock = await self._operate("PauseGame", request.request_id, request.game_id, pausing)
        return clock_pb2.PauseGameResponse(clock=clock)

    async def ResumeGame(
        self, request: clock_pb2.ResumeGameRequest, context: object
    ) -> clock_pb2.ResumeGameResponse:
        """It goes on."""
        resuming = Resuming()
        clock = await self._operate("ResumeGame", request.request_id, request.game_id, resuming)
        return clock_pb2.ResumeGameResponse(clock=clock)

    async def _operate(self, method: str, request: str, game: str, event: Event) -> clock_pb2.Clock:
        """An operator's event to the clock of a running game, once for each request id."""
        game_id, request_id = parse_id(game, "game_id"), parse_id(request, "request_id")
        who, digest = caller().subject, request_digest()
        await self._row(game_id)
        done: list[Write] = []

        async def effect() -> bytes:
            row = (await work.lock([game_id]))[game_id]
            check_open(row)
            write = self.keeper.decided(row, lambda state, now: (event,))
            await self.keeper.write(work, [write])
            done.append(write)
            after = write.written if write.changes else row
            clock = wire.clock(game_id, after.version, after.state, after.now)
            return clock.SerializeToString()

        async with self.clocks.transaction() as work:
            answer = await once(work.connection, who, method, request_id, digest, effect)
        self.keeper.done(done)
        _log.info("operated", method=method, game_id=game, operator=who, again=not done)
        return clock_pb2.Clock.FromString(answer)

    async def _refresh(self, game_id: UUID) -> None:
        """Hear what the bus may have lost, if `rules` can be asked."""
        row = await self.clocks.load(game_id)
        if row is None or row.state.closed:
            return
        try:
            await self.consumer.catch_up(game_id)
        except UnreachableError as error:
            _log.info("not refreshed", game_id=str(game_id), error=str(error))

    # --- the ladder --------------------------------------------------------------------------

    async def _row(self, game_id: UUID) -> Row:
        """The clock of a game, also of one that has started so lately that we have not heard."""
        row = await self.clocks.load(game_id)
        if row is None:
            try:
                await self.consumer.catch_up(game_id)
            except UnreachableError as error:
                raise away() from error
            row = await self.clocks.load(game_id)
            assert row is not None, "something was announced"
        return row

    def _server_time(self) -> Timestamp:
        return wire.timestamp(wire.micros(self.time.now()))
