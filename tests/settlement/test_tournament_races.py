"""Entries, releases and settlements of one tournament that come at once, to two replicas."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from typing import Any

from kafeneio.settlement.v1 import prizes_pb2 as pb

from tests.rules.refusal import Refused, outcome_of
from tests.settlement.house import House, Says, new_id
from tests.settlement.tournaments import (
    approve_pool,
    cancel,
    enter,
    escrow,
    finish,
    leave,
    open_pool,
    pool_of,
    propose,
    started,
)

PLAYERS = tuple(f"p{number}" for number in range(12))
DEAD = "SELECT deadlocks FROM pg_stat_database WHERE datname = current_database()"


async def at_once(*calls: Coroutine[Any, Any, Any]) -> tuple[list[Any], list[str]]:
    """What was answered, and the reasons for which the others were refused."""
    answers = await asyncio.gather(*(outcome_of(call) for call in calls))
    refused = [each.reason for each in answers if isinstance(each, Refused)]
    return [each for each in answers if not isinstance(each, Refused)], refused


async def test_many_enter_at_once(pair: tuple[House, House]) -> None:
    await pair[0].funded(*PLAYERS, amount=100)
    name = (await open_pool(pair[0], entry_fee=60)).tournament_id
    done, refused = await at_once(*(enter(pair[n % 2], name, [PLAYERS[n // 2]]) for n in range(24)))
    assert (len(done), refused) == (12, ["INSUFFICIENT_FUNDS"] * 12)
    assert await escrow(pair[0], name) == 720
    assert await pair[0].database.fetchval(DEAD) == 0


async def test_entries_and_the_end(pair: tuple[House, House]) -> None:
    """Whoever is let in is paid or gets his fee back; who comes too late has paid nothing."""
    ends = set()
    for number in range(8):
        name, (a, b) = await started(pair[0], (("anna",), ("babis",)))
        await pair[0].funded(*PLAYERS[:4], amount=100)
        before = sum([await pair[0].balance(who) for who in PLAYERS[:4]])
        end = cancel(pair[1], name) if number % 2 else finish(pair[1], name, [[a], [b]])
        calls = [enter(pair[n % 2], name, [PLAYERS[n]]) for n in range(4)]
        calls.insert(number % 5, end)  # type: ignore[arg-type]
        done, refused = await at_once(*calls)
        pool = await pool_of(pair[0], name)
        after = sum([await pair[0].balance(who) for who in PLAYERS[:4]])
        if pool.state == pb.POOL_STATE_OPEN:  # somebody was in whom the standings did not name
            assert "STANDINGS_INCOMPLETE" in refused
            await cancel(pair[0], name)
            after = sum([await pair[0].balance(who) for who in PLAYERS[:4]])
        assert after == before, (done, refused)
        assert set(refused) <= {"POOL_SETTLED", "STANDINGS_INCOMPLETE"}
        assert await escrow(pair[0], name) == 0
        ends.add(tuple(sorted({*refused})))
    assert ends
    assert await pair[0].database.fetchval(DEAD) == 0


async def test_one_end_of_several(pair: tuple[House, House]) -> None:
    for _ in range(4):
        name, (a, b) = await started(pair[0], (("anna",), ("babis",)), funds=100)
        start = await pair[0].balance("anna") + await pair[0].balance("babis") + 200
        done, refused = await at_once(
            finish(pair[0], name, [[a], [b]]),
            finish(pair[1], name, [[b], [a]]),
            finish(pair[0], name, [[a, b]]),
            cancel(pair[1], name),
        )
        assert (len(done), refused) == (1, ["POOL_SETTLED"] * 3)
        assert await pair[0].balance("anna") + await pair[0].balance("babis") == start
        assert await pair[0].events(name) == ["tournament_settled"]
        assert await escrow(pair[0], name) == 0


async def test_an_entry_and_its_release(pair: tuple[House, House]) -> None:
    await pair[0].deposit("anna", 100)
    name, ends = (await open_pool(pair[0])).tournament_id, set()
    for number in range(12):
        entry = new_id()
        calls: list[Coroutine[Any, Any, Any]] = [
            enter(pair[0], name, ["anna"], entry),
            leave(pair[1], name, entry),
        ]
        _, refused = await at_once(*(calls[::-1] if number % 2 else calls))
        assert refused in ([], ["ENTRY_RELEASED"])
        ends.add(bool(refused))
        assert await pair[0].balance("anna") == 100
    assert await escrow(pair[0], name) == 0
    assert ends


async def test_two_approvals(pair: tuple[House, House]) -> None:
    name, (a, b) = await started(pair[0], (("anna",), ("babis",)))
    await finish(pair[0], name, [[a], [b]])
    await propose(pair[0], name, [[b], [a]])
    await propose(pair[0], name)
    done, refused = await at_once(*(approve_pool(pair[n % 2], name, 1 + n % 2) for n in range(6)))
    assert (len(done), refused) == (1, ["STALE_VERSION"] * 5)
    assert await escrow(pair[0], name) == 0


async def test_games_and_tournaments_of_the_same_few(pair: tuple[House, House]) -> None:
    """Nobody waits for somebody who waits for him."""
    players = PLAYERS[:4]
    await pair[0].funded(*players, amount=10_000)

    async def play(number: int) -> None:
        house, other = pair[number % 2], pair[1 - number % 2]
        two = players[number % 4], players[(number + 1 + number % 3) % 4]
        says = Says((await house.hold(players=two, stake=7)).game_id)
        await asyncio.gather(
            house.publish(says.started(two), says.finished()), other.publish(says.closed())
        )

    async def compete(number: int) -> None:
        house, other = pair[number % 2], pair[1 - number % 2]
        name = (await open_pool(house, entry_fee=11)).tournament_id
        order = [(await enter(other, name, [who])).entry_id for who in players]
        await finish(house, name, [[each] for each in order])
        await propose(house, name, [[each] for each in order[::-1]])
        await approve_pool(other, name)

    await asyncio.gather(*(play(n) for n in range(24)), *(compete(n) for n in range(10)))
    assert sum([await pair[0].balance(who) for who in players]) == 40_000
    assert await pair[0].database.fetchval(DEAD) == 0
