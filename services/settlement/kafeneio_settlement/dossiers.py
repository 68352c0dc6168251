"""Everything that is written of one game's money, and what operators have proposed for it."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final
from uuid import UUID

from kafeneio_runtime.store import Connection

from kafeneio_settlement.corrections import Correction, Terms
from kafeneio_settlement.domain import Game, Movement, Transfer, Verdict
from kafeneio_settlement.rows import Settled, correction_of, game_of, settled_of

_GAME: Final = "SELECT * FROM games WHERE game_id = $1"
_SETTLEMENTS: Final = "SELECT * FROM settlements WHERE game_id = $1 ORDER BY version"
_CORRECTIONS: Final = """
    SELECT c.*, a.approved_by, a.at AS approved_at, a.version
    FROM corrections c LEFT JOIN approvals a USING (game_id, number)
"""
_PROPOSE: Final = """
    INSERT INTO corrections (game_id, number, corrects, winners, void, forfeited, stake,
        fee_basis_points, reason, proposed_by)
    SELECT $1, coalesce(max(number), 0) + 1, $2, $3, $4, $5, $6, $7, $8, $9
    FROM corrections WHERE game_id = $1
    RETURNING number
"""
_CORRECT: Final = """
    WITH settled AS (
        INSERT INTO settlements (game_id, version, payout_rule, rule_version, void, shares, fee,
            transaction_id, resolved_by, reason, at, stake, approved_by, reversal_id)
        VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, clock_timestamp(), $11, $12, $13)
    ), noted AS (
        UPDATE games SET announced = announced + 1 WHERE game_id = $1
    )
    INSERT INTO approvals (game_id, number, proposed_by, approved_by, version)
    VALUES ($1, $14, $9, $12, $2)
"""


@dataclass(frozen=True, slots=True)
class Payment:
    """A settlement with its transfers, and those that reversed the one before it."""

    settled: Settled
    transfers: tuple[Transfer, ...] = ()
    reversal: tuple[Transfer, ...] = ()


@dataclass(frozen=True, slots=True)
class Dossier:
    """A game, its settlements from the first to the newest, and what was proposed for it."""

    game: Game
    payments: tuple[Payment, ...] = ()
    corrections: tuple[Correction, ...] = ()

    @property
    def newest(self) -> Payment | None:
        """The settlement that counts."""
        return self.payments[-1] if self.payments else None


async def dossier(connection: Connection, game_id: UUID) -> Dossier | None:
    """All about a game; None for an unknown one."""
    row = await connection.fetchrow(_GAME, game_id)
    if row is None:
        return None
    settled = [settled_of(each) for each in await connection.fetch(_SETTLEMENTS, game_id)]
    if not settled:
        return Dossier(game_of(row))
    # The row of the game may be older than those of its settlements: these are several reads.
    row = await connection.fetchrow(_GAME, game_id)
    assert row is not None, "games are never deleted"
    named = [each.transaction_id for each in settled] + [each.reversal_id for each in settled]
    moved = await transfers_of(connection, named)
    payments = tuple(
        Payment(each, moved.get(each.transaction_id, ()), moved.get(each.reversal_id, ()))
        for each in settled
    )
    return Dossier(game_of(row), payments, await corrections(connection, game_id))


async def transfers_of(
    connection: Connection, named: Iterable[UUID | None]
) -> dict[UUID | None, tuple[Transfer, ...]]:
    """The transfers of transactions, in order."""
    rows = await connection.fetch(
        "SELECT transaction_id, debit_account, credit_account, amount FROM transfers"
        " WHERE transaction_id = ANY ($1::uuid[]) ORDER BY transaction_id, position",
        [name for name in named if name is not None],
    )
    found: dict[UUID, list[Transfer]] = {}
    for name, debit, credit, amount in rows:
        found.setdefault(name, []).append(Transfer(debit, credit, amount))
    return {name: tuple(transfers) for name, transfers in found.items()}


async def corrections(connection: Connection, game_id: UUID) -> tuple[Correction, ...]:
    """What was proposed for a game, the oldest first."""
    rows = await connection.fetch(f"{_CORRECTIONS} WHERE game_id = $1 ORDER BY number", game_id)
    return tuple(correction_of(row) for row in rows)


async def open_corrections(connection: Connection, limit: int) -> tuple[int, list[Correction]]:
    """How many proposals wait for a second operator, and the oldest of them: those of settlements
    that are still the newest."""
    waiting = (
        f"{_CORRECTIONS} WHERE a.number IS NULL AND NOT EXISTS (SELECT FROM settlements s"
        " WHERE s.game_id = c.game_id AND s.version > c.corrects)"
    )
    rows = await connection.fetch(f"{waiting} ORDER BY c.at LIMIT $1", limit)
    total = await connection.fetchval(f"SELECT count(*) FROM ({waiting}) AS waiting")
    return total, [correction_of(row) for row in rows]


async def propose(
    connection: Connection, game_id: UUID, corrects: int, terms: Terms, reason: str, operator: str
) -> int:
    """Write down a proposal for a locked game; its number."""
    number: int = await connection.fetchval(
        _PROPOSE,
        game_id,
        corrects,
        list(terms.winners),
        terms.void,
        list(terms.forfeited),
        terms.stake,
        terms.fee_basis_points,
        reason,
        operator,
    )
    return number


async def correct(
    connection: Connection,
    correction: Correction,
    verdict: Verdict,
    movements: tuple[Movement | None, Movement | None],
    approved_by: str,
) -> None:
    """Write down that a correction was done to a locked game; `movements` are the reversal and the
    new payment. Raises UniqueViolationError where the settlement was corrected before, and
    CheckViolationError where both operators are one."""
    reversal, payment = movements
    payout = verdict.payout
    await connection.execute(
        _CORRECT,
        correction.game_id,
        correction.corrects + 1,
        verdict.payout_rule,
        verdict.rule_version,
        verdict.void,
        None if payout is None else list(payout.shares),
        None if payout is None else payout.fee,
        None if payment is None else payment.id,
        correction.proposed_by,
        correction.reason,
        correction.terms.stake,
        approved_by,
        None if reversal is None else reversal.id,
        correction.number,
    )
