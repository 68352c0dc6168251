"""The tables of the fake house: they change by what is called, and begin when all are ready."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass, field

import grpc
from kafeneio.matchmaking.v1 import quick_match_pb2, tables_pb2_grpc
from kafeneio.matchmaking.v1 import tables_pb2 as pb
from kafeneio_client import new_id

from tests.client.fake_calls import Call, Desk, refuse

CODE = "ACDEFHJKLM"


@dataclass
class FakeTables(tables_pb2_grpc.TableServiceServicer):
    """The servicer of TableService."""

    desk: Desk
    tables: dict[str, pb.Table] = field(default_factory=dict)
    changes: list[pb.TableChange] = field(default_factory=list)
    changed: asyncio.Event = field(default_factory=asyncio.Event)
    comes_then: str = ""
    """Who sits down as soon as somebody is ready."""

    def _change(self, table: pb.Table, *, others: bool = False) -> pb.Table:
        table.version += 1
        if others:
            table.seating += 1
            for seat in table.seats:
                seat.ready = False
        told = pb.TableChange(change=len(self.changes) + 1)
        told.table.CopyFrom(table)
        self.changes.append(told)
        self.changed.set()
        self.changed = asyncio.Event()
        return told.table

    async def _find(self, table_id: str, call: Call) -> pb.Table:
        if table_id not in self.tables:
            await refuse(call, grpc.StatusCode.NOT_FOUND, "TABLE_UNKNOWN", "there is no such table")
        return self.tables[table_id]

    async def CreateTable(
        self, request: pb.CreateTableRequest, context: Call
    ) -> pb.CreateTableResponse:
        name = await self.desk.called("CreateTable", request, context)
        table = pb.Table(
            table_id=request.table_id,
            status=pb.TABLE_STATUS_OPEN,
            terms=request.terms,
            host_player_id=name,
            private=request.private,
            invitation_code=CODE if request.private else "",
            computers_fill=request.computers_fill,
        )
        for seat in range(2):
            table.seats.add(seat=seat, player_id=name if seat == request.seat else "")
        self.tables[table.table_id] = table
        return pb.CreateTableResponse(table=self._change(table, others=True))

    async def JoinTable(self, request: pb.JoinTableRequest, context: Call) -> pb.JoinTableResponse:
        name = await self.desk.called("JoinTable", request, context)
        table_id = request.table_id
        if request.invitation_code == CODE:
            table_id = next(each.table_id for each in self.tables.values() if each.private)
        table = await self._find(table_id, context)
        free = [seat for seat in table.seats if not seat.player_id]
        if request.HasField("seat"):
            free = [seat for seat in free if seat.seat == request.seat]
        if not free:
            code = grpc.StatusCode.FAILED_PRECONDITION
            await refuse(context, code, "TABLE_FULL", "every seat is taken")
        free[0].player_id = name
        return pb.JoinTableResponse(table=self._change(table, others=True))

    async def LeaveTable(
        self, request: pb.LeaveTableRequest, context: Call
    ) -> pb.LeaveTableResponse:
        name = await self.desk.called("LeaveTable", request, context)
        table = await self._find(request.table_id, context)
        for seat in table.seats:
            if seat.player_id == name:
                seat.player_id = ""
        if not any(seat.player_id for seat in table.seats):
            table.status, table.end = pb.TABLE_STATUS_CLOSED, pb.TABLE_END_DESERTED
        return pb.LeaveTableResponse(table=self._change(table, others=True))

    async def SetReady(self, request: pb.SetReadyRequest, context: Call) -> pb.SetReadyResponse:
        name = await self.desk.called("SetReady", request, context)
        table = await self._find(request.table_id, context)
        if request.seating != table.seating:
            code = grpc.StatusCode.ABORTED
            await refuse(context, code, "STALE_SEATING", "others sit there by now")
        for seat in table.seats:
            if seat.player_id == name:
                seat.ready = request.ready
        answer = self._change(table)
        if self.comes_then:
            table.seats[1].player_id = self.comes_then
            self._change(table, others=True)
        taken = [seat for seat in table.seats if seat.player_id]
        if all(seat.ready for seat in taken) and (len(taken) == 2 or table.computers_fill):
            self._begin(table)
        return pb.SetReadyResponse(table=answer)

    def _begin(self, table: pb.Table) -> None:
        names = [seat.player_id or "computer-1" for seat in table.seats]
        table.game_id = new_id()
        self.desk.open_table(
            table.game_id, table.terms.variant, table.terms.target, (names[0], names[1])
        )
        table.status = pb.TABLE_STATUS_MATCHED
        self._change(table)

    async def GetTable(self, request: pb.GetTableRequest, context: Call) -> pb.GetTableResponse:
        await self.desk.called("GetTable", request, context)
        return pb.GetTableResponse(table=await self._find(request.table_id, context))

    async def ListTables(
        self, request: pb.ListTablesRequest, context: Call
    ) -> pb.ListTablesResponse:
        """Two a page."""
        await self.desk.called("ListTables", request, context)
        found = [each for each in self.tables.values() if not each.private]
        start = int(request.page_token or 0)
        more = str(start + 2) if len(found) > start + 2 else ""
        return pb.ListTablesResponse(tables=found[start : start + 2], next_page_token=more)

    async def WatchTable(
        self, request: pb.WatchTableRequest, context: Call
    ) -> AsyncIterator[pb.WatchTableResponse]:
        await self.desk.called("WatchTable", request, context)
        table = await self._find(request.table_id, context)
        async for change in self._since(
            lambda each: (
                each.table.table_id == table.table_id and each.table.version > request.after_version
            )
        ):
            yield pb.WatchTableResponse(table=change.table)
            if change.table.status == pb.TABLE_STATUS_CLOSED:
                return

    async def WatchTables(
        self, request: pb.WatchTablesRequest, context: Call
    ) -> AsyncIterator[pb.WatchTablesResponse]:
        """Every stream shows one change, and drains."""
        await self.desk.called("WatchTables", request, context)
        async for change in self._since(lambda each: each.change > request.after_change):
            yield pb.WatchTablesResponse(changed=change)
            yield pb.WatchTablesResponse(draining=quick_match_pb2.Draining())
            return

    async def _since(
        self, wanted: Callable[[pb.TableChange], bool]
    ) -> AsyncIterator[pb.TableChange]:
        """All changes that are wanted, old and new."""
        seen = 0
        while True:
            bell, found = self.changed, self.changes[seen:]
            seen += len(found)
            for change in filter(wanted, found):
                yield change
            await bell.wait()
