"""What the rows of tournaments hold: between them and values."""

from __future__ import annotations

import json
from uuid import UUID

from asyncpg import Record

from kafeneio_matchmaking.rows import read_terms
from kafeneio_matchmaking.tournaments.domain import Bracket, Format, How, Match
from kafeneio_matchmaking.tournaments.states import EntryEnd, EntryStatus, Status
from kafeneio_matchmaking.tournaments.values import (
    Conditions,
    Correction,
    Entry,
    Fixture,
    Tournament,
)


def read_tournament(row: Record) -> Tournament:
    """A row of `tournaments` with `entries` and `rounds` counted."""
    conditions = Conditions(
        name=row["name"],
        format=Format(row["format"]),
        length=row["length"],
        game=read_terms(row),
        shares=tuple(row["shares"]),
        min_entries=row["min_entries"],
        max_entries=row["max_entries"],
        min_rating=row["min_rating"],
        max_rating=row["max_rating"],
        starts_at=row["starts_at"],
    )
    return Tournament(
        tournament_id=row["tournament_id"],
        conditions=conditions,
        status=Status(row["status"]),
        version=row["version"],
        created_by=row["created_by"],
        created_at=row["created_at"],
        started_at=row["started_at"],
        ended_at=row["ended_at"],
        cancel_reason=row["cancel_reason"],
        tries=row["tries"],
        entries=row["entries"],
        rounds=row["rounds"],
    )


def read_entry(row: Record) -> Entry:
    """A row of `tournament_entries`."""
    return Entry(
        entry_id=row["entry_id"],
        tournament_id=row["tournament_id"],
        players=tuple(row["players"]),
        waits_for=row["waits_for"],
        status=EntryStatus(row["status"]),
        end=None if row["ending"] is None else EntryEnd(row["ending"]),
        reason=row["reason"],
        seed=row["seed"],
        rating=row["rating"],
        place=row["place"],
        played_place=row["played_place"],
        registered_at=row["registered_at"],
        version=row["version"],
        tries=row["tries"],
    )


def read_fixture(row: Record) -> Fixture:
    """A row of `tournament_matches`."""
    match = Match(
        one=row["one"],
        two=row["two"],
        bracket=Bracket(row["bracket"]),
        voids=row["voids"],
        running=row["running"],
        how=None if row["how"] is None else How(row["how"]),
        winner=row["winner"],
    )
    return Fixture(
        tournament_id=row["tournament_id"],
        round=row["round"],
        number=row["number"],
        match=match,
        game_id=row["game_id"],
        told=row["told"],
        players=tuple(row["players"]),
        join_by=row["join_by"],
        undone=row["undone"],
        drawn_at=row["drawn_at"],
        due_at=row["due_at"],
        version=row["version"],
    )


def read_correction(row: Record) -> Correction:
    """A row of `tournament_corrections`."""
    places = None
    if row["places"] is not None:
        places = tuple(tuple(map(UUID, shared)) for shared in json.loads(row["places"]))
    return Correction(
        number=row["number"],
        reason=row["reason"],
        proposed_by=row["proposed_by"],
        proposed_at=row["proposed_at"],
        approved_by=row["approved_by"],
        approved_at=row["approved_at"],
        settlement_version=row["settlement_version"],
        places=places,
    )


def written_places(correction: Correction) -> str | None:
    """The column `places` of a correction."""
    if correction.places is None:
        return None
    return json.dumps([[str(entry) for entry in shared] for shared in correction.places])
