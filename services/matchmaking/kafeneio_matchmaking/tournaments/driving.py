"""What a tournament does by itself: it opens, starts at its time, has its games made, pays, or
gives back.

Each step is one transaction. Who does it keeps others from doing the same with an advisory lock,
makes the one call that the step needs, and then locks the tournament and writes what the answer
means, if all still stands as it did. So whoever dies leaves a step undone at the most, whoever
comes next makes the same call with the same request id, and nobody waits for a call of somebody
else.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from statistics import mean
from typing import Final

from kafeneio_client.errors import Refused
from kafeneio_runtime import logs
from kafeneio_runtime.failpoints import failpoint
from kafeneio_runtime.ids import new_id

from kafeneio_matchmaking.matching import NewMatch, Seat, SourceKind, retry_seconds
from kafeneio_matchmaking.peers import UnansweredError
from kafeneio_matchmaking.players.storage import rating_of
from kafeneio_matchmaking.storage import Matchmaking, Work
from kafeneio_matchmaking.tournaments.course import begin
from kafeneio_matchmaking.tournaments.peers import FAULTS, Pools, is_void
from kafeneio_matchmaking.tournaments.states import (
    EntryEnd,
    EntryMove,
    EntryStatus,
    Move,
    Status,
)
from kafeneio_matchmaking.tournaments.storage import Sheet
from kafeneio_matchmaking.tournaments.values import (
    GRACE,
    Entry,
    Fixture,
    Tournament,
    numbered,
    seats_of,
    seeding,
)

_log: Final = logs.logger(__name__)

LOOK_AGAIN: Final = timedelta(seconds=1)
"""So long after it is looked again whether a player has left his other game."""

TOO_FEW: Final = "TOO_FEW_ENTRIES"
"""Why a tournament is cancelled that too few have entered."""

Committed = Callable[[], None]
"""What is to be done once a step is committed."""


def nothing() -> None:
    """There is nothing to be done."""


@dataclass(frozen=True, slots=True)
class Driving:
    """Does what is due. `grace` is GRACE but in tests."""

    storage: Matchmaking
    pools: Pools
    grace: timedelta = GRACE

    # --- tournaments -------------------------------------------------------------------------

    async def step(self) -> bool:
        """Do the next step of a tournament that is due; False where there is none."""
        async with self.storage.work() as work:
            sheet = Sheet(work.connection)
            due = await sheet.due()
            if due is None:
                return False
            try:
                committed = await self._do(work, sheet, due)
            except UnansweredError as error:
                wait = timedelta(seconds=retry_seconds(due.tries))
                await sheet.put_off(due.tournament_id, wait, str(error))
                _unanswered(due, due.status.value, str(error))
                return True
        committed()
        return True

    async def _do(self, work: Work, sheet: Sheet, due: Tournament) -> Committed:
        match due.status:
            case Status.ANNOUNCED:
                return await self._open(sheet, due)
            case Status.OPEN:
                return await self._close(sheet, due)
            case Status.STARTING:
                return await self._start(sheet, due)
            case Status.RUNNING:
                return await self._begin_games(work, sheet, due)
            case Status.SETTLING:
                return await self._pay(sheet, due)
            case Status.CANCELLING:
                return await self._refund(sheet, due)
            case Status.FINISHED | Status.CANCELLED:
                return await self._look_at_corrections(sheet, due)
            case Status.PAUSED:
                await sheet.rest(due.tournament_id)
                return nothing

    async def _open(self, sheet: Sheet, due: Tournament) -> Committed:
        failpoint("matchmaking.tournament.open.before_call")
        try:
            await self.pools.open(due)
        except Refused as refused:
            _log.error("pool refused", tournament_id=str(due.tournament_id), why=refused.reason)
            locked = await self._still(sheet, due)
            if locked is not None:
                await sheet.move(locked, Move.REFUSE, cancel_reason=refused.reason)
            return nothing
        failpoint("matchmaking.tournament.open.before_commit")
        locked = await self._still(sheet, due)
        if locked is not None:
            await sheet.move(locked, Move.OPEN, due_at=due.conditions.starts_at)
        return lambda: failpoint("matchmaking.tournament.open.after_commit")

    async def _close(self, sheet: Sheet, due: Tournament) -> Committed:
        locked = await self._still(sheet, due)
        if locked is not None:
            await sheet.move(locked, Move.CLOSE)
        failpoint("matchmaking.tournament.close.before_commit")
        return lambda: failpoint("matchmaking.tournament.close.after_commit")

    async def _start(self, sheet: Sheet, due: Tournament) -> Committed:
        """Once no fee is under way any more: the seeds and the first round, or nothing."""
        if any(_is_moving(entry) for entry in await sheet.entries(due.tournament_id)):
            await sheet.put_off(due.tournament_id, LOOK_AGAIN)
            return nothing
        locked = await self._still(sheet, due)
        if locked is None:
            return nothing
        entered: list[Entry] = []
        for entry in await sheet.entries(due.tournament_id):
            if entry.status is EntryStatus.WAITING_FOR_PARTNER:
                missing = EntryEnd.PARTNER_MISSING
                await sheet.move_entry(locked, entry, EntryMove.LEAVE, missing)
            elif entry.status is EntryStatus.ENTERED:
                entered.append(entry)
        if len(entered) < due.conditions.min_entries:
            await fall(sheet, locked, Move.FALL_SHORT, TOO_FEW)
            failpoint("matchmaking.tournament.fall_short.before_commit")
            return lambda: failpoint("matchmaking.tournament.fall_short.after_commit")
        players = [player for entry in entered for player in entry.players]
        known = await rating_of(sheet.connection, due.conditions.game.variant, players)
        ratings = {
            entry.entry_id: round(mean(known[player].value for player in entry.players))
            for entry in entered
        }
        await sheet.seed(locked, seeding(ratings, entered))
        course = begin(due.conditions.format, len(entered), due.conditions.length)
        await sheet.save(locked, None, course)
        await sheet.move(locked, Move.START)
        failpoint("matchmaking.tournament.start.before_commit")
        return lambda: failpoint("matchmaking.tournament.start.after_commit")

    async def _begin_games(self, work: Work, sheet: Sheet, due: Tournament) -> Committed:
        """Every match that waits for a game gets one, unless a player is still in another."""
        now = await work.now()
        ready, again = await self._ready(sheet, due, now)
        if again is not None and not ready:
            await sheet.put_off(due.tournament_id, again - now)
            return nothing
        locked = await self._still(sheet, due)
        if locked is None:
            return nothing
        # The round may be another than it was before the lock.
        ready, again = await self._ready(sheet, locked, now)
        begun: list[NewMatch] = []
        for fixture, players in ready:
            begun.append(_new_match(due, players))
            await sheet.begin_game(locked, fixture, begun[-1].game_id, players)
        await work.begin(begun)
        if again is None:
            await sheet.rest(due.tournament_id)
        else:
            await sheet.put_off(due.tournament_id, again - now)
        failpoint("matchmaking.tournament.games.before_commit")
        return lambda: failpoint("matchmaking.tournament.games.after_commit")

    async def _ready(
        self, sheet: Sheet, tournament: Tournament, now: datetime
    ) -> tuple[list[tuple[Fixture, tuple[str, ...]]], datetime | None]:
        """The matches that may get their game now, with who plays it, and when it is to be looked
        again; None where nothing else waits."""
        entries = {each.seed: each for each in await sheet.entries(tournament.tournament_id)}
        last = await sheet.fixtures(tournament.tournament_id, turn=tournament.rounds - 1)
        waiting = [
            (each, _players(each, entries))
            for each in last
            if not (each.match.is_over or each.match.running)
        ]
        busy = await sheet.busy([player for _, players in waiting for player in players])
        ready: list[tuple[Fixture, tuple[str, ...]]] = []
        again: list[datetime] = []
        for fixture, players in waiting:
            if fixture.due_at > now:
                again.append(fixture.due_at)
            elif busy.intersection(players) and now < fixture.drawn_at + self.grace:
                again.append(now + LOOK_AGAIN)
            else:
                ready.append((fixture, players))
        return ready, min(again, default=None)

    async def _pay(self, sheet: Sheet, due: Tournament) -> Committed:
        failpoint("matchmaking.tournament.pay.before_call")
        entries = await sheet.entries(due.tournament_id)
        move = Move.PAY
        try:
            await self.pools.pay(due, [entry for entry in entries if entry.place is not None])
        except Refused as refused:
            if not is_void(refused):
                raise UnansweredError(f"SettleTournament: {refused.reason}") from refused
            move = Move.FIND_VOID
        failpoint("matchmaking.tournament.pay.before_commit")
        locked = await self._still(sheet, due)
        if locked is not None:
            await sheet.move(locked, move)
        return lambda: failpoint("matchmaking.tournament.pay.after_commit")

    async def _refund(self, sheet: Sheet, due: Tournament) -> Committed:
        failpoint("matchmaking.tournament.refund.before_call")
        try:
            # It may have been cancelled before it had a pool: one that is opened later would stay.
            await self.pools.open(due)
            await self.pools.void(due)
        except Refused as refused:
            raise UnansweredError(f"VoidTournament: {refused.reason}") from refused
        failpoint("matchmaking.tournament.refund.before_commit")
        locked = await self._still(sheet, due)
        if locked is not None:
            await sheet.move(locked, Move.REFUND)
        return lambda: failpoint("matchmaking.tournament.refund.after_commit")

    async def _look_at_corrections(self, sheet: Sheet, due: Tournament) -> Committed:
        """`settlement` has told that it has corrected what was paid. Locked before the call, so
        that what it tells later is not lost."""
        locked = await self._still(sheet, due)
        if locked is None:
            return nothing
        try:
            found = await self.pools.corrections(due.tournament_id)
        except Refused as refused:
            raise UnansweredError(f"GetPrizePool: {refused.reason}") from refused
        for correction in found:
            await sheet.correct(locked, correction)
        approved = [each for each in found if each.approved_at is not None]
        newest = max(approved, key=lambda each: each.settlement_version, default=None)
        if newest is not None and newest.places is not None:
            await sheet.place(locked, numbered(newest.places), played=False)
        await sheet.rest(due.tournament_id)
        failpoint("matchmaking.tournament.corrected.before_commit")
        return lambda: failpoint("matchmaking.tournament.corrected.after_commit")

    async def _still(self, sheet: Sheet, due: Tournament) -> Tournament | None:
        """The tournament, locked, if it stands where it stood before the call; else its next step
        is another, and is due."""
        locked = await sheet.lock(due.tournament_id)
        return locked if locked is not None and locked.status is due.status else None

    # --- entries -----------------------------------------------------------------------------

    async def step_entry(self) -> bool:
        """Take the fees of an entry, or give them back; False where there is none to do so."""
        async with self.storage.work() as work:
            sheet = Sheet(work.connection)
            due = await sheet.due_entry()
            if due is None:
                return False
            try:
                if due.status is EntryStatus.PAYING:
                    committed = await self._hold(sheet, due)
                else:
                    committed = await self._release(sheet, due)
            except UnansweredError as error:
                wait = timedelta(seconds=retry_seconds(due.tries))
                await sheet.put_entry_off(due.entry_id, wait, str(error))
                _unanswered(due, due.status.value, str(error))
                return True
        committed()
        return True

    async def _hold(self, sheet: Sheet, due: Entry) -> Committed:
        failpoint("matchmaking.tournament.hold.before_call")
        try:
            await self.pools.hold_fees(due)
        except Refused as refused:
            failpoint("matchmaking.tournament.hold_refused.before_commit")
            _log.info("fee refused", tournament_id=str(due.tournament_id), why=refused.reason)
            end = FAULTS.get(refused.reason, EntryEnd.REFUSED)
            await self._moved(sheet, due, EntryMove.LEAVE, end)
            return lambda: failpoint("matchmaking.tournament.hold_refused.after_commit")
        failpoint("matchmaking.tournament.hold.before_commit")
        await self._moved(sheet, due, EntryMove.PAY)
        return lambda: failpoint("matchmaking.tournament.hold.after_commit")

    async def _release(self, sheet: Sheet, due: Entry) -> Committed:
        failpoint("matchmaking.tournament.release.before_call")
        try:
            await self.pools.release_fees(due)
        except Refused as refused:
            # All fees are back, or are about to be.
            if not is_void(refused):
                raise UnansweredError(f"ReleaseEntryFees: {refused.reason}") from refused
        failpoint("matchmaking.tournament.release.before_commit")
        await self._moved(sheet, due, EntryMove.RELEASE)
        return lambda: failpoint("matchmaking.tournament.release.after_commit")

    async def _moved(
        self, sheet: Sheet, due: Entry, move: EntryMove, end: EntryEnd | None = None
    ) -> None:
        """Move an entry that stands where it stood before the call. A tournament that starts waits
        for the last one."""
        locked = await sheet.lock(due.tournament_id)
        entry = await sheet.entry(due.entry_id)
        if locked is None or entry is None or entry.status is not due.status:
            return
        await sheet.move_entry(locked, entry, move, end)
        if locked.status is Status.STARTING:
            await sheet.ring(due.tournament_id)


async def fall(sheet: Sheet, locked: Tournament, move: Move, reason: str) -> Tournament:
    """Call a locked tournament off. Before its start no entry is left of it."""
    if locked.started_at is None:
        for entry in await sheet.entries(locked.tournament_id):
            if entry.status is not EntryStatus.ENDED:
                end = EntryEnd.TOURNAMENT_CANCELLED if entry.end is None else entry.end
                await sheet.move_entry(locked, entry, EntryMove.DISSOLVE, end)
    return await sheet.move(locked, move, cancel_reason=reason)


def _is_moving(entry: Entry) -> bool:
    return entry.status in (EntryStatus.PAYING, EntryStatus.LEAVING)


def _players(fixture: Fixture, entries: Mapping[int | None, Entry]) -> tuple[str, ...]:
    """Who sits where in a match that has both sides."""
    one, two = entries[fixture.match.one], entries[fixture.match.two]
    return seats_of(one.players, two.players)


def _new_match(tournament: Tournament, players: Sequence[str]) -> NewMatch:
    return NewMatch(
        match_id=new_id(),
        game_id=new_id(),
        source=SourceKind.TOURNAMENT,
        source_id=tournament.tournament_id,
        terms=tournament.conditions.match_terms,
        seats=tuple(map(Seat, players)),
    )


def _unanswered(due: Tournament | Entry, at: str, why: str) -> None:
    _log.warning("no answer", tournament_id=str(due.tournament_id), at=at, why=why)
