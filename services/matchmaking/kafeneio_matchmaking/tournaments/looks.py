"""What is looked up of tournaments."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final
from uuid import UUID

from kafeneio_runtime.store import Connection

from kafeneio_matchmaking.tournaments.domain import Course
from kafeneio_matchmaking.tournaments.rows import (
    read_correction,
    read_entry,
    read_fixture,
    read_tournament,
)
from kafeneio_matchmaking.tournaments.values import (
    Correction,
    Entry,
    Fixture,
    Tournament,
    course_of,
)

SHOWN: Final = """
    SELECT t.*, coalesce((SELECT max(round) + 1 FROM tournament_matches AS m
            WHERE m.tournament_id = t.tournament_id), 0) AS rounds,
        (SELECT count(*) FROM tournament_entries AS e WHERE e.tournament_id = t.tournament_id
            AND e.status NOT IN ('waiting_for_partner', 'ended')) AS entries
    FROM tournaments AS t
"""

LISTED: Final = f"""
    {SHOWN}
    WHERE ($1::text IS NULL OR t.status = $1) AND ($2::text = '' OR t.variant = $2)
        AND ($3::text IS NULL OR t.format = $3)
        AND ($4::text = '' OR EXISTS (SELECT FROM tournament_players AS p
            WHERE p.tournament_id = t.tournament_id AND p.player_id = $4 AND p.live))
        AND ($5::uuid IS NULL OR t.tournament_id < $5)
    ORDER BY t.tournament_id DESC LIMIT $6
"""

OWN: Final = """
    SELECT e.* FROM tournament_entries AS e JOIN tournament_players AS p USING (entry_id)
    WHERE p.tournament_id = $1 AND p.player_id = $2 AND (p.live OR NOT $3)
    ORDER BY p.live DESC, e.registered_at DESC LIMIT 1
"""

# Those who are in another game, or about to be.
BUSY: Final = """
    SELECT DISTINCT seats.player_id FROM seats JOIN matches USING (match_id)
    WHERE seats.player_id = ANY ($1::text[])
        AND matches.status IN ('paired', 'held', 'created', 'cancelling', 'matched', 'started')
"""


STUCK: Final = """
    SELECT count(*) FROM (
        SELECT tries, due_at FROM tournaments WHERE due_at IS NOT NULL
        UNION ALL
        SELECT tries, due_at FROM tournament_entries WHERE status IN ('paying', 'leaving')
    ) AS steps
    WHERE tries >= 5 OR due_at < clock_timestamp() - interval '30 seconds'
"""


@dataclass(frozen=True, slots=True)
class Looks:
    """What one transaction, or one look, sees of tournaments."""

    connection: Connection

    async def tournament(self, tournament_id: UUID) -> Tournament | None:
        """A tournament as it stands."""
        row = await self.connection.fetchrow(f"{SHOWN} WHERE t.tournament_id = $1", tournament_id)
        return None if row is None else read_tournament(row)

    async def listed(
        self,
        *,
        status: str | None,
        variant: str,
        kind: str | None,
        player: str,
        before: UUID | None,
        limit: int,
    ) -> list[Tournament]:
        """The newest tournaments first; None and "" are any."""
        rows = await self.connection.fetch(LISTED, status, variant, kind, player, before, limit)
        return [read_tournament(row) for row in rows]

    async def entries(
        self, tournament_id: UUID, *, after: int = 0, skip: int = 0, limit: int | None = None
    ) -> list[Entry]:
        """Entries that have changed after a version, by seeds, else by their registration."""
        rows = await self.connection.fetch(
            "SELECT * FROM tournament_entries WHERE tournament_id = $1 AND version > $2"
            " ORDER BY seed NULLS LAST, registered_at, entry_id OFFSET $3 LIMIT $4",
            tournament_id,
            after,
            skip,
            limit,
        )
        return [read_entry(row) for row in rows]

    async def entry(self, entry_id: UUID) -> Entry | None:
        """An entry as it stands."""
        row = await self.connection.fetchrow(
            "SELECT * FROM tournament_entries WHERE entry_id = $1", entry_id
        )
        return None if row is None else read_entry(row)

    async def own(self, tournament_id: UUID, player_id: str, *, live: bool = True) -> Entry | None:
        """A player's live entry; or else the last one that he had."""
        row = await self.connection.fetchrow(OWN, tournament_id, player_id, live)
        return None if row is None else read_entry(row)

    async def fixtures(
        self,
        tournament_id: UUID,
        *,
        after: int = 0,
        turn: int | None = None,
        skip: int = 0,
        limit: int | None = None,
    ) -> list[Fixture]:
        """Matches that have changed after a version, of all rounds or one, round by round."""
        rows = await self.connection.fetch(
            "SELECT * FROM tournament_matches WHERE tournament_id = $1 AND version > $2"
            " AND ($3::bigint IS NULL OR round = $3) ORDER BY round, number OFFSET $4 LIMIT $5",
            tournament_id,
            after,
            turn,
            skip,
            limit,
        )
        return [read_fixture(row) for row in rows]

    async def corrections(self, tournament_id: UUID) -> list[Correction]:
        """What was proposed, the oldest first."""
        rows = await self.connection.fetch(
            "SELECT * FROM tournament_corrections WHERE tournament_id = $1 ORDER BY number",
            tournament_id,
        )
        return [read_correction(row) for row in rows]

    async def course(self, tournament: Tournament) -> Course:
        """The course of a tournament that has started."""
        entries = await self.entries(tournament.tournament_id)
        fixtures = await self.fixtures(tournament.tournament_id)
        return course_of(tournament.conditions, entries, fixtures)

    async def busy(self, players: Sequence[str]) -> set[str]:
        """Those of the players who are in a game, or about to be."""
        rows = await self.connection.fetch(BUSY, players)
        return {row["player_id"] for row in rows}

    async def fixture_of(self, game_id: UUID) -> Fixture | None:
        """The match whose last game it is."""
        row = await self.connection.fetchrow(
            "SELECT * FROM tournament_matches WHERE game_id = $1", game_id
        )
        return None if row is None else read_fixture(row)

    async def stuck(self) -> int:
        """How many steps nobody has answered in five calls, or done in half a minute."""
        found: int = await self.connection.fetchval(STUCK)
        return found
