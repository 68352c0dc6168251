"""Turns that are kept for ExplainCharges, and an index by which the inbox is emptied."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import postgresql

revision = "0002"
down_revision = "0001"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Make them."""
    op.create_table(
        "turns",
        sa.Column("game_id", sa.Uuid(), nullable=False),
        sa.Column("turn", sa.BigInteger(), nullable=False),
        sa.Column("seat", sa.Integer(), nullable=False),
        sa.Column("ended", sa.DateTime(timezone=True), nullable=False),
        sa.Column("facts", postgresql.JSONB(astext_type=sa.Text()), nullable=False),
        sa.PrimaryKeyConstraint("game_id", "turn"),
    )
    op.create_index("inbox_handled", "inbox", ["handled_at"], postgresql_using="brin")


def downgrade() -> None:
    """Drop them."""
    op.drop_index("inbox_handled", "inbox")
    op.drop_table("turns")
