"""Statements about tournaments: what one transaction does with them, and what is looked up.

Whoever changes anything of a tournament locks its row first, which gives it its next version; what
he changes bears that version, and everybody who watches is notified when it is committed. Whoever
drives something (see driving.py) keeps others from driving the same with an advisory lock, under
which he may make a call without keeping anybody from the tournament.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Final
from uuid import UUID

from kafeneio_matchmaking.names import SCHEMA
from kafeneio_matchmaking.rows import TERMS, terms_columns
from kafeneio_matchmaking.tournaments.domain import Course, Match
from kafeneio_matchmaking.tournaments.looks import Looks
from kafeneio_matchmaking.tournaments.rows import written_places
from kafeneio_matchmaking.tournaments.states import (
    OVER,
    EntryEnd,
    EntryMove,
    EntryStatus,
    Move,
    Status,
    entry_moved,
    moved,
)
from kafeneio_matchmaking.tournaments.values import (
    Conditions,
    Correction,
    Entry,
    Fixture,
    Tournament,
    changed,
)

CREATE: Final = f"""
    INSERT INTO tournaments (tournament_id, name, format, length, {TERMS}, shares, min_entries,
        max_entries, min_rating, max_rating, starts_at, created_by, status, version, due_at)
    VALUES ($1, $2, $3, $4, $5, $6, $7::jsonb, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18,
        $19, 'announced', 1, now())
"""

SAVE: Final = """
    INSERT INTO tournament_matches (tournament_id, round, number, bracket, one, two, voids, running,
        how, winner, version)
    VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11)
    ON CONFLICT (tournament_id, round, number) DO UPDATE SET voids = excluded.voids,
        running = excluded.running, how = excluded.how, winner = excluded.winner,
        due_at = clock_timestamp(), version = excluded.version
"""

CANDIDATES: Final = 20
"""Of so many that are due the first that nobody else is driving is taken."""


@dataclass(frozen=True, slots=True)
class Sheet(Looks):
    """What one transaction does with tournaments."""

    # --- driving -----------------------------------------------------------------------------

    async def due(self) -> Tournament | None:
        """A tournament with something to do that nobody else does until the end of the
        transaction; None where there is none."""
        rows = await self.connection.fetch(
            "SELECT tournament_id AS id FROM tournaments WHERE due_at <= now()"
            " ORDER BY due_at LIMIT $1",
            CANDIDATES,
        )
        for row in rows:
            if await self._alone(row["id"]):
                found = await self.tournament(row["id"])
                still = await self.connection.fetchval(
                    "SELECT due_at <= now() FROM tournaments WHERE tournament_id = $1", row["id"]
                )
                if still:
                    return found
        return None

    async def due_entry(self) -> Entry | None:
        """The same of an entry whose fees are to be taken or given back."""
        rows = await self.connection.fetch(
            "SELECT entry_id AS id FROM tournament_entries WHERE status IN ('paying', 'leaving')"
            " AND due_at <= now() ORDER BY due_at LIMIT $1",
            CANDIDATES,
        )
        for row in rows:
            if await self._alone(row["id"]):
                entry = await self.entry(row["id"])
                if entry and entry.status in (EntryStatus.PAYING, EntryStatus.LEAVING):
                    return entry
        return None

    async def _alone(self, item: UUID) -> bool:
        found: bool = await self.connection.fetchval(
            "SELECT pg_try_advisory_xact_lock(hashtextextended($1, 0))", f"{SCHEMA}.drive\n{item}"
        )
        return found

    async def put_off(self, tournament_id: UUID, wait: timedelta, why: str = "") -> None:
        """There is something to do after `wait`. `why` says who has not answered."""
        await self.connection.execute(
            "UPDATE tournaments SET due_at = clock_timestamp() + $2::interval, why = $3,"
            " tries = CASE WHEN $3 = '' THEN 0 ELSE tries + 1 END WHERE tournament_id = $1",
            tournament_id,
            wait,
            why,
        )

    async def put_entry_off(self, entry_id: UUID, wait: timedelta, why: str) -> None:
        """The same of an entry."""
        await self.connection.execute(
            "UPDATE tournament_entries SET due_at = clock_timestamp() + $2::interval, why = $3,"
            " tries = tries + 1 WHERE entry_id = $1",
            entry_id,
            wait,
            why,
        )

    async def rest(self, tournament_id: UUID) -> None:
        """There is nothing to do until something happens."""
        await self.connection.execute(
            "UPDATE tournaments SET due_at = NULL, why = '', tries = 0 WHERE tournament_id = $1",
            tournament_id,
        )

    async def ring(self, tournament_id: UUID) -> None:
        """There is something to do at once."""
        await self.put_off(tournament_id, timedelta())

    # --- changing ----------------------------------------------------------------------------

    async def create(self, tournament_id: UUID, conditions: Conditions, operator: str) -> None:
        """Insert a tournament that is to be opened."""
        await self.connection.execute(
            CREATE,
            tournament_id,
            conditions.name,
            conditions.format.value,
            conditions.length,
            *terms_columns(conditions.game),
            list(conditions.shares),
            conditions.min_entries,
            conditions.max_entries,
            conditions.min_rating,
            conditions.max_rating,
            conditions.starts_at,
            operator,
        )

    async def lock(self, tournament_id: UUID) -> Tournament | None:
        """A tournament at its next version, which is that of everything that is changed now."""
        found = await self.connection.fetchval(
            "UPDATE tournaments SET version = version + 1 WHERE tournament_id = $1 RETURNING true",
            tournament_id,
        )
        if not found:
            return None
        await self.connection.execute("SELECT pg_notify($1, $2)", SCHEMA, tournament_id.hex)
        return await self.tournament(tournament_id)

    async def move(
        self,
        tournament: Tournament,
        move: Move,
        *,
        due_at: datetime | None = None,
        cancel_reason: str = "",
    ) -> Tournament:
        """A locked tournament after a move. There is something to do at once, or at `due_at`.
        Raises ForbiddenMoveError."""
        status = moved(tournament.status, move)
        await self.connection.execute(
            "UPDATE tournaments SET status = $2, due_at = coalesce($3, clock_timestamp()),"
            " tries = 0, why = '', cancel_reason = coalesce(nullif($4, ''), cancel_reason),"
            " started_at = CASE WHEN $5 THEN clock_timestamp() ELSE started_at END,"
            " ended_at = CASE WHEN $6 THEN clock_timestamp() ELSE ended_at END"
            " WHERE tournament_id = $1",
            tournament.tournament_id,
            status.value,
            due_at,
            cancel_reason,
            move is Move.START,
            status in OVER,
        )
        if status in (*OVER, Status.PAUSED):
            await self.rest(tournament.tournament_id)
        return replace(tournament, status=status)

    async def register(
        self,
        tournament: Tournament,
        entry_id: UUID,
        player: str,
        partner: str,
        status: EntryStatus,
    ) -> None:
        """Insert an entry of a locked tournament, which is to pay, or waits for a partner."""
        await self.connection.execute(
            "INSERT INTO tournament_entries (entry_id, tournament_id, players, waits_for, status,"
            " version, due_at) VALUES ($1, $2, $3, $4, $5, $6, now())",
            entry_id,
            tournament.tournament_id,
            [player],
            partner,
            status.value,
            tournament.version,
        )
        await self._seat(entry_id, tournament.tournament_id, player)

    async def complete(self, tournament: Tournament, entry: Entry, partner: str) -> Entry:
        """An entry whose partner has come; it is to pay."""
        entry = await self.move_entry(tournament, entry, EntryMove.JOIN)
        await self.connection.execute(
            "UPDATE tournament_entries SET players = players || $2::text, waits_for = '',"
            " registered_at = clock_timestamp() WHERE entry_id = $1",
            entry.entry_id,
            partner,
        )
        await self._seat(entry.entry_id, tournament.tournament_id, partner)
        return replace(entry, players=(*entry.players, partner), waits_for="")

    async def _seat(self, entry_id: UUID, tournament_id: UUID, player: str) -> None:
        await self.connection.execute(
            "INSERT INTO tournament_players (entry_id, player_id, tournament_id, live)"
            " VALUES ($1, $2, $3, true)",
            entry_id,
            player,
            tournament_id,
        )

    async def move_entry(
        self,
        tournament: Tournament,
        entry: Entry,
        move: EntryMove,
        end: EntryEnd | None = None,
        reason: str = "",
    ) -> Entry:
        """An entry of a locked tournament after a move. Raises ForbiddenMoveError."""
        status = entry_moved(entry.status, move)
        await self.connection.execute(
            "UPDATE tournament_entries SET status = $2, ending = coalesce($3, ending),"
            " waits_for = CASE WHEN $2 = 'waiting_for_partner' THEN waits_for ELSE '' END,"
            " reason = coalesce(nullif($5, ''), reason), version = $4,"
            " due_at = clock_timestamp(), tries = 0, why = '' WHERE entry_id = $1",
            entry.entry_id,
            status.value,
            end and end.value,
            tournament.version,
            reason,
        )
        if status is EntryStatus.ENDED:
            await self.connection.execute(
                "UPDATE tournament_players SET live = false WHERE entry_id = $1", entry.entry_id
            )
        return replace(
            entry,
            status=status,
            end=end or entry.end,
            reason=reason or entry.reason,
            version=tournament.version,
            waits_for="",
        )

    async def seed(self, tournament: Tournament, entries: Sequence[Entry]) -> None:
        """Write down the seeds."""
        await self.connection.executemany(
            "UPDATE tournament_entries SET seed = $2, rating = $3, version = $4"
            " WHERE entry_id = $1",
            [(each.entry_id, each.seed, each.rating, tournament.version) for each in entries],
        )

    async def save(self, tournament: Tournament, before: Course | None, after: Course) -> None:
        """Write down what has changed in the course of a locked tournament."""
        rounds = before.rounds if before else ()
        await self.connection.executemany(
            SAVE,
            [
                (tournament.tournament_id, turn, number, *_columns(match), tournament.version)
                for turn, number, match in changed(rounds, after.rounds)
            ],
        )

    async def begin_game(
        self, tournament: Tournament, fixture: Fixture, game_id: UUID, players: Sequence[str]
    ) -> None:
        """A match has a game that is being made."""
        await self.connection.execute(
            "UPDATE tournament_matches SET running = true, game_id = $4, players = $5,"
            " told = false, join_by = NULL, version = $6"
            " WHERE tournament_id = $1 AND round = $2 AND number = $3",
            tournament.tournament_id,
            fixture.round,
            fixture.number,
            game_id,
            list(players),
            tournament.version,
        )

    async def tell(
        self, tournament: Tournament, fixture: Fixture, join_by: datetime | None
    ) -> None:
        """A game is there; its players have until `join_by`."""
        await self.connection.execute(
            "UPDATE tournament_matches SET told = true, join_by = $2, undone = 0, version = $3"
            " WHERE game_id = $1",
            fixture.game_id,
            join_by,
            tournament.version,
        )

    async def undo(self, tournament: Tournament, fixture: Fixture, wait: timedelta) -> None:
        """A game never came to be; the next one may after `wait`."""
        await self.connection.execute(
            "UPDATE tournament_matches SET running = false, game_id = NULL, told = false,"
            " players = '{}', join_by = NULL, undone = undone + 1, version = $2,"
            " due_at = clock_timestamp() + $3::interval WHERE game_id = $1",
            fixture.game_id,
            tournament.version,
            wait,
        )

    async def place(
        self, tournament: Tournament, places: Mapping[UUID, int], *, played: bool
    ) -> None:
        """Write down where entries have finished: as it was played, or by a correction."""
        await self.connection.executemany(
            "UPDATE tournament_entries SET place = $2, version = $3,"
            " played_place = CASE WHEN $4 THEN $2 ELSE played_place END WHERE entry_id = $1",
            [(entry, place, tournament.version, played) for entry, place in places.items()],
        )

    async def correct(self, tournament: Tournament, correction: Correction) -> None:
        """Write down what was proposed, or that it was approved."""
        await self.connection.execute(
            "INSERT INTO tournament_corrections (tournament_id, number, reason, proposed_by,"
            " proposed_at, approved_by, approved_at, settlement_version, places)"
            " VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9::jsonb)"
            " ON CONFLICT (tournament_id, number) DO UPDATE"
            " SET approved_by = excluded.approved_by, approved_at = excluded.approved_at,"
            " settlement_version = excluded.settlement_version",
            tournament.tournament_id,
            correction.number,
            correction.reason,
            correction.proposed_by,
            correction.proposed_at,
            correction.approved_by,
            correction.approved_at,
            correction.settlement_version,
            written_places(correction),
        )


def _columns(match: Match) -> tuple[object, ...]:
    return (
        match.bracket.value,
        match.one,
        match.two,
        match.voids,
        match.running,
        match.how and match.how.value,
        match.winner,
    )
