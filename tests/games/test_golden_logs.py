"""Whole games, written down once, that must replay for ever: one for each ending and odd rule.

A log names the variant, its options and the target, then the entries, then how it ended. A change
that makes one of these fail changes the rules: it needs a new edition, not a new log.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import pytest
from kafeneio_games.game import Entry
from kafeneio_games.play import Play
from kafeneio_games.registry import build, editions

from tests.games.boards import read_log, told

FOLDER = Path(__file__).parents[1] / "golden" / "logs"
FILES = tuple(sorted(FOLDER.glob("*.txt")))


@dataclass(frozen=True)
class Golden:
    """One file: its header, its entries, and its last lines."""

    header: dict[str, str]
    entries: tuple[Entry, ...]
    ending: dict[str, str]


def read_golden(path: Path) -> Golden:
    lines = [line for line in path.read_text().splitlines() if not line.startswith("#")]
    header, log, ending = "\n".join(lines).split("\n--\n")
    return Golden(pairs(header), tuple(read_log(log.splitlines())), pairs(ending))


def pairs(text: str) -> dict[str, str]:
    return dict(line.split(" ", 1) for line in text.strip().splitlines())


def begin(golden: Golden) -> Play:
    variant, edition = golden.header["variant"].split("@")
    options = dict(item.split("=") for item in golden.header.get("options", "").split())
    return Play.begin(build(variant, int(edition), options, int(golden.header["target"])))


def ending_of(play: Play) -> dict[str, str]:
    assert play.outcome is not None
    return {
        "winners": " ".join(map(str, play.outcome.winners)) or "-",
        "score": "-".join(map(str, play.outcome.score)),
        "ending": play.outcome.ending,
        "void": play.outcome.void or "-",
        "forfeits": " ".join(f"{f.seat}:{f.reason}" for f in play.forfeits) or "-",
        "round": str(play.round),
        "turn": str(play.turn),
        "digest": play.digest().hex(),
    }


@pytest.mark.parametrize("path", FILES, ids=[path.stem for path in FILES])
def test_golden_log(path: Path) -> None:
    golden = read_golden(path)
    play = begin(golden)
    done: list[Entry] = []
    with told(path.name, done):
        for entry in golden.entries:
            done.append(entry)
            play = play.apply(entry)
        assert ending_of(play) == golden.ending


@pytest.mark.parametrize("variant", editions(), ids=lambda v: f"{v.id}@{v.edition}")
def test_every_edition_has_golden_logs(variant: object) -> None:
    name = f"{variant.id}@{variant.edition}"  # type: ignore[attr-defined]
    assert any(read_golden(path).header["variant"] == name for path in FILES)


def test_a_drawn_game_is_in_a_log() -> None:
    """It ends no match, so that it is found by a round that nobody won."""
    path = FOLDER / "plakoto_drawn_then_won.txt"
    play = begin(read_golden(path))
    scores = []
    for entry in read_golden(path).entries:
        before, play = play, play.apply(entry)
        if play.round > before.round:
            scores.append(play.score)
            assert play.state is None, "a new opening throw is due"
    assert scores == [(0, 0)]


def test_every_ending_has_a_log() -> None:
    endings = {(g.ending["ending"], g.ending["void"]) for g in map(read_golden, FILES)}
    kinds = ["single", "double", "mother", "resigned", "forfeit"]
    kinds += ["made", "failed", "capot", "litige"]
    kinds += ["went-out"]
    decided = {(ending, "-") for ending in kinds}
    reasons = ("NO_SHOW", "HOUSE", "OPERATOR", "ALL_FORFEITED", "CANCELLED")
    assert endings == decided | {("void", reason) for reason in reasons}
