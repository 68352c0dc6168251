"""Records as messages, files and values."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from kafeneio.rules.v1 import game_pb2 as pb
from kafeneio_client import records
from kafeneio_games.game import CHANCE, TABLE, Entry, Seat
from kafeneio_games.match import Outcome
from kafeneio_games.record import Record, Row

from tests.client.tables import Table


@pytest.fixture
def finished() -> pb.Record:
    """A game to three points in which seat 0 resigned twice."""
    terms = pb.Terms(variant="portes", edition=1, target=3)
    terms.options["rule_set"] = "zarclub"
    terms.options["disconnect_points"] = "formula"
    game_id = "0193f7a0-5c1e-7000-8000-000000000001"
    table = Table(game_id, terms, ("eleni", "nikos"), {0: b"kalimera", 1: b""})
    table.begin()
    for _ in range(2):
        resign = Entry(Seat(0), "!resign")
        assert table.play is not None
        table.append(table.play.apply(resign), [resign])
        table.house()
    return table.record()


def voided(reason: str) -> Record:
    """A value that ended without a result."""
    return Record(
        game_id=bytes(range(16)),
        variant="portes",
        edition=1,
        options=(("disconnect_points", "formula"), ("rule_set", "zarclub")),
        target=1,
        commitment=bytes(32),
        secret=bytes(32),
        words=(b"", b"x"),
        rows=(Row(1, (Entry(TABLE, reason),), bytes(32)),),
        outcome=Outcome(
            (), (0, 0), "void", reason.removeprefix("!void ").replace("!cancel", "CANCELLED")
        ),
    )


def test_a_good_record_is_good(finished: pb.Record) -> None:
    assert records.verify(finished) == ()


def test_message_and_value_are_inverse(finished: pb.Record) -> None:
    value = records.from_message(finished)
    assert value.outcome is not None
    assert value.outcome.winners == (1,)
    assert value.words == (b"kalimera", b"")
    assert value.rows[0].entries[0].seat == CHANCE
    assert records.to_message(value, ("eleni", "nikos")) == finished


@pytest.mark.parametrize("entry", ["!void NO_SHOW", "!void OPERATOR", "!cancel"])
def test_a_void_game_has_its_reason(entry: str) -> None:
    value = voided(entry)
    message = records.to_message(value)
    assert records.from_message(message) == value
    assert message.HasField("outcome")


def test_a_file_is_json_that_others_can_read(finished: pb.Record, tmp_path: Path) -> None:
    path = tmp_path / "game.json"
    records.save(finished, path)
    assert records.load(path) == finished
    plain = json.loads(path.read_text(encoding="utf-8"))
    assert plain["terms"]["variant"] == "portes"
    assert plain["playerIds"] == ["eleni", "nikos"]


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("secret", bytes(32)),
        ("commitment", bytes(32)),
        ("words", [b"kalispera", b""]),
        ("game_id", "0193f7a0-5c1e-7000-8000-000000000002"),
    ],
)
def test_any_change_of_it_is_found(finished: pb.Record, field: str, value: object) -> None:
    if isinstance(value, list):
        del finished.words[:]
        finished.words.extend(value)
    else:
        setattr(finished, field, value)
    assert records.verify(finished) != ()


def test_a_changed_log_is_found(finished: pb.Record) -> None:
    finished.rows[0].state_hash = bytes(32)
    assert [problem.kind for problem in records.verify(finished)] == ["DIGEST"]


def test_another_winner_is_found(finished: pb.Record) -> None:
    finished.outcome.decided.winners[0] = 0
    assert [problem.kind for problem in records.verify(finished)] == ["OUTCOME"]


@pytest.mark.parametrize("text", ["", "13/8", "x 13/8", "-", "- 13/8", "--1 64"])
def test_an_entry_that_is_none_is_no_record(finished: pb.Record, text: str) -> None:
    finished.rows[0].entries[0] = text
    with pytest.raises(records.BadRecord, match="no entry"):
        records.verify(finished)


def test_a_game_id_that_is_none_is_no_record(finished: pb.Record) -> None:
    finished.game_id = "the one of yesterday"
    with pytest.raises(records.BadRecord, match="UUID"):
        records.verify(finished)


@pytest.mark.parametrize(
    "content", [b"", b"{", b"[]", b'{"moves": 3}', b"\xff\xfe", b"null", b"{}"]
)
def test_a_file_of_something_else_is_no_record(content: bytes, tmp_path: Path) -> None:
    path = tmp_path / "other"
    path.write_bytes(content)
    with pytest.raises(records.BadRecord):
        records.load(path)


def test_an_empty_record_is_bad_and_raises_nothing_else() -> None:
    with pytest.raises(records.BadRecord):
        records.verify(pb.Record())


def test_an_unknown_variant_is_told(finished: pb.Record) -> None:
    finished.terms.variant = "bridge"
    assert [problem.kind for problem in records.verify(finished)] == ["VARIANT"]
