"""Clocks in which nobody's time runs are looked at too: they ask what the bus may have lost. So
every open clock is in one index, and no other of them has to be written with every change."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0003"
down_revision = "0002"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Look at all of them now; each look says when the next one is."""
    op.execute("UPDATE clocks SET due_at = clock_timestamp() WHERE NOT closed AND due_at IS NULL")
    op.drop_index("clocks_open", "clocks")
    op.create_index(
        "clocks_unwatched",
        "clocks",
        ["game_id"],
        postgresql_where=sa.text("due_at IS NULL AND NOT closed"),
    )
    # Each change of turn is a new row; what it leaves behind is cleared away before it is much.
    op.execute(
        "ALTER TABLE clocks SET (fillfactor = 70, autovacuum_vacuum_scale_factor = 0.02,"
        " autovacuum_vacuum_cost_limit = 2000)"
    )


def downgrade() -> None:
    """Only those with a deadline are looked at."""
    op.execute(
        "ALTER TABLE clocks RESET (fillfactor, autovacuum_vacuum_scale_factor,"
        " autovacuum_vacuum_cost_limit)"
    )
    op.drop_index("clocks_unwatched", "clocks")
    op.create_index("clocks_open", "clocks", ["game_id"], postgresql_where=sa.text("NOT closed"))
    op.execute("UPDATE clocks SET due_at = NULL WHERE deadline IS NULL")
