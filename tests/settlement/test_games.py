"""Stakes from the wallet to the escrow, and from there to whoever the end of the game says."""

from __future__ import annotations

import itertools
from typing import Any, Final

import pytest
from kafeneio.settlement.v1 import settlement_pb2 as pb
from kafeneio_settlement import payouts

from tests.settlement.house import SEATS, House, Says, new_id

LEFT: Final = ((1, "LEFT"),)


async def test_from_the_deposit_to_the_payout(house: House) -> None:
    await house.funded()
    held = await house.hold(stake=300, fee=500)
    assert held.state == pb.SETTLEMENT_STATE_HELD
    assert held.hold.player_ids == [*SEATS]
    assert [await house.balance(who) for who in SEATS] == [700, 700]
    says = Says(held.game_id)
    await house.publish(says.started(), says.turn())
    assert (await house.settlement(held.game_id)).state == pb.SETTLEMENT_STATE_STARTED
    await house.publish(says.finished(winner=1))
    assert (await house.settlement(held.game_id)).state == pb.SETTLEMENT_STATE_PENDING
    assert [await house.balance(who) for who in SEATS] == [700, 700]
    await house.publish(says.closed())
    settled = await house.settlement(held.game_id, SEATS[0])
    assert settled.state == pb.SETTLEMENT_STATE_SETTLED
    assert settled.settled.settlement_version == 1
    assert settled.settled.payout == pb.Payout(
        payout_rule="S4", rule_version=1, shares=[0, 570], nets=[-300, 270], fee=30
    )
    assert [
        (each.debit_account, each.credit_account, each.amount.minor_units)
        for each in settled.settled.transfers
    ] == [
        (f"escrow:{held.game_id}", "player:nikos", 570),
        (f"escrow:{held.game_id}", "house:fees", 30),
    ]
    assert [await house.balance(who) for who in SEATS] == [700, 1270]
    assert await house.events(held.game_id) == ["stakes_held", "game_settled"]
    entries = [(each.version, each.amount.minor_units) for each in await house.entries("nikos")]
    assert entries == [(3, 570), (2, -300), (1, 1000)]


@pytest.mark.parametrize("rule", ["S2", "S4"])
@pytest.mark.parametrize("fee", [0, 250])
async def test_every_end_is_paid_as_the_rule_says(house: House, rule: str, fee: int) -> None:
    await house.funded(amount=100_000)
    before = [await house.balance(who) for who in SEATS]
    ends: list[dict[str, Any]] = [
        *({"winner": winner} for winner in (0, 1)),
        *({"void": void} for void in ("ALL_FORFEITED", "NO_SHOW", "HOUSE", "OPERATOR")),
    ]
    outs: list[tuple[tuple[int, str], ...]] = [
        (),
        ((0, "LEFT"),),
        ((1, "CONNECTION_LOST"),),
        ((1, "TIMEOUTS_EXCEEDED"), (0, "LEFT")),
    ]
    fees = 0
    for end, out in itertools.product(ends, outs):
        says = Says((await house.hold(stake=777, fee=fee)).game_id)
        await house.publish(says.started(rule=rule))
        await house.publish(says.finished(out=out, rule=rule, **end), says.closed(out))
        settled = await house.settlement(says.game_id)
        expected = payouts.pay(
            rule,
            payouts.Stakes(777, 2),
            payouts.Result((end["winner"],) if "winner" in end else (), end.get("void", "")),
            frozenset(seat for seat, _ in out),
            fee,
        )
        assert tuple(settled.settled.payout.nets) == expected.nets
        before = [a + net for a, net in zip(before, expected.nets, strict=True)]
        fees += expected.fee
        assert [await house.balance(who) for who in SEATS] == before
    taken = await house.database.fetchval(
        "SELECT balance FROM accounts WHERE account = 'house:fees'"
    )
    assert (taken or 0) == fees
    assert sum(before) + fees == 200_000


@pytest.mark.parametrize("void", ["NO_SHOW", "OPERATOR"])
async def test_a_game_that_never_started_gives_everything_back(house: House, void: str) -> None:
    await house.funded()
    held = await house.hold(stake=1000, fee=1000)
    says = Says(held.game_id)
    await house.publish(says.finished(void=void), says.closed())
    settled = await house.settlement(held.game_id)
    assert settled.settled.payout.void
    assert settled.settled.payout.nets == [0, 0]
    assert [await house.balance(who) for who in SEATS] == [1000, 1000]
    assert await house.events(held.game_id) == ["stakes_held", "game_settled"]


async def test_a_game_without_a_stake_is_settled_without_transfers(house: House) -> None:
    says = Says(new_id())
    await house.publish(says.started(), says.finished(), says.closed())
    settled = await house.settlement(says.game_id, SEATS[1])
    assert settled.state == pb.SETTLEMENT_STATE_SETTLED
    assert not settled.HasField("hold")
    assert not settled.settled.transfers
    assert not settled.settled.transaction_id
    assert await house.events(says.game_id) == ["game_settled"]
    assert await house.database.fetchval("SELECT count(*) FROM transfers") == 0


async def test_released_stakes_are_back(house: House) -> None:
    await house.funded()
    held = await house.hold(stake=400)
    released = await house.release(held.game_id)
    assert released.state == pb.SETTLEMENT_STATE_RELEASED
    assert [await house.balance(who) for who in SEATS] == [1000, 1000]
    before = (await house.snapshot())["transfers"]
    assert await house.release(held.game_id) == released
    assert (await house.snapshot())["transfers"] == before


async def test_the_same_hold_again_is_the_same_hold(house: House) -> None:
    await house.funded()
    held = await house.hold(stake=400)
    assert await house.hold(held.game_id, stake=400) == held
    assert [await house.balance(who) for who in SEATS] == [600, 600]
    says = Says(held.game_id)
    await house.publish(says.started())
    again = await house.hold(held.game_id, stake=400)
    assert again.state == pb.SETTLEMENT_STATE_STARTED
    assert await house.events(held.game_id) == ["stakes_held"]


async def test_a_suspended_player_is_paid(house: House) -> None:
    await house.funded()
    says = Says((await house.hold(stake=400)).game_id)
    await house.publish(says.started())
    await house.suspend("eleni")
    await house.publish(says.finished(winner=0), says.closed())
    assert await house.balance("eleni") == 1400
    assert (await house.withdraw("eleni", 1400)).balance.minor_units == 0
    await house.suspend("eleni", lifted=True)
    await house.deposit("eleni", 5)
    assert (await house.hold(stake=5)).state == pb.SETTLEMENT_STATE_HELD


async def test_currencies_never_mix(house: House) -> None:
    for who in SEATS:
        await house.deposit(who, 1000, "EUR")
        await house.deposit(who, 50, "USD")
    says = Says((await house.hold(stake=50, currency="USD")).game_id)
    await house.publish(says.started(), says.finished(winner=1), says.closed())
    wallet = await house.wallet("nikos")
    assert [(a.balance.currency_code, a.balance.minor_units) for a in wallet.accounts] == [
        ("EUR", 1000),
        ("USD", 100),
    ]
    assert [each.amount.currency_code for each in await house.entries("nikos", "USD")] == [
        "USD"
    ] * 3
    assert await house.entries("nikos", "GBP") == []
