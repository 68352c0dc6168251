"""`settlement` served in this process over real sockets, and what a test says to it.

`rules` and `clock` are played by the test: it publishes their events on the bus. Who is called
SERVICE or OPERATOR has that role, everybody else is a player.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, Final, TypeAlias, TypeVar
from uuid import UUID

import asyncpg
import grpc
from google.protobuf.message import Message
from kafeneio.clock.v1 import events_pb2 as clock_pb2
from kafeneio.common.v1 import money_pb2
from kafeneio.rules.v1 import actions_pb2
from kafeneio.rules.v1 import events_pb2 as rules_pb2
from kafeneio.settlement.v1 import (
    prizes_pb2_grpc,
    settlement_pb2_grpc,
    wallet_pb2,
    wallet_pb2_grpc,
)
from kafeneio.settlement.v1 import settlement_pb2 as pb
from kafeneio_runtime import ids
from kafeneio_runtime.auth import DevelopmentKey, Role, development_key, token_verifier
from kafeneio_runtime.bus import Event, InProcessBus
from kafeneio_runtime.directory import Directory
from kafeneio_runtime.serve import Server
from kafeneio_runtime.settings import Settings
from kafeneio_settlement import main

from tests import snapshots
from tests.snapshots import Snapshot

SERVICE: Final = "matchmaking"
OPERATOR: Final = "operator"
SECOND: Final = "operator-2"
SEATS: Final = ("eleni", "nikos")
STRANGER: Final = "stranger"
PATIENCE: Final = 15.0
"""Seconds until a test gives up waiting; nothing takes as long unless it is broken."""

TABLES: Final = {
    "wallets": "*",
    "accounts": "*",
    "transactions": "*",
    "transfers": "*",
    "games": "*",
    "settlements": "*",
    "corrections": "*",
    "approvals": "*",
    "prize_pools": "*",
    "pool_entries": "*",
    "pool_releases": "*",
    "pool_settlements": "*",
    "pool_corrections": "*",
    "pool_approvals": "*",
    "requests": "*",
    "audit": "*",
    "inbox": "*",
    # Not `published_at`: the relay sets that whenever it gets to it.
    "outbox": "event_id, subject_id, sequence, type, payload, occurred_at",
}
_ROLES: Final = {SERVICE: Role.SERVICE, OPERATOR: Role.OPERATOR, SECOND: Role.OPERATOR}

Query = TypeVar("Query", bound=Message)
Answer = TypeVar("Answer", bound=Message)
Metadata: TypeAlias = tuple[tuple[str, str], ...]
Watch: TypeAlias = "grpc.aio.UnaryStreamCall[Any, Any]"


def new_id() -> str:
    """A new id as text."""
    return str(ids.new_id())


def money(amount: int, currency: str = "EUR") -> money_pb2.Money:
    """An amount."""
    return money_pb2.Money(currency_code=currency, minor_units=amount)


def forfeits(*names: tuple[int, str]) -> list[rules_pb2.SeatForfeitRecorded]:
    """Seats that are out, as (seat, reason)."""
    return [
        rules_pb2.SeatForfeitRecorded(
            seat=seat, reason=actions_pb2.ForfeitReason.Value(f"FORFEIT_REASON_{reason}")
        )
        for seat, reason in names
    ]


@dataclass
class Says:
    """One game's events of `rules` and `clock`, each with one id however often it is published."""

    game_id: str
    _made: dict[str, Event] = field(default_factory=dict)

    def _event(self, subject: str, kind: str, sequence: int, payload: bytes) -> Event:
        return Event(
            ids.new_id(), subject, UUID(self.game_id), sequence, kind, payload, datetime.now(UTC)
        )

    def started(self, players: Sequence[str] = SEATS, rule: str = "S4") -> Event:
        """GameStarted."""
        told = rules_pb2.GameStarted(variant="portes", player_ids=players, payout_rule=rule)
        message = rules_pb2.GameEvent(game_id=self.game_id, sequence=1, game_started=told)
        return self._event("rules.events", "game_started", 1, message.SerializeToString())

    def turn(self) -> Event:
        """TurnStarted, which is nothing to us."""
        told = rules_pb2.TurnStarted(turn=1, seat=0)
        message = rules_pb2.GameEvent(game_id=self.game_id, sequence=2, turn_started=told)
        return self._event("rules.events", "turn_started", 2, message.SerializeToString())

    def finished(
        self,
        winner: int | None = 0,
        void: str = "",
        out: Iterable[tuple[int, str]] = (),
        rule: str = "S4",
        winners: Sequence[int] = (),
    ) -> Event:
        """GameFinished."""
        told = rules_pb2.GameFinished(forfeits=forfeits(*out), variant="portes", payout_rule=rule)
        if void:
            told.void_reason = actions_pb2.VoidReason.Value(f"VOID_REASON_{void}")
        else:
            told.decided.winners.extend(winners or [winner or 0])
            told.decided.score.extend((1, 0))
            told.decided.ending = "single"
        message = rules_pb2.GameEvent(game_id=self.game_id, sequence=9, game_finished=told)
        return self._event("rules.events", "game_finished", 9, message.SerializeToString())

    def closed(self, out: Iterable[tuple[int, str]] = ()) -> Event:
        """ClockClosed."""
        told = clock_pb2.ClockClosed(
            forfeits=[
                clock_pb2.SeatForfeited(seat=each.seat, reason=each.reason)
                for each in forfeits(*out)
            ]
        )
        message = clock_pb2.ClockEvent(game_id=self.game_id, sequence=1, clock_closed=told)
        return self._event("clock.events", "clock_closed", 1, message.SerializeToString())


@dataclass
class House:
    """One replica of `settlement`, and its callers."""

    url: str
    settings: Settings
    bus: InProcessBus
    channel: grpc.aio.Channel
    key: DevelopmentKey
    database: asyncpg.Connection[asyncpg.Record]
    server: Server

    def __post_init__(self) -> None:
        self.wallets = wallet_pb2_grpc.WalletServiceStub(self.channel)
        self.games = settlement_pb2_grpc.SettlementServiceStub(self.channel)
        self.prizes = prizes_pb2_grpc.PrizeServiceStub(self.channel)
        self._tokens: dict[str, str] = {}
        self.debtors = {"external:cashier"}

    @classmethod
    @asynccontextmanager
    async def serve(
        cls,
        url: str,
        folder: Path,
        addresses: dict[str, str] | None = None,
        **settings: object,
    ) -> AsyncIterator[House]:
        """`settlement` on a migrated database; `folder` holds the keys, `addresses` say where the
        others are."""
        quick: dict[str, Any] = {
            "data_dir": folder,
            "settlement_port": 0,
            "database_pool_size": 6,
            "drain_seconds": 0,
            "drain_grace_seconds": 5,
            "rate_limit_per_second": 1e6,
            "rate_limit_burst": 1_000_000,
        }
        made = Settings(**(quick | settings))
        bus, directory = InProcessBus(), Directory(made, "settlement")
        directory.tell(addresses or {})
        served = await main.service(made, url, bus, directory)
        server = Server(served, made, token_verifier(made))
        await server.start()
        database = await asyncpg.connect(url, server_settings={"search_path": "settlement"})
        try:
            async with grpc.aio.insecure_channel(server.address) as channel:
                yield cls(url, made, bus, channel, development_key(made), database, server)
        finally:
            await server.drain()
            await database.close()
            await bus.close()
            await directory.close()

    # --- calling -----------------------------------------------------------------------------

    def credentials(self, who: str) -> Metadata:
        """The header that says who calls, and as what."""
        if who not in self._tokens:
            role = _ROLES.get(who, Role.PLAYER)
            self._tokens[who] = self.key.sign(who, role, timedelta(hours=1))
        return (("authorization", f"Bearer {self._tokens[who]}"),)

    async def ask(
        self,
        call: grpc.aio.UnaryUnaryMultiCallable[Query, Answer],
        request: Query,
        who: str = SERVICE,
    ) -> Answer:
        """Calls a unary method."""
        return await call(request, metadata=self.credentials(who), timeout=PATIENCE)

    async def deposit(
        self, player: str, amount: int, currency: str = "EUR", request_id: str = ""
    ) -> wallet_pb2.Entry:
        """Money comes in."""
        request = wallet_pb2.DepositRequest(
            request_id=request_id or new_id(), player_id=player, amount=money(amount, currency)
        )
        return (await self.ask(self.wallets.Deposit, request)).entry

    async def withdraw(
        self, player: str, amount: int, currency: str = "EUR", request_id: str = ""
    ) -> wallet_pb2.Entry:
        """Money goes out."""
        request = wallet_pb2.WithdrawRequest(
            request_id=request_id or new_id(), player_id=player, amount=money(amount, currency)
        )
        return (await self.ask(self.wallets.Withdraw, request)).entry

    async def suspend(self, player: str, lifted: bool = False, request_id: str = "") -> None:
        """An operator suspends a wallet, or lifts that."""
        status = wallet_pb2.WALLET_STATUS_ACTIVE if lifted else wallet_pb2.WALLET_STATUS_SUSPENDED
        request = wallet_pb2.SetWalletStatusRequest(
            request_id=request_id or new_id(), player_id=player, status=status, reason="collusion"
        )
        await self.ask(self.wallets.SetWalletStatus, request, OPERATOR)

    def hold_request(
        self,
        game_id: str = "",
        players: Sequence[str] = SEATS,
        stake: int = 500,
        fee: int = 0,
        currency: str = "EUR",
        request_id: str = "",
    ) -> pb.HoldStakesRequest:
        """Stakes of a game."""
        return pb.HoldStakesRequest(
            request_id=request_id or new_id(),
            game_id=game_id or new_id(),
            player_ids=players,
            stake=money(stake, currency),
            fee_basis_points=fee,
        )

    async def hold(self, game_id: str = "", **terms: Any) -> pb.Settlement:
        """Stakes are held."""
        request = self.hold_request(game_id, **terms)
        return (await self.ask(self.games.HoldStakes, request)).settlement

    async def release(self, game_id: str, request_id: str = "") -> pb.Settlement:
        """Stakes go back."""
        request = pb.ReleaseStakesRequest(request_id=request_id or new_id(), game_id=game_id)
        return (await self.ask(self.games.ReleaseStakes, request)).settlement

    async def resolve(
        self,
        game_id: str,
        resolution: pb.Resolution.ValueType = pb.RESOLUTION_VOID,
        who: str = OPERATOR,
        request_id: str = "",
    ) -> pb.Settlement:
        """An operator decides."""
        request = pb.ResolveMismatchRequest(
            request_id=request_id or new_id(),
            game_id=game_id,
            resolution=resolution,
            reason="the logs of both",
        )
        return (await self.ask(self.games.ResolveMismatch, request, who)).settlement

    async def funded(self, *players: str, amount: int = 1000) -> None:
        """Money in the wallets of those who play."""
        for player in players or SEATS:
            await self.deposit(player, amount)

    async def settlement(self, game_id: str, who: str = SERVICE) -> pb.Settlement:
        """Where a game's money stands."""
        request = pb.GetSettlementRequest(game_id=game_id)
        return (await self.ask(self.games.GetSettlement, request, who)).settlement

    async def wallet(self, player: str, who: str = SERVICE) -> wallet_pb2.Wallet:
        """What a player owns."""
        request = wallet_pb2.GetWalletRequest(player_id=player)
        return (await self.ask(self.wallets.GetWallet, request, who)).wallet

    async def balance(self, player: str, currency: str = "EUR") -> int:
        """How much he has in one currency."""
        for account in (await self.wallet(player)).accounts:
            if account.balance.currency_code == currency:
                return account.balance.minor_units
        return 0

    async def entries(self, player: str, currency: str = "EUR") -> list[wallet_pb2.Entry]:
        """All entries, the newest first, page by page."""
        found: list[wallet_pb2.Entry] = []
        token = ""
        while True:
            request = wallet_pb2.ListEntriesRequest(
                player_id=player, currency_code=currency, page_size=2, page_token=token
            )
            page = await self.ask(self.wallets.ListEntries, request)
            found += page.entries
            token = page.next_page_token
            if not token:
                return found

    def watch(self, player: str, after: int = 0, who: str = "", currency: str = "EUR") -> Watch:
        """The stream of an account."""
        request = wallet_pb2.WatchWalletRequest(
            player_id=player, currency_code=currency, after_version=after
        )
        return self.wallets.WatchWallet(request, metadata=self.credentials(who or player))

    async def events(self, game_id: str) -> list[str]:
        """What was announced about a game, checked for gaps."""
        request = pb.ListEventsRequest(game_id=game_id)
        found = (await self.ask(self.games.ListEvents, request)).events
        assert [event.sequence for event in found] == [*range(1, len(found) + 1)]
        return [str(event.WhichOneof("event")) for event in found]

    async def publish(self, *events: Event) -> None:
        """The others announce; returns when that was handled."""
        async with asyncio.timeout(PATIENCE):
            await self.bus.publish(events)

    # --- the database ------------------------------------------------------------------------

    async def snapshot(self) -> Snapshot:
        """How many rows each table has, and a hash of them all."""
        return await snapshots.snapshot(self.database, TABLES)

    async def check_ledger(self) -> None:
        """Every account is the sum of its transfers, each chain of versions is whole, nobody but
        `debtors` owes, and all of it sums to zero."""
        sides = await self.database.fetch(
            "SELECT debit_account AS account, currency, debit_version AS version,"
            " debit_balance AS balance, -amount AS amount FROM transfers"
            " UNION ALL SELECT credit_account, currency, credit_version, credit_balance, amount"
            " FROM transfers ORDER BY account, currency, version"
        )
        standing: dict[tuple[str, str], tuple[int, int]] = {}
        for account, currency, version, balance, amount in sides:
            before = standing.get((account, currency), (0, 0))
            assert version == before[0] + 1, (account, currency, version)
            assert balance == before[1] + amount, (account, currency, version)
            assert balance >= 0 or account in self.debtors, (account, balance)
            standing[account, currency] = (version, balance)
        rows = await self.database.fetch("SELECT * FROM accounts")
        stored = {
            (row["account"], row["currency"]): (row["version"], row["balance"]) for row in rows
        }
        assert {key: each for key, each in stored.items() if each[0]} == standing
        totals = await self.database.fetch(
            "SELECT sum(balance) AS total FROM accounts GROUP BY currency"
        )
        assert all(row["total"] == 0 for row in totals)
