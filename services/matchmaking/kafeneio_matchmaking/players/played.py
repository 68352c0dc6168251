"""What is heard of games, whoever made them: who played, who won, what it was worth, and what it
does to the ratings.

A game's row says what was heard so far, and which result counts in the ratings. After each event
these are compared, so it does not matter in which order events come.
"""

from __future__ import annotations

from typing import Final, TypeVar
from uuid import UUID

from kafeneio.rules.v1.events_pb2 import GameEvent
from kafeneio.settlement.v1.events_pb2 import SettlementEvent
from kafeneio_runtime.store import Connection

from kafeneio_matchmaking import wire
from kafeneio_matchmaking.domain import COMPUTER
from kafeneio_matchmaking.players.domain import Played
from kafeneio_matchmaking.players.storage import count_game, uncount_game
from kafeneio_matchmaking.storage import Work

T = TypeVar("T")

STARTED: Final = """
    INSERT INTO played_games (game_id, variant, players, computers, started_at)
    VALUES ($1, $2, $3, $4, $5)
    ON CONFLICT (game_id) DO UPDATE SET variant = excluded.variant, players = excluded.players,
        computers = excluded.computers, started_at = excluded.started_at
"""
SAT_DOWN: Final = """
    INSERT INTO played_seats (game_id, seat, player_id, started_at, finished_at)
    SELECT g.game_id, s.seat - 1, s.player_id, g.started_at, g.finished_at
    FROM played_games AS g, unnest(g.players) WITH ORDINALITY AS s (player_id, seat)
    WHERE g.game_id = $1 AND NOT starts_with(s.player_id, $2)
    ON CONFLICT (game_id, seat) DO UPDATE
    SET started_at = excluded.started_at, finished_at = excluded.finished_at
"""
FINISHED: Final = """
    INSERT INTO played_games (game_id, variant, finished_at, winners, left_seats)
    VALUES ($1, $2, $3, $4, $5)
    ON CONFLICT (game_id) DO UPDATE SET variant = excluded.variant,
        finished_at = excluded.finished_at, winners = excluded.winners,
        left_seats = excluded.left_seats
"""
STOOD_UP: Final = "UPDATE played_seats SET finished_at = $2 WHERE game_id = $1"

SETTLED: Final = """
    INSERT INTO played_games AS g (game_id, settlement, correction) VALUES ($1, $2, $3)
    ON CONFLICT (game_id) DO UPDATE
    SET settlement = excluded.settlement, correction = excluded.correction
    WHERE g.settlement < excluded.settlement
    RETURNING true
"""
# A correction changes what a game was worth, and not on which day that counts.
PAID: Final = """
    INSERT INTO played_seats AS s (game_id, seat, player_id, settled_at, currency, net)
    VALUES ($1, $2, $3, $4, $5, $6)
    ON CONFLICT (game_id, seat) DO UPDATE SET settled_at = least(s.settled_at, excluded.settled_at),
        currency = excluded.currency, net = excluded.net
"""
PAID_BEFORE: Final = """
    UPDATE played_seats SET settled_at = least(settled_at, $2)
    WHERE game_id = $1 AND settled_at IS NOT NULL
"""
FIND: Final = "SELECT * FROM played_games WHERE game_id = $1 FOR UPDATE"
RATED: Final = "UPDATE played_games SET rated = $2, ratings_version = $3 WHERE game_id = $1"

FIRST_CORRECTION: Final = 2
"""The first settlement of a game is its payout."""


async def hear_game(work: Work, event: GameEvent) -> None:
    """GameStarted and GameFinished."""
    game_id, at = UUID(event.game_id), wire.moment(event.occurred_at)
    connection = work.connection
    if event.HasField("game_started"):
        started = event.game_started
        computers = bool(started.computer_seats)
        players = list(started.player_ids)
        await connection.execute(STARTED, game_id, started.variant, players, computers, at)
        await connection.execute(SAT_DOWN, game_id, COMPUTER)
    else:
        finished = event.game_finished
        winners = list(finished.decided.winners) if finished.HasField("decided") else None
        gone = [forfeit.seat for forfeit in finished.forfeits]
        await connection.execute(FINISHED, game_id, finished.variant, at, winners, gone)
        await connection.execute(STOOD_UP, game_id, at)
    await _rate(connection, game_id)


async def hear_money(work: Work, event: SettlementEvent) -> None:
    """GameSettled and SettlementCorrected."""
    game_id, connection = UUID(event.game_id), work.connection
    if event.HasField("game_settled"):
        paid = event.game_settled
        version, nets, winners = paid.settlement_version, paid.nets, None
    else:
        corrected = event.settlement_corrected
        version, nets = corrected.settlement_version, corrected.nets
        winners = None if corrected.void else list(corrected.winners)
    at = wire.moment(event.occurred_at)
    if not await connection.fetchval(SETTLED, game_id, version, winners):
        await connection.execute(PAID_BEFORE, game_id, at)
        return
    rows = [
        (game_id, seat, net.player_id, at, net.amount.currency_code, net.amount.minor_units)
        for seat, net in enumerate(nets)
    ]
    await connection.executemany(PAID, rows)
    await _rate(connection, game_id)


def _listed(values: list[T] | None) -> tuple[T, ...] | None:
    return None if values is None else tuple(values)


async def _rate(connection: Connection, game_id: UUID) -> None:
    """See to it that the ratings count what the game's result is now."""
    row = await connection.fetchrow(FIND, game_id)
    assert row is not None, "it was written just now"
    played = Played(
        players=_listed(row["players"]),
        computers=row["computers"],
        winners=_listed(row["winners"]),
        corrected=row["settlement"] >= FIRST_CORRECTION,
        correction=_listed(row["correction"]),
        rated=_listed(row["rated"]),
    )
    if played.result == played.rated:
        return
    version = counted = row["ratings_version"]
    if played.rated is not None:
        version += 1
        await uncount_game(connection, game_id, version, counted)
    if played.result is not None and played.players is not None:
        version += 1
        await count_game(
            connection, game_id, version, row["variant"], played.players, played.result
        )
    await connection.execute(RATED, game_id, played.result, version)
