"""The tables of `settlement`, defined once; migrations/ makes them, ledger.py and storage.py read
and write them."""

from __future__ import annotations

from typing import Final

from kafeneio_runtime.tables import NOW, outbox_tables
from sqlalchemy import (
    BigInteger,
    Boolean,
    CheckConstraint,
    Column,
    DateTime,
    ForeignKey,
    ForeignKeyConstraint,
    Index,
    Integer,
    LargeBinary,
    MetaData,
    SmallInteger,
    Table,
    Text,
    UniqueConstraint,
    Uuid,
    text,
)
from sqlalchemy.dialects.postgresql import ARRAY, JSONB

SCHEMA: Final = "settlement"
"""Also the channel on which changes of accounts are hinted."""

ROLE: Final = "kafeneio_settlement"
"""The role of the database that may add to the ledger and change nothing of it."""

metadata = MetaData()

wallets = Table(
    "wallets",
    metadata,
    Column("player_id", Text, primary_key=True),
    Column("status", Text, nullable=False, server_default=text("'active'")),
    # Why an operator changed the status last, and who.
    Column("reason", Text),
    Column("changed_by", Text),
    Column("created_at", DateTime(timezone=True), nullable=False, server_default=NOW),
    CheckConstraint("status IN ('active', 'suspended')", name="status"),
)

accounts = Table(
    "accounts",
    metadata,
    Column("account", Text, primary_key=True),
    Column("currency", Text, primary_key=True),
    # A trigger demands that a balance and its version are those of a transfer.
    Column("balance", BigInteger, nullable=False, server_default=text("0")),
    Column("version", BigInteger, nullable=False, server_default=text("0")),
    # A player's may be below zero by a correction only: a trigger on transfers sees to that.
    CheckConstraint(
        "balance >= 0 OR account = 'external:cashier' OR starts_with(account, 'player:')",
        name="not_below_zero",
    ),
    CheckConstraint("version > 0 OR balance = 0", name="empty_at_first"),
)

transactions = Table(
    "transactions",
    metadata,
    # Follows from what it is done for: the same thing can't be done twice.
    Column("transaction_id", Uuid, primary_key=True),
    Column("kind", Text, nullable=False),
    Column("currency", Text, nullable=False),
    Column("game_id", Uuid),
    Column("at", DateTime(timezone=True), nullable=False),
    CheckConstraint(
        "kind IN ('deposit', 'withdrawal', 'hold', 'release', 'payout', 'reversal', 'correction')",
        name="kind",
    ),
)
Index("transactions_by_game", transactions.c.game_id)
Index("transactions_by_time", transactions.c.at, postgresql_using="brin")

transfers = Table(
    "transfers",
    metadata,
    Column("transaction_id", Uuid, ForeignKey(transactions.c.transaction_id), primary_key=True),
    Column("position", SmallInteger, primary_key=True),
    Column("currency", Text, nullable=False),
    Column("debit_account", Text, nullable=False),
    Column("credit_account", Text, nullable=False),
    Column("amount", BigInteger, nullable=False),
    # What the transfer made of its two accounts.
    Column("debit_version", BigInteger, nullable=False),
    Column("debit_balance", BigInteger, nullable=False),
    Column("credit_version", BigInteger, nullable=False),
    Column("credit_balance", BigInteger, nullable=False),
    CheckConstraint("amount > 0", name="more_than_nothing"),
    CheckConstraint("debit_account <> credit_account", name="two_accounts"),
    Index("transfers_by_debit", "debit_account", "currency", "debit_version", unique=True),
    Index("transfers_by_credit", "credit_account", "currency", "credit_version", unique=True),
)

seals = Table(
    "seals",
    metadata,
    # The chain: each hash is made of the one before and of the transaction with its transfers.
    Column("number", BigInteger, primary_key=True, autoincrement=False),
    Column("transaction_id", Uuid, ForeignKey(transactions.c.transaction_id), nullable=False),
    Column("hash", LargeBinary, nullable=False),
    Column("at", DateTime(timezone=True), nullable=False, server_default=NOW),
    UniqueConstraint("transaction_id", name="seals_transaction"),
    CheckConstraint("number > 0 AND length(hash) = 32", name="sealed"),
)

games = Table(
    "games",
    metadata,
    Column("game_id", Uuid, primary_key=True),
    Column("state", Text, nullable=False),
    # The stakes, by seat; NULL where none are held.
    Column("players", ARRAY(Text)),
    Column("currency", Text),
    Column("stake", BigInteger),
    Column("fee_basis_points", Integer),
    Column("held_at", DateTime(timezone=True)),
    Column("released", Boolean, nullable=False, server_default=text("false")),
    # What the events said: who sat down, how it ended, which forfeits the clock knows.
    Column("seated", ARRAY(Text)),
    Column("started_at", DateTime(timezone=True)),
    Column("finished", JSONB),
    Column("finished_at", DateTime(timezone=True)),
    Column("closed", JSONB),
    Column("closed_at", DateTime(timezone=True)),
    Column("problem", Text),
    # How many events there were about it.
    Column("announced", Integer, nullable=False, server_default=text("0")),
    CheckConstraint(
        "state IN ('held', 'released', 'started', 'pending', 'mismatch', 'settled')", name="state"
    ),
    CheckConstraint("(stake IS NULL) = (players IS NULL) AND stake > 0", name="stake"),
)
Index(
    "games_unsettled",
    games.c.state,
    postgresql_where=text("state IN ('held', 'started', 'pending', 'mismatch')"),
)

settlements = Table(
    "settlements",
    metadata,
    # The gate: a game is paid once.
    Column("game_id", Uuid, primary_key=True),
    Column("version", Integer, primary_key=True),
    Column("payout_rule", Text, nullable=False),
    Column("rule_version", Integer, nullable=False),
    Column("void", Boolean, nullable=False),
    # By seat; NULL where no stakes were held, as is the transaction.
    Column("shares", ARRAY(BigInteger)),
    Column("fee", BigInteger),
    Column("transaction_id", Uuid),
    Column("resolved_by", Text),
    Column("reason", Text),
    Column("at", DateTime(timezone=True), nullable=False),
    # Of a correction: the stake if it was wrong, the second operator, what undid the one before.
    Column("stake", BigInteger),
    Column("approved_by", Text),
    Column("reversal_id", Uuid),
    ForeignKeyConstraint(["game_id"], ["games.game_id"], name="settlements_game"),
    ForeignKeyConstraint(
        ["transaction_id"], ["transactions.transaction_id"], name="settlements_transaction"
    ),
    ForeignKeyConstraint(
        ["reversal_id"], ["transactions.transaction_id"], name="settlements_reversal"
    ),
    CheckConstraint("(version > 1) = (approved_by IS NOT NULL)", name="corrected_by_two"),
)

corrections = Table(
    "corrections",
    metadata,
    # What an operator has proposed for a settled game.
    Column("game_id", Uuid, primary_key=True),
    Column("number", Integer, primary_key=True),
    Column("corrects", Integer, nullable=False),
    Column("winners", ARRAY(SmallInteger), nullable=False),
    Column("void", Text, nullable=False),
    Column("forfeited", ARRAY(SmallInteger), nullable=False),
    # NULL where it was right.
    Column("stake", BigInteger),
    Column("fee_basis_points", Integer),
    Column("reason", Text, nullable=False),
    Column("proposed_by", Text, nullable=False),
    Column("at", DateTime(timezone=True), nullable=False, server_default=NOW),
    ForeignKeyConstraint(
        ["game_id", "corrects"],
        ["settlements.game_id", "settlements.version"],
        name="corrections_settlement",
    ),
    UniqueConstraint("game_id", "number", "proposed_by", name="corrections_proposer"),
    CheckConstraint("number > 0 AND stake > 0", name="terms"),
    CheckConstraint("(cardinality(winners) = 0) = (void <> '')", name="one_end"),
)

approvals = Table(
    "approvals",
    metadata,
    # The gates: a correction is done once, and never by the one who proposed it.
    Column("game_id", Uuid, primary_key=True),
    Column("number", Integer, primary_key=True),
    Column("proposed_by", Text, nullable=False),
    Column("approved_by", Text, nullable=False),
    Column("version", Integer, nullable=False),
    Column("at", DateTime(timezone=True), nullable=False, server_default=NOW),
    ForeignKeyConstraint(
        ["game_id", "number", "proposed_by"],
        ["corrections.game_id", "corrections.number", "corrections.proposed_by"],
        name="approvals_correction",
    ),
    ForeignKeyConstraint(
        ["game_id", "version"],
        ["settlements.game_id", "settlements.version"],
        name="approvals_settlement",
    ),
    UniqueConstraint("game_id", "version", name="approvals_version"),
    CheckConstraint("approved_by <> proposed_by", name="two_operators"),
)

shared = outbox_tables(metadata)

UNCHANGEABLE: Final = (
    *("transactions", "transfers", "settlements"),
    *("seals", "corrections", "approvals"),
)
"""Tables of which no row is ever changed or deleted."""
