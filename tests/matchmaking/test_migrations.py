"""What a house finds that was there before tables and tournaments: nobody is in two places, and
what had a game is over."""

from __future__ import annotations

import asyncio
import shutil
from pathlib import Path

import asyncpg
from kafeneio_matchmaking import main
from kafeneio_matchmaking.names import SCHEMA
from kafeneio_matchmaking.schema import metadata
from kafeneio_runtime.migrations import drift, migrate

from tests.fixtures.postgres import Databases, Template

TICKET = """
    INSERT INTO tickets (ticket_id, player_id, variant, edition, options, target, currency, stake,
        fee_basis_points, seats, status, version, queued_at, expires_at, match_id, game_id, ending)
    VALUES (gen_random_uuid(), $1, 'portes', 1, '{}', 1, '', 0, 0, 2, $2, 3, now(), now(),
        CASE WHEN $2 IN ('paired', 'matched') THEN gen_random_uuid() END,
        CASE WHEN $2 = 'matched' THEN gen_random_uuid() END,
        CASE WHEN $2 = 'ended' THEN 'cancelled' END)
"""
MATCH = """
    INSERT INTO matches (match_id, game_id, variant, edition, options, target, currency, stake,
        fee_basis_points, seats, status, tries, why, over_at)
    VALUES (gen_random_uuid(), gen_random_uuid(), 'portes', 1, '{}', 1, '', 0, 0, 2, $1, 0, '',
        CASE WHEN $1 IN ('matched', 'undone') THEN now() END)
"""


async def test_a_house_with_games_is_brought_up_to_date(
    databases: Databases, tmp_path: Path
) -> None:
    for name in ("0001_tickets.py", "0002_parties.py"):
        shutil.copy(main.MIGRATIONS / name, tmp_path)
    before = Template("matchmaking_0002", lambda url: migrate(url, SCHEMA, tmp_path))
    url = await asyncio.to_thread(databases.create, before)
    database = await asyncpg.connect(url, server_settings={"search_path": SCHEMA})
    try:
        # One who has had two games and waits for a third, and others.
        for player, status in (
            ("eleni", "matched"),
            ("eleni", "matched"),
            ("eleni", "queued"),
            ("nikos", "paired"),
            ("maria", "matched"),
            ("petros", "ended"),
        ):
            await database.execute(TICKET, player, status)
        for status in ("matched", "held", "undone"):
            await database.execute(MATCH, status)
        await asyncio.to_thread(main.migrate_database, url)
        tickets = await database.fetch("SELECT player_id, status FROM tickets ORDER BY 1, 2")
        assert [tuple(row) for row in tickets] == [
            ("eleni", "queued"),
            ("eleni", "started"),
            ("eleni", "started"),
            ("maria", "started"),
            ("nikos", "paired"),
            ("petros", "ended"),
        ]
        places = await database.fetch("SELECT player_id, kind FROM places ORDER BY 1")
        assert [tuple(row) for row in places] == [("eleni", "ticket"), ("nikos", "ticket")]
        matches = await database.fetch(
            "SELECT status, source, source_id, over_at IS NULL FROM matches ORDER BY status"
        )
        assert [tuple(row) for row in matches] == [
            ("held", "queue", None, True),
            ("settled", "queue", None, False),
            ("undone", "queue", None, False),
        ]
        assert await asyncio.to_thread(drift, url, SCHEMA, metadata) == []
    finally:
        await database.close()
        await asyncio.to_thread(databases.drop, url)
