"""Every refusal has a type, and changes nothing."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any, Final

import pytest
from kafeneio.common.v1 import money_pb2
from kafeneio.settlement.v1 import settlement_pb2 as pb
from kafeneio.settlement.v1 import wallet_pb2

from tests.rules.refusal import Refused, refusal
from tests.settlement.house import OPERATOR, SEATS, SERVICE, STRANGER, House, Says, money, new_id

LARGEST: Final = 2**63 - 1
ID: Final = "01980000-0000-7000-8000-000000000000"
BAD_IDS: Final = ("", "eleni", ID[:-1], ID + "0", ID.replace("-", ""), "{" + ID + "}", "Ü" * 36)

Call = Callable[[House], Awaitable[object]]


async def unchanged(house: House, call: Awaitable[object]) -> Refused:
    """How a call is refused, and that nothing has changed."""
    before = await house.snapshot()
    refused = await refusal(call)
    assert await house.snapshot() == before
    assert refused.domain == "kafeneio"
    return refused


def requests() -> dict[str, tuple[str, Any]]:
    """A request of every call that would be answered, or refused for its state alone."""
    return {
        "Deposit": (
            SERVICE,
            wallet_pb2.DepositRequest(request_id=ID, player_id="eleni", amount=money(5)),
        ),
        "Withdraw": (
            SERVICE,
            wallet_pb2.WithdrawRequest(request_id=ID, player_id="eleni", amount=money(5)),
        ),
        "SetWalletStatus": (
            OPERATOR,
            wallet_pb2.SetWalletStatusRequest(
                request_id=ID,
                player_id="eleni",
                status=wallet_pb2.WALLET_STATUS_SUSPENDED,
                reason="collusion",
            ),
        ),
        "GetWallet": (SERVICE, wallet_pb2.GetWalletRequest(player_id="eleni")),
        "ListEntries": (
            SERVICE,
            wallet_pb2.ListEntriesRequest(player_id="eleni", currency_code="EUR"),
        ),
        "HoldStakes": (
            SERVICE,
            pb.HoldStakesRequest(
                request_id=ID, game_id=ID, player_ids=SEATS, stake=money(5), fee_basis_points=1
            ),
        ),
        "ReleaseStakes": (SERVICE, pb.ReleaseStakesRequest(request_id=ID, game_id=ID)),
        "GetSettlement": (SERVICE, pb.GetSettlementRequest(game_id=ID)),
        "PreviewPayout": (
            SERVICE,
            pb.PreviewPayoutRequest(
                payout_rule="S4", seats=2, stake=money(5), winners=pb.Winners(seats=[0])
            ),
        ),
        "ResolveMismatch": (
            OPERATOR,
            pb.ResolveMismatchRequest(
                request_id=ID, game_id=ID, resolution=pb.RESOLUTION_VOID, reason="why"
            ),
        ),
        "ListEvents": (SERVICE, pb.ListEventsRequest(game_id=ID)),
    }


async def send(house: House, name: str, request: Any, who: str = "") -> object:
    """Calls a method by its name."""
    stub = house.games if hasattr(house.games, name) else house.wallets
    return await house.ask(getattr(stub, name), request, who or requests()[name][0])


AMOUNTS: Final = (
    ("minor_units", money_pb2.Money(currency_code="EUR", minor_units=0)),
    ("minor_units", money(-1)),
    ("minor_units", money(-(2**63))),
    ("currency_code", money(5, "")),
    ("currency_code", money(5, "eur")),
    ("currency_code", money(5, "EURO")),
    ("currency_code", money(5, "ΕΥΡ")),
    ("currency_code", money(5, "EU\0")),
)


async def test_fields(house: House) -> None:
    await house.funded()
    tried = 0
    for name, (_, request) in requests().items():
        fields = request.DESCRIPTOR.fields_by_name
        broken: list[tuple[str, Any]] = []
        for field in ("request_id", "game_id"):
            if field in fields:
                broken += [(field, bad) for bad in (*BAD_IDS, ID.replace("8", "A"))]
        if "player_id" in fields:
            broken += [("player_id", "x" * 65), ("player_id", "a\0b")]
        if name in ("Deposit", "Withdraw", "SetWalletStatus"):
            broken += [("player_id", "")]
        if "reason" in fields:
            broken += [("reason", bad) for bad in ("", "x" * 501, "a\0b")]
        if "fee_basis_points" in fields:
            broken += [("fee_basis_points", 5001)]
        if "page_size" in fields:
            broken += [("page_size", 501)]
        if "page_token" in fields:
            broken += [("page_token", bad) for bad in ("x", "0", "-1", "²", str(2**63), "9" * 201)]
        if "seats" in fields:
            broken += [("seats", bad) for bad in (0, 1, 9)]
        if "payout_rule" in fields:
            broken += [("payout_rule", bad) for bad in ("", "x" * 41, "a\0b")]
        for field in ("status", "resolution"):
            if field in fields:
                broken += [(field, bad) for bad in (0, 9, -1)]
        for field, value in broken:
            wrong = type(request)()
            wrong.CopyFrom(request)
            setattr(wrong, field, value)
            refused = await unchanged(house, send(house, name, wrong))
            assert refused.what == ("INVALID_ARGUMENT", "MALFORMED"), (name, field, value)
            assert refused.fields == (field,), (name, field, value)
            tried += 1
    assert tried > 100


@pytest.mark.parametrize("name", ["Deposit", "Withdraw", "HoldStakes", "PreviewPayout"])
async def test_amounts(house: House, name: str) -> None:
    await house.funded()
    field = "amount" if name in ("Deposit", "Withdraw") else "stake"
    request = requests()[name][1]
    request.ClearField(field)
    refused = await unchanged(house, send(house, name, request))
    assert (refused.reason, refused.fields) == ("MALFORMED", (field,))
    for part, amount in AMOUNTS:
        if name == "PreviewPayout" and amount == money(0):
            continue
        getattr(request, field).CopyFrom(amount)
        refused = await unchanged(house, send(house, name, request))
        assert refused.reason == "MALFORMED"
        expected = (field,) if part == "minor_units" else (f"{field}.{part}",)
        assert refused.fields == expected, amount


@pytest.mark.parametrize(
    "players", [(), ("a",), ("a", "a"), ("a", ""), ("a", "x" * 65), tuple("abcdefghi"), ("a", "\0")]
)
async def test_seats_of_a_hold(house: House, players: tuple[str, ...]) -> None:
    refused = await unchanged(house, house.hold(players=players))
    assert refused.what == ("INVALID_ARGUMENT", "MALFORMED")
    assert refused.fields[0].startswith("player_ids")


async def test_roles(house: House) -> None:
    await house.funded()
    for name, (right, request) in requests().items():
        wrong = {
            SERVICE: ("eleni", OPERATOR),
            OPERATOR: ("eleni", SERVICE),
        }[right]
        if name in ("GetWallet", "ListEntries", "GetSettlement", "PreviewPayout"):
            continue
        for who in wrong:
            refused = await unchanged(house, send(house, name, request, who))
            assert refused.what == ("PERMISSION_DENIED", "ROLE_REQUIRED"), (name, who)


async def test_a_wallet_of_somebody_else(house: House) -> None:
    await house.funded()
    assert (await house.wallet("", "eleni")).player_id == "eleni"
    assert (await house.wallet("eleni", "eleni")).player_id == "eleni"
    assert (await house.wallet("eleni", OPERATOR)).player_id == "eleni"
    entries = wallet_pb2.ListEntriesRequest(player_id="eleni", currency_code="EUR")
    for call in (
        house.wallet("eleni", "nikos"),
        house.ask(house.wallets.ListEntries, entries, "nikos"),
        house.watch("eleni", who="nikos").read(),
    ):
        refused = await unchanged(house, call)
        assert refused.what == ("PERMISSION_DENIED", "NOT_YOUR_WALLET")
    for who in (SERVICE, OPERATOR):
        refused = await unchanged(house, house.wallet("", who))
        assert (refused.reason, refused.fields) == ("MALFORMED", ("player_id",))


async def test_a_wallet_that_there_is_not(house: House) -> None:
    entries = wallet_pb2.ListEntriesRequest(player_id=STRANGER, currency_code="EUR")
    for call in (
        house.wallet(STRANGER),
        house.wallet("", STRANGER),
        house.withdraw(STRANGER, 5),
        house.suspend(STRANGER),
        house.ask(house.wallets.ListEntries, entries),
        house.watch(STRANGER).read(),
    ):
        refused = await unchanged(house, call)
        assert refused.what == ("NOT_FOUND", "WALLET_UNKNOWN")


async def test_a_game_of_others(house: House) -> None:
    await house.funded()
    held = await house.hold()
    refused = await unchanged(house, house.settlement(held.game_id, STRANGER))
    assert refused.what == ("PERMISSION_DENIED", "NOT_YOUR_SEAT")
    for who in (*SEATS, SERVICE, OPERATOR):
        assert (await house.settlement(held.game_id, who)).game_id == held.game_id


async def test_a_game_that_there_is_not(house: House) -> None:
    for call in (
        house.release(new_id()),
        house.settlement(new_id()),
        house.settlement(new_id(), STRANGER),
        house.resolve(new_id()),
        house.events(new_id()),
    ):
        refused = await unchanged(house, call)
        assert refused.what == ("NOT_FOUND", "GAME_UNKNOWN")


async def test_too_little_money(house: House) -> None:
    await house.deposit("eleni", 499)
    await house.deposit("nikos", 500)
    await house.deposit("nikos", 500, "USD")
    refused = await unchanged(house, house.withdraw("eleni", 500))
    assert refused.what == ("FAILED_PRECONDITION", "INSUFFICIENT_FUNDS")
    for terms, seats in (
        ({"stake": 500}, "0"),
        ({"stake": 501}, "0,1"),
        ({"stake": 500, "players": ("nikos", "eleni")}, "1"),
        ({"stake": 500, "currency": "USD"}, "0"),
        ({"stake": 1, "currency": "GBP"}, "0,1"),
        ({"stake": LARGEST}, "0,1"),
    ):
        refused = await unchanged(house, house.hold(**terms))
        assert refused.what == ("FAILED_PRECONDITION", "INSUFFICIENT_FUNDS"), terms
        assert refused.metadata["seats"] == seats, terms


async def test_more_than_can_be_counted(house: House) -> None:
    await house.deposit("eleni", LARGEST)
    for who in ("eleni", "nikos"):  # the cashier's account can't go further below zero either
        refused = await unchanged(house, house.deposit(who, 1))
        assert refused.what == ("FAILED_PRECONDITION", "AMOUNT_OVERFLOW")
    await house.withdraw("eleni", LARGEST)
    preview = requests()["PreviewPayout"][1]
    preview.stake.minor_units = LARGEST // 2 + 1
    refused = await unchanged(house, send(house, "PreviewPayout", preview))
    assert refused.what == ("FAILED_PRECONDITION", "AMOUNT_OVERFLOW")


async def test_players_who_can_hold_nothing(house: House) -> None:
    refused = await unchanged(house, house.hold())
    assert refused.what == ("NOT_FOUND", "WALLET_UNKNOWN")
    assert refused.metadata["seats"] == "0,1"
    await house.deposit("eleni", 1000)
    assert (await unchanged(house, house.hold())).metadata["seats"] == "1"
    await house.deposit("nikos", 1000)
    await house.suspend("nikos")
    refused = await unchanged(house, house.hold())
    assert refused.what == ("FAILED_PRECONDITION", "WALLET_SUSPENDED")
    assert refused.metadata["seats"] == "1"


async def test_a_second_hold(house: House) -> None:
    await house.funded()
    held = await house.hold(stake=10, fee=5)
    for other in (
        {"stake": 11, "fee": 5},
        {"stake": 10, "fee": 6},
        {"stake": 10, "fee": 5, "currency": "USD"},
        {"stake": 10, "fee": 5, "players": ("nikos", "eleni")},
        {"stake": 10, "fee": 5, "players": ("eleni", "maria")},
    ):
        refused = await unchanged(house, house.hold(held.game_id, **other))
        assert refused.what == ("ALREADY_EXISTS", "HOLD_EXISTS"), other
    await house.release(held.game_id)
    refused = await unchanged(house, house.hold(held.game_id, stake=10, fee=5))
    assert refused.what == ("FAILED_PRECONDITION", "HOLD_RELEASED")


async def test_a_release_after_the_start(house: House) -> None:
    await house.funded()
    for held in (True, False):
        says = Says((await house.hold(stake=10)).game_id if held else new_id())
        for event, reason in (
            (says.started(), "GAME_STARTED"),
            (says.finished(), "GAME_OVER"),
            (says.closed(), "GAME_OVER"),
        ):
            await house.publish(event)
            refused = await unchanged(house, house.release(says.game_id))
            assert refused.what == ("FAILED_PRECONDITION", reason)


async def test_a_hold_after_the_start(house: House) -> None:
    await house.funded()
    says = Says(new_id())
    for event, reason in (
        (says.started(), "GAME_STARTED"),
        (says.closed(), "GAME_OVER"),
        (says.finished(), "GAME_OVER"),
    ):
        await house.publish(event)
        refused = await unchanged(house, house.hold(says.game_id))
        assert refused.what == ("FAILED_PRECONDITION", reason)


async def test_nothing_to_resolve(house: House) -> None:
    await house.funded()
    says = Says((await house.hold(stake=10)).game_id)
    for event in (None, says.started(), says.finished(), says.closed()):
        await house.publish(*([] if event is None else [event]))
        refused = await unchanged(house, house.resolve(says.game_id))
        assert refused.what == ("FAILED_PRECONDITION", "NO_MISMATCH")


async def test_previews(house: House) -> None:
    for change, what in (
        ({"payout_rule": "S99"}, ("NOT_FOUND", "PAYOUT_RULE_UNKNOWN")),
        ({"seats": 4}, ("FAILED_PRECONDITION", "PAYOUT_IMPOSSIBLE")),
        ({"payout_rule": "S1"}, ("FAILED_PRECONDITION", "PAYOUT_IMPOSSIBLE")),
        ({"payout_rule": "S1", "seats": 4}, ("FAILED_PRECONDITION", "PAYOUT_IMPOSSIBLE")),
        ({"payout_rule": "S3", "seats": 5}, ("FAILED_PRECONDITION", "PAYOUT_IMPOSSIBLE")),
        (
            {"payout_rule": "S3", "seats": 3, "forfeited_seats": [0]},
            ("FAILED_PRECONDITION", "PAYOUT_IMPOSSIBLE"),
        ),
        ({"winners": pb.Winners(seats=[0, 1])}, ("FAILED_PRECONDITION", "PAYOUT_IMPOSSIBLE")),
        ({"forfeited_seats": [2]}, ("FAILED_PRECONDITION", "PAYOUT_IMPOSSIBLE")),
        ({"winners": pb.Winners(seats=[])}, ("INVALID_ARGUMENT", "MALFORMED")),
        ({"winners": pb.Winners(seats=[8])}, ("INVALID_ARGUMENT", "MALFORMED")),
        ({"forfeited_seats": [1, 1]}, ("INVALID_ARGUMENT", "MALFORMED")),
        ({"void_reason": 0}, ("INVALID_ARGUMENT", "MALFORMED")),
        ({"void_reason": 99}, ("INVALID_ARGUMENT", "MALFORMED")),
    ):
        given: dict[str, Any] = {"payout_rule": "S4", "seats": 2, "stake": money(5)}
        if "void_reason" not in change:
            given["winners"] = pb.Winners(seats=[0])
        refused = await unchanged(
            house, send(house, "PreviewPayout", pb.PreviewPayoutRequest(**(given | change)))
        )
        assert refused.what == what, change
    no_end = pb.PreviewPayoutRequest(payout_rule="S4", seats=2, stake=money(5))
    refused = await unchanged(house, send(house, "PreviewPayout", no_end))
    assert refused.what == ("INVALID_ARGUMENT", "MALFORMED")
    fair = requests()["PreviewPayout"][1]
    fair.stake.minor_units, fair.fee_basis_points = 500, 100
    answer = await house.ask(house.games.PreviewPayout, fair, "eleni")
    assert ([*answer.payout.nets], answer.payout.fee) == ([490, -500], 10)
