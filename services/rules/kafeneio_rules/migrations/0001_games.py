"""The first tables of `rules`: games, seats, log, and those that every service has."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op
from sqlalchemy import Text
from sqlalchemy.dialects import postgresql

revision = "0001"
down_revision = None
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Make them."""
    op.create_table(
        "games",
        sa.Column("game_id", sa.Uuid(), nullable=False),
        sa.Column("variant", sa.Text(), nullable=True),
        sa.Column("edition", sa.Integer(), nullable=True),
        sa.Column("options", postgresql.JSONB(astext_type=Text()), nullable=True),
        sa.Column("target", sa.Integer(), nullable=True),
        sa.Column("status", sa.Text(), nullable=False),
        sa.Column("commitment", sa.LargeBinary(), nullable=True),
        sa.Column("secret", sa.LargeBinary(), nullable=True),
        sa.Column(
            "created_at",
            sa.DateTime(timezone=True),
            server_default=sa.text("now()"),
            nullable=False,
        ),
        sa.Column("join_by", sa.DateTime(timezone=True), nullable=True),
        sa.Column("outcome", postgresql.JSONB(astext_type=Text()), nullable=True),
        sa.Column("reason", sa.Text(), nullable=True),
        sa.CheckConstraint("status = 'cancelled' OR commitment IS NOT NULL", name="tombstone"),
        sa.CheckConstraint(
            "status IN ('waiting', 'running', 'finished', 'cancelled')", name="status"
        ),
        sa.PrimaryKeyConstraint("game_id"),
    )
    op.create_index("games_by_status", "games", ["status", "game_id"], unique=False)
    op.create_index(
        "games_due",
        "games",
        ["join_by"],
        unique=False,
        postgresql_where=sa.text("status = 'waiting'"),
    )
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
        "log",
        sa.Column("game_id", sa.Uuid(), nullable=False),
        sa.Column("version", sa.Integer(), nullable=False),
        sa.Column("entries", postgresql.ARRAY(Text()), nullable=False),
        sa.Column("digest", sa.LargeBinary(), nullable=False),
        sa.Column("drawn", sa.BigInteger(), nullable=False),
        sa.Column("sequence", sa.BigInteger(), nullable=False),
        sa.Column(
            "at", sa.DateTime(timezone=True), server_default=sa.text("now()"), nullable=False
        ),
        sa.Column("caller", sa.Text(), nullable=True),
        sa.Column("request_id", sa.Uuid(), nullable=True),
        sa.Column("request_digest", sa.LargeBinary(), nullable=True),
        sa.PrimaryKeyConstraint("game_id", "version"),
        sa.UniqueConstraint("game_id", "caller", "request_id", name="one_row_a_request"),
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
    op.create_table(
        "seats",
        sa.Column("game_id", sa.Uuid(), nullable=False),
        sa.Column("seat", sa.SmallInteger(), nullable=False),
        sa.Column("player_id", sa.Text(), nullable=False),
        sa.Column("word", sa.LargeBinary(), nullable=True),
        sa.ForeignKeyConstraint(
            ["game_id"],
            ["games.game_id"],
        ),
        sa.PrimaryKeyConstraint("game_id", "seat"),
        sa.UniqueConstraint("game_id", "player_id", name="one_seat_each"),
    )
    op.create_index("seats_by_player", "seats", ["player_id", "game_id"], unique=False)


def downgrade() -> None:
    """There is nothing before the first tables."""
    for table in ("seats", "log", "requests", "outbox", "inbox", "games"):
        op.drop_table(table)
