"""The tables of what is known of players, to be put into the metadata of `matchmaking`."""

from __future__ import annotations

from sqlalchemy import (
    ARRAY,
    BigInteger,
    Boolean,
    CheckConstraint,
    Column,
    DateTime,
    Double,
    ForeignKey,
    Identity,
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

_SEATS = ARRAY(SmallInteger)
_NOW = func.clock_timestamp()


def player_tables(metadata: MetaData) -> None:
    """Adds them."""
    _games(metadata)
    _ratings(metadata)
    _conduct(metadata)
    _limits(metadata)


def _moment(name: str, *, nullable: bool = False, now: bool = False) -> Column[object]:
    default = _NOW if now else None
    return Column(name, DateTime(timezone=True), nullable=nullable, server_default=default)


def _games(metadata: MetaData) -> None:
    games = Table(
        "played_games",
        metadata,
        Column("game_id", Uuid, primary_key=True),
        # NULL until somebody has told. Events may come in any order.
        Column("variant", Text),
        Column("players", ARRAY(Text)),
        # Whether a computer sat there from the start.
        Column("computers", Boolean, nullable=False, server_default=text("false")),
        _moment("started_at", nullable=True),
        _moment("finished_at", nullable=True),
        # Which seats have won; NULL where the game is not over, or void.
        Column("winners", _SEATS),
        # Which seats were out before the end.
        Column("left_seats", _SEATS, nullable=False, server_default=text("'{}'")),
        # The newest settlement that was heard of: 2 or more is a correction, with these winners.
        Column("settlement", Integer, nullable=False, server_default=text("0")),
        Column("correction", _SEATS),
        # The winners that count in the ratings now, and how often these have been changed.
        Column("rated", _SEATS),
        Column("ratings_version", Integer, nullable=False, server_default=text("0")),
    )
    Index("played_games_finished", games.c.finished_at)
    seats = Table(
        "played_seats",
        metadata,
        Column("game_id", Uuid, ForeignKey("played_games.game_id"), primary_key=True),
        Column("seat", SmallInteger, primary_key=True),
        Column("player_id", Text, nullable=False),
        _moment("started_at", nullable=True),
        _moment("finished_at", nullable=True),
        # What the game was worth, once it is paid; empty and 0 where nothing was staked.
        _moment("settled_at", nullable=True),
        Column("currency", Text, nullable=False, server_default=text("''")),
        Column("net", BigInteger, nullable=False, server_default=text("0")),
    )
    Index("played_seats_started", seats.c.player_id, seats.c.started_at)
    Index("played_seats_settled", seats.c.player_id, seats.c.settled_at)


def _ratings(metadata: MetaData) -> None:
    ratings = Table(
        "ratings",
        metadata,
        Column("variant", Text, primary_key=True),
        Column("player_id", Text, primary_key=True),
        Column("mu", Double, nullable=False),
        Column("sigma", Double, nullable=False),
        # As they are shown, see ratings.py.
        Column("value", Integer, nullable=False),
        Column("floor", Integer, nullable=False),
        Column("games", Integer, nullable=False),
        CheckConstraint("sigma > 0 AND games >= 0", name="possible"),
    )
    Index("ratings_by_player", ratings.c.player_id)
    Index(
        "ratings_by_floor",
        ratings.c.variant,
        ratings.c.floor.desc(),
        ratings.c.player_id,
    )
    changes = Table(
        "rating_changes",
        metadata,
        # The gate: a game changes a rating once for each version.
        Column("game_id", Uuid, ForeignKey("played_games.game_id"), primary_key=True),
        Column("version", Integer, primary_key=True),
        Column("player_id", Text, primary_key=True),
        Column("number", BigInteger, Identity(always=True), nullable=False, unique=True),
        Column("variant", Text, nullable=False),
        Column("reversal", Boolean, nullable=False),
        Column("mu_before", Double, nullable=False),
        Column("sigma_before", Double, nullable=False),
        Column("mu_after", Double, nullable=False),
        Column("sigma_after", Double, nullable=False),
        _moment("changed_at", now=True),
    )
    Index("rating_changes_by_player", changes.c.player_id, changes.c.number)


def _conduct(metadata: MetaData) -> None:
    suspensions = Table(
        "suspensions",
        metadata,
        Column("suspension_id", Uuid, primary_key=True),
        Column("player_id", Text, nullable=False),
        Column("reason", Text, nullable=False),
        Column("suspended_by", Text, nullable=False),
        _moment("suspended_at", now=True),
        _moment("until", nullable=True),
        Column("lifted_by", Text),
        _moment("lifted_at", nullable=True),
        Column("lift_reason", Text),
        CheckConstraint(
            "(lifted_at IS NULL) = (lifted_by IS NULL)"
            " AND (lifted_at IS NULL) = (lift_reason IS NULL)",
            name="lifted",
        ),
    )
    Index(
        "suspensions_not_lifted",
        suspensions.c.player_id,
        postgresql_where=suspensions.c.lifted_at.is_(None),
    )
    Table(
        "blocks",
        metadata,
        Column("player_id", Text, primary_key=True),
        Column("blocked_id", Text, primary_key=True),
        _moment("blocked_at", now=True),
        CheckConstraint("player_id <> blocked_id", name="another"),
    )
    reports = Table(
        "reports",
        metadata,
        Column("report_id", Uuid, primary_key=True),
        Column("reporter_id", Text, nullable=False),
        Column("player_id", Text, nullable=False),
        Column("game_id", Uuid, ForeignKey("played_games.game_id"), nullable=False),
        Column("variant", Text, nullable=False),
        Column("category", Text, nullable=False),
        Column("text", Text, nullable=False),
        _moment("reported_at", now=True),
        Column("closed_by", Text),
        _moment("closed_at", nullable=True),
        Column("outcome", Text),
        UniqueConstraint("reporter_id", "player_id", "game_id", name="one_report"),
        CheckConstraint(
            "(closed_at IS NULL) = (closed_by IS NULL) AND (closed_at IS NULL) = (outcome IS NULL)",
            name="closed",
        ),
    )
    Index("reports_by_player", reports.c.player_id, reports.c.report_id)
    Table(
        "pair_flags",
        metadata,
        Column("kind", Text, primary_key=True),
        Column("player_id", Text, primary_key=True),
        # Empty where the flag is of one player.
        Column("other_id", Text, primary_key=True),
        Column("count", Integer, nullable=False),
        Column("games", Integer, nullable=False),
        Column("expected", Double, nullable=False),
        Column("surprise", Double, nullable=False),
        Column("game_ids", ARRAY(Uuid), nullable=False),
        _moment("first_flagged_at"),
        _moment("computed_at"),
    )


def _limits(metadata: MetaData) -> None:
    Table(
        "limits",
        metadata,
        Column("player_id", Text, primary_key=True),
        Column("kind", Text, primary_key=True),
        # Empty for a time.
        Column("currency", Text, primary_key=True),
        # What holds; NULL is no limit. Amounts in the smallest unit, times in seconds.
        Column("amount", BigInteger),
        # From when on something looser does; NULL where nothing is to change.
        _moment("next_from", nullable=True),
        Column("next_amount", BigInteger),
        CheckConstraint("kind IN ('stake', 'loss', 'time')", name="kind"),
        CheckConstraint("(kind = 'time') = (currency = '')", name="currency"),
    )
    Table(
        "exclusions",
        metadata,
        Column("player_id", Text, primary_key=True),
        _moment("until"),
    )
