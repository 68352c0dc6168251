"""SIGKILL at every step of the way from the queue to the game, and what holds after the next start:
a started game with its stakes, or nothing at all."""

from __future__ import annotations

import ast
import asyncio
import json
import signal
from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, replace
from datetime import timedelta
from pathlib import Path
from typing import Any, Final

import asyncpg
import grpc
import kafeneio_matchmaking
import pytest
from kafeneio.matchmaking.v1 import quick_match_pb2 as pb
from kafeneio.matchmaking.v1 import quick_match_pb2_grpc
from kafeneio.rules.v1 import game_pb2, game_pb2_grpc
from kafeneio_runtime.auth import Role, development_key
from kafeneio_runtime.settings import Settings

from tests.harness import PATIENCE, new_id
from tests.matchmaking.cashier import Cashier, cashier
from tests.matchmaking.hall import Hall, terms
from tests.matchmaking.house import serving

PLAYERS: Final = ("eleni", "nikos")
LIFETIME: Final = timedelta(hours=1)


Wanted = pb.EnqueueRequest | pb.PlayHouseRequest
Then = Callable[[str], Awaitable[None]]


def call_of(stub: quick_match_pb2_grpc.QuickMatchServiceStub, request: Wanted) -> Any:
    """The call that the request is for."""
    return stub.PlayHouse if isinstance(request, pb.PlayHouseRequest) else stub.Enqueue


@dataclass
class Scene:
    """A house that dies at a failpoint, the tickets that it had got, and how one goes on after."""

    folder: Path
    url: str
    cashier: Cashier
    failpoint: str
    margin: str = ""

    def __post_init__(self) -> None:
        self.requests: dict[str, Wanted] = {
            who: pb.EnqueueRequest(request_id=new_id(), ticket_id=new_id(), terms=terms())
            for who in PLAYERS
        }

    def metadata(self, who: str, role: Role) -> tuple[tuple[str, str], ...]:
        """Who calls the process."""
        key = development_key(Settings(data_dir=self.folder))
        return (("authorization", f"Bearer {key.sign(who, role, LIFETIME)}"),)

    async def addresses(self) -> dict[str, str]:
        """Where the process listens."""
        text = await asyncio.to_thread((self.folder / "ready.json").read_text)
        return {name: str(address) for name, address in json.loads(text).items()}

    async def dies(self, then: Then | None = None) -> None:
        """Two players queue, what follows is done, and the house dies at the failpoint."""
        async with serving(
            self.folder, self.url, self.cashier.address, self.failpoint, self.margin
        ) as process:
            address = (await self.addresses())["matchmaking"]
            async with grpc.aio.insecure_channel(address) as channel:
                stub = quick_match_pb2_grpc.QuickMatchServiceStub(channel)
                for who, request in self.requests.items():
                    with suppress(grpc.aio.AioRpcError):  # it may die before the last answer
                        metadata = self.metadata(who, Role.PLAYER)
                        await call_of(stub, request)(request, metadata=metadata, timeout=PATIENCE)
            async with asyncio.timeout(PATIENCE):
                if then is not None:
                    with suppress(grpc.aio.AioRpcError):
                        await then(await self.matched_game())
                assert await process.wait() == -signal.SIGKILL

    async def matched_game(self) -> str:
        """The game that waits for the players."""
        async with grpc.aio.insecure_channel((await self.addresses())["matchmaking"]) as channel:
            stub = quick_match_pb2_grpc.QuickMatchServiceStub(channel)
            who, request = next(iter(self.requests.items()))
            watching = pb.WatchTicketRequest(ticket_id=request.ticket_id)
            async for message in stub.WatchTicket(
                watching, metadata=self.metadata(who, Role.PLAYER)
            ):
                if message.ticket.status == pb.TICKET_STATUS_MATCHED:
                    return str(message.ticket.game_id)
        raise AssertionError("the stream ended before")

    async def join(self, game_id: str, *players: str) -> None:
        """They take their seats in the house that is about to die."""
        async with grpc.aio.insecure_channel((await self.addresses())["rules"]) as channel:
            stub = game_pb2_grpc.GameServiceStub(channel)
            for who in players:
                metadata = self.metadata(who, Role.PLAYER)
                asked = game_pb2.GetGameRequest(game_id=game_id)
                game = (await stub.GetGame(asked, metadata=metadata, timeout=PATIENCE)).game
                request = game_pb2.JoinGameRequest(
                    request_id=new_id(),
                    game_id=game_id,
                    commitment=game.commitment,
                    word=who.encode(),
                )
                await stub.JoinGame(request, metadata=metadata, timeout=PATIENCE)

    async def execute(self, statement: str) -> None:
        """A due row is a row of the database."""
        database = await asyncpg.connect(self.url)
        try:
            await database.execute(statement)
        finally:
            await database.close()

    async def cancel_in_rules(self, game_id: str) -> None:
        """Somebody cancels a game under the hands of the house."""
        async with grpc.aio.insecure_channel((await self.addresses())["rules"]) as channel:
            request = game_pb2.CancelGameRequest(request_id=new_id(), game_id=game_id)
            metadata = self.metadata("somebody", Role.SERVICE)
            stub = game_pb2_grpc.GameServiceStub(channel)
            await stub.CancelGame(request, metadata=metadata, timeout=PATIENCE)

    @asynccontextmanager
    async def restarted(self) -> AsyncIterator[tuple[Hall, list[pb.Ticket]]]:
        """The next house, and the tickets as their players find them there."""
        async with Hall.serve(self.url, self.folder, self.cashier) as hall:
            tickets = [
                (await hall.rules.ask(call_of(hall.stub, request), request, who)).ticket
                for who, request in self.requests.items()
            ]
            yield hall, tickets


async def one_started_game(hall: Hall, tickets: list[pb.Ticket]) -> None:
    """Both are matched to one game, which has the only stakes, and starts."""
    one, other = await hall.over(*tickets)
    assert one.status == other.status == pb.TICKET_STATUS_MATCHED
    assert one.game_id == other.game_id
    assert [each.queued_at for each in (one, other)] == [each.queued_at for each in tickets]
    assert hall.cashier.holds == {one.game_id: PLAYERS}
    assert list(await hall.games()) == [one.game_id]
    assert await hall.plays(one.game_id) == PLAYERS
    assert await hall.unfinished() == 0
    # Whatever was sent more than once was the same call.
    ids = {(call, game): request for call, game, request in hall.cashier.calls}
    assert all(ids[call, game] == request for call, game, request in hall.cashier.calls)


async def through(scene: Scene) -> None:
    """Nothing is in the way: there is one game, at once."""
    await scene.dies()
    async with scene.restarted() as (hall, tickets):
        await one_started_game(hall, tickets)
        assert len({game for _, game, _ in hall.cashier.calls}) == 1
        assert hall.cashier.released == set()


async def refused(scene: Scene) -> None:
    """One has no money: he is out, the other waits as before, and there is nothing else."""
    scene.cashier.poor.add(PLAYERS[0])
    await scene.dies()
    async with scene.restarted() as (hall, (poor, other)):
        ended = await hall.until(poor, pb.TICKET_STATUS_ENDED)
        assert ended.end == pb.TICKET_END_INSUFFICIENT_FUNDS
        back = await hall.until(other, pb.TICKET_STATUS_QUEUED, after=2)
        assert (back.version, back.queued_at) == (3, other.queued_at)
        assert hall.cashier.holds == {}
        assert await hall.games() == {}
        assert await hall.unfinished() == 0
        matched, _ = await hall.over(back, await hall.enqueue("maria"))
        assert await hall.plays(matched.game_id) == (PLAYERS[1], "maria")
        assert hall.cashier.holds == {matched.game_id: (PLAYERS[1], "maria")}


async def cancelled(scene: Scene) -> None:
    """The game can't be made: its stakes go back, and another is made for both."""
    games: list[str] = []

    async def cancel(game_id: str) -> None:
        if not games or games == [game_id]:
            if not games:
                await scene.cancel_in_rules(game_id)
            games[:] = [game_id]

    scene.cashier.before_hold = cancel
    await scene.dies()
    async with scene.restarted() as (hall, tickets):
        await one_started_game(hall, tickets)
        assert hall.cashier.released == set(games)
        assert len({game for _, game, _ in hall.cashier.calls}) == 2


async def late(scene: Scene) -> None:
    """The game is there too late to be joined: its stakes go back, and another is made."""
    await replace_margin(scene, "3600").dies()
    async with scene.restarted() as (hall, tickets):
        await one_started_game(hall, tickets)
        assert len(hall.cashier.released) >= 1


def replace_margin(scene: Scene, margin: str) -> Scene:
    """The same scene with the same tickets in a house that is short of time."""
    changed = replace(scene, margin=margin)
    changed.requests = scene.requests
    return changed


async def begins(scene: Scene) -> None:
    """Both have joined, and the house dies with the news: the tickets are over all the same."""

    async def join(game_id: str) -> None:
        await scene.join(game_id, *PLAYERS)

    await scene.dies(join)
    async with scene.restarted() as (hall, tickets):
        over = await asyncio.gather(
            *(hall.until(ticket, pb.TICKET_STATUS_STARTED) for ticket in tickets)
        )
        assert {ticket.version for ticket in over} == {4}
        assert list(hall.cashier.holds) == list(await hall.games()) == [over[0].game_id]
        assert (await hall.enqueue(PLAYERS[0])).status == pb.TICKET_STATUS_QUEUED


async def in_vain(scene: Scene) -> None:
    """One has not joined in time: he is out, the other is in front again, each of it once."""

    async def wait_in_vain(game_id: str) -> None:
        await scene.join(game_id, PLAYERS[1])
        await scene.execute("UPDATE rules.games SET join_by = now()")

    await scene.dies(wait_in_vain)
    async with scene.restarted() as (hall, (absent, came)):
        ended = await hall.until(absent, pb.TICKET_STATUS_ENDED)
        assert (ended.end, ended.version) == (pb.TICKET_END_NO_SHOW, 4)
        back = await hall.until(came, pb.TICKET_STATUS_QUEUED, after=3)
        assert (back.version, back.queued_at) == (4, came.queued_at)
        matched, _ = await hall.over(back, await hall.enqueue("maria"))
        assert await hall.plays(matched.game_id) == (PLAYERS[1], "maria")


async def asked(scene: Scene) -> None:
    """The house dies while it asks for a game of which it has heard nothing."""

    async def is_due(_game_id: str) -> None:
        await scene.execute("UPDATE matchmaking.matches SET due_at = now()")

    await scene.dies(is_due)
    async with scene.restarted() as (hall, tickets):
        await one_started_game(hall, tickets)


Play = Callable[[Scene], Awaitable[None]]

SCENES: Final[tuple[tuple[str, Play], ...]] = (
    ("matchmaking.pair.before_commit", through),
    ("matchmaking.pair.after_commit", through),
    ("matchmaking.hold.before_call", through),
    ("matchmaking.hold.before_commit", through),
    ("matchmaking.hold.after_commit", through),
    ("matchmaking.create.before_call", through),
    ("matchmaking.create.before_commit", through),
    ("matchmaking.create.after_commit", through),
    ("matchmaking.tell.before_commit", through),
    ("matchmaking.tell.after_commit", through),
    ("matchmaking.hold_refused.before_commit", refused),
    ("matchmaking.hold_refused.after_commit", refused),
    ("matchmaking.release.before_call", refused),
    ("matchmaking.release.before_commit", refused),
    ("matchmaking.release.after_commit", refused),
    ("matchmaking.create_refused.before_commit", cancelled),
    ("matchmaking.create_refused.after_commit", cancelled),
    ("matchmaking.cancel.before_call", cancelled),
    ("matchmaking.cancel.before_commit", cancelled),
    ("matchmaking.cancel.after_commit", cancelled),
    ("matchmaking.release.before_commit", cancelled),
    ("matchmaking.too_late.after_commit", late),
    ("matchmaking.heard.before_commit", begins),
    ("matchmaking.heard.after_commit", begins),
    ("matchmaking.heard.before_commit", in_vain),
    ("matchmaking.heard.after_commit", in_vain),
    ("matchmaking.asked.before_commit", asked),
    ("matchmaking.asked.after_commit", asked),
)

ELSEWHERE: Final = ("matchmaking.table_", "matchmaking.tournament.")
"""Failpoints that begin so have scenes of their own, in the tests of tables and of tournaments."""


def failpoints() -> set[str]:
    """Every name that stands in a call of `failpoint` in the service."""
    names: list[str] = []
    (folder,) = kafeneio_matchmaking.__path__
    for path in Path(folder).rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            if (
                isinstance(node, ast.Call)
                and isinstance(node.func, ast.Name)
                and node.func.id == "failpoint"
            ):
                (name,) = node.args
                assert isinstance(name, ast.Constant), "a name is a literal"
                names.append(str(name.value))
    assert max(Counter(names).values()) == 1, "one name, one place"
    return set(names)


def test_every_failpoint_has_a_scene() -> None:
    found = {name for name in failpoints() if not name.startswith(ELSEWHERE)}
    assert found == {failpoint for failpoint, _ in SCENES}
    assert all(name.startswith("matchmaking.") for name in found)


@pytest.mark.parametrize(
    ("failpoint", "play"),
    SCENES,
    ids=[f"{name}-{play.__name__}" for name, play in SCENES],
)
async def test_killed_at(failpoint: str, play: Play, keys: Path, database_url: str) -> None:
    async with cashier() as settlement:
        await play(Scene(keys, database_url, settlement, failpoint))
        assert settlement.calls


@pytest.mark.parametrize(
    "failpoint",
    [
        "matchmaking.pair.before_commit",
        "matchmaking.pair.after_commit",
        "matchmaking.hold.after_commit",
        "matchmaking.create.before_commit",
        "matchmaking.create.after_commit",
        "matchmaking.tell.before_commit",
        "matchmaking.tell.after_commit",
    ],
)
async def test_a_table_of_computers_is_set_once(
    failpoint: str, keys: Path, database_url: str
) -> None:
    async with cashier() as settlement:
        scene = Scene(keys, database_url, settlement, failpoint)
        asked = pb.PlayHouseRequest(request_id=new_id(), ticket_id=new_id(), terms=terms(0))
        scene.requests = {PLAYERS[0]: asked}
        await scene.dies()
        async with scene.restarted() as (hall, (ticket,)):
            (matched,) = await hall.over(ticket)
            assert list(await hall.games()) == [matched.game_id]
            game = await hall.rules.join(await hall.rules.get(matched.game_id), PLAYERS[0])
            assert game.position.status == game_pb2.GAME_STATUS_RUNNING
            assert sorted(seat.player_id for seat in game.seats) == ["computer-1", PLAYERS[0]]
            assert await hall.unfinished() == 0
        assert settlement.calls == []
