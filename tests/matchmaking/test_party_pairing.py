"""Partners and single players in one queue, against a slow and literal version of the pairing."""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from random import Random
from uuid import UUID

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from kafeneio_matchmaking.domain import Terms, Ticket, TicketStatus
from kafeneio_matchmaking.pairing import Known, Pairing, pair

START = datetime(2026, 11, 30, tzinfo=UTC)
NOW = START + timedelta(seconds=50)
TERMS = Terms("pilotta", 1, (), 151, "", 0, 0, 4)
TWO = replace(TERMS, variant="portes", seats=2)
ACROSS = {0: 2, 1: 3, 2: 0, 3: 1}


def ticket(number: int, player: str, **changes: object) -> Ticket:
    """A ticket of a second of its own."""
    made = Ticket(
        ticket_id=UUID(int=number),
        player_id=player,
        terms=TERMS,
        status=TicketStatus.QUEUED,
        version=1,
        queued_at=START + timedelta(seconds=number),
        expires_at=START + timedelta(days=1),
        game_id=None,
        end=None,
    )
    return replace(made, **changes)  # type: ignore[arg-type] # each test says what it changes


def queue(text: str) -> list[Ticket]:
    """ "a bc d" are tickets that came in that order: a and d alone, b and c as partners."""
    letters = text.replace(" ", "")
    parties = [unit for unit in text.split() if len(unit) == 2]
    partner = {unit[me]: unit[1 - me] for unit in parties for me in (0, 1)}
    return [
        ticket(number, letter, partner=partner.get(letter, ""))
        for number, letter in enumerate(letters)
    ]


@pytest.mark.parametrize(
    ("waiting", "tables"),
    [
        ("a b c d", ["abcd"]),
        ("a b c d e f g h i", ["abcd", "efgh"]),
        ("ab cd", ["acbd"]),
        ("ab c d", ["acbd"]),
        ("a bc d", ["abdc"]),
        ("a b cd", ["acbd"]),
        ("ab c", []),
        ("a bc", []),
        ("ab", []),
        # Three single players don't wait for a fourth while a party would do for one of them.
        ("a b c de", ["adbe"]),
        ("a b c de f", ["abcf"]),
        ("ab c de", ["adbe"]),
        ("a bc de", ["bdce"]),
        ("a bc de f", ["abfc"]),
        ("a b cd ef g h", ["acbd", "egfh"]),
        ("ab cd ef gh i j", ["acbd", "egfh"]),
        ("ab c d e f gh", ["acbd", "egfh"]),
    ],
)
def test_cases(waiting: str, tables: list[str]) -> None:
    """Each table is named seat by seat."""
    assert ["".join(pairing.players) for pairing in pair(queue(waiting), NOW)] == tables


@st.composite
def queues(draw: st.DrawFn) -> list[Ticket]:
    """Whatever might stand in the store: single players and partners on two terms, a partner whose
    other half is not there or wants something else, tickets that are over, players with two."""
    made: list[Ticket] = []
    kinds = draw(st.lists(st.sampled_from("aaabbbchsx"), max_size=14))
    for place, kind in enumerate(kinds):
        terms = replace(TERMS, target=draw(st.sampled_from((151, 151, 251))))
        seconds = st.integers(0, 45)
        names = [f"{place} one", f"{place} two"]
        if kind in "ac":  # alone; or one of two who has named the other, and he has not
            partner = names[1] if kind == "c" else ""
            people = [(names[0], partner, terms)]
        elif kind == "b":
            people = [(names[0], names[1], terms), (names[1], names[0], terms)]
        elif kind == "h":  # of two minds
            other = replace(terms, target=11)
            people = [(names[0], names[1], terms), (names[1], names[0], other)]
        elif kind == "s":  # his own partner
            people = [(names[0], names[0], terms)]
        else:  # a second ticket of somebody, which the store would not let in
            people = [("0 one", draw(st.sampled_from(("", "0 two", names[1]))), terms)]
        for player, partner, wanted in people:
            made.append(
                ticket(
                    len(made),
                    player,
                    partner=partner,
                    terms=wanted,
                    queued_at=START + timedelta(seconds=draw(seconds)),
                    expires_at=NOW + timedelta(seconds=draw(st.sampled_from((5, 5, 5, 0, -1)))),
                )
            )
    return made


@st.composite
def crowds(draw: st.DrawFn) -> tuple[list[Ticket], Known]:
    """The same with ratings of some of them, and players who have blocked each other."""
    tickets = draw(queues())
    names = sorted({each.player_id for each in tickets}) or ["nobody"]
    values = st.none() | st.integers(900, 2300)
    known = {each.ticket_id: draw(values) for each in tickets}
    blocks: dict[str, set[str]] = {}
    pairs = st.lists(st.tuples(st.sampled_from(names), st.sampled_from(names)), max_size=6)
    for one, other in draw(pairs):
        blocks.setdefault(one, set()).add(other)
        blocks.setdefault(other, set()).add(one)
    return tickets, Known({key: value for key, value in known.items() if value}, blocks)


def age(each: Ticket) -> tuple[datetime, UUID]:
    """Who is older is smaller."""
    return each.queued_at, each.ticket_id


def units_of(tickets: Sequence[Ticket]) -> list[list[Ticket]]:
    """Who may be seated, alone or with his partner; the oldest first."""
    alive = sorted((each for each in tickets if each.expires_at > NOW), key=age)
    mine = {each.player_id: each for each in reversed(alive)}
    units = []
    for one in mine.values():
        if not one.partner:
            units.append([one])
        other = mine.get(one.partner)
        named = other is not None and other.partner == one.player_id
        if other is not None and named and other.terms == one.terms and age(one) < age(other):
            units.append([one, other])
    return sorted(units, key=lambda unit: age(unit[-1]))


def accept(one: list[Ticket], other: list[Ticket], known: Known) -> bool:
    """Whether two units would sit at one table, each by its own window: 100 points, 10 more a
    second."""
    names = [each.player_id for each in other]
    if any(name in known.blocks.get(each.player_id, ()) for each in one for name in names):
        return False
    ratings = [
        sum(known.ratings.get(each.ticket_id, 1500) for each in unit) / len(unit)
        for unit in (one, other)
    ]
    return all(
        abs(ratings[0] - ratings[1]) <= 100 + 10 * (NOW - unit[-1].queued_at).total_seconds()
        for unit in (one, other)
    )


def tables_of(units: list[list[Ticket]], known: Known) -> list[set[UUID]]:
    """Of all tables that can be filled the one whose oldest unit is the oldest, then whose second
    one is, and so on; then the next one, of those that are left."""
    made: list[set[UUID]] = []
    while True:
        tables = [
            table
            for size in range(1, 5)
            for table in itertools.combinations(range(len(units)), size)
            if sum(len(units[place]) for place in table) == 4
            and all(
                accept(units[one], units[other], known)
                for one, other in itertools.combinations(table, 2)
            )
        ]
        if not tables:
            return made
        chosen = min(tables)
        made.append({each.ticket_id for place in chosen for each in units[place]})
        units = [unit for place, unit in enumerate(units) if place not in chosen]


def seated(pairing: Pairing) -> set[UUID]:
    """The tickets of a match."""
    return {each.ticket_id for each in pairing.people}


@settings(max_examples=300, deadline=None)
@given(crowds(), st.integers())
def test_any_queue(crowd: tuple[list[Ticket], Known], seed: int) -> None:
    tickets, known = crowd
    made = pair(tickets, NOW, known)
    chosen = [each for pairing in made for each in pairing.people]
    assert max(Counter(each.ticket_id for each in chosen).values(), default=1) == 1
    assert max(Counter(each.player_id for each in chosen).values(), default=1) == 1
    for pairing in made:
        assert len(pairing.people) == pairing.terms.seats == 4
        assert {each.terms for each in pairing.people} == {pairing.terms}
        assert all(each.expires_at > NOW for each in pairing.people)
        for seat, each in enumerate(pairing.people):
            if each.partner:
                assert pairing.players[ACROSS[seat]] == each.partner, "a party is never split"
    assert [min(map(age, pairing.people)) for pairing in made] == sorted(
        min(map(age, pairing.people)) for pairing in made
    )

    # The same as the slow version, whatever order the tickets come in.
    by_terms: dict[Terms, list[list[Ticket]]] = {}
    for unit in units_of(tickets):
        by_terms.setdefault(unit[0].terms, []).append(unit)
    expected = [table for units in by_terms.values() for table in tables_of(units, known)]
    assert sorted(map(sorted, map(seated, made))) == sorted(map(sorted, expected))
    shuffled = list(tickets)
    Random(seed).shuffle(shuffled)
    assert pair(shuffled, NOW, known) == made


@settings(max_examples=200, deadline=None)
@given(st.lists(st.integers(1, 2), max_size=60))
def test_nobody_starves(arrivals: list[int]) -> None:
    """People and parties come one by one, and tables are made at once. A party waits for one more
    party or two players at the most; a player for three more, or a player and a party."""
    waiting: list[Ticket] = []
    came: dict[str, int] = {}
    for number, size in enumerate(arrivals):
        names = [f"{number} one", f"{number} two"][:size]
        for place, name in enumerate(names):
            partner = names[1 - place] if size == 2 else ""
            waiting.append(ticket(2 * number + place, name, partner=partner))
            came[name] = number
        gone = {name for pairing in pair(waiting, NOW) for name in pairing.players}
        waiting = [each for each in waiting if each.player_id not in gone]
        singles = [each for each in waiting if not each.partner]
        parties = [each for each in waiting if each.partner]
        assert (len(singles), len(parties)) in {(0, 0), (1, 0), (2, 0), (3, 0), (0, 2), (1, 2)}
        # Who is left came last of his kind.
        for kind in (singles, parties):
            left = {came[each.player_id] for each in kind}
            same = [at for at in range(number + 1) if arrivals[at] == (2 if kind is parties else 1)]
            assert left <= set(same[-3:] if kind is singles else same[-1:])


@given(st.integers(0, 3), st.integers(0, 2), st.integers(0, 30))
def test_who_plays_the_house_waits_for_nobody(seat: int, humans: int, second: int) -> None:
    alone = ticket(second, "eleni", house_seat=seat)
    others = [ticket(100 + number, f"{number}") for number in range(humans)]
    (made,) = pair([*others, alone], NOW)
    assert made.people == (alone,)
    assert made.tickets == tuple(alone if number == seat else None for number in range(4))
    numbers = iter("123")
    assert made.players == tuple(
        "eleni" if number == seat else f"computer-{next(numbers)}" for number in range(4)
    )


def test_who_plays_the_house_meets_nobody_who_does() -> None:
    tickets = [ticket(number, str(number), terms=TWO, house_seat=number % 2) for number in range(4)]
    made = pair([*tickets, ticket(9, "9", terms=TWO)], NOW)
    assert [pairing.players for pairing in made] == [
        ("0", "computer-1"),
        ("computer-1", "1"),
        ("2", "computer-1"),
        ("computer-1", "3"),
    ]


def test_no_party_sits_at_a_table_without_partners() -> None:
    """The store would not let them in."""
    for seats in (2, 3):
        terms = replace(TERMS, seats=seats)
        tickets = [replace(each, terms=terms) for each in queue("ab c d")]
        assert [pairing.players for pairing in pair(tickets, NOW)] == ([("c", "d")] * (seats == 2))
