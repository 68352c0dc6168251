"""The calls of `kafeneio.matchmaking.v1.PlayerService`."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Iterable, Sequence
from datetime import datetime, timedelta
from typing import Protocol, TypeVar

import grpc
from google.protobuf.duration_pb2 import Duration
from google.protobuf.timestamp_pb2 import Timestamp
from kafeneio.matchmaking.v1 import players_pb2 as pb
from kafeneio.matchmaking.v1 import players_pb2_grpc

from kafeneio_client.channel import Caller, new_id
from kafeneio_client.money import Money


def _timestamp(moment: datetime | None) -> Timestamp | None:
    if moment is None:
        return None
    message = Timestamp()
    message.FromDatetime(moment)
    return message


class _Page(Protocol):
    next_page_token: str


class _PageRequest(Protocol):
    page_token: str


Request = TypeVar("Request", bound=_PageRequest)
Page = TypeVar("Page", bound=_Page)
Item = TypeVar("Item")


class Players:
    """Ratings, reports, block lists and limits; and what operators do and see.

    Whatever changes something makes a request id of its own. To send a call again whose answer
    got lost, give it the `request_id` of the error that it raised.
    """

    def __init__(self, channel: grpc.aio.Channel, caller: Caller) -> None:
        self._stub = players_pb2_grpc.PlayerServiceStub(channel)
        self._caller = caller

    async def _pages(
        self,
        call: grpc.aio.UnaryUnaryMultiCallable[Request, Page],
        request: Request,
        items: Callable[[Page], Sequence[Item]],
    ) -> AsyncIterator[Item]:
        """Page after page, as the caller goes on."""
        while True:
            page = await self._caller.call(call, request)
            for item in items(page):
                yield item
            if not page.next_page_token:
                return
            request.page_token = page.next_page_token

    # --- ratings -----------------------------------------------------------------------------

    async def ratings(self, player_id: str = "", variant: str = "") -> list[pb.Rating]:
        """GetRating: how strong a player is (the caller where nobody is named), in one variant or
        in all that he has played."""
        request = pb.GetRatingRequest(player_id=player_id, variant=variant, page_size=1)
        return list((await self._caller.call(self._stub.GetRating, request)).ratings)

    def rating_changes(
        self, player_id: str = "", variant: str = "", *, page_size: int = 0
    ) -> AsyncIterator[pb.RatingChange]:
        """GetRating: how that came, page by page, the newest change first."""
        request = pb.GetRatingRequest(player_id=player_id, variant=variant, page_size=page_size)
        return self._pages(self._stub.GetRating, request, lambda page: page.changes)

    def leaderboard(
        self, variant: str, *, page_size: int = 0
    ) -> AsyncIterator[pb.LeaderboardEntry]:
        """ListLeaderboard: who is strongest in a variant, page by page."""
        request = pb.ListLeaderboardRequest(variant=variant, page_size=page_size)
        return self._pages(self._stub.ListLeaderboard, request, lambda page: page.entries)

    # --- other players -----------------------------------------------------------------------

    async def report(
        self,
        player_id: str,
        game_id: str,
        category: pb.ReportCategory.ValueType,
        text: str = "",
        *,
        request_id: str = "",
    ) -> pb.Report:
        """ReportPlayer: tell the operators of somebody who sat in a game with the caller. Role:
        player."""
        request = pb.ReportPlayerRequest(
            request_id=request_id or new_id(),
            player_id=player_id,
            game_id=game_id,
            category=category,
            text=text,
        )
        answer = await self._caller.call(self._stub.ReportPlayer, request, request.request_id)
        return answer.report

    async def block(self, player_id: str, *, request_id: str = "") -> None:
        """BlockPlayer: the queue never seats the two at one table. Role: player."""
        request = pb.BlockPlayerRequest(request_id=request_id or new_id(), player_id=player_id)
        await self._caller.call(self._stub.BlockPlayer, request, request.request_id)

    async def unblock(self, player_id: str, *, request_id: str = "") -> None:
        """UnblockPlayer: it may again. Role: player."""
        request = pb.UnblockPlayerRequest(request_id=request_id or new_id(), player_id=player_id)
        await self._caller.call(self._stub.UnblockPlayer, request, request.request_id)

    def blocked(self, *, page_size: int = 0) -> AsyncIterator[pb.BlockedPlayer]:
        """ListBlocked: whom the caller has blocked, page by page. Role: player."""
        request = pb.ListBlockedRequest(page_size=page_size)
        return self._pages(self._stub.ListBlocked, request, lambda page: page.blocked)

    # --- limits ------------------------------------------------------------------------------

    async def limits(self, player_id: str = "") -> pb.GetLimitsResponse:
        """GetLimits: a player's limits, and how much of them is used today. Role: player, his own;
        operator, anybody's."""
        request = pb.GetLimitsRequest(player_id=player_id)
        return await self._caller.call(self._stub.GetLimits, request)

    async def set_limits(
        self,
        *,
        stake_per_day: Iterable[Money] = (),
        loss_per_day: Iterable[Money] = (),
        time_per_day: timedelta | None = None,
        excluded_until: datetime | None = None,
        request_id: str = "",
    ) -> pb.Limits:
        """SetLimits: the limits that the caller wants, all of them; what is not named shall have
        none, 24 hours later. An exclusion that is not named stays as it is. Role: player."""
        request = pb.SetLimitsRequest(
            request_id=request_id or new_id(),
            stake_per_day=[money.message() for money in stake_per_day],
            loss_per_day=[money.message() for money in loss_per_day],
            excluded_until=_timestamp(excluded_until),
        )
        if time_per_day is not None:
            duration = Duration()
            duration.FromTimedelta(time_per_day)
            request.time_per_day.CopyFrom(duration)
        answer = await self._caller.call(self._stub.SetLimits, request, request.request_id)
        return answer.limits

    # --- operators ---------------------------------------------------------------------------

    async def suspend(
        self, player_id: str, reason: str, until: datetime | None = None, *, request_id: str = ""
    ) -> pb.Suspension:
        """SuspendPlayer: keep a player out, until then or until it is lifted. Role: operator."""
        request = pb.SuspendPlayerRequest(
            request_id=request_id or new_id(),
            player_id=player_id,
            reason=reason,
            until=_timestamp(until),
        )
        answer = await self._caller.call(self._stub.SuspendPlayer, request, request.request_id)
        return answer.suspension

    async def lift(self, suspension_id: str, reason: str, *, request_id: str = "") -> pb.Suspension:
        """LiftSuspension: end a suspension. Role: operator."""
        request = pb.LiftSuspensionRequest(
            request_id=request_id or new_id(), suspension_id=suspension_id, reason=reason
        )
        answer = await self._caller.call(self._stub.LiftSuspension, request, request.request_id)
        return answer.suspension

    def suspensions(
        self, player_id: str = "", *, only_holding: bool = False, page_size: int = 0
    ) -> AsyncIterator[pb.Suspension]:
        """ListSuspensions: of one player or of all, page by page, the newest first. Role:
        operator."""
        request = pb.ListSuspensionsRequest(
            player_id=player_id, only_holding=only_holding, page_size=page_size
        )
        return self._pages(self._stub.ListSuspensions, request, lambda page: page.suspensions)

    def reports(
        self,
        status: pb.ReportStatus.ValueType = pb.REPORT_STATUS_UNSPECIFIED,
        player_id: str = "",
        *,
        page_size: int = 0,
    ) -> AsyncIterator[pb.Report]:
        """ListReports: what players have told of one player or of all, page by page, the newest
        first. Role: operator."""
        request = pb.ListReportsRequest(status=status, player_id=player_id, page_size=page_size)
        return self._pages(self._stub.ListReports, request, lambda page: page.reports)

    async def close_report(
        self, report_id: str, outcome: str, *, request_id: str = ""
    ) -> pb.Report:
        """CloseReport: note what came of a report. Role: operator."""
        request = pb.CloseReportRequest(
            request_id=request_id or new_id(), report_id=report_id, outcome=outcome
        )
        answer = await self._caller.call(self._stub.CloseReport, request, request.request_id)
        return answer.report

    def flags(
        self,
        kind: pb.PairFlagKind.ValueType = pb.PAIR_FLAG_KIND_UNSPECIFIED,
        player_id: str = "",
        *,
        page_size: int = 0,
    ) -> AsyncIterator[pb.PairFlag]:
        """ListPairFlags: what stands out, page by page, the most surprising first. Role:
        operator."""
        request = pb.ListPairFlagsRequest(kind=kind, player_id=player_id, page_size=page_size)
        return self._pages(self._stub.ListPairFlags, request, lambda page: page.flags)

    async def pair(self, player_id: str, other_player_id: str) -> pb.GetPairStatisticsResponse:
        """GetPairStatistics: the numbers of two players. Role: operator."""
        request = pb.GetPairStatisticsRequest(player_id=player_id, other_player_id=other_player_id)
        return await self._caller.call(self._stub.GetPairStatistics, request)
