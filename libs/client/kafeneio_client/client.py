"""A house and who calls it.

async with House(rules="127.0.0.1:50051", clock="127.0.0.1:50052") as house:
    eleni = house.client(token)
    async with eleni.clock.attending(game_id):
        async for update in eleni.games.watch(game_id):
            ...
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from functools import cached_property
from types import TracebackType
from typing import Final, Self

import grpc

from kafeneio_client.audit import Audit
from kafeneio_client.channel import DEADLINE_SECONDS, Caller, open_channel
from kafeneio_client.clock import Clocks
from kafeneio_client.games import Games
from kafeneio_client.players import Players
from kafeneio_client.prizes import Prizes
from kafeneio_client.quickmatch import Queue
from kafeneio_client.rulebook import RuleBook
from kafeneio_client.settlement import Settlements
from kafeneio_client.tables import Tables
from kafeneio_client.time import SystemTime, Time
from kafeneio_client.tournaments import Tournaments
from kafeneio_client.wallet import Wallets

RULES_ADDRESS: Final = "127.0.0.1:50051"
"""Where `rules` listens unless the house was told otherwise."""


class Client:
    """Everything that one caller can ask of a house; made by `House.client`.

    ValueError for calls to a service whose address the house was made without.
    """

    def __init__(
        self,
        channels: Mapping[str, grpc.aio.Channel],
        callers: Mapping[str, Caller],
        time: Time,
    ) -> None:
        self._channels = channels
        self._callers = callers
        self._time = time

    @cached_property
    def games(self) -> Games:
        """GameService of `rules`."""
        return Games(*self._service("rules"), self._time)

    @cached_property
    def rulebook(self) -> RuleBook:
        """RuleBookService of `rules`."""
        return RuleBook(*self._service("rules"))

    @cached_property
    def clock(self) -> Clocks:
        """ClockService of `clock`."""
        return Clocks(*self._service("clock"), self._time)

    @cached_property
    def wallet(self) -> Wallets:
        """WalletService of `settlement`."""
        return Wallets(*self._service("settlement"), self._time)

    @cached_property
    def settlement(self) -> Settlements:
        """SettlementService of `settlement`."""
        return Settlements(*self._service("settlement"), self._time)

    @cached_property
    def prizes(self) -> Prizes:
        """PrizeService of `settlement`."""
        return Prizes(*self._service("settlement"))

    @cached_property
    def queue(self) -> Queue:
        """QuickMatchService of `matchmaking`."""
        return Queue(*self._service("matchmaking"), self._time)

    @cached_property
    def tables(self) -> Tables:
        """TableService of `matchmaking`."""
        return Tables(*self._service("matchmaking"), self._time)

    @cached_property
    def tournaments(self) -> Tournaments:
        """TournamentService of `matchmaking`."""
        return Tournaments(*self._service("matchmaking"), self._time)

    @cached_property
    def players(self) -> Players:
        """PlayerService of `matchmaking`."""
        return Players(*self._service("matchmaking"))

    def audit(self, service: str) -> Audit:
        """AuditService of a service: "rules", "clock", "settlement" or "matchmaking"."""
        return Audit(service, *self._service(service))

    def _service(self, name: str) -> tuple[grpc.aio.Channel, Caller]:
        if name not in self._channels:
            raise ValueError(f"this House knows no address of {name}: make it with {name}=...")
        return self._channels[name], self._callers[name]


class House:
    """A house by the addresses of its services; one channel each, shared by all its clients.

    Only `rules` has an address if nothing is said; the others are needed by who calls them. Make
    it in a running event loop, and close it (or use `async with`).
    """

    def __init__(
        self,
        rules: str = RULES_ADDRESS,
        *,
        clock: str = "",
        settlement: str = "",
        matchmaking: str = "",
        credentials: grpc.ChannelCredentials | None = None,
        server_name: str = "",
        deadline: float = DEADLINE_SECONDS,
        time: Time | None = None,
    ) -> None:
        told = {
            "rules": rules,
            "clock": clock,
            "settlement": settlement,
            "matchmaking": matchmaking,
        }
        self._addresses = {name: address for name, address in told.items() if address}
        self._channels = {
            name: open_channel(address, credentials, server_name)
            for name, address in self._addresses.items()
        }
        self._deadline = deadline
        self._time = time or SystemTime()

    def client(self, token: str = "") -> Client:
        """Calls in the name of whom the token names; it costs nothing, make as many as you like."""
        callers = {
            name: Caller(address, token, self._deadline)
            for name, address in self._addresses.items()
        }
        return Client(self._channels, callers, self._time)

    async def close(self) -> None:
        """End every call and connection."""
        await asyncio.gather(*(channel.close() for channel in self._channels.values()))

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        await self.close()
