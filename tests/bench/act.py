"""Act with a whole turn of Portes: server CPU per call, beside a bare grpc.aio echo."""

from __future__ import annotations

import asyncio
import random
import time
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import timedelta
from statistics import median

import grpc
import psutil
from kafeneio.rules.v1 import actions_pb2, game_pb2, game_pb2_grpc
from kafeneio_games import portes
from kafeneio_games.game import Seat
from kafeneio_rules.main import migrate_database
from kafeneio_runtime.auth import Role, development_key
from kafeneio_runtime.ids import new_id
from kafeneio_runtime.postgres import EmbeddedPostgres
from kafeneio_runtime.settings import Settings

from tests.bench.process import Started, data_folder, started

GAMES = 32
WARM_UP = 500
CALLS = 3000
ROUNDS = 5


@dataclass
class Table:
    """One game and its players."""

    game_id: str
    position: game_pb2.Position
    metadata: tuple[tuple[tuple[str, str], ...], ...]
    stubs: tuple[game_pb2_grpc.GameServiceStub, ...]
    chance: random.Random

    def request(self) -> game_pb2.ActRequest:
        """A whole turn, chosen at random from all there are."""
        view = self.position.view.tavli
        state = portes.State(
            boards=(bytes(view.sides[0].points), bytes(view.sides[1].points)),
            mover=Seat(view.mover),
            dice=tuple(view.dice),
            rolled=tuple(view.rolled),
            stage=portes.Stage.MOVE,
            result=None,
        )
        path, _ = self.chance.choice(portes.turns(state))
        return game_pb2.ActRequest(
            request_id=str(new_id()),
            game_id=self.game_id,
            expected_version=self.position.version,
            actions=[
                actions_pb2.Action(
                    move_checker=actions_pb2.MoveChecker(start=step.start, die=step.die)
                )
                for step in path
            ],
        )


async def new_table(channels: Sequence[grpc.aio.Channel], settings: Settings, seed: int) -> Table:
    """A game to 15 points, joined by both."""
    key = development_key(settings)
    stubs = tuple(map(game_pb2_grpc.GameServiceStub, channels))
    stub = stubs[0]

    def bearer(name: str, role: Role) -> tuple[tuple[str, str], ...]:
        return (("authorization", f"Bearer {key.sign(name, role, timedelta(hours=1))}"),)

    game_id, players = str(new_id()), [f"a{seed}", f"b{seed}"]
    created = await stub.CreateGame(
        game_pb2.CreateGameRequest(
            request_id=str(new_id()),
            game_id=game_id,
            terms=game_pb2.Terms(variant="portes", target=15),
            player_ids=players,
        ),
        metadata=bearer("bench", Role.SERVICE),
        timeout=10,
    )
    metadata = tuple(bearer(player, Role.PLAYER) for player in players)
    for seat in range(2):
        joined = await stub.JoinGame(
            game_pb2.JoinGameRequest(
                request_id=str(new_id()), game_id=game_id, commitment=created.game.commitment
            ),
            metadata=metadata[seat],
            timeout=10,
        )
    return Table(game_id, joined.game.position, metadata, stubs, random.Random(seed))


@asynccontextmanager
async def connections(address: str) -> AsyncIterator[list[grpc.aio.Channel]]:
    """A connection for each player, as players have."""
    # Channels to one address would share a connection.
    options = (("grpc.use_local_subchannel_pool", 1),)
    channels = [grpc.aio.insecure_channel(address, options=options) for _ in range(2 * GAMES)]
    try:
        yield channels
    finally:
        await asyncio.gather(*(channel.close() for channel in channels))


@dataclass(frozen=True)
class Sample:
    """One request of Act: the bytes of the message, and what goes with it."""

    body: bytes
    metadata: tuple[tuple[str, str], ...]


async def measure_act(server: Started, settings: Settings) -> tuple[float, float, Sample]:
    """CPU seconds per call, calls per second, and one request."""
    async with connections(server.addresses["rules"]) as channels:
        tables = [
            await new_table(channels[2 * seed : 2 * seed + 2], settings, seed)
            for seed in range(GAMES)
        ]
        sample = Sample(tables[0].request().SerializeToString(), tables[0].metadata[0])
        left = 0

        async def play(table: Table) -> int:
            nonlocal left
            calls = 0
            while left > 0 and table.position.status == game_pb2.GAME_STATUS_RUNNING:
                left -= 1
                request = table.request()
                seat = table.position.turn.seat
                answer = await table.stubs[seat].Act(
                    request, metadata=table.metadata[seat], timeout=10
                )
                update = answer.house if answer.HasField("house") else answer.played
                table.position = update.position
                calls += 1
            return calls

        left = WARM_UP
        await asyncio.gather(*map(play, tables))
        left = CALLS
        cpu, begin = server.cpu_seconds(), time.perf_counter()
        calls = sum(await asyncio.gather(*map(play, tables)))
        wall = time.perf_counter() - begin
        return (server.cpu_seconds() - cpu) / calls, calls / wall, sample


async def measure_echo(server: Started, sample: Sample) -> float:
    """CPU seconds per call: as many connections as Act has, and the same bytes on them."""
    async with connections(server.addresses["echo"]) as channels:
        calls: list[grpc.aio.UnaryUnaryMultiCallable[bytes, bytes]] = [
            channel.unary_unary("/bench.Echo/Echo") for channel in channels
        ]

        async def table(number: int, count: int) -> None:
            for turn in range(count):
                call = calls[2 * number + turn % 2]
                await call(sample.body, metadata=sample.metadata, timeout=10)

        await asyncio.gather(*(table(number, WARM_UP // GAMES) for number in range(GAMES)))
        cpu = server.cpu_seconds()
        await asyncio.gather(*(table(number, CALLS // GAMES) for number in range(GAMES)))
        return (server.cpu_seconds() - cpu) / (CALLS // GAMES * GAMES)


def pin(*servers: Started) -> None:
    """Servers on the last core, the players on the others: neither takes the other's cache."""
    cores = psutil.Process().cpu_affinity()
    if len(cores) > 1:
        psutil.Process().cpu_affinity(cores[:-1])
        for server in servers:
            server.process.cpu_affinity(cores[-1:])


async def act() -> None:
    """Print both and their ratio."""
    async with data_folder() as folder, EmbeddedPostgres(folder / "postgres") as url:
        settings = Settings(data_dir=folder / "data")
        await asyncio.to_thread(migrate_database, url)
        command = ("-m", "kafeneio_client", "serve", "rules")
        async with (
            started(*command, folder=folder, KAFENEIO_DATABASE_URL=url) as rules,
            started("-m", "tests.bench.echo", folder=folder) as bare,
        ):
            pin(rules, bare)
            rounds = []
            for _ in range(ROUNDS):  # in turns, so that a busy machine bears on both alike
                cpu, rate, sample = await measure_act(rules, settings)
                rounds.append((cpu, await measure_echo(bare, sample), rate))
    cpu, echo, rate = (median(figures) for figures in zip(*rounds, strict=True))
    ratio = median(cpu / echo for cpu, echo, _ in rounds)
    print(f"Act, a whole turn  {cpu * 1e6:10.0f} us of server CPU a call ({rate:,.0f} calls/s)")
    print(f"bare echo          {echo * 1e6:10.0f} us")
    print(f"ratio              {ratio:10.2f} (goal: under 2.5; {ROUNDS} rounds of {CALLS} calls)")
