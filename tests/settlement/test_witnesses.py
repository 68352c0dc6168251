"""Two witnesses: in any order, again and again, missing, and of two minds."""

from __future__ import annotations

import asyncio
import itertools
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from random import Random
from typing import Final

import grpc
import pytest
from kafeneio.clock.v1 import clock_pb2, clock_pb2_grpc
from kafeneio.clock.v1 import events_pb2 as clock_events_pb2
from kafeneio.rules.v1 import events_pb2 as rules_events_pb2
from kafeneio.rules.v1 import game_pb2, game_pb2_grpc
from kafeneio.settlement.v1 import settlement_pb2 as pb
from kafeneio_runtime.bus import Event
from kafeneio_settlement import background
from prometheus_client import REGISTRY

from tests.fixtures.waiting import until
from tests.rules.refusal import refusal
from tests.settlement.house import PATIENCE, SEATS, House, Says, new_id

LEFT: Final = ((1, "LEFT"),)


def metric(name: str) -> float:
    """What Prometheus reads."""
    return REGISTRY.get_sample_value(name) or 0.0


async def test_any_order_and_any_number_of_times(house: House) -> None:
    await house.funded(amount=100_000)
    won = 0
    for order in itertools.permutations(range(3)):
        for twice in (False, True):
            says = Says((await house.hold(stake=10, fee=500)).game_id)
            events = [says.started(), says.finished(), says.closed()]
            for number in order:
                for _ in range(1 + twice):
                    await house.publish(events[number])
            won += 9
            assert await house.balance("eleni") == 100_000 + won
            assert await house.events(says.game_id) == ["stakes_held", "game_settled"]
            before = await house.snapshot()
            await house.publish(*events, *reversed(events))
            assert await house.snapshot() == before


async def test_batches_of_many_games_shuffled_and_doubled(house: House) -> None:
    random, games = Random(7), 40
    await house.funded(amount=games * 10)
    said = [Says((await house.hold(stake=10)).game_id) for _ in range(games)]
    events: list[Event] = []
    for number, says in enumerate(said):
        events += 2 * [says.started(), says.turn(), says.finished(number % 2), says.closed()]
    random.shuffle(events)
    await house.publish(*events)
    assert await house.database.fetchval("SELECT count(*) FROM settlements") == games
    assert [await house.balance(who) for who in SEATS] == [games * 10] * 2


async def test_both_witnesses_at_once_on_two_replicas(pair: tuple[House, House]) -> None:
    first, second = pair
    await first.funded(amount=1000)
    said = [Says((await first.hold(stake=10)).game_id) for _ in range(20)]
    rules = [says.finished() for says in said]
    clock = [says.closed() for says in reversed(said)]
    await asyncio.gather(
        first.publish(*rules),
        first.publish(*clock),
        second.publish(*reversed(rules)),
        second.publish(*reversed(clock)),
    )
    assert [await first.balance(who) for who in SEATS] == [1200, 800]
    assert await first.database.fetchval("SELECT count(*) FROM settlements") == 20


@pytest.mark.parametrize("missing", ["finished", "closed"])
async def test_one_witness_alone_pays_nobody(house: House, missing: str) -> None:
    await house.funded()
    says = Says((await house.hold(stake=400)).game_id)
    said = [says.started(), says.closed() if missing == "finished" else says.finished()]
    await house.publish(*said, *said)
    assert (await house.settlement(says.game_id)).state == pb.SETTLEMENT_STATE_PENDING
    assert [await house.balance(who) for who in SEATS] == [600, 600]
    assert await house.events(says.game_id) == ["stakes_held"]


DIFFERENT: Final = (
    ((), LEFT),
    (LEFT, ()),
    (LEFT, ((0, "LEFT"),)),
    (LEFT, ((1, "CONNECTION_LOST"),)),
    (LEFT, ((1, "LEFT"), (0, "LEFT"))),
)


@pytest.mark.parametrize(("by_rules", "by_clock"), DIFFERENT)
@pytest.mark.parametrize("clock_first", [False, True])
async def test_witnesses_that_differ_pay_nobody(
    house: House,
    by_rules: tuple[tuple[int, str], ...],
    by_clock: tuple[tuple[int, str], ...],
    clock_first: bool,
) -> None:
    await house.funded()
    says = Says((await house.hold(stake=400, fee=100)).game_id)
    before = metric("kafeneio_settlement_mismatch_total")
    said = [says.finished(out=by_rules), says.closed(by_clock)]
    for event in reversed(said) if clock_first else said:
        await house.publish(event)
    await house.publish(*said)
    found = await house.settlement(says.game_id)
    assert (found.state, found.problem) == (
        pb.SETTLEMENT_STATE_MISMATCH,
        pb.PROBLEM_FORFEITS_DIFFER,
    )
    assert len(found.clock_forfeits) == len(by_clock)
    assert metric("kafeneio_settlement_mismatch_total") == before + 1
    assert [await house.balance(who) for who in SEATS] == [600, 600]


@pytest.mark.parametrize(
    ("resolution", "balances"),
    [(pb.RESOLUTION_BY_RULES, [1400, 600]), (pb.RESOLUTION_VOID, [1000, 1000])],
)
async def test_an_operator_resolves(
    house: House, resolution: pb.Resolution.ValueType, balances: list[int]
) -> None:
    await house.funded()
    says = Says((await house.hold(stake=400, fee=100)).game_id)
    await house.publish(says.started(), says.finished(out=LEFT), says.closed())
    settled = (await house.resolve(says.game_id, resolution)).settled
    assert (settled.resolved_by, settled.reason) == ("operator", "the logs of both")
    assert [await house.balance(who) for who in SEATS] == balances
    assert await house.events(says.game_id) == ["stakes_held", "game_settled"]
    refused = await refusal(house.resolve(says.game_id, resolution))
    assert refused.what == ("FAILED_PRECONDITION", "NO_MISMATCH")
    await house.publish(says.finished(winner=1), says.closed(LEFT))
    assert [await house.balance(who) for who in SEATS] == balances


async def test_those_who_played_must_be_those_who_staked(house: House) -> None:
    await house.funded()
    says = Says((await house.hold(stake=400)).game_id)
    await house.publish(says.started(("nikos", "eleni")), says.finished(), says.closed())
    assert (await house.settlement(says.game_id)).problem == pb.PROBLEM_PLAYERS_DIFFER
    refused = await refusal(house.resolve(says.game_id, pb.RESOLUTION_BY_RULES))
    assert refused.what == ("FAILED_PRECONDITION", "PAYOUT_IMPOSSIBLE")
    await house.resolve(says.game_id, pb.RESOLUTION_VOID)
    assert [await house.balance(who) for who in SEATS] == [1000, 1000]


async def test_an_end_that_no_rule_pays_holds_nobody_else_up(house: House) -> None:
    await house.funded(amount=2000)
    bad = [Says((await house.hold(stake=100)).game_id) for _ in range(3)]
    good = Says((await house.hold(stake=100)).game_id)
    await house.publish(
        bad[0].finished(rule="S99"),
        bad[1].finished(winners=(0, 1)),
        bad[2].finished(winner=5),
        good.finished(),
        *(says.closed() for says in (*bad, good)),
    )
    assert await house.balance("eleni") == 1600 + 200
    for says in bad:
        assert (await house.settlement(says.game_id)).problem == pb.PROBLEM_NOT_PAYABLE
        refused = await refusal(house.resolve(says.game_id, pb.RESOLUTION_BY_RULES))
        assert refused.metadata["problem"] == "NOT_PAYABLE"
        await house.resolve(says.game_id, pb.RESOLUTION_VOID)
    assert [await house.balance(who) for who in SEATS] == [2100, 1900]


async def test_the_gauges_tell_what_waits(
    database_url: str, keys: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(background, "COUNT_SECONDS", 0.02)
    async with House.serve(database_url, keys) as house:
        await house.funded()
        says = Says((await house.hold(stake=400)).game_id)
        await house.publish(says.finished())
        await until(lambda: metric("kafeneio_settlement_pending") == 1)
        await until(lambda: metric("kafeneio_settlement_lag_seconds") > 0)
        await house.publish(says.closed())
        await until(lambda: metric("kafeneio_settlement_pending") == 0)
        await until(lambda: metric("kafeneio_settlement_lag_seconds") == 0)
        assert metric("kafeneio_ledger_imbalance") == 0


class Rules(game_pb2_grpc.GameServiceServicer):
    """What `rules` answers to those who missed something."""

    def __init__(self, *events: Event) -> None:
        self.events = [rules_events_pb2.GameEvent.FromString(each.payload) for each in events]
        for event in self.events:
            event.occurred_at.GetCurrentTime()

    async def ListEvents(
        self, request: game_pb2.ListEventsRequest, context: object
    ) -> game_pb2.ListEventsResponse:
        """One event a page."""
        later = [each for each in self.events if each.sequence > request.after_sequence]
        return game_pb2.ListEventsResponse(events=later[:1])


class Clock(clock_pb2_grpc.ClockServiceServicer):
    """What `clock` answers to those who missed something."""

    def __init__(self, *events: Event) -> None:
        self.events = [clock_events_pb2.ClockEvent.FromString(each.payload) for each in events]
        for event in self.events:
            event.occurred_at.GetCurrentTime()

    async def ListEvents(
        self, request: clock_pb2.ListEventsRequest, context: object
    ) -> clock_pb2.ListEventsResponse:
        """One event a page."""
        later = [each for each in self.events if each.sequence > request.after_sequence]
        return clock_pb2.ListEventsResponse(events=later[:1])


@asynccontextmanager
async def others(rules: Rules, clock: Clock) -> AsyncIterator[dict[str, str]]:
    """`rules` and `clock`, as far as we ask them."""
    server = grpc.aio.server()
    game_pb2_grpc.add_GameServiceServicer_to_server(rules, server)
    clock_pb2_grpc.add_ClockServiceServicer_to_server(clock, server)
    address = f"127.0.0.1:{server.add_insecure_port('127.0.0.1:0')}"
    await server.start()
    try:
        yield {"rules": address, "clock": address}
    finally:
        await server.stop(0)


@pytest.mark.parametrize("lost", ["finished", "closed", "both"])
async def test_what_the_bus_has_lost_is_asked_for(
    database_url: str, keys: Path, monkeypatch: pytest.MonkeyPatch, lost: str
) -> None:
    monkeypatch.setattr(background, "MISSING_SECONDS", 0.02)
    monkeypatch.setattr(background, "WITNESS_SECONDS", 0.0)
    monkeypatch.setattr(background, "HOLD_SECONDS", 0.0)
    says = Says(new_id())
    finished, closed = says.finished(out=LEFT), says.closed(LEFT)
    rules, clock = Rules(says.started(), finished), Clock(closed)  # type: ignore[abstract] # only this is asked
    async with (
        others(rules, clock) as addresses,
        House.serve(database_url, keys, addresses) as house,
    ):
        await house.funded()
        await house.hold(says.game_id, stake=400)
        if lost != "both":
            await house.publish(closed if lost == "finished" else finished)
        async with asyncio.timeout(PATIENCE):
            while await house.balance("nikos") + await house.balance("eleni") != 2000:
                assert await house.balance("nikos") == 600
        await house.publish(finished, closed)
        assert await house.events(says.game_id) == ["stakes_held", "game_settled"]
        await house.check_ledger()


async def test_a_game_that_is_played_although_its_stakes_were_released_is_seen(
    house: House,
) -> None:
    # Whoever releases cancels first; one who does not leaves an operator to look at it.
    await house.funded()
    says = Says((await house.hold()).game_id)
    await house.release(says.game_id)
    await house.publish(says.started(), says.finished(), says.closed())
    found = await house.settlement(says.game_id)
    assert found.state == pb.SETTLEMENT_STATE_MISMATCH
    assert found.problem == pb.PROBLEM_STAKES_RELEASED
    assert [await house.balance(who) for who in SEATS] == [1000, 1000]
