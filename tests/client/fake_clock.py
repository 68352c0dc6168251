"""The clock of the fake house: who attends, and who was late once."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from dataclasses import dataclass, field

import grpc
from google.protobuf.duration_pb2 import Duration
from kafeneio.clock.v1 import clock_pb2 as pb
from kafeneio.clock.v1 import clock_pb2_grpc, events_pb2
from kafeneio.rules.v1 import actions_pb2
from kafeneio_games.game import Entry, Seat

from tests.client.fake_calls import Call, Desk, refuse
from tests.client.fake_money import NO, FakeSettlements
from tests.client.tables import Table


@dataclass
class FakeClock(clock_pb2_grpc.ClockServiceServicer):
    """The servicer of ClockService. A seat is charged at most once, and that after `late_after`."""

    desk: Desk
    settlements: FakeSettlements
    late_after: float | None = None
    charged: dict[tuple[str, int], int] = field(default_factory=dict)
    out: dict[str, list[int]] = field(default_factory=dict)
    epochs: int = 0

    def clock(self, table: Table) -> pb.Clock:
        """As it stands."""
        assert table.play is not None
        clock = pb.Clock(game_id=table.game_id, version=len(table.rows), closed=table.play.over)
        for seat in range(len(table.names)):
            one = clock.seats.add(seat=seat, presence=pb.PRESENCE_ATTACHED)
            one.charged = self.charged.get((table.game_id, seat), 0)
            if seat in self.out.get(table.game_id, ()):
                one.presence = pb.PRESENCE_FORFEITED
                one.forfeit = actions_pb2.FORFEIT_REASON_LEFT
        if table.play.prompted is not None:
            clock.turn.CopyFrom(pb.RunningTurn(turn=table.play.turn, seat=table.play.prompted))
        return clock

    async def _seat(self, request_game: str, name: str, context: Call) -> tuple[Table, int]:
        table = await self.desk.table(request_game, context)
        if name not in table.names:
            code = grpc.StatusCode.PERMISSION_DENIED
            await refuse(context, code, "NOT_YOUR_SEAT", "you do not sit there")
        if table.play is None:
            await refuse(context, NO, "GAME_NOT_STARTED", "it has not started")
        elif table.play.over:
            await refuse(context, NO, "GAME_OVER", "the game is over")
        return table, table.names.index(name)

    async def Attend(
        self, request: pb.AttendRequest, context: Call
    ) -> AsyncIterator[pb.AttendResponse]:
        name = await self.desk.called("Attend", request, context)
        table, seat = await self._seat(request.game_id, name, context)
        self.epochs += 1
        attached = pb.Attached(epoch=self.epochs, seat=seat, timeouts=5)
        attached.silent.CopyFrom(Duration(seconds=12))
        yield pb.AttendResponse(attached=attached)
        while True:
            changed, clock = table.changed, self.clock(table)
            yield pb.AttendResponse(clock=clock)
            if clock.closed or clock.seats[seat].presence == pb.PRESENCE_FORFEITED:
                return
            late = clock.turn.seat == seat and not clock.seats[seat].charged
            try:
                async with asyncio.timeout(self.late_after if late else None):
                    await changed.wait()
            except TimeoutError:
                self.charged[request.game_id, seat] = 1
                table.ring()

    async def Heartbeat(self, request: pb.HeartbeatRequest, context: Call) -> pb.HeartbeatResponse:
        await self.desk.called("Heartbeat", request, context)
        return pb.HeartbeatResponse()

    async def GetClock(self, request: pb.GetClockRequest, context: Call) -> pb.GetClockResponse:
        await self.desk.called("GetClock", request, context)
        table = await self.desk.table(request.game_id, context)
        return pb.GetClockResponse(clock=self.clock(table))

    async def ExplainCharges(
        self, request: pb.ExplainChargesRequest, context: Call
    ) -> pb.ExplainChargesResponse:
        await self.desk.called("ExplainCharges", request, context)
        return pb.ExplainChargesResponse()

    async def PauseGame(self, request: pb.PauseGameRequest, context: Call) -> pb.PauseGameResponse:
        await self.desk.called("PauseGame", request, context)
        return pb.PauseGameResponse()

    async def ResumeGame(
        self, request: pb.ResumeGameRequest, context: Call
    ) -> pb.ResumeGameResponse:
        await self.desk.called("ResumeGame", request, context)
        return pb.ResumeGameResponse()

    async def Leave(self, request: pb.LeaveRequest, context: Call) -> pb.LeaveResponse:
        name = await self.desk.called("Leave", request, context)
        table, seat = await self._seat(request.game_id, name, context)
        assert table.play is not None
        self.out[request.game_id] = [seat]
        entry = Entry(Seat(seat), "!forfeit LEFT")
        table.append(table.play.apply(entry), [entry])
        self.settlements.settle(table, [seat])
        return pb.LeaveResponse()

    async def ListEvents(
        self, request: pb.ListEventsRequest, context: Call
    ) -> pb.ListEventsResponse:
        """Seven events, three a page."""
        await self.desk.called("ListEvents", request, context)
        after = request.after_sequence
        numbers = range(after + 1, min(after + 3, 7) + 1)
        events = [events_pb2.ClockEvent(sequence=number) for number in numbers]
        return pb.ListEventsResponse(events=events)
