"""The tavli variants as data: the four games alone, the four national sets, and any sequence.

The options of section 8 of the rule book are options of a table where a game is played alone or in
a sequence of one's own.  The national sets are played as they are; of the switches they have only
those on which their own rules are silent (VA11, VG2, VP6, VP7), and Betomall's rules where they
have no Gul Bara.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final

from .fevga import Fevga
from .game import AnyGame
from .gulbara import Gulbara
from .match import Match, PointsMatch
from .plakoto import Plakoto
from .portes import Portes
from .tavli import SIDES
from .variant import Option, Targets, UnknownValueError, Variant, Words

# ---------------------------------------------------------------- options

RULE_SETS: Final = ("zarclub", "betomall")
BY_RULE_SET: Final = "by_rule_set"

RULE_SET: Final = Option(
    "rule_set",
    RULE_SETS,
    Words(
        "Κατά ποιο σπίτι παίζεται. Στις Πόρτες οι δύο κανονισμοί συμπίπτουν.",
        "Whose rules are played. In Portes the two sets of rules are the same.",
    ),
)
RULE_SET_OF_GAMES: Final = Option(
    "rule_set",
    RULE_SETS,
    Words(
        "Κατά ποιο σπίτι παίζεται. Οι κανόνες του Betomall δεν έχουν μάνα στο Πλακωτό και το "
        "μάζεμα δεν περιμένει το πλακωμένο πούλι· στη Φεύγα δεν κρατάς ποτέ τις θέσεις 24 ως 19, "
        "ενώ τις 11 ως 6 τις κρατάς πάντα. Στις Πόρτες οι δύο κανονισμοί συμπίπτουν· Γκιουλ Μπαρά "
        "το Betomall δεν παίζει.",
        "Whose rules are played. Betomall's know no mother in Plakoto, and bearing off does not "
        "wait for a pinned checker; in Fevga you may never hold points 24 to 19, and always 11 to "
        "6. In Portes both sets of rules are the same; Betomall does not play Gul Bara.",
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
BEAROFF_WHILE_PINNED: Final = Option(
    "bearoff_while_pinned",
    (BY_RULE_SET, "waits", "continues"),
    Words(
        "Πλακωτό: όσο ένα πούλι σου είναι πλακωμένο, το μάζεμα περιμένει (waits) ή συνεχίζεται με "
        "τα υπόλοιπα (continues). Χωρίς επιλογή, στο Zar Club περιμένει και στο Betomall "
        "συνεχίζεται.",
        "Plakoto: while a checker of yours is pinned, bearing off waits (waits) or goes on with "
        "the others (continues). Unless chosen, it waits by Zar Club's rules and goes on by "
        "Betomall's.",
    ),
)
MOTHER: Final = Option(
    "mother",
    (BY_RULE_SET, "wins", "none"),
    Words(
        "Πλακωτό: η πλακωμένη μάνα χάνει δύο πόντους (wins) ή είναι πούλι σαν τα άλλα (none). "
        "Χωρίς επιλογή, χάνει στο Zar Club και όχι στο Betomall.",
        "Plakoto: a pinned mother loses two points (wins), or is a checker like any other (none). "
        "Unless chosen, she loses by Zar Club's rules and not by Betomall's.",
    ),
)
PINNED_OUTSIDE_IGNORED: Final = Option(
    "pinned_outside_ignored",
    ("no", "yes"),
    Words(
        "Πλακωτό, όπου το μάζεμα συνεχίζεται: μαζεύεις και με πλακωμένο πούλι έξω από το σπίτι "
        "σου (yes), εκτός αν είναι η μάνα, ή όχι (no).",
        "Plakoto, where bearing off goes on: you may bear off with a pinned checker outside your "
        "home too (yes), unless it is your mother, or not (no).",
    ),
)
PINNED_COUNTS_AS_HIGHEST: Final = Option(
    "pinned_counts_as_highest",
    ("no", "yes"),
    Words(
        "Πλακωτό, όπου το μάζεμα συνεχίζεται: πλακωμένο πούλι σε ψηλότερη θέση εμποδίζει τον "
        "μεγαλύτερο αριθμό (yes) ή όχι (no).",
        "Plakoto, where bearing off goes on: a pinned checker on a higher point stops a larger "
        "number (yes) or not (no).",
    ),
)
WALL_START: Final = Option(
    "wall_start",
    (
        *(BY_RULE_SET, "only_if_opponent_behind", "always", "both_quadrants"),
        *("four_points", "any_six"),
    ),
    Words(
        "Φεύγα: ποιο τείχος απαγορεύεται. Οι θέσεις 24 ως 19 όσο αντίπαλο πούλι είναι πίσω τους "
        "(only_if_opponent_behind, όπως στο Zar Club)· πάντα (always, όπως στο Betomall)· και οι "
        "12 ως 7 (both_quadrants)· πάνω από τέσσερις από τις 24 ως 19 (four_points)· "
        "οποιεσδήποτε έξι στη σειρά που δεν τις πέρασε κανένα αντίπαλο πούλι (any_six).",
        "Fevga: which wall is forbidden. Points 24 to 19 while an opposing checker is behind them "
        "(only_if_opponent_behind, as by Zar Club's rules); at any time (always, as by Betomall's);"
        " 12 to 7 as well (both_quadrants); more than four of 24 to 19 (four_points); any six in a "
        "row that no opposing checker has passed (any_six).",
    ),
)
WALL_FRONT: Final = Option(
    "wall_front",
    (BY_RULE_SET, "yes", "no"),
    Words(
        "Φεύγα: απαγορεύονται οι θέσεις 11 ως 6 όσο ο αντίπαλος έχει πούλι στην αρχή του (yes) ή "
        "όχι (no). Χωρίς επιλογή, απαγορεύονται στο Zar Club και όχι στο Betomall.",
        "Fevga: points 11 to 6 are forbidden while your opponent has a checker on his start (yes) "
        "or not (no). Unless chosen, they are by Zar Club's rules and not by Betomall's.",
    ),
)
WALL_WHEN: Final = Option(
    "wall_when",
    ("end_of_turn", "every_move"),
    Words(
        "Φεύγα: τα τείχη κρίνονται στο τέλος της σειράς (end_of_turn) ή σε κάθε κίνηση "
        "(every_move).",
        "Fevga: walls are judged when the turn ends (end_of_turn) or at every move (every_move).",
    ),
)
LEAVE_MOVE: Final = Option(
    "leave_move",
    ("prefer", "off"),
    Words(
        "Φεύγα: όπου μπορείς, αφήνεις στον αντίπαλο μία νόμιμη κίνηση (prefer) ή δεν είσαι "
        "υποχρεωμένος (off).",
        "Fevga: where you can, you must leave your opponent a legal move (prefer), or need not "
        "(off).",
    ),
)
RECEIVER_STUCK: Final = Option(
    "receiver_stuck",
    ("skip_number", "stop"),
    Words(
        "Γκιουλ Μπαρά: όποιος παίρνει κλιμάκωση και δεν μπορεί να παίξει έναν αριθμό πηγαίνει στον "
        "επόμενο (skip_number) ή σταματά (stop).",
        "Gul Bara: whoever receives an escalation and cannot play a number goes on to the next "
        "(skip_number) or stops (stop).",
    ),
)
SEQUENCE: Final = Option(
    "sequence",
    ("portes", "plakoto", "fevga", "gulbara"),
    Words(
        "Ποια παιχνίδια παίζονται και με ποια σειρά, με κόμματα ανάμεσά τους.",
        "Which games are played and in which order, with commas between them.",
    ),
    usual="portes,plakoto,fevga",
    many=True,
)
ROUNDS: Final = Option(
    "rounds",
    ("repeated", "once"),
    Words(
        "Η σειρά επαναλαμβάνεται ως τους πόντους του αγώνα (repeated) ή παίζεται μία φορά και "
        "κερδίζουν οι περισσότεροι πόντοι, όποιοι κι αν είναι οι πόντοι του αγώνα (once).",
        "The sequence is repeated until the match's number of points is reached (repeated), or "
        "played once and the more points win, whatever that number is (once).",
    ),
)

OF_PLAKOTO: Final = (
    *(BEAROFF_WHILE_PINNED, MOTHER),
    *(PINNED_OUTSIDE_IGNORED, PINNED_COUNTS_AS_HIGHEST),
)
OF_FEVGA: Final = (WALL_START, WALL_FRONT, WALL_WHEN, LEAVE_MOVE)
SILENT_ON_PINNED: Final = (PINNED_OUTSIDE_IGNORED, PINNED_COUNTS_AS_HIGHEST)

# ---------------------------------------------------------------- games and matches

# Where the two named rule sets differ (section 8), by the names of the options.
_BY_SET: Final[Mapping[str, Mapping[str, str]]] = {
    "zarclub": {
        "bearoff_while_pinned": "waits",
        "mother": "wins",
        "wall_start": "only_if_opponent_behind",
        "wall_front": "yes",
    },
    "betomall": {
        "bearoff_while_pinned": "continues",
        "mother": "none",
        "wall_start": "always",
        "wall_front": "no",
    },
}
_FIELDS: Final[Mapping[str, tuple[Callable[..., AnyGame], tuple[str, ...]]]] = {
    "portes": (Portes, ()),
    "plakoto": (Plakoto, tuple(option.name for option in OF_PLAKOTO)),
    "fevga": (Fevga, tuple(option.name for option in OF_FEVGA)),
    "gulbara": (Gulbara, (RECEIVER_STUCK.name,)),
}


def game(name: str, options: Mapping[str, str]) -> AnyGame:
    """One of the four games; options that it does not know are for others."""
    made, fields = _FIELDS[name]
    by_set = _BY_SET[options.get("rule_set", "zarclub")]
    chosen: dict[str, Any] = {}
    for field in (*fields, DISCONNECT_POINTS.name):
        value = options.get(field, BY_RULE_SET)
        if value == BY_RULE_SET:
            value = by_set.get(field, "")
        if value:
            chosen[field] = {"yes": True, "no": False}.get(value, value)
    return made(**chosen)


def match(names: tuple[str, ...], options: Mapping[str, str], target: int) -> Match:
    """Those games in turn, repeated to the target, or once round."""
    games = tuple(game(name, options) for name in names)
    return PointsMatch(games, target, once=options.get(ROUNDS.name) == "once")


def _no_gulbara_with_betomall(options: Mapping[str, str]) -> None:
    if options["rule_set"] == "betomall" and "gulbara" in options[SEQUENCE.name].split(","):
        raise UnknownValueError("rule_set", "betomall does not play gulbara")


# ---------------------------------------------------------------- the list

TO_ANY: Final = Targets(1, 15, 1)
OF_SETS: Final = Targets(3, 7, 5, (3, 5, 7))
_PARTS: Final = {
    "portes": ("portes-1",),
    "plakoto": ("plakoto-1",),
    "fevga": ("same-way-1", "fevga-1"),
    "gulbara": ("same-way-1", "gulbara-1"),
}


def _rule_files(games: tuple[str, ...], *more: str) -> tuple[str, ...]:
    parts = [part for name in games for part in _PARTS[name]]
    return ("tavli-1", *dict.fromkeys(parts), *more)


def _single(name: str, names: Words, *options: Option) -> Variant:
    return Variant(
        id=name,
        edition=1,
        names=names,
        sides=SIDES,
        targets=TO_ANY,
        options=(*options, DISCONNECT_POINTS),
        payout="S4",
        rule_files=_rule_files((name,)),
        make=lambda chosen, target: match((name,), chosen, target),
    )


def _set(
    name: str,
    names: Words,
    games: tuple[str, ...],
    *options: Option,
    fixed: Mapping[str, str] | None = None,
) -> Variant:
    return Variant(
        id=name,
        edition=1,
        names=names,
        sides=SIDES,
        targets=OF_SETS,
        options=(*options, DISCONNECT_POINTS),
        payout="S4",
        rule_files=_rule_files(games, f"{name}-1"),
        make=lambda chosen, target: match(games, {**(fixed or {}), **chosen}, target),
    )


_GOES_ON: Final = {"bearoff_while_pinned": "continues"}
_MACEDONIAN: Final = ("portes", "gulbara", "plakoto")

VARIANTS: Final = (
    _single("portes", Words("Πόρτες", "Portes"), RULE_SET),
    _single("plakoto", Words("Πλακωτό", "Plakoto"), RULE_SET_OF_GAMES, *OF_PLAKOTO),
    _single("fevga", Words("Φεύγα", "Fevga"), RULE_SET_OF_GAMES, *OF_FEVGA),
    _single("gulbara", Words("Γκιουλ Μπαρά", "Gul Bara"), RECEIVER_STUCK),
    _set(
        "tavli-greek",
        Words("Ελληνικό σετ", "Greek set"),
        ("portes", "plakoto", "fevga"),
        *(RULE_SET_OF_GAMES, *SILENT_ON_PINNED),
    ),
    _set(
        "tavli-macedonian",
        Words("Μακεδονικό σετ", "Macedonian set"),
        _MACEDONIAN,
        *(RECEIVER_STUCK, *SILENT_ON_PINNED),
        fixed=_GOES_ON,
    ),
    _set(
        "tavli-bulgarian",
        Words("Βουλγαρικό σετ", "Bulgarian set"),
        _MACEDONIAN,
        *(RECEIVER_STUCK, *SILENT_ON_PINNED),
        fixed=_GOES_ON,
    ),
    _set("tavli-turkish", Words("Τουρκικό σετ", "Turkish set"), ("portes",), RULE_SET),
    Variant(
        id="tavli",
        edition=1,
        names=Words("Τάβλι", "Tavli"),
        sides=SIDES,
        targets=Targets(1, 15, 5),
        options=(
            *(SEQUENCE, ROUNDS, RULE_SET_OF_GAMES),
            *(*OF_PLAKOTO, *OF_FEVGA, RECEIVER_STUCK, DISCONNECT_POINTS),
        ),
        payout="S4",
        rule_files=_rule_files(SEQUENCE.values, "tavli-any-1"),
        make=lambda chosen, target: match(tuple(chosen["sequence"].split(",")), chosen, target),
        check=_no_gulbara_with_betomall,
    ),
)
