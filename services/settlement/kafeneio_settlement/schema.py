"""The tables of `settlement`, defined once; migrations/ makes them, ledger.py and storage.py read
and write them."""

from __future__ import annotations

from typing import Final

from kafeneio_runtime.tables import NOW, audit_table, outbox_tables
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
    Column("tournament_id", Uuid),
    CheckConstraint("game_id IS NULL OR tournament_id IS NULL", name="one_subject"),
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

prize_pools = Table(
    "prize_pools",
    metadata,
    # What was published of a tournament's money. What has become of it is in the tables below.
    Column("tournament_id", Uuid, primary_key=True),
    Column("currency", Text, nullable=False),
    Column("entry_fee", BigInteger, nullable=False),
    Column("fee_basis_points", Integer, nullable=False),
    Column("prize_shares", ARRAY(Integer), nullable=False),
    Column("players_per_entry", SmallInteger, nullable=False),
    Column("starts_at", DateTime(timezone=True)),
    Column("at", DateTime(timezone=True), nullable=False, server_default=NOW),
    CheckConstraint("entry_fee >= 0 AND players_per_entry > 0", name="terms"),
)

pool_entries = Table(
    "pool_entries",
    metadata,
    # A trigger refuses what comes after the first settlement.
    Column("tournament_id", Uuid, ForeignKey(prize_pools.c.tournament_id), primary_key=True),
    Column("entry_id", Uuid, primary_key=True),
    Column("players", ARRAY(Text), nullable=False),
    # NULL where the fee is nothing.
    Column("transaction_id", Uuid, ForeignKey(transactions.c.transaction_id)),
    Column("at", DateTime(timezone=True), nullable=False, server_default=NOW),
)

pool_releases = Table(
    "pool_releases",
    metadata,
    # Also of entries that were not held yet: they can't be any more. The same trigger.
    Column("tournament_id", Uuid, ForeignKey(prize_pools.c.tournament_id), primary_key=True),
    Column("entry_id", Uuid, primary_key=True),
    Column("transaction_id", Uuid, ForeignKey(transactions.c.transaction_id)),
    Column("at", DateTime(timezone=True), nullable=False, server_default=NOW),
)

pool_settlements = Table(
    "pool_settlements",
    metadata,
    # The gate: a tournament is paid once. A trigger demands that its escrow is empty then.
    Column("tournament_id", Uuid, ForeignKey(prize_pools.c.tournament_id), primary_key=True),
    Column("version", Integer, primary_key=True),
    Column("void", Boolean, nullable=False),
    Column("rule_version", Integer, nullable=False),
    # Who finished where and got what, the first place first.
    Column("entries", ARRAY(Uuid), nullable=False),
    Column("places", ARRAY(Integer), nullable=False),
    Column("amounts", ARRAY(BigInteger), nullable=False),
    Column("fee", BigInteger, nullable=False),
    # NULL where nothing moved.
    Column("transaction_id", Uuid, ForeignKey(transactions.c.transaction_id)),
    Column("reversal_id", Uuid, ForeignKey(transactions.c.transaction_id)),
    Column("settled_by", Text, nullable=False),
    Column("reason", Text, nullable=False),
    Column("approved_by", Text),
    Column("at", DateTime(timezone=True), nullable=False, server_default=NOW),
    CheckConstraint("(version > 1) = (approved_by IS NOT NULL)", name="corrected_by_two"),
    CheckConstraint(
        "cardinality(entries) = cardinality(places) AND cardinality(entries) ="
        " cardinality(amounts)",
        name="same_length",
    ),
)

pool_corrections = Table(
    "pool_corrections",
    metadata,
    # What an operator has proposed for a tournament that was paid; NULL where it is void.
    Column("tournament_id", Uuid, primary_key=True),
    Column("number", Integer, primary_key=True),
    Column("corrects", Integer, nullable=False),
    Column("entries", ARRAY(Uuid)),
    Column("places", ARRAY(Integer)),
    # NULL where they were right.
    Column("entry_fee", BigInteger),
    Column("fee_basis_points", Integer),
    Column("prize_shares", ARRAY(Integer)),
    Column("starts_at", DateTime(timezone=True)),
    Column("reason", Text, nullable=False),
    Column("proposed_by", Text, nullable=False),
    Column("at", DateTime(timezone=True), nullable=False, server_default=NOW),
    ForeignKeyConstraint(
        ["tournament_id", "corrects"],
        ["pool_settlements.tournament_id", "pool_settlements.version"],
        name="pool_corrections_settlement",
    ),
    UniqueConstraint("tournament_id", "number", "proposed_by", name="pool_corrections_proposer"),
    CheckConstraint("number > 0 AND (entries IS NULL) = (places IS NULL)", name="one_end"),
)

pool_approvals = Table(
    "pool_approvals",
    metadata,
    # The gates, as above.
    Column("tournament_id", Uuid, primary_key=True),
    Column("number", Integer, primary_key=True),
    Column("proposed_by", Text, nullable=False),
    Column("approved_by", Text, nullable=False),
    Column("version", Integer, nullable=False),
    Column("at", DateTime(timezone=True), nullable=False, server_default=NOW),
    ForeignKeyConstraint(
        ["tournament_id", "number", "proposed_by"],
        [
            "pool_corrections.tournament_id",
            "pool_corrections.number",
            "pool_corrections.proposed_by",
        ],
        name="pool_approvals_correction",
    ),
    ForeignKeyConstraint(
        ["tournament_id", "version"],
        ["pool_settlements.tournament_id", "pool_settlements.version"],
        name="pool_approvals_settlement",
    ),
    UniqueConstraint("tournament_id", "version", name="pool_approvals_version"),
    CheckConstraint("approved_by <> proposed_by", name="two_operators"),
)

shared = outbox_tables(metadata)
audited = audit_table(metadata)

UNCHANGEABLE: Final = (
    *("transactions", "transfers", "settlements"),
    *("seals", "corrections", "approvals"),
    *("prize_pools", "pool_entries", "pool_releases"),
    *("pool_settlements", "pool_corrections", "pool_approvals"),
    "audit",
)
"""Tables of which no row is ever changed or deleted."""
