"""Settled games are corrected by two operators: a reversal and a new settlement, both or none."""

from __future__ import annotations

import asyncio

import asyncpg
import pytest
from kafeneio.settlement.v1 import settlement_pb2 as pb
from kafeneio.settlement.v1 import wallet_pb2

from tests.rules.refusal import Refused, outcome_of, refusal
from tests.settlement.house import OPERATOR, SEATS, SECOND, SERVICE, House, Says, new_id
from tests.settlement.operators import approve, correct, played, result_request, void

KIND = wallet_pb2.EntryKind


async def balances(house: House) -> list[int]:
    """What both have."""
    return [await house.balance(who) for who in SEATS]


async def fees(house: House) -> int:
    """What the house has taken."""
    row = "SELECT balance FROM accounts WHERE account = 'house:fees'"
    return await house.database.fetchval(row) or 0


async def test_another_winner(house: House) -> None:
    await house.funded()
    game_id = (await played(house, winner=0, fee=1000)).game_id
    assert await balances(house) == [1320, 600]
    proposed = await correct(house, result_request(game_id))
    assert (proposed.number, proposed.corrects_version) == (1, 1)
    assert (proposed.proposed_by, proposed.approved_by) == (OPERATOR, "")
    assert await balances(house) == [1320, 600], "nothing moves before a second one approves"
    settlement = await approve(house, game_id)
    assert await balances(house) == [600, 1320]
    assert await fees(house) == 80
    settled = settlement.settled
    assert settled.settlement_version == 2
    assert (settled.resolved_by, settled.approved_by) == (OPERATOR, SECOND)
    assert settled.reason == "the wrong one was paid"
    assert [*settled.payout.nets] == [-400, 320]
    (first,) = settlement.corrected
    assert (first.settlement_version, [*first.payout.nets]) == (1, [320, -400])
    back = [(each.debit_account, each.credit_account) for each in settled.reversal_transfers]
    there = [(each.credit_account, each.debit_account) for each in first.transfers]
    assert back == there[::-1]
    (correction,) = settlement.corrections
    assert (correction.approved_by, correction.settlement_version) == (SECOND, 2)


async def test_statements_show_both(house: House) -> None:
    await house.funded()
    game_id = (await played(house)).game_id
    await correct(house, result_request(game_id))
    await approve(house, game_id)
    entries = [
        (KIND.Name(each.kind).removeprefix("ENTRY_KIND_"), each.amount.minor_units)
        for each in await house.entries("eleni")
    ]
    assert entries == [("REVERSAL", -800), ("PAYOUT", 800), ("HOLD", -400), ("DEPOSIT", 1000)]
    entries = [
        (KIND.Name(each.kind).removeprefix("ENTRY_KIND_"), each.amount.minor_units)
        for each in await house.entries("nikos")
    ]
    assert entries == [("CORRECTION", 800), ("HOLD", -400), ("DEPOSIT", 1000)]
    assert all(each.game_id == game_id for each in (await house.entries("eleni"))[:3])


async def test_a_game_is_made_void(house: House) -> None:
    await house.funded()
    game_id = (await played(house, fee=1000)).game_id
    await void(house, game_id)
    settlement = await approve(house, game_id)
    assert settlement.settled.payout.void
    assert await balances(house) == [1000, 1000]
    assert await fees(house) == 0


@pytest.mark.parametrize(
    ("stake", "fee", "after"),
    [(100, None, [1100, 900]), (900, None, [1900, 100]), (None, 1000, [1320, 600])],
)
async def test_other_terms(
    house: House, stake: int | None, fee: int | None, after: list[int]
) -> None:
    await house.funded()
    game_id = (await played(house)).game_id
    await correct(house, result_request(game_id, winners=(0,), stake=stake, fee=fee))
    settled = (await approve(house, game_id)).settled
    assert await balances(house) == after
    assert settled.corrected_stake.minor_units == (stake or 0)
    await void(house, game_id)
    await approve(house, game_id, 2)
    assert await balances(house) == [1000, 1000], "a correction of a correction"


async def test_no_fee_where_a_seat_was_forfeited_after_all(house: House) -> None:
    await house.funded()
    game_id = (await played(house, fee=1000)).game_id
    await correct(house, result_request(game_id, winners=(0,), out=(1,)))
    await approve(house, game_id)
    assert await balances(house) == [1400, 600]
    assert await fees(house) == 0


async def test_events_tell_of_it(house: House) -> None:
    await house.funded()
    game_id = (await played(house)).game_id
    await correct(house, result_request(game_id))
    assert await house.events(game_id) == ["stakes_held", "game_settled"]
    await approve(house, game_id)
    kinds = ["stakes_held", "game_settled", "settlement_corrected"]
    assert await house.events(game_id) == kinds
    request = pb.ListEventsRequest(game_id=game_id, after_sequence=2)
    (event,) = (await house.ask(house.games.ListEvents, request)).events
    told = event.settlement_corrected
    assert (told.settlement_version, told.corrects_version, told.void) == (2, 1, False)
    assert [each.amount.minor_units for each in told.nets] == [-400, 400]
    assert [*told.winners] == [1]


async def test_the_same_operator_never_approves(house: House) -> None:
    await house.funded()
    game_id = (await played(house)).game_id
    await correct(house, result_request(game_id), SECOND)
    before = await house.snapshot()
    refused = await refusal(approve(house, game_id, who=SECOND))
    assert refused.what == ("PERMISSION_DENIED", "ROLE_REQUIRED")
    assert await house.snapshot() == before
    await approve(house, game_id, who=OPERATOR)
    assert await balances(house) == [600, 1400]


async def test_the_database_knows_that_too(house: House) -> None:
    await house.funded()
    game_id = (await played(house)).game_id
    await correct(house, result_request(game_id))
    insert = (
        "INSERT INTO approvals (game_id, number, proposed_by, approved_by, version)"
        " VALUES ($1::text::uuid, 1, $2, $3, 1)"
    )
    with pytest.raises(asyncpg.CheckViolationError):
        await house.database.execute(insert, game_id, OPERATOR, OPERATOR)
    with pytest.raises(asyncpg.ForeignKeyViolationError):
        await house.database.execute(insert, game_id, "somebody", OPERATOR)
    assert await house.database.fetchval("SELECT count(*) FROM approvals") == 0


async def test_of_two_proposals_one_is_done(pair: tuple[House, House]) -> None:
    house, other = pair
    await house.funded()
    game_id = (await played(house)).game_id
    await correct(house, result_request(game_id))
    await void(house, game_id)
    answers = await asyncio.gather(
        *(outcome_of(approve(pair[n % 2], game_id, 1 + n % 2)) for n in range(6))
    )
    refused = [each for each in answers if isinstance(each, Refused)]
    assert len(refused) == 5
    assert {each.what for each in refused} == {("ABORTED", "STALE_VERSION")}
    assert {each.metadata["version"] for each in refused} == {"2"}
    assert await balances(other) in ([600, 1400], [1000, 1000])


async def test_what_is_not_corrected(house: House) -> None:
    await house.funded()
    unknown = await refusal(void(house, new_id()))
    assert unknown.what == ("NOT_FOUND", "GAME_UNKNOWN")
    held = (await house.hold(stake=100)).game_id
    early = await refusal(void(house, held))
    assert early.what == ("FAILED_PRECONDITION", "GAME_NOT_OVER")
    await house.release(held)
    assert (await refusal(void(house, held))).reason == "HOLD_RELEASED"
    game_id = (await played(house)).game_id
    before = await house.snapshot()
    for winners in ((0, 1), (5,)):
        refused = await refusal(correct(house, result_request(game_id, winners=winners)))
        assert refused.what == ("FAILED_PRECONDITION", "PAYOUT_IMPOSSIBLE")
    refused = await refusal(correct(house, result_request(game_id, stake=5, currency="USD")))
    assert refused.reason == "MALFORMED"
    refused = await refusal(correct(house, result_request(game_id, stake=2**63 - 1)))
    assert refused.reason == "AMOUNT_OVERFLOW"
    missing = await refusal(approve(house, game_id, 3))
    assert missing.what == ("OUT_OF_RANGE", "NOT_YET")
    for who in (SERVICE, "eleni"):
        assert (await refusal(void(house, game_id, who))).reason == "ROLE_REQUIRED"
        assert (await refusal(approve(house, game_id, who=who))).reason == "ROLE_REQUIRED"
    assert await house.snapshot() == before


async def test_a_player_sees_what_was_done_not_what_was_proposed(house: House) -> None:
    await house.funded()
    game_id = (await played(house)).game_id
    await correct(house, result_request(game_id))
    assert len((await house.settlement(game_id)).corrections) == 1
    assert not (await house.settlement(game_id, "eleni")).corrections
    await approve(house, game_id)
    seen = await house.settlement(game_id, "eleni")
    assert (seen.settled.settlement_version, len(seen.corrected)) == (2, 1)


async def in_debt(house: House) -> str:
    """Eleni has taken out what she did not win, and owes 500."""
    await house.funded()
    game_id = (await played(house, winner=0, stake=500)).game_id
    await house.withdraw("eleni", 1500)
    await correct(house, result_request(game_id))
    await approve(house, game_id)
    house.debtors.add("player:eleni")
    return game_id


async def test_a_debt_is_shown_as_owed(house: House) -> None:
    await in_debt(house)
    (account,) = (await house.wallet("eleni", "eleni")).accounts
    assert account.balance.minor_units == -1000
    assert account.owed.minor_units == 1000
    (account,) = (await house.wallet("nikos")).accounts
    assert not account.HasField("owed")


async def test_who_owes_holds_no_stake_until_it_is_paid(house: House) -> None:
    await in_debt(house)
    await house.deposit("eleni", 10_000, "USD")
    for currency in ("EUR", "USD"):
        await house.deposit("nikos", 1, currency)
        refused = await refusal(house.hold(stake=1, currency=currency))
        assert refused.what == ("FAILED_PRECONDITION", "INSUFFICIENT_FUNDS")
        assert refused.metadata["seats"] == "0"
    assert (await refusal(house.withdraw("eleni", 1))).reason == "INSUFFICIENT_FUNDS"
    assert (await house.deposit("eleni", 999)).balance.minor_units == -1
    assert (await refusal(house.hold(stake=1, currency="USD"))).reason == "INSUFFICIENT_FUNDS"
    assert (await house.deposit("eleni", 2)).balance.minor_units == 1
    assert (await house.hold(stake=1)).state == pb.SETTLEMENT_STATE_HELD
    assert (await house.hold(stake=1, currency="USD")).state == pb.SETTLEMENT_STATE_HELD


async def test_who_owes_is_still_paid(house: House) -> None:
    await house.funded(amount=1000)
    other = Says((await house.hold(stake=300)).game_id)
    game_id = (await played(house, winner=0, stake=500)).game_id
    await house.withdraw("eleni", 1200)
    await correct(house, result_request(game_id))
    await approve(house, game_id)
    house.debtors.add("player:eleni")
    assert await house.balance("eleni") == -1000
    await house.publish(other.finished(winner=0), other.closed())
    assert await house.balance("eleni") == -400
