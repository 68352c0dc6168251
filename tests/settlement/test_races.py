"""Calls and events that come at once: no deadlock, no lost update, each cent in one place."""

from __future__ import annotations

import asyncio
from random import Random
from typing import Any

from tests.rules.refusal import Refused, outcome_of
from tests.settlement.house import SEATS, House, Says, new_id

PLAYERS = ("a", "b", "c", "d", "e")


async def test_holds_and_payouts_of_the_same_few_players(pair: tuple[House, House]) -> None:
    random, games = Random(3), 40
    await pair[0].funded(*PLAYERS, amount=10_000)

    async def play(number: int) -> None:
        house, other = pair[number % 2], pair[1 - number % 2]
        players = random.sample(PLAYERS, 2)
        says = Says((await house.hold(players=players, stake=7, fee=1000)).game_id)
        if number % 5 == 0:
            await other.release(says.game_id)
            return
        rules = [says.started(players), says.finished(winner=number % 2)]
        await asyncio.gather(house.publish(*rules), other.publish(says.closed()))
        await asyncio.gather(other.publish(*rules), house.publish(says.closed()))
        await house.deposit(players[0], 3)
        await other.withdraw(players[1], 3)

    await asyncio.gather(*(play(number) for number in range(games)))
    paid = await pair[0].database.fetchval("SELECT count(*) FROM settlements")
    assert paid == games - games // 5
    left = sum([await pair[0].balance(who) for who in PLAYERS])
    assert left == 50_000 - paid
    fees = "SELECT balance FROM accounts WHERE account = 'house:fees'"
    assert await pair[0].database.fetchval(fees) == paid
    dead = "SELECT deadlocks FROM pg_stat_database WHERE datname = current_database()"
    assert await pair[0].database.fetchval(dead) == 0


async def test_more_holds_than_money(pair: tuple[House, House]) -> None:
    await pair[0].funded(amount=100)
    answers = await asyncio.gather(*(outcome_of(pair[n % 2].hold(stake=30)) for n in range(12)))
    refused = [each for each in answers if isinstance(each, Refused)]
    assert len(refused) == 9
    assert {each.reason for each in refused} == {"INSUFFICIENT_FUNDS"}
    assert [await pair[1].balance(who) for who in SEATS] == [10, 10]


async def test_holds_of_one_game_on_different_terms(pair: tuple[House, House]) -> None:
    await pair[0].funded()
    for _ in range(5):
        game_id = new_id()
        answers = await asyncio.gather(
            *(outcome_of(pair[n % 2].hold(game_id, stake=1 + n % 2)) for n in range(6))
        )
        won = {each.hold.stake.minor_units for each in answers if not isinstance(each, Refused)}
        lost = [each.reason for each in answers if isinstance(each, Refused)]
        assert len(won) == 1
        assert lost == ["HOLD_EXISTS"] * 3


async def test_a_release_and_a_start(pair: tuple[House, House]) -> None:
    await pair[0].funded(amount=10_000)
    ends = set()
    for number in range(20):
        says = Says((await pair[0].hold(stake=10)).game_id)
        calls: list[Any] = [pair[1].publish(says.started()), pair[0].release(says.game_id)]
        answers = await asyncio.gather(
            *(outcome_of(each) for each in (calls[::-1] if number % 2 else calls))
        )
        refused = [each.reason for each in answers if isinstance(each, Refused)]
        assert refused in ([], ["GAME_STARTED"])
        ends.add(bool(refused))
        await pair[0].publish(says.finished(), says.closed())
        escrow = await pair[0].database.fetchval(
            "SELECT balance FROM accounts WHERE account = $1", f"escrow:{says.game_id}"
        )
        assert escrow == 0
    assert ends


async def test_a_hold_and_a_suspension(pair: tuple[House, House]) -> None:
    await pair[0].funded()
    for _ in range(5):
        held, _ = await asyncio.gather(outcome_of(pair[0].hold(stake=10)), pair[1].suspend("nikos"))
        assert not isinstance(held, Refused) or held.reason == "WALLET_SUSPENDED"
        after = await outcome_of(pair[0].hold(stake=10))
        assert isinstance(after, Refused)
        await pair[1].suspend("nikos", lifted=True)
