"""When a replica of `rules` was last alive, and when none was."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0002"
down_revision = "0001"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Make the two tables."""
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


def downgrade() -> None:
    """Outages are forgotten."""
    for table in ("outages", "heartbeats"):
        op.drop_table(table)
