"""Between messages and values of PlayerService."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import datetime, timedelta
from types import MappingProxyType
from typing import Final

from google.protobuf.duration_pb2 import Duration
from google.protobuf.timestamp_pb2 import Timestamp
from kafeneio.common.v1.money_pb2 import Money
from kafeneio.matchmaking.v1 import players_pb2 as pb

from kafeneio_matchmaking.players.conduct import FlagKind
from kafeneio_matchmaking.players.domain import (
    NO_LIMIT,
    SETTLED_GAMES,
    Key,
    Kind,
    Limit,
    Usage,
    day_of,
)
from kafeneio_matchmaking.players.pairs import Flagged, PairStatistics
from kafeneio_matchmaking.players.reports import Category, Report
from kafeneio_matchmaking.players.standing import Suspension
from kafeneio_matchmaking.players.storage import Change, Standing
from kafeneio_matchmaking.wire import timestamp

CATEGORIES: Final = MappingProxyType(
    {pb.ReportCategory.Value(f"REPORT_CATEGORY_{each.name}"): each for each in Category}
)
CATEGORY_NAMES: Final = MappingProxyType({each: value for value, each in CATEGORIES.items()})
FLAG_KINDS: Final = MappingProxyType(
    {pb.PairFlagKind.Value(f"PAIR_FLAG_KIND_{each.name}"): each for each in FlagKind}
)
FLAG_NAMES: Final = MappingProxyType({each: value for value, each in FLAG_KINDS.items()})


def _moment(value: datetime | None) -> Timestamp | None:
    return None if value is None else timestamp(value)


def _duration(seconds: int | None) -> Duration | None:
    return None if seconds is None else Duration(seconds=seconds)


def rating(value: Standing) -> pb.Rating:
    """How strong a player is."""
    return pb.Rating(
        variant=value.variant,
        value=value.skill.value,
        uncertainty=value.skill.uncertainty,
        floor=value.skill.floor,
        games=value.games,
        provisional=value.games < SETTLED_GAMES,
    )


def change(value: Change) -> pb.RatingChange:
    """How that came."""
    reversal = pb.RATING_CHANGE_KIND_REVERSAL
    return pb.RatingChange(
        game_id=str(value.game_id),
        variant=value.variant,
        kind=reversal if value.reversal else pb.RATING_CHANGE_KIND_GAME,
        value_before=value.before.value,
        value_after=value.after.value,
        at=timestamp(value.at),
    )


def report(value: Report) -> pb.Report:
    """A report as operators see it."""
    closed = value.closed_at is not None
    return pb.Report(
        report_id=str(value.report_id),
        reporter_id=value.reporter_id,
        player_id=value.player_id,
        game_id=str(value.game_id),
        variant=value.variant,
        category=CATEGORY_NAMES[value.category],
        text=value.text,
        reported_at=timestamp(value.reported_at),
        status=pb.REPORT_STATUS_CLOSED if closed else pb.REPORT_STATUS_OPEN,
        closed_by=value.closed_by or "",
        closed_at=_moment(value.closed_at),
        outcome=value.outcome or "",
    )


def suspension(value: Suspension) -> pb.Suspension:
    """A suspension with who did what when."""
    return pb.Suspension(
        suspension_id=str(value.suspension_id),
        player_id=value.player_id,
        reason=value.reason,
        suspended_by=value.suspended_by,
        suspended_at=timestamp(value.suspended_at),
        until=_moment(value.until),
        lifted_by=value.lifted_by or "",
        lifted_at=_moment(value.lifted_at),
        lift_reason=value.lift_reason or "",
        holds=value.holds,
    )


# --- limits ----------------------------------------------------------------------------------


def wanted_limits(request: pb.SetLimitsRequest) -> dict[Key, int]:
    """The limits that a player names."""
    wanted = {(Kind.STAKE, each.currency_code): each.minor_units for each in request.stake_per_day}
    wanted |= {(Kind.LOSS, each.currency_code): each.minor_units for each in request.loss_per_day}
    if request.HasField("time_per_day"):
        wanted[Kind.TIME, ""] = request.time_per_day.ToTimedelta() // timedelta(seconds=1)
    return wanted


def limits(held: Mapping[Key, Limit], excluded_until: datetime | None, now: datetime) -> pb.Limits:
    """What a player may do in a day."""
    shown = {key: limit.at(now) for key, limit in held.items() if limit.at(now) != NO_LIMIT}
    time = shown.get((Kind.TIME, ""))
    return pb.Limits(
        stake_per_day=_money_limits(shown, Kind.STAKE),
        loss_per_day=_money_limits(shown, Kind.LOSS),
        time_per_day=None
        if time is None
        else pb.TimeLimit(
            limit=_duration(time.now),
            next_from=_moment(time.since),
            next_limit=_duration(time.then),
        ),
        excluded_until=_moment(excluded_until),
    )


def _money_limits(shown: Mapping[Key, Limit], kind: Kind) -> Iterable[pb.MoneyLimit]:
    return [
        pb.MoneyLimit(
            currency_code=currency,
            minor_units=limit.now,
            next_from=_moment(limit.since),
            next_minor_units=limit.then,
        )
        for (of, currency), limit in sorted(shown.items())
        if of is kind
    ]


def usage(value: Usage, now: datetime) -> pb.Usage:
    """What a player has done today."""
    message = pb.Usage(
        staked=_monies(value.staked), lost=_monies(value.lost), day_ends=timestamp(day_of(now)[1])
    )
    message.played.FromTimedelta(value.played)
    return message


def _monies(amounts: Mapping[str, int]) -> list[Money]:
    return [
        Money(currency_code=currency, minor_units=amount)
        for currency, amount in sorted(amounts.items())
    ]


# --- pairs -----------------------------------------------------------------------------------


def flag(value: Flagged) -> pb.PairFlag:
    """What stands out, with the evidence."""
    found = value.flag
    return pb.PairFlag(
        kind=FLAG_NAMES[found.kind],
        player_id=found.player_id,
        other_player_id=found.other_id,
        count=found.count,
        games=found.games,
        expected=found.expected,
        surprise=found.surprise,
        game_ids=map(str, value.game_ids),
        first_flagged_at=timestamp(value.first_flagged_at),
        computed_at=timestamp(value.computed_at),
    )


def statistics(value: PairStatistics) -> pb.GetPairStatisticsResponse:
    """The numbers of two players."""
    return pb.GetPairStatisticsResponse(
        meetings=value.meetings,
        expected_meetings=value.expected,
        partnerships=value.partnerships,
        sides=[
            pb.PairSide(
                player_id=player,
                games=value.games[me],
                share_against_other=value.meetings / max(value.games[me], 1),
                left=value.left[me],
                left_against_other=value.left_against[me],
                won_against_other=value.won_against[me],
                flow=_monies({currency: flow[me] for currency, flow in value.flow.items()}),
            )
            for me, player in enumerate(value.players)
        ],
        game_ids=map(str, value.game_ids),
        since=timestamp(value.since),
    )
