"""A chain of hashes tells what was changed, and where."""

from hashlib import sha256

from hypothesis import given
from hypothesis import strategies as st
from kafeneio_runtime.chain import START, Break, Broken, Link, Linked, follow, verify

SAYINGS = st.lists(st.text(max_size=20), min_size=1, max_size=12)


def chained(sayings: list[str]) -> list[Linked[str]]:
    rows, last = [], START
    for place, said in enumerate(sayings):
        last = follow(last, said)
        rows.append(Linked(last, f"entry {place}", said))
    return rows


def test_a_link_is_the_hash_of_the_one_before_and_of_what_is_said() -> None:
    first = sha256(bytes(32) + b"kalimera").digest()
    second = sha256(first + "καλησπέρα".encode()).digest()
    assert [row.link for row in chained(["kalimera", "καλησπέρα"])] == [
        Link(1, first),
        Link(2, second),
    ]


@given(SAYINGS)
def test_what_was_not_touched_is_found_good(sayings: list[str]) -> None:
    rows = chained(sayings)
    assert verify(START, rows) == (rows[-1].link, rows[-1].link, [])


@given(SAYINGS, st.data())
def test_it_may_be_verified_in_pages(sayings: list[str], data: st.DataObject) -> None:
    rows = chained(sayings)
    cut = data.draw(st.integers(0, len(rows)))
    good, _, found = verify(START, rows[:cut])
    assert not found
    assert verify(good, rows[cut:])[0] == rows[-1].link


@given(SAYINGS, st.data())
def test_a_changed_entry_is_found_where_it_is(sayings: list[str], data: st.DataObject) -> None:
    rows = chained(sayings)
    place = data.draw(st.integers(0, len(rows) - 1))
    rows[place] = Linked(rows[place].link, rows[place].key, f"{rows[place].said}!")
    good, end, found = verify(START, rows)
    assert found == [Broken(Break.CHANGED, place + 1, f"entry {place}")]
    assert good.number == place
    assert end == rows[-1].link


@given(SAYINGS, st.data())
def test_an_entry_that_is_gone_is_found(sayings: list[str], data: st.DataObject) -> None:
    rows = chained(sayings)
    place = data.draw(st.integers(0, len(rows) - 1))
    rows[place] = Linked(rows[place].link, rows[place].key, None)
    good, _, found = verify(START, rows)
    assert found == [Broken(Break.MISSING, place + 1, f"entry {place}")]
    assert good.number == place


@given(st.lists(st.text(max_size=20), min_size=2, max_size=12), st.data())
def test_a_link_that_is_gone_is_found(sayings: list[str], data: st.DataObject) -> None:
    rows = chained(sayings)
    place = data.draw(st.integers(0, len(rows) - 2))  # of the last one nobody would know
    del rows[place]
    good, _, found = verify(START, rows)
    assert Broken(Break.MISSING, place + 1, None) in found
    assert good.number == place


def test_a_chain_made_anew_is_another_one() -> None:
    before, after = chained(["one", "two", "three"]), chained(["one", "zwo", "three"])
    assert verify(START, after)[2] == [], "in itself it is well"
    assert before[2].link != after[2].link, "but who has written down a link can tell"
