"""The first tables of `settlement`: wallets, ledger, games, and those that every service has."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op
from sqlalchemy import Text
from sqlalchemy.dialects import postgresql

revision = "0001"
down_revision = None
branch_labels = None
depends_on = None

TIME = sa.DateTime(timezone=True)
NOW = sa.text("clock_timestamp()")


def upgrade() -> None:
    """Make them."""
    _ledger()
    _games()
    _shared()
    _guards()


def _ledger() -> None:
    op.create_table(
        "wallets",
        sa.Column("player_id", sa.Text(), nullable=False),
        sa.Column("status", sa.Text(), server_default=sa.text("'active'"), nullable=False),
        sa.Column("reason", sa.Text(), nullable=True),
        sa.Column("changed_by", sa.Text(), nullable=True),
        sa.Column("created_at", TIME, server_default=NOW, nullable=False),
        sa.CheckConstraint("status IN ('active', 'suspended')", name="status"),
        sa.PrimaryKeyConstraint("player_id"),
    )
    op.create_table(
        "accounts",
        sa.Column("account", sa.Text(), nullable=False),
        sa.Column("currency", sa.Text(), nullable=False),
        sa.Column("balance", sa.BigInteger(), server_default=sa.text("0"), nullable=False),
        sa.Column("version", sa.BigInteger(), server_default=sa.text("0"), nullable=False),
        sa.CheckConstraint("balance >= 0 OR account = 'external:cashier'", name="not_below_zero"),
        sa.CheckConstraint("version > 0 OR balance = 0", name="empty_at_first"),
        sa.PrimaryKeyConstraint("account", "currency"),
    )
    op.create_table(
        "transactions",
        sa.Column("transaction_id", sa.Uuid(), nullable=False),
        sa.Column("kind", sa.Text(), nullable=False),
        sa.Column("currency", sa.Text(), nullable=False),
        sa.Column("game_id", sa.Uuid(), nullable=True),
        sa.Column("at", TIME, nullable=False),
        sa.CheckConstraint(
            "kind IN ('deposit', 'withdrawal', 'hold', 'release', 'payout')", name="kind"
        ),
        sa.PrimaryKeyConstraint("transaction_id"),
    )
    op.create_index("transactions_by_game", "transactions", ["game_id"], unique=False)
    op.create_table(
        "transfers",
        sa.Column("transaction_id", sa.Uuid(), nullable=False),
        sa.Column("position", sa.SmallInteger(), nullable=False),
        sa.Column("currency", sa.Text(), nullable=False),
        sa.Column("debit_account", sa.Text(), nullable=False),
        sa.Column("credit_account", sa.Text(), nullable=False),
        sa.Column("amount", sa.BigInteger(), nullable=False),
        sa.Column("debit_version", sa.BigInteger(), nullable=False),
        sa.Column("debit_balance", sa.BigInteger(), nullable=False),
        sa.Column("credit_version", sa.BigInteger(), nullable=False),
        sa.Column("credit_balance", sa.BigInteger(), nullable=False),
        sa.CheckConstraint("amount > 0", name="more_than_nothing"),
        sa.CheckConstraint("debit_account <> credit_account", name="two_accounts"),
        sa.ForeignKeyConstraint(["transaction_id"], ["transactions.transaction_id"]),
        sa.PrimaryKeyConstraint("transaction_id", "position"),
    )
    for side in ("debit", "credit"):
        columns = [f"{side}_account", "currency", f"{side}_version"]
        op.create_index(f"transfers_by_{side}", "transfers", columns, unique=True)


def _games() -> None:
    op.create_table(
        "games",
        sa.Column("game_id", sa.Uuid(), nullable=False),
        sa.Column("state", sa.Text(), nullable=False),
        sa.Column("players", postgresql.ARRAY(Text()), nullable=True),
        sa.Column("currency", sa.Text(), nullable=True),
        sa.Column("stake", sa.BigInteger(), nullable=True),
        sa.Column("fee_basis_points", sa.Integer(), nullable=True),
        sa.Column("held_at", TIME, nullable=True),
        sa.Column("released", sa.Boolean(), server_default=sa.text("false"), nullable=False),
        sa.Column("seated", postgresql.ARRAY(Text()), nullable=True),
        sa.Column("started_at", TIME, nullable=True),
        sa.Column("finished", postgresql.JSONB(astext_type=Text()), nullable=True),
        sa.Column("finished_at", TIME, nullable=True),
        sa.Column("closed", postgresql.JSONB(astext_type=Text()), nullable=True),
        sa.Column("closed_at", TIME, nullable=True),
        sa.Column("problem", sa.Text(), nullable=True),
        sa.Column("announced", sa.Integer(), server_default=sa.text("0"), nullable=False),
        sa.CheckConstraint(
            "state IN ('held', 'released', 'started', 'pending', 'mismatch', 'settled')",
            name="state",
        ),
        sa.CheckConstraint("(stake IS NULL) = (players IS NULL) AND stake > 0", name="stake"),
        sa.PrimaryKeyConstraint("game_id"),
    )
    op.create_index(
        "games_unsettled",
        "games",
        ["state"],
        unique=False,
        postgresql_where=sa.text("state IN ('held', 'started', 'pending', 'mismatch')"),
    )
    op.create_table(
        "settlements",
        sa.Column("game_id", sa.Uuid(), nullable=False),
        sa.Column("version", sa.Integer(), nullable=False),
        sa.Column("payout_rule", sa.Text(), nullable=False),
        sa.Column("rule_version", sa.Integer(), nullable=False),
        sa.Column("void", sa.Boolean(), nullable=False),
        sa.Column("shares", postgresql.ARRAY(sa.BigInteger()), nullable=True),
        sa.Column("fee", sa.BigInteger(), nullable=True),
        sa.Column("transaction_id", sa.Uuid(), nullable=True),
        sa.Column("resolved_by", sa.Text(), nullable=True),
        sa.Column("reason", sa.Text(), nullable=True),
        sa.Column("at", TIME, nullable=False),
        sa.ForeignKeyConstraint(["game_id"], ["games.game_id"], name="settlements_game"),
        sa.ForeignKeyConstraint(
            ["transaction_id"], ["transactions.transaction_id"], name="settlements_transaction"
        ),
        sa.PrimaryKeyConstraint("game_id", "version"),
    )


def _shared() -> None:
    op.create_table(
        "inbox",
        sa.Column("consumer", sa.Text(), nullable=False),
        sa.Column("event_id", sa.Uuid(), nullable=False),
        sa.Column("handled_at", TIME, server_default=NOW, nullable=False),
        sa.PrimaryKeyConstraint("consumer", "event_id"),
    )
    op.create_table(
        "outbox",
        sa.Column("event_id", sa.Uuid(), nullable=False),
        sa.Column(
            "subject_id", sa.Uuid(), nullable=False, comment="what the event is about: the game"
        ),
        sa.Column(
            "sequence", sa.BigInteger(), nullable=False, comment="numbers the events of a subject"
        ),
        sa.Column("type", sa.Text(), nullable=False),
        sa.Column("payload", sa.LargeBinary(), nullable=False),
        sa.Column("occurred_at", TIME, server_default=NOW, nullable=False),
        sa.Column("published_at", TIME, nullable=True),
        sa.PrimaryKeyConstraint("event_id"),
        sa.UniqueConstraint("subject_id", "sequence", name="outbox_subject_sequence"),
    )
    op.create_index(
        "outbox_unpublished",
        "outbox",
        ["occurred_at"],
        unique=False,
        postgresql_where=sa.text("published_at IS NULL"),
    )
    op.create_table(
        "requests",
        sa.Column("caller", sa.Text(), nullable=False),
        sa.Column("method", sa.Text(), nullable=False),
        sa.Column("request_id", sa.Uuid(), nullable=False),
        sa.Column("digest", sa.LargeBinary(), nullable=False, comment="SHA-256 of the request"),
        sa.Column(
            "response", sa.LargeBinary(), server_default=sa.text("''::bytea"), nullable=False
        ),
        sa.Column("created_at", TIME, server_default=NOW, nullable=False),
        sa.PrimaryKeyConstraint("caller", "method", "request_id"),
    )
    op.create_index("requests_created", "requests", ["created_at"], unique=False)


def _guards() -> None:
    """What no statement may do, whoever sends it."""
    op.execute(
        """
        CREATE FUNCTION refuse_change() RETURNS trigger LANGUAGE plpgsql AS $$
        BEGIN
            RAISE EXCEPTION '% is never changed, only added to', TG_TABLE_NAME
                USING ERRCODE = 'restrict_violation';
        END $$
        """
    )
    for table in ("transactions", "transfers", "settlements"):
        op.execute(
            f"CREATE TRIGGER unchangeable BEFORE UPDATE OR DELETE OR TRUNCATE ON {table}"
            " FOR EACH STATEMENT EXECUTE FUNCTION refuse_change()"
        )
    op.execute(
        "CREATE TRIGGER kept BEFORE DELETE OR TRUNCATE ON accounts"
        " FOR EACH STATEMENT EXECUTE FUNCTION refuse_change()"
    )
    # Once a statement: every balance that it wrote is the one that a transfer left behind.
    op.execute(
        """
        CREATE FUNCTION demand_transfer() RETURNS trigger LANGUAGE plpgsql AS $$
        BEGIN
            IF EXISTS (
                SELECT FROM written
                WHERE version > 0 AND NOT EXISTS (
                    SELECT FROM transfers t
                    WHERE t.debit_account = written.account AND t.currency = written.currency
                      AND t.debit_version = written.version AND t.debit_balance = written.balance
                ) AND NOT EXISTS (
                    SELECT FROM transfers t
                    WHERE t.credit_account = written.account AND t.currency = written.currency
                      AND t.credit_version = written.version AND t.credit_balance = written.balance
                )
            ) THEN
                RAISE EXCEPTION 'a balance is written with its transfer only'
                    USING ERRCODE = 'restrict_violation';
            END IF;
            RETURN NULL;
        END $$
        """
    )
    for event in ("INSERT", "UPDATE"):
        op.execute(
            f"CREATE TRIGGER follows_transfer_{event.lower()} AFTER {event} ON accounts"
            " REFERENCING NEW TABLE AS written"
            " FOR EACH STATEMENT EXECUTE FUNCTION demand_transfer()"
        )


def downgrade() -> None:
    """There is nothing before the first tables."""
    for table in (
        *("settlements", "games", "transfers", "transactions", "accounts", "wallets"),
        *("requests", "outbox", "inbox"),
    ):
        op.drop_table(table)
    op.execute("DROP FUNCTION refuse_change")
    op.execute("DROP FUNCTION demand_transfer")
