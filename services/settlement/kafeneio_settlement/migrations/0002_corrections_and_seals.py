"""Corrections by two operators, debts, the chain of seals, and a role that may only add."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op
from sqlalchemy import Text
from sqlalchemy.dialects import postgresql

revision = "0002"
down_revision = "0001"
branch_labels = None
depends_on = None

TIME = sa.DateTime(timezone=True)
NOW = sa.text("clock_timestamp()")
ROLE = "kafeneio_settlement"
APPENDED = ("transactions", "transfers", "settlements", "seals", "corrections", "approvals")
CHANGED = ("wallets", "accounts", "games")
SHARED = ("requests", "inbox", "outbox")


def upgrade() -> None:
    """Make them."""
    _debts()
    _seals()
    _corrections()
    for table in ("seals", "corrections", "approvals"):
        op.execute(
            f"CREATE TRIGGER unchangeable BEFORE UPDATE OR DELETE OR TRUNCATE ON {table}"
            " FOR EACH STATEMENT EXECUTE FUNCTION refuse_change()"
        )
    _role()


def _debts() -> None:
    """A player's account may be below zero, but only a correction can bring it there."""
    op.drop_constraint("kind", "transactions", type_="check")
    op.create_check_constraint(
        "kind",
        "transactions",
        "kind IN ('deposit', 'withdrawal', 'hold', 'release', 'payout', 'reversal', 'correction')",
    )
    op.drop_constraint("not_below_zero", "accounts", type_="check")
    op.create_check_constraint(
        "not_below_zero",
        "accounts",
        "balance >= 0 OR account = 'external:cashier' OR starts_with(account, 'player:')",
    )
    # Once a row, but called for debts only. A balance is that of a transfer (follows_transfer), so
    # no account can owe without one of these.
    op.execute(
        """
        CREATE FUNCTION demand_correction() RETURNS trigger LANGUAGE plpgsql AS $$
        BEGIN
            IF NOT starts_with(NEW.debit_account, 'player:') OR NOT EXISTS (
                SELECT FROM transactions t
                WHERE t.transaction_id = NEW.transaction_id
                  AND t.kind IN ('reversal', 'correction')
            ) THEN
                RAISE EXCEPTION 'only a correction may leave a debt, and only to a player'
                    USING ERRCODE = 'restrict_violation';
            END IF;
            RETURN NULL;
        END $$
        """
    )
    op.execute(
        "CREATE TRIGGER owes_by_correction AFTER INSERT ON transfers FOR EACH ROW"
        " WHEN (NEW.debit_balance < 0 AND NEW.debit_account <> 'external:cashier')"
        " EXECUTE FUNCTION demand_correction()"
    )


def _seals() -> None:
    op.create_table(
        "seals",
        sa.Column("number", sa.BigInteger(), nullable=False, autoincrement=False),
        sa.Column("transaction_id", sa.Uuid(), nullable=False),
        sa.Column("hash", sa.LargeBinary(), nullable=False),
        sa.Column("at", TIME, server_default=NOW, nullable=False),
        sa.CheckConstraint("number > 0 AND length(hash) = 32", name="sealed"),
        sa.ForeignKeyConstraint(["transaction_id"], ["transactions.transaction_id"]),
        sa.PrimaryKeyConstraint("number"),
        sa.UniqueConstraint("transaction_id", name="seals_transaction"),
    )
    # What is written last lies last: the sealer finds the newest without an entry for each row.
    op.create_index("transactions_by_time", "transactions", ["at"], postgresql_using="brin")


def _corrections() -> None:
    op.create_table(
        "corrections",
        sa.Column("game_id", sa.Uuid(), nullable=False),
        sa.Column("number", sa.Integer(), nullable=False),
        sa.Column("corrects", sa.Integer(), nullable=False),
        sa.Column("winners", postgresql.ARRAY(sa.SmallInteger()), nullable=False),
        sa.Column("void", sa.Text(), nullable=False),
        sa.Column("forfeited", postgresql.ARRAY(sa.SmallInteger()), nullable=False),
        sa.Column("stake", sa.BigInteger(), nullable=True),
        sa.Column("fee_basis_points", sa.Integer(), nullable=True),
        sa.Column("reason", Text(), nullable=False),
        sa.Column("proposed_by", Text(), nullable=False),
        sa.Column("at", TIME, server_default=NOW, nullable=False),
        sa.CheckConstraint("number > 0 AND stake > 0", name="terms"),
        sa.CheckConstraint("(cardinality(winners) = 0) = (void <> '')", name="one_end"),
        sa.ForeignKeyConstraint(
            ["game_id", "corrects"],
            ["settlements.game_id", "settlements.version"],
            name="corrections_settlement",
        ),
        sa.PrimaryKeyConstraint("game_id", "number"),
        sa.UniqueConstraint("game_id", "number", "proposed_by", name="corrections_proposer"),
    )
    op.create_table(
        "approvals",
        sa.Column("game_id", sa.Uuid(), nullable=False),
        sa.Column("number", sa.Integer(), nullable=False),
        sa.Column("proposed_by", Text(), nullable=False),
        sa.Column("approved_by", Text(), nullable=False),
        sa.Column("version", sa.Integer(), nullable=False),
        sa.Column("at", TIME, server_default=NOW, nullable=False),
        sa.CheckConstraint("approved_by <> proposed_by", name="two_operators"),
        sa.ForeignKeyConstraint(
            ["game_id", "number", "proposed_by"],
            ["corrections.game_id", "corrections.number", "corrections.proposed_by"],
            name="approvals_correction",
        ),
        sa.ForeignKeyConstraint(
            ["game_id", "version"],
            ["settlements.game_id", "settlements.version"],
            name="approvals_settlement",
        ),
        sa.PrimaryKeyConstraint("game_id", "number"),
        sa.UniqueConstraint("game_id", "version", name="approvals_version"),
    )
    op.add_column("settlements", sa.Column("stake", sa.BigInteger(), nullable=True))
    op.add_column("settlements", sa.Column("approved_by", Text(), nullable=True))
    op.add_column("settlements", sa.Column("reversal_id", sa.Uuid(), nullable=True))
    op.create_foreign_key(
        "settlements_reversal", "settlements", "transactions", ["reversal_id"], ["transaction_id"]
    )
    op.create_check_constraint(
        "corrected_by_two", "settlements", "(version > 1) = (approved_by IS NOT NULL)"
    )


def _role() -> None:
    """A role of the cluster that may add to the ledger and change nothing of it. A process that may
    take it on does so; where we may make no roles the triggers stand alone."""
    op.execute(
        f"""
        DO $$ BEGIN
            PERFORM pg_advisory_xact_lock(hashtext('{ROLE}'));
            IF NOT EXISTS (SELECT FROM pg_roles WHERE rolname = '{ROLE}') THEN
                CREATE ROLE {ROLE} NOLOGIN;
                EXECUTE format('GRANT {ROLE} TO %I', current_user);
            END IF;
        EXCEPTION
            WHEN insufficient_privilege OR duplicate_object OR unique_violation THEN NULL;
        END $$
        """
    )
    grants = (
        *(f"SELECT, INSERT ON {table}" for table in APPENDED),
        *(f"SELECT, INSERT, UPDATE ON {table}" for table in CHANGED),
        *(f"SELECT, INSERT, UPDATE, DELETE ON {table}" for table in SHARED),
    )
    granted = " ".join(f"GRANT {each} TO {ROLE};" for each in grants)
    op.execute(
        f"""
        DO $$ BEGIN
            IF EXISTS (SELECT FROM pg_roles WHERE rolname = '{ROLE}') THEN
                EXECUTE format('GRANT USAGE ON SCHEMA %I TO {ROLE}', current_schema());
                {granted}
            END IF;
        END $$
        """
    )


def downgrade() -> None:
    """Possible only while nobody owes and nothing was corrected. The role stays: it is the
    cluster's."""
    op.execute(
        f"""
        DO $$ BEGIN
            IF EXISTS (SELECT FROM pg_roles WHERE rolname = '{ROLE}') THEN
                EXECUTE format('REVOKE ALL ON ALL TABLES IN SCHEMA %I FROM {ROLE}',
                               current_schema());
                EXECUTE format('REVOKE USAGE ON SCHEMA %I FROM {ROLE}', current_schema());
            END IF;
        END $$
        """
    )
    op.drop_constraint("corrected_by_two", "settlements", type_="check")
    op.drop_constraint("settlements_reversal", "settlements", type_="foreignkey")
    for column in ("reversal_id", "approved_by", "stake"):
        op.drop_column("settlements", column)
    for table in ("approvals", "corrections", "seals"):
        op.drop_table(table)
    op.drop_index("transactions_by_time", "transactions")
    op.execute("DROP TRIGGER owes_by_correction ON transfers")
    op.execute("DROP FUNCTION demand_correction")
    op.drop_constraint("not_below_zero", "accounts", type_="check")
    op.create_check_constraint(
        "not_below_zero", "accounts", "balance >= 0 OR account = 'external:cashier'"
    )
    op.drop_constraint("kind", "transactions", type_="check")
    op.create_check_constraint(
        "kind",
        "transactions",
        "kind IN ('deposit', 'withdrawal', 'hold', 'release', 'payout')",
    )
