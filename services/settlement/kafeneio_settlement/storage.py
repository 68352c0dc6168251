"""Wallets and games in PostgreSQL. Money is in ledger.py.

Whoever changes a game locks its row first, then wallets, then accounts, each kind in one order.
So of two witnesses that come at once the second finds the first, on whichever replica.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Final
from uuid import UUID

from asyncpg import Record
from kafeneio_runtime.bus import Event
from kafeneio_runtime.outbox import events_after
from kafeneio_runtime.store import Connection, Store

from kafeneio_settlement import dossiers
from kafeneio_settlement.domain import PAYOUT_VERSION, Game, Hold, State, Verdict
from kafeneio_settlement.dossiers import Dossier
from kafeneio_settlement.literals import texts
from kafeneio_settlement.rows import closing_text, finish_text, game_of
from kafeneio_settlement.witnesses import Witness

SUBJECT: Final = "settlement.events"
"""Where the events go on the bus."""

_MEET: Final = """
    INSERT INTO games (game_id, state)
    SELECT game_id, 'started' FROM unnest($1::uuid[]) AS game_id ORDER BY game_id
    ON CONFLICT DO NOTHING
"""
_LOCK: Final = "SELECT * FROM games WHERE game_id = ANY ($1::uuid[]) ORDER BY game_id FOR UPDATE"
_NOTED: Final = """
    UPDATE games g SET state = row.state, problem = row.problem,
        announced = g.announced + row.announced,
        seated = coalesce(g.seated, row.seated::text[]),
        started_at = coalesce(g.started_at, row.started_at),
        finished = coalesce(g.finished, row.finished::jsonb),
        finished_at = coalesce(g.finished_at, row.finished_at),
        closed = coalesce(g.closed, row.closed::jsonb),
        closed_at = coalesce(g.closed_at, row.closed_at)
    FROM unnest($1::uuid[], $2::text::text[], $3::text::text[], $4::int[], $5::text::text[],
                $6::timestamptz[], $7::text::text[], $8::timestamptz[], $9::text::text[],
                $10::timestamptz[])
         AS row(game_id, state, problem, announced, seated, started_at, finished, finished_at,
                closed, closed_at)
    WHERE g.game_id = row.game_id
"""
_SETTLED: Final = f"""
    WITH settled AS (
        INSERT INTO settlements (game_id, version, payout_rule, rule_version, void, shares, fee,
            transaction_id, resolved_by, reason, at)
        SELECT game_id, $11, payout_rule, rule_version, void,
               string_to_array(shares, ' ')::bigint[], fee, transaction_id, $18, $19, $20
        FROM unnest($1::uuid[], $12::text::text[], $13::int[], $14::bool[], $15::text::text[],
                    $16::bigint[], $17::uuid[])
             AS row(game_id, payout_rule, rule_version, void, shares, fee, transaction_id)
    )
    {_NOTED}
"""
_HELD: Final = """
    INSERT INTO games (game_id, state, players, currency, stake, fee_basis_points, held_at,
                       announced)
    VALUES ($1, 'held', $2, $3, $4, $5, clock_timestamp(), 1)
    ON CONFLICT DO NOTHING
    RETURNING *
"""
LOOKED_AT: Final = 500
_OVERDUE: Final = """
    SELECT game_id, state, finished IS NOT NULL AS finished, closed IS NOT NULL AS closed FROM games
"""
_HALF_TOLD: Final = f"""
    {_OVERDUE} WHERE state = 'pending'
      AND greatest(finished_at, closed_at) < clock_timestamp() - make_interval(secs => $1)
    ORDER BY greatest(finished_at, closed_at) DESC LIMIT $2
"""
_SILENT: Final = f"""
    {_OVERDUE} WHERE (
        (state = 'started' AND started_at < clock_timestamp() - make_interval(secs => $1))
        OR (state = 'held' AND held_at < clock_timestamp() - make_interval(secs => $2))
    ) AND ($3::uuid IS NULL OR game_id > $3)
    ORDER BY game_id LIMIT $4
"""


@dataclass(frozen=True, slots=True)
class Backlog:
    """Games that are over and not paid, and for how long the oldest has been."""

    pending: int
    lag_seconds: float


@dataclass(frozen=True, slots=True)
class Overdue:
    """A game of which an event seems to be missing, and which witnesses have spoken."""

    game_id: UUID
    state: State
    finished: bool
    closed: bool


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
        """The status of each that exists, "owing" where it owes money of any currency; it is not
        suspended until the transaction ends."""
        rows = await self.connection.fetch(
            "SELECT player_id, CASE WHEN status = 'active' AND EXISTS (SELECT FROM accounts"
            " WHERE account = 'player:' || player_id AND balance < 0) THEN 'owing'"
            " ELSE status END AS status FROM wallets WHERE player_id = ANY ($1::text[])"
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
        return None if row is None else game_of(row)

    async def hold(self, game_id: UUID, hold: Hold) -> Game | None:
        """Note the stakes of a game of which nothing is known; None where something is."""
        row = await self.connection.fetchrow(
            _HELD, game_id, list(hold.players), hold.currency, hold.stake, hold.fee_basis_points
        )
        return None if row is None else game_of(row)

    async def release(self, game_id: UUID) -> None:
        """Note that the stakes went back."""
        await self.connection.execute(
            "UPDATE games SET state = 'released', released = true WHERE game_id = $1", game_id
        )

    async def meet(self, game_ids: Collection[UUID]) -> None:
        """Makes those of the games of which nothing is known; to be committed by itself."""
        await self.connection.execute(_MEET, game_ids)

    async def games(self, game_ids: Collection[UUID]) -> dict[UUID, Game]:
        """Games that are known, locked."""
        rows = await self.connection.fetch(_LOCK, game_ids)
        return {row["game_id"]: game_of(row) for row in rows}

    async def note(self, heard: Sequence[tuple[Game, Witness]]) -> None:
        """Write down what was said of locked games, and the state that each is in now. What was
        said first stays."""
        await self.connection.execute(_NOTED, *_columns(heard, None))

    async def settle(
        self,
        heard: Sequence[tuple[Game, Witness]],
        verdicts: Sequence[tuple[Verdict, UUID | None]],
        at: datetime,
        resolved_by: str | None,
        reason: str | None,
    ) -> None:
        """Write down how locked games are paid, each by the transaction that is named, and what was
        said of them.

        Raises UniqueViolationError where one was paid before.
        """
        payouts = [verdict.payout for verdict, _ in verdicts]
        await self.connection.execute(
            _SETTLED,
            *_columns(heard, State.SETTLED),
            PAYOUT_VERSION,
            texts(verdict.payout_rule for verdict, _ in verdicts),
            [verdict.rule_version for verdict, _ in verdicts],
            [verdict.void for verdict, _ in verdicts],
            texts(
                None if payout is None else " ".join(map(str, payout.shares)) for payout in payouts
            ),
            [payout and payout.fee for payout in payouts],
            [transaction_id for _, transaction_id in verdicts],
            resolved_by,
            reason,
            at,
        )

    async def now(self) -> datetime:
        """The database's time."""
        at: datetime = await self.connection.fetchval("SELECT clock_timestamp()")
        return at


def _columns(heard: Sequence[tuple[Game, Witness]], state: State | None) -> list[object]:
    """What was said of games, in the order of `_NOTED`; `state` is that of all of them, if it is
    given, and announced with what is done."""
    return [
        [game.game_id for game, _ in heard],
        texts((state or game.state).value for game, _ in heard),
        texts(None if game.problem is None else game.problem.value for game, _ in heard),
        [int(state is not None)] * len(heard),
        texts(None if said.seated is None else texts(said.seated) for _, said in heard),
        [said.started_at for _, said in heard],
        texts(finish_text(said.finish) for _, said in heard),
        [said.finished_at for _, said in heard],
        texts(closing_text(said.closing) for _, said in heard),
        [said.closed_at for _, said in heard],
    ]


class Looks:
    """What is only looked at."""

    def __init__(self, store: Store) -> None:
        self._store = store

    async def dossier(self, game_id: UUID) -> Dossier | None:
        """All about a game."""
        async with self._store.snapshot() as connection:
            return await dossiers.dossier(connection, game_id)

    async def events(self, game_id: UUID, after: int, limit: int) -> list[Event] | None:
        """What was announced about a game, or a tournament, after a sequence number; None for an
        unknown one."""
        async with self._store.acquire() as connection:
            known = await connection.fetchval(
                "SELECT true FROM games WHERE game_id = $1"
                " UNION ALL SELECT true FROM prize_pools WHERE tournament_id = $1",
                game_id,
            )
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

    async def half_told(self, seconds: float) -> list[Overdue]:
        """Games of which one witness has spoken so long ago, and the other has not; the latest."""
        async with self._store.acquire() as connection:
            rows = await connection.fetch(_HALF_TOLD, seconds, LOOKED_AT)
        return list(map(_overdue, rows))

    async def silent(
        self, start_seconds: float, hold_seconds: float, after: UUID | None
    ) -> list[Overdue]:
        """Games that started, or were held, so long ago, and no witness has spoken: some of them,
        in the order of their ids, those that follow `after`."""
        async with self._store.acquire() as connection:
            rows = await connection.fetch(_SILENT, start_seconds, hold_seconds, after, LOOKED_AT)
        return list(map(_overdue, rows))


def _overdue(row: Record) -> Overdue:
    return Overdue(row["game_id"], State(row["state"]), row["finished"], row["closed"])
