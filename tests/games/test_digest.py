"""Values and entries as text: one for each, whatever the classes are called."""

from __future__ import annotations

import enum
from dataclasses import dataclass, field, make_dataclass
from hashlib import sha256
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from kafeneio_games.game import (
    Entry,
    Seat,
    Unreadable,
    canonical,
    digest,
    read_entry,
    write_entry,
)
from kafeneio_games.portes import Portes

values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=6) | st.binary(max_size=6),
    lambda inner: st.lists(inner, max_size=4).map(tuple),
    max_leaves=8,
)


class Colour(enum.Enum):
    RED = "red"


@dataclass(frozen=True, slots=True)
class Pair:
    left: object
    right: object = field(default=None)


def test_the_text() -> None:
    value = Pair((1, True, None), (b"\x00\xff", "αβ", Colour.RED, -3))
    assert canonical(value) == "{(i1;tn)(b00ff;s2:αβs3:redi-3;)}"
    assert digest(value) == sha256(canonical(value).encode()).digest()


def test_a_state() -> None:
    """Written down once: a change of the encoding or of the state's fields shows here."""
    state = Portes().start(Seat(0), (Seat(0), Seat(1)))
    board = "b0000000000000500030000000005000000000000000000000200;"
    assert canonical(state) == f"{{({board}{board})i0;()()s4:rolln}}"


def test_class_names_do_not_count() -> None:
    other = make_dataclass("Other", [("a", object), ("b", object)], frozen=True)
    assert digest(Pair(1, "x")) == digest(other(1, "x"))


@given(values, values)
def test_different_values_differ(one: Any, two: Any) -> None:
    same = repr(one) == repr(two)  # True and 1 are equal in Python, and two things here
    assert (canonical(one) == canonical(two)) == same
    assert (canonical((one, two)) == canonical((two, one))) == same


@pytest.mark.parametrize("value", [1.5, [1], {1: 2}, {1}, object(), (1, [2])])
def test_no_text_for_other_things(value: object) -> None:
    with pytest.raises(TypeError):
        canonical(value)


@given(st.integers(-2, 200), st.text(min_size=1, max_size=20))
def test_entries_are_lines_and_back(seat: int, text: str) -> None:
    entry = Entry(Seat(seat), text)
    assert read_entry(write_entry(entry)) == entry


@pytest.mark.parametrize(
    "line",
    ["", "0", "0 ", " 13/8", "x 13/8", "--1 64", "01 64", "+1 64", "１ 64", "9" * 9999 + " 6"],
)
def test_unreadable_entries(line: str) -> None:
    with pytest.raises(Unreadable):
        read_entry(line)
