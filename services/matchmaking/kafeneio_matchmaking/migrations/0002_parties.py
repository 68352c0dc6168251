"""Tickets of partners, and tables of computers."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0002"
down_revision = "0001"
branch_labels = None
depends_on = None

LIVE = "status IN ('waiting_for_partner', 'queued', 'paired')"
WAITING = "status IN ('waiting_for_partner', 'queued')"


def upgrade() -> None:
    """Two columns of tickets, a status, and seats without a ticket."""
    op.add_column(
        "tickets", sa.Column("partner", sa.Text(), server_default=sa.text("''"), nullable=False)
    )
    op.add_column("tickets", sa.Column("house_seat", sa.SmallInteger(), nullable=True))
    op.alter_column("seats", "ticket_id", nullable=True)
    _check("status", "status IN ('waiting_for_partner', 'queued', 'paired', 'matched', 'ended')")
    op.create_check_constraint(
        "waits_for_somebody", "tickets", "status <> 'waiting_for_partner' OR partner <> ''"
    )
    op.create_check_constraint(
        "house", "tickets", "house_seat IS NULL OR (stake = 0 AND partner = '')"
    )
    _index(LIVE, WAITING)


def downgrade() -> None:
    """Only where nobody waits for a partner and no computer has sat down."""
    _index("status IN ('queued', 'paired')", "status = 'queued'")
    op.drop_constraint("house", "tickets")
    op.drop_constraint("waits_for_somebody", "tickets")
    _check("status", "status IN ('queued', 'paired', 'matched', 'ended')")
    op.alter_column("seats", "ticket_id", nullable=False)
    op.drop_column("tickets", "house_seat")
    op.drop_column("tickets", "partner")


def _check(name: str, condition: str) -> None:
    op.drop_constraint(name, "tickets")
    op.create_check_constraint(name, "tickets", condition)


def _index(live: str, expiring: str) -> None:
    op.drop_index("one_live_ticket", "tickets")
    op.create_index(
        "one_live_ticket", "tickets", ["player_id"], unique=True, postgresql_where=sa.text(live)
    )
    op.drop_index("tickets_expiring", "tickets")
    op.create_index(
        "tickets_expiring", "tickets", ["expires_at"], postgresql_where=sa.text(expiring)
    )
