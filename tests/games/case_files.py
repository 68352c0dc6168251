"""Worked cases of Plakoto, Fevga and Gul Bara as text files, read.

    case ID ROLL OPTION=VALUE ...     then the position, then the results
    MINE | THEIRS                     each in its own numbering; what is missing is borne off,
                                      ":p" is a single pinned checker
    -> MINE | THEIRS | ...            "win 2", "drawn", "passed 4 4 5": what it comes to
    count N                           stands instead of the results where only their number counts

Options are fields of the game; of Gul Bara also "throw=4", the mover's own throw that this is, and
instead of a roll "receive=4,4,5", the numbers that he was handed.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import Any

from tests.games.tavli_tables import GAMES, AnyTavli, Table

FOLDER = Path(__file__).parents[1] / "golden"


@dataclass(frozen=True)
class End:
    """One result: the position, points won (0 for none), whether drawn, and what is handed over."""

    table: Table
    won: int = 0
    drawn: bool = False
    passed: tuple[int, ...] = ()


@dataclass(frozen=True)
class Case:
    """A position, what is to be played in it, and what may come of it."""

    name: str
    game: AnyTavli
    table: Table
    roll: str
    received: tuple[int, ...]
    results: frozenset[End]
    count: int


def game_with(name: str, options: str) -> AnyTavli:
    """The game with options "mother=none wall_front=False"."""
    game = GAMES[name]
    chosen = dict(item.split("=") for item in options.split())
    return replace(game, **{key: typed(game, key, value) for key, value in chosen.items()})


def typed(game: AnyTavli, key: str, value: str) -> Any:
    """A value as the field wants it."""
    (field,) = (field for field in fields(game) if field.name == key)
    return {"True": True, "False": False}[value] if isinstance(field.default, bool) else value


def read_end(line: str) -> End:
    """ "24:1 | 1:15 | win 2"."""
    mine, theirs, *remarks = line.split("|")
    words = dict(remark.strip().partition(" ")[::2] for remark in remarks)
    passed = tuple(map(int, words.get("passed", "").split()))
    table = Table.read(f"{mine}|{theirs}")
    return End(table, int(words.get("win", 0)), "drawn" in words, passed)


def read_cases(name: str) -> tuple[Case, ...]:
    """All cases of one game."""
    return tuple(_read(name, iter((FOLDER / f"{name}_cases.txt").read_text().splitlines())))


def _read(game: str, lines: Iterator[str]) -> Iterator[Case]:
    for line in lines:
        if not line.startswith("case "):
            continue
        _, name, *words = line.split()
        roll, received, throw, options = asked(words)
        table = Table.read(next(lines), (throw - 1, 0))
        results, count = set(), 0
        for result in iter(lambda: next(lines, "").strip(), ""):
            if result.startswith("count"):
                count = int(result.split()[1])
            else:
                results.add(read_end(result.removeprefix("->")))
        standing = frozenset(results)
        count = count or len(results)
        yield Case(name, game_with(game, options), table, roll, received, standing, count)


def asked(words: list[str]) -> tuple[str, tuple[int, ...], int, str]:
    """ "44 throw=4 receiver_stuck=stop": roll, received numbers, throw, and options as they were.

    The roll is "" where "receive=4,4,5" stands in its place, the throw 1 where none is named.
    """
    roll, *rest = words
    received: tuple[int, ...] = ()
    if roll.startswith("receive="):
        received, roll = tuple(map(int, roll.removeprefix("receive=").split(","))), ""
    throw = next((int(word[6:]) for word in rest if word.startswith("throw=")), 1)
    options = " ".join(word for word in rest if not word.startswith("throw="))
    return roll, received, throw, options
