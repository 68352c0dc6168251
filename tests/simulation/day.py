"""A day of the house in simulated time: who comes when and wants what, and whom the real pairing
finds for him. All chance comes from one seed."""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from heapq import heappop, heappush
from itertools import accumulate, combinations
from random import Random
from typing import Final
from uuid import UUID

from kafeneio_games.registry import variants
from kafeneio_games.variant import Variant
from kafeneio_matchmaking.domain import PARTNERS, Terms, Ticket, TicketStatus
from kafeneio_matchmaking.pairing import Known, Pairing, pair

MIDNIGHT: Final = datetime(2026, 1, 1, tzinfo=UTC)
DAY: Final = timedelta(days=1)

BY_HOUR: Final = (
    *(5, 3, 2, 1, 1, 1, 2, 3, 4, 5, 6, 7),
    *(8, 8, 7, 7, 8, 10, 12, 14, 16, 17, 14, 9),
)
"""How many come in each hour, beside the others."""

POPULAR: Final = {"tavli-greek": 12, "portes": 8, "pilotta": 8, "koumkan": 4, "belote": 3}
"""How many want a variant, beside those who want another one: each of these counts 1."""

STAKES: Final = ((0, 5), (100, 3), (500, 2))
"""Stakes in cents, and how many want them."""

TABLES: Final = (("2", 4), ("3", 2), ("4", 3))
"""How many a table of rummy is for, and how many want that."""

MEAN, SPREAD = 1500.0, 250.0
"""Ratings are spread around the newcomer's."""

WITH_PARTNER: Final = 0.3
AGAIN: Final = 0.5
"""Who has played queues again, so often."""

TIME_TO_LIVE: Final = timedelta(minutes=10)
TICK: Final = timedelta(seconds=1)
GAME_MINUTES: Final = (8.0, 25.0)


@dataclass(frozen=True)
class Sought:
    """What was sought at once by one player, or by two partners."""

    terms: Terms
    players: tuple[str, ...]


@dataclass(frozen=True)
class Table:
    """A match, when it was made, and how long each of its players had waited, seat 0 first."""

    at: datetime
    pairing: Pairing
    waited: tuple[timedelta, ...]
    until: datetime

    def gap(self, ratings: dict[str, int]) -> int:
        """How far apart the strongest and the weakest player are."""
        found = [ratings[player] for player in self.pairing.players]
        return max(found) - min(found)


@dataclass
class Day:
    """What has happened."""

    ratings: dict[str, int]
    tables: list[Table] = field(default_factory=list)
    expired: list[Ticket] = field(default_factory=list)
    came: Counter[str] = field(default_factory=Counter)
    """How many tickets there were of each variant."""
    waiting: list[Ticket] = field(default_factory=list)
    """Who still waits at the end."""


def picked(chance: Random, choices: Sequence[tuple[str, int]]) -> str:
    """One of (what, weight)."""
    sums = list(accumulate(weight for _, weight in choices))
    return choices[bisect_left(sums, chance.random() * sums[-1])][0]


def arrivals(chance: Random, count: int) -> Iterator[datetime]:
    """So many moments of the day, in order."""
    sums = list(accumulate(BY_HOUR))
    moments = []
    for _ in range(count):
        hour = bisect_left(sums, chance.random() * sums[-1])
        moments.append(MIDNIGHT + timedelta(hours=hour + chance.random()))
    return iter(sorted(moments))


class House:
    """The queue over a day. `players` live here, and each comes `visits` times."""

    def __init__(self, seed: int, players: int, visits: float = 2.0) -> None:
        self._chance = Random(seed)
        self._visits = round(players * visits)
        self._free = [f"p{number}" for number in range(players)]
        rated = {player: round(self._chance.gauss(MEAN, SPREAD)) for player in self._free}
        self.day = Day(rated)
        self._waiting: dict[UUID, Ticket] = {}
        self._playing: list[tuple[datetime, int, tuple[str, ...], Terms]] = []
        self._tickets = 0

    def run(self) -> Day:
        """Let the day pass, and wait until whoever came late has been seated or has gone."""
        coming, now, fresh = arrivals(self._chance, self._visits), MIDNIGHT, False
        following = next(coming, None)
        while following is not None or self._waiting or now < MIDNIGHT + DAY:
            while following is not None and following <= now:
                fresh |= self._come(following)
                following = next(coming, None)
            while self._playing and self._playing[0][0] <= now:
                fresh |= self._rise(now)
            self._expire(now)
            if fresh or self._enough():
                self._seat(now)
            fresh, now = False, now + TICK
        self.day.waiting = list(self._waiting.values())
        return self.day

    def _come(self, now: datetime) -> bool:
        """Somebody who is free comes in, perhaps with somebody; False where nobody is."""
        if len(self._free) < 2:
            return False
        variant = self._variant()
        terms = self._terms(variant)
        partners = tuple(map(tuple, variant.sides)) == PARTNERS
        size = 2 if partners and self._chance.random() < WITH_PARTNER else 1
        self._queue(Sought(terms, tuple(self._take() for _ in range(size))), now)
        return True

    def _variant(self) -> Variant:
        known = {variant.id: variant for variant in variants()}
        return known[picked(self._chance, [(name, POPULAR.get(name, 1)) for name in known])]

    def _terms(self, variant: Variant) -> Terms:
        stake = int(picked(self._chance, [(str(cents), count) for cents, count in STAKES]))
        seats, options = variant.seats, ()
        if any(option.name == "players" for option in variant.options):
            many = picked(self._chance, TABLES)
            return self._settled(variant, (("players", many),), stake, int(many))
        return self._settled(variant, options, stake, seats)

    def _settled(
        self, variant: Variant, options: tuple[tuple[str, str], ...], stake: int, seats: int
    ) -> Terms:
        target, currency = variant.targets.default, "EUR" if stake else ""
        return Terms(variant.id, variant.edition, options, target, currency, stake, 0, seats)

    def _take(self) -> str:
        place = self._chance.randrange(len(self._free))
        self._free[place], self._free[-1] = self._free[-1], self._free[place]
        return self._free.pop()

    def _queue(self, sought: Sought, now: datetime) -> None:
        for player in sought.players:
            others = [each for each in sought.players if each != player]
            self._tickets += 1
            ticket = Ticket(
                ticket_id=UUID(int=self._tickets),
                player_id=player,
                terms=sought.terms,
                status=TicketStatus.QUEUED,
                version=1,
                queued_at=now,
                expires_at=now + TIME_TO_LIVE,
                game_id=None,
                end=None,
                partner="".join(others),
            )
            self._waiting[ticket.ticket_id] = ticket
            self.day.came[ticket.terms.variant] += 1

    def _rise(self, now: datetime) -> bool:
        """A game is over. Some of its players want another one of the same."""
        _, _, players, terms = heappop(self._playing)
        again = [player for player in players if self._chance.random() < AGAIN]
        self._free += [player for player in players if player not in again]
        for player in again:
            self._queue(Sought(terms, (player,)), now)
        return bool(again)

    def _expire(self, now: datetime) -> None:
        for ticket in [each for each in self._waiting.values() if each.expires_at <= now]:
            del self._waiting[ticket.ticket_id]
            self._free.append(ticket.player_id)
            self.day.expired.append(ticket)

    def _enough(self) -> bool:
        """Whether there are enough on any terms; without newcomers only time may seat them."""
        alike = Counter(ticket.terms for ticket in self._waiting.values())
        return any(count >= terms.seats for terms, count in alike.items())

    def _seat(self, now: datetime) -> None:
        rated = {
            each.ticket_id: self.day.ratings[each.player_id] for each in self._waiting.values()
        }
        for pairing in pair(self._waiting.values(), now, Known(rated)):
            least, most = GAME_MINUTES
            until = now + timedelta(minutes=self._chance.uniform(least, most))
            waited = tuple(now - ticket.queued_at for ticket in pairing.people)
            self.day.tables.append(Table(now, pairing, waited, until))
            number = len(self.day.tables)
            heappush(self._playing, (until, number, pairing.players, pairing.terms))
            for ticket in pairing.people:
                del self._waiting[ticket.ticket_id]


def pairs_of(pairing: Pairing) -> Iterator[tuple[Ticket, Ticket]]:
    """Every two players of a table who are no party."""
    for one, other in combinations(pairing.people, 2):
        if one.partner != other.player_id:
            yield one, other
