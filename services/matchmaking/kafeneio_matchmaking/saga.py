"""From tickets to a game, or back: every match is carried through, or taken back whole.

PAIRED -> HELD -> CREATED -> MATCHED is the way through. From anywhere before MATCHED it leads back
over CANCELLING and RELEASING to UNDONE, where the tickets are in the queue again. The state of a
match is a row, and every step is one transaction that locks it, makes one call, and writes what the
answer means. So whoever dies leaves a step undone at the most, whoever comes next does it again
with the same request id, and no two drive one match at once.

A step ends only with a definite answer. That is why the stakes go back only once `rules` has said
that the game will never start.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import timedelta
from types import MappingProxyType
from typing import Final
from uuid import UUID

from kafeneio_client.errors import Refused
from kafeneio_runtime import logs
from kafeneio_runtime.failpoints import failpoint
from kafeneio_runtime.ids import new_id
from prometheus_client import Histogram

from kafeneio_matchmaking.domain import (
    End,
    Match,
    MatchMove,
    MatchStatus,
    blame,
    retry_seconds,
)
from kafeneio_matchmaking.pairing import pair
from kafeneio_matchmaking.peers import Peers, UnansweredError, seats_named
from kafeneio_matchmaking.storage import Matchmaking, Work

_log: Final = logs.logger(__name__)

QUEUE_WAIT: Final = Histogram(
    "kafeneio_queue_wait_seconds",
    "From queueing until the game was there.",
    ["variant"],
    buckets=(0.1, 0.5, 1, 2, 5, 10, 20, 30, 60, 120, 300, 600, 1200, 3600),
)

JOIN_MARGIN: Final = timedelta(seconds=10)
"""Players who are told of a game have at least so long to take their seats; else it is taken
back."""

PAIRED_AT_ONCE: Final = 500
"""So many matches one transaction makes: their tickets are locked until its end, and the next one
follows at once."""

OWN_FAULT: Final = MappingProxyType(
    {
        "INSUFFICIENT_FUNDS": End.INSUFFICIENT_FUNDS,
        "WALLET_SUSPENDED": End.SUSPENDED,
        "WALLET_UNKNOWN": End.PLAYER_UNKNOWN,
    }
)
"""Refusals of a stake that are about the players whose seats they name."""

NOBODYS_FAULT: Final = frozenset(
    {
        "HOLD_EXISTS",
        "HOLD_RELEASED",
        "GAME_STARTED",
        "GAME_OVER",
        "GAME_CANCELLED",
        "GAME_EXISTS",
    }
)
"""Refusals that are about the game's id: with the next one it may go well."""


def ends(match: Match, refused: Refused) -> dict[UUID, End]:
    """Whose tickets end for a refusal, and why; the others go back to the queue."""
    if refused.reason in NOBODYS_FAULT:
        return {}
    own = OWN_FAULT.get(refused.reason)
    named = [match.players[seat] for seat in seats_named(refused) if seat < len(match.players)]
    if own is None or not named:
        return blame(match, End.TERMS_REFUSED)
    return blame(match, own, named)


@dataclass(frozen=True, slots=True)
class Saga:
    """Pairs tickets, and drives what comes of them. `join_margin` is JOIN_MARGIN but in tests."""

    storage: Matchmaking
    peers: Peers
    join_margin: timedelta = JOIN_MARGIN

    async def pair(self) -> int:
        """Make matches of waiting tickets; how many."""
        async with self.storage.work() as work:
            if not await work.alone():
                return 0
            waiting = await work.waiting()
            pairings = pair(waiting, await work.now())[:PAIRED_AT_ONCE]
            chosen = [ticket.ticket_id for pairing in pairings for ticket in pairing.people]
            waits = await work.still_waiting(chosen)
            matches = [
                (new_id(), new_id(), pairing)
                for pairing in pairings
                if all(ticket.ticket_id in waits for ticket in pairing.people)
            ]
            if not matches:
                return 0
            await work.begin(matches)
            failpoint("matchmaking.pair.before_commit")
        failpoint("matchmaking.pair.after_commit")
        return len(matches)

    async def step(self) -> bool:
        """Do the next step of a match that is due; False where there is none."""
        async with self.storage.work() as work:
            match = await work.claim()
            if match is None:
                return False
            try:
                committed = await self._do(work, match)
            except UnansweredError as error:
                wait = timedelta(seconds=retry_seconds(match.tries))
                await work.put_off(match, wait, str(error))
                _log.warning(
                    "no answer", game_id=str(match.game_id), at=match.status.value, why=str(error)
                )
                return True
        committed()
        return True

    async def _do(self, work: Work, match: Match) -> Callable[[], None]:
        """One step; what is to be done once it is committed."""
        match match.status:
            case MatchStatus.PAIRED:
                return await self._hold(work, match)
            case MatchStatus.HELD:
                return await self._create(work, match)
            case MatchStatus.CREATED:
                return await self._tell(work, match)
            case MatchStatus.CANCELLING:
                return await self._cancel(work, match)
            case MatchStatus.RELEASING:
                return await self._release(work, match)
            case MatchStatus.MATCHED | MatchStatus.UNDONE:
                raise AssertionError("a match that is over is never due")

    async def _hold(self, work: Work, match: Match) -> Callable[[], None]:
        failpoint("matchmaking.hold.before_call")
        try:
            if match.terms.stake:
                await self.peers.hold(match)
        except Refused as refused:
            failpoint("matchmaking.hold_refused.before_commit")
            await _refuse(work, match, MatchMove.HOLD_REFUSED, refused)
            return lambda: failpoint("matchmaking.hold_refused.after_commit")
        failpoint("matchmaking.hold.before_commit")
        await work.advance(match, MatchMove.HOLD)
        return lambda: failpoint("matchmaking.hold.after_commit")

    async def _create(self, work: Work, match: Match) -> Callable[[], None]:
        failpoint("matchmaking.create.before_call")
        try:
            join_by = await self.peers.create(match)
        except Refused as refused:
            failpoint("matchmaking.create_refused.before_commit")
            taken = refused.reason == "GAME_EXISTS"
            move = MatchMove.CREATE_TAKEN if taken else MatchMove.CREATE_REFUSED
            await _refuse(work, match, move, refused)
            return lambda: failpoint("matchmaking.create_refused.after_commit")
        failpoint("matchmaking.create.before_commit")
        await work.advance(match, MatchMove.CREATE, join_by=join_by)
        return lambda: failpoint("matchmaking.create.after_commit")

    async def _tell(self, work: Work, match: Match) -> Callable[[], None]:
        """The house may have been down since the game was made: whoever is told of it must have
        the time to take his seat."""
        now = await work.now()
        if match.join_by is not None and match.join_by - now < self.join_margin:
            await work.advance(match, MatchMove.TOO_LATE, why="TOO_LATE")
            return lambda: failpoint("matchmaking.too_late.after_commit")
        await self._matched(work, match, MatchMove.TELL)
        failpoint("matchmaking.tell.before_commit")
        return lambda: failpoint("matchmaking.tell.after_commit")

    async def _cancel(self, work: Work, match: Match) -> Callable[[], None]:
        failpoint("matchmaking.cancel.before_call")
        move = await self.peers.cancel(match)
        failpoint("matchmaking.cancel.before_commit")
        if move is MatchMove.CANCEL_PLAYED:
            await self._matched(work, match, move)
        else:
            await work.advance(match, move)
        return lambda: failpoint("matchmaking.cancel.after_commit")

    async def _release(self, work: Work, match: Match) -> Callable[[], None]:
        failpoint("matchmaking.release.before_call")
        why = ""
        if match.terms.stake:
            # Nothing held is fine, and so is a game whose void end pays everything back.
            why = await self.peers.release(match)
        failpoint("matchmaking.release.before_commit")
        await work.advance(match, MatchMove.RELEASE, why=why)
        return lambda: failpoint("matchmaking.release.after_commit")

    async def _matched(self, work: Work, match: Match, move: MatchMove) -> None:
        tickets = await work.advance(match, move)
        now = await work.now()
        for ticket in tickets:
            if ticket.house_seat is not None:
                continue  # he has waited for nobody
            QUEUE_WAIT.labels(ticket.terms.variant).observe(
                max((now - ticket.queued_at).total_seconds(), 0)
            )


async def _refuse(work: Work, match: Match, move: MatchMove, refused: Refused) -> None:
    _log.info("refused", game_id=str(match.game_id), at=match.status.value, why=refused.reason)
    await work.advance(match, move, ends=ends(match, refused), why=refused.reason)
