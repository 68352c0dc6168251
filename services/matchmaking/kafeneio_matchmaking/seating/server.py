"""TableService: message -> domain -> message."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import timedelta
from typing import Final, NamedTuple, Protocol

import grpc
from kafeneio.common.v1 import errors_pb2
from kafeneio.matchmaking.v1 import quick_match_pb2, tables_pb2_grpc
from kafeneio.matchmaking.v1 import tables_pb2 as pb
from kafeneio_runtime.errors import (
    Refusal,
    exists,
    failed,
    forbidden,
    malformed,
    not_found,
    not_yet,
)
from kafeneio_runtime.failpoints import failpoint
from kafeneio_runtime.ids import new_id, parse_id
from kafeneio_runtime.interceptors.current import caller
from kafeneio_runtime.store import Connection
from kafeneio_runtime.streams import Pace
from pydantic import TypeAdapter

from kafeneio_matchmaking import wire
from kafeneio_matchmaking.domain import Terms
from kafeneio_matchmaking.entrance import Entrance, occupied, person
from kafeneio_matchmaking.matching import NewMatch, Seat, SourceKind
from kafeneio_matchmaking.players import paging
from kafeneio_matchmaking.players.domain import Rating
from kafeneio_matchmaking.replicas import Replicas
from kafeneio_matchmaking.seating import domain
from kafeneio_matchmaking.seating import wire as table_wire
from kafeneio_matchmaking.seating.domain import NewTable, Table, TableStatus
from kafeneio_matchmaking.seating.storage import ALL_TABLES, Listed, Seating, Tables
from kafeneio_matchmaking.storage import Work
from kafeneio_matchmaking.watching import Sign, follow

TIME_TO_LIVE: Final = timedelta(minutes=10)
"""Unless the request says otherwise."""

CHANGES_AT_ONCE: Final = 200

LISTED: Final[TypeAdapter[Listed]] = TypeAdapter(Listed)


class RatingOf(Protocol):
    """How strong players are in a variant; a newcomer has a rating, too."""

    async def __call__(
        self, connection: Connection, variant: str, player_ids: Sequence[str], /
    ) -> Mapping[str, Rating]: ...


class Request(NamedTuple):
    """A call that changes a table: its method, and the id of the request."""

    method: str
    request_id: str


@dataclass(frozen=True, slots=True)
class TableServicer(tables_pb2_grpc.TableServiceServicer):
    """The calls of `kafeneio.matchmaking.v1.TableService`; their meaning stands in the contract.
    `begun` is called when there may be a match to be driven."""

    entrance: Entrance
    seating: Seating
    replicas: Replicas
    pace: Pace
    rating_of: RatingOf
    begun: Callable[[], None]

    # --- players -----------------------------------------------------------------------------

    async def CreateTable(
        self, request: pb.CreateTableRequest, context: object
    ) -> pb.CreateTableResponse:
        """Open a table, at which the caller sits."""
        player = person()
        new = NewTable(
            table_id=parse_id(request.table_id, "table_id"),
            host=player,
            seat=request.seat,
            terms=await self._terms(request),
            private=request.private,
            least_rating=request.least_rating if request.HasField("least_rating") else None,
            most_rating=request.most_rating if request.HasField("most_rating") else None,
            computers_fill=request.computers_fill,
            time_to_live=(
                request.time_to_live.ToTimedelta()
                if request.HasField("time_to_live")
                else TIME_TO_LIVE
            ),
        )

        async def effect(work: Work) -> bytes:
            table = await self._opened(work, new)
            return pb.CreateTableResponse(table=table_wire.table(table, player)).SerializeToString()

        answer = await self.entrance.enter("CreateTable", request.request_id, effect)
        return pb.CreateTableResponse.FromString(answer)

    async def JoinTable(
        self, request: pb.JoinTableRequest, context: object
    ) -> pb.JoinTableResponse:
        """Take a seat."""
        player = person()
        seat = request.seat if request.HasField("seat") else None

        async def effect(work: Work) -> bytes:
            tables = Tables.of(work)
            table = await _named(tables, request, player)
            with refused(table, seat):
                after = domain.joined(table, player, seat)
            if table.seat_of(player) is None:
                await self._let_in(work, table, player)
            after = await tables.save(table, after)
            return pb.JoinTableResponse(table=table_wire.table(after, player)).SerializeToString()

        answer = await self.entrance.enter("JoinTable", request.request_id, effect)
        return pb.JoinTableResponse.FromString(answer)

    async def LeaveTable(
        self, request: pb.LeaveTableRequest, context: object
    ) -> pb.LeaveTableResponse:
        """Leave an open table."""
        player, table_id = caller().subject, parse_id(request.table_id, "table_id")

        async def effect(work: Work) -> bytes:
            tables = Tables.of(work)
            table = _shown(await tables.locked(table_id), player)
            with refused(table):
                after = domain.left(table, player)
            after = await tables.save(table, after)
            return pb.LeaveTableResponse(table=table_wire.table(after, player)).SerializeToString()

        answer = await self.entrance.once("LeaveTable", request.request_id, effect)
        return pb.LeaveTableResponse.FromString(answer)

    async def SetReady(self, request: pb.SetReadyRequest, context: object) -> pb.SetReadyResponse:
        """Agree to play with those who sit there; with the last one the game is set up."""
        player, table_id = caller().subject, parse_id(request.table_id, "table_id")

        async def effect(work: Work) -> bytes:
            tables = Tables.of(work)
            seen = _shown(await tables.find(table_id), player)
            with refused(seen):
                domain.readied(seen, player, request.ready, request.seating)
            if request.ready:
                # Before the lock: who suspends him holds him, and then locks his table.
                await self.entrance.gate.admit(work.connection, [player], seen.terms)
            table = _shown(await tables.locked(table_id), player)
            with refused(table):
                after = domain.readied(table, player, request.ready, request.seating)
            if after.status is TableStatus.OPEN and domain.is_complete(after):
                after = await _begun(work, after)
            after = await tables.save(table, after)
            return pb.SetReadyResponse(table=table_wire.table(after, player)).SerializeToString()

        answer = await self.entrance.once("SetReady", request.request_id, effect)
        response = pb.SetReadyResponse.FromString(answer)
        if response.table.status == pb.TABLE_STATUS_STARTING:
            failpoint("matchmaking.table_start.after_commit")
            self.begun()
        return response

    # --- everybody ---------------------------------------------------------------------------

    async def GetTable(self, request: pb.GetTableRequest, context: object) -> pb.GetTableResponse:
        """A table as it stands."""
        player, table_id = caller().subject, parse_id(request.table_id, "table_id")
        async with self.seating.looking() as tables:
            table = _shown(await tables.find(table_id), player)
        return pb.GetTableResponse(table=table_wire.table(table, player))

    async def ListTables(
        self, request: pb.ListTablesRequest, context: object
    ) -> pb.ListTablesResponse:
        """Public tables that are open, the newest first."""
        if "\0" in request.variant or "\0" in request.currency_code:
            raise malformed("variant", "must not have a NUL in it")
        size, player = request.page_size or paging.PAGE, caller().subject
        after = paging.start(LISTED, request.page_token)
        async with self.seating.looking() as tables:
            found = await tables.listed(table_wire.wanted(request), after, size + 1)
        response = pb.ListTablesResponse(
            tables=[table_wire.table(each, player) for each in found[:size]]
        )
        if len(found) > size:
            last = Listed(found[size - 1].created_at, found[size - 1].table_id)
            response.next_page_token = paging.token(LISTED, last)
        return response

    async def WatchTable(
        self, request: pb.WatchTableRequest, context: object
    ) -> AsyncIterator[pb.WatchTableResponse]:
        """A table as it stands, then each change."""
        player, table_id = caller().subject, parse_id(request.table_id, "table_id")
        sent = request.after_version

        async def look() -> tuple[Sequence[Table], bool]:
            nonlocal sent
            async with self.seating.looking() as tables:
                table = _shown(await tables.find(table_id), player)
            if sent > table.version:
                raise not_yet(table.version)
            found = [table] if table.version > sent else []
            sent = table.version
            return found, table.status is TableStatus.CLOSED

        with self.replicas.bell(table_id) as bell:
            async for each in follow(self.pace, bell, look):
                if each is Sign.GOODBYE:
                    yield pb.WatchTableResponse(draining=quick_match_pb2.Draining())
                elif each is Sign.BEAT:
                    yield pb.WatchTableResponse(heartbeat=wire.heartbeat(self.pace.time.now()))
                else:
                    yield pb.WatchTableResponse(table=table_wire.table(each, player))

    async def WatchTables(
        self, request: pb.WatchTablesRequest, context: object
    ) -> AsyncIterator[pb.WatchTablesResponse]:
        """The public tables that are open, then every one that changes."""
        if "\0" in request.variant:
            raise malformed("variant", "must not have a NUL in it")
        player, variant, sent = caller().subject, request.variant, request.after_change
        if sent:
            async with self.seating.looking() as tables:
                last = await tables.latest_place()
            if sent > last:
                raise not_yet(last)

        async def look() -> tuple[Sequence[Table], bool]:
            nonlocal sent
            found: list[Table] = []
            async with self.seating.looking() as tables:
                if not sent:
                    last = await tables.last_change()
                    found, sent = await tables.open_up_to(last, variant), last
                while page := await tables.changed(sent, variant, CHANGES_AT_ONCE):
                    found += page
                    sent = page[-1].change or sent
            return found, False

        with self.replicas.bell(ALL_TABLES) as bell:
            async for each in follow(self.pace, bell, look):
                if each is Sign.GOODBYE:
                    yield pb.WatchTablesResponse(draining=quick_match_pb2.Draining())
                elif each is Sign.BEAT:
                    yield pb.WatchTablesResponse(heartbeat=wire.heartbeat(self.pace.time.now()))
                else:
                    changed = pb.TableChange(
                        change=each.change or 0, table=table_wire.table(each, player)
                    )
                    yield pb.WatchTablesResponse(changed=changed)

    # ---------------------------------------------------------------------------------------------

    async def _terms(self, request: pb.CreateTableRequest) -> Terms:
        """What is to be played. Raises VARIANT_UNKNOWN, OPTION_INVALID, MALFORMED."""
        wish = wire.wish(request.terms, house=request.computers_fill)
        terms = await self.entrance.terms(request.terms.variant, wish)
        if request.seat >= terms.seats:
            raise malformed("seat", f"the table has {terms.seats} seats")
        return terms

    async def _opened(self, work: Work, new: NewTable) -> Table:
        """The new table, or the one that the id stands for. Raises TABLE_EXISTS, SEATED,
        TICKET_LIVE, or what the gate refuses its host for."""
        tables = Tables.of(work)
        while True:
            found = await tables.find(new.table_id)
            if found is not None:
                if found.is_of(new):
                    return found
                reason = errors_pb2.ERROR_REASON_TABLE_EXISTS
                raise exists(reason, "the id is taken by another table")
            place = await tables.take_place(new.host, new.table_id)
            if place is not None:
                raise occupied(place)
            table = domain.opened(new, domain.new_code(), await work.now())
            if await tables.open(table):
                await self.entrance.gate.admit(work.connection, [new.host], new.terms)
                return table
            # Somebody has opened one with this id, or this invitation, meanwhile.

    async def _let_in(self, work: Work, table: Table, player: str) -> None:
        """Keep a player's place for the table. Raises RATING_OUT_OF_RANGE, SEATED, TICKET_LIVE, or
        what the gate refuses him for."""
        ratings = await self.rating_of(work.connection, table.terms.variant, [player])
        rating = ratings[player].value
        if not table.admits(rating):
            raise failed(
                errors_pb2.ERROR_REASON_RATING_OUT_OF_RANGE,
                "the table is for players of another strength",
                player_id=player,
                rating=str(rating),
            )
        place = await Tables.of(work).take_place(player, table.table_id)
        if place is not None:
            raise occupied(place)
        await self.entrance.gate.admit(work.connection, [player], table.terms)


async def _begun(work: Work, table: Table) -> Table:
    """The table, whose game is being set up."""
    match_id = new_id()
    after = domain.started(table, match_id)
    seats = tuple(Seat(chair.player_id) for chair in after.chairs)
    match = NewMatch(match_id, new_id(), SourceKind.TABLE, table.table_id, table.terms, seats)
    await work.begin([match])
    failpoint("matchmaking.table_start.before_commit")
    return after


async def _named(tables: Tables, request: pb.JoinTableRequest, player: str) -> Table:
    """The table that is to be joined, locked. Raises TABLE_UNKNOWN."""
    if request.HasField("invitation_code"):
        table = await tables.invited_by(request.invitation_code.upper())
        if table is None:
            raise _unknown()
        return table
    return _shown(await tables.locked(parse_id(request.table_id, "table_id")), player)


def _shown(table: Table | None, player: str) -> Table:
    """A table that a player may see. Raises TABLE_UNKNOWN."""
    if table is None or not table.shows_to(player):
        raise _unknown()
    return table


def _unknown() -> Refusal:
    return not_found(errors_pb2.ERROR_REASON_TABLE_UNKNOWN, "there is no such table")


@contextmanager
def refused(table: Table, seat: int | None = None) -> Iterator[None]:
    """What the domain refuses, as callers are told of it."""
    try:
        yield
    except domain.NotOpenError as error:
        told = {"status": table.status.name}
        if table.game_id is not None:
            told["game_id"] = str(table.game_id)
        raise failed(errors_pb2.ERROR_REASON_TABLE_NOT_OPEN, str(error), **told) from error
    except domain.NotSeatedError as error:
        raise forbidden(errors_pb2.ERROR_REASON_NOT_SEATED, str(error)) from error
    except domain.NoSuchSeatError as error:
        raise malformed("seat", str(error)) from error
    except domain.SeatTakenError as error:
        reason = errors_pb2.ERROR_REASON_SEAT_TAKEN
        raise failed(reason, str(error), seat=str(seat)) from error
    except domain.FullError as error:
        raise failed(errors_pb2.ERROR_REASON_TABLE_FULL, str(error)) from error
    except domain.StaleSeatingError as error:
        raise Refusal(
            grpc.StatusCode.ABORTED,
            errors_pb2.ERROR_REASON_STALE_SEATING,
            str(error),
            metadata={"seating": str(table.seating)},
        ) from error
