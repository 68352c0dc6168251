"""A call that is sent n times is as if sent once, and gets the same answer each time."""

from __future__ import annotations

import asyncio
from datetime import timedelta
from typing import Any

import pytest
from kafeneio.settlement.v1 import corrections_pb2, prizes_pb2, wallet_pb2
from kafeneio.settlement.v1 import settlement_pb2 as pb
from kafeneio_runtime.auth import Role

from tests.rules.refusal import refusal
from tests.settlement.house import OPERATOR, SECOND, SERVICE, House, Says, money, new_id
from tests.settlement.operators import correct, played, result_request, void
from tests.settlement.tournaments import (
    approve_pool,
    correction_request,
    finish,
    propose,
    standings,
    started,
    terms,
)

MUTATING = (
    "Deposit",
    "Withdraw",
    "SetWalletStatus",
    "HoldStakes",
    "ReleaseStakes",
    "ResolveMismatch",
    "VoidSettlement",
    "CorrectResult",
    "ApproveCorrection",
    "OpenPrizePool",
    "HoldEntryFees",
    "ReleaseEntryFees",
    "SettleTournament",
    "VoidTournament",
    "CorrectTournament",
)
MOVING_NOTHING = (
    *("SetWalletStatus", "VoidSettlement", "CorrectResult"),
    *("OpenPrizePool", "CorrectTournament"),
)


PRIZES = {
    method.name
    for service in prizes_pb2.DESCRIPTOR.services_by_name.values()
    for method in service.methods
}


async def said(house: House, name: str) -> tuple[str, Any, Any]:
    """Who calls, a request that will be answered, and the same one with another body."""
    await house.funded()
    request_id, other = new_id(), new_id()
    if name in PRIZES:
        who, right, wrong = await said_of_a_tournament(house, name)
        right.request_id = wrong.request_id = request_id
        return who, right, wrong
    game_id = other
    if name == "ReleaseStakes":
        game_id = (await house.hold(stake=10)).game_id
    if name == "ResolveMismatch":
        game_id = (await house.hold(stake=10)).game_id
        says = Says(game_id)
        await house.publish(says.finished(), says.closed(((1, "LEFT"),)))
    if name in ("VoidSettlement", "CorrectResult", "ApproveCorrection"):
        game_id = (await played(house, stake=10)).game_id
    if name == "ApproveCorrection":
        await void(house, game_id)
        await correct(house, result_request(game_id))
    suspended = wallet_pb2.WALLET_STATUS_SUSPENDED
    made: dict[str, tuple[str, Any, Any]] = {
        "Deposit": (
            SERVICE,
            wallet_pb2.DepositRequest(player_id="eleni", amount=money(5)),
            wallet_pb2.DepositRequest(player_id="eleni", amount=money(6)),
        ),
        "Withdraw": (
            SERVICE,
            wallet_pb2.WithdrawRequest(player_id="eleni", amount=money(600)),
            wallet_pb2.WithdrawRequest(player_id="nikos", amount=money(600)),
        ),
        "SetWalletStatus": (
            OPERATOR,
            wallet_pb2.SetWalletStatusRequest(player_id="eleni", status=suspended, reason="a"),
            wallet_pb2.SetWalletStatusRequest(player_id="eleni", status=suspended, reason="b"),
        ),
        "HoldStakes": (
            SERVICE,
            house.hold_request(game_id, stake=600, request_id=request_id),
            house.hold_request(game_id, stake=601, request_id=request_id),
        ),
        "ReleaseStakes": (
            SERVICE,
            pb.ReleaseStakesRequest(game_id=game_id),
            pb.ReleaseStakesRequest(game_id=other),
        ),
        "ResolveMismatch": (
            OPERATOR,
            pb.ResolveMismatchRequest(
                game_id=game_id, resolution=pb.RESOLUTION_BY_RULES, reason="a"
            ),
            pb.ResolveMismatchRequest(game_id=game_id, resolution=pb.RESOLUTION_VOID, reason="a"),
        ),
        "VoidSettlement": (
            OPERATOR,
            corrections_pb2.VoidSettlementRequest(game_id=game_id, reason="a"),
            corrections_pb2.VoidSettlementRequest(game_id=game_id, reason="b"),
        ),
        "CorrectResult": (
            OPERATOR,
            result_request(game_id, winners=(1,)),
            result_request(game_id, winners=(0,)),
        ),
        "ApproveCorrection": (
            SECOND,
            corrections_pb2.ApproveCorrectionRequest(game_id=game_id, number=2),
            corrections_pb2.ApproveCorrectionRequest(game_id=game_id, number=1),
        ),
    }
    who, right, wrong = made[name]
    right.request_id = wrong.request_id = request_id
    return who, right, wrong


async def said_of_a_tournament(house: House, name: str) -> tuple[str, Any, Any]:
    """The same, of the calls of `PrizeService`."""
    tournament, (a, b) = await started(house, (("eleni",), ("nikos",)), entry_fee=10)
    if name == "CorrectTournament":
        await finish(house, tournament, [[a], [b]])
    other = new_id()

    def settle(order: list[list[str]]) -> prizes_pb2.SettleTournamentRequest:
        return prizes_pb2.SettleTournamentRequest(
            tournament_id=tournament, standings=standings(order)
        )

    def hold(player: str) -> prizes_pb2.HoldEntryFeesRequest:
        return prizes_pb2.HoldEntryFeesRequest(
            tournament_id=tournament, entry_id=other, player_ids=[player]
        )

    made: dict[str, tuple[Any, Any]] = {
        "OpenPrizePool": (
            prizes_pb2.OpenPrizePoolRequest(tournament_id=other, terms=terms(fee=1)),
            prizes_pb2.OpenPrizePoolRequest(tournament_id=other, terms=terms(fee=2)),
        ),
        "HoldEntryFees": (hold("eleni"), hold("nikos")),
        "ReleaseEntryFees": (
            prizes_pb2.ReleaseEntryFeesRequest(tournament_id=tournament, entry_id=a),
            prizes_pb2.ReleaseEntryFeesRequest(tournament_id=tournament, entry_id=b),
        ),
        "SettleTournament": (settle([[a], [b]]), settle([[b], [a]])),
        "VoidTournament": (
            prizes_pb2.VoidTournamentRequest(tournament_id=tournament, reason="a"),
            prizes_pb2.VoidTournamentRequest(tournament_id=tournament, reason="b"),
        ),
        "CorrectTournament": (
            correction_request(tournament, [[b], [a]]),
            correction_request(tournament),
        ),
    }
    return OPERATOR if name == "CorrectTournament" else SERVICE, *made[name]


def call(house: House, name: str) -> Any:
    """A method by its name."""
    for stub in (house.games, house.wallets):
        if hasattr(stub, name):
            return getattr(stub, name)
    return getattr(house.prizes, name)


@pytest.mark.parametrize("name", MUTATING)
async def test_one_after_the_other(pair: tuple[House, House], name: str) -> None:
    who, right, wrong = await said(pair[0], name)
    once = await pair[0].ask(call(pair[0], name), right, who)
    before = await pair[0].snapshot()
    for house in (pair[0], pair[1], pair[0]):
        assert await house.ask(call(house, name), right, who) == once
        refused = await refusal(house.ask(call(house, name), wrong, who))
        assert refused.what == ("ALREADY_EXISTS", "REQUEST_ID_REUSED")
    assert await pair[0].snapshot() == before


@pytest.mark.parametrize("name", MUTATING)
async def test_all_at_once_to_two_replicas(pair: tuple[House, House], name: str) -> None:
    who, right, _ = await said(pair[0], name)
    count = "SELECT count(*) FROM transactions"
    before = await pair[0].database.fetchval(count)
    answers = await asyncio.gather(
        *(pair[n % 2].ask(call(pair[n % 2], name), right, who) for n in range(10))
    )
    assert all(answer == answers[0] for answer in answers)
    after = await pair[0].database.fetchval(count)
    assert after - before == (0 if name in MOVING_NOTHING else 1 + (name == "ApproveCorrection"))


def test_every_call_that_changes_something_is_here() -> None:
    found = {
        method.name
        for service in (pb.DESCRIPTOR, wallet_pb2.DESCRIPTOR, prizes_pb2.DESCRIPTOR)
        for described in service.services_by_name.values()
        for method in described.methods
        if "request_id" in method.input_type.fields_by_name
    }
    assert found == set(MUTATING)


async def test_a_correction_of_a_tournament_is_approved_once(pair: tuple[House, House]) -> None:
    tournament, (a, b) = await started(pair[0], (("eleni",), ("nikos",)), entry_fee=10)
    await finish(pair[0], tournament, [[a], [b]])
    await propose(pair[0], tournament, [[b], [a]])
    request_id = new_id()
    answers = await asyncio.gather(
        *(approve_pool(pair[n % 2], tournament, request_id=request_id) for n in range(10))
    )
    assert all(answer == answers[0] for answer in answers)
    assert answers[0].settled.settlement_version == 2
    count = "SELECT count(*) FROM transactions WHERE tournament_id IS NOT NULL"
    assert await pair[0].database.fetchval(count) == 2 + 1 + 2


async def test_a_refusal_is_not_kept(house: House) -> None:
    request_id = new_id()
    await house.deposit("eleni", 5)
    for attempt in range(2):
        refused = await refusal(house.withdraw("eleni", 10, request_id=request_id))
        assert refused.reason == "INSUFFICIENT_FUNDS", attempt
    await house.deposit("eleni", 5)
    assert (await house.withdraw("eleni", 10, request_id=request_id)).balance.minor_units == 0


@pytest.mark.parametrize("name", ["deposit", "withdraw"])
async def test_money_is_not_moved_again_when_the_answer_is_forgotten(
    house: House, name: str
) -> None:
    await house.deposit("eleni", 50)
    request_id = new_id()
    await getattr(house, name)("eleni", 5, request_id=request_id)
    balance = await house.balance("eleni")
    await house.database.execute("DELETE FROM requests")
    refused = await refusal(getattr(house, name)("eleni", 5, request_id=request_id))
    assert refused.what == ("ALREADY_EXISTS", "REQUEST_ID_REUSED")
    assert await house.balance("eleni") == balance


async def test_request_ids_are_those_of_a_caller_and_a_method(house: House) -> None:
    request_id = new_id()
    await house.deposit("eleni", 5, request_id=request_id)
    await house.withdraw("eleni", 2, request_id=request_id)
    request = wallet_pb2.DepositRequest(request_id=request_id, player_id="eleni", amount=money(5))
    key = house.key.sign("payments", Role.SERVICE, timedelta(hours=1))
    await house.wallets.Deposit(request, metadata=(("authorization", f"Bearer {key}"),), timeout=9)
    assert await house.balance("eleni") == 8
