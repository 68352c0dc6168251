"""Bad input to TableService: every refusal is typed, and has changed nothing."""

from __future__ import annotations

import json
from base64 import urlsafe_b64encode
from collections.abc import Callable, Coroutine
from typing import Any, Final

import pytest
from google.protobuf.message import Message
from kafeneio.common.v1 import money_pb2
from kafeneio.matchmaking.v1 import tables_pb2 as pb

from tests.harness import new_id
from tests.matchmaking.hall import Hall, terms
from tests.matchmaking.refusing import Refusing
from tests.matchmaking.seating.room import STARTING, Room
from tests.rules.refusal import Refused, refusal

METHODS: Final = {
    method.name: method for method in pb.DESCRIPTOR.services_by_name["TableService"].methods
}
PLAYERS_ONLY: Final = ("CreateTable", "JoinTable", "LeaveTable", "SetReady")
LISTS: Final = ("ListTables", "WatchTables")
Change = Callable[[Any], object]


def good(method: str, table_id: str = "") -> Message:
    """A request that would be carried out."""
    request_id, table_id = new_id(), table_id or new_id()
    match method:
        case "CreateTable":
            return pb.CreateTableRequest(request_id=request_id, table_id=new_id(), terms=terms())
        case "JoinTable":
            return pb.JoinTableRequest(request_id=request_id, table_id=table_id)
        case "LeaveTable":
            return pb.LeaveTableRequest(request_id=request_id, table_id=table_id)
        case "SetReady":
            return pb.SetReadyRequest(
                request_id=request_id, table_id=table_id, ready=True, seating=1
            )
        case "GetTable":
            return pb.GetTableRequest(table_id=table_id)
        case "ListTables":
            return pb.ListTablesRequest()
        case "WatchTable":
            return pb.WatchTableRequest(table_id=table_id)
    return pb.WatchTablesRequest()


def refused(
    room: Room, method: str, body: Message, who: str = "eleni"
) -> Coroutine[Any, Any, Refused]:
    """How a call is refused; it has changed nothing."""
    return Refusing(room.hall, METHODS[method])(body, who)


@pytest.mark.parametrize("method", METHODS)
async def test_the_way_in(hall: Hall, method: str) -> None:
    roles = ("player",) if method in PLAYERS_ONLY else ("operator", "player", "service")
    await Refusing(hall, METHODS[method]).at_the_door(good(method), roles)


@pytest.mark.parametrize("method", [method for method in METHODS if method not in LISTS])
async def test_ids(room: Room, method: str) -> None:
    for name in ("request_id", "table_id"):
        if name in METHODS[method].input_type.fields_by_name:
            for bad in ("", "eleni", "{0}"):
                request = good(method)
                setattr(request, name, bad)
                found = await refused(room, method, request)
                assert found.what == ("INVALID_ARGUMENT", "MALFORMED")
                assert found.fields == (name,)
    if method != "CreateTable":
        found = await refused(room, method, good(method))
        assert found.what == ("NOT_FOUND", "TABLE_UNKNOWN")


def field(name: str, value: object) -> Change:
    """Another value of a field."""
    return lambda request: setattr(request, name, value)


def stake(units: int) -> Change:
    """Another stake."""
    money = money_pb2.Money(currency_code="EUR", minor_units=units)
    return lambda request: request.terms.stake.CopyFrom(money)


def seconds(value: int) -> Change:
    """Another time to live."""
    return lambda request: setattr(request.time_to_live, "seconds", value)


def ratings(least: int, most: int) -> Change:
    """Limits."""

    def change(request: Any) -> None:
        request.least_rating, request.most_rating = least, most

    return change


def listed_after(moment: str) -> str:
    """A token for the page after a table of that moment."""
    return urlsafe_b64encode(json.dumps([moment, new_id()]).encode()).decode().rstrip("=")


MALFORMED: Final[tuple[tuple[str, Change], ...]] = (
    ("CreateTable", stake(-1)),
    ("CreateTable", stake(10**12 + 1)),
    ("CreateTable", seconds(59)),
    ("CreateTable", seconds(3601)),
    ("CreateTable", field("seat", 2)),
    ("CreateTable", field("seat", 16)),
    ("CreateTable", ratings(1600, 1500)),
    ("CreateTable", field("least_rating", 10_001)),
    ("CreateTable", lambda request: request.ClearField("terms")),
    ("CreateTable", lambda request: setattr(request.terms, "variant", "por\0tes")),
    ("JoinTable", lambda request: request.ClearField("table")),
    ("JoinTable", field("seat", 16)),
    ("JoinTable", field("invitation_code", "")),
    ("JoinTable", field("invitation_code", "A" * 21)),
    ("SetReady", field("seating", 0)),
    ("ListTables", field("page_size", 201)),
    ("ListTables", field("page_token", "x")),
    ("ListTables", field("page_token", "bnVsbA")),
    ("ListTables", field("page_token", listed_after("0001-01-01T00:00:00+23:59"))),
    ("ListTables", field("page_token", listed_after("9999-12-31T23:59:59-23:59"))),
    ("ListTables", field("page_token", listed_after("2026-01-01T00:00:00"))),
    ("ListTables", field("least_stake", -1)),
    ("ListTables", field("variant", "a\0")),
    ("ListTables", field("currency_code", "\0")),
    ("WatchTables", field("variant", "a\0")),
)


@pytest.mark.parametrize(("method", "change"), MALFORMED)
async def test_what_can_not_be_read(room: Room, method: str, change: Change) -> None:
    request = good(method)
    change(request)
    assert (await refused(room, method, request)).what == ("INVALID_ARGUMENT", "MALFORMED")


NOT_OFFERED: Final[tuple[tuple[Change, tuple[str, str], dict[str, str]], ...]] = (
    (
        lambda request: setattr(request.terms, "variant", "chess"),
        ("NOT_FOUND", "VARIANT_UNKNOWN"),
        {},
    ),
    (
        lambda request: setattr(request.terms, "edition", 99),
        ("NOT_FOUND", "VARIANT_UNKNOWN"),
        {},
    ),
    (
        lambda request: setattr(request.terms, "target", 99),
        ("FAILED_PRECONDITION", "OPTION_INVALID"),
        {"option": "target"},
    ),
    (
        lambda request: request.terms.options.update({"colour": "red"}),
        ("FAILED_PRECONDITION", "OPTION_INVALID"),
        {"option": "colour"},
    ),
    (
        field("computers_fill", True),
        ("FAILED_PRECONDITION", "OPTION_INVALID"),
        {"option": "stake"},
    ),
)


@pytest.mark.parametrize(("change", "what", "metadata"), NOT_OFFERED)
async def test_what_is_not_offered(
    room: Room, change: Change, what: tuple[str, str], metadata: dict[str, str]
) -> None:
    request = good("CreateTable")
    change(request)
    found = await refused(room, "CreateTable", request)
    assert (found.what, found.metadata) == (what, metadata)


async def test_computers_sit_down_nowhere(room: Room) -> None:
    table = await room.create("eleni")
    for method in ("CreateTable", "JoinTable"):
        found = await refused(room, method, good(method, table.table_id), "computer-1")
        assert found.what == ("UNAUTHENTICATED", "TOKEN_INVALID")


async def test_the_database_keeps_computers_from_stakes(room: Room) -> None:
    table = await room.create("eleni", asked=terms(5))
    with pytest.raises(Exception, match="computers_without_stake"):
        await room.hall.database.execute(
            "UPDATE tables SET computers_fill = true WHERE table_id = $1::text::uuid",
            table.table_id,
        )
    with pytest.raises(Exception, match="one_chair_each"):
        await room.hall.database.execute(
            "UPDATE chairs SET player_id = 'eleni' WHERE table_id = $1::text::uuid",
            table.table_id,
        )


# --- joining -------------------------------------------------------------------------------------


async def test_seats_that_can_not_be_had(room: Room) -> None:
    table = await room.full("eleni", "nikos")
    request = good("JoinTable", table.table_id)
    found = await refused(room, "JoinTable", request, "maria")
    assert found.what == ("FAILED_PRECONDITION", "TABLE_FULL")
    request.seat = 1  # type: ignore[attr-defined] # it has one
    found = await refused(room, "JoinTable", request, "maria")
    assert found.what == ("FAILED_PRECONDITION", "SEAT_TAKEN")
    assert found.metadata == {"seat": "1"}
    request.seat = 2  # type: ignore[attr-defined]
    found = await refused(room, "JoinTable", request, "maria")
    assert (found.what, found.fields) == (("INVALID_ARGUMENT", "MALFORMED"), ("seat",))


async def test_one_place_a_player(room: Room) -> None:
    table, ticket = await room.create("eleni"), await room.hall.enqueue("nikos", asked=terms(7))
    other = await room.create("maria")
    seated = {"table_id": table.table_id}
    for method in ("CreateTable", "JoinTable"):
        found = await refused(room, method, good(method, other.table_id))
        assert (found.what, found.metadata) == (("ALREADY_EXISTS", "SEATED"), seated)
        found = await refused(room, method, good(method, other.table_id), "nikos")
        assert found.what == ("ALREADY_EXISTS", "TICKET_LIVE")
        assert found.metadata == {"ticket_id": ticket.ticket_id}
    before = await room.hall.snapshot()
    for call in (room.hall.enqueue("eleni"), room.hall.play_house("eleni")):
        found = await refusal(call)
        assert (found.what, found.metadata) == (("ALREADY_EXISTS", "SEATED"), seated)
    assert await room.hall.snapshot() == before
    await room.leave(table, "eleni")
    await room.hall.cancel(ticket)
    assert await room.join(other, "eleni")
    assert await room.create("nikos")


async def test_who_is_too_weak_or_too_strong(room: Room) -> None:
    newcomer = 1500
    too_much: dict[str, Any] = {"least_rating": newcomer + 1}
    too_little: dict[str, Any] = {"most_rating": newcomer - 1}
    for limits in (too_much, too_little):
        table = await room.create("eleni", **limits)
        found = await refused(room, "JoinTable", good("JoinTable", table.table_id), "nikos")
        assert found.what == ("FAILED_PRECONDITION", "RATING_OUT_OF_RANGE")
        assert found.metadata == {"player_id": "nikos", "rating": str(newcomer)}
        await room.leave(table, "eleni")
    table = await room.create("eleni", least_rating=newcomer, most_rating=newcomer)
    assert await room.join(table, "nikos")


async def test_an_id_is_that_of_one_table(room: Room) -> None:
    table = await room.create("eleni")
    assert await room.create("eleni", table_id=table.table_id) == table
    request = good("CreateTable")
    assert isinstance(request, pb.CreateTableRequest)
    request.table_id = table.table_id
    found = await refused(room, "CreateTable", request, "nikos")
    assert found.what == ("ALREADY_EXISTS", "TABLE_EXISTS")
    request.private = True
    found = await refused(room, "CreateTable", request)
    assert found.what == ("ALREADY_EXISTS", "TABLE_EXISTS")


# --- leaving, being ready -------------------------------------------------------------------------


async def test_who_does_not_sit_there(room: Room) -> None:
    table = await room.create("eleni")
    for method in ("LeaveTable", "SetReady"):
        found = await refused(room, method, good(method, table.table_id), "nikos")
        assert found.what == ("PERMISSION_DENIED", "NOT_SEATED")


async def test_who_agrees_to_others_than_sit_there(room: Room) -> None:
    table = await room.create("eleni")
    await room.join(table, "nikos")
    found = await refused(room, "SetReady", good("SetReady", table.table_id))
    assert (found.what, found.metadata) == (("ABORTED", "STALE_SEATING"), {"seating": "2"})


async def test_a_table_that_is_not_open(room: Room) -> None:
    room.hall.cashier.away = 10**6
    table = await room.begun("eleni", "nikos")
    for call in (
        room.join(table, "maria"),
        room.join(table, "eleni", 1),
        room.leave(table, "eleni"),
        room.ready(table, "eleni", False),
    ):
        found = await refusal(call)
        assert found.what == ("FAILED_PRECONDITION", "TABLE_NOT_OPEN")
        assert found.metadata == {"status": "STARTING"}
    assert (await room.get(table)).status == STARTING
    room.hall.cashier.away = 0
    table = await room.until(table, "eleni", pb.TABLE_STATUS_MATCHED)
    found = await refusal(room.leave(table, "eleni"))
    assert found.metadata == {"status": "MATCHED", "game_id": table.game_id}
    # Who sits there already is shown the table, whatever it does.
    assert (await room.join(table, "eleni")).game_id == table.game_id


async def test_what_has_not_come_yet(room: Room) -> None:
    table = await room.create("eleni")
    request = pb.WatchTableRequest(table_id=table.table_id, after_version=2)
    found = await refused(room, "WatchTable", request)
    assert (found.what, found.metadata) == (("OUT_OF_RANGE", "NOT_YET"), {"version": "1"})
    async with room.watching() as following:
        change = (await following()).change
    found = await refused(room, "WatchTables", pb.WatchTablesRequest(after_change=change + 1))
    assert found.what == ("OUT_OF_RANGE", "NOT_YET")
    assert found.metadata == {"version": str(change)}


async def test_who_may_not_play_now(room: Room) -> None:
    """The gate is asked before every seat; what it refuses leaves everything as it was."""
    table = await room.full("eleni", "nikos")
    await room.hall.database.execute(
        "INSERT INTO suspensions (suspension_id, player_id, reason, suspended_by)"
        " SELECT gen_random_uuid(), player, 'test', 'operator'"
        " FROM unnest($1::text[]) AS player",
        ["nikos", "maria", "petros"],
    )
    other = await room.create("anna")
    for method, who, named in (
        ("CreateTable", "maria", other),
        ("JoinTable", "petros", other),
        ("SetReady", "nikos", table),
    ):
        request = good(method, named.table_id)
        if isinstance(request, pb.SetReadyRequest):
            request.seating = table.seating
        found = await refused(room, method, request, who)
        assert found.what == ("FAILED_PRECONDITION", "PLAYER_SUSPENDED")
    assert (await room.leave(table, "nikos")).host_player_id == "eleni"
