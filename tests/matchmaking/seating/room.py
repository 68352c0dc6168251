"""What a test says to TableService."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any, TypeAlias

from kafeneio.matchmaking.v1 import quick_match_pb2, tables_pb2_grpc
from kafeneio.matchmaking.v1 import tables_pb2 as pb

from tests.harness import PATIENCE, STRANGER, new_id
from tests.matchmaking.hall import Hall, terms

Watch: TypeAlias = Any
OPEN, STARTING, MATCHED, PLAYING, CLOSED = (
    pb.TABLE_STATUS_OPEN,
    pb.TABLE_STATUS_STARTING,
    pb.TABLE_STATUS_MATCHED,
    pb.TABLE_STATUS_PLAYING,
    pb.TABLE_STATUS_CLOSED,
)


@dataclass(frozen=True)
class Room:
    """One replica of `matchmaking`, as those who look for a table see it."""

    hall: Hall

    @property
    def stub(self) -> tables_pb2_grpc.TableServiceStub:
        """The calls."""
        return tables_pb2_grpc.TableServiceStub(self.hall.channel)

    async def create(
        self,
        who: str,
        *,
        asked: quick_match_pb2.QuickTerms | None = None,
        seconds: int = 0,
        **fields: Any,
    ) -> pb.Table:
        """A table of somebody."""
        named = {"request_id": new_id(), "table_id": new_id(), **fields}
        request = pb.CreateTableRequest(terms=asked if asked is not None else terms(), **named)
        if seconds:
            request.time_to_live.seconds = seconds
        return (await self.hall.rules.ask(self.stub.CreateTable, request, who)).table

    async def join(
        self, table: pb.Table, who: str, seat: int | None = None, *, code: str = "", **fields: str
    ) -> pb.Table:
        """The table after somebody has sat down."""
        request = pb.JoinTableRequest(seat=seat, **{"request_id": new_id(), **fields})
        if code:
            request.invitation_code = code
        else:
            request.table_id = table.table_id
        return (await self.hall.rules.ask(self.stub.JoinTable, request, who)).table

    async def leave(self, table: pb.Table, who: str, **fields: str) -> pb.Table:
        """The table after somebody has left."""
        named = {"request_id": new_id(), **fields}
        request = pb.LeaveTableRequest(table_id=table.table_id, **named)
        return (await self.hall.rules.ask(self.stub.LeaveTable, request, who)).table

    async def ready(self, table: pb.Table, who: str, ready: bool = True, **fields: str) -> pb.Table:
        """The table after somebody has agreed to those whom he has seen there."""
        named = {"request_id": new_id(), **fields}
        request = pb.SetReadyRequest(
            table_id=table.table_id, ready=ready, seating=table.seating, **named
        )
        return (await self.hall.rules.ask(self.stub.SetReady, request, who)).table

    async def get(self, table: pb.Table, who: str = STRANGER) -> pb.Table:
        """The table as somebody sees it."""
        request = pb.GetTableRequest(table_id=table.table_id)
        return (await self.hall.rules.ask(self.stub.GetTable, request, who)).table

    async def page(self, who: str = STRANGER, **wanted: Any) -> pb.ListTablesResponse:
        """A page of the public tables."""
        return await self.hall.rules.ask(self.stub.ListTables, pb.ListTablesRequest(**wanted), who)

    async def listed(self, **wanted: Any) -> list[str]:
        """The ids of the public tables, from all pages."""
        found: list[str] = []
        while True:
            page = await self.page(**wanted)
            found += [table.table_id for table in page.tables]
            if not page.next_page_token:
                return found
            wanted["page_token"] = page.next_page_token

    def watch(self, table: pb.Table, who: str, after: int = 0) -> Watch:
        """The stream of a table."""
        request = pb.WatchTableRequest(table_id=table.table_id, after_version=after)
        return self.stub.WatchTable(request, metadata=self.hall.rules.credentials(who))

    async def until(
        self, table: pb.Table, who: str, arrived: int | Callable[[pb.Table], bool], after: int = 0
    ) -> pb.Table:
        """The table as soon as it stands so."""
        stream = self.watch(table, who, after)
        async with asyncio.timeout(PATIENCE):
            async for message in stream:
                if message.HasField("table") and (
                    arrived(message.table) if callable(arrived) else message.table.status == arrived
                ):
                    stream.cancel()
                    found: pb.Table = message.table
                    return found
        raise AssertionError("the stream ended before")

    @asynccontextmanager
    async def watching(
        self, after: int = 0, variant: str = "", who: str = STRANGER
    ) -> AsyncIterator[Callable[[], Any]]:
        """The stream of all tables; what is called gives the next change."""
        request = pb.WatchTablesRequest(variant=variant, after_change=after)
        stream = self.stub.WatchTables(request, metadata=self.hall.rules.credentials(who))

        async def following() -> pb.TableChange:
            async with asyncio.timeout(PATIENCE):
                while True:
                    message = await stream.read()
                    assert isinstance(message, pb.WatchTablesResponse), "the stream has ended"
                    if message.HasField("changed"):
                        return message.changed

        try:
            yield following
        finally:
            stream.cancel()

    async def full(self, *players: str, **fields: Any) -> pb.Table:
        """A table at which these sit, the first of them its host."""
        table = await self.create(players[0], **fields)
        for player in players[1:]:
            table = await self.join(table, player, code=table.invitation_code)
        return table

    async def begun(self, *players: str, **fields: Any) -> pb.Table:
        """A table at which all are ready."""
        table = await self.full(*players, **fields)
        for player in players:
            table = await self.ready(table, player)
        assert table.status == STARTING
        return table

    async def matched(self, *players: str, **fields: Any) -> pb.Table:
        """A table whose game waits for its seats."""
        return await self.until(await self.begun(*players, **fields), players[0], MATCHED)


def seats(table: pb.Table) -> list[str]:
    """Who sits where."""
    assert [each.seat for each in table.seats] == list(range(len(table.seats)))
    return [each.player_id for each in table.seats]


def readiness(table: pb.Table) -> set[str]:
    """Who is ready."""
    return {each.player_id for each in table.seats if each.ready}
