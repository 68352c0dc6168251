"""Prize pools: the entry fees and prizes of tournaments, and corrections of them."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op
from sqlalchemy import Text
from sqlalchemy.dialects import postgresql

revision = "0003"
down_revision = "0002"
branch_labels = None
depends_on = None

TIME = sa.DateTime(timezone=True)
NOW = sa.text("clock_timestamp()")
ROLE = "kafeneio_settlement"
APPENDED = (
    *("prize_pools", "pool_entries", "pool_releases"),
    *("pool_settlements", "pool_corrections", "pool_approvals"),
)


def upgrade() -> None:
    """Make them."""
    op.add_column("transactions", sa.Column("tournament_id", sa.Uuid(), nullable=True))
    op.create_check_constraint(
        "one_subject", "transactions", "game_id IS NULL OR tournament_id IS NULL"
    )
    _pools()
    _settlements()
    _corrections()
    _guards()
    granted = " ".join(f"GRANT SELECT, INSERT ON {table} TO {ROLE};" for table in APPENDED)
    op.execute(
        f"""
        DO $$ BEGIN
            IF EXISTS (SELECT FROM pg_roles WHERE rolname = '{ROLE}') THEN
                {granted}
            END IF;
        END $$
        """
    )


def _transaction(column: str) -> tuple[sa.Column[object], sa.ForeignKeyConstraint]:
    return (
        sa.Column(column, sa.Uuid(), nullable=True),
        sa.ForeignKeyConstraint([column], ["transactions.transaction_id"]),
    )


def _pools() -> None:
    op.create_table(
        "prize_pools",
        sa.Column("tournament_id", sa.Uuid(), nullable=False),
        sa.Column("currency", Text(), nullable=False),
        sa.Column("entry_fee", sa.BigInteger(), nullable=False),
        sa.Column("fee_basis_points", sa.Integer(), nullable=False),
        sa.Column("prize_shares", postgresql.ARRAY(sa.Integer()), nullable=False),
        sa.Column("players_per_entry", sa.SmallInteger(), nullable=False),
        sa.Column("starts_at", TIME, nullable=True),
        sa.Column("at", TIME, server_default=NOW, nullable=False),
        sa.CheckConstraint("entry_fee >= 0 AND players_per_entry > 0", name="terms"),
        sa.PrimaryKeyConstraint("tournament_id"),
    )
    op.create_table(
        "pool_entries",
        sa.Column("tournament_id", sa.Uuid(), nullable=False),
        sa.Column("entry_id", sa.Uuid(), nullable=False),
        sa.Column("players", postgresql.ARRAY(Text()), nullable=False),
        *_transaction("transaction_id"),
        sa.Column("at", TIME, server_default=NOW, nullable=False),
        sa.ForeignKeyConstraint(["tournament_id"], ["prize_pools.tournament_id"]),
        sa.PrimaryKeyConstraint("tournament_id", "entry_id"),
    )
    op.create_table(
        "pool_releases",
        sa.Column("tournament_id", sa.Uuid(), nullable=False),
        sa.Column("entry_id", sa.Uuid(), nullable=False),
        *_transaction("transaction_id"),
        sa.Column("at", TIME, server_default=NOW, nullable=False),
        sa.ForeignKeyConstraint(["tournament_id"], ["prize_pools.tournament_id"]),
        sa.PrimaryKeyConstraint("tournament_id", "entry_id"),
    )


def _settlements() -> None:
    op.create_table(
        "pool_settlements",
        sa.Column("tournament_id", sa.Uuid(), nullable=False),
        sa.Column("version", sa.Integer(), nullable=False),
        sa.Column("void", sa.Boolean(), nullable=False),
        sa.Column("rule_version", sa.Integer(), nullable=False),
        sa.Column("entries", postgresql.ARRAY(sa.Uuid()), nullable=False),
        sa.Column("places", postgresql.ARRAY(sa.Integer()), nullable=False),
        sa.Column("amounts", postgresql.ARRAY(sa.BigInteger()), nullable=False),
        sa.Column("fee", sa.BigInteger(), nullable=False),
        *_transaction("transaction_id"),
        *_transaction("reversal_id"),
        sa.Column("settled_by", Text(), nullable=False),
        sa.Column("reason", Text(), nullable=False),
        sa.Column("approved_by", Text(), nullable=True),
        sa.Column("at", TIME, server_default=NOW, nullable=False),
        sa.CheckConstraint("(version > 1) = (approved_by IS NOT NULL)", name="corrected_by_two"),
        sa.CheckConstraint(
            "cardinality(entries) = cardinality(places) AND cardinality(entries) ="
            " cardinality(amounts)",
            name="same_length",
        ),
        sa.ForeignKeyConstraint(["tournament_id"], ["prize_pools.tournament_id"]),
        sa.PrimaryKeyConstraint("tournament_id", "version"),
    )


def _corrections() -> None:
    op.create_table(
        "pool_corrections",
        sa.Column("tournament_id", sa.Uuid(), nullable=False),
        sa.Column("number", sa.Integer(), nullable=False),
        sa.Column("corrects", sa.Integer(), nullable=False),
        sa.Column("entries", postgresql.ARRAY(sa.Uuid()), nullable=True),
        sa.Column("places", postgresql.ARRAY(sa.Integer()), nullable=True),
        sa.Column("entry_fee", sa.BigInteger(), nullable=True),
        sa.Column("fee_basis_points", sa.Integer(), nullable=True),
        sa.Column("prize_shares", postgresql.ARRAY(sa.Integer()), nullable=True),
        sa.Column("starts_at", TIME, nullable=True),
        sa.Column("reason", Text(), nullable=False),
        sa.Column("proposed_by", Text(), nullable=False),
        sa.Column("at", TIME, server_default=NOW, nullable=False),
        sa.CheckConstraint("number > 0 AND (entries IS NULL) = (places IS NULL)", name="one_end"),
        sa.ForeignKeyConstraint(
            ["tournament_id", "corrects"],
            ["pool_settlements.tournament_id", "pool_settlements.version"],
            name="pool_corrections_settlement",
        ),
        sa.PrimaryKeyConstraint("tournament_id", "number"),
        sa.UniqueConstraint(
            "tournament_id", "number", "proposed_by", name="pool_corrections_proposer"
        ),
    )
    op.create_table(
        "pool_approvals",
        sa.Column("tournament_id", sa.Uuid(), nullable=False),
        sa.Column("number", sa.Integer(), nullable=False),
        sa.Column("proposed_by", Text(), nullable=False),
        sa.Column("approved_by", Text(), nullable=False),
        sa.Column("version", sa.Integer(), nullable=False),
        sa.Column("at", TIME, server_default=NOW, nullable=False),
        sa.CheckConstraint("approved_by <> proposed_by", name="two_operators"),
        sa.ForeignKeyConstraint(
            ["tournament_id", "number", "proposed_by"],
            [
                "pool_corrections.tournament_id",
                "pool_corrections.number",
                "pool_corrections.proposed_by",
            ],
            name="pool_approvals_correction",
        ),
        sa.ForeignKeyConstraint(
            ["tournament_id", "version"],
            ["pool_settlements.tournament_id", "pool_settlements.version"],
            name="pool_approvals_settlement",
        ),
        sa.PrimaryKeyConstraint("tournament_id", "number"),
        sa.UniqueConstraint("tournament_id", "version", name="pool_approvals_version"),
    )


def _guards() -> None:
    """What no statement may do, whoever sends it."""
    for table in APPENDED:
        op.execute(
            f"CREATE TRIGGER unchangeable BEFORE UPDATE OR DELETE OR TRUNCATE ON {table}"
            " FOR EACH STATEMENT EXECUTE FUNCTION refuse_change()"
        )
    # Nobody enters or leaves a tournament that is over.
    op.execute(
        """
        CREATE FUNCTION demand_open_pool() RETURNS trigger LANGUAGE plpgsql AS $$
        BEGIN
            IF EXISTS (SELECT FROM pool_settlements s WHERE s.tournament_id = NEW.tournament_id)
            THEN
                RAISE EXCEPTION 'the prize pool is settled'
                    USING ERRCODE = 'restrict_violation';
            END IF;
            RETURN NEW;
        END $$
        """
    )
    for table in ("pool_entries", "pool_releases"):
        op.execute(
            f"CREATE TRIGGER while_open BEFORE INSERT ON {table}"
            " FOR EACH ROW EXECUTE FUNCTION demand_open_pool()"
        )
    # A settlement is written after its transfers, and they have left nothing in escrow.
    op.execute(
        """
        CREATE FUNCTION demand_empty_escrow() RETURNS trigger LANGUAGE plpgsql AS $$
        BEGIN
            IF EXISTS (
                SELECT FROM accounts a
                WHERE a.account = 'escrow:' || NEW.tournament_id AND a.balance <> 0
            ) THEN
                RAISE EXCEPTION 'a prize pool is paid out to the last unit'
                    USING ERRCODE = 'restrict_violation';
            END IF;
            RETURN NEW;
        END $$
        """
    )
    op.execute(
        "CREATE TRIGGER pays_all BEFORE INSERT ON pool_settlements"
        " FOR EACH ROW EXECUTE FUNCTION demand_empty_escrow()"
    )


def downgrade() -> None:
    """Possible only while there was no tournament: what was paid is never forgotten."""
    op.execute(
        """
        DO $$ BEGIN
            IF EXISTS (SELECT FROM prize_pools) THEN
                RAISE EXCEPTION 'what a tournament has paid is not forgotten'
                    USING ERRCODE = 'restrict_violation';
            END IF;
        END $$
        """
    )
    for table in reversed(APPENDED):
        op.drop_table(table)
    op.execute("DROP FUNCTION demand_empty_escrow")
    op.execute("DROP FUNCTION demand_open_pool")
    op.drop_constraint("one_subject", "transactions", type_="check")
    op.drop_column("transactions", "tournament_id")
