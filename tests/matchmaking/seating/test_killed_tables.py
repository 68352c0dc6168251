"""SIGKILL at every step of the way from a table to its game, and what holds after the next start: a
started game with its stakes, or an open table and nothing held."""

from __future__ import annotations

import asyncio
import signal
from collections.abc import Awaitable, Callable
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

import grpc
import pytest
from kafeneio.matchmaking.v1 import tables_pb2 as pb
from kafeneio.matchmaking.v1 import tables_pb2_grpc
from kafeneio_runtime.auth import Role

from tests.harness import PATIENCE, new_id
from tests.matchmaking.cashier import cashier
from tests.matchmaking.hall import Hall, terms
from tests.matchmaking.house import serving
from tests.matchmaking.seating.room import CLOSED, MATCHED, OPEN, PLAYING, Room, readiness, seats
from tests.matchmaking.test_killed import Scene, failpoints

PLAYERS: Final = ("eleni", "nikos")
PREFIX: Final = "matchmaking.table_"


@dataclass
class Table:
    """A table in a house that dies at a failpoint; `calls` are sent again to the next one."""

    scene: Scene
    table_id: str = field(default_factory=new_id)
    ids: list[str] = field(default_factory=lambda: [new_id() for _ in range(4)])

    async def fill(self, stub: tables_pb2_grpc.TableServiceStub) -> pb.Table:
        """One opens it, the other sits down, both are ready; the table then."""
        created, joined, first, second = self.ids
        create = pb.CreateTableRequest(request_id=created, table_id=self.table_id, terms=terms())
        join = pb.JoinTableRequest(request_id=joined, table_id=self.table_id)
        ready: dict[str, Any] = {"table_id": self.table_id, "ready": True, "seating": 2}
        await self._say(stub.CreateTable, create, PLAYERS[0])
        await self._say(stub.JoinTable, join, PLAYERS[1])
        await self._say(stub.SetReady, pb.SetReadyRequest(request_id=first, **ready), PLAYERS[0])
        answer: pb.SetReadyResponse = await self._say(
            stub.SetReady, pb.SetReadyRequest(request_id=second, **ready), PLAYERS[1]
        )
        return answer.table

    async def _say(self, call: Any, request: Any, who: str) -> Any:
        metadata = self.scene.metadata(who, Role.PLAYER)
        return await call(request, metadata=metadata, timeout=PATIENCE)

    async def dies(self, then: Callable[[str], Awaitable[None]] | None = None) -> None:
        """The house dies at the failpoint, perhaps only after what follows on the game."""
        scene = self.scene
        async with serving(
            scene.folder, scene.url, scene.cashier.address, scene.failpoint, ""
        ) as process:
            address = (await scene.addresses())["matchmaking"]
            async with asyncio.timeout(PATIENCE):
                async with grpc.aio.insecure_channel(address) as channel:
                    stub = tables_pb2_grpc.TableServiceStub(channel)
                    with suppress(grpc.aio.AioRpcError):  # it may die before the last answer
                        await self.fill(stub)
                        if then is not None:
                            await then(await self.game(stub))
                assert await process.wait() == -signal.SIGKILL

    async def game(self, stub: tables_pb2_grpc.TableServiceStub) -> str:
        """The game that waits for the players."""
        request = pb.WatchTableRequest(table_id=self.table_id)
        metadata = self.scene.metadata(PLAYERS[0], Role.PLAYER)
        async for message in stub.WatchTable(request, metadata=metadata):
            if message.table.status == MATCHED:
                return str(message.table.game_id)
        raise AssertionError("the stream ended before")


async def through(table: Table) -> None:
    """Nothing is in the way: the same calls lead to one game, at once."""
    await table.dies()
    async with Hall.serve(table.scene.url, table.scene.folder, table.scene.cashier) as hall:
        room = Room(hall)
        filled = await table.fill(room.stub)
        await one_started_game(room, filled)


async def one_started_game(room: Room, table: pb.Table) -> None:
    """The table is matched to one game, which has the only stakes, and starts."""
    matched = await room.until(table, PLAYERS[0], MATCHED)
    assert room.hall.cashier.holds == {matched.game_id: PLAYERS}
    assert list(await room.hall.games()) == [matched.game_id]
    assert await room.hall.plays(matched.game_id) == PLAYERS
    assert (await room.until(table, PLAYERS[0], PLAYING)).version == matched.version + 1
    assert await room.hall.unfinished() == 0
    assert len({game for _, game, _ in room.hall.cashier.calls}) == 1


async def refused(table: Table) -> None:
    """One has no money: he is out, the other sits at the open table, and nothing is held."""
    cash = table.scene.cashier
    cash.poor.add(PLAYERS[0])
    await table.dies()
    async with Hall.serve(table.scene.url, table.scene.folder, cash) as hall:
        room = Room(hall)
        found = pb.Table(table_id=table.table_id)
        back = await room.until(found, PLAYERS[1], lambda each: bool(each.put_out))
        assert (back.status, seats(back), readiness(back)) == (OPEN, ["", PLAYERS[1]], set())
        assert [out.player_id for out in back.put_out] == [PLAYERS[0]]
        assert cash.holds == {}
        assert await hall.games() == {}
        # He is free, and so is the seat.
        assert (await room.create(PLAYERS[0])).status == OPEN
        again = await room.join(back, "maria")
        for player in (PLAYERS[1], "maria"):
            again = await room.ready(again, player)
        matched = await room.until(again, "maria", MATCHED)
        assert await hall.plays(matched.game_id) == ("maria", PLAYERS[1])
        assert cash.holds == {matched.game_id: ("maria", PLAYERS[1])}


async def begins(table: Table) -> None:
    """Both have joined, and the house dies with the news."""

    async def join(game_id: str) -> None:
        await table.scene.join(game_id, *PLAYERS)

    await table.dies(join)
    async with Hall.serve(table.scene.url, table.scene.folder, table.scene.cashier) as hall:
        room = Room(hall)
        found = pb.Table(table_id=table.table_id)
        playing = await room.until(found, PLAYERS[0], PLAYING)
        assert (await room.create(PLAYERS[0])).status == OPEN, "he is free"
        await hall.rules.resign(playing.game_id, PLAYERS[0])
        closed = await room.until(found, PLAYERS[1], CLOSED)
        assert (closed.end, closed.version) == (pb.TABLE_END_PLAYED, playing.version + 1)


async def in_vain(table: Table) -> None:
    """One has not joined in time: he is out, the other sits at the open table."""

    async def wait_in_vain(game_id: str) -> None:
        await table.scene.join(game_id, PLAYERS[1])
        await table.scene.execute("UPDATE rules.games SET join_by = now()")

    await table.dies(wait_in_vain)
    async with Hall.serve(table.scene.url, table.scene.folder, table.scene.cashier) as hall:
        room = Room(hall)
        found = pb.Table(table_id=table.table_id)
        back = await room.until(found, PLAYERS[1], lambda each: bool(each.put_out))
        assert (back.status, seats(back)) == (OPEN, ["", PLAYERS[1]])
        assert [out.player_id for out in back.put_out] == [PLAYERS[0]]
        assert (await room.create(PLAYERS[0])).status == OPEN, "he is free"


SCENES: Final[tuple[tuple[str, Callable[[Table], Awaitable[None]]], ...]] = (
    ("matchmaking.table_start.before_commit", through),
    ("matchmaking.table_start.after_commit", through),
    ("matchmaking.hold.before_commit", through),
    ("matchmaking.hold.after_commit", through),
    ("matchmaking.create.before_commit", through),
    ("matchmaking.create.after_commit", through),
    ("matchmaking.tell.before_commit", through),
    ("matchmaking.tell.after_commit", through),
    ("matchmaking.hold_refused.before_commit", refused),
    ("matchmaking.hold_refused.after_commit", refused),
    ("matchmaking.release.before_commit", refused),
    ("matchmaking.release.after_commit", refused),
    ("matchmaking.heard.before_commit", begins),
    ("matchmaking.heard.after_commit", begins),
    ("matchmaking.heard.before_commit", in_vain),
    ("matchmaking.heard.after_commit", in_vain),
)


def test_every_failpoint_has_a_scene() -> None:
    ours = {name for name in failpoints() if name.startswith(PREFIX)}
    assert ours
    assert ours <= {failpoint for failpoint, _ in SCENES}


@pytest.mark.parametrize(
    ("failpoint", "play"),
    SCENES,
    ids=[f"{name}-{play.__name__}" for name, play in SCENES],
)
async def test_killed_at(
    failpoint: str, play: Callable[[Table], Awaitable[None]], keys: Path, database_url: str
) -> None:
    async with cashier() as settlement:
        await play(Table(Scene(keys, database_url, settlement, failpoint)))
        assert settlement.calls
