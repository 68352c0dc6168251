"""The entry fee of a tournament is a stake of the day."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

from kafeneio.common.v1.money_pb2 import Money
from kafeneio.matchmaking.v1 import players_pb2 as pb
from kafeneio.matchmaking.v1 import (
    players_pb2_grpc,
    quick_match_pb2,
    quick_match_pb2_grpc,
    tables_pb2,
    tables_pb2_grpc,
)
from kafeneio.rules.v1 import game_pb2

from tests.harness import new_id
from tests.matchmaking.hall import terms
from tests.matchmaking.tournaments.club import Club
from tests.rules.refusal import Refused, outcome_of, refusal


async def test_it_counts_until_it_goes_back(database_url: str, keys: Path) -> None:
    async with Club.serve(database_url, keys) as club:
        stub = players_pb2_grpc.PlayerServiceStub(club.channel)
        limit = Money(currency_code="EUR", minor_units=700)
        request = pb.SetLimitsRequest(
            request_id=new_id(), stake_per_day=[limit], loss_per_day=[limit]
        )
        await club.ask(stub.SetLimits, request, "eleni")

        async def usage() -> list[Any]:
            today = (await club.ask(stub.GetLimits, pb.GetLimitsRequest(), "eleni")).today
            return [[money.minor_units for money in used] for used in (today.staked, today.lost)]

        first, second = await club.create(), await club.create()
        await club.entered(first, "eleni")
        assert await usage() == [[500], [500]]
        found = await refusal(club.register(second, "eleni"))
        assert found.what == ("FAILED_PRECONDITION", "LIMIT_REACHED")
        assert found.metadata["limit"] == "stake"
        await club.operate("Cancel", first, reason="rain")
        assert await usage() == [[], []]
        await club.entered(second, "eleni")
        assert await usage() == [[500], [500]]


async def limited(club: Club, who: str, cents: int) -> None:
    """A player wants to stake no more than that in a day."""
    stub = players_pb2_grpc.PlayerServiceStub(club.channel)
    limit = Money(currency_code="EUR", minor_units=cents)
    request = pb.SetLimitsRequest(request_id=new_id(), stake_per_day=[limit])
    await club.ask(stub.SetLimits, request, who)


async def test_of_several_at_once_one_finds_room(database_url: str, keys: Path) -> None:
    async with Club.serve(database_url, keys) as club:
        await limited(club, "eleni", 700)
        open_ones = [await club.create() for _ in range(4)]
        told = await asyncio.gather(
            *(outcome_of(club.register(each, "eleni")) for each in open_ones)
        )
        refused = [each for each in told if isinstance(each, Refused)]
        assert [each.what for each in refused] == [("FAILED_PRECONDITION", "LIMIT_REACHED")] * 3


async def test_what_is_waited_for_counts(database_url: str, keys: Path) -> None:
    async with Club.serve(database_url, keys) as club:
        queue = quick_match_pb2_grpc.QuickMatchServiceStub(club.channel)
        tables = tables_pb2_grpc.TableServiceStub(club.channel)
        await limited(club, "eleni", 700)
        tournament = await club.create()
        waiting = quick_match_pb2.EnqueueRequest(
            request_id=new_id(), ticket_id=new_id(), terms=terms(300)
        )
        await club.ask(queue.Enqueue, waiting, "eleni")
        assert (await refusal(club.register(tournament, "eleni"))).what[1] == "LIMIT_REACHED"
        cancel = quick_match_pb2.CancelRequest(request_id=new_id(), ticket_id=waiting.ticket_id)
        await club.ask(queue.Cancel, cancel, "eleni")
        asked = tables_pb2.CreateTableRequest(
            request_id=new_id(), table_id=new_id(), terms=terms(300)
        )
        await club.ask(tables.CreateTable, asked, "eleni")
        agreed = tables_pb2.SetReadyRequest(
            request_id=new_id(), table_id=asked.table_id, ready=True, seating=1
        )
        await club.ask(tables.SetReady, agreed, "eleni")
        assert (await refusal(club.register(tournament, "eleni"))).what[1] == "LIMIT_REACHED"
        agreed = tables_pb2.SetReadyRequest(
            request_id=new_id(), table_id=asked.table_id, ready=False, seating=1
        )
        await club.ask(tables.SetReady, agreed, "eleni")
        await club.entered(tournament, "eleni")


async def test_a_partner_is_not_told_of_the_limit(database_url: str, keys: Path) -> None:
    async with Club.serve(database_url, keys) as club:
        pairs = await club.create(game=game_pb2.Terms(variant="pilotta"))
        await club.register(pairs, "eleni", partner="nikos")
        await limited(club, "eleni", 100)
        found = await refusal(club.register(pairs, "nikos", partner="eleni"))
        assert found.what == ("FAILED_PRECONDITION", "PARTNER_WRONG")
        assert found.metadata == {}
        await limited(club, "nikos", 100)
        found = await refusal(club.register(pairs, "nikos", partner="eleni"))
        assert found.what == ("FAILED_PRECONDITION", "LIMIT_REACHED")
        assert found.metadata["player_id"] == "nikos"
