"""The golden logs of rummy hold the odd rules for which they were written down."""

from __future__ import annotations

import itertools
from collections import Counter

import pytest
from kafeneio_games.elimination_match import EliminationMatch
from kafeneio_games.play import Play

from tests.games.test_golden_logs import FOLDER, begin, read_golden


def plays_of(name: str) -> tuple[list[Play], list[str]]:
    """The play after each entry, and the entries' texts."""
    golden = read_golden(FOLDER / f"{name}.txt")
    plays = [begin(golden)]
    for entry in golden.entries:
        plays.append(plays[-1].apply(entry))
    return plays, [entry.text for entry in golden.entries]


def eliminations(plays: list[Play]) -> list[int]:
    """How many were out at once, each time."""
    live = []
    for play in plays:
        assert isinstance(play.match, EliminationMatch)
        live.append(len(play.match.live))
    return [before - after for before, after in itertools.pairwise(live) if before > after]


def endings(plays: list[Play]) -> Counter[str]:
    """How the hands ended."""
    found = {play.last.number: play.last.result.ending for play in plays if play.last is not None}
    return Counter(found.values())


@pytest.mark.parametrize(
    ("name", "out"),
    [
        ("koumkan_only_one_out", [1, 1]),
        ("koumkan_two_out_at_once", [2, 1]),
        ("koumkan_three_out_at_once", [3]),
        ("koumkan_forfeits_play_goes_on", [1, 1, 1]),
        ("thanasis_forfeit", [1, 1]),
    ],
)
def test_who_is_out(name: str, out: list[int]) -> None:
    assert eliminations(plays_of(name)[0]) == out


def test_a_void_hand() -> None:
    plays, _ = plays_of("koumkan_void_hand")
    assert endings(plays)["void"] >= 1
    assert plays[-1].score == (0, 0)


@pytest.mark.parametrize("name", ["koumkan_reshuffled", "thanasis_reshuffled"])
def test_a_reshuffle_is_in_the_midst_of_a_turn(name: str) -> None:
    plays, texts = plays_of(name)
    (place,) = [i for i, text in enumerate(texts) if text.startswith("reshuffle ")]
    assert texts[place - 1] == "draw"
    asked, due, done = plays[place - 1 : place + 2]
    assert (asked.prompted, due.prompted, done.prompted) == (asked.prompted, None, asked.prompted)
    assert asked.turn == due.turn == done.turn


@pytest.mark.parametrize(
    ("name", "times"),
    [("thanasis_joker_turned", 1), ("dynamitis_two_turned", 1), ("dynamitis_turned_twice", 2)],
)
def test_what_is_turned_goes_back(name: str, times: int) -> None:
    _, texts = plays_of(name)
    places = [i for i, text in enumerate(texts) if text.startswith("put-back ")]
    assert any(texts[i - 1].startswith("deal ") for i in places)
    runs = [all(j in places for j in range(i, i + times)) for i in places]
    assert any(runs)


def test_jokers_are_exchanged() -> None:
    for name in ("koumkan_match", "koumkan_joker_used_at_once"):
        _, texts = plays_of(name)
        assert any(text.startswith("swap ") for text in texts)
        assert any(text.startswith("meld ") and "*" in text for text in texts)
