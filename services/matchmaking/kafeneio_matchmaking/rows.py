"""What the rows of tickets and matches hold: between them and values."""

from __future__ import annotations

import json
from functools import lru_cache
from typing import Final

from asyncpg import Record

from kafeneio_matchmaking.domain import End, Terms, Ticket, TicketStatus
from kafeneio_matchmaking.matching import Match, MatchStatus, Seat, SourceKind

TERMS: Final = "variant, edition, options, target, currency, stake, fee_basis_points, seats"
_TERMS: Final = tuple(TERMS.split(", "))


def terms_columns(terms: Terms) -> tuple[object, ...]:
    """Values for the columns TERMS."""
    return (
        terms.variant,
        terms.edition,
        json.dumps(dict(terms.options)),
        terms.target,
        terms.currency,
        terms.stake,
        terms.fee_basis_points,
        terms.seats,
    )


def read_terms(row: Record) -> Terms:
    """The inverse of `terms_columns`."""
    return _terms(*(row[name] for name in _TERMS))


# Thousands wait, and want one of a few things.
@lru_cache(maxsize=1024)
def _terms(
    variant: str,
    edition: int,
    options: str,
    target: int,
    currency: str,
    stake: int,
    fee_basis_points: int,
    seats: int,
) -> Terms:
    settled = tuple(sorted(json.loads(options).items()))
    return Terms(variant, edition, settled, target, currency, stake, fee_basis_points, seats)


def read_ticket(row: Record) -> Ticket:
    """A row of `tickets`."""
    return Ticket(
        ticket_id=row["ticket_id"],
        player_id=row["player_id"],
        terms=read_terms(row),
        status=TicketStatus(row["status"]),
        version=row["version"],
        queued_at=row["queued_at"],
        expires_at=row["expires_at"],
        game_id=row["game_id"],
        end=_end(row["ending"]),
        partner=row["partner"],
        house_seat=row["house_seat"],
    )


def read_match(row: Record, seats: list[Record]) -> Match:
    """A row of `matches` with those of its seats, seat 0 first, each with its ticket's partner."""
    return Match(
        match_id=row["match_id"],
        game_id=row["game_id"],
        source=SourceKind(row["source"]),
        source_id=row["source_id"],
        terms=read_terms(row),
        status=MatchStatus(row["status"]),
        join_by=row["join_by"],
        tries=row["tries"],
        seats=tuple(
            Seat(seat["player_id"], seat["ticket_id"], _end(seat["ending"]), seat["partner"] or "")
            for seat in seats
        ),
    )


def _end(text: str | None) -> End | None:
    return None if text is None else End(text)
