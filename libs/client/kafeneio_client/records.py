"""Records of finished games: as a message, as a file, and as the value that can be verified.

The file is the JSON form of `kafeneio.rules.v1.Record` (proto3 JSON mapping; bytes are base64), so
that any language can read it.
"""

from __future__ import annotations

import uuid
from pathlib import Path
from typing import Final

from google.protobuf import json_format
from kafeneio.rules.v1 import actions_pb2, events_pb2
from kafeneio.rules.v1 import game_pb2 as pb
from kafeneio_games import record as games_record
from kafeneio_games.game import Entry, Refusal, Seat, Unreadable, read_entry, write_entry
from kafeneio_games.match import Outcome
from kafeneio_games.play import Play
from kafeneio_games.registry import BuildError, build

_VOID_PREFIX: Final = "VOID_REASON_"
_CANCELLED: Final = "CANCELLED"
FILE_BYTES_MAX: Final = 64 * 1024 * 1024
"""A record file is never larger; what is is something else."""


class BadRecord(ValueError):  # noqa: N818 - says what the file is
    """It is not a record at all; the message may be shown to a person."""


def verify(record: pb.Record) -> tuple[games_record.Problem, ...]:
    """What is wrong with a record, found here and now without any house; () is good.

    BadRecord where it can't even be read as one.
    """
    return games_record.verify(from_message(record))


def from_message(message: pb.Record) -> games_record.Record:
    """The message as the value that `kafeneio_games.record.verify` judges; BadRecord."""
    try:
        game_id = uuid.UUID(message.game_id).bytes
    except ValueError as error:
        raise BadRecord(f"the game id {message.game_id[:40]!r} is no UUID") from error
    terms = message.terms
    rows = tuple(
        games_record.Row(row.version, tuple(map(_read_entry, row.entries)), row.state_hash)
        for row in message.rows
    )
    return games_record.Record(
        game_id=game_id,
        variant=terms.variant,
        edition=terms.edition,
        options=tuple(sorted(terms.options.items())),
        target=terms.target,
        commitment=message.commitment,
        secret=message.secret,
        words=tuple(message.words),
        rows=rows,
        outcome=_read_outcome(message, rows),
        computers=tuple(map(Seat, message.computer_seats)),
    )


def to_message(record: games_record.Record, player_ids: tuple[str, ...] = ()) -> pb.Record:
    """The inverse of `from_message`; the value knows no player and no times."""
    message = pb.Record(
        game_id=str(uuid.UUID(bytes=record.game_id)),
        terms=pb.Terms(
            variant=record.variant,
            edition=record.edition,
            options=dict(record.options),
            target=record.target,
        ),
        player_ids=player_ids,
        commitment=record.commitment,
        secret=record.secret,
        words=record.words,
        rows=[
            pb.RecordRow(
                version=row.version,
                entries=list(map(write_entry, row.entries)),
                state_hash=row.digest,
            )
            for row in record.rows
        ],
        computer_seats=record.computers,
    )
    if record.outcome is not None:
        message.outcome.CopyFrom(_write_outcome(record.outcome))
    return message


def write_json(message: pb.Record) -> str:
    """The record as the text of a file."""
    return json_format.MessageToJson(message, indent=2) + "\n"


def read_json(text: str) -> pb.Record:
    """The inverse of `write_json`; BadRecord for anything else."""
    try:
        record = json_format.Parse(text, pb.Record())
    except json_format.ParseError as error:
        raise BadRecord(f"no record of a game: {str(error).splitlines()[0]}") from error
    if not record.game_id:
        raise BadRecord("no record of a game: it names none")
    return record


def save(message: pb.Record, path: Path) -> None:
    """Write a record file; OSError where that can't be done."""
    path.write_text(write_json(message), encoding="utf-8")


def load(path: Path) -> pb.Record:
    """Read a record file; BadRecord where it holds none, OSError where it can't be read."""
    if path.stat().st_size > FILE_BYTES_MAX:
        raise BadRecord("no record of a game: the file is too large")
    try:
        return read_json(path.read_text(encoding="utf-8"))
    except UnicodeDecodeError as error:
        raise BadRecord("no record of a game: the file is no text") from error


def _read_entry(line: str) -> Entry:
    """ "-1 64" is chance throwing six and four."""
    try:
        return read_entry(line)
    except Unreadable as error:
        raise BadRecord(str(error)) from error


def _read_outcome(message: pb.Record, rows: tuple[games_record.Row, ...]) -> Outcome | None:
    if not message.HasField("outcome"):
        return None
    match message.outcome.WhichOneof("end"):
        case "decided":
            decided = message.outcome.decided
            winners = tuple(Seat(seat) for seat in decided.winners)
            return Outcome(winners, tuple(decided.score), decided.ending)
        case "void_reason":
            name = actions_pb2.VoidReason.Name(message.outcome.void_reason)
            reason = name.removeprefix(_VOID_PREFIX)
        case _:
            reason = _CANCELLED  # which is a status of its own, and has no reason beside it
    return Outcome((), _score(message.terms, rows), "void", reason)


def _score(terms: pb.Terms, rows: tuple[games_record.Row, ...]) -> tuple[int, ...]:
    """The score when a game was voided: the message does not carry it, the log gives it."""
    try:
        play = Play.begin(build(terms.variant, terms.edition, dict(terms.options), terms.target))
        for row in rows:
            play = play.apply_all(row.entries)
    except (BuildError, Refusal):
        return ()  # the record is bad, and `verify` says why
    return play.score


def _write_outcome(outcome: Outcome) -> pb.Outcome:
    if outcome.void == _CANCELLED:
        return pb.Outcome()
    if outcome.void is not None:
        reason = actions_pb2.VoidReason.Value(_VOID_PREFIX + outcome.void)
        return pb.Outcome(void_reason=reason)
    return pb.Outcome(
        decided=events_pb2.Decided(
            winners=outcome.winners, score=outcome.score, ending=outcome.ending
        )
    )
