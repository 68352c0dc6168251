"""Whom the waiting tickets make a match of. Pure, as domain.py is.

What waits is a *unit*: one player, or two partners, who are never split. A table is filled with
units on equal terms who all accept each other: none has blocked another one, and their ratings are
near enough for how long they have waited (`window`). Of all tables that can be filled, the next one
is that whose oldest unit came first, then that whose second one did, and so on: so nobody waits for
those who came after him as long as there is a table that he fits.
"""

from __future__ import annotations

from collections import defaultdict, deque
from collections.abc import Iterable, Iterator, Mapping, Set
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from heapq import merge
from itertools import chain, count, islice
from math import inf
from operator import attrgetter
from typing import Final, TypeAlias
from uuid import UUID

from kafeneio_matchmaking.domain import COMPUTER, PARTNERS, Terms, Ticket

NEWCOMER: Final = 1500
"""The rating of who has none, in points."""

NARROWEST: Final = 100.0
"""The window of who has just come, in points."""

WIDENS: Final = 10.0
"""So many points it grows in a second."""

PATIENCE: Final = timedelta(seconds=60)
"""Who has waited so long accepts any rating."""

LOOKS_AT: Final = 50
"""So many single players, and so many parties, of those that it accepts a unit looks at for a table
of more than two, the oldest ones: the search would not end if hundreds had blocked each other."""

Unit: TypeAlias = tuple[Ticket, ...]
"""One ticket, or those of partners, the older one first."""

Age: TypeAlias = tuple[datetime, UUID]
"""The smaller, the older."""


@dataclass(frozen=True, slots=True)
class Known:
    """What is known of those who wait: their ratings by ticket, NEWCOMER where there is none, and
    whom a player is not to meet. Either of two has blocked the other: each is in the other's
    set."""

    ratings: Mapping[UUID, int] = field(default_factory=dict)
    blocks: Mapping[str, Set[str]] = field(default_factory=dict)


NOTHING: Final = Known()


def window(waited: timedelta) -> float:
    """How far away a rating may be for who has waited so long, in points."""
    if waited >= PATIENCE:
        return inf
    return NARROWEST + WIDENS * max(waited.total_seconds(), 0)


WIDEST: Final = NARROWEST + WIDENS * PATIENCE.total_seconds()
"""No window is wider that has an end."""


@dataclass(frozen=True, slots=True)
class Pairing:
    """Tickets that make a match: one for each seat, in the order of the seats; None is a
    computer's."""

    terms: Terms
    tickets: tuple[Ticket | None, ...]

    @property
    def people(self) -> tuple[Ticket, ...]:
        """The tickets of those who are no computers."""
        return tuple(ticket for ticket in self.tickets if ticket is not None)

    @property
    def players(self) -> tuple[str, ...]:
        """Who is to play, seat 0 first."""
        number = count(1)
        return tuple(
            f"{COMPUTER}{next(number)}" if ticket is None else ticket.player_id
            for ticket in self.tickets
        )


def pair(tickets: Iterable[Ticket], now: datetime, known: Known = NOTHING) -> tuple[Pairing, ...]:
    """The matches that the waiting tickets make, each ticket in one at the most; that whose oldest
    ticket is the oldest comes first.

    A ticket whose time is over is not paired, and nobody is paired with himself, whatever he has
    managed to send. Whoever plays the house waits for nobody.
    """
    queues: defaultdict[Terms, list[Unit]] = defaultdict(list)
    made: list[Pairing] = []
    for unit in _units(tickets, now):
        terms, seat = unit[0].terms, unit[0].house_seat
        if seat is None:
            queues[terms].append(unit)
        else:
            others = (None,) * (terms.seats - 1 - seat)
            made.append(Pairing(terms, ((None,) * seat + unit + others)))
    for terms, units in queues.items():
        waiting = [_waiting(place, unit, now, known) for place, unit in enumerate(units)]
        made += [Pairing(terms, _seated(table)) for table in _tables(waiting, terms.seats)]
    return tuple(sorted(made, key=lambda pairing: min(map(_age, pairing.people))))


def _age(ticket: Ticket) -> Age:
    return ticket.queued_at, ticket.ticket_id


def _units(tickets: Iterable[Ticket], now: datetime) -> list[Unit]:
    """The oldest first; a party is as old as its later ticket. Of a player his oldest ticket
    counts; of partners both must be here."""
    first: dict[str, Ticket] = {}
    for ticket in sorted(tickets, key=_age):
        if ticket.expires_at > now:
            first.setdefault(ticket.player_id, ticket)
    units: list[Unit] = []
    for ticket in first.values():
        if not ticket.partner:
            units.append((ticket,))
        elif (other := first.get(ticket.partner)) is not None and _are_partners(other, ticket):
            units.append((other, ticket))
    return units


def _are_partners(older: Ticket, younger: Ticket) -> bool:
    return (
        (older.player_id, older.terms) == (younger.partner, younger.terms)
        and older.partner == younger.player_id
        and older.terms.seats == len(PARTNERS) * 2
        and _age(older) < _age(younger)
    )


# --- tables ----------------------------------------------------------------------------------


@dataclass(slots=True, eq=False)
class _Waiting:
    """A unit in the queue. `place` counts from the oldest; `gone` is set once it has a table, or
    can't have one."""

    unit: Unit
    place: int
    rating: float
    window: float
    names: frozenset[str]
    shuns: Set[str]
    gone: bool = False

    def accepts(self, younger: _Waiting) -> bool:
        """Whether two accept each other. The window of who came later is the narrower one."""
        near = abs(self.rating - younger.rating) <= younger.window
        return near and self.shuns.isdisjoint(younger.names)


_by_place: Final = attrgetter("place")


def _waiting(place: int, unit: Unit, now: datetime, known: Known) -> _Waiting:
    ratings = [known.ratings.get(ticket.ticket_id, NEWCOMER) for ticket in unit]
    shuns: Set[str] = frozenset()
    for ticket in unit:
        if ticket.player_id in known.blocks:
            shuns = shuns | known.blocks[ticket.player_id]
    return _Waiting(
        unit,
        place,
        sum(ratings) / len(ratings),
        window(now - unit[-1].queued_at),
        frozenset(ticket.player_id for ticket in unit),
        shuns,
    )


@dataclass(slots=True)
class _Shelf:
    """Units of one size, each queue the oldest first: who accepts any rating, and all others by
    their rating, NARROWEST points a queue."""

    patient: deque[_Waiting] = field(default_factory=deque)
    near: defaultdict[int, deque[_Waiting]] = field(default_factory=lambda: defaultdict(deque))

    def add(self, one: _Waiting) -> None:
        """One more, younger than all others."""
        queue = self.patient if one.window == inf else self.near[int(one.rating // NARROWEST)]
        queue.append(one)

    def accepting(self, one: _Waiting) -> Iterator[_Waiting]:
        """Who is left and younger, and accepts a unit that accepts him; the oldest first."""
        lowest, highest = (int((one.rating + far) // NARROWEST) for far in (-WIDEST, WIDEST))
        queues = [
            _accepting(queue, one)
            for number in range(lowest, highest + 1)
            if (queue := self.near.get(number)) is not None
        ]
        return chain(_accepting(self.patient, one), merge(*queues, key=_by_place))


def _accepting(queue: deque[_Waiting], one: _Waiting) -> Iterator[_Waiting]:
    while queue and queue[0].gone:
        queue.popleft()
    if not queue:
        return
    # Nobody in the queue is nearer than this, and the later one came the narrower is his window.
    gap = abs(queue[0].rating - one.rating) - NARROWEST
    for other in queue:
        if other.window < gap:
            return
        if not other.gone and one.accepts(other):
            yield other


def _tables(waiting: list[_Waiting], seats: int) -> Iterator[list[Unit]]:
    """The units of each table, the oldest first.

    Each unit in turn, the oldest first, takes the oldest ones that make a table with it. Who finds
    none then would find none later: those who are left are fewer, and accept the same.
    """
    shelves = (_Shelf(), _Shelf())
    for one in waiting:
        shelves[len(one.unit) - 1].add(one)
    for one in waiting:
        if one.gone:
            continue
        one.gone = True
        found = (islice(shelf.accepting(one), LOOKS_AT) for shelf in shelves)
        table = _fill([one], seats - len(one.unit), _Kept(merge(*found, key=_by_place)), 0)
        if table is not None:
            for each in table:
                each.gone = True
            yield [each.unit for each in table]


class _Kept:
    """What an iterator has brought so far; the rest is fetched when it is asked for."""

    def __init__(self, source: Iterator[_Waiting]) -> None:
        self._source = source
        self._brought: list[_Waiting] = []

    def since(self, number: int) -> Iterator[tuple[int, _Waiting]]:
        """From the one of this number on, each with its number."""
        while True:
            if number == len(self._brought):
                following = next(self._source, None)
                if following is None:
                    return
                self._brought.append(following)
            yield number, self._brought[number]
            number += 1


def _fill(chosen: list[_Waiting], seats: int, found: _Kept, since: int) -> list[_Waiting] | None:
    """Units for a table with so many seats left: of all that do, those that are the oldest."""
    if not seats:
        return chosen
    for number, one in found.since(since):
        if len(one.unit) <= seats and all(each.accepts(one) for each in chosen[1:]):
            table = _fill([*chosen, one], seats - len(one.unit), found, number + 1)
            if table is not None:
                return table
    return None


def _seated(units: list[Unit]) -> tuple[Ticket, ...]:
    """In the order in which they came; where there are partners, side by side in that order: the
    oldest unit's side has seat 0, and two single players are partners for this game."""
    if all(len(unit) == 1 for unit in units):
        return tuple(ticket for (ticket,) in units)
    singles = tuple(unit[0] for unit in units if len(unit) == 1)
    # A single player's side is that of both, and stands where the first of them came.
    sides = dict.fromkeys(unit if len(unit) == 2 else singles for unit in units)
    seats = {
        seat: ticket
        for side, places in zip(sides, PARTNERS, strict=True)
        for ticket, seat in zip(side, places, strict=True)
    }
    return tuple(seats[seat] for seat in sorted(seats))
