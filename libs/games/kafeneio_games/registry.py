"""What can be played: every variant and edition as data, and how a match of it is built.

A correction that would change an old log raises the edition; the old one stays here, so that its
records can be replayed for ever.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Final

from .game import Seat
from .match import Match, PointsMatch
from .portes import SIDES, Portes


class BuildError(ValueError):
    """Something was asked for that the house does not have; `name` is what was not found.

    BuildError
    |- UnknownVariantError
    |- UnknownEditionError
    |- UnknownOptionError
    |- UnknownValueError     the option exists, this value of it does not
    `- BadTargetError        outside the variant's range
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
    """The option has no such value."""


class BadTargetError(BuildError):
    """The target lies outside the variant's range."""


@dataclass(frozen=True, slots=True)
class Words:
    """A text for players in the languages of the house."""

    el: str
    en: str

    def in_language(self, language: str) -> str:
        """The text in "el" or "en"; KeyError for another language."""
        return {"el": self.el, "en": self.en}[language]


@dataclass(frozen=True, slots=True)
class Option:
    """A house rule that a table may choose: its values, the first being the default."""

    name: str
    values: tuple[str, ...]
    description: Words

    @property
    def default(self) -> str:
        """The value that stands when none is chosen."""
        return self.values[0]


@dataclass(frozen=True, slots=True)
class Targets:
    """The points to which a match may be played, ends included, and the usual number."""

    least: int
    most: int
    default: int


@dataclass(frozen=True, slots=True)
class Variant:
    """One entry of the list of games.

    `id` and `edition` are its key; `seats` how many play, `sides` who plays with whom; `payout` the
    payout rule's id (S1-S4); `hidden` whether a seat sees less than the whole; `rule_files` the
    parts of its rule text.  `make(options, target)` gets every option with a valid value.
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

    @property
    def seats(self) -> int:
        """How many seats a table of it has."""
        return sum(map(len, self.sides))

    def settled_options(self, chosen: Mapping[str, str]) -> dict[str, str]:
        """Every option with its chosen or default value; a `BuildError` for what is not there."""
        known = {option.name: option for option in self.options}
        for name, value in chosen.items():
            if name not in known:
                raise UnknownOptionError(name, f"{self.id} has no option {name[:40]!r}")
            if value not in known[name].values:
                raise UnknownValueError(name, f"{name} is one of {', '.join(known[name].values)}")
        return {name: chosen.get(name, option.default) for name, option in known.items()}

    def settled_target(self, target: int | None) -> int:
        """The target, or the usual one for None; `BadTargetError` outside the range."""
        points = self.targets.default if target is None else target
        if not self.targets.least <= points <= self.targets.most:
            span = f"{self.targets.least} to {self.targets.most}"
            raise BadTargetError(self.id, f"{self.id} is played to {span} points")
        return points

    def build(self, options: Mapping[str, str], target: int | None) -> Match:
        """A match of which nothing has happened; any `BuildError` but the first two."""
        return self.make(self.settled_options(options), self.settled_target(target))


def _portes(options: Mapping[str, str], target: int) -> Match:
    points = options["disconnect_points"]
    return PointsMatch((Portes("two" if points == "two" else "formula"),), target)


RULE_SET: Final = Option(
    "rule_set",
    ("zarclub", "betomall"),
    Words(
        "Κατά ποιο σπίτι παίζεται. Στις Πόρτες οι δύο κανονισμοί συμπίπτουν.",
        "Whose rules are played. In Portes the two sets of rules are the same.",
    ),
)
DISCONNECT_POINTS: Final = Option(
    "disconnect_points",
    ("formula", "two"),
    Words(
        "Πόσους πόντους παραχωρεί όποιος φεύγει ή αποσυνδέεται: όσους και με την παραίτηση "
        "(formula) ή πάντα δύο (two).",
        "How many points a player who leaves or is disconnected concedes: as many as by resigning "
        "(formula), or always two (two).",
    ),
)

_VARIANTS: Final = (
    Variant(
        id="portes",
        edition=1,
        names=Words("Πόρτες", "Portes"),
        sides=SIDES,
        targets=Targets(1, 15, 1),
        options=(RULE_SET, DISCONNECT_POINTS),
        payout="S4",
        rule_files=("tavli-1", "portes-1"),
        make=_portes,
    ),
)
_BY_KEY: Final = {(variant.id, variant.edition): variant for variant in _VARIANTS}


def editions() -> tuple[Variant, ...]:
    """Every edition of every variant, old ones included."""
    return _VARIANTS


def variants() -> tuple[Variant, ...]:
    """The newest edition of every variant, in the order of the house's list."""
    newest = {variant.id: variant.edition for variant in sorted(_VARIANTS, key=lambda v: v.edition)}
    return tuple(v for v in _VARIANTS if v.edition == newest[v.id])


def variant(variant_id: str, edition: int | None = None) -> Variant:
    """The variant, its newest edition unless one is named; a `BuildError` if there is none."""
    own = [v for v in _VARIANTS if v.id == variant_id]
    if not own:
        raise UnknownVariantError(variant_id, f"there is no game {variant_id[:40]!r}")
    if edition is None:
        return max(own, key=lambda v: v.edition)
    if (variant_id, edition) not in _BY_KEY:
        raise UnknownEditionError(str(edition), f"{variant_id} has no edition {edition}")
    return _BY_KEY[variant_id, edition]


def build(variant_id: str, edition: int, options: Mapping[str, str], target: int | None) -> Match:
    """A match of that variant of which nothing has happened; any `BuildError`."""
    return variant(variant_id, edition).build(options, target)
