"""The tables of `matchmaking`, defined once; migrations/ makes them, storage.py reads and writes
them."""

from __future__ import annotations

from typing import Final

from kafeneio_runtime.tables import outbox_tables
from sqlalchemy import (
    BigInteger,
    CheckConstraint,
    Column,
    DateTime,
    ForeignKey,
    Index,
    Integer,
    MetaData,
    SmallInteger,
    Table,
    Text,
    UniqueConstraint,
    Uuid,
    func,
    text,
)
from sqlalchemy.dialects.postgresql import JSONB

SCHEMA: Final = "matchmaking"
"""Also the channel on which changes of tickets are notified."""

metadata = MetaData()


def _terms() -> tuple[Column[object], ...]:
    """What is to be played and for how much; of a ticket and of a match."""
    return (
        Column("variant", Text, nullable=False),
        Column("edition", Integer, nullable=False),
        Column("options", JSONB, nullable=False),
        Column("target", Integer, nullable=False),
        # Empty where the game is played for nothing.
        Column("currency", Text, nullable=False),
        Column("stake", BigInteger, nullable=False),
        Column("fee_basis_points", Integer, nullable=False),
        Column("seats", SmallInteger, nullable=False),
    )


tickets = Table(
    "tickets",
    metadata,
    Column("ticket_id", Uuid, primary_key=True),
    Column("player_id", Text, nullable=False),
    *_terms(),
    Column("status", Text, nullable=False),
    Column("version", Integer, nullable=False),
    Column("queued_at", DateTime(timezone=True), nullable=False),
    Column("expires_at", DateTime(timezone=True), nullable=False),
    # The match that has it, while it is paired and once it is matched.
    Column("match_id", Uuid),
    Column("game_id", Uuid),
    # Why it led to no game.
    Column("ending", Text),
    Column("changed_at", DateTime(timezone=True), nullable=False, server_default=func.now()),
    # With whom its player wants to sit; empty where with anybody.
    Column("partner", Text, nullable=False, server_default=text("''")),
    # Where he sits among computers; NULL where he plays with others.
    Column("house_seat", SmallInteger),
    CheckConstraint(
        "status IN ('waiting_for_partner', 'queued', 'paired', 'matched', 'ended')", name="status"
    ),
    CheckConstraint("status <> 'waiting_for_partner' OR partner <> ''", name="waits_for_somebody"),
    CheckConstraint("house_seat IS NULL OR (stake = 0 AND partner = '')", name="house"),
    CheckConstraint("(status = 'ended') = (ending IS NOT NULL)", name="ended_for_a_reason"),
    CheckConstraint("(status = 'matched') = (game_id IS NOT NULL)", name="matched_to_a_game"),
    CheckConstraint(
        "(status IN ('paired', 'matched')) = (match_id IS NOT NULL)", name="paired_in_a_match"
    ),
    CheckConstraint("stake >= 0 AND (stake = 0) = (currency = '')", name="stake"),
)
Index(
    "one_live_ticket",
    tickets.c.player_id,
    unique=True,
    postgresql_where=tickets.c.status.in_(("waiting_for_partner", "queued", "paired")),
)
Index(
    "tickets_queued",
    tickets.c.queued_at,
    tickets.c.ticket_id,
    postgresql_where=tickets.c.status == "queued",
)
Index(
    "tickets_expiring",
    tickets.c.expires_at,
    postgresql_where=tickets.c.status.in_(("waiting_for_partner", "queued")),
)

matches = Table(
    "matches",
    metadata,
    Column("match_id", Uuid, primary_key=True),
    Column("game_id", Uuid, nullable=False, unique=True),
    *_terms(),
    Column("status", Text, nullable=False),
    # Until when the game waits for its seats; NULL until `rules` has it.
    Column("join_by", DateTime(timezone=True)),
    # How often the step that is due has been tried without an answer, and when it is due again.
    Column("tries", Integer, nullable=False),
    Column("due_at", DateTime(timezone=True), nullable=False, server_default=func.now()),
    # What the last refusal said, for operators.
    Column("why", Text, nullable=False),
    Column("created_at", DateTime(timezone=True), nullable=False, server_default=func.now()),
    Column("over_at", DateTime(timezone=True)),
    CheckConstraint(
        "status IN ('paired', 'held', 'created', 'matched', 'cancelling', 'releasing', 'undone')",
        name="status",
    ),
)
Index(
    "matches_due",
    matches.c.due_at,
    postgresql_where=matches.c.over_at.is_(None),
)

seats = Table(
    "seats",
    metadata,
    Column("match_id", Uuid, ForeignKey(matches.c.match_id), primary_key=True),
    Column("seat", SmallInteger, primary_key=True),
    # NULL for a computer.
    Column("ticket_id", Uuid, ForeignKey(tickets.c.ticket_id)),
    Column("player_id", Text, nullable=False),
    # Why the player's ticket ends when the match is undone; NULL where it goes back to the queue.
    Column("ending", Text),
    UniqueConstraint("match_id", "player_id", name="one_seat_each"),
)
Index("seats_by_ticket", seats.c.ticket_id)

shared = outbox_tables(metadata)
