"""Wallets and games in PostgreSQL. Money is in ledger.py.

Whoever changes a game locks its row first, then wallets, then accounts, each kind in one order.
What the events say is written by the statement that locks: so of two witnesses that come at once
the second finds the first, on whichever replica.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from datetime import datetime
from typing import Any, Final
from uuid import UUID

from asyncpg import Record
from kafeneio_runtime.bus import Event
from kafeneio_runtime.outbox import events_after
from kafeneio_runtime.store import Connection, Store

from kafeneio_settlement import ledger
from kafeneio_settlement.domain import (
    PAYOUT_VERSION,
    Closing,
    Finish,
    Forfeit,
    Game,
    Hold,
    Problem,
    State,
    Transfer,
    Verdict,
)

SUBJECT: Final = "settlement.events"
"""Where the events go on the bus."""

_WITNESS: Final = """
    INSERT INTO games AS g
        (game_id, state, seated, started_at, finished, finished_at, closed, closed_at)
    SELECT game_id,
           CASE WHEN finished IS NULL AND closed IS NULL THEN 'started' ELSE 'pending' END,
           (SELECT array_agg(value ORDER BY place)
            FROM jsonb_array_elements_text(seated::jsonb) WITH ORDINALITY AS one(value, place)),
           started_at, finished::jsonb, finished_at, closed::jsonb, closed_at
    FROM unnest($1::uuid[], $2::text[], $3::timestamptz[], $4::text[], $5::timestamptz[],
                $6::text[], $7::timestamptz[])
         WITH ORDINALITY AS heard
         (game_id, seated, started_at, finished, finished_at, closed, closed_at, place)
    ORDER BY place
    ON CONFLICT (game_id) DO UPDATE SET
        seated = coalesce(g.seated, excluded.seated),
        started_at = coalesce(g.started_at, excluded.started_at),
        finished = coalesce(g.finished, excluded.finished),
        finished_at = coalesce(g.finished_at, excluded.finished_at),
        closed = coalesce(g.closed, excluded.closed),
        closed_at = coalesce(g.closed_at, excluded.closed_at),
        state = CASE
            WHEN g.state IN ('settled', 'mismatch') THEN g.state
            WHEN g.finished IS NULL AND excluded.finished IS NULL
             AND g.closed IS NULL AND excluded.closed IS NULL THEN 'started'
            ELSE 'pending' END
    RETURNING *
"""
_SETTLE: Final = """
    WITH settled AS (
        INSERT INTO settlements (game_id, version, payout_rule, rule_version, void, shares, fee,
            transaction_id, resolved_by, reason, at)
        SELECT game_id, $2, payout_rule, rule_version, void,
               string_to_array(shares, ' ')::bigint[], fee, transaction_id, $9, $10, $11
        FROM unnest($1::uuid[], $3::text[], $4::int[], $5::bool[], $6::text[], $7::bigint[],
                    $8::uuid[])
             AS row(game_id, payout_rule, rule_version, void, shares, fee, transaction_id)
        RETURNING game_id
    )
    UPDATE games SET state = 'settled', announced = announced + 1
    FROM settled WHERE games.game_id = settled.game_id
"""
_MISMATCH: Final = """
    UPDATE games SET state = 'mismatch', problem = row.problem
    FROM unnest($1::uuid[], $2::text[]) AS row(game_id, problem)
    WHERE games.game_id = row.game_id
"""
_HELD: Final = """
    INSERT INTO games (game_id, state, players, currency, stake, fee_basis_points, held_at,
                       announced)
    VALUES ($1, 'held', $2, $3, $4, $5, clock_timestamp(), 1)
    ON CONFLICT DO NOTHING
    RETURNING *
"""


@dataclass(frozen=True, slots=True)
class Witness:
    """What events said of one game; None where nothing was said."""

    game_id: UUID
    seated: tuple[str, ...] | None = None
    started_at: datetime | None = None
    finish: Finish | None = None
    finished_at: datetime | None = None
    closing: Closing | None = None
    closed_at: datetime | None = None


@dataclass(frozen=True, slots=True)
class Settled:
    """A settlement that was done; `shares` is None where no stakes were held."""

    version: int
    payout_rule: str
    rule_version: int
    void: bool
    shares: tuple[int, ...] | None
    fee: int
    transaction_id: UUID | None
    resolved_by: str
    reason: str
    at: datetime


@dataclass(frozen=True, slots=True)
class Dossier:
    """A game, how it was settled, and the transfers of that."""

    game: Game
    settled: Settled | None = None
    transfers: tuple[Transfer, ...] = ()


@dataclass(frozen=True, slots=True)
class Backlog:
    """Games that are over and not paid, and for how long the oldest has been."""

    pending: int
    lag_seconds: float


@dataclass(frozen=True, slots=True)
class Work:
    """One transaction."""

    connection: Connection

    # --- wallets -----------------------------------------------------------------------------

    async def make_wallet(self, player: str) -> None:
        """A wallet, unless there is one."""
        await self.connection.execute(
            "INSERT INTO wallets (player_id) VALUES ($1) ON CONFLICT DO NOTHING", player
        )

    async def wallets(self, players: Sequence[str]) -> dict[str, str]:
        """The status of each that exists; it stays so until the transaction ends."""
        rows = await self.connection.fetch(
            "SELECT player_id, status FROM wallets WHERE player_id = ANY ($1::text[])"
            " ORDER BY player_id FOR SHARE",
            list(players),
        )
        return {row["player_id"]: row["status"] for row in rows}

    async def set_status(self, player: str, status: str, reason: str, operator: str) -> bool:
        """Whether there is such a wallet."""
        row = await self.connection.fetchval(
            "UPDATE wallets SET status = $2, reason = $3, changed_by = $4 WHERE player_id = $1"
            " RETURNING true",
            player,
            status,
            reason,
            operator,
        )
        return row is not None

    async def wallet(self, player: str) -> str | None:
        """The status of a wallet; None where there is none."""
        status: str | None = await self.connection.fetchval(
            "SELECT status FROM wallets WHERE player_id = $1", player
        )
        return status

    # --- games -------------------------------------------------------------------------------

    async def game(self, game_id: UUID) -> Game | None:
        """A game, locked."""
        row = await self.connection.fetchrow(
            "SELECT * FROM games WHERE game_id = $1 FOR UPDATE", game_id
        )
        return None if row is None else _game(row)

    async def hold(self, game_id: UUID, hold: Hold) -> Game | None:
        """Note the stakes of a game of which nothing is known; None where something is."""
        row = await self.connection.fetchrow(
            _HELD, game_id, list(hold.players), hold.currency, hold.stake, hold.fee_basis_points
        )
        return None if row is None else _game(row)

    async def release(self, game_id: UUID) -> None:
        """Note that the stakes went back."""
        await self.connection.execute(
            "UPDATE games SET state = 'released', released = true WHERE game_id = $1", game_id
        )

    async def witness(self, heard: Sequence[Witness]) -> list[Game]:
        """Write down what events said, at most one of each game, and lock the games; what is known
        of them now. What was said first stays."""
        ordered = sorted(heard, key=lambda witness: witness.game_id)
        rows = await self.connection.fetch(
            _WITNESS,
            [each.game_id for each in ordered],
            [None if each.seated is None else json.dumps(each.seated) for each in ordered],
            [each.started_at for each in ordered],
            [each.finish and json.dumps(asdict(each.finish)) for each in ordered],
            [each.finished_at for each in ordered],
            [each.closing and json.dumps(asdict(each.closing)) for each in ordered],
            [each.closed_at for each in ordered],
        )
        return [_game(row) for row in rows]

    async def mismatch(self, problems: Sequence[tuple[Game, Problem]]) -> None:
        """Note that games can't be paid."""
        await self.connection.execute(
            _MISMATCH,
            [game.game_id for game, _ in problems],
            [problem.value for _, problem in problems],
        )

    async def settle(
        self,
        verdicts: Sequence[tuple[Game, Verdict, UUID | None]],
        at: datetime,
        resolved_by: str | None,
        reason: str | None,
    ) -> None:
        """Note that games are paid, each by the transaction that is named.

        Raises UniqueViolationError where one was paid before.
        """
        payouts = [verdict.payout for _, verdict, _ in verdicts]
        await self.connection.execute(
            _SETTLE,
            [game.game_id for game, _, _ in verdicts],
            PAYOUT_VERSION,
            [verdict.payout_rule for _, verdict, _ in verdicts],
            [verdict.rule_version for _, verdict, _ in verdicts],
            [verdict.void for _, verdict, _ in verdicts],
            [payout and " ".join(map(str, payout.shares)) for payout in payouts],
            [payout and payout.fee for payout in payouts],
            [transaction_id for _, _, transaction_id in verdicts],
            resolved_by,
            reason,
            at,
        )

    async def dossier(self, game_id: UUID) -> Dossier | None:
        """All about a game."""
        row = await self.connection.fetchrow("SELECT * FROM games WHERE game_id = $1", game_id)
        if row is None:
            return None
        settled = await self.connection.fetchrow(
            "SELECT * FROM settlements WHERE game_id = $1 ORDER BY version DESC LIMIT 1", game_id
        )
        if settled is None:
            return Dossier(_game(row))
        transfers = await self.connection.fetch(
            "SELECT debit_account, credit_account, amount FROM transfers"
            " WHERE transaction_id = $1 ORDER BY position",
            settled["transaction_id"],
        )
        # The row of the game may be older than that of its settlement: they are two reads.
        row = await self.connection.fetchrow("SELECT * FROM games WHERE game_id = $1", game_id)
        assert row is not None, "games are never deleted"
        return Dossier(_game(row), _settled(settled), tuple(Transfer(*each) for each in transfers))

    async def now(self) -> datetime:
        """The database's time."""
        at: datetime = await self.connection.fetchval("SELECT clock_timestamp()")
        return at


class Looks:
    """What is only looked at."""

    def __init__(self, store: Store) -> None:
        self._store = store

    async def dossier(self, game_id: UUID) -> Dossier | None:
        """All about a game."""
        async with self._store.acquire() as connection:
            return await Work(connection).dossier(game_id)

    async def events(self, game_id: UUID, after: int, limit: int) -> list[Event] | None:
        """What was announced about a game after a sequence number; None for an unknown game."""
        async with self._store.acquire() as connection:
            known = await connection.fetchval("SELECT true FROM games WHERE game_id = $1", game_id)
            if known is None:
                return None
            return await events_after(connection, SUBJECT, game_id, after, limit)

    async def backlog(self) -> Backlog:
        """How far the payments are behind the games."""
        async with self._store.acquire() as connection:
            row = await connection.fetchrow(
                "SELECT count(*) AS pending, coalesce(extract(epoch FROM clock_timestamp()"
                " - min(least(finished_at, closed_at))), 0)::float8 AS lag"
                " FROM games WHERE state IN ('pending', 'mismatch')"
            )
        assert row is not None, "a count is always there"
        return Backlog(row["pending"], max(0.0, row["lag"]))

    async def imbalance(self) -> int:
        """By how much the accounts don't sum to zero."""
        async with self._store.acquire() as connection:
            return await ledger.imbalance(connection)

    async def overdue(self, witness_seconds: float, hold_seconds: float) -> list[UUID]:
        """Games of which an event seems to be missing: one witness has spoken and the other has
        not, or nobody has said anything for long."""
        async with self._store.acquire() as connection:
            rows = await connection.fetch(
                "SELECT game_id FROM games WHERE"
                " (state = 'pending' AND greatest(finished_at, closed_at)"
                "   < clock_timestamp() - make_interval(secs => $1))"
                " OR (state IN ('held', 'started') AND coalesce(started_at, held_at)"
                "   < clock_timestamp() - make_interval(secs => $2))"
                " ORDER BY game_id LIMIT 1000",
                witness_seconds,
                hold_seconds,
            )
        return [row["game_id"] for row in rows]


def _forfeits(values: list[dict[str, Any]]) -> tuple[Forfeit, ...]:
    return tuple(Forfeit(value["seat"], value["reason"]) for value in values)


def _finish(text: str) -> Finish:
    value = json.loads(text)
    value["winners"], value["score"] = tuple(value["winners"]), tuple(value["score"])
    value["forfeits"] = _forfeits(value["forfeits"])
    return Finish(**value)


def _game(row: Record) -> Game:
    hold = None
    if row["stake"] is not None:
        players = tuple(row["players"])
        hold = Hold(players, row["currency"], row["stake"], row["fee_basis_points"])
    closed = row["closed"]
    return Game(
        game_id=row["game_id"],
        state=State(row["state"]),
        hold=hold,
        held_at=row["held_at"],
        released=row["released"],
        seated=None if row["seated"] is None else tuple(row["seated"]),
        finish=None if row["finished"] is None else _finish(row["finished"]),
        closing=None if closed is None else Closing(_forfeits(json.loads(closed)["forfeits"])),
        problem=None if row["problem"] is None else Problem(row["problem"]),
        announced=row["announced"],
    )


def _settled(row: Record) -> Settled:
    return Settled(
        version=row["version"],
        payout_rule=row["payout_rule"],
        rule_version=row["rule_version"],
        void=row["void"],
        shares=None if row["shares"] is None else tuple(row["shares"]),
        fee=row["fee"] or 0,
        transaction_id=row["transaction_id"],
        resolved_by=row["resolved_by"] or "",
        reason=row["reason"] or "",
        at=row["at"],
    )
