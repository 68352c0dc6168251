"""What is shown of tournaments."""

from __future__ import annotations

from collections import Counter
from collections.abc import AsyncIterator
from dataclasses import dataclass
from itertools import chain
from typing import Final
from uuid import UUID

from kafeneio.matchmaking.v1 import quick_match_pb2
from kafeneio.matchmaking.v1 import tournaments_pb2 as pb
from kafeneio_runtime.errors import malformed, not_yet
from kafeneio_runtime.streams import Pace

from kafeneio_matchmaking.replicas import Replicas
from kafeneio_matchmaking.storage import Matchmaking
from kafeneio_matchmaking.tournaments import course as courses
from kafeneio_matchmaking.tournaments import wire
from kafeneio_matchmaking.tournaments.registering import known
from kafeneio_matchmaking.tournaments.states import BEFORE, OVER
from kafeneio_matchmaking.tournaments.storage import Sheet
from kafeneio_matchmaking.tournaments.values import Tournament, numbered
from kafeneio_matchmaking.wire import timestamp

LOOK_SECONDS: Final = 2.0
"""So often a watched tournament is looked at although no note of a change has come."""

AT_ONCE: Final = 200
"""So many entries and matches one message of a stream holds at the most."""


@dataclass(frozen=True, slots=True)
class Showing:
    """Tournaments as all see them."""

    storage: Matchmaking
    replicas: Replicas
    pace: Pace

    async def shown(self, sheet: Sheet, tournament_id: UUID) -> pb.Tournament:
        """A tournament with its corrections. Raises TOURNAMENT_UNKNOWN."""
        found = known(await sheet.tournament(tournament_id), tournament_id)
        corrections = await sheet.corrections(tournament_id) if found.status in OVER else ()
        return wire.tournament(found, corrections)

    async def seeds(self, sheet: Sheet, tournament_id: UUID) -> wire.Seeds:
        """Which entry has which seed; nothing before the start."""
        entries = await sheet.entries(tournament_id)
        return {each.seed: each.entry_id for each in entries if each.seed is not None}

    async def standings(
        self, sheet: Sheet, tournament: Tournament
    ) -> tuple[list[pb.Standing], bool]:
        """Who stands where, the first place first, and whether that is final."""
        if tournament.status in BEFORE or tournament.started_at is None:
            return [], False
        entries = {each.seed: each for each in await sheet.entries(tournament.tournament_id)}
        course = await sheet.course(tournament)
        merits = courses.RULES[course.format].merits(course)
        won = Counter(match.winner for match in course.matches)
        lost = Counter(chain.from_iterable(match.losers for match in course.matches))
        found = [
            pb.Standing(
                place=entries[seed].place or place,
                entry=wire.entry(entries[seed]),
                won=won[seed],
                lost=lost[seed],
                merits=merits[seed - 1],
            )
            for seed, place in numbered(courses.places(course)).items()
        ]
        found.sort(key=lambda each: (each.place, each.entry.seed))
        return found, course.finished and all(each.entry.place for each in found)

    async def watch(
        self, tournament_id: UUID, after: int
    ) -> AsyncIterator[pb.WatchTournamentResponse]:
        """What has changed after a version, then each change. Raises TOURNAMENT_UNKNOWN or
        NOT_YET."""
        sent, pulse = after, self.pace.begin()
        with self.replicas.bell(tournament_id) as bell:
            while True:
                tournament, changes = await self._changes(tournament_id, sent)
                for change in changes:
                    yield pb.WatchTournamentResponse(change=change)
                    pulse.spoke()
                sent = tournament.version
                if tournament.status in OVER:
                    return
                if pulse.is_over:
                    yield pb.WatchTournamentResponse(draining=quick_match_pb2.Draining())
                    return
                if await pulse.beats_before(bell, LOOK_SECONDS):
                    now = timestamp(self.pace.time.now())
                    beat = quick_match_pb2.Heartbeat(server_time=now)
                    yield pb.WatchTournamentResponse(heartbeat=beat)
                bell.clear()  # before looking, so that no change is missed

    async def _changes(
        self, tournament_id: UUID, after: int
    ) -> tuple[Tournament, list[pb.TournamentChange]]:
        """A tournament, and what is later than a version, in as many messages as it takes."""
        async with self.storage.look() as work:
            sheet = Sheet(work.connection)
            tournament = known(await sheet.tournament(tournament_id), tournament_id)
            if after > tournament.version:
                raise not_yet(tournament.version)
            if after == tournament.version:
                return tournament, []
            corrections = await sheet.corrections(tournament_id)
            entries = await sheet.entries(tournament_id, after=after)
            fixtures = await sheet.fixtures(tournament_id, after=after)
            seeds = await self.seeds(sheet, tournament_id)
        shown = wire.tournament(tournament, corrections)
        said: list[pb.TournamentChange] = [
            pb.TournamentChange(
                tournament=shown, entries=map(wire.entry, entries[first : first + AT_ONCE])
            )
            for first in range(0, len(entries), AT_ONCE)
        ]
        said += [
            pb.TournamentChange(
                tournament=shown,
                matches=[wire.match(each, seeds) for each in fixtures[first : first + AT_ONCE]],
            )
            for first in range(0, len(fixtures), AT_ONCE)
        ]
        said = said or [pb.TournamentChange(tournament=shown)]
        for change in said[:-1]:
            change.more = True
        return tournament, said


def page_start(token: str) -> int:
    """Where a page begins. Raises MALFORMED."""
    if token and not (token.isascii() and token.isdecimal() and len(token) <= 6):
        raise malformed("page_token", "this token was not made here")
    return int(token or 0)
