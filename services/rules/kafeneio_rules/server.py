"""GameService: message -> domain -> message.

Every call climbs the same ladder: is the game known, is it running, does the caller sit there, has
he seen the current version, is it his turn; then the domain judges, the store appends, and the
answer is made of what was committed.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from contextlib import aclosing
from dataclasses import dataclass
from datetime import UTC
from itertools import islice
from typing import Final
from uuid import UUID

from kafeneio.common.v1 import errors_pb2
from kafeneio.rules.v1 import game_pb2, game_pb2_grpc
from kafeneio_games.game import Seat
from kafeneio_runtime.errors import failed, malformed, stale
from kafeneio_runtime.heartbeat import Heartbeat
from kafeneio_runtime.ids import parse_id
from kafeneio_runtime.interceptors.current import caller

from kafeneio_rules import domain, wire
from kafeneio_rules.archive import Archive
from kafeneio_rules.computers import ComputerTurns
from kafeneio_rules.domain import Change
from kafeneio_rules.guards import (
    acting_seat,
    answers_a_bid,
    awaited,
    check_blind,
    check_in,
    check_not_ended,
    check_running,
    computer_seat,
    judged,
    not_your_turn,
    own_seat,
    page_start,
    read_actions,
    read_request,
    storable,
    visible_seat,
)
from kafeneio_rules.live import Live, LiveGames
from kafeneio_rules.sight import Sight
from kafeneio_rules.storage import Games
from kafeneio_rules.table import DatedStep, Table
from kafeneio_rules.waiting import Waiting

MOST_EVENTS: Final = 2**63 - 1
"""No sequence of events is longer: the database counts no further."""


def answer(
    response: game_pb2.ActResponse | game_pb2.ResignResponse,
    steps: list[DatedStep],
    seat: Seat | None,
) -> None:
    """Put in the row of a call and that of the house after it; only the last shows the position."""
    if len(steps) == 1:
        response.played.MergeFromString(steps[0].update(seat))
    else:
        response.played.MergeFromString(steps[0].entries(seat))
        response.house.MergeFromString(steps[1].update(seat))


@dataclass(frozen=True, slots=True)
class GameServicer(game_pb2_grpc.GameServiceServicer):
    """The calls of `kafeneio.rules.v1.GameService`; their meaning stands in the contract.

    `written` is told of each game that a call has written to.
    """

    games: Games
    live: LiveGames
    waiting: Waiting
    archive: Archive
    sight: Sight
    written: Callable[[UUID], None]
    heartbeat: Heartbeat
    computers: ComputerTurns

    # --- before the start --------------------------------------------------------------------

    async def CreateGame(
        self, request: game_pb2.CreateGameRequest, context: object
    ) -> game_pb2.CreateGameResponse:
        """Make a game that waits for its seats."""
        return await self.waiting.create(request)

    async def CancelGame(
        self, request: game_pb2.CancelGameRequest, context: object
    ) -> game_pb2.CancelGameResponse:
        """Make sure that a game never starts."""
        return await self.waiting.cancel(request)

    async def JoinGame(
        self, request: game_pb2.JoinGameRequest, context: object
    ) -> game_pb2.JoinGameResponse:
        """Take the caller's seat; the last one starts the game."""
        return await self.waiting.join(request)

    # --- looking -----------------------------------------------------------------------------

    async def GetGame(
        self, request: game_pb2.GetGameRequest, context: object
    ) -> game_pb2.GetGameResponse:
        """The game as the caller may see it."""
        live = await self.live.fresh(parse_id(request.game_id, "game_id"))
        table = await self.sight.table(live)
        if request.HasField("as_seat"):
            seat = computer_seat(table, request.as_seat)
            return game_pb2.GetGameResponse(game=table.message_for_computer(seat))
        return game_pb2.GetGameResponse(game=table.message(caller().subject))

    async def WatchGame(
        self, request: game_pb2.WatchGameRequest, context: object
    ) -> AsyncIterator[game_pb2.WatchGameResponse]:
        """Every row after a version, then each new one."""
        live = await self.live.fresh(parse_id(request.game_id, "game_id"))
        async with aclosing(self.sight.watch(live, request.after_version)) as responses:
            async for response in responses:
                yield response

    async def WatchComputerTurns(
        self, request: game_pb2.WatchComputerTurnsRequest, context: object
    ) -> AsyncIterator[game_pb2.WatchComputerTurnsResponse]:
        """The turns in which a computer is to move."""
        async for response in self.computers.watch():
            yield response

    async def ListLegalActions(
        self, request: game_pb2.ListLegalActionsRequest, context: object
    ) -> game_pb2.ListLegalActionsResponse:
        """What a seat may do now, or after some steps that it has not sent."""
        live = await self.live.fresh(parse_id(request.game_id, "game_id"))
        table = await self.sight.table(live)
        check_running(table)
        seat = self._seat_to_list(table, request)
        if seat not in table.play.to_act:
            raise not_your_turn(table)
        texts = read_actions(table.play, request.after, "after")
        response = game_pb2.ListLegalActionsResponse(version=table.version, seat=seat)
        play = table.play
        if texts:
            check_blind(play, texts, "after")
            with judged(table, "after"):
                play = domain.tried(play, seat, texts)
            response.complete = play.prompted != seat or play.turn != table.play.turn
        if not response.complete:
            start = page_start(request.page_token, table.version)
            size = request.page_size or 500
            legal = wire.legal_actions(play, seat, request.kind)
            found = list(islice(legal, start, start + size + 1))
            response.actions.extend(found[:size])
            if len(found) > size:
                response.next_page_token = f"{table.version}.{start + size}"
        return response

    def _seat_to_list(self, table: Table, request: game_pb2.ListLegalActionsRequest) -> Seat:
        if request.HasField("as_seat"):
            return computer_seat(table, request.as_seat)
        seat = table.seat_of(caller().subject)
        if seat is None:
            return visible_seat(table)
        check_in(table, seat)
        return seat

    async def GetTurn(
        self, request: game_pb2.GetTurnRequest, context: object
    ) -> game_pb2.GetTurnResponse:
        """Which turn is running, from the log."""
        live = await self.live.fresh(parse_id(request.game_id, "game_id"))
        table = live.table
        position = wire.position(table.play, table.version, table.since, None)
        response = game_pb2.GetTurnResponse(version=table.version, status=position.status)
        if position.HasField("turn"):
            response.turn.CopyFrom(position.turn)
            for outage in await self.heartbeat.since(position.turn.since.ToDatetime(UTC)):
                response.outages.add(
                    began=wire.timestamp(outage.began), ended=wire.timestamp(outage.ended)
                )
        return response

    async def ListGames(
        self, request: game_pb2.ListGamesRequest, context: object
    ) -> game_pb2.ListGamesResponse:
        """Games, the newest first."""
        size = request.page_size or 50
        before = parse_id(request.page_token, "page_token") if request.page_token else None
        status = wire.STATUS_NAMES.get(request.status, "")
        player = storable(request.player_id, "player_id")
        variant = storable(request.variant, "variant")
        found = await self.games.listed(player, variant, status, before, size + 1)
        response = game_pb2.ListGamesResponse()
        for header in found[:size]:
            response.games.append(wire.summary(header))
        if len(found) > size:
            response.next_page_token = str(found[size - 1].game_id)
        return response

    async def ListEvents(
        self, request: game_pb2.ListEventsRequest, context: object
    ) -> game_pb2.ListEventsResponse:
        """What was announced about a game."""
        game_id = parse_id(request.game_id, "game_id")
        await self.live.find(game_id)
        after = min(request.after_sequence, MOST_EVENTS)
        found = await self.games.events(game_id, after, request.page_size or 100)
        response = game_pb2.ListEventsResponse()
        response.events.extend(map(wire.stored_event, found))
        return response

    # --- playing -----------------------------------------------------------------------------

    async def Act(self, request: game_pb2.ActRequest, context: object) -> game_pb2.ActResponse:
        """Play a batch of actions, all or none."""
        live = await self.live.find(parse_id(request.game_id, "game_id"))
        if not request.expected_version and answers_a_bid(request.actions):
            return await self._contra(await self.live.fresh(live.table.game_id), request)
        async with live.lock:
            seat = acting_seat(live.table, request)
            if request.expected_version != live.table.version or not awaited(live.table, seat):
                await self.live.refresh(live)  # nobody is refused for what was known here
                seat = acting_seat(live.table, request)
            table = live.table
            called = read_request(request.request_id)
            steps = await self.live.replayed(table, called)
            if steps is None:
                change, drawn = self._acted(table, seat, request, request.expected_version)
                steps = await self.live.commit(live, change, drawn, called)
                if steps is None:  # another replica came first
                    steps = await self.live.replayed(live.table, called)
                    if steps is None:
                        raise stale(live.table.version)
                else:
                    self.written(table.game_id)
        response = game_pb2.ActResponse()
        answer(response, steps, live.table.play.eyes(seat))  # F5, also for a call sent again
        return response

    async def _contra(self, live: Live, request: game_pb2.ActRequest) -> game_pb2.ActResponse:
        """A contra says which bid it answers, so it needs to have seen nothing else."""

        def change(table: Table) -> tuple[Change, int]:
            return self._acted(table, acting_seat(table, request), request, table.version)

        steps = await self._decide(live, request.request_id, change)
        response = game_pb2.ActResponse()
        answer(response, steps, live.table.play.eyes(acting_seat(live.table, request)))
        return response

    def _acted(
        self, table: Table, seat: Seat, request: game_pb2.ActRequest, seen: int
    ) -> tuple[Change, int]:
        """What a batch does to the table, if it may; and how much chance has been drawn then."""
        check_running(table)
        if not request.HasField("as_seat"):
            check_in(table, seat)
        if seen != table.version:
            raise stale(table.version)
        if seat not in table.play.to_act:
            raise not_your_turn(table)
        texts = read_actions(table.play, request.actions, "actions")
        check_blind(table.play, texts[:-1], "actions")
        draw = self.live.draw(table)
        with judged(table):
            change = domain.act(table.play, table.version, seat, texts, draw)
        return change, draw.position

    async def Resign(
        self, request: game_pb2.ResignRequest, context: object
    ) -> game_pb2.ResignResponse:
        """Give the running round up."""

        def change(table: Table) -> tuple[Change, int]:
            seat = own_seat(table)
            check_running(table)
            check_in(table, seat)
            if request.round != table.play.round:
                raise stale(table.version)
            draw = self.live.draw(table)
            with judged(table):
                return domain.resign(table.play, table.version, seat, draw), draw.position

        live = await self.live.fresh(parse_id(request.game_id, "game_id"))
        steps = await self._decide(live, request.request_id, change)
        response = game_pb2.ResignResponse()
        answer(response, steps, live.table.play.eyes(own_seat(live.table)))
        return response

    async def ForfeitSeat(
        self, request: game_pb2.ForfeitSeatRequest, context: object
    ) -> game_pb2.ForfeitSeatResponse:
        """Take a seat out of the game."""

        def change(table: Table) -> tuple[Change, int]:
            check_running(table)
            seat, play = Seat(request.seat), table.play
            if request.seat >= len(table.header.players):
                raise malformed("seat", f"the game has {len(table.header.players)} seats")
            if request.turn and (play.prompted != seat or play.turn != request.turn):
                raise failed(
                    errors_pb2.ERROR_REASON_TURN_PASSED,
                    f"turn {request.turn} of seat {seat} is not running",
                    turn=str(play.turn),
                )
            reason = wire.forfeit_name(request.reason)
            draw = self.live.draw(table)
            with judged(table):
                return domain.forfeit(play, table.version, seat, reason, draw), draw.position

        live = await self.live.fresh(parse_id(request.game_id, "game_id"))
        steps = await self._decide(live, request.request_id, change)
        return game_pb2.ForfeitSeatResponse(version=steps[0].step.version)

    async def AbortGame(
        self, request: game_pb2.AbortGameRequest, context: object
    ) -> game_pb2.AbortGameResponse:
        """End a game void."""

        def change(table: Table) -> tuple[Change, int]:
            check_not_ended(table)
            return domain.abort(table.play, table.version), table.drawn

        reason = storable(request.reason, "reason")
        live = await self.live.fresh(parse_id(request.game_id, "game_id"))
        if live.table.version == 0:  # so that nobody takes his seat meanwhile
            called = read_request(request.request_id)
            await self.waiting.abort(live.table.game_id, called, reason)
        steps = await self._decide(live, request.request_id, change, reason)
        return game_pb2.AbortGameResponse(version=steps[0].step.version)

    async def _decide(
        self,
        live: Live,
        request_id: str,
        change: Callable[[Table], tuple[Change, int]],
        reason: str = "",
    ) -> list[DatedStep]:
        """Append a change that does not depend on the version that its caller has seen: where
        another came first, it is judged again."""
        called = read_request(request_id)
        async with live.lock:
            while True:
                table = live.table
                steps = await self.live.replayed(table, called)
                if steps is None:
                    changed, drawn = change(table)
                    steps = await self.live.commit(live, changed, drawn, called, reason)
                if steps is not None:
                    self.written(table.game_id)
                    return steps

    # --- after the end -----------------------------------------------------------------------

    async def GetRecord(
        self, request: game_pb2.GetRecordRequest, context: object
    ) -> game_pb2.GetRecordResponse:
        """The whole of a finished game."""
        record = await self.archive.record(parse_id(request.game_id, "game_id"))
        return game_pb2.GetRecordResponse(record=record)

    async def VerifyRecord(
        self, request: game_pb2.VerifyRecordRequest, context: object
    ) -> game_pb2.VerifyRecordResponse:
        """Play a record through."""
        record = request.record
        if request.WhichOneof("subject") == "game_id":
            record = await self.archive.record(parse_id(request.game_id, "game_id"))
        return await self.archive.verdict(record)
