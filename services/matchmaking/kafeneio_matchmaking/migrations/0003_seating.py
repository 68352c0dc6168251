"""Matches of tables and tournaments, what is heard of their games, and one place a player."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import postgresql

revision = "0003"
down_revision = "0002"
branch_labels = None
depends_on = None

LIVE = "status IN ('waiting_for_partner', 'queued', 'paired', 'matched')"
LIVE_BEFORE = "status IN ('waiting_for_partner', 'queued', 'paired')"
TABLE_CHECKS = (
    ("status", "status IN ('open', 'starting', 'matched', 'playing', 'closed')"),
    ("closed_for_a_reason", "(status = 'closed') = (ending IS NOT NULL)"),
    ("open_without_a_match", "status <> 'open' OR match_id IS NULL"),
    (
        "in_a_match",
        "status NOT IN ('starting', 'matched', 'playing') OR match_id IS NOT NULL",
    ),
    ("matched_to_a_game", "status NOT IN ('matched', 'playing') OR game_id IS NOT NULL"),
    ("private", "(code = '') = (code_digest IS NULL)"),
    ("computers_without_stake", "NOT computers_fill OR stake = 0"),
    ("stake", "stake >= 0 AND (stake = 0) = (currency = '')"),
)
TABLE_INDEXES = (
    ("tables_expiring", ["expires_at"], "status = 'open'"),
    ("tables_unnumbered", ["table_id"], "change IS NULL"),
    ("tables_listed", ["created_at", "table_id"], "status = 'open' AND code_digest IS NULL"),
)
DRIVEN = "status IN ('paired', 'held', 'created', 'cancelling', 'releasing')"


def upgrade() -> None:
    """A ticket that was matched has a game, which may be long over: it counts as started, and its
    match as paid."""
    _drop_checks()
    op.execute("UPDATE tickets SET status = 'started' WHERE status = 'matched'")
    op.execute("UPDATE matches SET status = 'settled' WHERE status = 'matched'")
    _check(
        "status",
        "tickets",
        "status IN ('waiting_for_partner', 'queued', 'paired', 'matched', 'started', 'ended')",
    )
    _check(
        "matched_to_a_game",
        "tickets",
        "(status IN ('matched', 'started')) = (game_id IS NOT NULL)",
    )
    _check(
        "paired_in_a_match",
        "tickets",
        "(status IN ('paired', 'matched', 'started')) = (match_id IS NOT NULL)",
    )
    _one_live_ticket(LIVE)
    _make_places()
    _widen_matches()
    _make_tables()


def _make_places() -> None:
    op.create_table(
        "places",
        sa.Column("player_id", sa.Text(), nullable=False),
        sa.Column("kind", sa.Text(), nullable=False),
        sa.Column("id", sa.Uuid(), nullable=False),
        sa.CheckConstraint("kind IN ('ticket', 'table')", name="kind"),
        sa.PrimaryKeyConstraint("player_id"),
    )
    op.execute(
        "INSERT INTO places (player_id, kind, id)"
        f" SELECT player_id, 'ticket', ticket_id FROM tickets WHERE {LIVE}"
    )


def _widen_matches() -> None:
    op.add_column(
        "matches",
        sa.Column("source", sa.Text(), nullable=False, server_default=sa.text("'queue'")),
    )
    op.alter_column("matches", "source", server_default=None)
    op.add_column("matches", sa.Column("source_id", sa.Uuid(), nullable=True))
    _check(
        "status",
        "matches",
        "status IN ('paired', 'held', 'created', 'cancelling', 'matched', 'started', 'finished',"
        " 'settled', 'releasing', 'undone')",
    )
    _check("over", "matches", "(status IN ('settled', 'undone')) = (over_at IS NOT NULL)")
    _check(
        "source",
        "matches",
        "source IN ('queue', 'table', 'tournament') AND (source = 'queue') = (source_id IS NULL)",
    )
    op.drop_index("matches_due", "matches")
    _index("matches_due", "due_at", DRIVEN)
    _index("matches_awaited", "due_at", "status IN ('matched', 'started', 'finished')")
    _index("matches_by_source", "source_id", "source_id IS NOT NULL")


def _make_tables() -> None:
    op.execute(sa.schema.CreateSequence(sa.Sequence("table_changes")))
    op.create_table(
        "tables",
        sa.Column("table_id", sa.Uuid(), nullable=False),
        sa.Column("creator", sa.Text(), nullable=False),
        sa.Column("host", sa.Text(), nullable=False),
        *_terms(),
        sa.Column("code", sa.Text(), nullable=False),
        sa.Column("code_digest", sa.LargeBinary(), nullable=True),
        sa.Column("least_rating", sa.Integer(), nullable=True),
        sa.Column("most_rating", sa.Integer(), nullable=True),
        sa.Column("computers_fill", sa.Boolean(), nullable=False),
        sa.Column("status", sa.Text(), nullable=False),
        sa.Column("version", sa.Integer(), nullable=False),
        sa.Column("seating", sa.Integer(), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("expires_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("match_id", sa.Uuid(), nullable=True),
        sa.Column("game_id", sa.Uuid(), nullable=True),
        sa.Column("ending", sa.Text(), nullable=True),
        sa.Column("put_out", postgresql.JSONB(astext_type=sa.Text()), nullable=False),
        sa.Column("change", sa.BigInteger(), nullable=True),
        *(sa.CheckConstraint(condition, name=name) for name, condition in TABLE_CHECKS),
        sa.PrimaryKeyConstraint("table_id"),
        sa.UniqueConstraint("code_digest", name="one_table_a_code"),
        sa.UniqueConstraint("change", name="one_table_a_change"),
    )
    for name, columns, condition in TABLE_INDEXES:
        op.create_index(name, "tables", columns, postgresql_where=sa.text(condition))
    op.create_table(
        "chairs",
        sa.Column("table_id", sa.Uuid(), nullable=False),
        sa.Column("seat", sa.SmallInteger(), nullable=False),
        sa.Column("player_id", sa.Text(), nullable=True),
        sa.Column("ready", sa.Boolean(), nullable=False),
        sa.Column("since", sa.Integer(), nullable=False),
        sa.CheckConstraint("player_id IS NOT NULL OR NOT ready", name="nobody_is_not_ready"),
        sa.ForeignKeyConstraint(["table_id"], ["tables.table_id"]),
        sa.PrimaryKeyConstraint("table_id", "seat"),
        sa.UniqueConstraint("table_id", "player_id", name="one_chair_each"),
    )


def _terms() -> tuple[sa.Column[object], ...]:
    return (
        sa.Column("variant", sa.Text(), nullable=False),
        sa.Column("edition", sa.Integer(), nullable=False),
        sa.Column("options", postgresql.JSONB(astext_type=sa.Text()), nullable=False),
        sa.Column("target", sa.Integer(), nullable=False),
        sa.Column("currency", sa.Text(), nullable=False),
        sa.Column("stake", sa.BigInteger(), nullable=False),
        sa.Column("fee_basis_points", sa.Integer(), nullable=False),
        sa.Column("seats", sa.SmallInteger(), nullable=False),
    )


def downgrade() -> None:
    """Only where every match came from the queue and none waits for its game."""
    op.drop_table("chairs")
    op.drop_table("tables")
    op.execute(sa.schema.DropSequence(sa.Sequence("table_changes")))
    for name in ("matches_by_source", "matches_awaited", "matches_due"):
        op.drop_index(name, "matches")
    _index("matches_due", "due_at", "over_at IS NULL")
    for name in ("source", "over"):
        op.drop_constraint(name, "matches")
    op.drop_column("matches", "source_id")
    op.drop_column("matches", "source")
    op.drop_table("places")
    _drop_checks()
    op.execute("UPDATE tickets SET status = 'matched' WHERE status = 'started'")
    op.execute("UPDATE matches SET status = 'matched' WHERE status = 'settled'")
    _check(
        "status",
        "tickets",
        "status IN ('waiting_for_partner', 'queued', 'paired', 'matched', 'ended')",
    )
    _check("matched_to_a_game", "tickets", "(status = 'matched') = (game_id IS NOT NULL)")
    _check(
        "paired_in_a_match",
        "tickets",
        "(status IN ('paired', 'matched')) = (match_id IS NOT NULL)",
    )
    _check(
        "status",
        "matches",
        "status IN ('paired', 'held', 'created', 'matched', 'cancelling', 'releasing', 'undone')",
    )
    _one_live_ticket(LIVE_BEFORE)


def _drop_checks() -> None:
    for name in ("status", "matched_to_a_game", "paired_in_a_match"):
        op.drop_constraint(name, "tickets")
    op.drop_constraint("status", "matches")


def _check(name: str, table: str, condition: str) -> None:
    op.create_check_constraint(name, table, condition)


def _index(name: str, column: str, condition: str) -> None:
    op.create_index(name, "matches", [column], postgresql_where=sa.text(condition))


def _one_live_ticket(live: str) -> None:
    op.drop_index("one_live_ticket", "tickets")
    op.create_index(
        "one_live_ticket", "tickets", ["player_id"], unique=True, postgresql_where=sa.text(live)
    )
