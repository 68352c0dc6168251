"""The tables that every service has, to be put into its own metadata, and with that into its own
schema.
"""

from typing import Final

from sqlalchemy import (
    BigInteger,
    Column,
    DateTime,
    Index,
    LargeBinary,
    MetaData,
    SmallInteger,
    Table,
    Text,
    UniqueConstraint,
    Uuid,
    func,
    text,
)

NOW: Final = func.clock_timestamp()
"""The moment of the write. `now()` would be that of the transaction's begin, before it waited for
anything.
"""


def outbox_tables(metadata: MetaData) -> tuple[Table, Table, Table]:
    """Adds `outbox`, `inbox` and `requests` to `metadata`; returns them in that order."""
    return _outbox(metadata), _inbox(metadata), _requests(metadata)


def _outbox(metadata: MetaData) -> Table:
    """What the service has announced. Rows stay: `ListEvents` reads them when a consumer has seen a
    gap.
    """
    published = Column("published_at", DateTime(timezone=True), nullable=True)
    occurred = Column("occurred_at", DateTime(timezone=True), nullable=False, server_default=NOW)
    return Table(
        "outbox",
        metadata,
        Column("event_id", Uuid, primary_key=True),
        Column("subject_id", Uuid, nullable=False, comment="what the event is about: the game"),
        Column("sequence", BigInteger, nullable=False, comment="numbers the events of a subject"),
        Column("type", Text, nullable=False),
        Column("payload", LargeBinary, nullable=False),
        occurred,
        published,
        UniqueConstraint("subject_id", "sequence", name="outbox_subject_sequence"),
        # The relay asks for these rows again and again; the index holds no others.
        Index("outbox_unpublished", occurred, postgresql_where=published.is_(None)),
    )


def _inbox(metadata: MetaData) -> Table:
    """Which events of others the service has handled, written in the transaction of the effect."""
    return Table(
        "inbox",
        metadata,
        Column("consumer", Text, primary_key=True),
        Column("event_id", Uuid, primary_key=True),
        Column("handled_at", DateTime(timezone=True), nullable=False, server_default=NOW),
    )


def _requests(metadata: MetaData) -> Table:
    """Answers by the client's request id, so that a call sent again is answered again and not done
    again.
    """
    created = Column("created_at", DateTime(timezone=True), nullable=False, server_default=NOW)
    return Table(
        "requests",
        metadata,
        Column("caller", Text, primary_key=True),
        Column("method", Text, primary_key=True),
        Column("request_id", Uuid, primary_key=True),
        Column("digest", LargeBinary, nullable=False, comment="SHA-256 of the request"),
        Column("response", LargeBinary, nullable=False, server_default=text("''::bytea")),
        created,
        Index("requests_created", created),
    )


def audit_table(metadata: MetaData) -> Table:
    """Adds `audit` to `metadata`: what operators have done. Rows are only ever added, which
    triggers see to.
    """
    return Table(
        "audit",
        metadata,
        Column("number", BigInteger, primary_key=True, autoincrement=False),
        Column("at", DateTime(timezone=True), nullable=False),
        Column("operator", Text, nullable=False),
        Column("method", Text, nullable=False),
        Column("target", Text, nullable=False, comment="the id of what was changed"),
        Column("reason", Text, nullable=False),
        Column("request_id", Uuid, nullable=False),
        Column("request", Text, nullable=False, comment="the whole of it, as JSON"),
        Column("hash", LargeBinary, nullable=False, comment="chains the rows"),
    )


def heartbeat_tables(metadata: MetaData) -> tuple[Table, Table]:
    """Adds `heartbeats` (one row: when a replica was last alive) and `outages` to `metadata`."""
    heartbeats = Table(
        "heartbeats",
        metadata,
        Column("id", SmallInteger, primary_key=True, autoincrement=False),
        Column("at", DateTime(timezone=True), nullable=False),
    )
    outages = Table(
        "outages",
        metadata,
        Column("began", DateTime(timezone=True), primary_key=True),
        Column("ended", DateTime(timezone=True), nullable=False, index=True),
    )
    return heartbeats, outages
