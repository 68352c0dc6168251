"""Two witnesses in every order, late, twice, not at all, and one of them lying; what an operator
sees of it, and what he can decide."""

from __future__ import annotations

import itertools
from typing import Final

import pytest
from kafeneio.rules.v1 import actions_pb2
from kafeneio.settlement.v1 import settlement_pb2 as pb

from tests.rules.refusal import refusal
from tests.settlement.house import SEATS, House, Says
from tests.settlement.operators import approve, correct, report, result_request

FOUR: Final = ("a", "b", "c", "d")
LOST: Final = ((2, "CONNECTION_LOST"),)


async def balances(house: House) -> list[int]:
    """What both have."""
    return [await house.balance(who) for who in SEATS]


async def test_every_order_of_everything_delivered_twice(house: House) -> None:
    orders = sorted(set(itertools.permutations("ssffcc")))
    assert len(orders) == 90
    await house.funded(amount=100_000)
    for played, order in enumerate(orders, 1):
        says = Says((await house.hold(stake=10)).game_id)
        events = {"s": says.started(), "f": says.finished(), "c": says.closed()}
        spoken: set[str] = set()
        for one in order:
            await house.publish(events[one])
            spoken.add(one)
            paid = spoken >= {"f", "c"}
            if not paid:
                assert await house.balance("eleni") == 100_000 + 10 * (played - 1) - 10
        assert await house.balance("eleni") == 100_000 + 10 * played
    assert await house.database.fetchval("SELECT count(*) FROM settlements") == 90


@pytest.mark.parametrize("late", ["rules", "clock"])
async def test_a_witness_that_is_late_is_named(house: House, late: str) -> None:
    await house.funded()
    says = Says((await house.hold(stake=10)).game_id)
    first, second = says.finished(), says.closed()
    if late == "rules":
        first, second = second, first
    await house.publish(first, first)
    (waiting,) = (await report(house)).unsettled_games
    assert (waiting.state, waiting.awaited) == ("PENDING", late)
    refused = await refusal(house.resolve(says.game_id))
    assert refused.what == ("FAILED_PRECONDITION", "NO_MISMATCH"), "it may speak yet"
    await house.publish(second)
    assert await balances(house) == [1010, 990]
    assert (await report(house)).unsettled == 0


@pytest.mark.parametrize(
    ("out", "paid"),
    [
        # The last card was played before he left: `rules` refuses the forfeit, so `clock` does not
        # announce it. The game is decided, nobody is out, the fee of 2 is taken.
        ((), [1008, 990]),
        # He left before: the log has it, and both say so. No fee.
        (((1, "LEFT"),), [1010, 990]),
    ],
)
async def test_a_leave_on_the_last_card(
    house: House, out: tuple[tuple[int, str], ...], paid: list[int]
) -> None:
    await house.funded()
    says = Says((await house.hold(stake=10, fee=1000)).game_id)
    await house.publish(says.started(), says.finished(out=out), says.closed(out))
    assert await balances(house) == paid


async def test_a_leave_on_the_last_card_that_only_the_clock_has_seen(house: House) -> None:
    await house.funded()
    says = Says((await house.hold(stake=10, fee=1000)).game_id)
    await house.publish(says.started(), says.finished(), says.closed(((1, "LEFT"),)))
    found = await house.settlement(says.game_id)
    assert (found.state, found.problem) == (
        pb.SETTLEMENT_STATE_MISMATCH,
        pb.PROBLEM_FORFEITS_DIFFER,
    )
    assert [*found.finished.forfeits] == []
    (seen,) = found.clock_forfeits
    assert (seen.seat, seen.reason) == (1, actions_pb2.FORFEIT_REASON_LEFT)
    assert await balances(house) == [990, 990]


Out = tuple[tuple[int, str], ...]


async def four(house: House, log: Out, clock: Out) -> Says:
    """A game of two pairs that 0 and 2 have won, with forfeits as each witness has them."""
    await house.funded(*FOUR)
    says = Says((await house.hold(stake=100, players=FOUR, fee=1000)).game_id)
    finished = says.finished(winners=(0, 2), rule="S1", out=log)
    await house.publish(says.started(FOUR, "S1"), finished, says.closed(clock))
    return says


@pytest.mark.parametrize(
    ("resolution", "paid"),
    [
        (pb.RESOLUTION_BY_RULES, [1080, 900, 1080, 900]),
        (pb.RESOLUTION_BY_CLOCK, [1200, 900, 1000, 900]),
        (pb.RESOLUTION_VOID, [1000, 1000, 1000, 1000]),
    ],
)
@pytest.mark.parametrize("forged_by", ["clock", "rules"])
async def test_a_forged_forfeit_pays_nobody(
    house: House, resolution: pb.Resolution.ValueType, paid: list[int], forged_by: str
) -> None:
    log, clock = ((), LOST) if forged_by == "clock" else (LOST, ())
    if forged_by == "rules":  # then the other one is right
        paid = {1080: [1200, 900, 1000, 900], 1200: [1080, 900, 1080, 900]}.get(paid[0], paid)
    says = await four(house, log, clock)
    assert [await house.balance(who) for who in FOUR] == [900] * 4
    (waiting,) = (await report(house)).unsettled_games
    assert (waiting.state, waiting.problem) == ("MISMATCH", "FORFEITS_DIFFER")
    settlement = await house.resolve(says.game_id, resolution)
    assert [await house.balance(who) for who in FOUR] == paid
    assert settlement.problem == pb.PROBLEM_FORFEITS_DIFFER, "what it was stays to be seen"
    assert (await report(house)).unsettled == 0


async def test_a_resolution_is_corrected_like_any_other_settlement(house: House) -> None:
    says = await four(house, (), LOST)
    await house.resolve(says.game_id, pb.RESOLUTION_BY_RULES)
    await correct(house, result_request(says.game_id, winners=(0, 2), out=(2,)))
    await approve(house, says.game_id)
    assert [await house.balance(who) for who in FOUR] == [1200, 900, 1000, 900]
    assert (await report(house)).imbalance == 0


@pytest.mark.parametrize(
    "resolution", [pb.RESOLUTION_BY_RULES, pb.RESOLUTION_BY_CLOCK, pb.RESOLUTION_VOID]
)
async def test_a_game_that_was_played_for_stakes_that_went_back(
    house: House, resolution: pb.Resolution.ValueType
) -> None:
    await house.funded()
    says = Says((await house.hold()).game_id)
    await house.release(says.game_id)
    await house.publish(says.started(), says.finished(), says.closed())
    (waiting,) = (await report(house)).unsettled_games
    assert waiting.problem == "STAKES_RELEASED"
    settled = (await house.resolve(says.game_id, resolution)).settled
    assert (settled.transaction_id, len(settled.transfers)) == ("", 0)
    assert await balances(house) == [1000, 1000]
