"""What any set of waiting tickets is paired to."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from uuid import UUID

from hypothesis import given, settings
from hypothesis import strategies as st
from kafeneio_matchmaking.domain import Terms, Ticket, TicketStatus
from kafeneio_matchmaking.pairing import pair

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
