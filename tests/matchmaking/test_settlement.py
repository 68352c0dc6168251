"""With the real `settlement`: what its contract promises, and what its stand-in does, is so."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from dataclasses import dataclass
from pathlib import Path

import grpc
import pytest
from kafeneio.common.v1 import money_pb2
from kafeneio.matchmaking.v1 import quick_match_pb2 as pb
from kafeneio.settlement.v1 import (
    settlement_pb2,
    settlement_pb2_grpc,
    wallet_pb2,
    wallet_pb2_grpc,
)
from kafeneio_runtime.auth import token_verifier
from kafeneio_runtime.bus import InProcessBus
from kafeneio_runtime.directory import Directory
from kafeneio_runtime.serve import Server
from kafeneio_settlement import main

from tests.harness import OPERATOR, Rules, new_id
from tests.matchmaking.cashier import elsewhere
from tests.matchmaking.desk import PLAYERS, set_up
from tests.matchmaking.hall import STAKE, Hall


@dataclass
class Settlement:
    """One replica of `settlement`, and its callers."""

    rules: Rules
    address: str
    channel: grpc.aio.Channel

    def __post_init__(self) -> None:
        self.wallets = wallet_pb2_grpc.WalletServiceStub(self.channel)
        self.games = settlement_pb2_grpc.SettlementServiceStub(self.channel)

    async def deposit(self, who: str, units: int) -> None:
        """Money for somebody."""
        amount = money_pb2.Money(currency_code="EUR", minor_units=units)
        request = wallet_pb2.DepositRequest(request_id=new_id(), player_id=who, amount=amount)
        await self.rules.ask(self.wallets.Deposit, request)

    async def balance(self, who: str) -> int:
        """What somebody has."""
        answer = await self.rules.ask(self.wallets.GetWallet, wallet_pb2.GetWalletRequest(), who)
        return answer.wallet.accounts[0].balance.minor_units

    async def suspend(self, who: str) -> None:
        """An operator suspends a wallet."""
        request = wallet_pb2.SetWalletStatusRequest(
            request_id=new_id(),
            player_id=who,
            status=wallet_pb2.WALLET_STATUS_SUSPENDED,
            reason="asked for",
        )
        await self.rules.ask(self.wallets.SetWalletStatus, request, OPERATOR)

    async def state(self, game_id: str) -> int:
        """Where a game's money stands."""
        request = settlement_pb2.GetSettlementRequest(game_id=game_id)
        return (await self.rules.ask(self.games.GetSettlement, request)).settlement.state


@pytest.fixture
async def settlement(database_url: str, keys: Path) -> AsyncIterator[Settlement]:
    """The real thing beside `rules`, on one database."""
    await asyncio.to_thread(main.migrate_database, database_url)
    async with Rules.serve(database_url, keys) as rules:
        assert rules.server is not None
        settings = rules.settings.model_copy(
            update={"settlement_port": 0, "rules_address": rules.server.address}
        )
        bus, directory = InProcessBus(), Directory(settings, "settlement")
        service = await main.service(settings, database_url, bus, directory)
        server = Server(service, settings, token_verifier(settings))
        await server.start()
        async with grpc.aio.insecure_channel(server.address) as channel:
            yield Settlement(rules, server.address, channel)
        await server.drain()
        await directory.close()
        await bus.close()


async def test_stakes_are_held_or_the_one_who_lacks_them_is_out(settlement: Settlement) -> None:
    async with Hall.beside(settlement.rules, elsewhere(settlement.address)) as hall:
        await settlement.deposit("eleni", STAKE)
        await settlement.deposit("poor", STAKE - 1)
        await settlement.deposit("suspended", STAKE)
        await settlement.suspend("suspended")
        eleni = await hall.enqueue("eleni")
        for who, end in (
            ("poor", pb.TICKET_END_INSUFFICIENT_FUNDS),
            ("suspended", pb.TICKET_END_SUSPENDED),
            ("unknown", pb.TICKET_END_PLAYER_UNKNOWN),
        ):
            (ended,) = await hall.over(await hall.enqueue(who))
            assert ended.end == end
            assert await settlement.balance("eleni") == STAKE
        await settlement.deposit("nikos", STAKE)
        one, other = await hall.over(eleni, await hall.enqueue("nikos"))
        assert one.game_id == other.game_id != ""
        assert await settlement.state(one.game_id) == settlement_pb2.SETTLEMENT_STATE_HELD
        assert [await settlement.balance(who) for who in PLAYERS] == [0, 0]
        assert await hall.plays(one.game_id) == PLAYERS


async def test_stakes_of_a_match_that_is_undone_go_back(settlement: Settlement) -> None:
    for who in PLAYERS:
        await settlement.deposit(who, STAKE)
    async with set_up(settlement.rules, elsewhere(settlement.address)) as desk:
        await desk.paired()
        game_id = str((await desk.match())["game_id"])
        assert await desk.step() == "held"
        assert [await settlement.balance(who) for who in PLAYERS] == [0, 0]
        steps = [await desk.step() for _ in range(4)]
        assert steps == ["created", "cancelling", "releasing", "undone"]
        assert [await settlement.balance(who) for who in PLAYERS] == [STAKE, STAKE]
        assert await settlement.state(game_id) == settlement_pb2.SETTLEMENT_STATE_RELEASED
