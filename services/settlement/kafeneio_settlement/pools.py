"""The money of a tournament: entry fees that are held, prizes that are paid, and corrections (S5,
S6). Pure.

What a pool holds is the entry fee of every player whose entry is held. It is paid out to the last
unit: to the house its fee, which is a term of the tournament and no part of how its games ended,
and the rest to the entries by their places.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Final, TypeAlias
from uuid import UUID, uuid5

from kafeneio_settlement import prizes
from kafeneio_settlement.domain import (
    Kind,
    Movement,
    Transfer,
    escrow_account,
    out_of_escrow,
    player_account,
    restaked,
    reversal_id,
    settlement_id,
    undone,
)
from kafeneio_settlement.payouts import LARGEST, WHOLE, NotPayableError, TooLargeError
from kafeneio_settlement.prizes import Prizes

MOST_ENTRIES: Final = 8000
"""As many transfers as two players each can make, twice in a correction, the ledger can number."""

FIRST_VERSION: Final = 1
"""The settlement version of the first payment; what follows it is a correction."""

Standings: TypeAlias = tuple[tuple[UUID, ...], ...]
"""Entries by place, the first place first; those who share one in the order of their seeds."""


class IncompleteError(NotPayableError):
    """Standings that do not name every entry that is held exactly once, and no other."""

    def __init__(
        self, missing: Sequence[UUID], unknown: Sequence[UUID], repeated: Sequence[UUID]
    ) -> None:
        self.missing, self.unknown, self.repeated = missing, unknown, repeated
        super().__init__(
            f"{len(missing)} entries are missing, {len(unknown)} unknown, {len(repeated)} repeated"
        )


class State(StrEnum):
    """Where the money of a tournament stands."""

    OPEN = "open"
    SETTLED = "settled"
    VOID = "void"


@dataclass(frozen=True, slots=True)
class Terms:
    """What is published before registration opens. `entry_fee` is what each player pays."""

    currency: str
    entry_fee: int
    fee_basis_points: int
    offered: Prizes
    players_per_entry: int
    starts_at: datetime | None = None


@dataclass(frozen=True, slots=True)
class Entry:
    """An entry and what became of it; it was never held where there is no `held_at`."""

    entry_id: UUID
    players: tuple[str, ...] = ()
    held_at: datetime | None = None
    released_at: datetime | None = None

    @property
    def is_held(self) -> bool:
        """Whether it takes part in what is paid."""
        return self.held_at is not None and self.released_at is None


@dataclass(frozen=True, slots=True)
class Prize:
    """What an entry gets; its place is 0 where the tournament is void."""

    entry_id: UUID
    place: int
    amount: int


@dataclass(frozen=True, slots=True)
class Award:
    """All that a tournament pays, the first place first."""

    pool: int
    prizes: tuple[Prize, ...]
    fee: int
    void: bool

    def __post_init__(self) -> None:
        # The last gate before money moves: a rule that is wrong pays nobody.
        amounts = [prize.amount for prize in self.prizes]
        if min([*amounts, self.fee]) < 0 or sum(amounts) + self.fee != self.pool:
            raise NotPayableError("prizes must be all of the pool, and nobody's debt")


def split(amount: int, players: int) -> tuple[int, ...]:
    """What each player of an entry gets: the same, and an odd unit goes to the first."""
    each, over = divmod(amount, players)
    return tuple(each + (number < over) for number in range(players))


def pool_of(terms: Terms, entries: int) -> int:
    """What so many entries have paid. Raises TooLargeError."""
    pool = terms.entry_fee * terms.players_per_entry * entries
    if pool > LARGEST:
        raise TooLargeError(f"a pool of {pool} is more than {LARGEST}")
    return pool


def awarded(terms: Terms, held: Sequence[Entry], standings: Standings) -> Award:
    """What a tournament pays that ended so (S5). Raises IncompleteError, another NotPayableError
    where nobody has entered, or TooLargeError."""
    _check_complete(held, standings)
    pool = pool_of(terms, len(held))
    fee = pool * terms.fee_basis_points // WHOLE
    paid = prizes.prizes(pool - fee, terms.offered, standings)
    return Award(
        pool,
        tuple(
            Prize(entry, place, paid[entry])
            for entry, place in zip(*placed(standings), strict=True)
        ),
        fee,
        False,
    )


def everything_back(terms: Terms, held: Sequence[Entry]) -> Award:
    """A tournament that is void: every entry gets its fees. Raises TooLargeError."""
    fees = pool_of(terms, 1)
    return Award(
        pool_of(terms, len(held)),
        tuple(Prize(entry.entry_id, 0, fees) for entry in held),
        0,
        True,
    )


def placed(standings: Standings) -> tuple[list[UUID], list[int]]:
    """The entries, the first place first, and the place of each: 1, 2, 2, 4."""
    entries: list[UUID] = []
    places: list[int] = []
    for tied in standings:
        places += [len(entries) + 1] * len(tied)
        entries += tied
    return entries, places


def standings_of(entries: Sequence[UUID], places: Sequence[int]) -> Standings:
    """The inverse of `placed`."""
    tied: dict[int, list[UUID]] = {}
    for entry, place in zip(entries, places, strict=True):
        tied.setdefault(place, []).append(entry)
    return tuple(map(tuple, tied.values()))


def _check_complete(held: Sequence[Entry], standings: Standings) -> None:
    named, _ = placed(standings)
    known = {entry.entry_id for entry in held}
    missing = sorted(known.difference(named))
    unknown = sorted({*named} - known)
    repeated = sorted(entry for entry, times in Counter(named).items() if times > 1)
    if missing or unknown or repeated:
        raise IncompleteError(missing, unknown, repeated)


# --- movements -------------------------------------------------------------------------------


def hold_movement(tournament_id: UUID, terms: Terms, entry: Entry) -> Movement | None:
    """Every player's fee goes into escrow; None where it is nothing."""
    if not terms.entry_fee:
        return None
    escrow = escrow_account(tournament_id)
    transfers = tuple(Transfer(player_account(p), escrow, terms.entry_fee) for p in entry.players)
    name = uuid5(tournament_id, f"hold {entry.entry_id}")
    return _movement(name, Kind.HOLD, tournament_id, terms, transfers)


def release_movement(tournament_id: UUID, terms: Terms, entry: Entry) -> Movement | None:
    """The fees of an entry go back; None where they are nothing, or were never held."""
    if not terms.entry_fee or not entry.is_held:
        return None
    shares = (terms.entry_fee,) * len(entry.players)
    transfers = out_of_escrow(tournament_id, entry.players, shares, 0)
    name = uuid5(tournament_id, f"release {entry.entry_id}")
    return _movement(name, Kind.RELEASE, tournament_id, terms, transfers)


def payout_movement(
    tournament_id: UUID, terms: Terms, held: Sequence[Entry], award: Award
) -> Movement | None:
    """The escrow is paid out, all of it; None where it is empty."""
    transfers = _paid_out(tournament_id, held, award)
    name = settlement_id(tournament_id, FIRST_VERSION)
    return _movement(name, Kind.PAYOUT, tournament_id, terms, transfers)


def reversal_movement(
    tournament_id: UUID, terms: Terms, version: int, transfers: Sequence[Transfer]
) -> Movement | None:
    """Everything that a settlement has moved moves back; None where that was nothing."""
    name = reversal_id(tournament_id, version)
    return _movement(name, Kind.REVERSAL, tournament_id, terms, undone(transfers))


def correction_movement(
    tournament_id: UUID,
    terms: Terms,
    held: Sequence[Entry],
    award: Award,
    right: Terms,
    version: int,
) -> Movement | None:
    """The tournament is paid anew, by the terms that are `right`. After the reversal the escrow
    holds what was held at first; where the fee was wrong the difference comes first."""
    players = [player for entry in held for player in entry.players]
    transfers = (
        *restaked(tournament_id, players, right.entry_fee - terms.entry_fee),
        *_paid_out(tournament_id, held, award),
    )
    name = settlement_id(tournament_id, version)
    return _movement(name, Kind.CORRECTION, tournament_id, terms, transfers)


def nets(terms: Terms, held: Sequence[Entry], award: Award) -> list[tuple[str, int]]:
    """What the tournament meant for each player, the first place first: paid out, less the fee."""
    return [(player, share - terms.entry_fee) for player, share in _by_player(_by_id(held), award)]


def _paid_out(tournament_id: UUID, held: Sequence[Entry], award: Award) -> tuple[Transfer, ...]:
    paid = _by_player(_by_id(held), award)
    players = [player for player, _ in paid]
    return out_of_escrow(tournament_id, players, [share for _, share in paid], award.fee)


def _by_id(held: Sequence[Entry]) -> Mapping[UUID, Entry]:
    return {entry.entry_id: entry for entry in held}


def _by_player(held: Mapping[UUID, Entry], award: Award) -> list[tuple[str, int]]:
    """Who gets how much out of the escrow; a player in two entries stands there twice."""
    return [
        (player, share)
        for prize in award.prizes
        for player, share in zip(
            held[prize.entry_id].players,
            split(prize.amount, len(held[prize.entry_id].players)),
            strict=True,
        )
    ]


def _movement(
    name: UUID, kind: Kind, tournament_id: UUID, terms: Terms, transfers: tuple[Transfer, ...]
) -> Movement | None:
    if not transfers:
        return None
    return Movement(name, kind, terms.currency, transfers, tournament_id=tournament_id)
