"""The tables of what may happen: every transition, none beside them, and no limbo."""

from __future__ import annotations

import itertools
from dataclasses import replace
from uuid import UUID

import pytest
from kafeneio_matchmaking.domain import (
    COMPUTER,
    LIVE,
    TICKET_MOVES,
    ForbiddenMoveError,
    NotOfferedError,
    Offer,
    Terms,
    TicketMove,
    TicketStatus,
    Wish,
    settle,
    sources,
    target,
)
from kafeneio_matchmaking.domain import End as Ending
from kafeneio_matchmaking.matching import (
    AWAITED,
    DRIVEN,
    MATCH_MOVES,
    OVER,
    Finish,
    Match,
    MatchMove,
    MatchStatus,
    Seat,
    SourceKind,
    ask_seconds,
    blame,
    blame_absent,
    move_match,
    retry_seconds,
)

TICKETS = """
    waiting_for_partner join   -> queued
    waiting_for_partner cancel -> ended
    waiting_for_partner expire -> ended
    queued pair    -> paired
    queued cancel  -> ended
    queued expire  -> ended
    paired match   -> matched
    paired return  -> queued
    paired refuse  -> ended
    matched start  -> started
    matched return -> queued
    matched refuse -> ended
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
    held       played          -> matched
    created    played          -> matched
    cancelling played          -> matched
    releasing  release         -> undone
    matched    start           -> started
    matched    finish          -> finished
    matched    lost            -> releasing
    started    finish          -> finished
    finished   settle          -> settled
"""


def table(text: str) -> dict[tuple[str, str], str]:
    """The lines of a table."""
    rows = [line.split() for line in text.strip().splitlines()]
    return {(status, move): after for status, move, _, after in rows}


@pytest.mark.parametrize("move", TicketMove)
def test_tickets(move: TicketMove) -> None:
    rows = {before: after for (before, each), after in table(TICKETS).items() if each == move.value}
    assert {status.value for status in sources(move)} == set(rows)
    assert {target(move).value} == set(rows.values())


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
        assert order.index(after) > order.index(before)


def test_every_match_is_somebodys_concern() -> None:
    """What is not over is driven by us or awaited of others, never both."""
    assert sorted((*DRIVEN, *AWAITED, *OVER)) == sorted(MatchStatus)


OPTIONS = {"a": ("x", "y"), "b": ("p", "q")}
OFFER = Offer("tavli", 3, lambda options: 2 + (options["b"] == "q"), OPTIONS, (1, 7, 5))


def test_wishes_are_settled() -> None:
    wish = Wish(0, {"b": "q"}, 0, "EUR", 100)
    terms = settle(wish, OFFER, 250)
    assert terms == Terms("tavli", 3, (("a", "x"), ("b", "q")), 5, "EUR", 100, 250, 3)
    assert settle(Wish(3, {"b": "q", "a": "x"}, 5, "EUR", 100), OFFER, 250) == terms
    free = settle(Wish(0, {}, 7, "EUR", 0), OFFER, 250)
    assert (free.currency, free.stake, free.fee_basis_points, free.seats) == ("", 0, 0, 2)
    house = settle(Wish(0, {}, 7, "EUR", 0, house=True), OFFER, 250)
    assert house == free


@pytest.mark.parametrize(
    ("wish", "name"),
    [
        (Wish(2, {}, 0, "", 0), "edition"),
        (Wish(0, {"c": "x"}, 0, "", 0), "c"),
        (Wish(0, {"a": "p"}, 0, "", 0), "a"),
        (Wish(0, {}, 8, "", 0), "target"),
        (Wish(0, {"a": "x,y"}, 0, "", 0), "a"),
        (Wish(0, {}, 0, "", 0, partner=True), "partner_player_id"),
        (Wish(0, {}, 0, "EUR", 1, house=True), "stake"),
    ],
)
def test_what_is_not_offered(wish: Wish, name: str) -> None:
    with pytest.raises(NotOfferedError) as refused:
        settle(wish, OFFER, 0)
    assert refused.value.name == name


def test_what_some_variants_offer() -> None:
    four = replace(OFFER, seats=lambda options: 4 - 2 * (options["b"] == "q"))
    some = replace(four, only=(3, 5), many=frozenset({"a"}), partners=True)
    terms = settle(Wish(0, {"a": "y,x,y"}, 3, "", 0, partner=True), some, 0)
    assert (terms.options, terms.target) == ((("a", "y,x,y"), ("b", "p")), 3)
    for wish, name in (
        (Wish(0, {"a": "y,z"}, 3, "", 0), "a"),
        (Wish(0, {"a": "y,"}, 3, "", 0), "a"),
        (Wish(0, {"b": "p,q"}, 3, "", 0), "b"),
        (Wish(0, {}, 4, "", 0), "target"),
        (Wish(0, {"b": "q"}, 3, "", 0, partner=True), "partner_player_id"),
    ):
        with pytest.raises(NotOfferedError) as refused:
            settle(wish, some, 0)
        assert refused.value.name == name


def test_request_ids_belong_to_the_match_and_the_call() -> None:
    terms = settle(Wish(0, {}, 0, "", 0), OFFER, 0)
    assert terms.seats == 2
    made = [
        replace(match_of(Seat("a"), Seat("b")), match_id=UUID(int=number), tries=tries)
        for number, tries in itertools.product((7, 8), (0, 3))
    ]
    ids = [match.request_id(call) for match in made for call in ("HoldStakes", "CreateGame")]
    assert len(set(ids)) == 4
    assert made[0].request_id("HoldStakes") == made[1].request_id("HoldStakes")


def match_of(*seats: Seat) -> Match:
    """A match with these seats."""
    terms = settle(Wish(0, {}, 0, "", 0), OFFER, 0)
    return Match(
        match_id=UUID(int=7),
        game_id=UUID(int=9),
        source=SourceKind.QUEUE,
        source_id=None,
        terms=terms,
        status=MatchStatus.PAIRED,
        join_by=None,
        tries=0,
        seats=seats,
    )


def test_who_leaves_when_a_match_is_refused() -> None:
    a, b, c, d = (UUID(int=number) for number in range(4))
    poor, refused, left = Ending.SUSPENDED, Ending.TERMS_REFUSED, Ending.PARTNER_LEFT
    four = match_of(
        Seat("a", a, partner="c"), Seat("b", b), Seat("c", c, partner="a"), Seat("d", d)
    )
    assert blame(four, poor, ["b"]) == {"b": poor}
    assert blame(four, poor, ["a"]) == {"a": poor, "c": left}
    assert blame(four, poor, ["a", "c", "d"]) == {"a": poor, "c": poor, "d": poor}
    assert blame(four, refused) == dict.fromkeys("abcd", refused)
    house = match_of(Seat(f"{COMPUTER}1"), Seat("a", a), Seat(f"{COMPUTER}2"))
    assert blame(house, refused) == {"a": refused}
    assert house.computer_seats == (0, 2)
    assert house.tickets == ((a, None),)
    assert four.computer_seats == ()
    assert replace(four, seats=four.ending({"a": poor, "c": left})).tickets == (
        (a, poor),
        (b, None),
        (c, left),
        (d, None),
    )


def test_who_leaves_when_not_everybody_joins() -> None:
    four = match_of(Seat("a", partner="c"), Seat("b"), Seat("c", partner="a"), Seat("d"))
    absent = Finish(False, "NO_SHOW", (), (), (1, 2), ())
    assert blame_absent(four, absent) == {
        "a": Ending.PARTNER_LEFT,
        "b": Ending.NO_SHOW,
        "c": Ending.NO_SHOW,
    }
    assert blame_absent(four, replace(absent, void="OPERATOR")) == {}
    assert blame_absent(four, Finish(True, "", (0,), (1, 0), (), ())) == {}


def test_retries_slow_down_to_a_bound() -> None:
    waits = [retry_seconds(tries) for tries in range(2000)]
    assert waits == sorted(waits)
    assert (waits[0], waits[-1]) == (0.1, 5)


@pytest.mark.parametrize("status", AWAITED)
def test_asking_slows_down_to_a_bound(status: MatchStatus) -> None:
    waits = [ask_seconds(status, tries) for tries in range(2000)]
    assert waits == sorted(waits)
    assert (waits[0], waits[-1]) == (60 if status is MatchStatus.STARTED else 5, 600)
