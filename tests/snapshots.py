"""What a database holds, to see that nothing has changed."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TypeAlias

import asyncpg

Snapshot: TypeAlias = dict[str, tuple[int, str]]


async def snapshot(
    database: asyncpg.Connection[asyncpg.Record], tables: Mapping[str, str]
) -> Snapshot:
    """How many rows each table has, and a hash of them all; `tables` are name -> columns."""
    found: Snapshot = {}
    for table, columns in tables.items():
        row = await database.fetchrow(
            "SELECT count(*), coalesce(md5(string_agg(r::text, '|' ORDER BY r::text)), '')"
            f" FROM (SELECT {columns} FROM {table}) AS r"
        )
        assert row is not None
        found[table] = (row[0], row[1])
    return found
