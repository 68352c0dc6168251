"""What went wrong with money elsewhere, one test for each row of that list (29 to 34)."""

from __future__ import annotations

import asyncio
from pathlib import Path
from uuid import UUID, uuid5

import asyncpg
import pytest
from kafeneio.settlement.v1 import settlement_pb2 as pb

from tests.rules.refusal import Refused, outcome_of, refusal
from tests.settlement.house import SEATS, House, Says, new_id
from tests.settlement.mortal import Killed, Mortal
from tests.settlement.operators import played


async def payouts(house: House, game_id: str) -> int:
    """How often a game was paid."""
    count: int = await house.database.fetchval(
        "SELECT count(*) FROM transactions WHERE kind = 'payout' AND game_id = $1::text::uuid",
        game_id,
    )
    return count


async def test_row_29_the_key_of_a_payout_is_the_game_not_its_result(
    pair: tuple[House, House],
) -> None:
    # Elsewhere the placing was in the key, changed on a retry, and the prize was paid again.
    house, other = pair
    await house.funded()
    says = await played(house, winner=0)
    before = await house.snapshot()
    again = Says(says.game_id)  # other events, of other ids, with another winner
    await other.publish(again.finished(winner=1), again.closed())
    await house.publish(Says(says.game_id).finished(winner=1), Says(says.game_id).closed())
    after = await house.snapshot()
    assert {**after, "inbox": None} == {**before, "inbox": None}
    assert await payouts(house, says.game_id) == 1
    settled = (await house.settlement(says.game_id)).settled
    assert settled.transaction_id == str(uuid5(UUID(says.game_id), "settlement 1"))


async def test_row_30_two_decisions_at_once_move_money_once(pair: tuple[House, House]) -> None:
    # Elsewhere approve and reject raced: money moved before the status, under two keys.
    await pair[0].funded(amount=10_000)
    for _ in range(4):
        says = Says((await pair[0].hold(stake=100)).game_id)
        await pair[0].publish(says.finished(), says.closed(((1, "LEFT"),)))
        answers = await asyncio.gather(
            *(
                outcome_of(
                    pair[n % 2].resolve(
                        says.game_id, (pb.RESOLUTION_BY_RULES, pb.RESOLUTION_VOID)[n % 2]
                    )
                )
                for n in range(6)
            )
        )
        refused = [each.reason for each in answers if isinstance(each, Refused)]
        assert refused == ["NO_MISMATCH"] * 5
        assert await payouts(pair[1], says.game_id) == 1
    assert sum([await pair[0].balance(who) for who in SEATS]) == 20_000


async def test_row_31_a_constraint_is_the_gate_not_a_look(house: House) -> None:
    # Elsewhere a SELECT came before the INSERT, and two came at once.
    await house.funded()
    says = await played(house)
    rows = await house.database.fetch(
        "SELECT conrelid::regclass::text AS of, array_agg(attname::text ORDER BY place) AS columns"
        " FROM pg_constraint, unnest(conkey) WITH ORDINALITY AS key(number, place)"
        " JOIN pg_attribute ON attnum = number"
        " WHERE contype IN ('p', 'u') AND attrelid = conrelid"
        " AND connamespace = 'settlement'::regnamespace GROUP BY pg_constraint.oid, conrelid"
    )
    gates = {(row["of"], *row["columns"]) for row in rows}
    assert gates >= {
        ("requests", "caller", "method", "request_id"),
        ("inbox", "consumer", "event_id"),
        ("transactions", "transaction_id"),
        ("settlements", "game_id", "version"),
        ("approvals", "game_id", "number"),
        ("approvals", "game_id", "version"),
        ("outbox", "subject_id", "sequence"),
    }
    with pytest.raises(asyncpg.UniqueViolationError):
        await house.database.execute(
            "INSERT INTO settlements SELECT * FROM settlements WHERE game_id = $1::text::uuid",
            says.game_id,
        )


async def test_row_32_what_is_refused_has_no_effect(house: House) -> None:
    # Elsewhere a second refund was refused and took the first one back.
    await house.funded()
    released = (await house.hold(stake=100)).game_id
    await house.release(released)
    says = await played(house)
    before = await house.snapshot()
    for _ in range(3):
        for call, reason in (
            (house.release(says.game_id), "GAME_OVER"),
            (house.hold(released), "HOLD_RELEASED"),
            (house.hold(says.game_id), "HOLD_EXISTS"),
            (house.resolve(says.game_id), "NO_MISMATCH"),
            (house.withdraw("eleni", 10**9), "INSUFFICIENT_FUNDS"),
        ):
            assert (await refusal(call)).reason == reason
    assert await house.snapshot() == before
    await house.release(released)  # a second refund is the first one
    after = await house.snapshot()
    assert {**after, "requests": None} == {**before, "requests": None}


async def test_row_33_a_retry_is_held_against_what_the_client_said(house: House) -> None:
    # Elsewhere the body was made anew from balances, which the first try had changed.
    await house.funded()
    request = house.hold_request(stake=600)
    first = await house.ask(house.games.HoldStakes, request)
    money_id = new_id()
    entry = await house.withdraw("eleni", 400, request_id=money_id)
    await house.deposit("nikos", 5)
    before = await house.snapshot()
    for _ in range(3):  # by now neither could be done again
        assert await house.ask(house.games.HoldStakes, request) == first
        assert await house.withdraw("eleni", 400, request_id=money_id) == entry
    assert await house.snapshot() == before


@pytest.mark.parametrize("moment", ["before_commit", "committed"])
async def test_row_34_a_crash_between_paying_and_noting_it(
    database_url: str, keys: Path, moment: str
) -> None:
    # Elsewhere there was a moment between the two, and after it the payout was done again.
    async with House.serve(database_url, keys) as house:
        await house.funded()
        says = Says((await house.hold(stake=100)).game_id)
        await house.publish(says.started(), says.finished())
        closed = says.closed()
        mortal = await asyncio.to_thread(Mortal, database_url, keys)
        mortal.die_at(f"settlement.settle.{moment}")
        with pytest.raises(Killed):
            await asyncio.to_thread(mortal.do, "publish", closed)
        paid = moment == "committed"
        assert await payouts(house, says.game_id) == paid
        assert ((await house.settlement(says.game_id)).state == pb.SETTLEMENT_STATE_SETTLED) is paid
        await house.publish(closed)  # the bus was never told that it was handled
        await house.publish(closed)
        assert await payouts(house, says.game_id) == 1
        assert [await house.balance(who) for who in SEATS] == [1100, 900]
        assert await house.events(says.game_id) == ["stakes_held", "game_settled"]
        await house.check_ledger()
