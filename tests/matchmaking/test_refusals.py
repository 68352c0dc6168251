"""Bad input: every refusal is typed, and has changed nothing."""

from __future__ import annotations

from collections.abc import Callable, Coroutine
from typing import Any, Final

import pytest
from google.protobuf.message import Message
from kafeneio.common.v1 import money_pb2
from kafeneio.matchmaking.v1 import quick_match_pb2 as pb

from tests.harness import new_id
from tests.matchmaking.hall import Hall, terms
from tests.matchmaking.refusing import Refusing
from tests.rules.refusal import Refused

Awaited = Coroutine[Any, Any, Refused]
METHODS: Final = {
    method.name: method for method in pb.DESCRIPTOR.services_by_name["QuickMatchService"].methods
}
every_method = pytest.mark.parametrize("method", METHODS)


def good(method: str, ticket_id: str = "") -> Message:
    """A request that would be carried out for eleni, given her ticket."""
    if method == "Enqueue":
        return pb.EnqueueRequest(request_id=new_id(), ticket_id=new_id(), terms=terms())
    if method == "PlayHouse":
        return pb.PlayHouseRequest(request_id=new_id(), ticket_id=new_id(), terms=terms(0))
    if method == "Cancel":
        return pb.CancelRequest(request_id=new_id(), ticket_id=ticket_id or new_id())
    return pb.WatchTicketRequest(ticket_id=ticket_id or new_id())


def refused(hall: Hall, method: str, body: bytes | Message, who: str = "eleni") -> Awaited:
    """How a call is refused; it has changed nothing."""
    return Refusing(hall, METHODS[method])(body, who)


@every_method
async def test_the_way_in(hall: Hall, method: str) -> None:
    await Refusing(hall, METHODS[method]).at_the_door(good(method))


Change = Callable[[Any], object]


def stake(units: int, currency: str = "EUR") -> Change:
    """Another stake."""
    money = money_pb2.Money(currency_code=currency, minor_units=units)
    return lambda request: request.terms.stake.CopyFrom(money)


def seconds(value: int, nanos: int = 0) -> Change:
    """Another time to live."""

    def change(request: Any) -> None:
        request.time_to_live.seconds = value
        request.time_to_live.nanos = nanos

    return change


def field(name: str, value: object) -> Change:
    """Another value of a field."""
    return lambda request: setattr(request, name, value)


def option(name: str, value: str) -> Change:
    """One more option."""
    return lambda request: request.terms.options.update({name: value})


MALFORMED: Final[list[tuple[str, str, Change]]] = [
    ("Enqueue", "request_id", field("request_id", "")),
    ("Enqueue", "request_id", field("request_id", "not an id")),
    ("Enqueue", "request_id", field("request_id", "01980000-0000-7000-8000-00000000ABCD")),
    ("Enqueue", "ticket_id", field("ticket_id", "")),
    ("Enqueue", "ticket_id", field("ticket_id", "0198")),
    ("Enqueue", "ticket_id", field("ticket_id", "01980000-0000-7000-8000-00000000ABCD")),
    ("Enqueue", "terms", lambda request: request.ClearField("terms")),
    ("Enqueue", "terms.variant", lambda request: request.terms.ClearField("variant")),
    ("Enqueue", "terms.variant", lambda request: setattr(request.terms, "variant", "x" * 41)),
    ("Enqueue", "terms", lambda request: setattr(request.terms, "variant", "por\0tes")),
    ("Enqueue", "terms.stake", stake(-1)),
    ("Enqueue", "terms.stake", stake(-(2**63))),
    ("Enqueue", "terms.stake", stake(10**12 + 1)),
    ("Enqueue", "terms.stake", stake(2**63 - 1)),
    ("Enqueue", "terms.stake.currency_code", stake(1, "")),
    ("Enqueue", "terms.stake.currency_code", stake(1, "eur")),
    ("Enqueue", "terms.stake.currency_code", stake(0, "EURO")),
    ("Enqueue", "terms.options[long]", option("long", "x" * 201)),
    ("Enqueue", "terms.options[]", option("", "x")),
    ("Enqueue", "terms", option("name", "a\0b")),
    ("Enqueue", "time_to_live", seconds(0)),
    ("Enqueue", "time_to_live", seconds(-5)),
    ("Enqueue", "time_to_live", seconds(3601)),
    ("Enqueue", "time_to_live", seconds(0, 999_999_999)),
    ("Enqueue", "partner_player_id", field("partner_player_id", "x" * 65)),
    ("Enqueue", "partner_player_id", field("partner_player_id", "eleni")),
    ("Enqueue", "partner_player_id", field("partner_player_id", "nik\0s")),
    ("Enqueue", "partner_player_id", field("partner_player_id", "nikos\n")),
    ("Enqueue", "partner_player_id", field("partner_player_id", "computer-1")),
    ("PlayHouse", "request_id", field("request_id", "")),
    ("PlayHouse", "ticket_id", field("ticket_id", "0198")),
    ("PlayHouse", "terms", lambda request: request.ClearField("terms")),
    ("PlayHouse", "terms.variant", lambda request: request.terms.ClearField("variant")),
    ("PlayHouse", "terms", lambda request: setattr(request.terms, "variant", "por\0tes")),
    ("PlayHouse", "terms.stake", stake(-1)),
    ("Cancel", "request_id", field("request_id", "nothing")),
    ("Cancel", "ticket_id", field("ticket_id", "")),
    ("WatchTicket", "ticket_id", field("ticket_id", "a ticket")),
]


async def test_fields_that_break_their_rules(hall: Hall) -> None:
    for method, name, change in MALFORMED:
        request = good(method)
        change(request)
        found = await refused(hall, method, request)
        assert found.what == ("INVALID_ARGUMENT", "MALFORMED"), (method, name, found)
        assert found.fields == (name,), (method, name, found)
    assert {method for method, _, _ in MALFORMED} == set(METHODS)


UNPLAYABLE: Final[list[tuple[Change, str, str]]] = [
    (lambda r: setattr(r.terms, "variant", "chess"), "VARIANT_UNKNOWN", ""),
    (lambda r: setattr(r.terms, "edition", 99), "VARIANT_UNKNOWN", ""),
    (option("no_such", "x"), "OPTION_INVALID", "no_such"),
    (option("disconnect_points", "nine"), "OPTION_INVALID", "disconnect_points"),
    (lambda r: setattr(r.terms, "target", 10_000), "OPTION_INVALID", "target"),
]


@pytest.mark.parametrize("method", ["Enqueue", "PlayHouse"])
async def test_terms_that_the_house_does_not_offer(hall: Hall, method: str) -> None:
    for change, reason, name in UNPLAYABLE:
        request = good(method)
        change(request)
        found = await refused(hall, method, request)
        assert found.reason == reason
        assert found.code == ("FAILED_PRECONDITION" if name else "NOT_FOUND")
        assert found.metadata.get("option", "") == name


async def test_a_computer_never_plays_for_money(hall: Hall) -> None:
    request = good("PlayHouse")
    stake(1)(request)
    found = await refused(hall, "PlayHouse", request)
    assert found.what == ("FAILED_PRECONDITION", "OPTION_INVALID")
    assert found.metadata == {"option": "stake"}
    assert hall.cashier.calls == []


async def test_where_everybody_plays_for_himself_there_are_no_partners(hall: Hall) -> None:
    request = good("Enqueue")
    field("partner_player_id", "nikos")(request)
    found = await refused(hall, "Enqueue", request)
    assert found.what == ("FAILED_PRECONDITION", "OPTION_INVALID")
    assert found.metadata == {"option": "partner_player_id"}


@pytest.mark.parametrize("method", ["Enqueue", "PlayHouse"])
@pytest.mark.parametrize("name", ["computer-1", "computer-", "computer-x"])
async def test_names_of_computers_are_nobodys(hall: Hall, method: str, name: str) -> None:
    found = await refused(hall, method, good(method), name)
    assert found.what == ("UNAUTHENTICATED", "TOKEN_INVALID")


async def test_tickets_that_are_not_there_or_not_ones_own(hall: Hall) -> None:
    mine = await hall.enqueue("eleni")
    for method in ("Cancel", "WatchTicket"):
        found = await refused(hall, method, good(method))
        assert found.what == ("NOT_FOUND", "TICKET_UNKNOWN")
        found = await refused(hall, method, good(method, mine.ticket_id), "nikos")
        assert found.what == ("PERMISSION_DENIED", "NOT_YOUR_TICKET")
    ahead = pb.WatchTicketRequest(ticket_id=mine.ticket_id, after_version=2)
    found = await refused(hall, "WatchTicket", ahead)
    assert found.what == ("OUT_OF_RANGE", "NOT_YET")
    assert found.metadata == {"version": "1"}
    await hall.cancel(mine)
    found = await refused(hall, "Cancel", good("Cancel", mine.ticket_id))
    assert found.what == ("FAILED_PRECONDITION", "TICKET_OVER")
    assert found.metadata == {"end": "CANCELLED"}


async def test_ids_that_are_taken(hall: Hall) -> None:
    mine = await hall.enqueue("eleni")
    other = pb.EnqueueRequest(request_id=new_id(), ticket_id=mine.ticket_id, terms=terms(7))
    found = await refused(hall, "Enqueue", other)
    assert found.what == ("ALREADY_EXISTS", "TICKET_EXISTS")
    other.terms.CopyFrom(terms())
    found = await refused(hall, "Enqueue", other, "nikos")
    assert found.what == ("ALREADY_EXISTS", "TICKET_EXISTS")
    house = pb.PlayHouseRequest(request_id=new_id(), ticket_id=mine.ticket_id, terms=terms(0))
    found = await refused(hall, "PlayHouse", house)
    assert found.what == ("ALREADY_EXISTS", "TICKET_EXISTS")
    for method in ("Enqueue", "PlayHouse"):
        found = await refused(hall, method, good(method))
        assert found.what == ("ALREADY_EXISTS", "TICKET_LIVE")
        assert found.metadata == {"ticket_id": mine.ticket_id}
    await hall.cancel(mine)
    free = await hall.enqueue("eleni", asked=terms(0))
    house.ticket_id = free.ticket_id
    found = await refused(hall, "PlayHouse", house)
    assert found.what == ("ALREADY_EXISTS", "TICKET_EXISTS"), "the same terms, not the same wish"
