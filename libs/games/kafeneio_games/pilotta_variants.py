"""The three games of pilotta as data: names, options, targets, and how a match is made.

The options are the switches of section 8 of the rule book, each where it can change anything.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final

from . import pilotta, pilotta_two
from .classic_pilotta import ClassicPilotta
from .game import AnyGame, Seat
from .pilotta import Pilotta
from .pilotta_two import PilottaTwo
from .target_match import TargetMatch
from .variant import Option, Targets, Variant, Words

NO_YES: Final = ("no", "yes")

SCORE_ALL_DECLARATIONS: Final = Option(
    "score_all_declarations",
    NO_YES,
    Words(
        "Η πλευρά με την καλύτερη ανακοίνωση μετρά από κάθε παίκτη που ανακοίνωσε μόνο την "
        "καλύτερή του (no) ή όλες (yes).",
        "The side with the best declaration counts of each player who declared his best one only "
        "(no), or all of them (yes).",
    ),
)
LOW_CARRES_COUNT: Final = Option(
    "low_carres_count",
    NO_YES,
    Words(
        "Τέσσερα εφτάρια ή τέσσερα οχτάρια δεν είναι ανακοίνωση (no) ή αξίζουν 100 (yes).",
        "Four sevens or four eights are no declaration (no), or are worth 100 (yes).",
    ),
)
PARTNER_EXEMPTION: Final = Option(
    "partner_exemption",
    NO_YES,
    Words(
        "Χωρίς το χρώμα που ανοίχτηκε, κόβεις και όταν κερδίζει η κάρτα του συμπαίκτη σου (no) ή "
        "τότε παίζεις ό,τι θέλεις (yes).",
        "Without the suit led you must trump even when your partner's card is winning (no), or "
        "may then play what you like (yes).",
    ),
)
ROUND_HIGHEST_UP: Final = Option(
    "round_highest_up",
    NO_YES,
    Words(
        "Στη στρογγυλοποίηση ανεβαίνει υπόλοιπο από 5 και πάνω (no) ή πάντα το μεγαλύτερο "
        "υπόλοιπο (yes).",
        "In rounding a remainder of 5 or more goes up (no), or always the higher remainder (yes).",
    ),
)
SIX_SIX_TO_CALLER: Final = Option(
    "six_six_to_caller",
    NO_YES,
    Words(
        "Όταν και τα δύο υπόλοιπα είναι 6, ανεβαίνει η πλευρά με τους περισσότερους πόντους στις "
        "χαρτωσιές (no) ή η πλευρά που αγόρασε (yes).",
        "When both remainders are 6, the side with more points in tricks goes up (no), or the "
        "caller's side (yes).",
    ),
)
CONTRA_TIMING: Final = Option(
    "contra_timing",
    ("after_auction", "in_turn", "any_time"),
    Words(
        "Πότε λέγεται κόντρα: όταν τελειώσει η αγορά (after_auction), στη σειρά σου αντί για "
        "αγορά ή πάσο (in_turn), ή οποτεδήποτε όσο ισχύει αγορά των αντιπάλων (any_time). Στις "
        "δύο τελευταίες περιπτώσεις η κόντρα κλείνει την αγορά.",
        "When contra may be said: after the auction (after_auction), in your turn instead of a "
        "bid or a pass (in_turn), or at any time while a bid of the opponents stands (any_time). "
        "In the last two cases contra ends the auction.",
    ),
)
CONTRA_WINNER_TAKES_POOL: Final = Option(
    "contra_winner_takes_pool",
    NO_YES,
    Words(
        "Μετά από κόντρα, αν βγει η αγορά, κάθε πλευρά γράφει τους πόντους της (no) ή όλους τους "
        "πόντους τους παίρνει ο νικητής (yes).",
        "After a contra, if the bid is made, each side scores its own points (no), or the winner "
        "takes all of them (yes).",
    ),
)
FAILED_ADDS_GAME_VALUE: Final = Option(
    "failed_adds_game_value",
    ("yes", "no"),
    Words(
        "Όταν η αγορά μπει μέσα, οι αντίπαλοι γράφουν μαζί με όλους τους πόντους και την αξία της "
        "(yes) ή μόνο τους πόντους (no).",
        "When the bid fails, the opponents score its value besides all the points (yes), or the "
        "points alone (no).",
    ),
)
NUMERIC_BID_CAP: Final = Option(
    "numeric_bid_cap",
    ("240", "160", "490"),
    Words(
        "Ο μεγαλύτερος αριθμός που μπορείς να αγοράσεις. Το καπό είναι πάντα πάνω από όλους.",
        "The highest number that may be bid. Capot is above every number all the same.",
    ),
)

OF_SCORE: Final = (
    *(SCORE_ALL_DECLARATIONS, LOW_CARRES_COUNT),
    *(ROUND_HIGHEST_UP, SIX_SIX_TO_CALLER),
)
OF_BIDDING: Final = (
    *(CONTRA_TIMING, CONTRA_WINNER_TAKES_POOL),
    *(FAILED_ADDS_GAME_VALUE, NUMERIC_BID_CAP),
)
TARGETS: Final = Targets(101, 351, 151, (101, 151, 201, 251, 301, 351))
"""Recorded tens (P64)."""


def game(made: Callable[..., AnyGame], options: Mapping[str, str]) -> AnyGame:
    """The game with these switches; every option is the name of one of its fields."""
    fields: dict[str, Any] = {
        name: int(value) if value.isdecimal() else {"yes": True, "no": False}.get(value, value)
        for name, value in options.items()
    }
    return made(**fields)


def _variant(
    made: Callable[..., AnyGame],
    name: str,
    names: Words,
    sides: tuple[tuple[Seat, ...], ...],
    payout: str,
    rule_files: tuple[str, ...],
    *options: Option,
) -> Variant:
    return Variant(
        id=name,
        edition=1,
        names=names,
        sides=sides,
        targets=TARGETS,
        options=(*OF_SCORE, *options),
        payout=payout,
        rule_files=("pilotta-1", *rule_files),
        make=lambda chosen, target: TargetMatch(game(made, chosen), target),
        hidden=True,
    )


VARIANTS: Final = (
    _variant(
        Pilotta,
        "pilotta",
        Words("Πιλόττα", "Pilotta"),
        pilotta.SIDES,
        "S1",
        ("pilotta-pairs-1", "pilotta-bidding-1"),
        PARTNER_EXEMPTION,
        *OF_BIDDING,
    ),
    _variant(
        ClassicPilotta,
        "pilotta-classic",
        Words("Κλασική Πιλόττα", "Classic Pilotta"),
        pilotta.SIDES,
        "S1",
        ("pilotta-pairs-1", "pilotta-classic-1", "pilotta-classic-pairs-1"),
        PARTNER_EXEMPTION,
    ),
    _variant(
        PilottaTwo,
        "pilotta-classic-2",
        Words("Κλασική Πιλόττα για δύο", "Classic Pilotta for two"),
        pilotta_two.SIDES,
        "S2",
        ("pilotta-classic-1", "pilotta-classic-2-1"),
    ),
)
