"""An evening in the house: all four services in this process, over real sockets, on one bus.

Everything goes through the public API with the client library; the database is only read, to check
the ledger to the cent.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from contextlib import AsyncExitStack, aclosing, asynccontextmanager
from dataclasses import dataclass, field
from datetime import timedelta
from pathlib import Path
from typing import Any, Final

import asyncpg
import pytest
from kafeneio.clock.v1 import events_pb2 as clock_events
from kafeneio.matchmaking.v1 import quick_match_pb2
from kafeneio.rules.v1 import actions_pb2, game_pb2
from kafeneio.settlement.v1 import settlement_pb2
from kafeneio_client.client import Client, House
from kafeneio_client.errors import Refused
from kafeneio_client.money import Money
from kafeneio_client.programs import Program, RandomProgram
from kafeneio_clock import main as clock
from kafeneio_computers import main as computers
from kafeneio_games.chance import ProvableDraw
from kafeneio_matchmaking import main as matchmaking
from kafeneio_rules import main as rules
from kafeneio_rules.live import Draws
from kafeneio_runtime import bus
from kafeneio_runtime.auth import Role, development_key, token_verifier
from kafeneio_runtime.directory import Directory
from kafeneio_runtime.serve import Server
from kafeneio_runtime.settings import Settings
from kafeneio_settlement import main as settlement

PATIENCE: Final = 60.0
"""Seconds until a journey gives up; nothing takes as long unless it is broken."""

PLAYERS: Final = ("eleni", "nikos")
FOUR: Final = (*PLAYERS, "maria", "petros")
STAKE: Final = Money("EUR", 500)
PURSE: Final = Money("EUR", 2000)
"""What everybody brings."""

Mangle = Callable[[Sequence[bus.Event]], Sequence[bus.Event]]

QUICK: Final[dict[str, Any]] = {
    "rules_port": 0,
    "clock_port": 0,
    "settlement_port": 0,
    "matchmaking_port": 0,
    "computers_port": 0,
    "database_pool_size": 4,
    "drain_seconds": 0,
    "drain_grace_seconds": 5,
    "rate_limit_per_second": 1e6,
    "rate_limit_burst": 1_000_000,
}


class UnrulyBus(bus.InProcessBus):
    """Hands on what `mangle` makes of the events: again, in another order, not at all."""

    def __init__(self) -> None:
        super().__init__()
        self.mangle: Mangle = lambda events: events

    async def subscribe(
        self, subject: str, consumer: str, handler: bus.EventHandler
    ) -> bus.Subscription:
        async def handle(events: Sequence[bus.Event]) -> None:
            if mangled := self.mangle(events):
                await handler(mangled)

        return await super().subscribe(subject, consumer, handle)


@dataclass
class Evening:
    """The house, and who is in it."""

    url: str
    settings: Settings
    bus: UnrulyBus
    directory: Directory
    draws: Draws = ProvableDraw
    servers: dict[str, Server] = field(default_factory=dict)
    house: House | None = None
    clients: dict[str, Client] = field(default_factory=dict)
    told: dict[tuple[str, int], clock_events.ClockEvent] = field(default_factory=dict)
    heard: asyncio.Condition = field(default_factory=asyncio.Condition)

    async def open_service(self, name: str) -> None:
        """Start one of the services."""
        match name:
            case "rules":
                service = await rules.service(self.settings, self.url, self.bus, draws=self.draws)
            case "settlement":
                service = await settlement.service(
                    self.settings, self.url, self.bus, self.directory
                )
            case "clock":
                service = await clock.service(self.settings, self.url, self.bus, self.directory)
            case "computers":
                service = computers.service(self.settings, self.directory)
            case _:
                service = await matchmaking.service(
                    self.settings, self.url, self.bus, self.directory
                )
        server = Server(service, self.settings, token_verifier(self.settings))
        await server.start()
        self.servers[name] = server
        self.directory.tell({name: server.address})

    async def close_service(self, name: str) -> None:
        """Drain one of the services; what it does not hear waits for it."""
        await self.servers.pop(name).drain()

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

    async def listen(self) -> None:
        """Hear what the clock announces, as any other service does."""

        async def hear(events: Sequence[bus.Event]) -> None:
            async with self.heard:
                for event in events:
                    told = clock_events.ClockEvent.FromString(event.payload)
                    self.told[told.game_id, told.sequence] = told
                self.heard.notify_all()

        await self.bus.subscribe("clock.events", "journeys", hear)

    def of_game(self, game_id: str, kind: str) -> list[clock_events.ClockEvent]:
        """What the clock has announced about a game, of one kind, each once and in order."""
        events = [self.told[key] for key in sorted(self.told) if key[0] == game_id]
        return [event for event in events if event.WhichOneof("event") == kind]

    async def announced(
        self, game_id: str, kind: str, count: int = 1
    ) -> list[clock_events.ClockEvent]:
        """Events of one kind, once there are so many."""
        async with asyncio.timeout(PATIENCE), self.heard:
            await self.heard.wait_for(lambda: len(self.of_game(game_id, kind)) >= count)
        return self.of_game(game_id, kind)

    async def hurry_join(self, game_id: str) -> None:
        """The time to join is over now: a due row is a row of the database."""
        connection = await asyncpg.connect(self.url)
        try:
            await connection.execute(
                "UPDATE rules.games SET join_by = now() WHERE game_id = $1", game_id
            )
        finally:
            await connection.close()

    def new_house(self) -> House:
        """The house as its clients know it: the addresses of its services."""
        return House(
            rules=self.servers["rules"].address,
            clock=self.servers["clock"].address,
            settlement=self.servers["settlement"].address,
            matchmaking=self.servers["matchmaking"].address,
        )

    async def reconnect(self) -> None:
        """The house's clients learn the new addresses of services that were started again."""
        assert self.house is not None
        await self.house.close()
        self.house = self.new_house()
        self.clients.clear()

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


@asynccontextmanager
async def evening(
    url: str, folder: Path, draws: Draws = ProvableDraw, **settings: object
) -> AsyncIterator[Evening]:
    """A house on a migrated database; `settings` differ from those of a house in no hurry."""
    made = Settings(**(QUICK | {"data_dir": folder} | settings))
    async with AsyncExitStack() as stack:
        opened = Evening(url, made, UnrulyBus(), Directory(made, "house"), draws)
        stack.push_async_callback(opened.bus.close)
        stack.push_async_callback(opened.directory.close)
        await opened.listen()
        for name in ("rules", "settlement", "clock", "matchmaking", "computers"):
            await opened.open_service(name)

        async def close_all() -> None:
            for name in list(opened.servers):
                await opened.close_service(name)

        stack.push_async_callback(close_all)
        opened.house = await stack.enter_async_context(opened.new_house())
        yield opened


async def refused(reason: str, call: Awaitable[object]) -> None:
    """The call is refused for this reason."""
    with pytest.raises(Refused) as refusal:
        await call
    assert refusal.value.reason == reason
