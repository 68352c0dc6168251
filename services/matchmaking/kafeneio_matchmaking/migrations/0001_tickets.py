"""The first tables of `matchmaking`: tickets, matches, seats, and those that every service has."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op
from sqlalchemy import Text
from sqlalchemy.dialects import postgresql

revision = "0001"
down_revision = None
branch_labels = None
depends_on = None


def _time(name: str, default: str | None = None, *, nullable: bool = False) -> sa.Column[object]:
    server_default = None if default is None else sa.text(default)
    kind = sa.DateTime(timezone=True)
    return sa.Column(name, kind, server_default=server_default, nullable=nullable)


def _terms() -> tuple[sa.Column[object], ...]:
    return (
        sa.Column("variant", sa.Text(), nullable=False),
        sa.Column("edition", sa.Integer(), nullable=False),
        sa.Column("options", postgresql.JSONB(astext_type=Text()), nullable=False),
        sa.Column("target", sa.Integer(), nullable=False),
        sa.Column("currency", sa.Text(), nullable=False),
        sa.Column("stake", sa.BigInteger(), nullable=False),
        sa.Column("fee_basis_points", sa.Integer(), nullable=False),
        sa.Column("seats", sa.SmallInteger(), nullable=False),
    )


def upgrade() -> None:
    """Make them."""
    _make_tickets()
    _make_matches()
    _make_shared()


def _make_tickets() -> None:
    op.create_table(
        "tickets",
        sa.Column("ticket_id", sa.Uuid(), nullable=False),
        sa.Column("player_id", sa.Text(), nullable=False),
        *_terms(),
        sa.Column("status", sa.Text(), nullable=False),
        sa.Column("version", sa.Integer(), nullable=False),
        _time("queued_at"),
        _time("expires_at"),
        sa.Column("match_id", sa.Uuid(), nullable=True),
        sa.Column("game_id", sa.Uuid(), nullable=True),
        sa.Column("ending", sa.Text(), nullable=True),
        _time("changed_at", "now()"),
        sa.CheckConstraint("status IN ('queued', 'paired', 'matched', 'ended')", name="status"),
        sa.CheckConstraint("(status = 'ended') = (ending IS NOT NULL)", name="ended_for_a_reason"),
        sa.CheckConstraint(
            "(status = 'matched') = (game_id IS NOT NULL)", name="matched_to_a_game"
        ),
        sa.CheckConstraint(
            "(status IN ('paired', 'matched')) = (match_id IS NOT NULL)", name="paired_in_a_match"
        ),
        sa.CheckConstraint("stake >= 0 AND (stake = 0) = (currency = '')", name="stake"),
        sa.PrimaryKeyConstraint("ticket_id"),
    )
    live, queued = sa.text("status IN ('queued', 'paired')"), sa.text("status = 'queued'")
    op.create_index("one_live_ticket", "tickets", ["player_id"], unique=True, postgresql_where=live)
    op.create_index(
        "tickets_queued", "tickets", ["queued_at", "ticket_id"], postgresql_where=queued
    )
    op.create_index("tickets_expiring", "tickets", ["expires_at"], postgresql_where=queued)


def _make_matches() -> None:
    op.create_table(
        "matches",
        sa.Column("match_id", sa.Uuid(), nullable=False),
        sa.Column("game_id", sa.Uuid(), nullable=False),
        *_terms(),
        sa.Column("status", sa.Text(), nullable=False),
        _time("join_by", nullable=True),
        sa.Column("tries", sa.Integer(), nullable=False),
        _time("due_at", "now()"),
        sa.Column("why", sa.Text(), nullable=False),
        _time("created_at", "now()"),
        _time("over_at", nullable=True),
        sa.CheckConstraint(
            "status IN ('paired', 'held', 'created', 'matched', 'cancelling', 'releasing',"
            " 'undone')",
            name="status",
        ),
        sa.PrimaryKeyConstraint("match_id"),
        sa.UniqueConstraint("game_id"),
    )
    op.create_index(
        "matches_due", "matches", ["due_at"], postgresql_where=sa.text("over_at IS NULL")
    )
    op.create_table(
        "seats",
        sa.Column("match_id", sa.Uuid(), nullable=False),
        sa.Column("seat", sa.SmallInteger(), nullable=False),
        sa.Column("ticket_id", sa.Uuid(), nullable=False),
        sa.Column("player_id", sa.Text(), nullable=False),
        sa.Column("ending", sa.Text(), nullable=True),
        sa.ForeignKeyConstraint(["match_id"], ["matches.match_id"]),
        sa.ForeignKeyConstraint(["ticket_id"], ["tickets.ticket_id"]),
        sa.PrimaryKeyConstraint("match_id", "seat"),
        sa.UniqueConstraint("match_id", "player_id", name="one_seat_each"),
    )
    op.create_index("seats_by_ticket", "seats", ["ticket_id"])


def _make_shared() -> None:
    op.create_table(
        "inbox",
        sa.Column("consumer", sa.Text(), nullable=False),
        sa.Column("event_id", sa.Uuid(), nullable=False),
        _time("handled_at", "clock_timestamp()"),
        sa.PrimaryKeyConstraint("consumer", "event_id"),
    )
    op.create_table(
        "outbox",
        sa.Column("event_id", sa.Uuid(), nullable=False),
        sa.Column(
            "subject_id", sa.Uuid(), nullable=False, comment="what the event is about: the game"
        ),
        sa.Column(
            "sequence", sa.BigInteger(), nullable=False, comment="numbers the events of a subject"
        ),
        sa.Column("type", sa.Text(), nullable=False),
        sa.Column("payload", sa.LargeBinary(), nullable=False),
        _time("occurred_at", "clock_timestamp()"),
        _time("published_at", nullable=True),
        sa.PrimaryKeyConstraint("event_id"),
        sa.UniqueConstraint("subject_id", "sequence", name="outbox_subject_sequence"),
    )
    op.create_index(
        "outbox_unpublished",
        "outbox",
        ["occurred_at"],
        postgresql_where=sa.text("published_at IS NULL"),
    )
    op.create_table(
        "requests",
        sa.Column("caller", sa.Text(), nullable=False),
        sa.Column("method", sa.Text(), nullable=False),
        sa.Column("request_id", sa.Uuid(), nullable=False),
        sa.Column("digest", sa.LargeBinary(), nullable=False, comment="SHA-256 of the request"),
        sa.Column(
            "response", sa.LargeBinary(), server_default=sa.text("''::bytea"), nullable=False
        ),
        _time("created_at", "clock_timestamp()"),
        sa.PrimaryKeyConstraint("caller", "method", "request_id"),
    )
    op.create_index("requests_created", "requests", ["created_at"])


def downgrade() -> None:
    """There is nothing before the first tables."""
    for table in ("seats", "matches", "tickets", "requests", "outbox", "inbox"):
        op.drop_table(table)
