"""The tables of what may happen: every transition, none beside them, and no limbo."""

from __future__ import annotations

import itertools
from uuid import UUID

import pytest
from kafeneio_matchmaking.domain import (
    LIVE,
    MATCH_MOVES,
    OVER,
    TICKET_MOVES,
    ForbiddenMoveError,
    Match,
    MatchMove,
    MatchStatus,
    NotOfferedError,
    Offer,
    Seat,
    Terms,
    TicketMove,
    TicketStatus,
    Wish,
    blame,
    move_match,
    move_ticket,
    retry_seconds,
    settle,
    source,
)
from kafeneio_matchmaking.domain import End as Ending

TICKETS = """
    queued pair    -> paired
    queued cancel  -> ended
    queued expire  -> ended
    paired match   -> matched
    paired return  -> queued
    paired refuse  -> ended
"""

MATCHES = """
    paired     hold            -> held
    paired     hold_refused    -> releasing
    held       create          -> created
    held       create_refused  -> cancelling
    held       create_taken    -> releasing
    created    tell            -> matched
    created    too_late        -> cancelling
    cancelling cancel          -> releasing
    cancelling cancel_played   -> matched
    releasing  release         -> undone
"""


def table(text: str) -> dict[tuple[str, str], str]:
    """The lines of a table."""
    rows = [line.split() for line in text.strip().splitlines()]
    return {(status, move): after for status, move, _, after in rows}


@pytest.mark.parametrize("status", TicketStatus)
@pytest.mark.parametrize("move", TicketMove)
def test_tickets(status: TicketStatus, move: TicketMove) -> None:
    after = table(TICKETS).get((status.value, move.value))
    if after is None:
        with pytest.raises(ForbiddenMoveError):
            move_ticket(status, move)
    else:
        assert move_ticket(status, move) is TicketStatus(after)
        assert source(move) is status


@pytest.mark.parametrize("status", MatchStatus)
@pytest.mark.parametrize("move", MatchMove)
def test_matches(status: MatchStatus, move: MatchMove) -> None:
    after = table(MATCHES).get((status.value, move.value))
    if after is None:
        with pytest.raises(ForbiddenMoveError):
            move_match(status, move)
    else:
        assert move_match(status, move) is MatchStatus(after)


def test_no_limbo() -> None:
    """From everywhere an end can be reached, and only the ends have no way out."""
    for moves, ends in (
        (TICKET_MOVES, set(TicketStatus) - set(LIVE)),
        (MATCH_MOVES, set(OVER)),
    ):
        steps = [(before, after) for (before, _), after in moves.items()]
        assert not {before for before, _ in steps} & ends
        reaching = set(ends)
        for _ in steps:
            reaching |= {before for before, after in steps if after in reaching}
        assert reaching == {status for step in steps for status in step}
    assert {status for status, _ in TICKET_MOVES} == set(LIVE)


def test_a_match_never_goes_in_circles() -> None:
    order = [*MatchStatus]
    for (before, _), after in MATCH_MOVES.items():
        forward = order.index(after) > order.index(before)
        assert forward or (before, after) == (MatchStatus.CANCELLING, MatchStatus.MATCHED)


OFFER = Offer("tavli", 3, 2, {"a": ("x", "y"), "b": ("p", "q")}, (1, 7, 5))


def test_wishes_are_settled() -> None:
    wish = Wish(0, {"b": "q"}, 0, "EUR", 100)
    terms = settle(wish, OFFER, 250)
    assert terms == Terms("tavli", 3, (("a", "x"), ("b", "q")), 5, "EUR", 100, 250, 2)
    assert settle(Wish(3, {"b": "q", "a": "x"}, 5, "EUR", 100), OFFER, 250) == terms
    free = settle(Wish(0, {}, 7, "EUR", 0), OFFER, 250)
    assert (free.currency, free.stake, free.fee_basis_points) == ("", 0, 0)


@pytest.mark.parametrize(
    ("wish", "name"),
    [
        (Wish(2, {}, 0, "", 0), "edition"),
        (Wish(0, {"c": "x"}, 0, "", 0), "c"),
        (Wish(0, {"a": "p"}, 0, "", 0), "a"),
        (Wish(0, {}, 8, "", 0), "target"),
    ],
)
def test_what_is_not_offered(wish: Wish, name: str) -> None:
    with pytest.raises(NotOfferedError) as refused:
        settle(wish, OFFER, 0)
    assert refused.value.name == name


def test_request_ids_belong_to_the_match_and_the_call() -> None:
    terms = settle(Wish(0, {}, 0, "", 0), OFFER, 0)
    seats = (Seat(UUID(int=1), "a", None), Seat(UUID(int=2), "b", None))
    made = [
        Match(UUID(int=number), UUID(int=9), terms, MatchStatus.PAIRED, None, tries, seats)
        for number, tries in itertools.product((7, 8), (0, 3))
    ]
    ids = [match.request_id(call) for match in made for call in ("HoldStakes", "CreateGame")]
    assert len(set(ids)) == 4
    assert made[0].request_id("HoldStakes") == made[1].request_id("HoldStakes")
    assert blame(made[0], Ending.SUSPENDED, "b") == {UUID(int=2): Ending.SUSPENDED}
    assert set(blame(made[0], Ending.TERMS_REFUSED)) == {UUID(int=1), UUID(int=2)}


def test_retries_slow_down_to_a_bound() -> None:
    waits = [retry_seconds(tries) for tries in range(2000)]
    assert waits == sorted(waits)
    assert (waits[0], waits[-1]) == (0.1, 5)
