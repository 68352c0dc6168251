"""What operators do and see: suspensions, reports, and pairs that stand out (M1 to M8)."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta
from typing import Final

from kafeneio.common.v1 import errors_pb2
from kafeneio.matchmaking.v1 import players_pb2 as pb
from kafeneio_runtime import logs
from kafeneio_runtime.errors import failed, malformed, not_found
from kafeneio_runtime.ids import new_id, parse_id
from kafeneio_runtime.interceptors.current import caller

from kafeneio_matchmaking.domain import End
from kafeneio_matchmaking.entrance import Entrance
from kafeneio_matchmaking.players import paging, pairs, reports, standing, wire
from kafeneio_matchmaking.players.guards import (
    anybody,
    later,
    page_of,
    player_named,
    size_of,
    storable,
)
from kafeneio_matchmaking.players.leaving import take_out
from kafeneio_matchmaking.players.paging import Surprise
from kafeneio_matchmaking.storage import Work

LONGEST_SUSPENSION: Final = timedelta(days=36525)
"""A hundred years: who shall be kept out for longer is kept out until it is lifted."""

_log: Final = logs.logger(__name__)


@dataclass(frozen=True, slots=True)
class Operating:
    """The calls for operators; each takes its message and answers with one."""

    entrance: Entrance

    # --- suspensions -------------------------------------------------------------------------

    async def suspend(self, request: pb.SuspendPlayerRequest) -> pb.SuspendPlayerResponse:
        """Keep a player out."""
        player, reason = player_named(request.player_id), storable(request.reason, "reason")

        async def effect(work: Work) -> bytes:
            until = None
            if request.HasField("until"):
                until = later(request.until, "until", await work.now(), LONGEST_SUSPENSION)
            await standing.keep_out(work.connection, player)
            operator = caller().subject
            made = await standing.suspend(
                work.connection, new_id(), player, reason, operator, until
            )
            await take_out(work, player, End.SUSPENDED)
            _log.info("suspended", suspension_id=str(made.suspension_id), operator=operator)
            return pb.SuspendPlayerResponse(suspension=wire.suspension(made)).SerializeToString()

        answer = await self.entrance.once("SuspendPlayer", request.request_id, effect)
        return pb.SuspendPlayerResponse.FromString(answer)

    async def lift(self, request: pb.LiftSuspensionRequest) -> pb.LiftSuspensionResponse:
        """End a suspension."""
        suspension_id = parse_id(request.suspension_id, "suspension_id")
        reason = storable(request.reason, "reason")

        async def effect(work: Work) -> bytes:
            found = await standing.find_suspension(work.connection, suspension_id)
            if found is None:
                unknown = errors_pb2.ERROR_REASON_SUSPENSION_UNKNOWN
                raise not_found(unknown, f"there is no suspension {suspension_id}")
            if not found.holds:
                over = errors_pb2.ERROR_REASON_SUSPENSION_OVER
                raise failed(over, "the suspension is over already")
            operator = caller().subject
            lifted = await standing.lift(work.connection, suspension_id, operator, reason)
            _log.info("lifted", suspension_id=str(suspension_id), operator=operator)
            return pb.LiftSuspensionResponse(suspension=wire.suspension(lifted)).SerializeToString()

        answer = await self.entrance.once("LiftSuspension", request.request_id, effect)
        return pb.LiftSuspensionResponse.FromString(answer)

    async def suspensions(self, request: pb.ListSuspensionsRequest) -> pb.ListSuspensionsResponse:
        """Suspensions, the newest first."""
        player, size = anybody(request.player_id), size_of(request.page_size)
        before = paging.start(paging.ID, request.page_token)
        async with self.entrance.storage.work() as work:
            found = await standing.suspensions(
                work.connection, player, request.only_holding, before, size + 1
            )
        page, last = page_of(found, size)
        return pb.ListSuspensionsResponse(
            suspensions=map(wire.suspension, page),
            next_page_token="" if last is None else paging.token(paging.ID, last.suspension_id),
        )

    # --- reports -----------------------------------------------------------------------------

    async def reports(self, request: pb.ListReportsRequest) -> pb.ListReportsResponse:
        """Reports, the newest first."""
        player, size = anybody(request.player_id), size_of(request.page_size)
        before = paging.start(paging.ID, request.page_token)
        only_open = None
        if request.status:
            only_open = request.status == pb.REPORT_STATUS_OPEN
        async with self.entrance.storage.work() as work:
            found = await reports.page(work.connection, only_open, player, before, size + 1)
        page, last = page_of(found, size)
        return pb.ListReportsResponse(
            reports=map(wire.report, page),
            next_page_token="" if last is None else paging.token(paging.ID, last.report_id),
        )

    async def close(self, request: pb.CloseReportRequest) -> pb.CloseReportResponse:
        """Note what came of a report."""
        report_id = parse_id(request.report_id, "report_id")
        outcome = storable(request.outcome, "outcome")

        async def effect(work: Work) -> bytes:
            found = await reports.find(work.connection, report_id)
            if found is None:
                unknown = errors_pb2.ERROR_REASON_REPORT_UNKNOWN
                raise not_found(unknown, f"there is no report {report_id}")
            if found.closed_at is not None:
                raise failed(errors_pb2.ERROR_REASON_REPORT_CLOSED, "the report is closed already")
            closed = await reports.close(work.connection, report_id, caller().subject, outcome)
            return pb.CloseReportResponse(report=wire.report(closed)).SerializeToString()

        answer = await self.entrance.once("CloseReport", request.request_id, effect)
        return pb.CloseReportResponse.FromString(answer)

    # --- pairs -------------------------------------------------------------------------------

    async def flags(self, request: pb.ListPairFlagsRequest) -> pb.ListPairFlagsResponse:
        """What stands out, the most surprising first."""
        kind, player = wire.FLAG_KINDS.get(request.kind), anybody(request.player_id)
        size, after = size_of(request.page_size), paging.start(paging.SURPRISE, request.page_token)
        async with self.entrance.storage.work() as work:
            found = await pairs.flagged(work.connection, kind, player, after, size + 1)
        page, last = page_of(found, size)
        token = ""
        if last is not None:
            flag = last.flag
            place = Surprise(flag.surprise, flag.kind.value, flag.player_id, flag.other_id)
            token = paging.token(paging.SURPRISE, place)
        return pb.ListPairFlagsResponse(flags=map(wire.flag, page), next_page_token=token)

    async def statistics(
        self, request: pb.GetPairStatisticsRequest
    ) -> pb.GetPairStatisticsResponse:
        """The numbers of two players."""
        one = player_named(request.player_id)
        other = player_named(request.other_player_id, "other_player_id")
        if one == other:
            raise malformed("other_player_id", "must be another player")
        async with self.entrance.storage.work() as work:
            found = await pairs.statistics(work.connection, (one, other), await work.now())
        return wire.statistics(found)
