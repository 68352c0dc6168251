"""Players: what they have played, ratings, conduct, limits."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op
from sqlalchemy import Text
from sqlalchemy.dialects import postgresql

revision = "0004"
down_revision = "0003"
branch_labels = None
depends_on = None

TABLES = (
    "exclusions",
    "limits",
    "pair_flags",
    "reports",
    "blocks",
    "suspensions",
    "rating_changes",
    "ratings",
    "played_seats",
    "played_games",
)
SEATS = postgresql.ARRAY(sa.SmallInteger())


def _moment(name: str, *, nullable: bool = False, now: bool = False) -> sa.Column[object]:
    default = sa.text("clock_timestamp()") if now else None
    return sa.Column(name, sa.DateTime(timezone=True), nullable=nullable, server_default=default)


def _text(name: str, *, nullable: bool = False, default: str | None = None) -> sa.Column[object]:
    server_default = None if default is None else sa.text(default)
    return sa.Column(name, sa.Text(), nullable=nullable, server_default=server_default)


def _number(name: str) -> sa.Column[object]:
    return sa.Column(name, sa.Double(), nullable=False)


def upgrade() -> None:
    """Make the tables, and find a player's seats fast."""
    op.create_index("seats_by_player", "seats", ["player_id"])
    _make_games()
    _make_ratings()
    _make_conduct()
    _make_limits()


def _make_games() -> None:
    op.create_table(
        "played_games",
        sa.Column("game_id", sa.Uuid(), nullable=False),
        _text("variant", nullable=True),
        sa.Column("players", postgresql.ARRAY(Text()), nullable=True),
        sa.Column("computers", sa.Boolean(), nullable=False, server_default=sa.text("false")),
        _moment("started_at", nullable=True),
        _moment("finished_at", nullable=True),
        sa.Column("winners", SEATS, nullable=True),
        sa.Column("left_seats", SEATS, nullable=False, server_default=sa.text("'{}'")),
        sa.Column("settlement", sa.Integer(), nullable=False, server_default=sa.text("0")),
        sa.Column("correction", SEATS, nullable=True),
        sa.Column("rated", SEATS, nullable=True),
        sa.Column("ratings_version", sa.Integer(), nullable=False, server_default=sa.text("0")),
        sa.PrimaryKeyConstraint("game_id"),
    )
    op.create_index("played_games_finished", "played_games", ["finished_at"])
    op.create_table(
        "played_seats",
        sa.Column("game_id", sa.Uuid(), nullable=False),
        sa.Column("seat", sa.SmallInteger(), nullable=False),
        _text("player_id"),
        _moment("started_at", nullable=True),
        _moment("finished_at", nullable=True),
        _moment("settled_at", nullable=True),
        _text("currency", default="''"),
        sa.Column("net", sa.BigInteger(), nullable=False, server_default=sa.text("0")),
        sa.ForeignKeyConstraint(["game_id"], ["played_games.game_id"]),
        sa.PrimaryKeyConstraint("game_id", "seat"),
    )
    op.create_index("played_seats_started", "played_seats", ["player_id", "started_at"])
    op.create_index("played_seats_settled", "played_seats", ["player_id", "settled_at"])


def _make_ratings() -> None:
    op.create_table(
        "ratings",
        _text("variant"),
        _text("player_id"),
        _number("mu"),
        _number("sigma"),
        sa.Column("value", sa.Integer(), nullable=False),
        sa.Column("floor", sa.Integer(), nullable=False),
        sa.Column("games", sa.Integer(), nullable=False),
        sa.CheckConstraint("sigma > 0 AND games >= 0", name="possible"),
        sa.PrimaryKeyConstraint("variant", "player_id"),
    )
    op.create_index("ratings_by_player", "ratings", ["player_id"])
    op.create_index("ratings_by_floor", "ratings", ["variant", sa.text("floor DESC"), "player_id"])
    op.create_table(
        "rating_changes",
        sa.Column("game_id", sa.Uuid(), nullable=False),
        sa.Column("version", sa.Integer(), nullable=False),
        _text("player_id"),
        sa.Column("number", sa.BigInteger(), sa.Identity(always=True), nullable=False),
        _text("variant"),
        sa.Column("reversal", sa.Boolean(), nullable=False),
        _number("mu_before"),
        _number("sigma_before"),
        _number("mu_after"),
        _number("sigma_after"),
        _moment("changed_at", now=True),
        sa.ForeignKeyConstraint(["game_id"], ["played_games.game_id"]),
        sa.PrimaryKeyConstraint("game_id", "version", "player_id"),
        sa.UniqueConstraint("number"),
    )
    op.create_index("rating_changes_by_player", "rating_changes", ["player_id", "number"])


def _make_conduct() -> None:
    op.create_table(
        "suspensions",
        sa.Column("suspension_id", sa.Uuid(), nullable=False),
        _text("player_id"),
        _text("reason"),
        _text("suspended_by"),
        _moment("suspended_at", now=True),
        _moment("until", nullable=True),
        _text("lifted_by", nullable=True),
        _moment("lifted_at", nullable=True),
        _text("lift_reason", nullable=True),
        sa.CheckConstraint(
            "(lifted_at IS NULL) = (lifted_by IS NULL)"
            " AND (lifted_at IS NULL) = (lift_reason IS NULL)",
            name="lifted",
        ),
        sa.PrimaryKeyConstraint("suspension_id"),
    )
    op.create_index(
        "suspensions_not_lifted",
        "suspensions",
        ["player_id"],
        postgresql_where=sa.text("lifted_at IS NULL"),
    )
    op.create_table(
        "blocks",
        _text("player_id"),
        _text("blocked_id"),
        _moment("blocked_at", now=True),
        sa.CheckConstraint("player_id <> blocked_id", name="another"),
        sa.PrimaryKeyConstraint("player_id", "blocked_id"),
    )
    op.create_table(
        "reports",
        sa.Column("report_id", sa.Uuid(), nullable=False),
        _text("reporter_id"),
        _text("player_id"),
        sa.Column("game_id", sa.Uuid(), nullable=False),
        _text("variant"),
        _text("category"),
        _text("text"),
        _moment("reported_at", now=True),
        _text("closed_by", nullable=True),
        _moment("closed_at", nullable=True),
        _text("outcome", nullable=True),
        sa.CheckConstraint(
            "(closed_at IS NULL) = (closed_by IS NULL) AND (closed_at IS NULL) = (outcome IS NULL)",
            name="closed",
        ),
        sa.ForeignKeyConstraint(["game_id"], ["played_games.game_id"]),
        sa.PrimaryKeyConstraint("report_id"),
        sa.UniqueConstraint("reporter_id", "player_id", "game_id", name="one_report"),
    )
    op.create_index("reports_by_player", "reports", ["player_id", "report_id"])
    op.create_table(
        "pair_flags",
        _text("kind"),
        _text("player_id"),
        _text("other_id"),
        sa.Column("count", sa.Integer(), nullable=False),
        sa.Column("games", sa.Integer(), nullable=False),
        _number("expected"),
        _number("surprise"),
        sa.Column("game_ids", postgresql.ARRAY(sa.Uuid()), nullable=False),
        _moment("first_flagged_at"),
        _moment("computed_at"),
        sa.PrimaryKeyConstraint("kind", "player_id", "other_id"),
    )


def _make_limits() -> None:
    op.create_table(
        "limits",
        _text("player_id"),
        _text("kind"),
        _text("currency"),
        sa.Column("amount", sa.BigInteger(), nullable=True),
        _moment("next_from", nullable=True),
        sa.Column("next_amount", sa.BigInteger(), nullable=True),
        sa.CheckConstraint("kind IN ('stake', 'loss', 'time')", name="kind"),
        sa.CheckConstraint("(kind = 'time') = (currency = '')", name="currency"),
        sa.PrimaryKeyConstraint("player_id", "kind", "currency"),
    )
    op.create_table(
        "exclusions",
        _text("player_id"),
        _moment("until"),
        sa.PrimaryKeyConstraint("player_id"),
    )


def downgrade() -> None:
    """What is known of players is lost."""
    for table in TABLES:
        op.drop_table(table)
    op.drop_index("seats_by_player", "seats")
