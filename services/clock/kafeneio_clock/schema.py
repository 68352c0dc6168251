"""The tables of `clock`, defined once; migrations/ makes them, storage.py reads and writes them."""

from __future__ import annotations

from kafeneio_runtime.tables import audit_table, heartbeat_tables, outbox_tables
from sqlalchemy import (
    BigInteger,
    Boolean,
    Column,
    DateTime,
    Index,
    Integer,
    MetaData,
    Table,
    Text,
    Uuid,
    func,
)
from sqlalchemy.dialects.postgresql import ARRAY, JSONB

metadata = MetaData()

clocks = Table(
    "clocks",
    metadata,
    Column("game_id", Uuid, primary_key=True),
    # The gate of every change, and the numbers of the last events heard and announced.
    Column("version", BigInteger, nullable=False),
    Column("heard", BigInteger, nullable=False),
    Column("sequence", BigInteger, nullable=False),
    Column("state", JSONB, nullable=False),
    # Which replicas have a stream of the game, so that those of one that died are found.
    Column("replicas", ARRAY(Text), nullable=False),
    # When the next thing is due, and when to look: every clock that is not closed has such a time.
    Column("deadline", DateTime(timezone=True)),
    Column("due_at", DateTime(timezone=True)),
    Column("closed", Boolean, nullable=False),
)
# The one index that every change of a clock writes beside that of its id; so it also tells which
# clocks are open. In the other one is nothing, unless we are wrong.
Index("clocks_due", clocks.c.due_at, postgresql_where=clocks.c.due_at.isnot(None))
Index(
    "clocks_unwatched",
    clocks.c.game_id,
    postgresql_where=clocks.c.due_at.is_(None) & ~clocks.c.closed,
)

replicas = Table(
    "replicas",
    metadata,
    Column("name", Text, primary_key=True),
    Column("at", DateTime(timezone=True), nullable=False, server_default=func.clock_timestamp()),
)

turns = Table(
    "turns",
    metadata,
    # Turns that are over and were not ordinary: what ExplainCharges adds up.
    Column("game_id", Uuid, primary_key=True),
    Column("turn", BigInteger, primary_key=True),
    Column("seat", Integer, nullable=False),
    Column("ended", DateTime(timezone=True), nullable=False),
    Column("facts", JSONB, nullable=False),
)

outbox, inbox, requests = outbox_tables(metadata)
# Old rows lie together, so the smallest of indexes finds them.
Index("inbox_handled", inbox.c.handled_at, postgresql_using="brin")
alive = heartbeat_tables(metadata)
audited = audit_table(metadata)
