"""The calls of `kafeneio.matchmaking.v1.TableService`."""

from __future__ import annotations

from collections.abc import AsyncGenerator, AsyncIterator, Callable, Mapping
from contextlib import aclosing
from datetime import timedelta
from typing import Final

import grpc
from google.protobuf.duration_pb2 import Duration
from kafeneio.matchmaking.v1 import tables_pb2 as pb
from kafeneio.matchmaking.v1 import tables_pb2_grpc

from kafeneio_client.channel import Caller, new_id
from kafeneio_client.money import Money
from kafeneio_client.quickmatch import quick_terms
from kafeneio_client.time import Time
from kafeneio_client.versions import Versions
from kafeneio_client.watch import Source, Stream, Watcher

CLOSED: Final = pb.TABLE_STATUS_CLOSED
_GOES_ON: Final = frozenset({pb.TABLE_STATUS_OPEN, pb.TABLE_STATUS_STARTING})


def _table(message: pb.WatchTableResponse) -> pb.Table | None:
    return message.table if message.HasField("table") else None


class _AllTables(Source[pb.WatchTablesResponse, pb.TableChange]):
    """The changes of all public tables, which have no end."""

    def __init__(
        self, open_stream: Callable[[int], Stream[pb.WatchTablesResponse]], change: int
    ) -> None:
        self._open_stream = open_stream
        self._change = change

    def open(self) -> Stream[pb.WatchTablesResponse]:
        return self._open_stream(self._change)

    def take(self, message: pb.WatchTablesResponse) -> pb.TableChange | None:
        if not message.HasField("changed"):
            return None
        self._change = message.changed.change
        return message.changed


class Tables:
    """Tables at which one chooses with whom to play.

    Whatever changes something makes a request id of its own. To send a call again whose answer
    got lost, give it the `request_id` of the error that it raised.
    """

    def __init__(self, channel: grpc.aio.Channel, caller: Caller, time: Time) -> None:
        self._stub = tables_pb2_grpc.TableServiceStub(channel)
        self._caller = caller
        self._time = time

    async def create(
        self,
        variant: str,
        *,
        stake: Money | None = None,
        target: int = 0,
        edition: int = 0,
        options: Mapping[str, str] | None = None,
        seat: int = 0,
        private: bool = False,
        least_rating: int | None = None,
        most_rating: int | None = None,
        computers_fill: bool = False,
        time_to_live: timedelta | None = None,
        table_id: str = "",
        request_id: str = "",
    ) -> pb.Table:
        """CreateTable: open a table, and sit there. Role: player."""
        request = pb.CreateTableRequest(
            request_id=request_id or new_id(),
            table_id=table_id or new_id(),
            terms=quick_terms(variant, edition, target, options, stake),
            seat=seat,
            private=private,
            least_rating=least_rating,
            most_rating=most_rating,
            computers_fill=computers_fill,
        )
        if time_to_live is not None:
            duration = Duration()
            duration.FromTimedelta(time_to_live)
            request.time_to_live.CopyFrom(duration)
        answer = await self._caller.call(self._stub.CreateTable, request, request.request_id)
        return answer.table

    async def join(
        self,
        table_id: str = "",
        *,
        invitation_code: str = "",
        seat: int | None = None,
        request_id: str = "",
    ) -> pb.Table:
        """JoinTable: sit down, or move to another seat; at a private table with its invitation
        instead of its id. Role: player."""
        request = pb.JoinTableRequest(request_id=request_id or new_id(), seat=seat)
        if invitation_code:
            request.invitation_code = invitation_code
        else:
            request.table_id = table_id
        answer = await self._caller.call(self._stub.JoinTable, request, request.request_id)
        return answer.table

    async def leave(self, table_id: str, *, request_id: str = "") -> pb.Table:
        """LeaveTable: leave an open table. Role: who sits there."""
        request = pb.LeaveTableRequest(request_id=request_id or new_id(), table_id=table_id)
        answer = await self._caller.call(self._stub.LeaveTable, request, request.request_id)
        return answer.table

    async def ready(self, table: pb.Table, ready: bool = True, *, request_id: str = "") -> pb.Table:
        """SetReady: agree to play with those who sit at the table as it is given, or not (any
        more). Role: who sits there. Refused with STALE_SEATING where others sit there by now."""
        request = pb.SetReadyRequest(
            request_id=request_id or new_id(),
            table_id=table.table_id,
            ready=ready,
            seating=table.seating,
        )
        answer = await self._caller.call(self._stub.SetReady, request, request.request_id)
        return answer.table

    async def get(self, table_id: str) -> pb.Table:
        """GetTable: a table as it stands."""
        request = pb.GetTableRequest(table_id=table_id)
        return (await self._caller.call(self._stub.GetTable, request)).table

    async def list(
        self,
        *,
        variant: str = "",
        free_seats: bool = False,
        least_stake: int = 0,
        most_stake: int | None = None,
        currency: str = "",
        page_size: int = 0,
    ) -> AsyncIterator[pb.Table]:
        """ListTables: the public ones that are open, the newest first, page after page as the
        caller goes on."""
        request = pb.ListTablesRequest(
            variant=variant,
            free_seats=free_seats,
            least_stake=least_stake,
            most_stake=most_stake,
            currency_code=currency,
            page_size=page_size,
        )
        while True:
            page = await self._caller.call(self._stub.ListTables, request)
            for table in page.tables:
                yield table
            if not page.next_page_token:
                return
            request.page_token = page.next_page_token

    def watch(self, table_id: str, after_version: int = 0) -> AsyncGenerator[pb.Table, None]:
        """WatchTable: the table as it stands, then each change, until it is CLOSED.

        It is resumed like `games.watch`, and closed like it.
        """

        def open_stream(version: int) -> Stream[pb.WatchTableResponse]:
            request = pb.WatchTableRequest(table_id=table_id, after_version=version)
            return self._stub.WatchTable(request, metadata=self._caller.metadata)

        source = Versions(open_stream, _table, lambda each: each.status == CLOSED, after_version)
        return Watcher(source, self._time, self._caller.address).updates()

    async def matched(self, table_id: str, after_version: int = 0) -> pb.Table:
        """WatchTable: wait until there is a game (MATCHED: join it now), or the table is CLOSED,
        and return it."""
        table = pb.Table(table_id=table_id)
        async with aclosing(self.watch(table_id, after_version)) as changes:
            async for change in changes:
                table = change
                if table.status not in _GOES_ON:
                    break
        return table

    def watch_all(
        self, variant: str = "", after_change: int = 0
    ) -> AsyncGenerator[pb.TableChange, None]:
        """WatchTables: the public tables that are open, then every one that changes, without end.

        It is resumed like `games.watch`, and closed like it.
        """

        def open_stream(change: int) -> Stream[pb.WatchTablesResponse]:
            request = pb.WatchTablesRequest(variant=variant, after_change=change)
            return self._stub.WatchTables(request, metadata=self._caller.metadata)

        source = _AllTables(open_stream, after_change)
        return Watcher(source, self._time, self._caller.address).updates()
