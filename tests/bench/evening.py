"""End to end on the embedded default: queue to ledger with scripted players, and what limits it."""

from __future__ import annotations

import asyncio
import random
import time
from collections.abc import Iterable
from contextlib import aclosing
from dataclasses import dataclass
from datetime import timedelta

import psutil
from kafeneio.matchmaking.v1 import quick_match_pb2
from kafeneio.rules.v1 import game_pb2
from kafeneio_client.client import Client, House
from kafeneio_client.money import Money
from kafeneio_games import portes
from kafeneio_games.game import Seat
from kafeneio_runtime.auth import Role, development_key
from kafeneio_runtime.settings import Settings

from tests.bench.house import postgres_of
from tests.bench.process import Started, data_folder, started

TABLES = 12
SECONDS = 20.0
STAKE = Money("EUR", 100)


@dataclass
class Count:
    """What was done so far, and until when."""

    until: float
    moves: int = 0
    games: int = 0


def turn_of(position: game_pb2.Position, chance: random.Random) -> list[str]:
    """A whole turn, chosen at random."""
    view = position.view.tavli
    state = portes.State(
        boards=(bytes(view.sides[0].points), bytes(view.sides[1].points)),
        mover=Seat(view.mover),
        dice=tuple(view.dice),
        rolled=tuple(view.rolled),
        stage=portes.Stage.MOVE,
        result=None,
    )
    path, _ = chance.choice(portes.turns(state))
    return [portes.Portes().write(step) for step in path]


async def match(client: Client) -> str:
    """Queue until matched; the game."""
    ticket = await client.queue.enqueue("portes", stake=STAKE)
    async with aclosing(client.queue.watch(ticket.ticket_id)) as changes:
        async for changed in changes:
            if changed.status == quick_match_pb2.TICKET_STATUS_MATCHED:
                return str(changed.game_id)
    raise RuntimeError("a ticket ended without a match")


async def player(house: House, token: str, name: str, count: Count) -> None:
    """Queues and plays, again and again, until the time is over."""
    client, chance = house.client(token), random.Random(name)
    while time.perf_counter() < count.until:
        game_id = await match(client)
        game = await client.games.get(game_id)
        await client.games.join(game_id, game.commitment, b"")
        seat = [each.player_id for each in game.seats].index(name)
        async with aclosing(client.games.watch(game_id)) as updates:
            async for update in updates:
                position = update.position
                if position.HasField("turn") and position.turn.seat == seat:
                    await client.games.act(game_id, position.version, turn_of(position, chance))
                    count.moves += 1
                if time.perf_counter() >= count.until:
                    return
        count.games += 1


def cpu(processes: Iterable[psutil.Process]) -> float:
    """CPU seconds of processes and their children."""
    total = 0.0
    for process in processes:
        for each in (process, *process.children(recursive=True)):
            times = each.cpu_times()
            total += times.user + times.system
    return total


async def evening() -> None:
    """Print moves per second, and who used the processor."""
    async with data_folder() as folder:
        command = ("-m", "kafeneio_client", "serve", "house")
        async with started(*command, folder=folder) as server:
            await measure(server, Settings(data_dir=folder / "data"))


async def measure(server: Started, settings: Settings) -> None:
    """One evening of TABLES tables."""
    key, addresses = development_key(settings), server.addresses

    def token(name: str, role: Role = Role.PLAYER) -> str:
        return key.sign(name, role, timedelta(hours=1))

    async with House(
        rules=addresses["rules"],
        clock=addresses["clock"],
        settlement=addresses["settlement"],
        matchmaking=addresses["matchmaking"],
    ) as house:
        cashier = house.client(token("cashier", Role.SERVICE))
        names = [f"p{number}" for number in range(2 * TABLES)]
        for name in names:
            await cashier.wallet.deposit(name, Money("EUR", 1_000_000))
        database = postgres_of(str(server.folder))
        before = cpu([server.process]), cpu(database), cpu([psutil.Process()])
        begin = time.perf_counter()
        count = Count(until=begin + SECONDS)
        await asyncio.gather(*(player(house, token(name), name, count) for name in names))
        wall = time.perf_counter() - begin
        after = cpu([server.process]), cpu(database), cpu([psutil.Process()])
    used = [(now - then) / wall for then, now in zip(before, after, strict=True)]
    print(
        f"moves              {count.moves / wall:10,.0f} a second ({TABLES} tables, {wall:.0f} s)"
    )
    print(f"games              {count.games / 2:10,.0f} played from the queue to the ledger")
    house_used, database_used, players_used = used
    print(
        f"cores in use       {sum(used):10.2f} of {psutil.cpu_count()}: house {house_used:.2f},"
        f" PostgreSQL {database_used:.2f}, players {players_used:.2f}"
    )
    limit = "the house's one core" if house_used > 0.85 else "the machine's cores, players included"
    print(f"limited by         {limit}")
