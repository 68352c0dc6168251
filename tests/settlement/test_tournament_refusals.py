"""Every refusal of `PrizeService` has a type, and changes nothing."""

from __future__ import annotations

from typing import Any, Final

import pytest
from kafeneio.settlement.v1 import prizes_pb2 as pb
from kafeneio_settlement import pooling

from tests.settlement.house import OPERATOR, SERVICE, House, money, new_id
from tests.settlement.test_refusals import BAD_IDS, ID, LARGEST, unchanged
from tests.settlement.tournaments import (
    approve_pool,
    cancel,
    correction_request,
    enter,
    finish,
    leave,
    open_pool,
    pool_of,
    propose,
    standings,
    started,
    terms,
)

TWO: Final = (("anna",), ("babis",))


def requests() -> dict[str, tuple[tuple[str, ...], Any]]:
    """Who may send it, and a request that is read."""
    return {
        "OpenPrizePool": (
            (SERVICE,),
            pb.OpenPrizePoolRequest(request_id=ID, tournament_id=ID, terms=terms()),
        ),
        "HoldEntryFees": (
            (SERVICE,),
            pb.HoldEntryFeesRequest(
                request_id=ID, tournament_id=ID, entry_id=ID, player_ids=["anna"]
            ),
        ),
        "ReleaseEntryFees": (
            (SERVICE,),
            pb.ReleaseEntryFeesRequest(request_id=ID, tournament_id=ID, entry_id=ID),
        ),
        "SettleTournament": (
            (SERVICE,),
            pb.SettleTournamentRequest(
                request_id=ID, tournament_id=ID, standings=standings([[ID]])
            ),
        ),
        "VoidTournament": (
            (SERVICE, OPERATOR),
            pb.VoidTournamentRequest(request_id=ID, tournament_id=ID, reason="why"),
        ),
        "GetPrizePool": (
            (SERVICE, OPERATOR, "anna"),
            pb.GetPrizePoolRequest(tournament_id=ID),
        ),
        "CorrectTournament": ((OPERATOR,), correction_request(ID, [[ID]], request_id=ID)),
    }


def test_every_call_is_here() -> None:
    (service,) = pb.DESCRIPTOR.services_by_name.values()
    assert {method.name for method in service.methods} == set(requests())


async def send(house: House, name: str, request: Any, who: str = "") -> object:
    """Calls a method by its name."""
    return await house.ask(getattr(house.prizes, name), request, who or requests()[name][0][0])


async def test_roles(house: House) -> None:
    tried = 0
    for name, (right, request) in requests().items():
        for who in {SERVICE, OPERATOR, "anna"}.difference(right):
            refused = await unchanged(house, send(house, name, request, who))
            assert refused.what == ("PERMISSION_DENIED", "ROLE_REQUIRED"), (name, who)
            tried += 1
    assert tried == 4 * 2 + 1 + 2


async def test_fields(house: House) -> None:
    tried = 0
    for name, (_, request) in requests().items():
        fields = request.DESCRIPTOR.fields_by_name
        broken: list[tuple[str, Any]] = []
        for field in ("request_id", "tournament_id", "entry_id"):
            if field in fields:
                broken += [(field, bad) for bad in BAD_IDS]
        if "reason" in fields:
            broken += [("reason", bad) for bad in ("", "x" * 501, "a\0b")]
        for field, value in broken:
            wrong = type(request)()
            wrong.CopyFrom(request)
            setattr(wrong, field, value)
            refused = await unchanged(house, send(house, name, wrong))
            assert refused.what == ("INVALID_ARGUMENT", "MALFORMED"), (name, field, value)
            assert refused.fields == (field,), (name, field, value)
            tried += 1
    assert tried > 70


@pytest.mark.parametrize(
    ("field", "change"),
    [
        ("terms.entry_fee", {"entry_fee": -1}),
        ("terms.entry_fee.currency_code", {"currency": "eur"}),
        ("terms.fee_basis_points", {"fee": 5001}),
        ("terms.prize_shares", {"shares": ()}),
        ("terms.prize_shares", {"shares": (9999,)}),
        ("terms.prize_shares", {"shares": (5000, 5001)}),
        ("terms.prize_shares", {"shares": (4000, 6000)}),
        ("terms.prize_shares[1]", {"shares": (10_000, 0)}),
        ("terms.prize_shares[0]", {"shares": (10_001,)}),
        ("terms.prize_shares", {"shares": [1] * 257}),
        ("terms.players_per_entry", {"players": 0}),
        ("terms.players_per_entry", {"players": 3}),
    ],
)
async def test_terms(house: House, field: str, change: dict[str, Any]) -> None:
    refused = await unchanged(house, open_pool(house, **change))
    assert refused.what == ("INVALID_ARGUMENT", "MALFORMED")
    assert refused.fields == (field,)


async def test_no_terms_at_all(house: House) -> None:
    request = pb.OpenPrizePoolRequest(request_id=ID, tournament_id=ID)
    refused = await unchanged(house, send(house, "OpenPrizePool", request))
    assert (refused.reason, refused.fields) == ("MALFORMED", ("terms",))
    request.terms.CopyFrom(terms())
    request.terms.ClearField("entry_fee")
    refused = await unchanged(house, send(house, "OpenPrizePool", request))
    assert (refused.reason, refused.fields) == ("MALFORMED", ("terms.entry_fee",))


async def test_other_terms(house: House) -> None:
    name = (await open_pool(house, fee=5)).tournament_id
    for change in (
        {"fee": 6},
        {"fee": 5, "entry_fee": 99},
        {"fee": 5, "currency": "USD"},
        {"fee": 5, "players": 2},
        {"fee": 5, "shares": (10_000,)},
        {"fee": 5, "starts_at": (await pool_of(house, name)).opened_at.ToDatetime()},
    ):
        refused = await unchanged(house, open_pool(house, name, **change))
        assert refused.what == ("ALREADY_EXISTS", "POOL_EXISTS"), change


async def test_a_tournament_that_there_is_not(house: House) -> None:
    name, entry = new_id(), new_id()
    for call in (
        enter(house, name, ["anna"]),
        leave(house, name, entry),
        finish(house, name, [[entry]]),
        cancel(house, name),
        pool_of(house, name),
        propose(house, name),
    ):
        refused = await unchanged(house, call)
        assert refused.what == ("NOT_FOUND", "POOL_UNKNOWN")
    for other in (house.events(name), approve_pool(house, name)):
        refused = await unchanged(house, other)
        assert refused.what == ("NOT_FOUND", "GAME_UNKNOWN")


@pytest.mark.parametrize(
    "players", [(), ("anna", "anna"), ("",), ("x" * 65,), ("anna", "babis", "dora"), ("a\0",)]
)
async def test_players(house: House, players: tuple[str, ...]) -> None:
    name = (await open_pool(house)).tournament_id
    refused = await unchanged(house, enter(house, name, players))
    assert refused.what == ("INVALID_ARGUMENT", "MALFORMED")
    assert refused.fields[0].startswith("player_ids")


async def test_more_or_fewer_players_than_an_entry_has(house: House) -> None:
    for players, wrong in ((1, ("anna", "babis")), (2, ("anna",))):
        name = (await open_pool(house, players=players)).tournament_id
        refused = await unchanged(house, enter(house, name, wrong))
        assert (refused.reason, refused.fields) == ("MALFORMED", ("player_ids",))


async def test_players_who_can_hold_nothing(house: House) -> None:
    name = (await open_pool(house, entry_fee=500, players=2)).tournament_id
    pair = ("anna", "babis")
    refused = await unchanged(house, enter(house, name, pair))
    assert refused.what == ("NOT_FOUND", "WALLET_UNKNOWN")
    assert refused.metadata["seats"] == "0,1"
    await house.deposit("anna", 500)
    await house.deposit("babis", 499)
    refused = await unchanged(house, enter(house, name, pair))
    assert refused.what == ("FAILED_PRECONDITION", "INSUFFICIENT_FUNDS")
    assert refused.metadata["seats"] == "1"
    await house.deposit("babis", 1)
    await house.suspend("anna")
    refused = await unchanged(house, enter(house, name, pair))
    assert refused.what == ("FAILED_PRECONDITION", "WALLET_SUSPENDED")
    assert refused.metadata["seats"] == "0"
    await house.suspend("anna", lifted=True)
    assert (await enter(house, name, pair)).player_ids == [*pair]


async def test_an_entry_of_others(house: House) -> None:
    name, (a, _) = await started(house, TWO)
    refused = await unchanged(house, enter(house, name, ["babis"], a))
    assert refused.what == ("ALREADY_EXISTS", "ENTRY_EXISTS")


async def test_an_entry_that_was_released(house: House) -> None:
    name, (a, _) = await started(house, TWO)
    mark = new_id()
    await leave(house, name, a)
    await leave(house, name, mark)
    for entry in (a, mark):
        refused = await unchanged(house, enter(house, name, ["anna"], entry))
        assert refused.what == ("FAILED_PRECONDITION", "ENTRY_RELEASED")


async def test_too_late(house: House) -> None:
    for void in (False, True):
        name, (a, b) = await started(house, TWO)
        state = "VOID" if void else "SETTLED"
        await (cancel(house, name) if void else finish(house, name, [[a], [b]]))
        calls = [
            enter(house, name, ["anna"]),
            enter(house, name, ["anna"], a),
            leave(house, name, a),
            leave(house, name, new_id()),
            finish(house, name, [[b], [a]]),
            finish(house, name, [[a, b]]),
        ]
        calls.append(finish(house, name, [[a], [b]]) if void else cancel(house, name))
        for call in calls:
            refused = await unchanged(house, call)
            assert refused.what == ("FAILED_PRECONDITION", "POOL_SETTLED")
            assert refused.metadata["state"] == state


async def test_standings_that_are_not_those_of_the_entries(house: House) -> None:
    name, (a, b) = await started(house, TWO)
    gone = (await enter(house, name, ["anna"])).entry_id
    await leave(house, name, gone)
    stranger = new_id()
    for order, counts, first in (
        ([[a]], ("1", "0", "0"), b),
        ([[a], [b], [gone]], ("0", "1", "0"), gone),
        ([[a], [b], [stranger]], ("0", "1", "0"), stranger),
        ([[a], [b], [a]], ("0", "0", "1"), a),
        ([[stranger, stranger]], ("2", "1", "1"), min(a, b)),
    ):
        refused = await unchanged(house, finish(house, name, order))
        assert refused.what == ("FAILED_PRECONDITION", "STANDINGS_INCOMPLETE"), order
        told = refused.metadata
        assert (told["missing"], told["unknown"], told["repeated"]) == counts
        assert told["entry_id"] == first


async def test_places_that_do_not_follow(house: House) -> None:
    name, (a, b) = await started(house, TWO)
    for places in ((1, 1), (2, 3), (1, 3)):
        wrong = pb.Standings()
        for place, entry in zip(places, (a, b), strict=True):
            wrong.places.add(place=place, entry_ids=[entry])
        request = pb.SettleTournamentRequest(request_id=ID, tournament_id=name, standings=wrong)
        refused = await unchanged(house, send(house, "SettleTournament", request))
        assert refused.what == ("INVALID_ARGUMENT", "MALFORMED")
        assert refused.fields[0].startswith("standings.places[")
    for broken in (
        pb.Standings(),
        pb.Standings(places=[pb.Place(place=1)]),
        pb.Standings(places=[pb.Place(place=0, entry_ids=[a])]),
        pb.Standings(places=[pb.Place(place=1, entry_ids=["anna"])]),
    ):
        request = pb.SettleTournamentRequest(request_id=ID, tournament_id=name, standings=broken)
        refused = await unchanged(house, send(house, "SettleTournament", request))
        assert refused.what == ("INVALID_ARGUMENT", "MALFORMED"), broken


async def test_a_pool_that_is_full(house: House, monkeypatch: pytest.MonkeyPatch) -> None:
    name, (a, _) = await started(house, TWO)
    monkeypatch.setattr(pooling, "MOST_ENTRIES", 2)
    refused = await unchanged(house, enter(house, name, ["anna"]))
    assert refused.what == ("FAILED_PRECONDITION", "POOL_FULL")
    await leave(house, name, a)
    await enter(house, name, ["anna"])


async def test_more_than_can_be_counted(house: House) -> None:
    await house.deposit("anna", LARGEST)
    name = (await open_pool(house, entry_fee=LARGEST)).tournament_id
    await enter(house, name, ["anna"])
    refused = await unchanged(house, enter(house, name, ["babis"]))
    assert refused.what == ("NOT_FOUND", "WALLET_UNKNOWN")
    entry = (await pool_of(house, name)).entries[0].entry_id
    await finish(house, name, [[entry]])
    assert await house.balance("anna") == LARGEST


async def test_nothing_to_correct_yet(house: House) -> None:
    name, (a, b) = await started(house, TWO)
    for order in (None, [[a], [b]]):
        refused = await unchanged(house, propose(house, name, order))
        assert refused.what == ("FAILED_PRECONDITION", "POOL_OPEN")
    refused = await unchanged(house, approve_pool(house, name))
    assert refused.what == ("OUT_OF_RANGE", "NOT_YET")


async def test_corrections_that_make_no_sense(house: House) -> None:
    name, (a, b) = await started(house, TWO)
    await finish(house, name, [[a], [b]])
    for order, right, reason in (
        ([[a]], None, "STANDINGS_INCOMPLETE"),
        ([[a], [b]], terms(currency="USD"), "MALFORMED"),
        ([[a], [b]], terms(players=2), "MALFORMED"),
        ([[a], [b]], terms(shares=(5000,)), "MALFORMED"),
        ([[a], [b]], terms(entry_fee=LARGEST), "AMOUNT_OVERFLOW"),
        (None, terms(entry_fee=LARGEST), "AMOUNT_OVERFLOW"),
    ):
        refused = await unchanged(house, propose(house, name, order, right))
        assert refused.reason == reason, (order, right)
    request = pb.CorrectTournamentRequest(request_id=ID, tournament_id=name, reason="why")
    for change in (None, False):
        if change is not None:
            request.void = change
        refused = await unchanged(house, send(house, "CorrectTournament", request))
        assert refused.what == ("INVALID_ARGUMENT", "MALFORMED")


async def test_who_owes_enters_nothing(house: House) -> None:
    name, (a, b) = await started(house, TWO, funds=100)
    await finish(house, name, [[a], [b]])
    await house.withdraw("anna", 140)
    await propose(house, name, [[b], [a]])
    await approve_pool(house, name)
    house.debtors.add("player:anna")
    await house.deposit("anna", 500, "USD")
    for currency in ("EUR", "USD"):
        other = (await open_pool(house, currency=currency)).tournament_id
        refused = await unchanged(house, enter(house, other, ["anna"]))
        assert refused.what == ("FAILED_PRECONDITION", "INSUFFICIENT_FUNDS")
        assert refused.metadata["seats"] == "0"
    free = (await open_pool(house, entry_fee=0)).tournament_id
    assert (await enter(house, free, ["anna"])).player_ids == ["anna"]
    await house.deposit("anna", 80)
    other = (await open_pool(house, entry_fee=0, currency="USD")).tournament_id
    assert money(0, "USD") == (await pool_of(house, other)).terms.entry_fee
