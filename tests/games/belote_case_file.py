"""The worked cases of belote, read from their text file, whose head says how it is written."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

FILE = Path(__file__).parents[1] / "golden" / "belote_cases.txt"

Pair = tuple[int, int]


@dataclass(frozen=True)
class Case:
    """One case: its kind, the words of its first line, the lines given, and the answer."""

    name: str
    kind: str
    words: tuple[str, ...]
    given: tuple[str, ...]
    answer: tuple[str, ...]

    @property
    def options(self) -> dict[str, str]:
        """Words like trump=H, "-" being none."""
        pairs = (word.split("=") for word in self.words if "=" in word)
        return {name: "" if value == "-" else value for name, value in pairs}

    @property
    def lines(self) -> dict[str, str]:
        """Lines like "hand: 7H 8H"."""
        return dict(line.split(": ", 1) for line in self.given)

    @property
    def counts(self) -> dict[str, Pair]:
        """A line like "cards=93-69 tricks=5-3", NS first."""
        (line,) = self.given
        return {name: pair(text) for name, text in (item.split("=") for item in line.split())}


def pair(text: str) -> Pair:
    """ "93-69"."""
    first, second = map(int, text.split("-"))
    return first, second


def read_cases() -> tuple[Case, ...]:
    """All of them, in order."""
    return tuple(_read(FILE.read_text().split("\n\n")))


def _read(blocks: list[str]) -> Iterator[Case]:
    for block in blocks:
        lines = [line for line in block.splitlines() if line and not line.startswith("#")]
        if not lines:
            continue
        title, head, *given, answer = lines
        kind, *words = head.split()
        yield Case(
            title.removeprefix("case "),
            kind,
            tuple(words),
            tuple(given),
            tuple(answer.removeprefix("-> ").split()),
        )
