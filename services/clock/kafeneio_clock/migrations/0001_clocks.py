"""The first tables of `clock`: clocks, replicas, and those that every service has."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import postgresql

revision = "0001"
down_revision = None
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Make them."""
    op.create_table(
        "clocks",
        sa.Column("game_id", sa.Uuid(), nullable=False),
        sa.Column("version", sa.BigInteger(), nullable=False),
        sa.Column("heard", sa.BigInteger(), nullable=False),
        sa.Column("sequence", sa.BigInteger(), nullable=False),
        sa.Column("state", postgresql.JSONB(astext_type=sa.Text()), nullable=False),
        sa.Column("replicas", postgresql.ARRAY(sa.Text()), nullable=False),
        sa.Column("deadline", sa.DateTime(timezone=True), nullable=True),
        sa.Column("due_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("closed", sa.Boolean(), nullable=False),
        sa.PrimaryKeyConstraint("game_id"),
    )
    op.create_index(
        "clocks_due", "clocks", ["due_at"], postgresql_where=sa.text("due_at IS NOT NULL")
    )
    op.create_index("clocks_open", "clocks", ["game_id"], postgresql_where=sa.text("NOT closed"))
    op.create_table(
        "replicas",
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column(
            "at",
            sa.DateTime(timezone=True),
            server_default=sa.text("clock_timestamp()"),
            nullable=False,
        ),
        sa.PrimaryKeyConstraint("name"),
    )
    _shared()
    op.create_table(
        "heartbeats",
        sa.Column("id", sa.SmallInteger(), autoincrement=False, nullable=False),
        sa.Column("at", sa.DateTime(timezone=True), nullable=False),
        sa.PrimaryKeyConstraint("id"),
    )
    op.create_table(
        "outages",
        sa.Column("began", sa.DateTime(timezone=True), nullable=False),
        sa.Column("ended", sa.DateTime(timezone=True), nullable=False),
        sa.PrimaryKeyConstraint("began"),
    )
    op.create_index("ix_outages_ended", "outages", ["ended"], unique=False)


def _shared() -> None:
    """Outbox, inbox, requests."""
    op.create_table(
        "inbox",
        sa.Column("consumer", sa.Text(), nullable=False),
        sa.Column("event_id", sa.Uuid(), nullable=False),
        sa.Column(
            "handled_at",
            sa.DateTime(timezone=True),
            server_default=sa.text("clock_timestamp()"),
            nullable=False,
        ),
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
        sa.Column(
            "occurred_at",
            sa.DateTime(timezone=True),
            server_default=sa.text("clock_timestamp()"),
            nullable=False,
        ),
        sa.Column("published_at", sa.DateTime(timezone=True), nullable=True),
        sa.PrimaryKeyConstraint("event_id"),
        sa.UniqueConstraint("subject_id", "sequence", name="outbox_subject_sequence"),
    )
    op.create_index(
        "outbox_unpublished",
        "outbox",
        ["occurred_at"],
        unique=False,
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
        sa.Column(
            "created_at",
            sa.DateTime(timezone=True),
            server_default=sa.text("clock_timestamp()"),
            nullable=False,
        ),
        sa.PrimaryKeyConstraint("caller", "method", "request_id"),
    )
    op.create_index("requests_created", "requests", ["created_at"], unique=False)


def downgrade() -> None:
    """There is nothing before the first tables."""
    for table in ("outages", "heartbeats", "requests", "outbox", "inbox", "replicas", "clocks"):
        op.drop_table(table)
