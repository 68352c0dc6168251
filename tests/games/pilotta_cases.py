"""The worked cases of `golden/pilotta_cases.txt`, read."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from kafeneio_games.pilotta_scoring import Count, Scoring
from kafeneio_games.trick_view import Contract

FILE = Path(__file__).parents[1] / "golden" / "pilotta_cases.txt"


@dataclass(frozen=True)
class Case:
    """One line: the case's name, its kind, what is given, and what must come of it."""

    name: str
    kind: str
    given: str
    expected: str


def read() -> Iterator[Case]:
    """All lines."""
    for line in FILE.read_text().splitlines():
        if line and not line.startswith("#"):
            given, _, expected = line.partition("-> ")
            name, kind, rest = given.split(maxsplit=2)
            yield Case(name, kind, rest.strip(), expected)


def of(*kinds: str) -> list[Case]:
    """The cases of these kinds."""
    return [case for case in read() if case.kind in kinds]


def pair(text: str) -> tuple[int, int]:
    """ "29-4"."""
    first, second = text.split("-")
    return int(first), int(second)


def turned(points: tuple[int, int], side: int) -> tuple[int, int]:
    """A pair of the caller's side first, by side, when that is `side`; and back."""
    return points if side == 0 else points[::-1]


@dataclass(frozen=True)
class Sum:
    """What a "score" or "classic" line gives, when the caller's side is `side`."""

    count: Count
    contract: Contract
    rules: Scoring

    @classmethod
    def of(cls, case: Case, side: int) -> Sum:
        words = case.given.split()
        named = dict(word.split("=") for word in words if "=" in word)
        all_tricks = "all" in words
        tricks = (250, 0) if all_tricks else pair(named["tr"])
        counted = Count(
            turned(tricks, side),
            turned(pair(named.get("calls", "0-0")), side),
            turned(pair(named.get("belote", "0-0")), side),
            side if all_tricks else None,
        )
        bid = named.get("bid", "0")
        times = 4 if "x4" in words else 2 if "x2" in words else 1
        contract = Contract(
            seat=side,  # type: ignore[arg-type]  # the first seat of that side
            side=side,
            value=250 if bid == "capot" else int(bid),
            trump="H",
            capot=bid == "capot",
            multiplier=times,
        )
        takes = "contra_winner_takes_pool" in words
        return cls(counted, contract, Scoring(contra_winner_takes_pool=takes))
