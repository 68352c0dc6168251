"""What operators have done."""

from __future__ import annotations

from kafeneio_runtime import audit_migration

revision = "0004"
down_revision = "0003"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Make the table."""
    audit_migration.make("kafeneio_settlement")


def downgrade() -> None:
    """It is forgotten."""
    audit_migration.drop()
