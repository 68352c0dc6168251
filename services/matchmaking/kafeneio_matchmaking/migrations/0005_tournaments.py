"""Tournaments: their terms, entries, matches and corrections."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import postgresql

revision = "0005"
down_revision = "0004"
branch_labels = None
depends_on = None


def _moment(name: str, *, nullable: bool = False, now: bool = False) -> sa.Column[object]:
    default = sa.text("clock_timestamp()") if now else None
    return sa.Column(name, sa.DateTime(timezone=True), nullable=nullable, server_default=default)


def _text(name: str, *, nullable: bool = False, default: str | None = None) -> sa.Column[object]:
    server_default = None if default is None else sa.text(default)
    return sa.Column(name, sa.Text(), nullable=nullable, server_default=server_default)


def _small(name: str, *, nullable: bool = False, default: str | None = None) -> sa.Column[object]:
    server_default = None if default is None else sa.text(default)
    return sa.Column(name, sa.SmallInteger(), nullable=nullable, server_default=server_default)


def _integer(name: str, *, nullable: bool = False, default: str | None = None) -> sa.Column[object]:
    server_default = None if default is None else sa.text(default)
    return sa.Column(name, sa.Integer(), nullable=nullable, server_default=server_default)


def _id(name: str, *, nullable: bool = False) -> sa.Column[object]:
    return sa.Column(name, sa.Uuid(), nullable=nullable)


def upgrade() -> None:
    """Make the tables."""
    _make_tournaments()
    _make_entries()
    _make_matches()
    op.create_table(
        "tournament_corrections",
        _id("tournament_id"),
        _integer("number"),
        _text("reason"),
        _text("proposed_by"),
        _moment("proposed_at"),
        _text("approved_by"),
        _moment("approved_at", nullable=True),
        _integer("settlement_version"),
        sa.Column("places", postgresql.JSONB(astext_type=sa.Text()), nullable=True),
        sa.ForeignKeyConstraint(["tournament_id"], ["tournaments.tournament_id"]),
        sa.PrimaryKeyConstraint("tournament_id", "number"),
    )


def _make_tournaments() -> None:
    op.create_table(
        "tournaments",
        _id("tournament_id"),
        _text("name"),
        _text("format"),
        _small("length"),
        _text("variant"),
        _integer("edition"),
        sa.Column("options", postgresql.JSONB(astext_type=sa.Text()), nullable=False),
        _integer("target"),
        _text("currency"),
        sa.Column("stake", sa.BigInteger(), nullable=False),
        _integer("fee_basis_points"),
        _small("seats"),
        sa.Column("shares", postgresql.ARRAY(sa.Integer()), nullable=False),
        _small("min_entries"),
        _small("max_entries"),
        _integer("min_rating", nullable=True),
        _integer("max_rating", nullable=True),
        _moment("starts_at"),
        _text("created_by"),
        _moment("created_at", now=True),
        _text("status"),
        _integer("version"),
        _moment("started_at", nullable=True),
        _moment("ended_at", nullable=True),
        _text("cancel_reason", default="''"),
        _moment("due_at", nullable=True),
        _integer("tries", default="0"),
        _text("why", default="''"),
        sa.CheckConstraint(
            "status IN ('announced', 'open', 'starting', 'running', 'paused', 'settling',"
            " 'finished', 'cancelling', 'cancelled')",
            name="status",
        ),
        sa.CheckConstraint(
            "format IN ('single_elimination', 'double_elimination', 'swiss', 'round_robin')",
            name="format",
        ),
        sa.CheckConstraint("seats IN (2, 4)", name="two_sides"),
        sa.CheckConstraint("stake >= 0 AND (stake = 0) = (currency = '')", name="entry_fee"),
        sa.CheckConstraint("2 <= min_entries AND min_entries <= max_entries", name="entries"),
        sa.CheckConstraint(
            "(status IN ('finished', 'cancelled')) = (ended_at IS NOT NULL)", name="over"
        ),
        sa.PrimaryKeyConstraint("tournament_id"),
    )
    op.create_index(
        "tournaments_due", "tournaments", ["due_at"], postgresql_where=sa.text("due_at IS NOT NULL")
    )
    op.create_index("tournaments_by_status", "tournaments", ["status", "tournament_id"])


def _make_entries() -> None:
    op.create_table(
        "tournament_entries",
        _id("entry_id"),
        _id("tournament_id"),
        sa.Column("players", postgresql.ARRAY(sa.Text()), nullable=False),
        _text("waits_for"),
        _text("status"),
        _text("ending", nullable=True),
        _text("reason", default="''"),
        _small("seed", nullable=True),
        _integer("rating", nullable=True),
        _small("played_place", nullable=True),
        _small("place", nullable=True),
        _moment("registered_at", now=True),
        _integer("version"),
        _moment("due_at", nullable=True),
        _integer("tries", default="0"),
        _text("why", default="''"),
        sa.CheckConstraint(
            "status IN ('waiting_for_partner', 'paying', 'entered', 'leaving', 'ended',"
            " 'withdrawn', 'disqualified')",
            name="status",
        ),
        sa.CheckConstraint(
            "(status IN ('leaving', 'ended')) = (ending IS NOT NULL)", name="left_for_a_reason"
        ),
        sa.CheckConstraint(
            "(status = 'waiting_for_partner') = (waits_for <> '')", name="waits_for_somebody"
        ),
        sa.CheckConstraint(
            "status NOT IN ('withdrawn', 'disqualified') OR seed IS NOT NULL", name="has_played"
        ),
        sa.ForeignKeyConstraint(["tournament_id"], ["tournaments.tournament_id"]),
        sa.PrimaryKeyConstraint("entry_id"),
        sa.UniqueConstraint("tournament_id", "seed", name="one_entry_a_seed"),
    )
    op.create_index(
        "tournament_entries_due",
        "tournament_entries",
        ["due_at"],
        postgresql_where=sa.text("status IN ('paying', 'leaving')"),
    )
    op.create_index(
        "tournament_entries_changed", "tournament_entries", ["tournament_id", "version"]
    )
    op.create_table(
        "tournament_players",
        _id("entry_id"),
        _text("player_id"),
        _id("tournament_id"),
        sa.Column("live", sa.Boolean(), nullable=False),
        sa.ForeignKeyConstraint(["entry_id"], ["tournament_entries.entry_id"]),
        sa.PrimaryKeyConstraint("entry_id", "player_id"),
    )
    op.create_index(
        "one_entry_a_player",
        "tournament_players",
        ["tournament_id", "player_id"],
        unique=True,
        postgresql_where=sa.text("live"),
    )
    op.create_index("tournament_players_by_player", "tournament_players", ["player_id"])


def _make_matches() -> None:
    op.create_table(
        "tournament_matches",
        _id("tournament_id"),
        _small("round"),
        _small("number"),
        _text("bracket"),
        _small("one", nullable=True),
        _small("two", nullable=True),
        _small("voids"),
        sa.Column("running", sa.Boolean(), nullable=False),
        _text("how", nullable=True),
        _small("winner", nullable=True),
        _id("game_id", nullable=True),
        sa.Column("told", sa.Boolean(), nullable=False, server_default=sa.text("false")),
        sa.Column(
            "players", postgresql.ARRAY(sa.Text()), nullable=False, server_default=sa.text("'{}'")
        ),
        _moment("join_by", nullable=True),
        _small("undone", default="0"),
        _moment("drawn_at", now=True),
        _moment("due_at", now=True),
        _integer("version"),
        sa.CheckConstraint("NOT running OR (how IS NULL AND game_id IS NOT NULL)", name="running"),
        sa.CheckConstraint("winner IS NULL OR how IS NOT NULL", name="won"),
        sa.ForeignKeyConstraint(["tournament_id"], ["tournaments.tournament_id"]),
        sa.ForeignKeyConstraint(
            ["tournament_id", "one"],
            ["tournament_entries.tournament_id", "tournament_entries.seed"],
            name="side_one",
        ),
        sa.ForeignKeyConstraint(
            ["tournament_id", "two"],
            ["tournament_entries.tournament_id", "tournament_entries.seed"],
            name="side_two",
        ),
        sa.PrimaryKeyConstraint("tournament_id", "round", "number"),
        sa.UniqueConstraint("game_id"),
    )
    op.create_index(
        "tournament_matches_changed", "tournament_matches", ["tournament_id", "version"]
    )


def downgrade() -> None:
    """What there was of tournaments is lost."""
    for table in (
        "tournament_corrections",
        "tournament_matches",
        "tournament_players",
        "tournament_entries",
        "tournaments",
    ):
        op.drop_table(table)
