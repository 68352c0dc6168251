"""What `matchmaking` knows of its players beside what they wait for: how strong they are, and what
they may do. Pure: no wire, no store, no clock.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from enum import StrEnum
from typing import Final, TypeAlias

from kafeneio_matchmaking.domain import PARTNERS

NEWCOMER: Final = 1500
"""What is shown for who has not finished a rated game of the variant."""

SETTLED_GAMES: Final = 10
"""With fewer rated games of a variant a rating of it is provisional."""

MOST_BLOCKED: Final = 200
"""So many players one may block."""

RAISE_AFTER: Final = timedelta(hours=24)
"""A limit that gets looser does so this much later; a cooler head may take it back."""

LONGEST_EXCLUSION: Final = timedelta(days=3653)
"""Ten years."""


@dataclass(frozen=True, slots=True)
class Rating:
    """How strong a player is in one variant, as it is shown: `value` in points, and the number of
    rated `games` behind it."""

    value: int = NEWCOMER
    games: int = 0

    @property
    def provisional(self) -> bool:
        """Whether it says little yet."""
        return self.games < SETTLED_GAMES


class Kind(StrEnum):
    """What is limited in a day. Amounts are in a currency's smallest unit, times in seconds."""

    STAKE = "stake"
    LOSS = "loss"
    TIME = "time"


@dataclass(frozen=True, slots=True)
class Limit:
    """What holds now, and what from `since` on; None is no limit. `since` is None where nothing is
    to change."""

    now: int | None
    since: datetime | None = None
    then: int | None = None

    def at(self, moment: datetime) -> Limit:
        """The same limit as it is later."""
        if self.since is None or moment < self.since:
            return self
        return Limit(self.then)

    def changed(self, wanted: int | None, moment: datetime) -> Limit:
        """The limit once `wanted` was asked for: what is stricter holds at once, what is looser
        RAISE_AFTER later. Asked for again, it comes when it was to come."""
        current = self.at(moment)
        if not _is_looser(wanted, current.now):
            return Limit(wanted)
        if current.since is not None and current.then == wanted:
            return current
        return Limit(current.now, moment + RAISE_AFTER, wanted)


NO_LIMIT: Final = Limit(None)

Key: TypeAlias = tuple[Kind, str]
"""What is limited, and in which currency; that of a time is empty."""


def _is_looser(wanted: int | None, than: int | None) -> bool:
    return than is not None and (wanted is None or wanted > than)


def change_limits(
    held: Mapping[Key, Limit], wanted: Mapping[Key, int], moment: datetime
) -> dict[Key, Limit]:
    """All limits of a player once he has said which he wants; what he does not name shall have
    none. What has no limit and shall get none is left out."""
    changed = {
        key: held.get(key, NO_LIMIT).changed(wanted.get(key), moment)
        for key in sorted({*held, *wanted})
    }
    return {key: limit for key, limit in changed.items() if limit != NO_LIMIT}


@dataclass(frozen=True, slots=True)
class Usage:
    """What a player has done today: staked and lost are by currency, and lost counts what is at
    stake, too."""

    staked: Mapping[str, int]
    lost: Mapping[str, int]
    played: timedelta

    def with_stakes(self, stakes: Mapping[str, int]) -> Usage:
        """With stakes that are about to be held, too."""
        staked, lost = (
            {code: used.get(code, 0) + stakes.get(code, 0) for code in {*used, *stakes}}
            for used in (self.staked, self.lost)
        )
        return Usage(staked, lost, self.played)


def reached(
    limits: Mapping[Key, Limit], usage: Usage, currency: str, stake: int, moment: datetime
) -> Kind | None:
    """The first limit that keeps a player from a game with this stake; None where none does. A game
    for nothing has no currency."""
    played = limits.get((Kind.TIME, ""), NO_LIMIT).at(moment).now
    if played is not None and usage.played >= timedelta(seconds=played):
        return Kind.TIME
    if not stake:
        return None
    for kind, used in ((Kind.STAKE, usage.staked), (Kind.LOSS, usage.lost)):
        limit = limits.get((kind, currency), NO_LIMIT).at(moment).now
        if limit is not None and used.get(currency, 0) + stake > limit:
            return kind
    return None


def day_of(moment: datetime) -> tuple[datetime, datetime]:
    """The day of UTC that a moment is in: from when, until when."""
    begin = moment.astimezone(UTC).replace(hour=0, minute=0, second=0, microsecond=0)
    return begin, begin + timedelta(days=1)


# --- games -----------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Played:
    """What was heard of one game, so far. `winners` are seats; None where the game is not over, or
    ended void. `corrected` is whether operators have said who won: then `correction` counts, None
    for nobody. `rated` are the winners that count in the ratings now."""

    players: tuple[str, ...] | None = None
    computers: bool = False
    winners: tuple[int, ...] | None = None
    corrected: bool = False
    correction: tuple[int, ...] | None = None
    rated: tuple[int, ...] | None = None

    @property
    def result(self) -> tuple[int, ...] | None:
        """Which seats won, as far as ratings go; None where nothing counts: the game is not over,
        is void, nobody has told yet who played, or a computer did from the start."""
        if self.players is None or self.computers:
            return None
        return self.correction if self.corrected else self.winners


def sides(seats: int, winners: Sequence[int]) -> list[list[int]]:
    """Who played for whom, those who won first: partners where two of them won together, else
    everybody for himself."""
    pairs = [list(pair) for pair in PARTNERS]
    if seats == sum(map(len, pairs)) and sorted(winners) in pairs:
        return sorted(pairs, key=lambda pair: pair != sorted(winners))
    return [[seat] for seat in sorted(range(seats), key=lambda seat: (seat not in winners, seat))]
