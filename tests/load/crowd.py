"""Scripted players: they queue for a game with a stake, play it to the end, and queue again.

They see the house as any client does, through its public port. What they could not do at once they
do again, and count.
"""

from __future__ import annotations

import asyncio
import random
import time
from collections import Counter
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Final, TypeVar

from kafeneio.matchmaking.v1 import quick_match_pb2
from kafeneio.rules.v1 import actions_pb2, game_pb2
from kafeneio.settlement.v1 import settlement_pb2
from kafeneio_client.channel import new_id
from kafeneio_client.client import Client
from kafeneio_client.errors import KafeneioError, Refused, Unreachable
from kafeneio_client.games import is_over
from kafeneio_client.money import Money
from kafeneio_client.programs import GreedyProgram, Player
from kafeneio_games import registry

T = TypeVar("T")

STAKE: Final = Money("EUR", 100)
PURSE: Final = Money("EUR", 1_000_000)
MIX: Final = (
    *("portes", "plakoto", "fevga", "portes", "gulbara", "pilotta"),
    *("portes", "koumkan", "coinche", "thanasis", "pilotta-classic-2", "belote"),
)
"""What is played at one table after the other."""
PATIENCE_SECONDS: Final = 90.0
"""So long a player tries again; the house must be back by then."""
RETRY_SECONDS: Final = 0.5
NEVER_BEGUN: Final = frozenset({"GAME_CANCELLED", "GAME_OVER", "GAME_UNKNOWN"})
"""Why a seat can't be taken in a game for which somebody did not come."""


@dataclass
class Tally:
    """What a crowd has done and seen."""

    acts: list[float] = field(default_factory=list)
    """Seconds that each turn took to be accepted."""
    calls: int = 0
    retryable: Counter[str] = field(default_factory=Counter)
    """Calls that were done again, by what was said."""
    games: dict[str, game_pb2.Outcome] = field(default_factory=dict)
    """Those that have begun and ended, with how."""
    settled: dict[str, settlement_pb2.Settlement] = field(default_factory=dict)
    begun: set[str] = field(default_factory=set)
    not_begun: set[str] = field(default_factory=set)
    """Those for which not everybody came in time."""


def retryable(error: KafeneioError) -> str | None:
    """What an error says, where the same call may be sent again; None where it may not."""
    if isinstance(error, Unreachable):
        return error.why
    if isinstance(error, Refused) and error.retry_after is not None:
        return error.reason
    return None


class Patient:
    """Calls until there is an answer."""

    def __init__(self, tally: Tally) -> None:
        self._tally = tally

    async def __call__(self, call: Callable[[], Awaitable[T]]) -> T:
        """The answer. Raises what can't be mended, and what was not mended in time."""
        given_up_at = time.monotonic() + PATIENCE_SECONDS
        while True:
            self._tally.calls += 1
            try:
                return await call()
            except KafeneioError as error:
                said = retryable(error)
                if said is None or time.monotonic() > given_up_at:
                    raise
                self._tally.retryable[said] += 1
            await asyncio.sleep(RETRY_SECONDS)


class Paced(Player):
    """A player who thinks for a while before each turn, as long as there is no hurry."""

    def __init__(
        self,
        client: Client,
        game_id: str,
        seat: int,
        pause: float,
        hurry: asyncio.Event,
        tally: Tally,
    ) -> None:
        self._chance = random.Random(f"{game_id} {seat}")
        super().__init__(client, game_id, seat, GreedyProgram(self._chance.getrandbits(32)))
        self._mine = seat
        self._pause = pause
        self._hurry = hurry
        self._tally = tally
        self._patience = Patient(tally)

    async def answer(self, position: game_pb2.Position) -> None:
        """Think, then play."""
        if is_over(position) or not position.HasField("turn") or position.turn.seat != self._mine:
            return
        if self._pause and not self._hurry.is_set():
            await asyncio.sleep(self._chance.uniform(0.5, 1.5) * self._pause)
        await super().answer(position)

    async def _patiently(self, call: Callable[[], Awaitable[T]]) -> T:
        begin = time.perf_counter()
        answer = await self._patience(call)
        if isinstance(answer, game_pb2.ActResponse):
            self._tally.acts.append(time.perf_counter() - begin)
        return answer


@dataclass(frozen=True)
class Table:
    """People who come together, and what they play."""

    variant: str
    players: tuple[str, ...]
    brisk: bool = False
    """Whether they never think, so that games follow each other quickly."""

    @property
    def target(self) -> int:
        """Of the shortest game."""
        return registry.variant(self.variant).targets.least


def tables(count: int, variants: Sequence[str] = MIX) -> list[Table]:
    """So many tables of a mix of variants, each with people of its own."""
    made = []
    for number in range(count):
        variant = variants[number % len(variants)]
        seats = registry.variant(variant).seats
        made.append(Table(variant, tuple(f"p{number}-{seat}" for seat in range(seats))))
    return made


def brisk(count: int) -> list[Table]:
    """So many tables of Portes at which nobody thinks."""
    return [Table("portes", (f"b{number}-0", f"b{number}-1"), True) for number in range(count)]


@dataclass
class Crowd:
    """Everybody at some tables. They go on until `enough` is set, and then end their games without
    thinking.
    """

    client: Callable[[str], Client]
    cashier: Client
    tables: Sequence[Table]
    pause: float = 0.0
    tally: Tally = field(default_factory=Tally)
    enough: asyncio.Event = field(default_factory=asyncio.Event)
    playing: asyncio.Condition = field(default_factory=asyncio.Condition)

    async def bring_money(self) -> None:
        """Everybody pays in."""
        patient = Patient(self.tally)
        for table in self.tables:
            for player in table.players:
                await patient(
                    partial(self.cashier.wallet.deposit, player, PURSE, request_id=new_id())
                )

    async def play(self) -> None:
        """Until there is enough. Raises the first error that no player could mend."""
        async with asyncio.TaskGroup() as group:
            for table in self.tables:
                for player in table.players:
                    group.create_task(self._plays(table, player), name=player)

    async def until_begun(self, count: int) -> None:
        """Return when so many games have begun."""
        async with self.playing:
            await self.playing.wait_for(lambda: len(self.tally.begun) >= count)

    async def _plays(self, table: Table, player: str) -> None:
        client, patient = self.client(player), Patient(self.tally)
        while not self.enough.is_set():
            game_id = await self._seated(client, patient, table)
            if game_id is not None:
                pause = 0 if table.brisk else self.pause
                await self._sits(client, patient, game_id, player, pause)

    async def _sits(
        self, client: Client, patient: Patient, game_id: str, player: str, pause: float
    ) -> None:
        """Play a game to its end, and wait until it is paid."""
        game = await patient(lambda: client.games.get(game_id))
        seat = [each.player_id for each in game.seats].index(player)
        sitting = Paced(client, game_id, seat, pause, self.enough, self.tally)
        last = await sitting.sit()
        self.tally.games[game_id] = last.outcome
        self.tally.settled[game_id] = await patient(
            lambda: client.settlement.settled(game_id, PATIENCE_SECONDS)
        )

    async def _seated(self, client: Client, patient: Patient, table: Table) -> str | None:
        """Queue, and take the seat; the game once it has begun, None where there was none."""
        ticket_id, request_id = new_id(), new_id()
        ticket = await patient(
            lambda: client.queue.enqueue(
                table.variant,
                stake=STAKE,
                target=table.target,
                ticket_id=ticket_id,
                request_id=request_id,
            )
        )
        while ticket.status != quick_match_pb2.TICKET_STATUS_ENDED:
            # One whose game did not begin is queued again, under a later version.
            later = await self._later(client, ticket.ticket_id, ticket.version)
            if later is None:
                return None
            ticket = later
            if ticket.game_id and await self._begins(client, patient, ticket.game_id):
                return ticket.game_id
        return None

    async def _later(
        self, client: Client, ticket_id: str, version: int
    ) -> quick_match_pb2.Ticket | None:
        """The ticket when it has a game or none any more; None where nobody wants one now."""
        final = asyncio.create_task(client.queue.final(ticket_id, version))
        enough = asyncio.create_task(self.enough.wait())
        try:
            while not final.done():
                waits = {final} if enough.done() else {final, enough}
                await asyncio.wait(
                    waits, timeout=RETRY_SECONDS, return_when=asyncio.FIRST_COMPLETED
                )
                if enough.done() and not final.done() and await _cancelled(client, ticket_id):
                    return None
            return final.result()
        finally:
            enough.cancel()
            final.cancel()

    async def _begins(self, client: Client, patient: Patient, game_id: str) -> bool:
        """Take the seat; whether the game begins."""
        request_id = new_id()
        try:
            game = await patient(lambda: client.games.get(game_id))
            await patient(
                lambda: client.games.join(game_id, game.commitment, b"", request_id=request_id)
            )
            position = await patient(lambda: client.games.started(game_id))
        except Refused as refused:
            if refused.reason not in NEVER_BEGUN:
                raise
            self.tally.not_begun.add(game_id)
            return False
        no_show = position.outcome.void_reason == actions_pb2.VOID_REASON_NO_SHOW
        if no_show or position.status == game_pb2.GAME_STATUS_CANCELLED:
            self.tally.not_begun.add(game_id)
            return False
        async with self.playing:
            self.tally.begun.add(game_id)
            self.playing.notify_all()
        return True


async def _cancelled(client: Client, ticket_id: str) -> bool:
    """Whether a ticket could be taken back: one that has found a game can't."""
    try:
        await client.queue.cancel(ticket_id)
    except KafeneioError:
        return False
    return True
