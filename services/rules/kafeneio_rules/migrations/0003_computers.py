"""Seats that computers play, and an index of the running games that have any."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0003"
down_revision = "0002"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Nobody was a computer before."""
    for table, name in (("games", "computers"), ("seats", "computer")):
        op.add_column(
            table, sa.Column(name, sa.Boolean(), server_default=sa.false(), nullable=False)
        )
    op.create_index(
        "games_with_computers",
        "games",
        ["game_id"],
        unique=False,
        postgresql_where=sa.text("status = 'running' AND computers"),
    )


def downgrade() -> None:
    """It is forgotten who was a computer."""
    op.drop_index("games_with_computers", table_name="games")
    op.drop_column("seats", "computer")
    op.drop_column("games", "computers")
