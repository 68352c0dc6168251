"""Money as a value, and the calls that move it: wallets, stakes, the queue."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import aclosing
from datetime import timedelta
from typing import ClassVar

import grpc
import pytest
from hypothesis import given
from hypothesis import strategies as st
from kafeneio.matchmaking.v1 import quick_match_pb2
from kafeneio.rules.v1 import actions_pb2
from kafeneio.settlement.v1 import settlement_pb2, wallet_pb2
from kafeneio_client import Client, House, Money, Refused, Unreachable, new_id

from tests.client.fake_calls import Call
from tests.client.fake_house import FakeHouse, everywhere, serving
from tests.client.fake_money import FakeLedger
from tests.client.fake_queue import FakeQueue

EUR_5 = Money("EUR", 500)
EUR_20 = Money("EUR", 2000)


@pytest.fixture
async def fake() -> FakeHouse:
    return FakeHouse()


@pytest.fixture
async def house(fake: FakeHouse) -> AsyncIterator[House]:
    async with serving(fake) as address, everywhere(address) as opened:
        yield opened


@pytest.fixture
async def client(house: House) -> Client:
    return house.client("eleni")


# --- the value -------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "currency", "units", "shown"),
    [
        ("5", "EUR", 500, "5.00 EUR"),
        ("5.00", "EUR", 500, "5.00 EUR"),
        (" 0.5 ", "EUR", 50, "0.50 EUR"),
        ("500", "JPY", 500, "500 JPY"),
        ("1.234", "KWD", 1234, "1.234 KWD"),
    ],
)
def test_amounts_as_people_write_them(text: str, currency: str, units: int, shown: str) -> None:
    money = Money.parse(text, currency)
    assert money == Money(currency, units)
    assert str(money) == shown


@pytest.mark.parametrize(
    ("text", "currency"),
    [("", "EUR"), ("-5", "EUR"), ("5.001", "EUR"), ("5.", "EUR"), ("5.0", "JPY"), ("٥", "EUR")],
)
def test_what_is_no_amount(text: str, currency: str) -> None:
    with pytest.raises(ValueError, match="is no amount"):
        Money.parse(text, currency)


def test_it_adds_up_in_one_currency() -> None:
    assert EUR_20 - EUR_5 + EUR_5 == EUR_20
    assert str(-EUR_5) == "-5.00 EUR"
    with pytest.raises(ValueError, match="do not add up"):
        EUR_5 + Money("USD", 1)


@given(st.integers(0, 10**14), st.sampled_from(["EUR", "JPY", "KWD"]))
def test_it_reads_what_it_writes(units: int, currency: str) -> None:
    money = Money(currency, units)
    assert Money.parse(str(money).partition(" ")[0], currency) == money
    assert Money.of(money.message()) == money


# --- wallets ---------------------------------------------------------------------------------


async def test_in_and_out_of_a_wallet(house: House, client: Client) -> None:
    service = house.client("service").wallet
    assert Money.of((await service.deposit("eleni", EUR_20)).balance) == EUR_20
    entry = await service.withdraw("eleni", EUR_5)
    assert (Money.of(entry.amount), Money.of(entry.balance)) == (-EUR_5, EUR_20 - EUR_5)
    await service.deposit("eleni", EUR_5)
    assert await client.wallet.balance() == EUR_20
    assert await client.wallet.balance("USD") == Money("USD", 0)
    assert await service.balance(player_id="eleni") == EUR_20
    assert [entry.version async for entry in client.wallet.entries()] == [3, 2, 1]
    assert [entry.version async for entry in service.entries("EUR", "nobody")] == []
    with pytest.raises(Refused) as caught:
        await service.withdraw("eleni", Money("EUR", 2001))
    assert caught.value.reason == "INSUFFICIENT_FUNDS"
    assert caught.value.request_id


async def test_a_wallet_is_suspended(house: House, fake: FakeHouse) -> None:
    operator = house.client("boss").wallet
    status = wallet_pb2.WALLET_STATUS_SUSPENDED
    assert (await operator.set_status("eleni", status, "under review")).status == status
    assert fake.ledger.suspended == {"eleni"}


async def test_a_watched_wallet_tells_each_entry_once(house: House, client: Client) -> None:
    service = house.client("service").wallet
    await service.deposit("eleni", EUR_20)
    async with aclosing(client.wallet.watch()) as entries:
        assert (await anext(entries)).version == 1
        following = asyncio.ensure_future(anext(entries))
        await service.deposit("eleni", EUR_5)
        assert (await following).version == 2
    async with aclosing(service.watch("EUR", 1, "eleni")) as later:
        assert (await anext(later)).version == 2


# --- stakes ----------------------------------------------------------------------------------


async def test_stakes_are_held_and_released(house: House, fake: FakeHouse) -> None:
    service, game_id = house.client("service"), new_id()
    for name in ("eleni", "nikos"):
        await service.wallet.deposit(name, EUR_20)
    held = await service.settlement.hold(game_id, ["eleni", "nikos"], EUR_5, fee_basis_points=250)
    assert held.state == settlement_pb2.SETTLEMENT_STATE_HELD
    request = fake.requests[-1]
    assert isinstance(request, settlement_pb2.HoldStakesRequest)
    assert request.fee_basis_points == 250
    assert (await service.settlement.get(game_id)).hold.stake == EUR_5.message()
    await service.settlement.release(game_id)
    released = await service.settlement.settled(game_id)
    assert released.state == settlement_pb2.SETTLEMENT_STATE_RELEASED
    assert await service.wallet.balance(player_id="nikos") == EUR_20


async def test_a_game_that_is_never_settled(house: House) -> None:
    service, game_id = house.client("service").settlement, new_id()
    await service.hold(game_id, ["eleni", "nikos"], EUR_5)
    with pytest.raises(Unreachable, match="the game is still HELD after 0 s"):
        await service.settled(game_id, 0.1)


async def test_a_payout_foretold(client: Client, fake: FakeHouse) -> None:
    preview = client.settlement.preview
    payout = await preview("S4", 2, EUR_5, winners=[1], forfeited_seats=[0])
    assert list(payout.nets) == [-500, 500]
    void = actions_pb2.VOID_REASON_NO_SHOW
    assert list((await preview("S4", 2, EUR_5, void=void)).nets) == [0, 0]
    first, second = fake.requests
    assert isinstance(first, settlement_pb2.PreviewPayoutRequest)
    assert isinstance(second, settlement_pb2.PreviewPayoutRequest)
    assert (first.WhichOneof("end"), list(first.forfeited_seats)) == ("winners", [0])
    assert second.void_reason == void


async def test_a_mismatch_is_resolved(client: Client) -> None:
    resolution = settlement_pb2.RESOLUTION_VOID
    settlement = await client.settlement.resolve(new_id(), resolution, "nobody is to blame")
    assert settlement.settled.reason == "nobody is to blame"


async def test_events_turn_their_pages(client: Client) -> None:
    after = [event.sequence async for event in client.settlement.events(new_id(), 1)]
    assert after == [2, 3, 4, 5, 6, 7]


# --- the queue -------------------------------------------------------------------------------


async def test_two_who_want_the_same_are_matched(house: House, fake: FakeHouse) -> None:
    service = house.client("service")
    ends = []
    for name in ("eleni", "nikos"):
        await service.wallet.deposit(name, EUR_20)
        queue = house.client(name).queue
        ticket = await queue.enqueue(
            "portes",
            stake=EUR_5,
            target=3,
            options={"rule_set": "zarclub"},
            time_to_live=timedelta(minutes=2),
        )
        assert ticket.status == quick_match_pb2.TICKET_STATUS_QUEUED
        ends.append(asyncio.ensure_future(last(queue.watch(ticket.ticket_id))))
    first, second = await asyncio.gather(*ends)
    assert first.status == quick_match_pb2.TICKET_STATUS_MATCHED
    assert first.game_id == second.game_id
    assert fake.ledger.balance("eleni") == 1500
    request = next(r for r in fake.requests if isinstance(r, quick_match_pb2.EnqueueRequest))
    assert request.time_to_live.seconds == 120
    assert (request.terms.target, request.terms.options["rule_set"]) == (3, "zarclub")
    assert len(request.ticket_id) == len(request.request_id) == 36


async def test_a_ticket_is_cancelled(client: Client) -> None:
    ticket = await client.queue.enqueue("portes", ticket_id=new_id())
    assert not ticket.terms.HasField("stake")
    await client.queue.cancel(ticket.ticket_id)
    ended = await last(client.queue.watch(ticket.ticket_id))
    assert ended.end == quick_match_pb2.TICKET_END_CANCELLED


async def test_a_ticket_that_had_ended_before_ends_at_once(client: Client) -> None:
    ticket = await client.queue.enqueue("portes")
    ended = await client.queue.cancel(ticket.ticket_id)
    assert [one async for one in client.queue.watch(ticket.ticket_id, ended.version)] == []


async def last(changes: AsyncIterator[quick_match_pb2.Ticket]) -> quick_match_pb2.Ticket:
    """The last change."""
    return [change async for change in changes][-1]


# --- streams go on where they ended --------------------------------------------------------------


class BreakingLedger(FakeLedger):
    """Shows one new entry a stream, and the one before again; then the connection breaks."""

    asked: ClassVar[list[int]] = []

    async def WatchWallet(
        self, request: wallet_pb2.WatchWalletRequest, context: Call
    ) -> AsyncIterator[wallet_pb2.WatchWalletResponse]:
        self.asked.append(request.after_version)
        yield wallet_pb2.WatchWalletResponse(heartbeat=wallet_pb2.Heartbeat())
        for version in (request.after_version, request.after_version + 1):
            yield wallet_pb2.WatchWalletResponse(entry=wallet_pb2.Entry(version=version))
        await context.abort(grpc.StatusCode.UNAVAILABLE, "connection reset")


async def test_a_watched_wallet_is_resumed() -> None:
    house = FakeHouse()
    house.ledger = ledger = BreakingLedger(house)
    async with (
        serving(house) as address,
        everywhere(address) as opened,
        aclosing(opened.client("eleni").wallet.watch("EUR", 4)) as entries,
    ):
        assert [(await anext(entries)).version for _ in range(3)] == [5, 6, 7]
    assert ledger.asked == [4, 5, 6]


class DrainingQueue(FakeQueue):
    """Every stream shows the next of a ticket's changes, and drains; the fourth is the last."""

    asked: ClassVar[list[int]] = []

    async def WatchTicket(
        self, request: quick_match_pb2.WatchTicketRequest, context: Call
    ) -> AsyncIterator[quick_match_pb2.WatchTicketResponse]:
        self.asked.append(request.after_version)
        ticket = quick_match_pb2.Ticket(version=request.after_version + 1)
        ticket.status = quick_match_pb2.TICKET_STATUS_QUEUED
        if ticket.version == 4:
            ticket.status = quick_match_pb2.TICKET_STATUS_MATCHED
        yield quick_match_pb2.WatchTicketResponse(ticket=ticket)
        yield quick_match_pb2.WatchTicketResponse(draining=quick_match_pb2.Draining())


async def test_a_watched_ticket_is_resumed() -> None:
    house = FakeHouse()
    house.queue = queue = DrainingQueue(house, house.settlements)
    async with serving(house) as address, everywhere(address) as opened:
        changes = opened.client("eleni").queue.watch(new_id())
        assert [ticket.version async for ticket in changes] == [1, 2, 3, 4]
    assert queue.asked == [0, 1, 2, 3]
