"""The tables of tables, to be put into the metadata of `matchmaking`."""

from __future__ import annotations

from sqlalchemy import (
    BigInteger,
    Boolean,
    CheckConstraint,
    Column,
    DateTime,
    ForeignKey,
    Index,
    Integer,
    LargeBinary,
    MetaData,
    Sequence,
    SmallInteger,
    Table,
    Text,
    UniqueConstraint,
    Uuid,
)
from sqlalchemy.dialects.postgresql import JSONB


def seating_tables(metadata: MetaData, terms: tuple[Column[object], ...]) -> tuple[Table, Table]:
    """Adds `tables` and `chairs` to `metadata`; `terms` are the columns of what is played."""
    Sequence("table_changes", metadata=metadata)
    return _tables(metadata, terms), _chairs(metadata)


def _tables(metadata: MetaData, terms: tuple[Column[object], ...]) -> Table:
    status, change = Column("status", Text, nullable=False), Column("change", BigInteger)
    expires = Column("expires_at", DateTime(timezone=True), nullable=False)
    created = Column("created_at", DateTime(timezone=True), nullable=False)
    digest = Column("code_digest", LargeBinary)
    return Table(
        "tables",
        metadata,
        Column("table_id", Uuid, primary_key=True),
        Column("creator", Text, nullable=False),
        # Empty where nobody sits there any more.
        Column("host", Text, nullable=False),
        *terms,
        # The invitation to a private table, and its SHA-256, by which it is found; empty for a
        # public one.
        Column("code", Text, nullable=False),
        digest,
        Column("least_rating", Integer),
        Column("most_rating", Integer),
        Column("computers_fill", Boolean, nullable=False),
        status,
        Column("version", Integer, nullable=False),
        Column("seating", Integer, nullable=False),
        created,
        expires,
        # The match that has it while it is not open, and its game once that waits for its seats.
        Column("match_id", Uuid),
        Column("game_id", Uuid),
        # Why it is closed.
        Column("ending", Text),
        # Who had to leave it, and why: [[player, why], …].
        Column("put_out", JSONB, nullable=False),
        # Its place among all changes of tables, given after the commit; NULL until then.
        change,
        CheckConstraint(
            "status IN ('open', 'starting', 'matched', 'playing', 'closed')", name="status"
        ),
        CheckConstraint("(status = 'closed') = (ending IS NOT NULL)", name="closed_for_a_reason"),
        CheckConstraint("status <> 'open' OR match_id IS NULL", name="open_without_a_match"),
        CheckConstraint(
            "status NOT IN ('starting', 'matched', 'playing') OR match_id IS NOT NULL",
            name="in_a_match",
        ),
        CheckConstraint(
            "status NOT IN ('matched', 'playing') OR game_id IS NOT NULL", name="matched_to_a_game"
        ),
        CheckConstraint("(code = '') = (code_digest IS NULL)", name="private"),
        CheckConstraint("NOT computers_fill OR stake = 0", name="computers_without_stake"),
        CheckConstraint("stake >= 0 AND (stake = 0) = (currency = '')", name="stake"),
        UniqueConstraint("code_digest", name="one_table_a_code"),
        UniqueConstraint("change", name="one_table_a_change"),
        Index("tables_expiring", expires, postgresql_where=status == "open"),
        Index("tables_unnumbered", "table_id", postgresql_where=change.is_(None)),
        Index(
            "tables_listed",
            created,
            "table_id",
            postgresql_where=(status == "open") & digest.is_(None),
        ),
    )


def _chairs(metadata: MetaData) -> Table:
    return Table(
        "chairs",
        metadata,
        Column("table_id", Uuid, ForeignKey("tables.table_id"), primary_key=True),
        Column("seat", SmallInteger, primary_key=True),
        # NULL where it is free.
        Column("player_id", Text),
        Column("ready", Boolean, nullable=False),
        # The seating in which he came.
        Column("since", Integer, nullable=False),
        UniqueConstraint("table_id", "player_id", name="one_chair_each"),
        CheckConstraint("player_id IS NOT NULL OR NOT ready", name="nobody_is_not_ready"),
    )
