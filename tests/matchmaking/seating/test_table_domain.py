"""What may happen to a table: every transition, none beside them, no limbo, and who sits where."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from functools import partial
from uuid import UUID

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from kafeneio_matchmaking.domain import End, ForbiddenMoveError, Terms
from kafeneio_matchmaking.seating import domain
from kafeneio_matchmaking.seating.domain import (
    CODE_LENGTH,
    CODE_LETTERS,
    FREE,
    KEEPING,
    TABLE_MOVES,
    NewTable,
    PutOut,
    Table,
    TableEnd,
    TableMove,
    TableStatus,
)

NOW = datetime(2026, 11, 30, tzinfo=UTC)
MATCH, GAME = UUID(int=7), UUID(int=9)

TABLE = """
    open     change -> open
    open     start  -> starting
    open     close  -> closed
    starting match  -> matched
    starting reopen -> open
    starting close  -> closed
    matched  reopen -> open
    matched  close  -> closed
    matched  play   -> playing
    playing  close  -> closed
"""


def new(count: int = 3, **changes: object) -> NewTable:
    """A table of so many seats that is asked for; a is its host."""
    made = NewTable(
        table_id=UUID(int=1),
        host="a",
        seat=0,
        terms=Terms("portes", 1, (), 1, "", 0, 0, count),
        private=False,
        least_rating=None,
        most_rating=None,
        computers_fill=False,
        time_to_live=timedelta(minutes=10),
    )
    return replace(made, **changes)  # type: ignore[arg-type] # as the tests spell them


def table(count: int = 3, *others: str, **changes: object) -> Table:
    """A table at which a sits, and these others."""
    made = domain.opened(new(count, **changes), "SECRET", NOW)
    for other in others:
        made = domain.joined(made, other, None)
    return made


def who(made: Table) -> str:
    """Who sits where, capitals for who is ready."""
    return "".join(
        chair.player_id.upper() if chair.ready else chair.player_id or "." for chair in made.chairs
    )


def all_ready(made: Table) -> Table:
    """Everybody has agreed."""
    for player in made.players:
        made = domain.readied(made, player, True, made.seating)
    return made


def in_status(status: TableStatus) -> Table:
    """A table of two that stands so."""
    made = table(2, "b")
    if status is TableStatus.OPEN:
        return made
    made = domain.started(all_ready(made), MATCH)
    if status is TableStatus.STARTING:
        return made
    made = domain.matched(made, GAME)
    if status is TableStatus.MATCHED:
        return made
    made = domain.begun(made)
    if status is TableStatus.PLAYING:
        return made
    return domain.closed(made, TableEnd.PLAYED)


def rows() -> dict[tuple[str, str], str]:
    """The table."""
    lines = [line.split() for line in TABLE.strip().splitlines()]
    return {(before, move): after for before, move, _, after in lines}


def moved(made: Table, move: TableMove) -> Table:
    """What makes this move of a table."""
    match move:
        case TableMove.CHANGE:
            return domain.joined(made, "b", 2)
        case TableMove.START:
            return domain.started(made, MATCH)
        case TableMove.MATCH:
            return domain.matched(made, GAME)
        case TableMove.REOPEN:
            return domain.reopened(made, {})
        case TableMove.PLAY:
            return domain.begun(made)
        case TableMove.CLOSE:
            return domain.closed(made, TableEnd.EXPIRED)


@pytest.mark.parametrize("status", TableStatus)
@pytest.mark.parametrize("move", TableMove)
def test_moves(status: TableStatus, move: TableMove) -> None:
    before = in_status(status)
    if move is TableMove.CHANGE:
        before = replace(before, chairs=(*before.chairs, FREE))
    after = rows().get((status.value, move.value))
    if after is None:
        with pytest.raises((ForbiddenMoveError, domain.NotOpenError)):
            moved(before, move)
    else:
        made = moved(before, move)
        assert made.status is TableStatus(after)
        assert (made.version, made.change) == (before.version + 1, None)


def test_no_limbo() -> None:
    steps = [(before, after) for (before, _), after in TABLE_MOVES.items()]
    assert {before for before, _ in steps} == set(TableStatus) - {TableStatus.CLOSED}
    reaching = {TableStatus.CLOSED}
    for _ in steps:
        reaching |= {before for before, after in steps if after in reaching}
    assert reaching == set(TableStatus)
    assert set(TableStatus) - set(KEEPING) == {TableStatus.PLAYING, TableStatus.CLOSED}


# --- sitting down ------------------------------------------------------------------------------


def test_who_opens_it_sits_there() -> None:
    made = table(3, seat=1)
    assert who(made) == ".a."
    assert (made.host, made.version, made.seating, made.code) == ("a", 1, 1, "")
    assert made.expires_at - made.created_at == timedelta(minutes=10)
    with pytest.raises(domain.NoSuchSeatError):
        table(3, seat=3)


def test_a_seat_of_choice_or_the_first_free_one() -> None:
    made = domain.joined(table(4, seat=1), "b", 3)
    assert who(made) == ".a.b"
    made = domain.joined(made, "c", None)
    assert who(made) == "ca.b"
    assert who(domain.joined(made, "c", 2)) == ".acb", "he moves"
    assert domain.joined(made, "c", None) is made
    assert domain.joined(made, "c", 0) is made
    for seat, error in ((1, domain.SeatTakenError), (4, domain.NoSuchSeatError)):
        for player in ("d", "c"):
            with pytest.raises(error):
                domain.joined(made, player, seat)
    with pytest.raises(domain.FullError):
        domain.joined(domain.joined(made, "d", None), "e", None)


def test_whoever_comes_goes_or_moves_asks_everybody_anew() -> None:
    ready = domain.readied(table(4, "b", "c"), "a", True, 3)
    assert who(ready) == "Abc."
    for after in (
        domain.joined(ready, "d", None),
        domain.joined(ready, "b", 3),
        domain.left(ready, "c"),
    ):
        assert who(after).islower()
        assert after.seating == ready.seating + 1
        with pytest.raises(domain.StaleSeatingError):
            domain.readied(after, "b", True, ready.seating)
    again = domain.readied(ready, "b", True, 3)
    assert (who(again), again.seating) == ("ABc.", 3)
    assert domain.readied(again, "b", True, 3) is again
    assert who(domain.readied(again, "b", False, 3)) == "Abc."


def test_the_next_host_is_who_has_been_there_longest() -> None:
    made = domain.joined(domain.joined(table(4, seat=3), "b", 2), "c", 0)
    made = domain.joined(made, "b", 1)  # he moves, and has come before c all the same
    assert made.host == "a"
    made = domain.left(made, "a")
    assert made.host == "b"
    made = domain.left(domain.joined(made, "a", None), "b")
    assert made.host == "c"
    assert domain.left(made, "a").host == "c"


def test_the_last_one_closes_it() -> None:
    made = domain.left(table(2), "a")
    assert (made.status, made.end) == (TableStatus.CLOSED, TableEnd.DESERTED)
    assert (made.host, made.players, made.version) == ("", (), 2)


def test_only_who_sits_there_leaves_or_is_ready() -> None:
    made = table(2)
    with pytest.raises(domain.NotSeatedError):
        domain.left(made, "b")
    with pytest.raises(domain.NotSeatedError):
        domain.readied(made, "b", True, 1)


@pytest.mark.parametrize("status", [each for each in TableStatus if each is not TableStatus.OPEN])
def test_only_an_open_table_changes(status: TableStatus) -> None:
    made = in_status(status)
    changes: list[Callable[[], Table]] = [
        partial(domain.joined, made, "c", None),
        partial(domain.joined, made, "a", 1),
        partial(domain.left, made, "a"),
        partial(domain.readied, made, "a", False, made.seating),
    ]
    for change in changes:
        with pytest.raises(domain.NotOpenError):
            change()
    assert domain.joined(made, "a", None) is made


# --- beginning ---------------------------------------------------------------------------------


def test_when_it_begins() -> None:
    made = table(3, "b")
    assert not domain.is_complete(all_ready(made)), "a seat is free"
    made = domain.joined(made, "c", None)
    assert not domain.is_complete(made)
    assert not domain.is_complete(domain.readied(made, "c", True, made.seating))
    assert domain.is_complete(all_ready(made))


def test_computers_take_the_free_seats() -> None:
    made = table(4, seat=2, computers_fill=True)
    assert not domain.is_complete(made)
    made = domain.started(all_ready(domain.joined(made, "b", 0)), MATCH)
    assert [chair.player_id for chair in made.chairs] == ["b", "computer-1", "a", "computer-2"]
    assert made.players == ("b", "a")
    back = domain.reopened(domain.matched(made, GAME), {"b": End.NO_SHOW})
    assert (who(back), back.host, back.put_out) == ("..a.", "a", (PutOut("b", End.NO_SHOW),))
    assert (back.match_id, back.game_id) == (None, None)


def test_who_is_to_blame_is_out_and_the_others_stay() -> None:
    made = domain.started(all_ready(table(3, "b", "c")), MATCH)
    back = domain.reopened(made, {"a": End.INSUFFICIENT_FUNDS})
    assert (who(back), back.host, back.status) == (".bc", "b", TableStatus.OPEN)
    assert back.seating == made.seating + 1
    assert back.put_out == (PutOut("a", End.INSUFFICIENT_FUNDS),)
    again = domain.reopened(
        domain.started(all_ready(domain.joined(back, "d", None)), MATCH), {"d": End.NO_SHOW}
    )
    assert [each.player_id for each in again.put_out] == ["a", "d"]
    nobody = domain.reopened(made, {})
    assert (who(nobody), nobody.host, nobody.put_out) == ("abc", "a", ())


@pytest.mark.parametrize(
    ("ends", "end"),
    [
        ({"a": End.TERMS_REFUSED, "b": End.TERMS_REFUSED}, TableEnd.TERMS_REFUSED),
        ({"a": End.NO_SHOW, "b": End.NO_SHOW}, TableEnd.DESERTED),
    ],
)
def test_nobody_is_left(ends: dict[str, End], end: TableEnd) -> None:
    made = domain.reopened(in_status(TableStatus.STARTING), ends)
    assert (made.status, made.end, made.host, made.players) == (TableStatus.CLOSED, end, "", ())
    assert len(made.put_out) == 2


# --- who may see and join it ---------------------------------------------------------------------


def test_a_private_table_is_shown_to_who_sits_there_or_was_put_out() -> None:
    made = table(3, "b", private=True)
    assert made.code == "SECRET"
    assert [player for player in "abc" if made.shows_to(player)] == ["a", "b"]
    back = domain.reopened(
        domain.started(all_ready(domain.joined(made, "c", None)), MATCH), {"b": End.NO_SHOW}
    )
    assert [player for player in "abcd" if back.shows_to(player)] == ["a", "b", "c"]
    assert not domain.left(made, "b").shows_to("b")
    assert table(3).shows_to("x")


@pytest.mark.parametrize(
    ("least", "most", "admitted"),
    [
        (None, None, [0, 1499, 1500, 1600, 1601, 5000]),
        (1500, None, [1500, 1600, 1601, 5000]),
        (None, 1600, [0, 1499, 1500, 1600]),
        (1500, 1600, [1500, 1600]),
    ],
)
def test_who_is_admitted(least: int | None, most: int | None, admitted: list[int]) -> None:
    made = table(2, least_rating=least, most_rating=most)
    ratings = (0, 1499, 1500, 1600, 1601, 5000)
    assert [rating for rating in ratings if made.admits(rating)] == admitted


def test_the_same_table_is_asked_for_again() -> None:
    made = table(3)
    assert made.is_of(new())
    later = domain.left(domain.joined(made, "b", None), "a")
    assert later.is_of(new(time_to_live=timedelta(minutes=1), seat=2))
    for other in (
        {"host": "b"},
        {"private": True},
        {"least_rating": 1},
        {"most_rating": 1},
        {"computers_fill": True},
        {"terms": replace(made.terms, target=3)},
    ):
        assert not made.is_of(new(**other))


def test_invitations_are_long_and_differ() -> None:
    codes = {domain.new_code() for _ in range(200)}
    assert len(codes) == 200
    assert {len(code) for code in codes} == {CODE_LENGTH}
    assert CODE_LENGTH >= 8
    assert set("".join(codes)) == set(CODE_LETTERS), "each of them comes up among 2000"
    assert not set(CODE_LETTERS) & set("0O1IB8S5Z2G6")


# --- whatever happens ----------------------------------------------------------------------------


@settings(max_examples=200, deadline=None)
@given(st.data())
def test_whatever_players_do(data: st.DataObject) -> None:
    made = table(data.draw(st.integers(2, 4)))
    for _ in range(data.draw(st.integers(0, 25))):
        player = data.draw(st.sampled_from("abcde"))
        seat = data.draw(st.none() | st.integers(0, 4))
        ready, seating = data.draw(st.booleans()), data.draw(st.integers(1, made.seating))
        before = made
        try:
            made = data.draw(
                st.sampled_from(
                    [
                        partial(domain.joined, made, player, seat),
                        partial(domain.left, made, player),
                        partial(domain.readied, made, player, ready, made.seating),
                        partial(domain.readied, made, player, ready, seating),
                    ]
                )
            )()
        except ValueError:
            assert made == before
        taken = [chair.player_id for chair in made.chairs if chair != FREE]
        assert len(set(taken)) == len(taken), "one seat a player"
        assert len(made.chairs) == made.terms.seats
        assert (made.host in taken) == (made.status is TableStatus.OPEN)
        others = [chair.player_id for chair in made.chairs] != [
            chair.player_id for chair in before.chairs
        ]
        assert made.seating == before.seating + others
        assert made.version == before.version + (made != before)
        if others:
            assert not any(chair.ready for chair in made.chairs)
        if made.status is TableStatus.CLOSED:
            assert not taken
            return
