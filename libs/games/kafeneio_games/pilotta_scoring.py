"""What a hand of pilotta scores: rules P50-P62, C6-C10, C12, T7-T9, as arithmetic on numbers.

    P50, P51, P52  made when the caller's side has at least the bid, exactly, before rounding
    P56, P57       all tricks bid: made when all tricks are taken, whatever they are worth
    C7, C8, T7     classic: made when the caller's side has more than the other
    P53, C9        made: each side its own points, the caller's side the game value too
    P54, C10       failed: the other side gets everything, and the game value
    P55            contra doubles the game value, recontra doubles it again
    P58, C12, T9   all tricks are worth 250 instead of their points
    P61, T8        points are recorded in tens, rounded as `rounded` says

Pairs are by side, side 0 first.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, TypeAlias

from .trick_view import Contract, SideSheet

Pair: TypeAlias = tuple[int, int]

CAPOT_VALUE: Final = 250
"""The game value of all tricks bid (P7), and what all tricks are worth, bid or not (P56, P58)."""


@dataclass(frozen=True, slots=True)
class Count:
    """What both sides have of a hand that is played out.

    `tricks` are card points with the last trick's ten, or (250, 0) when side 0 took all tricks:
    `all_by` is the side that did, None when each side took some.
    """

    tricks: Pair
    declarations: Pair = (0, 0)
    belote: Pair = (0, 0)
    all_by: int | None = None

    def own(self, side: int) -> int:
        """Tricks, declarations that count, and belote of one side (P50)."""
        return self.tricks[side] + self.declarations[side] + self.belote[side]

    @property
    def pool(self) -> int:
        """What both sides have together."""
        return self.own(0) + self.own(1)


def count(points: Pair, won: Pair, declarations: Pair, belote: Pair) -> Count:
    """The count from card points and the number of tricks won by each side (P58)."""
    for side in (0, 1):
        if not won[1 - side]:
            return Count(_of_side(side, CAPOT_VALUE, 0), declarations, belote, side)
    return Count(points, declarations, belote)


def bid_made(counted: Count, contract: Contract) -> bool:
    """Whether the bid is reached (P50-P52), or all tricks are taken (P56, P57)."""
    if contract.capot:
        return counted.all_by == contract.side
    return counted.own(contract.side) >= contract.value


def more_made(counted: Count, contract: Contract) -> bool:
    """Whether the caller's side has more than the other; as much is not enough (C7, C8, T7)."""
    return counted.own(contract.side) > counted.own(1 - contract.side)


@dataclass(frozen=True, slots=True)
class Scoring:
    """The switches that touch the arithmetic.

    `failed_adds_game_value` (P54), `contra_winner_takes_pool` (P55), `round_highest_up` and
    `six_six_to_caller` (P61).
    """

    failed_adds_game_value: bool = True
    contra_winner_takes_pool: bool = False
    round_highest_up: bool = False
    six_six_to_caller: bool = False


def totals(counted: Count, contract: Contract, made: bool, rules: Scoring) -> Pair:
    """What each side gets, exactly (P53-P55)."""
    side, value = contract.side, contract.value * contract.multiplier
    if not made:
        gained = value if rules.failed_adds_game_value else 0
        return _of_side(side, 0, counted.pool + gained)
    if rules.contra_winner_takes_pool and contract.multiplier > 1:
        return _of_side(side, counted.pool + value, 0)
    return _of_side(side, counted.own(side) + value, counted.own(1 - side))


def rounded(raw: Pair, tricks: Pair, caller: int, rules: Scoring) -> Pair:
    """Both totals in tens (P61, T8).

    A remainder of 5 or more goes up, but never both: then only the higher remainder; if they are
    equal, the side with more points in tricks; if these are equal too, the caller's.
    With `round_highest_up` the higher remainder goes up, however small, and equal ones below 5 do
    not.  With `six_six_to_caller` the caller's side goes up when both remainders are 6.
    """
    tens = (raw[0] // 10, raw[1] // 10)
    rest = (raw[0] % 10, raw[1] % 10)
    if rest[0] != rest[1]:
        higher = 0 if rest[0] > rest[1] else 1
        up = rules.round_highest_up or rest[higher] >= 5
        return _raised(tens, higher) if up else tens
    if rest[0] < 5:
        return tens
    if tricks[0] == tricks[1] or (rules.six_six_to_caller and rest[0] == 6):
        return _raised(tens, caller)
    return _raised(tens, 0 if tricks[0] > tricks[1] else 1)


def nearest(total: int) -> int:
    """A total in tens where the other side has nothing to be rounded (P62)."""
    return (total + 5) // 10


def marks(raw: Pair, counted: Count, contract: Contract, made: bool, rules: Scoring) -> Pair:
    """What goes on the score, in tens (P61); a failed contract leaves one total (P62)."""
    if not made:
        return (nearest(raw[0]), nearest(raw[1]))
    return rounded(raw, counted.tricks, contract.side, rules)


def sheet(
    counted: Count, contract: Contract, made: bool, rules: Scoring
) -> tuple[SideSheet, SideSheet]:
    """The whole arithmetic of a hand, for both sides."""
    raw = totals(counted, contract, made, rules)
    marked = marks(raw, counted, contract, made, rules)
    value = contract.value * contract.multiplier
    if not made and not rules.failed_adds_game_value:
        value = 0
    gained = _of_side(contract.side if made else 1 - contract.side, value, 0)
    first, second = [
        SideSheet(
            counted.tricks[side],
            counted.declarations[side],
            counted.belote[side],
            gained[side],
            raw[side],
            marked[side],
        )
        for side in (0, 1)
    ]
    return first, second


def ending(counted: Count, contract: Contract, made: bool) -> str:
    """ "failed", "made", or "capot" when it is made with all the tricks, bid or not."""
    if not made:
        return "failed"
    return "capot" if counted.all_by == contract.side else "made"


PASSED: Final = "passed"
"""The ending of a hand that nobody took (P11, C4)."""


def _of_side(side: int, own: int, others: int) -> Pair:
    return (own, others) if side == 0 else (others, own)


def _raised(tens: Pair, side: int) -> Pair:
    return (tens[0] + 1, tens[1]) if side == 0 else (tens[0], tens[1] + 1)
