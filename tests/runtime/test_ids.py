"""Ids sort by time and have one spelling."""

import uuid

import pytest
from kafeneio_runtime.errors import Refusal
from kafeneio_runtime.ids import new_id, parse_id


def test_ids_are_of_version_7_and_sort_by_time() -> None:
    ids = [new_id() for _ in range(200)]
    assert {each.version for each in ids} == {7}
    assert all(isinstance(each, uuid.UUID) for each in ids)
    assert ids == sorted(ids)
    assert len(set(ids)) == 200


def test_an_id_reads_back() -> None:
    made = new_id()
    assert parse_id(str(made), "game_id") == made


@pytest.mark.parametrize(
    "text",
    [
        "",
        "7",
        "01890000-0000-7000-8000-00000000000",
        "01890000000070008000000000000000",
        "{01890000-0000-7000-8000-000000000000}",
        "0189000A-0000-7000-8000-000000000000",
        "urn:uuid:01890000-0000-7000-8000-000000000000",
        "01890000-0000-7000-8000-00000000000g",
    ],
)
def test_other_spellings_are_malformed(text: str) -> None:
    with pytest.raises(Refusal) as caught:
        parse_id(text, "game_id")
    assert caught.value.reason_name == "MALFORMED"
    assert caught.value.violations[0][0] == "game_id"
