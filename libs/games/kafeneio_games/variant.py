"""What an entry of the list of games is: a variant with its options and targets."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Final

from .game import Seat
from .match import Match


class BuildError(ValueError):
    """Something was asked for that the house does not have; `name` is what was not found.

    BuildError
    |- UnknownVariantError
    |- UnknownEditionError
    |- UnknownOptionError
    |- UnknownValueError     the option exists, this value of it does not, or not beside the others
    `- BadTargetError        the variant is not played to that number of points
    """

    def __init__(self, name: str, detail: str) -> None:
        super().__init__(detail)
        self.name = name


class UnknownVariantError(BuildError):
    """No such variant id."""


class UnknownEditionError(BuildError):
    """The variant has no such edition."""


class UnknownOptionError(BuildError):
    """The variant has no option of that name."""


class UnknownValueError(BuildError):
    """The option has no such value, or not beside the other options chosen."""


class BadTargetError(BuildError):
    """The variant is not played to that number of points."""


@dataclass(frozen=True, slots=True)
class Words:
    """A text for players in the languages of the house."""

    el: str
    en: str

    def in_language(self, language: str) -> str:
        """The text in "el" or "en"; KeyError for another language."""
        return {"el": self.el, "en": self.en}[language]


MANY_MAX: Final = 24


@dataclass(frozen=True, slots=True)
class Option:
    """A house rule that a table may choose.

    `values` are what it may be, the first being the default unless `usual` names another.  Of an
    option with `many` a value is one of these or several, in any order and as often as you like,
    separated by commas: "portes,fevga,portes", at most `MANY_MAX`.
    """

    name: str
    values: tuple[str, ...]
    description: Words
    usual: str = ""
    many: bool = False

    @property
    def default(self) -> str:
        """The value that stands when none is chosen."""
        return self.usual or self.values[0]

    def takes(self, value: str) -> bool:
        """Whether that is one of its values."""
        if not self.many:
            return value in self.values
        parts = value.split(",", MANY_MAX)
        return len(parts) <= MANY_MAX and all(part in self.values for part in parts)


@dataclass(frozen=True, slots=True)
class Targets:
    """The points to which a match may be played.

    From `least` to `most`, ends included, but only those in `allowed` if it names any; `default`
    is the usual number.
    """

    least: int
    most: int
    default: int
    allowed: tuple[int, ...] = ()

    def take(self, points: int) -> bool:
        """Whether a match may go to that many points."""
        return points in (self.allowed or range(self.least, self.most + 1))

    def __str__(self) -> str:
        """ "3, 5 or 7", "1 to 15"."""
        if not self.allowed:
            return f"{self.least} to {self.most}"
        *others, last = map(str, self.allowed)
        return f"{', '.join(others)} or {last}" if others else last


def nothing_more(options: Mapping[str, str]) -> None:
    """Any values of the options go together."""


@dataclass(frozen=True, slots=True)
class Variant:
    """One entry of the list of games.

    `id` and `edition` are its key; `seats` how many play and `sides` who plays with whom, both
    with the default options, see `sides_with`; `payout` the payout rule's id (S1-S4); `hidden`
    whether a seat sees less than the whole; `rule_files` the parts of its rule text.
    `make(options, target)` gets every option with a valid value; `check` raises a `BuildError`
    where single values are valid and do not go together.
    """

    id: str
    edition: int
    names: Words
    sides: tuple[tuple[Seat, ...], ...]
    targets: Targets
    options: tuple[Option, ...]
    payout: str
    rule_files: tuple[str, ...]
    make: Callable[[Mapping[str, str], int], Match]
    hidden: bool = False
    check: Callable[[Mapping[str, str]], None] = nothing_more

    @property
    def seats(self) -> int:
        """How many seats a table of it has."""
        return sum(map(len, self.sides))

    def sides_with(self, options: Mapping[str, str]) -> tuple[tuple[Seat, ...], ...]:
        """Who plays with whom when these are chosen; a `BuildError` for what is not there."""
        return self.build(options, None).sides

    def settled_options(self, chosen: Mapping[str, str]) -> dict[str, str]:
        """Every option with its chosen or default value; a `BuildError` for what is not there."""
        known = {option.name: option for option in self.options}
        for name, value in chosen.items():
            if name not in known:
                raise UnknownOptionError(name, f"{self.id} has no option {name[:40]!r}")
            if not known[name].takes(value):
                joined = ", ".join(known[name].values)
                several = ", or several of them with commas" if known[name].many else ""
                raise UnknownValueError(name, f"{name} is one of {joined}{several}")
        settled = {name: chosen.get(name, option.default) for name, option in known.items()}
        self.check(settled)
        return settled

    def settled_target(self, target: int | None) -> int:
        """The target, or the usual one for None; `BadTargetError` for another."""
        points = self.targets.default if target is None else target
        if not self.targets.take(points):
            raise BadTargetError(self.id, f"{self.id} is played to {self.targets} points")
        return points

    def build(self, options: Mapping[str, str], target: int | None) -> Match:
        """A match of which nothing has happened; any `BuildError` but the first two."""
        return self.make(self.settled_options(options), self.settled_target(target))
