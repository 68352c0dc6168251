"""The entry fee of a tournament is a stake of the day."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from kafeneio.common.v1.money_pb2 import Money
from kafeneio.matchmaking.v1 import players_pb2 as pb
from kafeneio.matchmaking.v1 import players_pb2_grpc

from tests.harness import new_id
from tests.matchmaking.tournaments.club import Club
from tests.rules.refusal import refusal


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
