"""The tables of `rules`, defined once; migrations/ makes them, storage.py reads and writes them."""

from __future__ import annotations

from kafeneio_runtime.tables import audit_table, heartbeat_tables, outbox_tables
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
    SmallInteger,
    Table,
    Text,
    UniqueConstraint,
    Uuid,
    false,
    func,
)
from sqlalchemy.dialects.postgresql import ARRAY, JSONB

metadata = MetaData()

games = Table(
    "games",
    metadata,
    Column("game_id", Uuid, primary_key=True),
    # What was agreed; NULL in the tombstone of a game that was cancelled before it was made.
    Column("variant", Text),
    Column("edition", Integer),
    Column("options", JSONB),
    Column("target", Integer),
    Column("status", Text, nullable=False),
    Column("commitment", LargeBinary),
    # Sealed with the house's key: the rows alone tell no dice.
    Column("secret", LargeBinary),
    Column("created_at", DateTime(timezone=True), nullable=False, server_default=func.now()),
    Column("join_by", DateTime(timezone=True)),
    # Winners and score, or why it is void; set once it is over.
    Column("outcome", JSONB),
    Column("reason", Text),
    # Whether a computer has a seat: from the start, or since one was forfeited (F1).
    Column("computers", Boolean, nullable=False, server_default=false()),
    CheckConstraint("status IN ('waiting', 'running', 'finished', 'cancelled')", name="status"),
    CheckConstraint("status = 'cancelled' OR commitment IS NOT NULL", name="tombstone"),
)
Index(
    "games_due",
    games.c.join_by,
    postgresql_where=games.c.status == "waiting",
)
Index("games_by_status", games.c.status, games.c.game_id)
Index(
    "games_with_computers",
    games.c.game_id,
    postgresql_where=(games.c.status == "running") & games.c.computers,
)

seats = Table(
    "seats",
    metadata,
    Column("game_id", Uuid, ForeignKey(games.c.game_id), primary_key=True),
    Column("seat", SmallInteger, primary_key=True),
    Column("player_id", Text, nullable=False),
    # The seat's word of R4; NULL until the player has joined.
    Column("word", LargeBinary),
    # Whether a computer plays it from the start.
    Column("computer", Boolean, nullable=False, server_default=false()),
    UniqueConstraint("game_id", "player_id", name="one_seat_each"),
)
Index("seats_by_player", seats.c.player_id, seats.c.game_id)

log = Table(
    "log",
    metadata,
    # Of two replicas that append the same version the primary key lets one win. No foreign key: it
    # would write to the game's row at every move, to guard what append.sql cannot get wrong.
    Column("game_id", Uuid, primary_key=True),
    Column("version", Integer, primary_key=True),
    # "seat text" each, the text in the game's notation.
    Column("entries", ARRAY(Text), nullable=False),
    # SHA-256 of the whole state after the row; leaves the service with the finished record only.
    Column("digest", LargeBinary, nullable=False),
    # How many bytes of the chance stream, and how many events, there were after the row.
    Column("drawn", BigInteger, nullable=False),
    Column("sequence", BigInteger, nullable=False),
    Column("at", DateTime(timezone=True), nullable=False, server_default=func.now()),
    # The call that wrote it; NULL in rows of the house.
    Column("caller", Text),
    Column("request_id", Uuid),
    Column("request_digest", LargeBinary),
    UniqueConstraint("game_id", "caller", "request_id", name="one_row_a_request"),
)

shared = outbox_tables(metadata)
audited = audit_table(metadata)
alive = heartbeat_tables(metadata)
