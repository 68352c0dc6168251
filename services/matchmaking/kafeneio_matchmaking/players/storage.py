"""Ratings in PostgreSQL. Each function does its statements on the connection that it is given."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Final
from uuid import UUID

from asyncpg import Record
from kafeneio_runtime.store import Connection

from kafeneio_matchmaking.players.domain import SETTLED_GAMES, Rating
from kafeneio_matchmaking.players.ratings import START, Skill, rate, take_back

# In the one order in which everybody locks ratings.
LOCK: Final = """
    SELECT player_id, mu, sigma FROM ratings
    WHERE variant = $1 AND player_id = ANY ($2::text[]) ORDER BY player_id FOR UPDATE
"""
BEGIN: Final = """
    INSERT INTO ratings (variant, player_id, mu, sigma, value, floor, games)
    SELECT $1, player_id, $3, $4, $5, $6, 0 FROM unnest($2::text[]) AS player_id
    ON CONFLICT DO NOTHING
"""
WRITE: Final = """
    UPDATE ratings SET mu = $3, sigma = $4, value = $5, floor = $6, games = games + $7
    WHERE variant = $1 AND player_id = $2
"""
NOTE: Final = """
    INSERT INTO rating_changes (game_id, version, player_id, variant, reversal,
        mu_before, sigma_before, mu_after, sigma_after)
    VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9)
"""
BOARD: Final = """
    SELECT player_id, variant, mu, sigma, floor, games FROM ratings
    WHERE variant = $1 AND games >= $2
        AND ($3::integer IS NULL OR floor < $3 OR (floor = $3 AND player_id > $4))
    ORDER BY floor DESC, player_id LIMIT $5
"""
HISTORY: Final = """
    SELECT * FROM rating_changes
    WHERE player_id = $1 AND ($2 = '' OR variant = $2) AND ($3::bigint IS NULL OR number < $3)
    ORDER BY number DESC LIMIT $4
"""


async def rating_of(
    connection: Connection, variant: str, player_ids: Sequence[str]
) -> dict[str, Rating]:
    """The rating of each of these players in a variant; a newcomer's where he has none."""
    rows = await connection.fetch(
        "SELECT player_id, value, games FROM ratings"
        " WHERE variant = $1 AND player_id = ANY ($2::text[])",
        variant,
        player_ids,
    )
    known = {row["player_id"]: Rating(row["value"], row["games"]) for row in rows}
    return {player: known.get(player, Rating()) for player in player_ids}


# --- looking ---------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Standing:
    """How strong a player is in a variant, and how many games say so."""

    player_id: str
    variant: str
    skill: Skill = START
    games: int = 0


@dataclass(frozen=True, slots=True)
class Change:
    """What a game, or the reversal of what it did, made of a rating."""

    number: int
    game_id: UUID
    variant: str
    reversal: bool
    before: Skill
    after: Skill
    at: datetime


def _standing(row: Record) -> Standing:
    skill = Skill(row["mu"], row["sigma"])
    return Standing(row["player_id"], row["variant"], skill, row["games"])


async def standings(connection: Connection, player_id: str, variant: str) -> list[Standing]:
    """A player's ratings by variant: of one, also a newcomer's; or "" for all that he has
    played."""
    rows = await connection.fetch(
        "SELECT * FROM ratings WHERE player_id = $1 AND ($2 = '' OR variant = $2) AND games > 0"
        " ORDER BY variant",
        player_id,
        variant,
    )
    if variant and not rows:
        return [Standing(player_id, variant)]
    return [_standing(row) for row in rows]


async def history(
    connection: Connection, player_id: str, variant: str, before: int | None, limit: int
) -> list[Change]:
    """How a player's ratings came, the newest first, from before a number on."""
    rows = await connection.fetch(HISTORY, player_id, variant, before, limit)
    return [
        Change(
            row["number"],
            row["game_id"],
            row["variant"],
            row["reversal"],
            Skill(row["mu_before"], row["sigma_before"]),
            Skill(row["mu_after"], row["sigma_after"]),
            row["changed_at"],
        )
        for row in rows
    ]


async def board(
    connection: Connection, variant: str, after: tuple[int, str] | None, limit: int
) -> list[Standing]:
    """Who is not provisional, by floor and then by id, from after (floor, id) on."""
    floor, player_id = after or (None, "")
    rows = await connection.fetch(BOARD, variant, SETTLED_GAMES, floor, player_id, limit)
    return [_standing(row) for row in rows]


# --- changing --------------------------------------------------------------------------------


async def count_game(
    connection: Connection,
    game_id: UUID,
    version: int,
    variant: str,
    players: Sequence[str],
    winners: Sequence[int],
) -> None:
    """A game counts: its players' ratings after it. `version` is the number of this change of the
    game, which the database takes once."""
    newcomer = (START.mu, START.sigma, START.value, START.floor)
    await connection.execute(BEGIN, variant, sorted(players), *newcomer)
    skills = await _locked(connection, variant, players)
    befores = [skills[player] for player in players]
    afters = rate(befores, winners)
    changes = zip(players, befores, afters, strict=True)
    await _write(connection, (game_id, version), variant, list(changes), reversal=False)


async def uncount_game(connection: Connection, game_id: UUID, version: int, counted: int) -> None:
    """A game counts no more: what it did as its change `counted` is taken back as its change
    `version`."""
    rows = await connection.fetch(
        "SELECT * FROM rating_changes WHERE game_id = $1 AND version = $2", game_id, counted
    )
    variant = rows[0]["variant"]
    skills = await _locked(connection, variant, [row["player_id"] for row in rows])
    changes = []
    for row in rows:
        did = (
            Skill(row["mu_before"], row["sigma_before"]),
            Skill(row["mu_after"], row["sigma_after"]),
        )
        current = skills[row["player_id"]]
        changes.append((row["player_id"], current, take_back(current, *did)))
    await _write(connection, (game_id, version), variant, changes, reversal=True)


async def _locked(connection: Connection, variant: str, players: Sequence[str]) -> dict[str, Skill]:
    rows = await connection.fetch(LOCK, variant, players)
    return {row["player_id"]: Skill(row["mu"], row["sigma"]) for row in rows}


async def _write(
    connection: Connection,
    change: tuple[UUID, int],
    variant: str,
    players: Sequence[tuple[str, Skill, Skill]],
    *,
    reversal: bool,
) -> None:
    """Each player's skill before and after a change (the game and its version)."""
    await connection.executemany(
        NOTE,
        [
            (*change, player, variant, reversal, before.mu, before.sigma, after.mu, after.sigma)
            for player, before, after in players
        ],
    )
    games = -1 if reversal else 1
    await connection.executemany(
        WRITE,
        [
            (variant, player, after.mu, after.sigma, after.value, after.floor, games)
            for player, _, after in players
        ],
    )
