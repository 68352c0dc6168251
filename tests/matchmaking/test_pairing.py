"""What any set of waiting tickets is paired to, with ratings and block lists."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from math import inf
from uuid import UUID

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from kafeneio_matchmaking.domain import Terms, Ticket, TicketStatus
from kafeneio_matchmaking.pairing import Known, pair, window

START = datetime(2026, 11, 30, tzinfo=UTC)
TERMS = Terms("portes", 1, (), 1, "", 0, 0, 2)

sized = st.builds(
    lambda seats, target: replace(TERMS, seats=seats, target=target),
    st.sampled_from((2, 3, 4)),
    st.integers(1, 2),
)


@st.composite
def queues(draw: st.DrawFn) -> list[Ticket]:
    """Tickets of a few players on a few terms; also what the database would not let in."""
    rows = draw(
        st.lists(
            st.tuples(sized, st.integers(0, 15), st.integers(0, 20), st.integers(1, 40)),
            max_size=30,
        )
    )
    return [
        Ticket(
            ticket_id=UUID(int=number),
            player_id=f"player {player}",
            terms=terms,
            status=TicketStatus.QUEUED,
            version=1,
            queued_at=START + timedelta(seconds=queued),
            expires_at=START + timedelta(seconds=queued + lives),
            game_id=None,
            end=None,
        )
        for number, (terms, player, queued, lives) in enumerate(rows)
    ]


NOW = START + timedelta(seconds=25)


@settings(max_examples=150, deadline=None)
@given(queues(), st.randoms(use_true_random=False))
def test_pairings(queue: list[Ticket], random: st.DataObject) -> None:
    made = pair(queue, NOW)
    chosen = [ticket for pairing in made for ticket in pairing.people]

    # Each ticket once, each player once: nobody meets himself, or sits at two tables.
    assert max(Counter(ticket.ticket_id for ticket in chosen).values(), default=1) == 1
    assert max(Counter(ticket.player_id for ticket in chosen).values(), default=1) == 1
    for pairing in made:
        assert len(pairing.people) == pairing.terms.seats
        assert {ticket.terms for ticket in pairing.people} == {pairing.terms}
        assert all(ticket.expires_at > NOW for ticket in pairing.people)
        ages = [(ticket.queued_at, ticket.ticket_id) for ticket in pairing.people]
        assert ages == sorted(ages)

    # The same whatever order the tickets come in.
    shuffled = list(queue)
    random.shuffle(shuffled)  # type: ignore[attr-defined] # it is a Random
    assert pair(shuffled, NOW) == made


@settings(max_examples=150, deadline=None)
@given(queues())
def test_the_oldest_come_first_and_nobody_waits_without_need(queue: list[Ticket]) -> None:
    single = [replace(ticket, player_id=str(ticket.ticket_id)) for ticket in queue]
    chosen = {ticket.ticket_id for pairing in pair(single, NOW) for ticket in pairing.people}
    for terms in {ticket.terms for ticket in single}:
        alive = sorted(
            (ticket for ticket in single if ticket.terms == terms and ticket.expires_at > NOW),
            key=lambda ticket: (ticket.queued_at, ticket.ticket_id),
        )
        whole = len(alive) - len(alive) % terms.seats
        assert [ticket.ticket_id in chosen for ticket in alive] == [
            place < whole for place in range(len(alive))
        ]


@given(st.integers(2, 8), st.integers(0, 40))
def test_any_size(seats: int, count: int) -> None:
    queue = [
        Ticket(
            UUID(int=number),
            str(number),
            replace(TERMS, seats=seats),
            TicketStatus.QUEUED,
            1,
            START + timedelta(seconds=number),
            START + timedelta(days=1),
            None,
            None,
        )
        for number in range(count)
    ]
    made = pair(queue, NOW)
    assert [[ticket.player_id for ticket in pairing.people] for pairing in made] == [
        [str(number) for number in range(start, start + seats)]
        for start in range(0, count - seats + 1, seats)
    ]


# --- ratings ---------------------------------------------------------------------------------


def waiting(*seconds: float, seats: int = 2) -> list[Ticket]:
    """Tickets 0, 1 and so on, of who has waited so long."""
    return [
        Ticket(
            UUID(int=number),
            str(number),
            replace(TERMS, seats=seats),
            TicketStatus.QUEUED,
            1,
            NOW - timedelta(seconds=waited),
            NOW + timedelta(minutes=1),
            None,
            None,
        )
        for number, waited in enumerate(seconds)
    ]


def rated(*values: int, blocks: dict[str, set[str]] | None = None) -> Known:
    """The ratings of these tickets."""
    ratings = {UUID(int=number): value for number, value in enumerate(values)}
    return Known(ratings, blocks or {})


def tables(tickets: list[Ticket], known: Known) -> list[str]:
    """Who meets whom."""
    return ["".join(pairing.players) for pairing in pair(tickets, NOW, known)]


@pytest.mark.parametrize(
    ("waited", "points"),
    [(-1, 100), (0, 100), (1, 110), (30, 400), (59.9, 699), (60, inf), (600, inf)],
)
def test_the_window(waited: float, points: float) -> None:
    assert window(timedelta(seconds=waited)) == points


@pytest.mark.parametrize(
    ("waited", "values", "expected"),
    [
        # Both must accept: the one who came later does so later.
        ((30, 30), (1500, 1900), ["01"]),
        ((30, 29.9), (1500, 1900), []),
        ((600, 0), (1500, 1601), []),
        ((600, 0), (1500, 1600), ["01"]),
        # After a minute nothing is too far.
        ((60, 60), (500, 2500), ["01"]),
        ((60, 59), (500, 2500), []),
        # The oldest takes the oldest of those whom he accepts, not the nearest.
        ((30, 20, 10), (1500, 1700, 1500), ["01"]),
        ((30, 9, 9), (1500, 1700, 1500), ["02"]),
        # Who finds nobody does not keep those who came after him.
        ((30, 20, 10), (2500, 1500, 1500), ["12"]),
    ],
)
def test_who_is_near_enough(
    waited: tuple[float, ...], values: tuple[int, ...], expected: list[str]
) -> None:
    assert tables(waiting(*waited), rated(*values)) == expected


def test_all_at_a_table_accept_each_other() -> None:
    # 0 accepts 1 and 2, which do not accept each other.
    apart = rated(1500, 1400, 1600, 1500)
    assert tables(waiting(0, 0, 0, seats=3), apart) == []
    assert tables(waiting(10, 10, 10, seats=3), apart) == ["012"]
    assert tables(waiting(0, 0, 0, 0, seats=3), apart) == ["013"]


def test_a_newcomer_counts_as_1500() -> None:
    assert tables(waiting(0, 0), rated(1600)) == ["01"]
    assert tables(waiting(0, 0), rated(1601)) == []


@pytest.mark.parametrize("seats", [2, 3, 4])
def test_who_has_blocked_another_one_never_meets_him(seats: int) -> None:
    tickets = waiting(*[600.0] * seats, seats=seats)
    blocked = rated(blocks={"0": {"1"}, "1": {"0"}})
    assert len(tables(tickets, rated())) == 1
    assert tables(tickets, blocked) == []
    more = waiting(*[600.0] * (seats + 1), seats=seats)
    assert tables(more, blocked) == ["0" + "".join(map(str, range(2, seats + 1)))]


@settings(max_examples=100, deadline=None)
@given(st.lists(st.integers(0, 3000), min_size=2, max_size=40), st.integers(2, 4))
def test_nobody_waits_for_his_rating_longer_than_a_minute(values: list[int], seats: int) -> None:
    """Of those who have waited a minute so few are left that they fill no table."""
    made = pair(waiting(*[60.0] * len(values), seats=seats), NOW, rated(*values))
    assert len(made) == len(values) // seats
