"""What is said in tests about the money of tournaments."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Any

from kafeneio.settlement.v1 import corrections_pb2
from kafeneio.settlement.v1 import prizes_pb2 as pb

from tests.settlement.house import OPERATOR, SECOND, SERVICE, House, money, new_id

Order = Sequence[Sequence[str]]
"""Entries by place."""


def terms(
    entry_fee: int = 100,
    fee: int = 0,
    shares: Sequence[int] = (7000, 3000),
    players: int = 1,
    currency: str = "EUR",
    starts_at: datetime | None = None,
) -> pb.PoolTerms:
    """What is published."""
    message = pb.PoolTerms(
        entry_fee=money(entry_fee, currency),
        fee_basis_points=fee,
        prize_shares=shares,
        players_per_entry=players,
    )
    if starts_at is not None:
        message.starts_at.FromDatetime(starts_at)
    return message


async def open_pool(
    house: House, tournament_id: str = "", request_id: str = "", **published: Any
) -> pb.PrizePool:
    """The terms are written down."""
    request = pb.OpenPrizePoolRequest(
        request_id=request_id or new_id(),
        tournament_id=tournament_id or new_id(),
        terms=terms(**published),
    )
    return (await house.ask(house.prizes.OpenPrizePool, request)).pool


async def enter(
    house: House,
    tournament_id: str,
    players: Sequence[str],
    entry_id: str = "",
    request_id: str = "",
) -> pb.PoolEntry:
    """An entry pays."""
    request = pb.HoldEntryFeesRequest(
        request_id=request_id or new_id(),
        tournament_id=tournament_id,
        entry_id=entry_id or new_id(),
        player_ids=players,
    )
    return (await house.ask(house.prizes.HoldEntryFees, request)).entry


async def leave(
    house: House, tournament_id: str, entry_id: str, request_id: str = ""
) -> pb.PoolEntry:
    """An entry gets its fees back."""
    request = pb.ReleaseEntryFeesRequest(
        request_id=request_id or new_id(), tournament_id=tournament_id, entry_id=entry_id
    )
    return (await house.ask(house.prizes.ReleaseEntryFees, request)).entry


def standings(order: Order) -> pb.Standings:
    """Who has finished where, places numbered."""
    message = pb.Standings()
    place = 1
    for tied in order:
        message.places.add(place=place, entry_ids=tied)
        place += len(tied)
    return message


async def finish(
    house: House, tournament_id: str, order: Order, request_id: str = ""
) -> pb.PrizePool:
    """The prizes are paid."""
    request = pb.SettleTournamentRequest(
        request_id=request_id or new_id(),
        tournament_id=tournament_id,
        standings=standings(order),
    )
    return (await house.ask(house.prizes.SettleTournament, request)).pool


async def cancel(
    house: House, tournament_id: str, who: str = SERVICE, request_id: str = ""
) -> pb.PrizePool:
    """Every fee goes back."""
    request = pb.VoidTournamentRequest(
        request_id=request_id or new_id(), tournament_id=tournament_id, reason="nobody came"
    )
    return (await house.ask(house.prizes.VoidTournament, request, who)).pool


async def pool_of(house: House, tournament_id: str, who: str = SERVICE) -> pb.PrizePool:
    """Where a tournament's money stands."""
    request = pb.GetPrizePoolRequest(tournament_id=tournament_id)
    return (await house.ask(house.prizes.GetPrizePool, request, who)).pool


def correction_request(
    tournament_id: str,
    order: Order | None = None,
    right: pb.PoolTerms | None = None,
    request_id: str = "",
) -> pb.CorrectTournamentRequest:
    """How it should have been; void where there is no order."""
    request = pb.CorrectTournamentRequest(
        request_id=request_id or new_id(),
        tournament_id=tournament_id,
        terms=right,
        reason="two results were swapped",
    )
    if order is None:
        request.void = True
    else:
        request.standings.CopyFrom(standings(order))
    return request


async def propose(
    house: House,
    tournament_id: str,
    order: Order | None = None,
    right: pb.PoolTerms | None = None,
    who: str = OPERATOR,
    request_id: str = "",
) -> pb.TournamentCorrection:
    """An operator proposes how it should have been."""
    request = correction_request(tournament_id, order, right, request_id)
    return (await house.ask(house.prizes.CorrectTournament, request, who)).correction


async def approve_pool(
    house: House, tournament_id: str, number: int = 1, who: str = SECOND, request_id: str = ""
) -> pb.PrizePool:
    """Another operator approves."""
    request = corrections_pb2.ApproveCorrectionRequest(
        request_id=request_id or new_id(), game_id=tournament_id, number=number
    )
    return (await house.ask(house.games.ApproveCorrection, request, who)).prize_pool


async def escrow(house: House, tournament_id: str) -> int:
    """What lies in escrow, by the ledger."""
    found: int | None = await house.database.fetchval(
        "SELECT balance FROM accounts WHERE account = $1", f"escrow:{tournament_id}"
    )
    return found or 0


async def started(
    house: House, entries: Sequence[Sequence[str]], funds: int = 1000, **published: Any
) -> tuple[str, list[str]]:
    """A tournament with those entries, all paid; its id and theirs."""
    for players in entries:
        for player in players:
            await house.deposit(player, funds)
    tournament_id = (await open_pool(house, **published)).tournament_id
    ids = [(await enter(house, tournament_id, players)).entry_id for players in entries]
    return tournament_id, ids
