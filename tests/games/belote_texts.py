"""Which rules of belote can refuse, and which have a text for players."""

from __future__ import annotations

import inspect
import re
from types import ModuleType

from kafeneio_games import belote_match, belote_play
from kafeneio_games.rulebook import rules_text


def rules_named_in(module: ModuleType) -> set[str]:
    """All rule ids that stand as strings in a game's source and in what the games share.

    The duties of the play have trumps in them, which one game has not.
    """
    shared = inspect.getsource(belote_play) + inspect.getsource(belote_match)
    named = set(re.findall(r'"([ABFN]\d+)"', shared + inspect.getsource(module)))
    plain = module.__name__.endswith("no_trump")
    return named - {"B7", "B9", "B10"} if plain else named


def texts_of(variant: str, language: str) -> set[str]:
    """The ids of the rules that players can read."""
    return {rule.id for rule in rules_text(variant, language)}
