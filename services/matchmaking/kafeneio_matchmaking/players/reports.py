"""What players tell of each other, in PostgreSQL."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Final
from uuid import UUID

from asyncpg import Record
from kafeneio_runtime.store import Connection

REPORT: Final = """
    INSERT INTO reports (report_id, reporter_id, player_id, game_id, variant, category, text)
    VALUES ($1, $2, $3, $4, $5, $6, $7) ON CONFLICT ON CONSTRAINT one_report DO NOTHING
    RETURNING *
"""
PAGE: Final = """
    SELECT * FROM reports
    WHERE ($1::boolean IS NULL OR (closed_at IS NULL) = $1) AND ($2 = '' OR player_id = $2)
        AND ($3::uuid IS NULL OR report_id < $3)
    ORDER BY report_id DESC LIMIT $4
"""


class Category(StrEnum):
    """What a report is about."""

    COLLUSION = "collusion"
    DISTURBANCE = "disturbance"
    SOFTWARE = "software"
    UNFAIR_TALK = "unfair_talk"
    SEVERAL_SEATS = "several_seats"
    HARASSMENT = "harassment"
    OTHER = "other"


@dataclass(frozen=True, slots=True)
class Report:
    """What one player has told of another, and what an operator made of it; None while nobody has
    closed it."""

    report_id: UUID
    reporter_id: str
    player_id: str
    game_id: UUID
    variant: str
    category: Category
    text: str
    reported_at: datetime
    closed_by: str | None
    closed_at: datetime | None
    outcome: str | None


@dataclass(frozen=True, slots=True)
class NewReport:
    """A report that is to be made, see Report."""

    report_id: UUID
    reporter_id: str
    player_id: str
    game_id: UUID
    category: Category
    text: str


def _report(row: Record) -> Report:
    return Report(**{**dict(row), "category": Category(row["category"])})


async def players_of(connection: Connection, game_id: UUID) -> tuple[str, tuple[str, ...]] | None:
    """The variant of a game, and who sat in it from its start; None where none has started."""
    row = await connection.fetchrow(
        "SELECT variant, players FROM played_games WHERE game_id = $1 AND players IS NOT NULL",
        game_id,
    )
    return None if row is None else (row["variant"], tuple(row["players"]))


async def report(connection: Connection, new: NewReport, variant: str) -> Report | None:
    """The report; None where there is one of that player and game by the same one."""
    row = await connection.fetchrow(
        REPORT,
        *(new.report_id, new.reporter_id, new.player_id, new.game_id, variant),
        *(new.category.value, new.text),
    )
    return None if row is None else _report(row)


async def reported(connection: Connection, new: NewReport) -> UUID:
    """The report that stands in the way of a new one."""
    found: UUID = await connection.fetchval(
        "SELECT report_id FROM reports WHERE reporter_id = $1 AND player_id = $2 AND game_id = $3",
        *(new.reporter_id, new.player_id, new.game_id),
    )
    return found


async def find(connection: Connection, report_id: UUID) -> Report | None:
    """A report, locked until the end of the transaction."""
    row = await connection.fetchrow(
        "SELECT * FROM reports WHERE report_id = $1 FOR UPDATE", report_id
    )
    return None if row is None else _report(row)


async def close(connection: Connection, report_id: UUID, operator: str, outcome: str) -> Report:
    """A report that was found to be open, after an operator has closed it."""
    row = await connection.fetchrow(
        "UPDATE reports SET closed_by = $2, closed_at = clock_timestamp(), outcome = $3"
        " WHERE report_id = $1 RETURNING *",
        *(report_id, operator, outcome),
    )
    assert row is not None, "it is locked"
    return _report(row)


async def page(
    connection: Connection, only_open: bool | None, player_id: str, before: UUID | None, limit: int
) -> list[Report]:
    """Reports, open or closed or (None) both, of one player or "" for all, the newest first, from
    before an id on."""
    rows = await connection.fetch(PAGE, only_open, player_id, before, limit)
    return [_report(row) for row in rows]
