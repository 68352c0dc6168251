"""Tournaments as lines of text."""

from __future__ import annotations

from datetime import UTC

from kafeneio.matchmaking.v1 import tournaments_pb2 as pb

from kafeneio_client.cli.screen import escape
from kafeneio_client.money import Money
from kafeneio_client.tournaments import Board


def _word(name: str, prefix: str) -> str:
    return name.removeprefix(prefix).lower().replace("_", " ")


def _status(tournament: pb.Tournament) -> str:
    return _word(pb.TournamentStatus.Name(tournament.status), "TOURNAMENT_STATUS_")


def _format(tournament: pb.Tournament) -> str:
    return _word(pb.TournamentFormat.Name(tournament.terms.format), "TOURNAMENT_FORMAT_")


def _fee(tournament: pb.Tournament) -> str:
    published = tournament.terms
    return str(Money.of(published.entry_fee)) if published.HasField("entry_fee") else "nothing"


def _begins(tournament: pb.Tournament) -> str:
    moment = tournament.terms.starts_at.ToDatetime(UTC).astimezone()
    return moment.isoformat(" ", "minutes")


def described(tournament: pb.Tournament) -> str:
    """A tournament in one line."""
    published = tournament.terms
    text = (
        f"{published.name}: {published.game.variant}, {_format(tournament)}, for"
        f" {_fee(tournament)}, {_begins(tournament)}; {_status(tournament)},"
        f" {tournament.entries} of {published.max_entries}"
    )
    return f"[bold]{tournament.tournament_id}[/] {escape(text)}"


def entry_line(entry: pb.Entry) -> str:
    """An entry in one line."""
    status = _word(pb.EntryStatus.Name(entry.status), "ENTRY_STATUS_")
    why = f" ({_word(pb.EntryEnd.Name(entry.end), 'ENTRY_END_')})" if entry.end else ""
    waits = f" {entry.waits_for_player_id}" if entry.waits_for_player_id else ""
    return f"{' and '.join(entry.player_ids)}: {status}{waits}{why}"


def match_line(board: Board, match: pb.TournamentMatch) -> str:
    """A match in one line."""
    one, two = (board.name(side) or "nobody" for side in (match.one_entry_id, match.two_entry_id))
    text = f"round {match.round}, {one} against {two}: "
    if match.state != pb.MATCH_STATE_OVER:
        state = _word(pb.MatchState.Name(match.state), "MATCH_STATE_")
        return text + state + (f" {match.game_id}" if match.game_id else "")
    how = _word(pb.MatchEnd.Name(match.end), "MATCH_END_")
    return f"{text}{board.name(match.winner_entry_id) or 'nobody'} goes on ({how})"
