"""PlayerService: message -> domain -> message. What operators ask is in operating.py."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import grpc
from kafeneio.common.v1 import errors_pb2
from kafeneio.common.v1.money_pb2 import Money
from kafeneio.matchmaking.v1 import players_pb2 as pb
from kafeneio.matchmaking.v1 import players_pb2_grpc
from kafeneio_runtime.errors import Refusal, failed, forbidden, malformed, not_found
from kafeneio_runtime.ids import new_id, parse_id
from kafeneio_runtime.interceptors.current import caller

from kafeneio_matchmaking.domain import COMPUTER, End
from kafeneio_matchmaking.entrance import Entrance, person
from kafeneio_matchmaking.players import paging, reports, standing, storage, wire
from kafeneio_matchmaking.players.domain import LONGEST_EXCLUSION, MOST_BLOCKED, change_limits
from kafeneio_matchmaking.players.guards import (
    another,
    later,
    page_of,
    size_of,
    storable,
    whose,
    whose_limits,
)
from kafeneio_matchmaking.players.leaving import take_out
from kafeneio_matchmaking.players.operating import Operating
from kafeneio_matchmaking.players.paging import Place
from kafeneio_matchmaking.players.reports import NewReport, Report
from kafeneio_matchmaking.storage import Work
from kafeneio_matchmaking.wire import timestamp


@dataclass(frozen=True, slots=True)
class PlayerServicer(players_pb2_grpc.PlayerServiceServicer):
    """The calls of `kafeneio.matchmaking.v1.PlayerService`; their meaning stands in the
    contract."""

    entrance: Entrance
    operating: Operating

    # --- ratings -----------------------------------------------------------------------------

    async def GetRating(
        self, request: pb.GetRatingRequest, context: object
    ) -> pb.GetRatingResponse:
        """How strong a player is."""
        player, variant = whose(request.player_id), storable(request.variant, "variant")
        size, before = size_of(request.page_size), paging.start(paging.NUMBER, request.page_token)
        async with self.entrance.storage.look() as work:
            ratings = await storage.standings(work.connection, player, variant)
            found = await storage.history(work.connection, player, variant, before, size + 1)
        page, last = page_of(found, size)
        return pb.GetRatingResponse(
            ratings=map(wire.rating, ratings),
            changes=map(wire.change, page),
            next_page_token="" if last is None else paging.token(paging.NUMBER, last.number),
        )

    async def ListLeaderboard(
        self, request: pb.ListLeaderboardRequest, context: object
    ) -> pb.ListLeaderboardResponse:
        """Who is strongest in a variant."""
        variant, size = storable(request.variant, "variant"), size_of(request.page_size)
        start = paging.start(paging.PLACE, request.page_token)
        rank, after = (0, None) if start is None else (start.rank, (start.floor, start.player_id))
        async with self.entrance.storage.look() as work:
            found = await storage.board(work.connection, variant, after, size + 1)
        page, last = page_of(found, size)
        token = ""
        if last is not None:
            place = Place(rank + size, last.skill.floor, last.player_id)
            token = paging.token(paging.PLACE, place)
        return pb.ListLeaderboardResponse(
            entries=[
                pb.LeaderboardEntry(rank=number, player_id=each.player_id, rating=wire.rating(each))
                for number, each in enumerate(page, rank + 1)
            ],
            next_page_token=token,
        )

    # --- reports -----------------------------------------------------------------------------

    async def ReportPlayer(
        self, request: pb.ReportPlayerRequest, context: object
    ) -> pb.ReportPlayerResponse:
        """Tell the operators of another player."""
        game_id, player = parse_id(request.game_id, "game_id"), another(request.player_id)
        new = NewReport(
            new_id(),
            person(),
            player,
            game_id,
            wire.CATEGORIES[request.category],
            storable(request.text, "text"),
        )

        async def effect(work: Work) -> bytes:
            made = await _reported(work, new)
            return pb.ReportPlayerResponse(report=wire.report(made)).SerializeToString()

        answer = await self.entrance.once("ReportPlayer", request.request_id, effect)
        return pb.ReportPlayerResponse.FromString(answer)

    # --- blocks ------------------------------------------------------------------------------

    async def BlockPlayer(
        self, request: pb.BlockPlayerRequest, context: object
    ) -> pb.BlockPlayerResponse:
        """The queue never seats the two at one table."""
        player, blocked = person(), another(request.player_id)

        async def effect(work: Work) -> bytes:
            if not await standing.block(work.connection, player, blocked, MOST_BLOCKED):
                reason = errors_pb2.ERROR_REASON_BLOCK_LIST_FULL
                text = f"{MOST_BLOCKED} players may be blocked"
                raise failed(reason, text, limit=str(MOST_BLOCKED))
            return pb.BlockPlayerResponse().SerializeToString()

        answer = await self.entrance.once("BlockPlayer", request.request_id, effect)
        return pb.BlockPlayerResponse.FromString(answer)

    async def UnblockPlayer(
        self, request: pb.UnblockPlayerRequest, context: object
    ) -> pb.UnblockPlayerResponse:
        """It may again."""
        player, blocked = person(), another(request.player_id)

        async def effect(work: Work) -> bytes:
            await standing.unblock(work.connection, player, blocked)
            return pb.UnblockPlayerResponse().SerializeToString()

        answer = await self.entrance.once("UnblockPlayer", request.request_id, effect)
        return pb.UnblockPlayerResponse.FromString(answer)

    async def ListBlocked(
        self, request: pb.ListBlockedRequest, context: object
    ) -> pb.ListBlockedResponse:
        """Whom the caller has blocked."""
        size, after = size_of(request.page_size), paging.start(paging.NAME, request.page_token)
        async with self.entrance.storage.look() as work:
            found = await standing.blocked_by(
                work.connection, caller().subject, after or "", size + 1
            )
        page, last = page_of(found, size)
        return pb.ListBlockedResponse(
            blocked=[
                pb.BlockedPlayer(player_id=player, blocked_at=timestamp(at)) for player, at in page
            ],
            next_page_token="" if last is None else paging.token(paging.NAME, last[0]),
            limit=MOST_BLOCKED,
        )

    # --- limits ------------------------------------------------------------------------------

    async def GetLimits(
        self, request: pb.GetLimitsRequest, context: object
    ) -> pb.GetLimitsResponse:
        """A player's limits, and how much of them is used."""
        player = whose_limits(request.player_id)
        async with self.entrance.storage.look() as work:
            now = await work.now()
            held = await standing.limits_of(work.connection, [player])
            until = await standing.excluded_until(work.connection, player)
            usage = await standing.usage_of(work.connection, player, now)
        limits = wire.limits(held.get(player, {}), until, now)
        return pb.GetLimitsResponse(limits=limits, today=wire.usage(usage, now))

    async def SetLimits(
        self, request: pb.SetLimitsRequest, context: object
    ) -> pb.SetLimitsResponse:
        """What limits the caller wants from now on."""
        player = person()
        _check_once_each(request.stake_per_day, "stake_per_day")
        _check_once_each(request.loss_per_day, "loss_per_day")

        async def effect(work: Work) -> bytes:
            await standing.keep_out(work.connection, player)
            now = await work.now()
            held = await standing.limits_of(work.connection, [player])
            changed = change_limits(held.get(player, {}), wire.wanted_limits(request), now)
            await standing.write_limits(work.connection, player, changed)
            if request.HasField("excluded_until"):
                await _exclude(work, player, request)
            until = await standing.excluded_until(work.connection, player)
            limits = wire.limits(changed, until, now)
            return pb.SetLimitsResponse(limits=limits).SerializeToString()

        answer = await self.entrance.once("SetLimits", request.request_id, effect)
        return pb.SetLimitsResponse.FromString(answer)

    # --- operators ---------------------------------------------------------------------------

    async def SuspendPlayer(
        self, request: pb.SuspendPlayerRequest, context: object
    ) -> pb.SuspendPlayerResponse:
        """Keep a player out."""
        return await self.operating.suspend(request)

    async def LiftSuspension(
        self, request: pb.LiftSuspensionRequest, context: object
    ) -> pb.LiftSuspensionResponse:
        """Let him in again."""
        return await self.operating.lift(request)

    async def ListSuspensions(
        self, request: pb.ListSuspensionsRequest, context: object
    ) -> pb.ListSuspensionsResponse:
        """Suspensions, the newest first."""
        return await self.operating.suspensions(request)

    async def ListReports(
        self, request: pb.ListReportsRequest, context: object
    ) -> pb.ListReportsResponse:
        """Reports, the newest first."""
        return await self.operating.reports(request)

    async def CloseReport(
        self, request: pb.CloseReportRequest, context: object
    ) -> pb.CloseReportResponse:
        """Note what came of a report."""
        return await self.operating.close(request)

    async def ListPairFlags(
        self, request: pb.ListPairFlagsRequest, context: object
    ) -> pb.ListPairFlagsResponse:
        """What stands out."""
        return await self.operating.flags(request)

    async def GetPairStatistics(
        self, request: pb.GetPairStatisticsRequest, context: object
    ) -> pb.GetPairStatisticsResponse:
        """The numbers of two players."""
        return await self.operating.statistics(request)


async def _reported(work: Work, new: NewReport) -> Report:
    """The new report. Raises GAME_UNKNOWN, NOT_YOUR_SEAT, NOT_AT_TABLE or REPORT_EXISTS."""
    game = await reports.players_of(work.connection, new.game_id)
    if game is None:
        reason = errors_pb2.ERROR_REASON_GAME_UNKNOWN
        raise not_found(reason, f"no game {new.game_id} has started")
    variant, players = game
    if new.reporter_id not in players:
        raise forbidden(errors_pb2.ERROR_REASON_NOT_YOUR_SEAT, "you had no seat in this game")
    if new.player_id not in players or new.player_id.startswith(COMPUTER):
        reason = errors_pb2.ERROR_REASON_NOT_AT_TABLE
        raise failed(reason, "no such player sat in this game")
    made = await reports.report(work.connection, new, variant)
    if made is not None:
        return made
    raise Refusal(
        grpc.StatusCode.ALREADY_EXISTS,
        errors_pb2.ERROR_REASON_REPORT_EXISTS,
        "you have reported this player for this game",
        metadata={"report_id": str(await reports.reported(work.connection, new))},
    )


async def _exclude(work: Work, player: str, request: pb.SetLimitsRequest) -> None:
    """The caller enters nothing until then. Raises MALFORMED or EXCLUSION_RUNNING."""
    field = "excluded_until"
    until = later(request.excluded_until, field, await work.now(), LONGEST_EXCLUSION)
    held = await standing.excluded_until(work.connection, player)
    if held is not None and until < held:
        reason = errors_pb2.ERROR_REASON_EXCLUSION_RUNNING
        raise failed(reason, "an exclusion can't be lifted early", until=held.isoformat())
    await standing.exclude(work.connection, player, until)
    await take_out(work, player, End.CANCELLED)


def _check_once_each(limits: Iterable[Money], field: str) -> None:
    """Raises MALFORMED where a currency is named twice."""
    codes = [each.currency_code for each in limits]
    if len(set(codes)) < len(codes):
        raise malformed(field, "must name each currency once")
