"""What the guides say is so."""

from __future__ import annotations

import json
import re
from typing import Final

import pytest
from google.protobuf import json_format
from kafeneio.rules.v1 import game_pb2
from kafeneio_client import records

from deploy.docs.contracts import ROOT
from tests.clock.table import Table
from tests.games import test_chance

DOCS: Final = ROOT / "deploy" / "docs"
GUIDES: Final = tuple(sorted(DOCS.glob("*.md")))
VECTORS: Final = ROOT / "libs/client/typescript/test/vectors.json"
_ROW: Final = re.compile(r"^\| (\d) \| (\d+) s \| (?:(\d),|[^|\d]+)", re.MULTILINE)


def cases(language: str) -> list[tuple[int, int, int | None]]:
    """The rows about one absence: charged before, seconds away, charged after; None for out."""
    text = (DOCS / f"time.{language}.md").read_text("utf-8")
    return [
        (int(used), int(away), int(after) if after else None)
        for used, away, after in _ROW.findall(text)
    ]


@pytest.mark.parametrize(("used", "away", "after"), cases("en"))
def test_the_worked_cases_of_time(used: int, away: int, after: int | None) -> None:
    table = Table.playing(used=used)
    table.lose(0)
    table.fire_until(away)
    if after is None:
        assert table.state.forfeits
    else:
        table.attach(0)
        assert table.state.seats[0].charged == after
        assert not table.state.forfeits


def test_both_languages_tell_the_same_cases_and_rules() -> None:
    assert cases("en") == cases("el")
    assert len(cases("en")) == 7
    rules = [
        re.findall(r"\b[XF]\d+\b", (DOCS / f"time.{language}.md").read_text("utf-8"))
        for language in ("en", "el")
    ]
    assert rules[0] == rules[1]


def test_the_vectors_are_those_of_the_engine() -> None:
    guide, vectors = (DOCS / "chance.md").read_text("utf-8"), json.loads(VECTORS.read_text("utf-8"))
    shuffle = " ".join(map(str, test_chance.VECTOR_SHUFFLE))
    for vector in (
        test_chance.COMMITMENT,
        test_chance.VECTOR_CONTEXT,
        test_chance.VECTOR_DICE,
        shuffle,
    ):
        assert f"`{vector}`" in guide
    assert vectors["commitment"] == test_chance.COMMITMENT
    assert vectors["context"] == test_chance.VECTOR_CONTEXT
    assert vectors["dice"] == test_chance.VECTOR_DICE
    assert vectors["shuffledOf32"] == list(test_chance.VECTOR_SHUFFLE)


def test_the_records_among_the_vectors_are_good_but_not_finished() -> None:
    shown = json.loads(VECTORS.read_text("utf-8"))["records"]
    assert len(shown) == 5
    for record in shown:
        message = json_format.ParseDict(record, game_pb2.Record())
        assert records.verify(message) == (), record["terms"]["variant"]


def test_every_link_leads_somewhere() -> None:
    links = [
        (path, link)
        for path in GUIDES
        for link in re.findall(r"\]\(([^)#]+)", path.read_text("utf-8"))
    ]
    assert links
    for path, link in links:
        assert (path.parent / link).exists(), f"{path.name}: {link}"
