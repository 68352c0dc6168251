"""What a game pays: the payout rules, each with a name and a version, behind one signature.

Pure, in whole numbers of the smallest unit of one currency. Whatever the rule, all that was staked
is paid out: to the seats, and to the house what it takes. Names such as S4 are those of the common
rules.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Final, TypeAlias

LARGEST: Final = 2**63 - 1
"""More than this the database does not count."""

WHOLE: Final = 10_000
"""Basis points."""


class UnknownRuleError(LookupError):
    """The house has no payout rule of that name."""


class NotPayableError(ValueError):
    """The rule knows no such end of a game."""


class WrongSeatsError(NotPayableError):
    """The rule is for games of more or fewer seats."""


class TooLargeError(ValueError):
    """The pot is more than can be counted."""


@dataclass(frozen=True, slots=True)
class Stakes:
    """What was put in: the same by every seat."""

    stake: int
    seats: int

    def __post_init__(self) -> None:
        if self.stake < 0 or self.seats < 1:
            raise ValueError("a stake is nothing or more, of at least one seat")
        if self.pot > LARGEST:
            raise TooLargeError(f"a pot of {self.pot} is more than {LARGEST}")

    @property
    def pot(self) -> int:
        """All of it."""
        return self.stake * self.seats


@dataclass(frozen=True, slots=True)
class Result:
    """How the game ended: who won, or why nobody did."""

    winners: tuple[int, ...] = ()
    void: str = ""

    def __post_init__(self) -> None:
        if bool(self.winners) == bool(self.void):
            raise NotPayableError("a game has winners, or it is void")


@dataclass(frozen=True, slots=True)
class Payout:
    """What each seat gets out of the pot, and the house; `void` where everything goes back."""

    stakes: Stakes
    shares: tuple[int, ...]
    fee: int
    void: bool

    def __post_init__(self) -> None:
        # The last gate before money moves: a rule that is wrong pays nobody.
        if min(*self.shares, self.fee) < 0 or sum(self.shares) + self.fee != self.stakes.pot:
            raise NotPayableError("a payout must be all of the pot, and nobody's debt")

    @property
    def nets(self) -> tuple[int, ...]:
        """What each seat has won, or lost."""
        return tuple(share - self.stakes.stake for share in self.shares)


Rule: TypeAlias = Callable[[Stakes, Result, frozenset[int], int], Payout]
"""(stakes, result, forfeited seats, fee in basis points of the pot) -> what is paid."""


@dataclass(frozen=True, slots=True)
class PayoutRule:
    """A rule that settlements name, and how many seats a game may have that it pays. A changed rule
    gets a new version; the old one stays."""

    name: str
    version: int
    seats: range
    pay: Rule


def everything_back(stakes: Stakes) -> Payout:
    """A void game: every stake goes back, fees included."""
    return Payout(stakes, (stakes.stake,) * stakes.seats, 0, True)


def fee_of(pot: int, winners: int, forfeits: frozenset[int], fee_basis_points: int) -> int:
    """What the house takes of a pot: nothing where a seat was forfeited, else the share that was
    agreed, rounded down, and lowered until the rest divides evenly among the winners."""
    if forfeits:
        return 0
    fee = pot * fee_basis_points // WHOLE
    return fee - (fee - pot) % winners


SIDES: Final = ((0, 2), (1, 3))
"""Who plays with whom where four sit: partners face each other."""


def s1(stakes: Stakes, result: Result, forfeits: frozenset[int], fee_basis_points: int) -> Payout:
    """Pilotta and Belote: the winning side takes what the other has staked.

    Of two winners one of whom is gone, that one gets his stake back and no more, his partner the
    rest (4). Where no winner is there at the end the computers have won for nobody: void (2), and
    so it is where nobody at all is there (1). A loser loses whether he is there or not (3).
    """
    if result.void:
        return everything_back(stakes)
    side = tuple(sorted(result.winners))
    if side not in SIDES:
        raise NotPayableError(f"seats {result.winners} are no side of {stakes.seats}")
    there = [seat for seat in side if seat not in forfeits]
    if not there:
        return everything_back(stakes)
    fee = fee_of(stakes.pot, len(side), forfeits, fee_basis_points)
    gone = len(side) - len(there)
    each = (stakes.pot - fee - gone * stakes.stake) // len(there)
    shares = [0] * stakes.seats
    for seat in side:
        shares[seat] = each if seat in there else stakes.stake
    return Payout(stakes, tuple(shares), fee, False)


def s2(stakes: Stakes, result: Result, forfeits: frozenset[int], fee_basis_points: int) -> Payout:
    """Classic Pilotta for 2: a team of one. A winner who is gone wins nothing: clause (2) makes
    the game void, and where both are gone clause (1) does. Clause (4) has no partner to pay."""
    if result.void or _only_winner(stakes, result) in forfeits:
        return everything_back(stakes)
    return _winner_takes_all(stakes, result, forfeits, fee_basis_points)


def s3(stakes: Stakes, result: Result, forfeits: frozenset[int], fee_basis_points: int) -> Payout:
    """Koum-kan, Thanasis and Dynamitis: the last one left takes the pot. Who is forfeited is out
    at once, so he can't have won; that all are can only be the house's own fault, and void."""
    if result.void or len(forfeits) == stakes.seats:
        return everything_back(stakes)
    if _only_winner(stakes, result) in forfeits:
        raise NotPayableError(f"seat {result.winners[0]} was out before it won")
    return _winner_takes_all(stakes, result, forfeits, fee_basis_points)


def s4(stakes: Stakes, result: Result, forfeits: frozenset[int], fee_basis_points: int) -> Payout:
    """Tavli: the winner of the match takes the stakes. A leaver has conceded, so the result says
    already who won, also where both have left: the first one lost."""
    if result.void:
        return everything_back(stakes)
    return _winner_takes_all(stakes, result, forfeits, fee_basis_points)


def _winner_takes_all(
    stakes: Stakes, result: Result, forfeits: frozenset[int], fee_basis_points: int
) -> Payout:
    winner = _only_winner(stakes, result)
    fee = fee_of(stakes.pot, 1, forfeits, fee_basis_points)
    shares = [0] * stakes.seats
    shares[winner] = stakes.pot - fee
    return Payout(stakes, tuple(shares), fee, False)


def _only_winner(stakes: Stakes, result: Result) -> int:
    """The seat that won, where each plays for himself."""
    if len(result.winners) != 1 or result.winners[0] not in range(stakes.seats):
        raise NotPayableError(f"seats {result.winners} of {stakes.seats} can't be the winners")
    return result.winners[0]


EVER: Final = (
    PayoutRule("S1", 1, range(4, 5), s1),
    PayoutRule("S2", 1, range(2, 3), s2),
    PayoutRule("S3", 1, range(2, 5), s3),
    PayoutRule("S4", 1, range(2, 3), s4),
)
"""Every version of each rule that a game was ever paid by, the newest last."""

RULES: Final[Mapping[str, PayoutRule]] = {rule.name: rule for rule in EVER}
"""The newest version of each rule."""

_VERSIONS: Final = {(rule.name, rule.version): rule for rule in EVER}


def rule_named(name: str, version: int = 0) -> PayoutRule:
    """A rule in that version, in the newest where none is given. Raises UnknownRuleError."""
    found = _VERSIONS.get((name, version)) if version else RULES.get(name)
    if found is None:
        raise UnknownRuleError(f"there is no payout rule {name!r}")
    return found


def pay(
    name: str,
    stakes: Stakes,
    result: Result,
    forfeits: frozenset[int],
    fee_basis_points: int,
    version: int = 0,
) -> Payout:
    """What the rule of that name pays, in that version or the newest. Raises UnknownRuleError;
    WrongSeatsError or another NotPayableError."""
    rule = rule_named(name, version)
    if stakes.seats not in rule.seats:
        raise WrongSeatsError(f"{name} pays no game of {stakes.seats} seats")
    if not 0 <= fee_basis_points <= WHOLE:
        raise NotPayableError("a fee is a part of the pot")
    if any(seat not in range(stakes.seats) for seat in forfeits):
        raise NotPayableError("a seat was forfeited that the game does not have")
    return rule.pay(stakes, result, forfeits, fee_basis_points)
