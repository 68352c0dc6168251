"""Koum-kan, Thanasis and Dynamitis as data, with the options of section 4 of the rule book."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from . import rummy_hand
from .elimination_match import EliminationMatch
from .game import AnyGame
from .koumkan import Koumkan
from .match import Match
from .thanasis import Thanasis
from .variant import Option, Targets, Variant, Words

# ---------------------------------------------------------------- options

PLAYERS: Final = Option(
    "players",
    ("2", "3", "4"),
    Words("Πόσοι παίζουν.", "How many play."),
)
ACE_HIGH_LOW: Final = Option(
    "ace_high_low",
    ("no", "yes"),
    Words(
        "Ο άσος μόνο κάτω από το δύο (no) ή και πάνω από τον ρήγα, Ντάμα-Ρήγας-Άσος (yes). "
        "Ρήγας-Άσος-Δύο δεν γίνεται ποτέ.",
        "The ace only below the two (no), or also above the king, queen-king-ace (yes). "
        "King-ace-two is never a run.",
    ),
)
TWO_NATURALS: Final = Option(
    "two_naturals",
    ("no", "yes"),
    Words(
        "Κάθε συνδυασμός θέλει τουλάχιστον ένα κανονικό φύλλο (no) ή τουλάχιστον δύο (yes).",
        "Each combination needs at least one natural card (no), or at least two (yes).",
    ),
)
ALLOW_SAME_DISCARD: Final = Option(
    "allow_same_discard",
    ("no", "yes"),
    Words(
        "Το φύλλο που μόλις πήρες από τα πεταμένα δεν το ξαναπετάς στην ίδια σειρά (no) ή "
        "επιτρέπεται (yes).",
        "The card you have just taken from the discard pile may not be discarded in the same turn "
        "(no), or it may (yes).",
    ),
)
JOKER_MUST_BE_USED: Final = Option(
    "joker_must_be_used",
    ("no", "yes"),
    Words(
        "Τον μπαλαντέρ που πήρες από το τραπέζι μπορείς να τον κρατήσεις (no) ή πρέπει να τον "
        "παίξεις στην ίδια σειρά (yes).",
        "A joker that you took from the table may be kept (no), or must be used in the same turn "
        "(yes).",
    ),
)
MAX_STOCK_RESHUFFLES: Final = Option(
    "max_stock_reshuffles",
    ("1", "0", "2", "3"),
    Words(
        "Πόσες φορές σε κάθε μοιρασιά ανακατεύονται τα πεταμένα όταν τελειώσει η στοίβα, πριν "
        "θεωρηθεί άκυρη η μοιρασιά.",
        "How many times in a hand the discards are shuffled when the stock has run out, before the "
        "hand is void.",
    ),
)

OF_ALL: Final = (PLAYERS, ACE_HIGH_LOW, TWO_NATURALS, MAX_STOCK_RESHUFFLES)
OF_KOUMKAN: Final = (*OF_ALL, ALLOW_SAME_DISCARD, JOKER_MUST_BE_USED)
TARGETS: Final = Targets(51, 201, 101, (51, 101, 151, 201))

# ---------------------------------------------------------------- games and matches


def game(name: str, options: Mapping[str, str]) -> AnyGame:
    """One of the three games with every one of its options."""
    fields: dict[str, Any] = {
        option: {"yes": True, "no": False}[value] if value in ("yes", "no") else int(value)
        for option, value in options.items()
    }
    if name == "koumkan":
        return Koumkan(**fields)
    return Thanasis(wild_twos=name == "dynamitis", **fields)


def _variant(
    name: str, names: Words, options: tuple[Option, ...], rule_files: tuple[str, ...]
) -> Variant:
    def make(chosen: Mapping[str, str], target: int) -> Match:
        return EliminationMatch.begin(game(name, chosen), target)

    return Variant(
        id=name,
        edition=1,
        names=names,
        sides=rummy_hand.sides(int(PLAYERS.default)),
        targets=TARGETS,
        options=options,
        payout="S3",
        rule_files=rule_files,
        make=make,
        hidden=True,
    )


VARIANTS: Final = (
    _variant("koumkan", Words("Κουμ-Καν", "Koum-kan"), OF_KOUMKAN, ("rummy-1", "koumkan-1")),
    _variant("thanasis", Words("Θανάσης", "Thanasis"), OF_ALL, ("rummy-1", "thanasis-1")),
    _variant(
        "dynamitis",
        Words("Δυναμίτης", "Dynamitis"),
        OF_ALL,
        ("rummy-1", "thanasis-1", "dynamitis-1"),
    ),
)
