"""Who may enter, and whom he may meet: suspensions, exclusions, limits and block lists in
PostgreSQL. Each function does its statements on the connection that it is given.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence, Set
from dataclasses import dataclass
from datetime import datetime
from typing import Final
from uuid import UUID

from asyncpg import Record
from kafeneio_runtime.store import Connection

from kafeneio_matchmaking.players.domain import NO_LIMIT, Key, Kind, Limit, Usage, day_of

HOLDS: Final = "(lifted_at IS NULL AND (until IS NULL OR until > clock_timestamp()))"
"""Of a row of `suspensions`: whether it holds now."""

BARRED: Final = f"""
    SELECT player_id FROM suspensions WHERE {HOLDS}
    UNION ALL SELECT player_id FROM exclusions WHERE until > clock_timestamp()
"""
"""Who may enter nothing now."""

SHARE: Final = """
    SELECT pg_advisory_xact_lock_shared(hashtextextended('matchmaking.player' || player_id, 0))
    FROM unnest($1::text[]) AS player_id
"""
LIMITED: Final = """
    SELECT pg_advisory_xact_lock(hashtextextended('matchmaking.limits' || player_id, 0))
    FROM unnest($1::text[]) AS player_id
"""
OWN: Final = "SELECT pg_advisory_xact_lock(hashtextextended('matchmaking.player' || $1, 0))"

# Without an end comes first: it is the one that counts.
BARS: Final = f"""
    SELECT player_id, true AS suspended, until FROM suspensions
    WHERE player_id = ANY ($1::text[]) AND {HOLDS}
    UNION ALL
    SELECT player_id, false, until FROM exclusions
    WHERE player_id = ANY ($1::text[]) AND until > clock_timestamp()
    ORDER BY player_id, suspended DESC, until DESC NULLS FIRST
"""

# What the stakes of a game are is known as soon as it is paired. A void one gave them back. An
# entry fee is a stake, too; what prize it brings is not known here.
STAKED: Final = """
    SELECT currency, sum(stake)::bigint AS staked,
        sum(stake) FILTER (WHERE open)::bigint AS open
    FROM (
        SELECT m.currency, m.stake, p.settled_at IS NULL AS open
        FROM seats AS s JOIN matches AS m USING (match_id)
        LEFT JOIN played_games AS g ON g.game_id = m.game_id
        LEFT JOIN played_seats AS p ON p.game_id = m.game_id AND p.seat = s.seat
        WHERE s.player_id = $1 AND m.stake > 0 AND m.created_at >= $2
            AND m.status NOT IN ('releasing', 'undone')
            AND NOT (g.finished_at IS NOT NULL AND g.winners IS NULL)
        UNION ALL
        SELECT t.currency, t.stake, true
        FROM tournament_players AS p JOIN tournament_entries AS e USING (entry_id)
        JOIN tournaments AS t ON t.tournament_id = e.tournament_id
        WHERE p.player_id = $1 AND p.live AND t.stake > 0 AND e.registered_at >= $2
            AND e.status NOT IN ('waiting_for_partner', 'leaving', 'ended')
            AND t.status NOT IN ('cancelling', 'cancelled')
    ) AS committed
    GROUP BY currency
"""
# What he has agreed to and may be paired or begun at any moment; from then on it is in a match.
WAITED_FOR: Final = """
    SELECT currency, sum(stake)::bigint AS stake FROM (
        SELECT currency, stake FROM tickets
        WHERE player_id = $1 AND status IN ('waiting_for_partner', 'queued')
        UNION ALL
        SELECT t.currency, t.stake FROM places AS p JOIN tables AS t ON t.table_id = p.id
        JOIN chairs AS c ON c.table_id = t.table_id AND c.player_id = p.player_id
        WHERE p.player_id = $1 AND p.kind = 'table' AND c.ready AND t.status = 'open'
    ) AS waits
    WHERE stake > 0 GROUP BY currency
"""
WON: Final = """
    SELECT currency, sum(net)::bigint AS won FROM played_seats
    WHERE player_id = $1 AND settled_at >= $2 AND currency <> '' GROUP BY currency
"""
# Somebody at two tables at once sits no longer than he does at one.
SAT: Final = """
    SELECT coalesce(sum(upper(span) - lower(span)), interval '0')
    FROM unnest((
        SELECT range_agg(tstzrange(greatest(started_at, $2),
            greatest(coalesce(finished_at, $3), $2, started_at)))
        FROM played_seats
        WHERE player_id = $1 AND started_at > $2 - interval '1 day' AND started_at <= $3
            AND (finished_at IS NULL OR finished_at > $2)
    )) AS span
"""


# --- entering --------------------------------------------------------------------------------


async def hold_still(connection: Connection, players: Sequence[str]) -> None:
    """Nobody suspends or excludes any of these players until the end of the transaction."""
    await connection.execute(SHARE, sorted(players))


async def in_turn(connection: Connection, players: Sequence[str]) -> None:
    """What others enter for these players at the same time waits, and is then counted."""
    await connection.execute(LIMITED, sorted(players))


async def keep_out(connection: Connection, player_id: str) -> None:
    """Nobody lets this player in until the end of the transaction."""
    await connection.execute(OWN, player_id)


@dataclass(frozen=True, slots=True)
class Bar:
    """Why a player may enter nothing: he is `suspended`, or has excluded himself; `until` is None
    where it has no end."""

    player_id: str
    suspended: bool
    until: datetime | None


async def bars(connection: Connection, players: Sequence[str]) -> list[Bar]:
    """What keeps these players out now; of a player the longest suspension comes first."""
    rows = await connection.fetch(BARS, players)
    return [Bar(row["player_id"], row["suspended"], row["until"]) for row in rows]


# --- limits ----------------------------------------------------------------------------------


async def limits_of(connection: Connection, players: Sequence[str]) -> dict[str, dict[Key, Limit]]:
    """The limits of those of the players who have any."""
    rows = await connection.fetch(
        "SELECT * FROM limits WHERE player_id = ANY ($1::text[])"
        " ORDER BY player_id, kind, currency",
        players,
    )
    found: defaultdict[str, dict[Key, Limit]] = defaultdict(dict)
    for row in rows:
        key = Kind(row["kind"]), row["currency"]
        found[row["player_id"]][key] = Limit(row["amount"], row["next_from"], row["next_amount"])
    return dict(found)


async def write_limits(connection: Connection, player_id: str, limits: Mapping[Key, Limit]) -> None:
    """These, and no others."""
    await connection.execute("DELETE FROM limits WHERE player_id = $1", player_id)
    await connection.executemany(
        "INSERT INTO limits (player_id, kind, currency, amount, next_from, next_amount)"
        " VALUES ($1, $2, $3, $4, $5, $6)",
        [
            (player_id, kind.value, currency, limit.now, limit.since, limit.then)
            for (kind, currency), limit in limits.items()
            if limit != NO_LIMIT
        ],
    )


async def usage_of(connection: Connection, player_id: str, now: datetime) -> Usage:
    """What a player has done today."""
    day, _ = day_of(now)
    staked = await connection.fetch(STAKED, player_id, day)
    won = await connection.fetch(WON, player_id, day)
    played = await connection.fetchval(SAT, player_id, day, now)
    lost = {row["currency"]: -row["won"] for row in won}
    for row in staked:
        lost[row["currency"]] = lost.get(row["currency"], 0) + (row["open"] or 0)
    return Usage({row["currency"]: row["staked"] for row in staked}, lost, played)


async def waits_for(connection: Connection, player_id: str) -> dict[str, int]:
    """The stakes, by currency, of the game for which a player waits, in the queue or at a table."""
    rows = await connection.fetch(WAITED_FOR, player_id)
    return {row["currency"]: row["stake"] for row in rows}


async def excluded_until(connection: Connection, player_id: str) -> datetime | None:
    """Until when a player has excluded himself; None where he has not, or it is over."""
    found: datetime | None = await connection.fetchval(
        "SELECT until FROM exclusions WHERE player_id = $1 AND until > clock_timestamp()", player_id
    )
    return found


async def exclude(connection: Connection, player_id: str, until: datetime) -> None:
    """A player enters nothing until then."""
    await connection.execute(
        "INSERT INTO exclusions (player_id, until) VALUES ($1, $2)"
        " ON CONFLICT (player_id) DO UPDATE SET until = excluded.until",
        player_id,
        until,
    )


# --- suspensions -----------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Suspension:
    """Why a player is kept out, by whom, and until when (None: until it is lifted)."""

    suspension_id: UUID
    player_id: str
    reason: str
    suspended_by: str
    suspended_at: datetime
    until: datetime | None
    lifted_by: str | None
    lifted_at: datetime | None
    lift_reason: str | None
    holds: bool


def _suspension(row: Record) -> Suspension:
    return Suspension(**dict(row))


async def suspend(
    connection: Connection,
    suspension_id: UUID,
    player_id: str,
    reason: str,
    operator: str,
    until: datetime | None,
) -> Suspension:
    """A new suspension."""
    row = await connection.fetchrow(
        "INSERT INTO suspensions (suspension_id, player_id, reason, suspended_by, until)"
        f" VALUES ($1, $2, $3, $4, $5) RETURNING *, {HOLDS} AS holds",
        *(suspension_id, player_id, reason, operator, until),
    )
    assert row is not None, "it was inserted"
    return _suspension(row)


async def find_suspension(connection: Connection, suspension_id: UUID) -> Suspension | None:
    """A suspension, locked until the end of the transaction."""
    row = await connection.fetchrow(
        f"SELECT *, {HOLDS} AS holds FROM suspensions WHERE suspension_id = $1 FOR UPDATE",
        suspension_id,
    )
    return None if row is None else _suspension(row)


async def lift(
    connection: Connection, suspension_id: UUID, operator: str, reason: str
) -> Suspension:
    """A suspension that was found to hold, after its end."""
    row = await connection.fetchrow(
        "UPDATE suspensions SET lifted_by = $2, lifted_at = clock_timestamp(), lift_reason = $3"
        f" WHERE suspension_id = $1 RETURNING *, {HOLDS} AS holds",
        *(suspension_id, operator, reason),
    )
    assert row is not None, "it is locked"
    return _suspension(row)


async def suspensions(
    connection: Connection, player_id: str, only_holding: bool, before: UUID | None, limit: int
) -> list[Suspension]:
    """Suspensions of one player, or "" for all, the newest first, from before an id on."""
    rows = await connection.fetch(
        f"SELECT *, {HOLDS} AS holds FROM suspensions WHERE ($1 = '' OR player_id = $1)"
        f" AND (NOT $2::boolean OR {HOLDS}) AND ($3::uuid IS NULL OR suspension_id < $3)"
        " ORDER BY suspension_id DESC LIMIT $4",
        *(player_id, only_holding, before, limit),
    )
    return [_suspension(row) for row in rows]


# --- blocks ----------------------------------------------------------------------------------


async def block(connection: Connection, player_id: str, blocked_id: str, most: int) -> bool:
    """One player does not want to meet another one; False where he has blocked too many."""
    await keep_out(connection, player_id)  # two calls at once would each find room for one more
    others: int = await connection.fetchval(
        "SELECT count(*) FROM blocks WHERE player_id = $1 AND blocked_id <> $2",
        *(player_id, blocked_id),
    )
    if others >= most:
        return False
    await connection.execute(
        "INSERT INTO blocks (player_id, blocked_id) VALUES ($1, $2) ON CONFLICT DO NOTHING",
        *(player_id, blocked_id),
    )
    return True


async def unblock(connection: Connection, player_id: str, blocked_id: str) -> None:
    """He has changed his mind."""
    await connection.execute(
        "DELETE FROM blocks WHERE player_id = $1 AND blocked_id = $2", player_id, blocked_id
    )


async def blocked_by(
    connection: Connection, player_id: str, after: str, limit: int
) -> list[tuple[str, datetime]]:
    """Whom a player has blocked, and since when, by id, from after one on."""
    rows = await connection.fetch(
        "SELECT blocked_id, blocked_at FROM blocks WHERE player_id = $1 AND blocked_id > $2"
        " ORDER BY blocked_id LIMIT $3",
        *(player_id, after, limit),
    )
    return [(row["blocked_id"], row["blocked_at"]) for row in rows]


async def blocks_among(connection: Connection, players: Sequence[str]) -> dict[str, Set[str]]:
    """Which of the players are not to meet, whoever of two has blocked the other."""
    rows = await connection.fetch(
        "SELECT player_id, blocked_id FROM blocks WHERE player_id = ANY ($1::text[])"
        " AND blocked_id = ANY ($1::text[])",
        players,
    )
    found: defaultdict[str, set[str]] = defaultdict(set)
    for row in rows:
        found[row["player_id"]].add(row["blocked_id"])
        found[row["blocked_id"]].add(row["player_id"])
    return dict(found)
