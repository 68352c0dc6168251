"""Between messages and values of tournaments."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from uuid import UUID

from kafeneio.common.v1 import money_pb2
from kafeneio.matchmaking.v1 import tournaments_pb2 as pb

from kafeneio_matchmaking.domain import Terms, Wish
from kafeneio_matchmaking.tournaments.domain import Format, How
from kafeneio_matchmaking.tournaments.states import Status
from kafeneio_matchmaking.tournaments.values import (
    Conditions,
    Correction,
    Entry,
    Fixture,
    Tournament,
)
from kafeneio_matchmaking.wire import moment, rules_terms, timestamp

Seeds = Mapping[int, UUID]
"""Which entry has which seed."""


def wish(message: pb.TournamentTerms) -> Wish:
    """What is to be played, and what it costs."""
    return Wish(
        edition=message.game.edition,
        options=dict(message.game.options),
        target=message.game.target,
        currency=message.entry_fee.currency_code,
        stake=message.entry_fee.minor_units,
    )


def conditions(message: pb.TournamentTerms, game: Terms) -> Conditions:
    """What an operator publishes; `game` is what his wish has come to."""
    return Conditions(
        name=message.name,
        format=Format(_word("TOURNAMENT_FORMAT", pb.TournamentFormat.Name(message.format))),
        length=message.rounds,
        game=game,
        shares=tuple(message.prize_shares),
        min_entries=message.min_entries,
        max_entries=message.max_entries,
        min_rating=message.min_rating if message.HasField("min_rating") else None,
        max_rating=message.max_rating if message.HasField("max_rating") else None,
        starts_at=moment(message.starts_at),
    )


def terms(value: Conditions) -> pb.TournamentTerms:
    """The inverse of `conditions`."""
    message = pb.TournamentTerms(
        name=value.name,
        format=pb.TournamentFormat.Value(f"TOURNAMENT_FORMAT_{value.format.name}"),
        rounds=value.length,
        game=rules_terms(value.game),
        fee_basis_points=value.game.fee_basis_points,
        prize_shares=value.shares,
        min_entries=value.min_entries,
        max_entries=value.max_entries,
        min_rating=value.min_rating,
        max_rating=value.max_rating,
        starts_at=timestamp(value.starts_at),
    )
    if value.game.stake:
        fee = money_pb2.Money(currency_code=value.game.currency, minor_units=value.game.stake)
        message.entry_fee.CopyFrom(fee)
    return message


def tournament(value: Tournament, corrections: Sequence[Correction] = ()) -> pb.Tournament:
    """A tournament as all see it."""
    message = pb.Tournament(
        tournament_id=str(value.tournament_id),
        terms=terms(value.conditions),
        status=status(value.status),
        version=value.version,
        players_per_entry=value.conditions.players_per_entry,
        entries=value.entries,
        round=value.rounds,
        created_at=timestamp(value.created_at),
        cancel_reason=value.cancel_reason,
        corrections=map(correction, corrections),
        created_by=value.created_by,
    )
    if value.started_at is not None:
        message.started_at.CopyFrom(timestamp(value.started_at))
    if value.ended_at is not None:
        message.ended_at.CopyFrom(timestamp(value.ended_at))
    return message


def correction(value: Correction) -> pb.TournamentCorrectionState:
    """What was proposed."""
    message = pb.TournamentCorrectionState(
        number=value.number,
        reason=value.reason,
        proposed_by=value.proposed_by,
        proposed_at=timestamp(value.proposed_at),
        approved_by=value.approved_by,
    )
    if value.approved_at is not None:
        message.approved_at.CopyFrom(timestamp(value.approved_at))
    place = 1
    for shared in value.places or ():
        message.places.add(place=place, entry_ids=map(str, shared))
        place += len(shared)
    return message


def entry(value: Entry) -> pb.Entry:
    """An entry as all see it."""
    message = pb.Entry(
        entry_id=str(value.entry_id),
        player_ids=value.players,
        waits_for_player_id=value.waits_for,
        status=pb.EntryStatus.Value(f"ENTRY_STATUS_{value.status.name}"),
        seed=value.seed or 0,
        rating=value.rating or 0,
        place=value.place or 0,
        played_place=value.played_place or 0,
        registered_at=timestamp(value.registered_at),
        reason=value.reason,
    )
    if value.end is not None:
        message.end = pb.EntryEnd.Value(f"ENTRY_END_{value.end.name}")
    return message


def match(value: Fixture, seeds: Seeds) -> pb.TournamentMatch:
    """A match with its game as all see it."""

    def name(seed: int | None) -> str:
        return "" if seed is None else str(seeds[seed])

    message = pb.TournamentMatch(
        round=value.round + 1,
        number=value.number + 1,
        bracket=pb.MatchBracket.Value(f"MATCH_BRACKET_{value.match.bracket.name}"),
        one_entry_id=name(value.match.one),
        two_entry_id=name(value.match.two),
        state=_state(value),
        voids=value.match.voids,
        end=_end(value.match.how),
        winner_entry_id=name(value.match.winner),
    )
    if value.told and value.game_id is not None:
        message.game_id = str(value.game_id)
        message.player_ids.extend(value.players)
        if value.join_by is not None:
            message.join_by.CopyFrom(timestamp(value.join_by))
    return message


def _state(value: Fixture) -> pb.MatchState.ValueType:
    if value.match.is_over:
        return pb.MATCH_STATE_OVER
    if not value.match.running:
        return pb.MATCH_STATE_WAITING
    return pb.MATCH_STATE_PLAYING if value.told else pb.MATCH_STATE_STARTING


def _end(how: How | None) -> pb.MatchEnd.ValueType:
    if how is None:
        return pb.MATCH_END_UNSPECIFIED
    return pb.MatchEnd.Value(f"MATCH_END_{how.name}")


def status(value: Status) -> pb.TournamentStatus.ValueType:
    """Where a tournament stands."""
    return pb.TournamentStatus.Value(f"TOURNAMENT_STATUS_{value.name}")


def asked_status(message: pb.TournamentStatus.ValueType) -> str | None:
    """The inverse, as it is stored; None for any."""
    return _word("TOURNAMENT_STATUS", pb.TournamentStatus.Name(message)) if message else None


def asked_format(message: pb.TournamentFormat.ValueType) -> str | None:
    """A format as it is stored; None for any."""
    return _word("TOURNAMENT_FORMAT", pb.TournamentFormat.Name(message)) if message else None


def _word(prefix: str, name: str) -> str:
    return name.removeprefix(f"{prefix}_").lower()
