"""The tables of tournaments, to be put into the metadata of `matchmaking`."""

from __future__ import annotations

from sqlalchemy import (
    ARRAY,
    BigInteger,
    Boolean,
    CheckConstraint,
    Column,
    DateTime,
    ForeignKey,
    ForeignKeyConstraint,
    Index,
    Integer,
    MetaData,
    SmallInteger,
    Table,
    Text,
    UniqueConstraint,
    Uuid,
    func,
    text,
)
from sqlalchemy.dialects.postgresql import JSONB

_NONE = text("''")


def tournament_tables(metadata: MetaData) -> None:
    """Adds them."""
    _tournaments(metadata)
    _entries(metadata)
    _matches(metadata)
    _corrections(metadata)


def _moment(name: str, *, nullable: bool = False, now: bool = False) -> Column[object]:
    default = func.clock_timestamp() if now else None
    return Column(name, DateTime(timezone=True), nullable=nullable, server_default=default)


def _tournaments(metadata: MetaData) -> None:
    tournaments = Table(
        "tournaments",
        metadata,
        Column("tournament_id", Uuid, primary_key=True),
        Column("name", Text, nullable=False),
        Column("format", Text, nullable=False),
        # The rounds that were asked for; 0 for the usual number.
        Column("length", SmallInteger, nullable=False),
        # What is played in a match. The stake is the entry fee, of which the pool is made.
        Column("variant", Text, nullable=False),
        Column("edition", Integer, nullable=False),
        Column("options", JSONB, nullable=False),
        Column("target", Integer, nullable=False),
        Column("currency", Text, nullable=False),
        Column("stake", BigInteger, nullable=False),
        Column("fee_basis_points", Integer, nullable=False),
        Column("seats", SmallInteger, nullable=False),
        Column("shares", ARRAY(Integer), nullable=False),
        Column("min_entries", SmallInteger, nullable=False),
        Column("max_entries", SmallInteger, nullable=False),
        Column("min_rating", Integer),
        Column("max_rating", Integer),
        _moment("starts_at"),
        Column("created_by", Text, nullable=False),
        _moment("created_at", now=True),
        # What changes.
        Column("status", Text, nullable=False),
        Column("version", Integer, nullable=False),
        _moment("started_at", nullable=True),
        _moment("ended_at", nullable=True),
        Column("cancel_reason", Text, nullable=False, server_default=_NONE),
        # When there is something to do; how often nobody answered, and what was said last.
        _moment("due_at", nullable=True),
        Column("tries", Integer, nullable=False, server_default=text("0")),
        Column("why", Text, nullable=False, server_default=_NONE),
        CheckConstraint(
            "status IN ('announced', 'open', 'starting', 'running', 'paused', 'settling',"
            " 'finished', 'cancelling', 'cancelled')",
            name="status",
        ),
        CheckConstraint(
            "format IN ('single_elimination', 'double_elimination', 'swiss', 'round_robin')",
            name="format",
        ),
        CheckConstraint("seats IN (2, 4)", name="two_sides"),
        CheckConstraint("stake >= 0 AND (stake = 0) = (currency = '')", name="entry_fee"),
        CheckConstraint("2 <= min_entries AND min_entries <= max_entries", name="entries"),
        CheckConstraint(
            "(status IN ('finished', 'cancelled')) = (ended_at IS NOT NULL)", name="over"
        ),
    )
    Index(
        "tournaments_due",
        tournaments.c.due_at,
        postgresql_where=tournaments.c.due_at.is_not(None),
    )
    Index("tournaments_by_status", tournaments.c.status, tournaments.c.tournament_id)


def _entries(metadata: MetaData) -> None:
    entries = Table(
        "tournament_entries",
        metadata,
        Column("entry_id", Uuid, primary_key=True),
        Column("tournament_id", Uuid, ForeignKey("tournaments.tournament_id"), nullable=False),
        Column("players", ARRAY(Text), nullable=False),
        # The partner who has not registered yet; empty where there is none.
        Column("waits_for", Text, nullable=False),
        Column("status", Text, nullable=False),
        Column("ending", Text),
        # Why an operator has taken it out.
        Column("reason", Text, nullable=False, server_default=_NONE),
        Column("seed", SmallInteger),
        Column("rating", Integer),
        # Where it has finished: as it was played, and after the correction that counts.
        Column("played_place", SmallInteger),
        Column("place", SmallInteger),
        _moment("registered_at", now=True),
        # The version of the tournament with which it has changed last.
        Column("version", Integer, nullable=False),
        _moment("due_at", nullable=True),
        Column("tries", Integer, nullable=False, server_default=text("0")),
        Column("why", Text, nullable=False, server_default=_NONE),
        UniqueConstraint("tournament_id", "seed", name="one_entry_a_seed"),
        CheckConstraint(
            "status IN ('waiting_for_partner', 'paying', 'entered', 'leaving', 'ended',"
            " 'withdrawn', 'disqualified')",
            name="status",
        ),
        CheckConstraint(
            "(status IN ('leaving', 'ended')) = (ending IS NOT NULL)", name="left_for_a_reason"
        ),
        CheckConstraint(
            "(status = 'waiting_for_partner') = (waits_for <> '')", name="waits_for_somebody"
        ),
        CheckConstraint(
            "status NOT IN ('withdrawn', 'disqualified') OR seed IS NOT NULL", name="has_played"
        ),
    )
    Index(
        "tournament_entries_due",
        entries.c.due_at,
        postgresql_where=entries.c.status.in_(("paying", "leaving")),
    )
    Index("tournament_entries_changed", entries.c.tournament_id, entries.c.version)
    players = Table(
        "tournament_players",
        metadata,
        Column("entry_id", Uuid, ForeignKey(entries.c.entry_id), primary_key=True),
        Column("player_id", Text, primary_key=True),
        Column("tournament_id", Uuid, nullable=False),
        # Whether the entry has not ended.
        Column("live", Boolean, nullable=False),
    )
    Index(
        "one_entry_a_player",
        players.c.tournament_id,
        players.c.player_id,
        unique=True,
        postgresql_where=players.c.live,
    )
    Index("tournament_players_by_player", players.c.player_id)


def _matches(metadata: MetaData) -> None:
    matches = Table(
        "tournament_matches",
        metadata,
        Column("tournament_id", Uuid, ForeignKey("tournaments.tournament_id"), primary_key=True),
        # From 0.
        Column("round", SmallInteger, primary_key=True),
        Column("number", SmallInteger, primary_key=True),
        Column("bracket", Text, nullable=False),
        # The seeds of its sides; NULL for nobody.
        Column("one", SmallInteger),
        Column("two", SmallInteger),
        Column("voids", SmallInteger, nullable=False),
        Column("running", Boolean, nullable=False),
        Column("how", Text),
        Column("winner", SmallInteger),
        # The last game that was begun for it, and whether it is there.
        Column("game_id", Uuid, unique=True),
        Column("told", Boolean, nullable=False, server_default=text("false")),
        Column("players", ARRAY(Text), nullable=False, server_default=text("'{}'")),
        _moment("join_by", nullable=True),
        # How many of its games never came to be, and when the next one may.
        Column("undone", SmallInteger, nullable=False, server_default=text("0")),
        _moment("drawn_at", now=True),
        _moment("due_at", now=True),
        Column("version", Integer, nullable=False),
        CheckConstraint("NOT running OR (how IS NULL AND game_id IS NOT NULL)", name="running"),
        CheckConstraint("winner IS NULL OR how IS NOT NULL", name="won"),
        ForeignKeyConstraint(
            ["tournament_id", "one"],
            ["tournament_entries.tournament_id", "tournament_entries.seed"],
            name="side_one",
        ),
        ForeignKeyConstraint(
            ["tournament_id", "two"],
            ["tournament_entries.tournament_id", "tournament_entries.seed"],
            name="side_two",
        ),
    )
    Index("tournament_matches_changed", matches.c.tournament_id, matches.c.version)


def _corrections(metadata: MetaData) -> None:
    Table(
        "tournament_corrections",
        metadata,
        Column("tournament_id", Uuid, ForeignKey("tournaments.tournament_id"), primary_key=True),
        Column("number", Integer, primary_key=True),
        Column("reason", Text, nullable=False),
        Column("proposed_by", Text, nullable=False),
        _moment("proposed_at"),
        Column("approved_by", Text, nullable=False),
        _moment("approved_at", nullable=True),
        # The settlement that it has made; 0 while nobody has approved it.
        Column("settlement_version", Integer, nullable=False),
        # [[entry id, ...], ...]; NULL where every fee goes back.
        Column("places", JSONB),
    )
