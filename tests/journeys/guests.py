"""Who comes to a house, wherever it is served: people, a service and an operator.

Everything goes through the public API with the client library; the database is only read, to check
the ledger to the cent.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Mapping, Sequence
from contextlib import aclosing
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Final

import asyncpg
import pytest
from kafeneio.matchmaking.v1 import quick_match_pb2
from kafeneio.rules.v1 import actions_pb2, game_pb2
from kafeneio.settlement.v1 import settlement_pb2
from kafeneio_client.client import Client, House
from kafeneio_client.errors import Refused
from kafeneio_client.money import Money
from kafeneio_client.programs import Program, RandomProgram
from kafeneio_runtime.auth import Role, development_key
from kafeneio_runtime.settings import Settings

PATIENCE: Final = 60.0
"""Seconds until a journey gives up; nothing takes as long unless it is broken."""

PLAYERS: Final = ("eleni", "nikos")
FOUR: Final = (*PLAYERS, "maria", "petros")
STAKE: Final = Money("EUR", 500)
PURSE: Final = Money("EUR", 2000)
"""What everybody brings."""


@dataclass(kw_only=True)
class Guests:
    """A house by its clients, and its database."""

    url: str
    settings: Settings
    house: House | None = None
    clients: dict[str, Client] = field(default_factory=dict)

    def client(self, name: str, role: Role = Role.PLAYER) -> Client:
        """The client of a player, or of a service or an operator."""
        assert self.house is not None
        if name not in self.clients:
            token = development_key(self.settings).sign(name, role, timedelta(hours=1))
            self.clients[name] = self.house.client(token)
        return self.clients[name]

    @property
    def service(self) -> Client:
        """The client of a service."""
        return self.client("cashier", Role.SERVICE)

    @property
    def operator(self) -> Client:
        """The client of an operator."""
        return self.client("operator", Role.OPERATOR)

    async def matched(
        self,
        target: int = 1,
        stake: Money = STAKE,
        variant: str = "portes",
        players: Mapping[str, str] | Sequence[str] = PLAYERS,
        options: Mapping[str, str] | None = None,
    ) -> str:
        """All bring money, queue and are matched; the id of their game, which waits for them.

        `players` are single ones, or each with the partner that he names.
        """
        partners = players if isinstance(players, Mapping) else dict.fromkeys(players, "")
        for player in partners:
            await self.service.wallet.deposit(player, PURSE)
        ids = await asyncio.gather(
            *(
                self._queued(player, variant, target, stake, partner, options)
                for player, partner in partners.items()
            )
        )
        assert len(set(ids)) == 1
        return ids[0]

    async def _queued(
        self,
        player: str,
        variant: str,
        target: int,
        stake: Money,
        partner: str,
        options: Mapping[str, str] | None,
    ) -> str:
        queue = self.client(player).queue
        ticket = await queue.enqueue(
            variant, stake=stake, target=target, partner=partner, options=options
        )
        async with asyncio.timeout(PATIENCE), aclosing(queue.watch(ticket.ticket_id)) as changes:
            async for changed in changes:
                if changed.status == quick_match_pb2.TICKET_STATUS_MATCHED:
                    return str(changed.game_id)
        raise AssertionError(f"{player} was not matched")

    async def join(self, game_id: str, *players: str) -> None:
        """Take seats: these players, or everybody."""
        for player in players or await self.seats(game_id):
            games = self.client(player).games
            await games.join(game_id, (await games.get(game_id)).commitment, player.encode())

    async def seats(self, game_id: str) -> list[str]:
        """Who sits where."""
        game = await self.service.games.get(game_id)
        return [seat.player_id for seat in game.seats]

    async def position(self, game_id: str) -> game_pb2.Position:
        """The game as a spectator sees it."""
        return (await self.service.games.get(game_id)).position

    async def whole_turn(self, game_id: str, program: Program) -> game_pb2.Position:
        """One turn of whoever is prompted; the position after it."""
        seats = await self.seats(game_id)
        seat = (await self.position(game_id)).turn.seat
        games, steps = self.client(seats[seat]).games, list[actions_pb2.Action]()
        position = (await games.get(game_id)).position
        while not (legal := await games.legal_actions(game_id, steps)).complete:
            steps.append(program.choose(position.view, seat, legal.actions))
            if steps[-1].HasField("draw_stock"):
                break  # what it brings is seen first
        answer = await games.act(game_id, position.version, steps)
        return (answer.house if answer.HasField("house") else answer.played).position

    async def play(
        self, game_id: str, turns: int = 5000, seed: int = 1, program: Program | None = None
    ) -> game_pb2.Position:
        """So many turns, or until the game is over, by lot or by a program; the position then."""
        program, position = program or RandomProgram(seed), await self.position(game_id)
        for _ in range(turns):
            if position.status != game_pb2.GAME_STATUS_RUNNING:
                break
            position = await self.whole_turn(game_id, program)
        return position

    async def paid(self, game_id: str) -> dict[str, int]:
        """What the game has brought each player, in cents, once it is settled."""
        done = await self.service.settlement.settled(game_id, PATIENCE)
        assert done.state == settlement_pb2.SETTLEMENT_STATE_SETTLED
        await self.check_money()
        return {
            player: (await self.service.wallet.balance("EUR", player)).minor_units
            - PURSE.minor_units
            for player in await self.seats(game_id)
        }

    async def hurry_join(self, game_id: str) -> None:
        """The time to join is over now: a due row is a row of the database."""
        connection = await asyncpg.connect(self.url)
        try:
            await connection.execute(
                "UPDATE rules.games SET join_by = now() WHERE game_id = $1", game_id
            )
        finally:
            await connection.close()

    async def check_money(self) -> None:
        """To the cent: every account is the sum of its transfers, nobody owes, all sums to zero,
        no escrow is left, and every game was settled once."""
        connection = await asyncpg.connect(self.url, server_settings={"search_path": "settlement"})
        try:
            sums = await connection.fetch(
                "SELECT account, currency, balance, (SELECT coalesce(sum(CASE WHEN t.credit_account"
                " = a.account THEN t.amount ELSE -t.amount END), 0) FROM transfers t WHERE"
                " a.account IN (t.credit_account, t.debit_account) AND t.currency = a.currency)"
                " AS moved FROM accounts a"
            )
            settled = await connection.fetch(
                "SELECT game_id, count(*) AS times FROM settlements GROUP BY game_id"
            )
        finally:
            await connection.close()
        assert all(row["balance"] == row["moved"] for row in sums), sums
        assert sum(row["balance"] for row in sums) == 0
        assert not [row for row in sums if row["account"].startswith("escrow") and row["balance"]]
        assert not [
            row for row in sums if row["account"] != "external:cashier" and row["balance"] < 0
        ]
        assert all(row["times"] == 1 for row in settled)


async def refused(reason: str, call: Awaitable[object]) -> None:
    """The call is refused for this reason."""
    with pytest.raises(Refused) as refusal:
        await call
    assert refusal.value.reason == reason
