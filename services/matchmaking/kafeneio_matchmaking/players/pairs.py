"""What PostgreSQL knows of players who meet each other, and what was found to stand out."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Final
from uuid import UUID

from asyncpg import Record
from kafeneio_runtime.store import Connection

from kafeneio_matchmaking.names import SCHEMA
from kafeneio_matchmaking.players.conduct import (
    LEAST_LEFT_PAIR,
    WINDOW,
    Activity,
    Flag,
    FlagKind,
    House,
    Meetings,
    flags,
)
from kafeneio_matchmaking.players.domain import NEWCOMER
from kafeneio_matchmaking.players.ratings import Skill

EVIDENCE: Final = 20
"""So many games are named at the most."""

# Every seat of every game that counts, since $1: decided (perhaps by a correction), and without
# computers from the start. Of four, two who win together are partners, and so are the others.
SEATS: Final = """
    WITH decided AS (
        SELECT *, CASE WHEN settlement >= 2 THEN correction ELSE winners END AS won
        FROM played_games
        WHERE finished_at >= $1 AND players IS NOT NULL AND NOT computers
    ), games AS (
        SELECT *, cardinality(players) = 4 AND cardinality(won) = 2
            AND (won @> '{0,2}' OR won @> '{1,3}') AS partners
        FROM decided WHERE won IS NOT NULL
    ), sat AS (
        SELECT g.game_id, g.variant, g.finished_at, g.partners, s.player_id,
            s.number - 1 AS seat, cardinality(g.players) AS size,
            (s.number - 1) = ANY (g.won) AS won, (s.number - 1) = ANY (g.left_seats) AS gone,
            coalesce(p.currency, '') AS currency, coalesce(p.net, 0) AS net
        FROM games AS g CROSS JOIN unnest(g.players) WITH ORDINALITY AS s (player_id, number)
        LEFT JOIN played_seats AS p ON p.game_id = g.game_id AND p.seat = s.number - 1
    )
"""
AGAINST: Final = "NOT (a.partners AND (a.seat - b.seat) % 2 = 0)"

ACTIVITIES: Final = f"""
    {SEATS}
    SELECT variant, player_id, count(*) AS games,
        sum(CASE WHEN partners THEN 2 ELSE size - 1 END) AS met,
        count(*) FILTER (WHERE gone) AS gone
    FROM sat GROUP BY variant, player_id
"""
# $2 is the one pair that is asked for, or empty for all that have met $3 times.
MEETINGS: Final = f"""
    {SEATS}, met AS (
        SELECT a.variant, a.player_id AS one, b.player_id AS other, count(*) AS games,
            (array_agg(game_id ORDER BY a.finished_at, game_id))[1] AS first_game,
            count(*) FILTER (WHERE a.currency <> '' AND a.won AND NOT b.won) AS won,
            count(*) FILTER (WHERE a.currency <> '' AND b.won AND NOT a.won) AS other_won,
            count(*) FILTER (WHERE a.gone) AS gone, count(*) FILTER (WHERE b.gone) AS other_gone
        FROM sat AS a JOIN sat AS b USING (game_id)
        WHERE {AGAINST} AND CASE WHEN cardinality($2::text[]) = 0 THEN a.player_id < b.player_id
            ELSE a.player_id = $2[1] AND b.player_id = $2[2] END
        GROUP BY a.variant, a.player_id, b.player_id
    )
    SELECT met.*, x.mu_before AS mu, y.mu_before AS other_mu FROM met
    LEFT JOIN rating_changes AS x
        ON x.game_id = met.first_game AND x.version = 1 AND x.player_id = met.one
    LEFT JOIN rating_changes AS y
        ON y.game_id = met.first_game AND y.version = 1 AND y.player_id = met.other
    WHERE (SELECT sum(games) FROM met AS m WHERE (m.one, m.other) = (met.one, met.other)) >= $3
"""
FLOWS: Final = f"""
    {SEATS}
    SELECT a.currency, sum(a.net)::bigint AS one, sum(b.net)::bigint AS other
    FROM sat AS a JOIN sat AS b USING (game_id)
    WHERE a.player_id = $2 AND b.player_id = $3 AND {AGAINST} AND a.currency <> ''
        AND a.won <> b.won
    GROUP BY a.currency ORDER BY a.currency
"""
PARTNERSHIPS: Final = f"""
    {SEATS}
    SELECT count(*) FROM sat AS a JOIN sat AS b USING (game_id)
    WHERE a.player_id = $2 AND b.player_id = $3 AND NOT {AGAINST}
"""
GAMES_OF_PAIR: Final = f"""
    {SEATS}
    SELECT game_id FROM sat AS a JOIN sat AS b USING (game_id)
    WHERE a.player_id = $2 AND b.player_id = $3 AND {AGAINST}
        AND CASE $4 WHEN 'one_way_flow' THEN a.currency <> '' AND a.won AND NOT b.won
            WHEN 'leaves' THEN a.gone ELSE true END
    ORDER BY a.finished_at DESC, game_id DESC LIMIT $5
"""
GAMES_LEFT: Final = f"""
    {SEATS}
    SELECT game_id FROM sat WHERE player_id = $2 AND gone
    ORDER BY finished_at DESC, game_id DESC LIMIT $3
"""

KEEP: Final = """
    INSERT INTO pair_flags (kind, player_id, other_id, count, games, expected, surprise, game_ids,
        first_flagged_at, computed_at)
    VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $9)
    ON CONFLICT (kind, player_id, other_id) DO UPDATE SET count = excluded.count,
        games = excluded.games, expected = excluded.expected, surprise = excluded.surprise,
        game_ids = excluded.game_ids, computed_at = excluded.computed_at
"""
FLAGS: Final = """
    SELECT * FROM pair_flags
    WHERE ($1 = '' OR kind = $1) AND ($2 = '' OR $2 IN (player_id, other_id))
        AND ($3::float8 IS NULL OR (-surprise, kind, player_id, other_id) > (-$3, $4, $5, $6))
    ORDER BY -surprise, kind, player_id, other_id LIMIT $7
"""


@dataclass(frozen=True, slots=True)
class Flagged:
    """A flag with its evidence, the newest games first."""

    flag: Flag
    game_ids: tuple[UUID, ...]
    first_flagged_at: datetime
    computed_at: datetime


@dataclass(frozen=True, slots=True)
class PairStatistics:
    """The numbers of two players; pairs of numbers are in the order in which they were named.
    `flow` is by currency what each has won off the other one."""

    since: datetime
    players: tuple[str, str]
    meetings: int
    expected: float
    partnerships: int
    games: tuple[int, int]
    left: tuple[int, int]
    left_against: tuple[int, int]
    won_against: tuple[int, int]
    flow: Mapping[str, tuple[int, int]]
    game_ids: tuple[UUID, ...]


async def _activities(connection: Connection, since: datetime) -> list[Activity]:
    rows = await connection.fetch(ACTIVITIES, since)
    return [
        Activity(row["variant"], row["player_id"], row["games"], row["met"], row["gone"])
        for row in rows
    ]


async def _meetings(
    connection: Connection, since: datetime, pair: Sequence[str], least: int
) -> list[Meetings]:
    rows = await connection.fetch(MEETINGS, since, pair, least)
    return [
        Meetings(
            row["variant"],
            (row["one"], row["other"]),
            row["games"],
            (row["won"], row["other_won"]),
            (row["gone"], row["other_gone"]),
            (_value(row["mu"]), _value(row["other_mu"])),
        )
        for row in rows
    ]


def _value(mu: float | None) -> int:
    return NEWCOMER if mu is None else Skill(mu).value


async def compute_flags(connection: Connection, now: datetime) -> int:
    """Look for what stands out, in a transaction, and keep that and nothing else; how much it is.
    Where another transaction is at it, nothing is done."""
    lock = "SELECT pg_try_advisory_xact_lock(hashtextextended($1, 0))"
    if not await connection.fetchval(lock, f"{SCHEMA}.flags"):
        return 0
    since = now - WINDOW
    meetings = await _meetings(connection, since, (), LEAST_LEFT_PAIR)
    found = flags(await _activities(connection, since), meetings)
    for flag in found:
        await connection.execute(
            KEEP,
            *(flag.kind.value, flag.player_id, flag.other_id, flag.count, flag.games),
            *(flag.expected, flag.surprise, await _evidence(connection, since, flag), now),
        )
    await connection.execute("DELETE FROM pair_flags WHERE computed_at < $1", now)
    return len(found)


async def _evidence(connection: Connection, since: datetime, flag: Flag) -> list[UUID]:
    if flag.kind is FlagKind.LEAVES_OFTEN:
        rows = await connection.fetch(GAMES_LEFT, since, flag.player_id, EVIDENCE)
    else:
        pair = flag.player_id, flag.other_id
        rows = await connection.fetch(GAMES_OF_PAIR, since, *pair, flag.kind.value, EVIDENCE)
    return [row["game_id"] for row in rows]


async def flagged(
    connection: Connection,
    kind: FlagKind | None,
    player_id: str,
    after: tuple[float, str, str, str] | None,
    limit: int,
) -> list[Flagged]:
    """What stands out, of one kind and one player or of all, the most surprising first, from after
    (surprise, kind, player, other) on."""
    only = "" if kind is None else kind.value
    rows = await connection.fetch(FLAGS, only, player_id, *(after or (None, "", "", "")), limit)
    return [_flagged(row) for row in rows]


def _flagged(row: Record) -> Flagged:
    flag = Flag(
        FlagKind(row["kind"]),
        row["player_id"],
        row["other_id"],
        row["count"],
        row["games"],
        row["expected"],
        row["surprise"],
    )
    game_ids = tuple(row["game_ids"])
    return Flagged(flag, game_ids, row["first_flagged_at"], row["computed_at"])


async def statistics(
    connection: Connection, players: tuple[str, str], now: datetime
) -> PairStatistics:
    """The numbers of two players."""
    since = now - WINDOW
    house = House(await _activities(connection, since))
    meetings = await _meetings(connection, since, players, 1)
    flows = await connection.fetch(FLOWS, since, *players)
    partnerships: int = await connection.fetchval(PARTNERSHIPS, since, *players)
    games = await connection.fetch(GAMES_OF_PAIR, since, *players, "meets_often", EVIDENCE)
    one, other = players
    return PairStatistics(
        since=since,
        players=players,
        meetings=sum(each.games for each in meetings),
        expected=house.expected_in_all(players),
        partnerships=partnerships,
        games=(house.games[one], house.games[other]),
        left=(house.left[one], house.left[other]),
        left_against=(sum(x.left[0] for x in meetings), sum(x.left[1] for x in meetings)),
        won_against=(sum(x.won[0] for x in meetings), sum(x.won[1] for x in meetings)),
        flow={row["currency"]: (row["one"], row["other"]) for row in flows},
        game_ids=tuple(row["game_id"] for row in games),
    )
