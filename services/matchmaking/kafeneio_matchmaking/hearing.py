"""What `matchmaking` hears of its games: that they start, end, and are paid.

Each event counts once, in the transaction of its effect, however often and in whatever order it
comes. An event that says that another one was missed has that fetched from its producer. What never
comes is asked for: a match of which nothing was heard for long is due again, see `Hearing.ask`.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from datetime import timedelta
from types import MappingProxyType
from typing import Final, TypeAlias, TypeVar
from uuid import UUID

from kafeneio.rules.v1 import game_pb2
from kafeneio.rules.v1.events_pb2 import GameEvent
from kafeneio.settlement.v1.events_pb2 import SettlementEvent
from kafeneio_client.errors import Refused
from kafeneio_runtime import logs
from kafeneio_runtime.bus import Event, first_time
from kafeneio_runtime.events import read
from kafeneio_runtime.failpoints import failpoint

from kafeneio_matchmaking import wire
from kafeneio_matchmaking.matching import (
    AWAITED,
    Match,
    MatchMove,
    MatchStatus,
    ask_seconds,
    blame_absent,
)
from kafeneio_matchmaking.peers import Peers, UnansweredError
from kafeneio_matchmaking.sources import Sources
from kafeneio_matchmaking.storage import Matchmaking, Work

RULES: Final = "rules.events"
SETTLEMENT: Final = "settlement.events"
RULES_CONSUMER: Final = "matchmaking.rules"
SETTLEMENT_CONSUMER: Final = "matchmaking.settlement"

GAME: Final = frozenset({"game_started", "game_finished"})
MONEY: Final = frozenset({"game_settled", "settlement_corrected"})

FOUND: Final = (MatchStatus.HELD, MatchStatus.CREATED, MatchStatus.CANCELLING)
"""So far a match may be whose players have found the game by themselves."""

AS_FAR: Final = MappingProxyType(
    {
        MatchStatus.MATCHED: game_pb2.GAME_STATUS_WAITING,
        MatchStatus.STARTED: game_pb2.GAME_STATUS_RUNNING,
    }
)
"""Where `rules` has the game of a match of which all has been heard."""

GameListener: TypeAlias = Callable[[Work, GameEvent], Awaitable[None]]
"""Told of GameStarted, then of GameFinished (which is the only one where the game never started),
of every game of the house, once, in the transaction of the effect."""

MoneyListener: TypeAlias = Callable[[Work, SettlementEvent], Awaitable[None]]
"""The same of GameSettled, then of each SettlementCorrected."""

T = TypeVar("T", GameEvent, SettlementEvent)

_log: Final = logs.logger(__name__)


@dataclass(frozen=True, slots=True)
class Hearing:
    """Takes events in, for the sources of matches and for who listens."""

    storage: Matchmaking
    peers: Peers
    sources: Sources
    games: Sequence[GameListener] = ()
    money: Sequence[MoneyListener] = ()

    # --- from the bus ------------------------------------------------------------------------

    async def hear_rules(self, events: Sequence[Event]) -> None:
        """Events of `rules`, in any order and any number of times."""
        for event in events:
            if event.type in GAME:
                await self._hear(event.key, [read(event, GameEvent)], self._take_games)

    async def hear_settlement(self, events: Sequence[Event]) -> None:
        """Events of `settlement`, in any order and any number of times."""
        for event in events:
            if event.type in MONEY:
                await self._hear(event.key, [read(event, SettlementEvent)], self._take_money)

    async def _hear(
        self,
        game_id: UUID,
        told: Sequence[T],
        take: Callable[[Work, Match | None, UUID, Sequence[T]], Awaitable[Match | None]],
    ) -> None:
        """One event, one transaction: two matches of one tournament are never locked at once."""
        async with self.storage.work() as work:
            await take(work, await work.match_of(game_id), game_id, told)
            failpoint("matchmaking.heard.before_commit")
        failpoint("matchmaking.heard.after_commit")

    # --- asking ------------------------------------------------------------------------------

    async def ask(self) -> bool:
        """Ask for a match of which nothing has been heard for long; False where there is none."""
        async with self.storage.work() as work:
            match = await work.claim_awaited()
            if match is None:
                return False
            await self._catch_up(work, match)
            failpoint("matchmaking.asked.before_commit")
        failpoint("matchmaking.asked.after_commit")
        return True

    async def catch_up(self, game_id: UUID) -> None:
        """Ask for a match now, because somebody waits for what may have happened already."""
        async with self.storage.work() as work:
            match = await work.match_of(game_id)
            if match is not None and match.status in AWAITED:
                await self._catch_up(work, match)

    async def _catch_up(self, work: Work, match: Match) -> None:
        before = match.status
        try:
            if match.status is MatchStatus.FINISHED:
                money = await self.peers.settlement_events(match.game_id)
                match = await self._take_money(work, match, match.game_id, money) or match
            else:
                match = await self._ask_rules(work, match)
        except (UnansweredError, Refused) as error:
            why = str(error)
        else:
            if match.status is not before:
                return
            why = "NOTHING_NEW"
        wait = timedelta(seconds=ask_seconds(match.status, match.tries))
        await work.put_off(match, wait, why)

    async def _ask_rules(self, work: Work, match: Match) -> Match:
        try:
            status = await self.peers.status(match.game_id)
        except Refused as refused:
            if refused.reason != "GAME_UNKNOWN":
                raise
            status = game_pb2.GAME_STATUS_CANCELLED
        if status == game_pb2.GAME_STATUS_CANCELLED and match.status is MatchStatus.MATCHED:
            _log.error("game lost", game_id=str(match.game_id))
            return await work.advance(match, MatchMove.LOST, why="GAME_LOST")
        if status in (AS_FAR[match.status], game_pb2.GAME_STATUS_CANCELLED):
            return match
        events = await self.peers.events(match.game_id)
        return await self._take_games(work, match, match.game_id, events) or match

    # --- taking in ---------------------------------------------------------------------------

    async def _take_games(
        self, work: Work, match: Match | None, game_id: UUID, events: Sequence[GameEvent]
    ) -> Match | None:
        """The match after what `rules` has told, in order."""
        if match is not None and _has_missed_the_start(match, events):
            events = await self.peers.events(game_id)
        events = [event for event in events if event.WhichOneof("event") in GAME]
        ids = [UUID(event.event_id) for event in events]
        fresh = await first_time(work.connection, RULES_CONSUMER, ids)
        for event in events:
            # Its table says whether a match is moved: it may have been too early for an event.
            if match is not None:
                match = await self._moved(work, match, event)
            if UUID(event.event_id) in fresh:
                for listener in self.games:
                    await listener(work, event)
        return match

    async def _moved(self, work: Work, match: Match, event: GameEvent) -> Match:
        """The match after one event; as it was where the event is none of its own."""
        if event.HasField("game_started"):
            if tuple(event.game_started.player_ids) != match.players:
                return match
            if match.status in FOUND:
                match = await work.advance(match, MatchMove.PLAYED)
                await self.sources[match.source].over(work, match)
            if match.status is MatchStatus.MATCHED:
                wait = timedelta(seconds=ask_seconds(MatchStatus.STARTED, 0))
                match = await work.advance(match, MatchMove.START, wait=wait)
                await self.sources[match.source].started(work, match)
        elif match.status in (MatchStatus.MATCHED, MatchStatus.STARTED):
            started = match.status is MatchStatus.STARTED
            finish = wire.finish(event.game_finished, started=started)
            wait = timedelta(seconds=ask_seconds(MatchStatus.FINISHED, 0))
            ends = blame_absent(match, finish)
            match = await work.advance(match, MatchMove.FINISH, ends=ends, wait=wait)
            await self.sources[match.source].finished(work, match, finish)
        return match

    async def _take_money(
        self, work: Work, match: Match | None, game_id: UUID, events: Sequence[SettlementEvent]
    ) -> Match | None:
        """The match after what `settlement` has told, in order."""
        if match is not None and match.status in (MatchStatus.MATCHED, MatchStatus.STARTED):
            # It is paid, so it is over, whatever has been heard of that.
            games = await self.peers.events(game_id)
            match = await self._take_games(work, match, game_id, games)
        if match is not None and _has_missed_the_payout(match, events):
            events = await self.peers.settlement_events(game_id)
        events = [event for event in events if event.WhichOneof("event") in MONEY]
        ids = [UUID(event.event_id) for event in events]
        fresh = await first_time(work.connection, SETTLEMENT_CONSUMER, ids)
        for event in events:
            if match is not None and match.status is MatchStatus.FINISHED:
                match = await work.advance(match, MatchMove.SETTLE)
            if UUID(event.event_id) in fresh:
                for listener in self.money:
                    await listener(work, event)
        return match


def _has_missed_the_start(match: Match, events: Sequence[GameEvent]) -> bool:
    """Whether a game is over whose start has not been heard of; the first event is a start, or the
    end of a game that never started."""
    if match.status is not MatchStatus.MATCHED and match.status not in FOUND:
        return False
    kinds = {event.WhichOneof("event"): event.sequence for event in events}
    return kinds.get("game_finished", 1) > 1 and "game_started" not in kinds


def _has_missed_the_payout(match: Match, events: Sequence[SettlementEvent]) -> bool:
    """Whether a payout was corrected of which has not been heard."""
    kinds = {event.WhichOneof("event") for event in events}
    corrected = "settlement_corrected" in kinds and "game_settled" not in kinds
    return corrected and match.status is not MatchStatus.SETTLED
