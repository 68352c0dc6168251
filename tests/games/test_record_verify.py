"""Records: a good one passes, and whatever is changed in one is found; garbage never raises."""

from __future__ import annotations

import dataclasses
from dataclasses import replace
from functools import lru_cache
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from kafeneio_games.game import CHANCE, TABLE, Entry, Seat
from kafeneio_games.match import Outcome
from kafeneio_games.play import Play
from kafeneio_games.record import Problem, Record, Row, verify
from kafeneio_games.registry import build, variant

from tests.games.plays import record_of


@lru_cache(maxsize=1)
def good() -> Record:
    """A match to two points."""
    return record_of(variant("portes"), seed=5, target=2)


def kinds(record: Record) -> set[str]:
    return {problem.kind for problem in verify(record)}


def with_row(record: Record, number: int, **changes: Any) -> Record:
    rows = list(record.rows)
    rows[number] = replace(rows[number], **changes)
    return replace(record, rows=tuple(rows))


def first_row(record: Record, text: str) -> int:
    """The first row, counted from 0, with an entry of that text."""
    return next(i for i, row in enumerate(record.rows) if any(e.text == text for e in row.entries))


def test_a_good_record_has_no_problems() -> None:
    record = good()
    assert verify(record) == ()
    assert record.outcome is not None
    assert {"pass"} & {entry.text for row in record.rows for entry in row.entries}


@pytest.mark.parametrize("options", [{}, {"disconnect_points": "two", "rule_set": "betomall"}])
@pytest.mark.parametrize("target", [1, 3])
def test_good_records_of_other_tables(options: dict[str, str], target: int) -> None:
    assert verify(record_of(variant("portes"), 8, target, options)) == ()


@pytest.mark.parametrize(
    "entry",
    [
        Entry(Seat(0), "!resign"),
        Entry(Seat(1), "!forfeit CONNECTION_LOST"),
        Entry(TABLE, "!void OPERATOR"),
    ],
)
def test_a_table_entry_is_a_row_of_its_own(entry: Entry) -> None:
    record = ended_by(entry)
    assert verify(record) == ()
    last = record.rows[-1]
    joined = replace(record, rows=record.rows[:-1])
    joined = with_row(joined, -1, entries=(*joined.rows[-1].entries, entry), digest=last.digest)
    assert kinds(joined) & {"ROW", "CHANCE"}


def ended_by(entry: Entry) -> Record:
    """A record of one turn, ended by that entry."""
    record = record_of(variant("portes"), seed=3, turns=1)
    play = Play.begin(build("portes", 1, {}, None))
    for row in record.rows:
        play = play.apply_all(row.entries)
    play = play.apply(entry)
    rows = (*record.rows, Row(len(record.rows) + 1, (entry,), play.digest()))
    return replace(record, rows=rows, outcome=play.outcome)


# ---------------------------------------------------------------- every change is found


def test_commitment() -> None:
    assert kinds(replace(good(), commitment=bytes(32))) == {"COMMITMENT"}


def test_secret_words_and_game_id_decide_the_dice() -> None:
    assert kinds(replace(good(), secret=bytes(32))) >= {"COMMITMENT", "CHANCE"}
    assert "CHANCE" in kinds(replace(good(), words=(b"mine", b"yours")))
    assert "CHANCE" in kinds(replace(good(), game_id=bytes(16)))


def test_another_roll() -> None:
    record = good()
    row = record.rows[0]
    other_roll = "21" if row.entries[-1].text != "21" else "31"
    changed = (*row.entries[:-1], Entry(CHANCE, other_roll))
    assert "CHANCE" in kinds(with_row(record, 0, entries=changed))


def test_a_roll_too_few_or_too_many() -> None:
    entries = good().rows[0].entries
    assert "CHANCE" in kinds(with_row(good(), 0, entries=entries[:-1]))
    assert "CHANCE" in kinds(with_row(good(), 0, entries=(*entries, Entry(CHANCE, "66"))))


def test_an_illegal_move_is_the_last_that_is_judged() -> None:
    problems = verify(with_row(good(), 1, entries=(Entry(Seat(0), "1/off"),)))
    assert [(p.kind, p.version) for p in problems] == [("REFUSED", 2)]


def test_a_pass_that_was_not_forced() -> None:
    record = good()
    seat = record.rows[1].entries[0].seat
    assert kinds(with_row(record, 1, entries=(Entry(seat, "pass"),))) == {"REFUSED"}


def test_a_forced_pass_left_out() -> None:
    record = good()
    number = first_row(record, "pass")
    entries = tuple(entry for entry in record.rows[number].entries if entry.text != "pass")
    assert "CHANCE" in kinds(with_row(record, number, entries=entries))


def test_digest() -> None:
    assert verify(with_row(good(), 3, digest=bytes(32))) == (
        Problem("DIGEST", 4, "the state's hash is another one"),
    )


def test_versions_are_without_a_gap() -> None:
    assert kinds(with_row(good(), 3, version=9)) == {"VERSION"}
    assert "VERSION" in kinds(replace(good(), rows=good().rows[1:]))


def test_two_rows_in_one() -> None:
    record = good()
    merged = (*record.rows[1].entries, *record.rows[2].entries)
    rows = (record.rows[0], Row(2, merged, record.rows[2].digest), *record.rows[3:])
    assert "ROW" in kinds(replace(record, rows=rows))


def test_outcome() -> None:
    record = good()
    assert record.outcome is not None
    loser = Seat(1 - record.outcome.winners[0])
    assert kinds(replace(record, outcome=replace(record.outcome, winners=(loser,)))) == {"OUTCOME"}
    assert kinds(replace(record, outcome=None)) == {"OUTCOME"}
    assert kinds(replace(record, rows=record.rows[:-1])) == {"OUTCOME"}


def test_a_row_after_the_end() -> None:
    record = good()
    extra = Row(len(record.rows) + 1, (Entry(CHANCE, "64"),), bytes(32))
    assert kinds(replace(record, rows=(*record.rows, extra))) == {"REFUSED"}


def test_variant_options_target() -> None:
    assert kinds(replace(good(), variant="chess")) == {"VARIANT"}
    assert kinds(replace(good(), edition=9)) == {"VARIANT"}
    assert kinds(replace(good(), options=(("rule_set", "none"),))) == {"VARIANT"}
    assert kinds(replace(good(), target=99)) == {"VARIANT"}
    assert kinds(replace(good(), target=1)) != set()


def test_words_one_for_each_seat() -> None:
    assert "MALFORMED" in kinds(replace(good(), words=(*good().words, b"")))


@pytest.mark.parametrize(
    "changes",
    [
        {"game_id": b"short"},
        {"secret": b""},
        {"commitment": None},
        {"words": (bytes(65), b"")},
        {"words": None},
        {"rows": (Row(1, (), bytes(32)),)},
        {"rows": (Row(1, (Entry(Seat(0), "64"),), b""),)},
        {"rows": ("row",)},
        {"rows": None},
        {"options": (("a",),)},
        {"target": "1"},
        {"edition": True},
        {"variant": 7},
        {"outcome": "won"},
    ],
    ids=str,
)
def test_malformed(changes: dict[str, Any]) -> None:
    assert kinds(replace(good(), **changes)) == {"MALFORMED"}


anything = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=9) | st.binary(max_size=40),
    lambda inner: st.lists(inner, max_size=3).map(tuple),
    max_leaves=6,
)
entries = st.builds(
    Entry,
    st.sampled_from([-2, -1, 0, 1, 2]).map(Seat),
    st.text(max_size=9)
    | st.sampled_from(["64", "opening 63", "!resign", "!cancel", "pass", "13/8"]),
)
rows = st.builds(
    Row,
    st.integers(-1, 5),
    st.lists(entries, max_size=4).map(tuple),
    st.binary(min_size=32, max_size=32),
)


@settings(max_examples=150, deadline=None)
@given(st.sampled_from([field.name for field in dataclasses.fields(Record)]), anything)
def test_garbage_in_one_field_never_raises(name: str, value: Any) -> None:
    record = replace(good(), **{name: value})
    assert verify(record) != () or record == good() or name == "options"


@settings(max_examples=100, deadline=None)
@given(st.lists(rows, max_size=5), st.integers(0, 4))
def test_garbage_rows_never_raise(garbage: list[Row], kept: int) -> None:
    record = replace(good(), rows=(*good().rows[:kept], *garbage))
    assert verify(record) != ()


def test_void_before_the_start() -> None:
    play = Play.begin(build("portes", 1, {}, None)).apply(Entry(TABLE, "!void NO_SHOW"))
    rows = (Row(1, (Entry(TABLE, "!void NO_SHOW"),), play.digest()),)
    record = replace(good(), target=1, rows=rows, outcome=play.outcome)
    assert verify(record) == ()
    assert record.outcome == Outcome((), (0, 0), "void", "NO_SHOW")
