"""The variants of belote as data: with trumps, without trumps, and coinche.

Each is played by the house's own rules ("maison") or by the federation's ("official"), with or
without declarations.  The nine points on which the two sets of rules differ (N1-N9), and the end
of a match (A18), are options of their own: what `rule_set` says unless a table chooses otherwise.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Final, Literal

from .belote import Belote
from .belote_declarations import DeclarationRules
from .belote_match import BeloteMatch
from .belote_no_trump import BeloteNoTrump
from .belote_play import SIDES
from .belote_scoring import CoincheMarks
from .coinche import Coinche
from .game import AnyGame
from .match import Match
from .variant import Option, Targets, Variant, Words

BY_RULE_SET: Final = "by_rule_set"

# ---------------------------------------------------------------- options

RULE_SET: Final = Option(
    "rule_set",
    ("maison", "official"),
    Words(
        "Σπιτικοί κανόνες (maison) ή επίσημοι, της ομοσπονδίας (official).",
        "The house's own rules (maison) or the federation's (official).",
    ),
)
DECLARATIONS: Final = Option(
    "declarations",
    ("yes", "no"),
    Words(
        "Παίζονται σειρές και τετράδες (yes) ή όχι (no). Η μπελότ μένει.",
        "Sequences and fours of a kind are played (yes) or not (no). Belote stays.",
    ),
)
DECLARE: Final = Option(
    "declare",
    ("automatic", "by_player"),
    Words(
        "Οι δηλώσεις λέγονται μόνες τους (automatic) ή τις λέει ο παίκτης πριν από το πρώτο του "
        "φύλλο (by_player).",
        "Declarations are made by themselves (automatic), or the player makes them before his "
        "first card (by_player).",
    ),
)
COINCHE_ROUND: Final = Option(
    "coinche_round",
    (BY_RULE_SET, "no", "yes"),
    Words(
        "Το σκορ μιας μοιρασιάς στρογγυλεύεται στη δεκάδα (yes) ή γράφεται ακριβώς (no). Χωρίς "
        "επιλογή στρογγυλεύεται με τους επίσημους κανόνες.",
        "The score of a deal is rounded to the nearest ten (yes), or marked exactly (no). Unless "
        "chosen, it is rounded by the official rules.",
    ),
)
DOUBLED_CAPOT_BASE: Final = Option(
    "doubled_capot_base",
    (BY_RULE_SET, "160", "250"),
    Words(
        "Η βάση ενός διπλού συμβολαίου που βγήκε με όλες τις μπάζες. Χωρίς επιλογή 160 με τους "
        "σπιτικούς κανόνες, 250 με τους επίσημους.",
        "The base of a doubled contract made with all the tricks. Unless chosen, 160 by the house "
        "rules and 250 by the official ones.",
    ),
)
NT_ACE: Final = Option(
    "nt_ace",
    (BY_RULE_SET, "11", "19"),
    Words(
        "Οι πόντοι του Άσου. Χωρίς επιλογή 11 με τους σπιτικούς κανόνες, 19 με τους επίσημους.",
        "The points of an ace. Unless chosen, 11 by the house rules and 19 by the official ones.",
    ),
)
NT_CARRE_SCALE: Final = Option(
    "nt_carre_scale",
    (BY_RULE_SET, "trump", "no_trump"),
    Words(
        "Οι τετράδες μετρούν όπως με ατού (trump) ή με δική τους κλίμακα, Άσοι 200, δεκάρια 150 "
        "(no_trump). Χωρίς επιλογή το δεύτερο ισχύει με τους επίσημους κανόνες.",
        "Fours of a kind count as with trumps (trump), or on a scale of their own, aces 200, tens "
        "150 (no_trump). Unless chosen, the latter holds by the official rules.",
    ),
)
DECL_TIE: Final = Option(
    "decl_tie",
    (BY_RULE_SET, "taker", "trump"),
    Words(
        "Σε ισοπαλία των καλύτερων δηλώσεων κερδίζει η ομάδα που πήρε (taker) ή η δήλωση στο ατού "
        "και αλλιώς κανείς (trump). Χωρίς επιλογή το δεύτερο ισχύει με τους επίσημους κανόνες.",
        "Of equal best declarations those of the side that took win (taker), or the one in trumps "
        "and else nobody's (trump). Unless chosen, the latter holds by the official rules.",
    ),
)
DECL_OVERLAP: Final = Option(
    "decl_overlap",
    (BY_RULE_SET, "yes", "no"),
    Words(
        "Ένα φύλλο μπορεί να μετρήσει σε σειρά και σε τετράδα (yes) ή όχι (no). Χωρίς επιλογή δεν "
        "μπορεί με τους επίσημους κανόνες.",
        "One card may stand in a sequence and in a four of a kind (yes) or not (no). Unless "
        "chosen, it may not by the official rules.",
    ),
)
DECL_TRANSFER: Final = Option(
    "decl_transfer",
    (BY_RULE_SET, "no", "yes"),
    Words(
        "Μετά από πτώση ή καπό οι δηλώσεις μένουν στην ομάδα που τις κέρδισε (no) ή πηγαίνουν σε "
        "όποιον κερδίζει τη μοιρασιά (yes). Χωρίς επιλογή πηγαίνουν με τους επίσημους κανόνες.",
        "After a fall or a capot declarations stay with the side that won them (no), or go to the "
        "one that wins the deal (yes). Unless chosen, they go by the official rules.",
    ),
)
COINCHE_UNDERTRUMP: Final = Option(
    "coinche_undertrump",
    (BY_RULE_SET, "yes", "no"),
    Words(
        "Όποιος έχει μόνο μικρότερα ατού πρέπει να ρίξει ένα (yes) ή ό,τι θέλει (no). Χωρίς "
        "επιλογή είναι ελεύθερος με τους επίσημους κανόνες.",
        "Who holds only lower trumps must play one (yes), or may play any card (no). Unless "
        "chosen, he is free by the official rules.",
    ),
)
CONTRA_ANY_TIME: Final = Option(
    "contra_any_time",
    (BY_RULE_SET, "yes", "no"),
    Words(
        "Η coinche λέγεται όσο στέκει το συμβόλαιο (yes) ή μόνο με τη σειρά (no). Χωρίς επιλογή "
        "μόνο με τη σειρά στους επίσημους κανόνες.",
        "A coinche may be said while the bid stands (yes), or only in turn (no). Unless chosen, "
        "only in turn by the official rules.",
    ),
)
NO_WIN_ON_BELOTE_ONLY: Final = Option(
    "no_win_on_belote_only",
    (BY_RULE_SET, "no", "yes"),
    Words(
        "Ομάδα που έχασε τη μοιρασιά και φτάνει τους πόντους του αγώνα μόνο με τη μπελότ της δεν "
        "κερδίζει ακόμη (yes) ή κερδίζει (no). Χωρίς επιλογή δεν κερδίζει με τους επίσημους "
        "κανόνες.",
        "A side that has lost the deal and reaches the match's points only by its belote has not "
        "won yet (yes), or has (no). Unless chosen, it has not by the official rules.",
    ),
)
NT_CARDS_BEFORE_TAKE: Final = Option(
    "nt_cards_before_take",
    ("5", "8"),
    Words(
        "Με πόσα φύλλα στο χέρι μιλούν οι παίκτες.",
        "How many cards the players hold when they speak.",
    ),
)
COINCHE_LITIGE: Final = Option(
    "coinche_litige",
    ("no", "yes"),
    Words(
        "Ίσα σύνολα των δύο ομάδων είναι πτώση (no) ή λιτίζ (yes).",
        "Equal totals of both sides are a fall (no) or a litige (yes).",
    ),
)

OF_DECLARATIONS: Final = (DECLARATIONS, DECLARE, DECL_TIE, DECL_OVERLAP, DECL_TRANSFER)

# Where the two named rule sets differ, by the names of the options.
BY_SET: Final[Mapping[str, Mapping[str, str]]] = {
    "maison": {
        "coinche_round": "no",
        "doubled_capot_base": "160",
        "nt_ace": "11",
        "nt_carre_scale": "trump",
        "decl_tie": "taker",
        "decl_overlap": "yes",
        "decl_transfer": "no",
        "coinche_undertrump": "yes",
        "contra_any_time": "yes",
        "no_win_on_belote_only": "no",
    },
    "official": {
        "coinche_round": "yes",
        "doubled_capot_base": "250",
        "nt_ace": "19",
        "nt_carre_scale": "no_trump",
        "decl_tie": "trump",
        "decl_overlap": "no",
        "decl_transfer": "yes",
        "coinche_undertrump": "no",
        "contra_any_time": "no",
        "no_win_on_belote_only": "yes",
    },
}

# ---------------------------------------------------------------- games and matches


def _settled(options: Mapping[str, str]) -> dict[str, str]:
    """The options, with what the rule set says where nothing else is chosen."""
    by_set = BY_SET[options["rule_set"]]
    return {
        name: by_set[name] if value == BY_RULE_SET else value for name, value in options.items()
    }


def _declarations(options: Mapping[str, str]) -> DeclarationRules:
    tie: Literal["taker", "trump"] = "taker" if options["decl_tie"] == "taker" else "trump"
    return DeclarationRules(
        played=options["declarations"] == "yes",
        by_player=options["declare"] == "by_player",
        tie=tie,
        overlap=options["decl_overlap"] == "yes",
        own_scale=options.get("nt_carre_scale") == "no_trump",
    )


def _belote(options: Mapping[str, str]) -> AnyGame:
    return Belote(_declarations(options), options["decl_transfer"] == "yes")


def _no_trump(options: Mapping[str, str]) -> AnyGame:
    return BeloteNoTrump(
        _declarations(options),
        options["decl_transfer"] == "yes",
        plain_ace=11 if options["nt_ace"] == "11" else 19,
        before_take=5 if options["nt_cards_before_take"] == "5" else 8,
    )


def _coinche(options: Mapping[str, str]) -> AnyGame:
    marks = CoincheMarks(
        rounded=options["coinche_round"] == "yes",
        capot_base=int(options["doubled_capot_base"]),
        transfer=options["decl_transfer"] == "yes",
        equal="litige" if options["coinche_litige"] == "yes" else "failed",
    )
    return Coinche(
        _declarations(options),
        marks,
        undertrump=options["coinche_undertrump"] == "yes",
        contra_any_time=options["contra_any_time"] == "yes",
    )


def _make(
    game: Callable[[Mapping[str, str]], AnyGame],
) -> Callable[[Mapping[str, str], int], Match]:
    def made(chosen: Mapping[str, str], target: int) -> Match:
        options = _settled(chosen)
        return BeloteMatch(game(options), target, options["no_win_on_belote_only"] == "yes")

    return made


# ---------------------------------------------------------------- the list

_TARGETS: Final = (501, 1000, 1500, 2000, 3000)


def _variant(
    name: str,
    names: Words,
    usual: int,
    game: Callable[[Mapping[str, str]], AnyGame],
    rule_files: tuple[str, ...],
    *options: Option,
) -> Variant:
    return Variant(
        id=name,
        edition=1,
        names=names,
        sides=SIDES,
        targets=Targets(_TARGETS[0], _TARGETS[-1], usual, _TARGETS),
        options=(RULE_SET, *OF_DECLARATIONS, *options, NO_WIN_ON_BELOTE_ONLY),
        payout="S1",
        rule_files=rule_files,
        make=_make(game),
        hidden=True,
    )


VARIANTS: Final = (
    _variant(
        "belote",
        Words("Μπελότ", "Belote"),
        1000,
        _belote,
        ("belote-common-1", "belote-trump-1", "belote-take-1", "belote-1"),
    ),
    _variant(
        "belote-no-trump",
        Words("Μπελότ χωρίς ατού", "Belote without trumps"),
        1000,
        _no_trump,
        ("belote-common-1", "belote-take-1", "belote-no-trump-1"),
        *(NT_ACE, NT_CARRE_SCALE, NT_CARDS_BEFORE_TAKE),
    ),
    _variant(
        "coinche",
        Words("Κουάνς", "Coinche"),
        2000,
        _coinche,
        ("belote-common-1", "belote-trump-1", "coinche-1"),
        *(COINCHE_ROUND, DOUBLED_CAPOT_BASE, COINCHE_UNDERTRUMP, CONTRA_ANY_TIME, COINCHE_LITIGE),
    ),
)
