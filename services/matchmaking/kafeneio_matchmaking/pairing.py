"""Whom the waiting tickets make a match of. Pure, as domain.py is.

What waits is a *unit*: one player, or two partners, who are never split. A table is filled with
units on equal terms. Of all tables that can be filled, the next one is that whose oldest unit came
first, then that whose second one did, and so on: so nobody waits for those who came after him as
long as there is a table that he fits.
"""

from __future__ import annotations

from collections import defaultdict, deque
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from datetime import datetime
from itertools import count, islice
from typing import TypeAlias
from uuid import UUID

from kafeneio_matchmaking.domain import COMPUTER, PARTNERS, Terms, Ticket

Unit: TypeAlias = tuple[Ticket, ...]
"""One ticket, or those of partners, the older one first."""

Age: TypeAlias = tuple[datetime, UUID]
"""The smaller, the older."""


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


@dataclass(slots=True)
class _Queue:
    """The units that wait on the same terms, the oldest first."""

    singles: deque[Unit] = field(default_factory=deque)
    parties: deque[Unit] = field(default_factory=deque)

    def add(self, unit: Unit) -> None:
        """One more, younger than all others."""
        (self.singles if len(unit) == 1 else self.parties).append(unit)

    def take(self, seats: int) -> list[Unit] | None:
        """The units of the next table, the oldest first; None where no table can be filled."""
        tables = []
        for parties in range(min(len(self.parties), seats // 2) + 1):
            singles = seats - 2 * parties
            if singles <= len(self.singles):
                units = [*islice(self.singles, singles), *islice(self.parties, parties)]
                tables.append(sorted(units, key=_age_of))
        if not tables:
            return None
        chosen = min(tables, key=lambda units: [_age_of(unit) for unit in units])
        for unit in chosen:
            (self.singles if len(unit) == 1 else self.parties).popleft()
        return chosen


def pair(tickets: Iterable[Ticket], now: datetime) -> tuple[Pairing, ...]:
    """The matches that the waiting tickets make, each ticket in one at the most; that whose oldest
    ticket is the oldest comes first.

    A ticket whose time is over is not paired, and nobody is paired with himself, whatever he has
    managed to send. Whoever plays the house waits for nobody.
    """
    queues: defaultdict[Terms, _Queue] = defaultdict(_Queue)
    made: list[Pairing] = []
    for unit in _units(tickets, now):
        terms, seat = unit[0].terms, unit[0].house_seat
        if seat is None:
            queues[terms].add(unit)
        else:
            others = (None,) * (terms.seats - 1 - seat)
            made.append(Pairing(terms, ((None,) * seat + unit + others)))
    for terms, queue in queues.items():
        while (units := queue.take(terms.seats)) is not None:
            made.append(Pairing(terms, _seated(units)))
    return tuple(sorted(made, key=lambda pairing: min(map(_age, pairing.people))))


def _age(ticket: Ticket) -> Age:
    return ticket.queued_at, ticket.ticket_id


def _age_of(unit: Unit) -> Age:
    """A party is as old as its later ticket."""
    return _age(unit[-1])


def _units(tickets: Iterable[Ticket], now: datetime) -> Iterator[Unit]:
    """The oldest first. Of a player his oldest ticket counts; of partners both must be here."""
    first: dict[str, Ticket] = {}
    for ticket in sorted(tickets, key=_age):
        if ticket.expires_at > now:
            first.setdefault(ticket.player_id, ticket)
    for ticket in first.values():
        if not ticket.partner:
            yield (ticket,)
        elif (other := first.get(ticket.partner)) is not None and _are_partners(other, ticket):
            yield other, ticket


def _are_partners(older: Ticket, younger: Ticket) -> bool:
    return (
        (older.player_id, older.terms) == (younger.partner, younger.terms)
        and older.partner == younger.player_id
        and older.terms.seats == len(PARTNERS) * 2
        and _age(older) < _age(younger)
    )


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
