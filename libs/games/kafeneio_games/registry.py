"""What can be played: every variant and edition, and how a match of it is built.

A correction that would change an old log raises the edition; the old one stays here, so that its
records can be replayed for ever.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from . import belote_variants, pilotta_variants, rummy_variants, tavli_variants
from .match import Match
from .variant import (
    BadTargetError,
    BuildError,
    Option,
    Targets,
    UnknownEditionError,
    UnknownOptionError,
    UnknownValueError,
    UnknownVariantError,
    Variant,
    Words,
)

__all__ = [
    "BadTargetError",
    "BuildError",
    "Option",
    "Targets",
    "UnknownEditionError",
    "UnknownOptionError",
    "UnknownValueError",
    "UnknownVariantError",
    "Variant",
    "Words",
    "build",
    "editions",
    "variant",
    "variants",
]

_VARIANTS: Final = (
    *tavli_variants.VARIANTS,
    *pilotta_variants.VARIANTS,
    *belote_variants.VARIANTS,
    *rummy_variants.VARIANTS,
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
