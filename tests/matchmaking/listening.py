"""A desk that hears of its games, somebody who listens, and how a game goes that is heard of."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from uuid import UUID

from kafeneio.rules.v1 import game_pb2
from kafeneio.rules.v1.events_pb2 import GameEvent
from kafeneio.settlement.v1.events_pb2 import SettlementEvent
from kafeneio_matchmaking.domain import Ticket
from kafeneio_matchmaking.hearing import RULES
from kafeneio_matchmaking.storage import Work
from kafeneio_runtime.bus import Event

from tests.harness import PATIENCE, Rules
from tests.matchmaking.cashier import cashier
from tests.matchmaking.desk import PLAYERS, Desk, set_up


class Listening:
    """What somebody was told of games and of money, as (kind, sequence)."""

    def __init__(self) -> None:
        self.games: list[tuple[str | None, int]] = []
        self.money: list[tuple[str | None, int]] = []

    async def game(self, _work: Work, event: GameEvent) -> None:
        """A listener."""
        self.games.append((event.WhichOneof("event"), event.sequence))

    async def paid(self, _work: Work, event: SettlementEvent) -> None:
        """Another one."""
        self.money.append((event.WhichOneof("event"), event.sequence))


@asynccontextmanager
async def listening(url: str, keys: Path) -> AsyncIterator[tuple[Desk, Listening]]:
    """A desk whose games need no time left to be joined, and somebody who listens."""
    told = Listening()
    async with (
        Rules.serve(url, keys) as rules,
        cashier() as settlement,
        set_up(rules, settlement, timedelta()) as made,
    ):
        hearing = replace(made.hearing, games=(told.game,), money=(told.paid,))
        yield replace(made, hearing=hearing), told


async def matched(desk: Desk) -> tuple[list[Ticket], str]:
    """Two tickets, and the game that waits for their players."""
    tickets = await desk.paired()
    assert [await desk.step() for _ in range(3)] == ["held", "created", "matched"]
    return tickets, str((await desk.match())["game_id"])


async def started(desk: Desk, game_id: str) -> None:
    """Both join."""
    game = await desk.rules.get(game_id)
    for player in PLAYERS:
        await desk.rules.join(game, player)


async def no_show(desk: Desk, game_id: str) -> None:
    """The time to join is over, and `rules` has ended the game."""
    await desk.rules.join_within(game_id, -1)
    async with asyncio.timeout(PATIENCE):
        async for _update in desk.rules.watch(game_id):
            pass  # its stream ends with the game
    position = (await desk.rules.get(game_id)).position
    assert position.status == game_pb2.GAME_STATUS_FINISHED


def on_the_bus(events: Sequence[GameEvent | SettlementEvent], subject: str) -> list[Event]:
    """Events as the bus brings them."""
    return [
        Event(
            UUID(event.event_id),
            subject,
            UUID(event.game_id),
            event.sequence,
            event.WhichOneof("event") or "",
            event.SerializeToString(),
            event.occurred_at.ToDatetime(),
        )
        for event in events
    ]


async def hear(desk: Desk, events: Sequence[GameEvent]) -> None:
    """The bus brings them."""
    await desk.hearing.hear_rules(on_the_bus(events, RULES))


async def ask(desk: Desk) -> str:
    """Nothing was heard for long, so somebody asks; where the match stands then."""
    async with desk.store.acquire() as connection:
        await connection.execute("UPDATE matches SET due_at = now()")
    assert await desk.hearing.ask()
    return str((await desk.match())["status"])
