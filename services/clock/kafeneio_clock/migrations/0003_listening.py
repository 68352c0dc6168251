"""Clocks in which nobody's time runs are looked at too: they ask what the bus may have lost."""

from __future__ import annotations

from alembic import op

revision = "0003"
down_revision = "0002"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Look at all of them now; each look says when the next one is."""
    op.execute("UPDATE clocks SET due_at = clock_timestamp() WHERE NOT closed AND due_at IS NULL")


def downgrade() -> None:
    """Only those with a deadline are looked at."""
    op.execute("UPDATE clocks SET due_at = NULL WHERE deadline IS NULL")
