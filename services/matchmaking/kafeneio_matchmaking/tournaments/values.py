"""What is kept of a tournament: its terms, its entries, its matches with their games. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from itertools import pairwise
from typing import Final, TypeVar
from uuid import UUID, uuid5

from kafeneio_matchmaking.domain import PARTNERS, Terms
from kafeneio_matchmaking.tournaments.domain import (
    LARGEST,
    SMALLEST,
    Course,
    Format,
    Match,
    Round,
)
from kafeneio_matchmaking.tournaments.states import (
    GONE,
    EntryEnd,
    EntryStatus,
    Status,
)

Who = TypeVar("Who")

WHOLE: Final = 10_000
"""Shares are in hundredths of a percent."""

LARGEST_FEE: Final = WHOLE // 2

LONGEST_NOTICE: Final = timedelta(days=366)
"""So far ahead a tournament may be published."""

GRACE: Final = timedelta(minutes=2)
"""A match whose players are still in another game waits for them so long; then it is started."""


@dataclass(frozen=True, slots=True)
class Conditions:
    """What is published of a tournament; nothing changes it.

    `game` is what is played in each match. Its stake is the entry fee of each player, in the
    smallest unit, and its fee the house's share of the pool. `shares` are of what is left, first
    place first, in hundredths of a percent.
    """

    name: str
    format: Format
    length: int
    game: Terms
    shares: tuple[int, ...]
    min_entries: int
    max_entries: int
    min_rating: int | None
    max_rating: int | None
    starts_at: datetime

    @property
    def players_per_entry(self) -> int:
        """1, or 2 where pairs play."""
        return self.game.seats // 2

    @property
    def match_terms(self) -> Terms:
        """What is played in a match: for no stake."""
        return replace(self.game, currency="", stake=0, fee_basis_points=0)


class ConditionsError(ValueError):
    """Conditions that contradict each other, or the time; `field` is the one that is wrong."""

    def __init__(self, field: str, text: str) -> None:
        super().__init__(text)
        self.field = field


def check(conditions: Conditions, now: datetime) -> None:
    """Raises ConditionsError for what can't be published."""
    shares = conditions.shares
    if sum(shares) != WHOLE:
        raise ConditionsError("prize_shares", f"must be {WHOLE} together")
    if any(share < later for share, later in pairwise(shares)):
        raise ConditionsError("prize_shares", "no place gets more than the one before it")
    if not SMALLEST <= conditions.min_entries <= conditions.max_entries <= LARGEST:
        raise ConditionsError("max_entries", "must not be less than min_entries")
    low, high = conditions.min_rating, conditions.max_rating
    if low is not None and high is not None and low > high:
        raise ConditionsError("max_rating", "must not be less than min_rating")
    if conditions.length and conditions.format is not Format.SWISS:
        raise ConditionsError("rounds", "only a Swiss tournament has as many rounds as one likes")
    if not now < conditions.starts_at <= now + LONGEST_NOTICE:
        raise ConditionsError("starts_at", "must be in the future, within a year")


@dataclass(frozen=True, slots=True)
class Tournament:
    """A tournament as it stands. `cancel_reason` is empty unless it was cancelled; `entries` are
    those that are in or paying, `rounds` those that were drawn."""

    tournament_id: UUID
    conditions: Conditions
    status: Status
    version: int
    created_by: str
    created_at: datetime
    started_at: datetime | None
    ended_at: datetime | None
    cancel_reason: str
    tries: int
    entries: int
    rounds: int

    def request_id(self, call: str) -> UUID:
        """The id of the one call of this kind that is made for the tournament, however often it is
        sent."""
        return uuid5(self.tournament_id, call)


@dataclass(frozen=True, slots=True)
class Entry:
    """A player, or a pair. `waits_for` is the partner who has not registered yet. `seed` and
    `rating` are None before the start, `place` and `played_place` before the end; they differ where
    a correction was approved. `reason` is why an operator has taken it out."""

    entry_id: UUID
    tournament_id: UUID
    players: tuple[str, ...]
    waits_for: str
    status: EntryStatus
    end: EntryEnd | None
    reason: str
    seed: int | None
    rating: int | None
    place: int | None
    played_place: int | None
    registered_at: datetime
    version: int
    tries: int

    def request_id(self, call: str) -> UUID:
        """The id of the one call of this kind that is made for the entry."""
        return uuid5(self.entry_id, call)


@dataclass(frozen=True, slots=True)
class Fixture:
    """A match with its game. `round` and `number` begin at 0. `game_id` is the last game that was
    begun for it, which its players are `told` of once it is there; `undone` counts games that never
    came to be. `due_at` is when a match that waits for a game may get one."""

    tournament_id: UUID
    round: int
    number: int
    match: Match
    game_id: UUID | None
    told: bool
    players: tuple[str, ...]
    join_by: datetime | None
    undone: int
    drawn_at: datetime
    due_at: datetime
    version: int


@dataclass(frozen=True, slots=True)
class Correction:
    """Other places for a finished tournament: `places` hold entries, and are None where every fee
    goes back. `settlement_version` is what it has made of the payout, 0 while nobody has approved
    it."""

    number: int
    reason: str
    proposed_by: str
    proposed_at: datetime
    approved_by: str
    approved_at: datetime | None
    settlement_version: int
    places: tuple[tuple[UUID, ...], ...] | None


def course_of(
    conditions: Conditions, entries: Sequence[Entry], fixtures: Sequence[Fixture]
) -> Course:
    """The course of a tournament that has started; `fixtures` are all of its matches."""
    rounds: list[list[Match]] = []
    for fixture in sorted(fixtures, key=lambda each: (each.round, each.number)):
        if fixture.round == len(rounds):
            rounds.append([])
        rounds[fixture.round].append(fixture.match)
    seeded = [entry for entry in entries if entry.seed is not None]
    gone = {entry.seed: entry.status for entry in seeded if entry.status in GONE}
    return Course(
        format=conditions.format,
        size=len(seeded),
        length=conditions.length,
        rounds=tuple(map(tuple, rounds)),
        gone=frozenset(seed for seed in gone if seed),
        disqualified=frozenset(
            seed for seed, status in gone.items() if seed and status is EntryStatus.DISQUALIFIED
        ),
        # Nothing that is decided is ever left for later.
        finished=bool(rounds) and all(match.is_over for match in rounds[-1]),
    )


def changed(before: Sequence[Round], after: Sequence[Round]) -> list[tuple[int, int, Match]]:
    """The matches that differ, or are new, as (round, number, match)."""
    return [
        (turn, number, match)
        for turn, matches in enumerate(after)
        for number, match in enumerate(matches)
        if turn >= len(before) or before[turn][number] != match
    ]


def seeding(ratings: Mapping[UUID, int], entries: Sequence[Entry]) -> list[Entry]:
    """The entries with their seeds: by rating, of equals who has registered first."""
    order = sorted(
        entries, key=lambda each: (-ratings[each.entry_id], each.registered_at, each.entry_id)
    )
    return [
        replace(entry, seed=seed, rating=ratings[entry.entry_id])
        for seed, entry in enumerate(order, 1)
    ]


def numbered(places: Sequence[Sequence[Who]]) -> dict[Who, int]:
    """The number of everybody's place: 1, 2, 2, 4."""
    found: dict[Who, int] = {}
    for shared in places:
        found |= dict.fromkeys(shared, len(found) + 1)
    return found


def seats_of(one: Sequence[str], two: Sequence[str]) -> tuple[str, ...]:
    """Who sits where: partners at seats 0 and 2, and 1 and 3."""
    return tuple(player for pair in zip(one, two, strict=True) for player in pair)


def side_of(seat: int) -> int:
    """Which side a seat plays for, 0 or 1."""
    return next((side for side, seats in enumerate(PARTNERS) if seat in seats))


def retry_seconds(undone: int) -> float:
    """How long a match waits for its next game after so many that never came to be."""
    return float(min(0.5 * 2 ** min(undone, 10), 60))
