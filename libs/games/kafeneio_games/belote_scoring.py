"""What a played deal of belote or coinche is worth: B19-B25 and B28, B29 of the rule book.

Pure arithmetic on what was counted; a pair is always by side, side 0 holding seats 0 and 2.  What
is held back for a later deal, and what the end of a match needs to know, stands in `DealResult`
beside the marks; the match, not the game, adds the pot (B22).
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Final, Literal, TypeAlias

from .game import Result

Pair: TypeAlias = tuple[int, int]

TRICKS: Final = 8
LAST_TRICK: Final = 10  # B5
ALL_TRICKS: Final = 100  # B5, instead of the ten for the last one
CAPOT: Final = 250  # what a capot counts as a contract (B29, A14)
FALL: Final = 160  # the cards of a failed or doubled contract (B29, A3)

MADE: Final = "made"
ALL: Final = "capot"
FAILED: Final = "failed"
LITIGE: Final = "litige"
PASSED: Final = "passed"


@dataclass(frozen=True, slots=True)
class Counted:
    """What lay before the sides when a deal was played out.

    `taker` is the taking side; `cards` include what the last trick, or all of them, adds (B5);
    `belote` is 20 or 0; `won` are the declarations that score, all of one side (B30).
    """

    taker: int
    cards: Pair
    tricks: Pair
    belote: Pair
    won: Pair

    @property
    def totals(self) -> Pair:
        """Cards, belote and won declarations of each side (B19, B28)."""
        first, second = (
            cards + belote + won
            for cards, belote, won in zip(self.cards, self.belote, self.won, strict=True)
        )
        return first, second


@dataclass(frozen=True, slots=True)
class DealResult(Result):
    """How a deal ended, and what of it the match must remember.

    `points` are the marks, `ending` is "made", "capot" (made with all eight tricks), "failed",
    "litige" or "passed".  `winner` is the side to which an open pot goes, None after a litige or a
    deal that nobody took; `held` is what this deal puts into the pot (B22).  `idle` is what each
    side marked for its belote though it had lost the deal or taken no trick (A18).
    """

    winner: int | None
    held: int
    idle: Pair


NOBODY_TOOK: Final = DealResult((0, 0), PASSED, None, 0, (0, 0))


def classic_marks(counted: Counted, transfer: bool) -> DealResult:
    """The marks with and without trumps: made, dedans or litige (B20-B22, B25).

    `transfer` is row N7: declarations go to the side that wins the deal, on a fall and on the
    takers' capot.  After a litige nobody has won it, so nothing moves (A20).
    """
    taker, defence = counted.taker, 1 - counted.taker
    ours, theirs = counted.totals[taker], counted.totals[defence]
    all_tricks = counted.tricks[taker] == TRICKS
    if ours > theirs or all_tricks:  # all eight are always made, whatever the totals (B20)
        return _made(counted, 0, transfer)
    if ours == theirs:
        return _litige(counted)
    return _failed(counted, sum(counted.cards), 1, transfer)


@dataclass(frozen=True, slots=True)
class CoincheMarks:
    """The rows of the table that concern the marks of coinche.

    `rounded` N1; `capot_base` N2, the base of a doubled contract made with all eight tricks;
    `transfer` N7; `equal` A4, what equal totals are.
    """

    rounded: bool = False
    capot_base: int = FALL
    transfer: bool = False
    equal: Literal["failed", "litige"] = "failed"


def coinche_marks(
    counted: Counted, asked: int, capot: bool, times: int, rules: CoincheMarks
) -> DealResult:
    """The marks of a contract of `asked` points, or of a capot, worth 1, 2 or 4 `times` (B29).

    The contract is judged before anything is rounded or handed over (N1, B28).
    """
    taker, defence = counted.taker, 1 - counted.taker
    ours, theirs = counted.totals[taker], counted.totals[defence]
    value = CAPOT if capot else asked
    reached = counted.tricks[taker] == TRICKS if capot else ours >= value
    if reached and ours > theirs:
        if times == 1:
            found = _made(counted, value, rules.transfer)
        else:
            found = _made_doubled(counted, value, times, rules)
    elif reached and ours == theirs and rules.equal == "litige":
        found = _litige(counted)
    else:
        found = _failed(counted, FALL + value, times, rules.transfer)
    return _rounded(found) if rules.rounded else found


def _made(counted: Counted, bonus: int, transfer: bool) -> DealResult:
    """Both mark their totals, the takers `bonus` more; a capot may move what the defence won."""
    taker, defence = counted.taker, 1 - counted.taker
    all_tricks = counted.tricks[taker] == TRICKS
    moved = counted.won[defence] if all_tricks and transfer else 0
    ours = counted.totals[taker] + bonus + moved
    theirs = counted.totals[defence] - moved
    return _won(counted, ours, theirs, ALL if all_tricks else MADE)


def _made_doubled(counted: Counted, value: int, times: int, rules: CoincheMarks) -> DealResult:
    """All but the defence's belote is multiplied (A6), and what it won where that moves (A11)."""
    taker, defence = counted.taker, 1 - counted.taker
    all_tricks = counted.tricks[taker] == TRICKS
    moved = counted.won[defence] if rules.transfer else 0
    base = rules.capot_base if all_tricks else FALL
    ours = base + value + counted.belote[taker] + counted.won[taker] + moved
    theirs = counted.belote[defence] + counted.won[defence] - moved
    return _won(counted, ours * times, theirs, ALL if all_tricks else MADE)


def _won(counted: Counted, ours: int, theirs: int, ending: str) -> DealResult:
    taker, defence = counted.taker, 1 - counted.taker
    capot = counted.tricks[defence] == 0
    idle = counted.belote[defence] if capot else 0
    marks = _of_takers(taker, ours, theirs)
    return DealResult(marks, ending, taker, 0, _of_takers(taker, 0, idle))


def _failed(counted: Counted, base: int, times: int, transfer: bool) -> DealResult:
    """The defence marks `base`, its belote and its declarations; the takers keep their belote."""
    taker, defence = counted.taker, 1 - counted.taker
    moved = counted.won[taker] if transfer else 0
    ours = counted.belote[taker] + counted.won[taker] - moved
    theirs = (base + counted.belote[defence] + counted.won[defence] + moved) * times
    marks = _of_takers(taker, ours, theirs)
    return DealResult(marks, FAILED, defence, 0, _of_takers(taker, counted.belote[taker], 0))


def _litige(counted: Counted) -> DealResult:
    """The defence marks its total now, the whole of the takers' is held, belote too (B22, A19)."""
    taker, defence = counted.taker, 1 - counted.taker
    marks = _of_takers(taker, 0, counted.totals[defence])
    return DealResult(marks, LITIGE, None, counted.totals[taker], (0, 0))


def _rounded(result: DealResult) -> DealResult:
    """Each side's mark to the nearest ten, five upward, for itself (N1, A21)."""
    first, second = (_nearest_ten(mark) for mark in result.points)
    return replace(result, points=(first, second), held=_nearest_ten(result.held))


def _nearest_ten(mark: int) -> int:
    return (mark + 5) // 10 * 10


def _of_takers(taker: int, ours: int, theirs: int) -> Pair:
    """By side, of what is given for the takers and the defence."""
    return (ours, theirs) if taker == 0 else (theirs, ours)
