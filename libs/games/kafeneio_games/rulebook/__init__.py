"""The rules as the players read them, in Greek and English, by rule id.

The texts are data: one TOML file per part of the rule book, edition and language, each a list of
`[[rule]]` with `id` and `text`.  This module is the one place where files are read.
"""

from __future__ import annotations

import functools
import importlib.resources
import tomllib
from dataclasses import dataclass
from typing import Final

from ..registry import variant

LANGUAGES: Final = ("el", "en")


class UnknownLanguageError(ValueError):
    """The rule book is not written in that language."""


@dataclass(frozen=True, slots=True)
class RuleText:
    """One rule: its id ("V2.3"), as refusals name it, and its text."""

    id: str
    text: str


def rules_text(variant_id: str, language: str, edition: int | None = None) -> tuple[RuleText, ...]:
    """All rules of a variant in reading order, of its newest edition unless one is named.

    `language` is "el" or "en", else `UnknownLanguageError`; `registry.BuildError` for an unknown
    variant or edition.
    """
    if language not in LANGUAGES:
        raise UnknownLanguageError(f"no rule text in {language[:20]!r}")
    parts = variant(variant_id, edition).rule_files
    return tuple(rule for part in parts for rule in _part(part, language))


@functools.cache
def _part(name: str, language: str) -> tuple[RuleText, ...]:
    """One file, read once: the files do not change while a process lives."""
    file = importlib.resources.files(__package__).joinpath(f"{name}.{language}.toml")
    rules = tomllib.loads(file.read_text("utf-8"))["rule"]
    return tuple(RuleText(rule["id"], " ".join(rule["text"].split())) for rule in rules)
