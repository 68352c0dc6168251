"""A house and who calls it.

async with House("127.0.0.1:50051") as house:
    eleni = house.client(token)
    game = await eleni.games.get(game_id)
    async for update in eleni.games.watch(game_id, after_version=game.position.version):
        ...
"""

from __future__ import annotations

from types import TracebackType
from typing import Final, Self

import grpc

from kafeneio_client.channel import DEADLINE_SECONDS, Caller, open_channel
from kafeneio_client.games import Games
from kafeneio_client.rulebook import RuleBook
from kafeneio_client.time import SystemTime, Time

RULES_ADDRESS: Final = "127.0.0.1:50051"
"""Where `rules` listens unless the house was told otherwise."""


class Client:
    """Everything that one caller can ask of a house; made by `House.client`."""

    def __init__(self, rules: grpc.aio.Channel, caller: Caller, time: Time) -> None:
        self.games = Games(rules, caller, time)
        self.rulebook = RuleBook(rules, caller)


class House:
    """A house by the addresses of its services; one channel each, shared by all its clients.

    Make it in a running event loop, and close it (or use `async with`).
    """

    def __init__(
        self,
        rules: str = RULES_ADDRESS,
        *,
        credentials: grpc.ChannelCredentials | None = None,
        deadline: float = DEADLINE_SECONDS,
        time: Time | None = None,
    ) -> None:
        self._rules_address = rules
        self._rules = open_channel(rules, credentials)
        self._deadline = deadline
        self._time = time or SystemTime()

    def client(self, token: str = "") -> Client:
        """Calls in the name of whom the token names; it costs nothing, make as many as you like."""
        return Client(self._rules, Caller(self._rules_address, token, self._deadline), self._time)

    async def close(self) -> None:
        """End every call and connection."""
        await self._rules.close()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        await self.close()
