"""The tables of `matchmaking`, defined once; migrations/ makes them, storage.py reads and writes
them."""

from __future__ import annotations

from kafeneio_runtime.tables import audit_table, outbox_tables
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

from kafeneio_matchmaking.players.schema import player_tables
from kafeneio_matchmaking.seating.schema import seating_tables
from kafeneio_matchmaking.tournaments.schema import tournament_tables

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
        "status IN ('waiting_for_partner', 'queued', 'paired', 'matched', 'started', 'ended')",
        name="status",
    ),
    CheckConstraint("status <> 'waiting_for_partner' OR partner <> ''", name="waits_for_somebody"),
    CheckConstraint("house_seat IS NULL OR (stake = 0 AND partner = '')", name="house"),
    CheckConstraint("(status = 'ended') = (ending IS NOT NULL)", name="ended_for_a_reason"),
    CheckConstraint(
        "(status IN ('matched', 'started')) = (game_id IS NOT NULL)", name="matched_to_a_game"
    ),
    CheckConstraint(
        "(status IN ('paired', 'matched', 'started')) = (match_id IS NOT NULL)",
        name="paired_in_a_match",
    ),
    CheckConstraint("stake >= 0 AND (stake = 0) = (currency = '')", name="stake"),
)
Index(
    "one_live_ticket",
    tickets.c.player_id,
    unique=True,
    postgresql_where=tickets.c.status.in_(("waiting_for_partner", "queued", "paired", "matched")),
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

# The one place that a player has: the ticket with which he waits, or the table at which he sits.
places = Table(
    "places",
    metadata,
    Column("player_id", Text, primary_key=True),
    Column("kind", Text, nullable=False),
    Column("id", Uuid, nullable=False),
    CheckConstraint("kind IN ('ticket', 'table')", name="kind"),
)

matches = Table(
    "matches",
    metadata,
    Column("match_id", Uuid, primary_key=True),
    Column("game_id", Uuid, nullable=False, unique=True),
    # What it comes from, and which of these; NULL for the queue.
    Column("source", Text, nullable=False),
    Column("source_id", Uuid),
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
        "status IN ('paired', 'held', 'created', 'cancelling', 'matched', 'started', 'finished',"
        " 'settled', 'releasing', 'undone')",
        name="status",
    ),
    CheckConstraint("(status IN ('settled', 'undone')) = (over_at IS NOT NULL)", name="over"),
    CheckConstraint(
        "source IN ('queue', 'table', 'tournament') AND (source = 'queue') = (source_id IS NULL)",
        name="source",
    ),
)
Index(
    "matches_due",
    matches.c.due_at,
    postgresql_where=matches.c.status.in_(("paired", "held", "created", "cancelling", "releasing")),
)
Index(
    "matches_awaited",
    matches.c.due_at,
    postgresql_where=matches.c.status.in_(("matched", "started", "finished")),
)
Index(
    "matches_by_source",
    matches.c.source_id,
    postgresql_where=matches.c.source_id.is_not(None),
)

seats = Table(
    "seats",
    metadata,
    Column("match_id", Uuid, ForeignKey(matches.c.match_id), primary_key=True),
    Column("seat", SmallInteger, primary_key=True),
    # NULL for who does not come from the queue.
    Column("ticket_id", Uuid, ForeignKey(tickets.c.ticket_id)),
    Column("player_id", Text, nullable=False),
    # Set where the player is the reason that there was no game, or what he asked for is.
    Column("ending", Text),
    UniqueConstraint("match_id", "player_id", name="one_seat_each"),
)
Index("seats_by_ticket", seats.c.ticket_id)
Index("seats_by_player", seats.c.player_id)

seating_tables(metadata, _terms())
player_tables(metadata)
tournament_tables(metadata)
shared = outbox_tables(metadata)
audited = audit_table(metadata)
