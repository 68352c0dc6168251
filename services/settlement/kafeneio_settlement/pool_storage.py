"""Prize pools in PostgreSQL. Every row is written once; what stands is the sum of them.

Whoever changes a pool takes its lock first, then wallets, then accounts. So of a hold, a release
and a settlement that come at once each finds what those before it have done.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final
from uuid import UUID

from kafeneio_runtime.store import Connection, Store

from kafeneio_settlement import prizes
from kafeneio_settlement.domain import Movement
from kafeneio_settlement.pool_rows import (
    Correction,
    Pool,
    correction_of,
    entry_of,
    settled_of,
    terms_of,
)
from kafeneio_settlement.pools import Award, Entry, Standings, State, Terms, placed

# A row that nobody may update can't be locked either.
_LOCK: Final = "SELECT pg_advisory_xact_lock(hashtextextended('prize pool ' || $1::uuid, 0))"
_POOL: Final = "SELECT * FROM prize_pools WHERE tournament_id = $1"
_OPEN: Final = """
    INSERT INTO prize_pools (tournament_id, currency, entry_fee, fee_basis_points, prize_shares,
        players_per_entry, starts_at)
    VALUES ($1, $2, $3, $4, $5, $6, $7)
    ON CONFLICT DO NOTHING
"""
_STATE: Final = """
    SELECT void FROM pool_settlements WHERE tournament_id = $1 ORDER BY version DESC LIMIT 1
"""
_ENTRIES: Final = """
    SELECT entry_id, e.players, e.at AS held_at, r.at AS released_at
    FROM (SELECT * FROM pool_entries WHERE tournament_id = $1) AS e
    FULL JOIN (SELECT * FROM pool_releases WHERE tournament_id = $1) AS r USING (entry_id)
"""
_ALL_ENTRIES: Final = f"{_ENTRIES} ORDER BY least(e.at, r.at), entry_id"
_ENTRY: Final = f"{_ENTRIES} WHERE entry_id = $2"
_COUNT_HELD: Final = """
    SELECT count(*) FROM pool_entries e WHERE tournament_id = $1 AND NOT EXISTS (
        SELECT FROM pool_releases r
        WHERE r.tournament_id = e.tournament_id AND r.entry_id = e.entry_id)
"""
_HOLD: Final = """
    INSERT INTO pool_entries (tournament_id, entry_id, players, transaction_id)
    VALUES ($1, $2, $3, $4)
"""
_RELEASE: Final = """
    INSERT INTO pool_releases (tournament_id, entry_id, transaction_id) VALUES ($1, $2, $3)
"""
_SETTLEMENTS: Final = "SELECT * FROM pool_settlements WHERE tournament_id = $1 ORDER BY version"
_SETTLE: Final = """
    INSERT INTO pool_settlements (tournament_id, version, void, rule_version, entries, places,
        amounts, fee, transaction_id, reversal_id, settled_by, reason, approved_by)
    VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13)
"""
_CORRECTIONS: Final = """
    SELECT c.*, a.approved_by, a.at AS approved_at, a.version
    FROM pool_corrections c LEFT JOIN pool_approvals a USING (tournament_id, number)
"""
_PROPOSE: Final = """
    INSERT INTO pool_corrections (tournament_id, number, corrects, entries, places, entry_fee,
        fee_basis_points, prize_shares, starts_at, reason, proposed_by)
    SELECT $1, coalesce(max(number), 0) + 1, $2, $3, $4, $5, $6, $7, $8, $9, $10
    FROM pool_corrections WHERE tournament_id = $1
"""
_APPROVE: Final = """
    INSERT INTO pool_approvals (tournament_id, number, proposed_by, approved_by, version)
    VALUES ($1, $2, $3, $4, $5)
"""


@dataclass(frozen=True, slots=True)
class Pools:
    """One transaction."""

    connection: Connection

    async def open(self, tournament_id: UUID, terms: Terms) -> None:
        """Write the terms of a tournament down, unless it has some."""
        await self.connection.execute(
            _OPEN,
            tournament_id,
            terms.currency,
            terms.entry_fee,
            terms.fee_basis_points,
            list(terms.offered.shares),
            terms.players_per_entry,
            terms.starts_at,
        )

    async def lock(self, tournament_id: UUID) -> None:
        """Nobody else changes the pool until the transaction ends."""
        await self.connection.execute(_LOCK, tournament_id)

    async def terms(self, tournament_id: UUID) -> Terms | None:
        """The terms of a tournament; None where no pool was opened."""
        row = await self.connection.fetchrow(_POOL, tournament_id)
        return None if row is None else terms_of(row)

    async def state(self, tournament_id: UUID) -> State:
        """Where a pool stands."""
        void = await self.connection.fetchval(_STATE, tournament_id)
        if void is None:
            return State.OPEN
        return State.VOID if void else State.SETTLED

    async def entry(self, tournament_id: UUID, entry_id: UUID) -> Entry | None:
        """An entry; None where nothing was heard of it."""
        row = await self.connection.fetchrow(_ENTRY, tournament_id, entry_id)
        return None if row is None else entry_of(row)

    async def count_held(self, tournament_id: UUID) -> int:
        """How many entries are held."""
        found: int = await self.connection.fetchval(_COUNT_HELD, tournament_id)
        return found

    async def pool(self, tournament_id: UUID) -> Pool | None:
        """All about a tournament's money; None where no pool was opened."""
        row = await self.connection.fetchrow(_POOL, tournament_id)
        if row is None:
            return None
        terms = terms_of(row)
        entries = await self.connection.fetch(_ALL_ENTRIES, tournament_id)
        proposed = await self.connection.fetch(
            f"{_CORRECTIONS} WHERE tournament_id = $1 ORDER BY number", tournament_id
        )
        corrections = tuple(correction_of(each, terms) for each in proposed)
        settled = await self.connection.fetch(_SETTLEMENTS, tournament_id)
        return Pool(
            tournament_id,
            terms,
            row["at"],
            tuple(map(entry_of, entries)),
            tuple(settled_of(each, corrections) for each in settled),
            corrections,
        )

    # --- writing, under the lock ---------------------------------------------------------------

    async def hold(self, tournament_id: UUID, entry: Entry, movement: Movement | None) -> None:
        """Note an entry whose fees were held. Raises RestrictViolationError where the pool is
        settled."""
        await self.connection.execute(
            _HOLD, tournament_id, entry.entry_id, list(entry.players), movement and movement.id
        )

    async def release(self, tournament_id: UUID, entry_id: UUID, movement: Movement | None) -> None:
        """Note that an entry was released, held or not. Raises RestrictViolationError where the
        pool is settled."""
        await self.connection.execute(_RELEASE, tournament_id, entry_id, movement and movement.id)

    async def settle(
        self,
        tournament_id: UUID,
        version: int,
        award: Award,
        movements: tuple[Movement | None, Movement | None],
        settled_by: str,
        reason: str,
        approved_by: str | None = None,
    ) -> None:
        """Write down what was paid; `movements` are the reversal and the payment.

        Raises UniqueViolationError where there is such a settlement, and RestrictViolationError
        where anything was left in escrow.
        """
        reversal, payment = movements
        await self.connection.execute(
            _SETTLE,
            tournament_id,
            version,
            award.void,
            prizes.VERSION,
            [prize.entry_id for prize in award.prizes],
            [prize.place for prize in award.prizes],
            [prize.amount for prize in award.prizes],
            award.fee,
            payment and payment.id,
            reversal and reversal.id,
            settled_by,
            reason,
            approved_by,
        )

    async def propose(
        self,
        tournament_id: UUID,
        corrects: int,
        standings: Standings | None,
        terms: Terms | None,
        reason: str,
        operator: str,
    ) -> None:
        """Write down a proposal."""
        entries, places = (None, None) if standings is None else placed(standings)
        await self.connection.execute(
            _PROPOSE,
            tournament_id,
            corrects,
            entries,
            places,
            terms and terms.entry_fee,
            terms and terms.fee_basis_points,
            terms and list(terms.offered.shares),
            terms and terms.starts_at,
            reason,
            operator,
        )

    async def make_wallets(self, players: Sequence[str]) -> None:
        """A wallet for each, unless he has one."""
        await self.connection.execute(
            "INSERT INTO wallets (player_id) SELECT DISTINCT player"
            " FROM unnest($1::text[]) AS player ORDER BY player ON CONFLICT DO NOTHING",
            players,
        )

    async def approve(self, tournament_id: UUID, correction: Correction, operator: str) -> None:
        """Write down that a correction was done, after its settlement. Raises UniqueViolationError
        where it was done before, and CheckViolationError where both operators are one."""
        await self.connection.execute(
            _APPROVE,
            tournament_id,
            correction.number,
            correction.proposed_by,
            operator,
            correction.corrects + 1,
        )


class PoolLooks:
    """What is only looked at."""

    def __init__(self, store: Store) -> None:
        self._store = store

    async def pool(self, tournament_id: UUID) -> Pool | None:
        """All about a tournament's money, as of one moment."""
        async with self._store.snapshot() as connection:
            return await Pools(connection).pool(tournament_id)


async def open_corrections(
    connection: Connection, limit: int
) -> tuple[int, list[tuple[UUID, Correction]]]:
    """How many proposals wait for a second operator, and the oldest of them with their
    tournaments: those of settlements that are still the newest."""
    waiting = f"""
        {_CORRECTIONS} WHERE a.number IS NULL AND NOT EXISTS (SELECT FROM pool_settlements s
            WHERE s.tournament_id = c.tournament_id AND s.version > c.corrects)
    """
    rows = await connection.fetch(f"{waiting} ORDER BY c.at LIMIT $1", limit)
    total = await connection.fetchval(f"SELECT count(*) FROM ({waiting}) AS waiting")
    found = []
    for row in rows:
        terms = await Pools(connection).terms(row["tournament_id"])
        assert terms is not None, "a foreign key demands it"
        found.append((row["tournament_id"], correction_of(row, terms)))
    return total, found
