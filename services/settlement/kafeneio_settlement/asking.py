"""Asks those who announce for what they have announced of a game, where the bus seems to have lost
it."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from typing import Final, TypeVar
from uuid import UUID

import grpc
from kafeneio.clock.v1 import clock_pb2, clock_pb2_grpc
from kafeneio.clock.v1 import events_pb2 as clock_events_pb2
from kafeneio.rules.v1 import events_pb2 as rules_events_pb2
from kafeneio.rules.v1 import game_pb2, game_pb2_grpc
from kafeneio_runtime import logs
from kafeneio_runtime.clock import Time
from kafeneio_runtime.directory import Directory, UnknownServiceError
from kafeneio_runtime.events import PAGE, all_after

from kafeneio_settlement import wire
from kafeneio_settlement.domain import State
from kafeneio_settlement.settling import Settling
from kafeneio_settlement.storage import Overdue
from kafeneio_settlement.witnesses import Witness

LONGEST_WAIT_SECONDS: Final = 600.0
ASK_SECONDS: Final = 5.0
AT_ONCE: Final = 10
"""Games that are asked for at the same time."""

T = TypeVar("T", rules_events_pb2.GameEvent, clock_events_pb2.ClockEvent)

_log: Final = logs.logger(__name__)


@dataclass(frozen=True, slots=True)
class _Asked:
    """What is known of a game that was asked for: when and how long after that it is asked for
    again, while it is in that state; and the last event that each has told."""

    state: State
    due: float
    wait: float
    rules: int = 0
    clock: int = 0


@dataclass(slots=True)
class Witnesses:
    """A game is asked for ever less often, up to every ten minutes: it may simply go on. As soon as
    one witness has spoken it begins anew, for then the other is really missing."""

    settling: Settling
    directory: Directory
    time: Time
    _asked: dict[UUID, _Asked] = field(default_factory=dict)

    async def ask(self, games: Sequence[Overdue], wait: float) -> None:
        """Ask about those of the games whose turn it is, and take in what is answered; again after
        `wait` seconds, and each time twice as many."""
        now = self.time.monotonic()
        self._forget(now)
        due = [game for game in games if self._is_due(game, now, wait)]
        for first in range(0, len(due), AT_ONCE):
            some = due[first : first + AT_ONCE]
            told = await asyncio.gather(*map(self._witnesses, some))
            if said := [witness for heard, _ in told for witness in heard]:
                await self.settling.take_in(said)
            # Only now: what could not be taken in is asked for again, whole.
            self._asked.update(
                (game.game_id, asked) for game, (_, asked) in zip(some, told, strict=True)
            )

    def _forget(self, now: float) -> None:
        """Whoever was not asked for when it was his turn is no longer missing anything."""
        gone = [name for name, each in self._asked.items() if each.due + LONGEST_WAIT_SECONDS < now]
        for name in gone:
            del self._asked[name]

    def _is_due(self, game: Overdue, now: float, wait: float) -> bool:
        known = self._asked.get(game.game_id)
        if known is None:
            known = _Asked(game.state, now, wait)
        elif known.state is not game.state:
            known = replace(known, state=game.state, due=now, wait=wait)
        if known.due > now:
            return False
        longer = min(2 * known.wait, LONGEST_WAIT_SECONDS)
        self._asked[game.game_id] = replace(known, due=now + known.wait, wait=longer)
        return True

    async def _witnesses(self, game: Overdue) -> tuple[list[Witness], _Asked]:
        """What those tell of whom nothing was heard yet, and what is known of the game then."""
        asked, said = self._asked[game.game_id], list[Witness]()
        try:
            if not game.finished:
                heard, last = await self._rules(game.game_id, asked.rules)
                asked = replace(asked, rules=last)
                said += heard
        except (grpc.aio.AioRpcError, UnknownServiceError, OSError) as error:
            _log.info("not answered", witness="rules", error=type(error).__name__)
        try:
            if not game.closed:
                heard, last = await self._clock(game.game_id, asked.clock, refresh=game.finished)
                asked = replace(asked, clock=last)
                said += heard
        except (grpc.aio.AioRpcError, UnknownServiceError, OSError) as error:
            _log.info("not answered", witness="clock", error=type(error).__name__)
        return said, asked

    async def _rules(self, game_id: UUID, after: int) -> tuple[list[Witness], int]:
        stub = game_pb2_grpc.GameServiceStub(self.directory.channel("rules"))

        async def page(last: int) -> Sequence[rules_events_pb2.GameEvent]:
            request = game_pb2.ListEventsRequest(
                game_id=str(game_id), after_sequence=last, page_size=PAGE
            )
            metadata = self.directory.metadata()
            answer = await stub.ListEvents(request, metadata=metadata, timeout=ASK_SECONDS)
            return answer.events

        return _heard(game_id, await all_after(after, page), after, wire.rules_witness)

    async def _clock(
        self, game_id: UUID, after: int, *, refresh: bool
    ) -> tuple[list[Witness], int]:
        """`refresh`: the clock asks `rules` first, for it may not know that the game is over."""
        stub = clock_pb2_grpc.ClockServiceStub(self.directory.channel("clock"))

        async def page(last: int) -> Sequence[clock_events_pb2.ClockEvent]:
            request = clock_pb2.ListEventsRequest(
                game_id=str(game_id),
                after_sequence=last,
                page_size=PAGE,
                refresh=refresh and last == after,
            )
            metadata = self.directory.metadata()
            answer = await stub.ListEvents(request, metadata=metadata, timeout=ASK_SECONDS)
            return answer.events

        return _heard(game_id, await all_after(after, page), after, wire.clock_witness)


def _heard(
    game_id: UUID,
    events: Sequence[T],
    after: int,
    read: Callable[[UUID, T, datetime], Witness | None],
) -> tuple[list[Witness], int]:
    """What events say of money, and the sequence of the last one."""
    said = (read(game_id, event, event.occurred_at.ToDatetime(UTC)) for event in events)
    found = [witness for witness in said if witness is not None]
    return found, events[-1].sequence if events else after
