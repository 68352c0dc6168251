"""Players in the fake house: lists of three, two a page, and calls that answer what they are
asked."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeVar

from google.protobuf.timestamp_pb2 import Timestamp
from kafeneio.matchmaking.v1 import players_pb2 as pb
from kafeneio.matchmaking.v1 import players_pb2_grpc

from tests.client.fake_calls import Call, Desk

Item = TypeVar("Item")
WHEN = Timestamp(seconds=1_798_761_600)
"""New year of 2027."""


def _page(items: Sequence[Item], token: str) -> tuple[Sequence[Item], str]:
    start = int(token or 0)
    return items[start : start + 2], str(start + 2) if start + 2 < len(items) else ""


@dataclass
class FakePlayers(players_pb2_grpc.PlayerServiceServicer):
    """The servicer of PlayerService."""

    desk: Desk

    async def GetRating(self, request: pb.GetRatingRequest, context: Call) -> pb.GetRatingResponse:
        name = await self.desk.called("GetRating", request, context)
        if (request.player_id or name) == "nobody":
            return pb.GetRatingResponse()
        changes = [
            pb.RatingChange(
                game_id=f"game-{number}",
                variant="portes",
                kind=pb.RATING_CHANGE_KIND_REVERSAL if number == 2 else pb.RATING_CHANGE_KIND_GAME,
                value_before=1500,
                value_after=1500 + number,
                at=WHEN,
            )
            for number in (3, 2, 1)
        ]
        page, token = _page(changes, request.page_token)
        rating = pb.Rating(variant="portes", value=1503, uncertainty=90, games=3, provisional=True)
        return pb.GetRatingResponse(ratings=[rating], changes=page, next_page_token=token)

    async def ListLeaderboard(
        self, request: pb.ListLeaderboardRequest, context: Call
    ) -> pb.ListLeaderboardResponse:
        await self.desk.called("ListLeaderboard", request, context)
        entries = [
            pb.LeaderboardEntry(
                rank=rank,
                player_id=f"p{rank}",
                rating=pb.Rating(variant=request.variant, value=1700 - rank, games=20),
            )
            for rank in ((1, 2, 3) if request.variant == "portes" else ())
        ]
        page, token = _page(entries, request.page_token)
        return pb.ListLeaderboardResponse(entries=page, next_page_token=token)

    async def ReportPlayer(
        self, request: pb.ReportPlayerRequest, context: Call
    ) -> pb.ReportPlayerResponse:
        name = await self.desk.called("ReportPlayer", request, context)
        report = pb.Report(report_id="report-1", reporter_id=name, player_id=request.player_id)
        return pb.ReportPlayerResponse(report=report)

    async def BlockPlayer(
        self, request: pb.BlockPlayerRequest, context: Call
    ) -> pb.BlockPlayerResponse:
        await self.desk.called("BlockPlayer", request, context)
        return pb.BlockPlayerResponse()

    async def UnblockPlayer(
        self, request: pb.UnblockPlayerRequest, context: Call
    ) -> pb.UnblockPlayerResponse:
        await self.desk.called("UnblockPlayer", request, context)
        return pb.UnblockPlayerResponse()

    async def ListBlocked(
        self, request: pb.ListBlockedRequest, context: Call
    ) -> pb.ListBlockedResponse:
        name = await self.desk.called("ListBlocked", request, context)
        names = () if name == "nobody" else ("a", "b", "c")
        blocked = [pb.BlockedPlayer(player_id=each, blocked_at=WHEN) for each in names]
        page, token = _page(blocked, request.page_token)
        return pb.ListBlockedResponse(blocked=page, next_page_token=token, limit=200)

    async def GetLimits(self, request: pb.GetLimitsRequest, context: Call) -> pb.GetLimitsResponse:
        await self.desk.called("GetLimits", request, context)
        return pb.GetLimitsResponse(today=pb.Usage(day_ends=WHEN))

    async def SetLimits(self, request: pb.SetLimitsRequest, context: Call) -> pb.SetLimitsResponse:
        await self.desk.called("SetLimits", request, context)
        return pb.SetLimitsResponse(limits=pb.Limits(excluded_until=request.excluded_until))

    async def SuspendPlayer(
        self, request: pb.SuspendPlayerRequest, context: Call
    ) -> pb.SuspendPlayerResponse:
        await self.desk.called("SuspendPlayer", request, context)
        suspension = pb.Suspension(suspension_id="suspension-1", player_id=request.player_id)
        if request.HasField("until"):
            suspension.until.CopyFrom(request.until)
        return pb.SuspendPlayerResponse(suspension=suspension)

    async def LiftSuspension(
        self, request: pb.LiftSuspensionRequest, context: Call
    ) -> pb.LiftSuspensionResponse:
        await self.desk.called("LiftSuspension", request, context)
        suspension = pb.Suspension(suspension_id=request.suspension_id, player_id="nikos")
        return pb.LiftSuspensionResponse(suspension=suspension)

    async def ListSuspensions(
        self, request: pb.ListSuspensionsRequest, context: Call
    ) -> pb.ListSuspensionsResponse:
        await self.desk.called("ListSuspensions", request, context)
        names = () if request.player_id == "nobody" else ("a", "b", "c")
        holding = [
            pb.Suspension(suspension_id=f"of-{name}", player_id=name, suspended_by="op", holds=True)
            for name in names
        ]
        page, token = _page(holding, request.page_token)
        return pb.ListSuspensionsResponse(suspensions=page, next_page_token=token)

    async def ListReports(
        self, request: pb.ListReportsRequest, context: Call
    ) -> pb.ListReportsResponse:
        await self.desk.called("ListReports", request, context)
        numbers = () if request.player_id == "nobody" else (3, 2, 1)
        reports = [
            pb.Report(
                report_id=f"report-{number}",
                reporter_id="eleni",
                player_id="nikos",
                game_id=f"game-{number}",
                category=pb.REPORT_CATEGORY_UNFAIR_TALK,
                text="[bold]he talks",
                reported_at=WHEN,
                status=pb.REPORT_STATUS_CLOSED if number == 1 else pb.REPORT_STATUS_OPEN,
                closed_by="op" if number == 1 else "",
                outcome="warned" if number == 1 else "",
            )
            for number in numbers
        ]
        page, token = _page(reports, request.page_token)
        return pb.ListReportsResponse(reports=page, next_page_token=token)

    async def CloseReport(
        self, request: pb.CloseReportRequest, context: Call
    ) -> pb.CloseReportResponse:
        await self.desk.called("CloseReport", request, context)
        report = pb.Report(report_id=request.report_id, outcome=request.outcome)
        return pb.CloseReportResponse(report=report)

    async def ListPairFlags(
        self, request: pb.ListPairFlagsRequest, context: Call
    ) -> pb.ListPairFlagsResponse:
        await self.desk.called("ListPairFlags", request, context)
        kinds = (
            (pb.PAIR_FLAG_KIND_MEETS_OFTEN, "b"),
            (pb.PAIR_FLAG_KIND_ONE_WAY_FLOW, "b"),
            (pb.PAIR_FLAG_KIND_LEAVES_OFTEN, ""),
        )
        flags = [
            pb.PairFlag(
                kind=kind,
                player_id="a",
                other_player_id=other,
                count=12,
                games=20,
                expected=1.5,
                surprise=9.25,
                game_ids=["game-1", "game-2"],
                first_flagged_at=WHEN,
            )
            for kind, other in (() if request.player_id == "nobody" else kinds)
        ]
        page, token = _page(flags, request.page_token)
        return pb.ListPairFlagsResponse(flags=page, next_page_token=token)

    async def GetPairStatistics(
        self, request: pb.GetPairStatisticsRequest, context: Call
    ) -> pb.GetPairStatisticsResponse:
        await self.desk.called("GetPairStatistics", request, context)
        names = (request.player_id, request.other_player_id)
        return pb.GetPairStatisticsResponse(sides=[pb.PairSide(player_id=name) for name in names])
