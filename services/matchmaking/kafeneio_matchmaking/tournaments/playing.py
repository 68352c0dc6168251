"""What becomes of a tournament's matches: the saga tells of their games, and players leave."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from uuid import UUID

from kafeneio_matchmaking.matching import NO_SHOW, Finish, Match, MatchStatus
from kafeneio_matchmaking.storage import Work
from kafeneio_matchmaking.tournaments import course as courses
from kafeneio_matchmaking.tournaments.course import Absent, Report, Voided, Won
from kafeneio_matchmaking.tournaments.domain import Course
from kafeneio_matchmaking.tournaments.states import PLAYED, Move, Status
from kafeneio_matchmaking.tournaments.storage import Sheet
from kafeneio_matchmaking.tournaments.values import (
    Fixture,
    Tournament,
    numbered,
    retry_seconds,
    side_of,
)


class TournamentSource:
    """Matches get their games, and what comes of them; a game that never came to be is followed by
    another. What comes of a game that decides nothing any more is left alone: its match was decided
    by a disqualification, or the tournament is cancelled."""

    async def over(self, work: Work, match: Match) -> None:
        """The game is there, or nothing is left of it."""
        found = await _awaiting(work, match.game_id)
        if found is None:
            return
        sheet, locked, fixture = found
        if match.status is MatchStatus.MATCHED:
            await sheet.tell(locked, fixture, match.join_by)
            return
        await sheet.undo(locked, fixture, timedelta(seconds=retry_seconds(fixture.undone)))
        if locked.status is Status.RUNNING:
            await sheet.ring(locked.tournament_id)

    async def started(self, work: Work, match: Match) -> None:
        """It is being played, which changes nothing."""

    async def finished(self, work: Work, match: Match, finish: Finish) -> None:
        """The match is decided, or is to be played again."""
        found = await _awaiting(work, match.game_id)
        if found is None:
            return
        sheet, locked, fixture = found
        told = report(fixture, finish)
        await go_on(sheet, locked, lambda course: courses.report(course, fixture.number, told))


def report(fixture: Fixture, finish: Finish) -> Report:
    """What a game has decided. A side of which somebody was absent was absent."""
    sides = (fixture.match.one, fixture.match.two)
    if finish.winners:
        winner = sides[side_of(finish.winners[0])]
        assert winner is not None, "only who sits there wins"
        return Won(winner)
    if finish.void == NO_SHOW and not finish.started:
        absent = {side_of(seat) for seat in finish.absent}
        joined = [seed for side, seed in enumerate(sides) if side not in absent]
        return Absent(frozenset(seed for seed in joined if seed is not None))
    return Voided()


async def go_on(sheet: Sheet, locked: Tournament, change: Callable[[Course], Course]) -> Tournament:
    """A locked tournament that is being played after something that has happened in it, with all
    that follows; a paused one goes no further than that."""
    before = await sheet.course(locked)
    after = change(before)
    await sheet.save(locked, before, after)
    if locked.status is not Status.RUNNING:
        return locked
    return await resumed(sheet, locked, after)


async def resumed(sheet: Sheet, locked: Tournament, course: Course) -> Tournament:
    """A running tournament gets the games that it needs, or has come to its end."""
    if not course.finished:
        await sheet.ring(locked.tournament_id)
        return locked
    entries = await sheet.entries(locked.tournament_id)
    entry_of = {entry.seed: entry.entry_id for entry in entries}
    places = numbered(courses.places(course))
    await sheet.place(
        locked, {entry_of[seed]: place for seed, place in places.items()}, played=True
    )
    return await sheet.move(locked, Move.END)


async def _awaiting(work: Work, game_id: UUID) -> tuple[Sheet, Tournament, Fixture] | None:
    """The match that waits for what becomes of a game, its tournament locked; None where nothing
    does any more."""
    sheet = Sheet(work.connection)
    fixture = await sheet.fixture_of(game_id)
    if fixture is None:
        return None
    locked = await sheet.lock(fixture.tournament_id)
    fixture = await sheet.fixture_of(game_id)
    if locked is None or locked.status not in PLAYED:
        return None
    return (sheet, locked, fixture) if fixture is not None and fixture.match.running else None
