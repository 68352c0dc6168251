"""What operators have done."""

from __future__ import annotations

from kafeneio_runtime import audit_migration

revision = "0006"
down_revision = "0005"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Make the table."""
    audit_migration.make()


def downgrade() -> None:
    """It is forgotten."""
    audit_migration.drop()
