"""The record of a finished game, and its verification by anybody (rules R4, R5).

A record's rows are the log as it was written: one row is what one call or one step of the house
added.  Rows are numbered from 1 without a gap, and there are three kinds:

* house rows: everything the house does by itself (opening throws, rolls, forced passes) until a
  seat is prompted, in one row;
* act rows: the actions of one seat in one turn;
* table rows: a single "!" entry, a resignation, a forfeit or the end of it all.
"""

from __future__ import annotations

import hmac
from dataclasses import dataclass
from typing import Final

from . import chance
from .game import Entry, Refusal, Seat
from .match import Outcome
from .play import CANCEL, Play, void_text
from .registry import BuildError, build

_TABLE_MARK: Final = "!"


@dataclass(frozen=True, slots=True)
class Row:
    """One row of the log: its version, its entries, and `Play.digest` after them (32 bytes)."""

    version: int
    entries: tuple[Entry, ...]
    digest: bytes


@dataclass(frozen=True, slots=True)
class Record:
    """All that is needed to replay a game and to check its dice.

    `game_id` is the UUID's 16 bytes; `options` are pairs of name and value; `words` are the seats'
    words in order of seats, empty ones included; `outcome` is what was announced; `computers` are
    the seats that a computer played from the start.
    """

    game_id: bytes
    variant: str
    edition: int
    options: tuple[tuple[str, str], ...]
    target: int
    commitment: bytes
    secret: bytes
    words: tuple[bytes, ...]
    rows: tuple[Row, ...]
    outcome: Outcome | None
    computers: tuple[Seat, ...] = ()


@dataclass(frozen=True, slots=True)
class Problem:
    """One thing that is wrong with a record.

    `kind` is one of MALFORMED, VARIANT, COMMITMENT, VERSION, CHANCE, ROW, REFUSED, DIGEST and
    OUTCOME; `version` the row where it shows, None when it concerns the whole.
    """

    kind: str
    version: int | None
    detail: str


def verify(record: Record) -> tuple[Problem, ...]:
    """Everything that is wrong with a record; () when it is good.  It never raises.

    Checked are the commitment, every outcome of chance against the secret, every action and
    forced pass against the rules, the division into rows, each row's digest, and the outcome.
    After a row that cannot stand nothing further can be judged, so it is the last one reported.
    """
    malformed = _malformed(record)
    if malformed:
        return malformed
    try:
        match = build(record.variant, record.edition, dict(record.options), record.target)
    except BuildError as error:
        return (Problem("VARIANT", None, str(error)),)
    play = Play.begin(match, record.computers)
    if not {*record.computers} < {*play.seats}:
        return (Problem("MALFORMED", None, "computers sit in seats, and leave one to a person"),)
    problems = _commitment_problems(record, play)
    draw = chance.ProvableDraw(record.secret, chance.context(record.game_id, record.words))
    for expected_version, row in enumerate(record.rows, 1):
        if row.version != expected_version:
            problems.append(Problem("VERSION", row.version, f"row {expected_version} was due"))
        after, found = _judged(play, row, draw)
        problems += found
        if after is None:
            return tuple(problems)
        play = after
        if not hmac.compare_digest(play.digest(), row.digest):
            problems.append(Problem("DIGEST", row.version, "the state's hash is another one"))
    if play.outcome != record.outcome:
        detail = f"the log ends with {play.outcome}, the record says {record.outcome}"
        problems.append(Problem("OUTCOME", None, detail))
    return tuple(problems)


def _commitment_problems(record: Record, play: Play) -> list[Problem]:
    problems = []
    if not hmac.compare_digest(chance.commitment(record.secret), record.commitment):
        problems.append(Problem("COMMITMENT", None, "the secret is not the one committed to"))
    if len(record.words) != len(play.seats):
        problems.append(Problem("MALFORMED", None, "there must be one word for each seat"))
    return problems


def _judged(play: Play, row: Row, draw: chance.ProvableDraw) -> tuple[Play | None, list[Problem]]:
    """The play after a row, None if the row cannot stand, and what is wrong with it."""
    problems: list[Problem] = []
    table = row.entries[0].text.startswith(_TABLE_MARK)
    if table and not play.over and not _in_time(play, row.entries[0].text):
        problems.append(Problem("ROW", row.version, "the house does not do that at this time"))
    if not table and not play.over and play.prompted is None:
        _, expected = play.advance(draw)
        if row.entries != expected:
            problems.append(Problem("CHANCE", row.version, _difference(expected, row.entries)))
    elif len(row.entries) > 1 and (table or len({entry.seat for entry in row.entries}) > 1):
        problems.append(Problem("ROW", row.version, "a row is one act of one seat"))
    try:
        return play.apply_all(row.entries), problems
    except Refusal as refusal:
        problems.append(Problem("REFUSED", row.version, str(refusal)))
        return None, problems


def _in_time(play: Play, text: str) -> bool:
    """Whether a table entry may stand here.

    Before the start a game can only be void or cancelled; after it, it can't be cancelled, every
    seat has shown up, and the house has thrown before anybody gives up.
    """
    if play.turn == 0:
        return text.startswith("!void ") or text == CANCEL
    return text not in (CANCEL, void_text("NO_SHOW")) and play.prompted is not None


def _difference(expected: tuple[Entry, ...], found: tuple[Entry, ...]) -> str:
    for due, entry in zip(expected, found, strict=False):
        if due != entry:
            return f"the house owed {due.text!r} of {due.seat}, the log has {_shown(entry)}"
    return f"the house owed {len(expected)} entries, the log has {len(found)}"


def _shown(entry: Entry) -> str:
    return f"{entry.text[:40]!r} of {entry.seat}"


def _malformed(record: Record) -> tuple[Problem, ...]:
    """Wrong types and lengths: what no honest writer makes, and what the fold relies on."""
    checks = (
        (_is_bytes(record.game_id, 16), "the game id has 16 bytes"),
        (isinstance(record.variant, str), "the variant is a string"),
        (_is_int(record.edition) and _is_int(record.target), "edition and target are numbers"),
        (_is_pairs(record.options), "options are pairs of strings"),
        (_is_bytes(record.commitment, 32), "the commitment has 32 bytes"),
        (_is_bytes(record.secret, chance.SECRET_BYTES), "the secret has 32 bytes"),
        (_is_words(record.words), "a word has at most 64 bytes"),
        (isinstance(record.rows, tuple) and all(map(_is_row, record.rows)), "a row is malformed"),
        (_is_seats(record.computers), "computers sit in different seats"),
        (record.outcome is None or isinstance(record.outcome, Outcome), "no outcome"),
    )
    return tuple(Problem("MALFORMED", None, detail) for fine, detail in checks if not fine)


def _is_int(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


def _is_bytes(value: object, length: int) -> bool:
    return isinstance(value, bytes) and len(value) == length


def _is_pairs(value: object) -> bool:
    return isinstance(value, tuple) and all(
        isinstance(pair, tuple) and len(pair) == 2 and all(isinstance(part, str) for part in pair)
        for pair in value
    )


def _is_seats(value: object) -> bool:
    return isinstance(value, tuple) and all(map(_is_int, value)) and len({*value}) == len(value)


def _is_words(value: object) -> bool:
    return isinstance(value, tuple) and all(
        isinstance(word, bytes) and len(word) <= chance.WORD_BYTES_MAX for word in value
    )


def _is_row(value: object) -> bool:
    return (
        isinstance(value, Row)
        and _is_int(value.version)
        and _is_bytes(value.digest, 32)
        and isinstance(value.entries, tuple)
        and len(value.entries) > 0
        and all(
            isinstance(entry, Entry) and _is_int(entry.seat) and isinstance(entry.text, str)
            for entry in value.entries
        )
    )
