"""From those who are to play to a game, or back: every match is carried through, or taken back
whole, wherever it comes from.

PAIRED -> HELD -> CREATED -> MATCHED is the way through. From anywhere before MATCHED it leads back
over CANCELLING and RELEASING to UNDONE, where all is as it was before. The state of a match is a
row, and every step is one transaction that locks it, makes one call, and writes what the answer
means. So whoever dies leaves a step undone at the most, whoever comes next does it again with the
same request id, and no two drive one match at once.

A step ends only with a definite answer. That is why the stakes go back only once `rules` has said
that the game will never start.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import timedelta
from types import MappingProxyType
from typing import Final

from kafeneio_client.errors import Refused
from kafeneio_runtime import logs
from kafeneio_runtime.failpoints import failpoint
from kafeneio_runtime.ids import new_id

from kafeneio_matchmaking.domain import End, TicketMove
from kafeneio_matchmaking.matching import (
    AWAITED,
    OVER,
    Match,
    MatchMove,
    MatchStatus,
    NewMatch,
    Seat,
    SourceKind,
    ask_seconds,
    blame,
    retry_seconds,
)
from kafeneio_matchmaking.pairing import Pairing, pair
from kafeneio_matchmaking.peers import Peers, UnansweredError, seats_named
from kafeneio_matchmaking.sources import Sources
from kafeneio_matchmaking.storage import Matchmaking, Work
from kafeneio_matchmaking.tickets import Change

_log: Final = logs.logger(__name__)

JOIN_MARGIN: Final = timedelta(seconds=10)
"""Players who are told of a game have at least so long to take their seats; else it is taken
back."""

PAIRED_AT_ONCE: Final = 500
"""So many matches one transaction makes, because their tickets are locked until its end; the next
one follows at once. What was found for them holds if they all still wait."""

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


def ends(match: Match, refused: Refused) -> dict[str, End]:
    """Which players are to blame for a refusal, and how."""
    if refused.reason in NOBODYS_FAULT:
        return {}
    own = OWN_FAULT.get(refused.reason)
    named = [match.players[seat] for seat in seats_named(refused) if seat < len(match.players)]
    if own is None or not named:
        return blame(match, End.TERMS_REFUSED)
    return blame(match, own, named)


@dataclass(frozen=True, slots=True)
class Saga:
    """Pairs tickets, and drives matches. `join_margin` is JOIN_MARGIN but in tests."""

    storage: Matchmaking
    peers: Peers
    sources: Sources
    join_margin: timedelta = JOIN_MARGIN

    async def pair(self) -> int:
        """Make matches of waiting tickets; how many."""
        async with self.storage.work() as work:
            if not await work.alone():
                return 0
            waiting, known = await work.waiting()
            pairings = pair(waiting, await work.now(), known)
        made = 0
        for start in range(0, len(pairings), PAIRED_AT_ONCE):
            made += await self._begin(pairings[start : start + PAIRED_AT_ONCE])
        return made

    async def _begin(self, pairings: Sequence[Pairing]) -> int:
        """Make matches of those whose tickets still wait; how many."""
        async with self.storage.work() as work:
            chosen = [ticket.ticket_id for pairing in pairings for ticket in pairing.people]
            waits = await work.still_waiting(chosen)
            matches = [
                _match_of(pairing)
                for pairing in pairings
                if all(ticket.ticket_id in waits for ticket in pairing.people)
            ]
            if not matches:
                return 0
            await work.begin(matches)
            changes = [
                Change(seat.ticket_id, match_id=match.match_id)
                for match in matches
                for seat in match.seats
                if seat.ticket_id is not None
            ]
            moved = await work.move(TicketMove.PAIR, changes)
            assert len(moved) == len(changes), "they are locked, and were waiting"
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
            case _:
                assert match.status in (*AWAITED, *OVER), "there is no other"
                raise AssertionError("only a match whose next step is ours is claimed")

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
        if move is MatchMove.PLAYED:
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
        match = await work.advance(match, MatchMove.RELEASE, why=why)
        await self.sources[match.source].over(work, match)
        return lambda: failpoint("matchmaking.release.after_commit")

    async def _matched(self, work: Work, match: Match, move: MatchMove) -> None:
        """Players have until `join_by`; if nothing is heard by then and a little longer, `rules` is
        asked."""
        now = await work.now()
        joining = max((match.join_by or now) - now, timedelta())
        wait = joining + timedelta(seconds=ask_seconds(MatchStatus.MATCHED, 0))
        match = await work.advance(match, move, wait=wait)
        await self.sources[match.source].over(work, match)


def _match_of(pairing: Pairing) -> NewMatch:
    seats = tuple(
        Seat(player, None if ticket is None else ticket.ticket_id)
        for player, ticket in zip(pairing.players, pairing.tickets, strict=True)
    )
    return NewMatch(new_id(), new_id(), SourceKind.QUEUE, None, pairing.terms, seats)


async def _refuse(work: Work, match: Match, move: MatchMove, refused: Refused) -> None:
    _log.info("refused", game_id=str(match.game_id), at=match.status.value, why=refused.reason)
    await work.advance(match, move, ends=ends(match, refused), why=refused.reason)
