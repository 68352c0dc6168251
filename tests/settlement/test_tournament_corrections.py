"""Corrections of tournaments: by two operators, by reversal and a new payment, both to be seen."""

from __future__ import annotations

from kafeneio.settlement.v1 import prizes_pb2 as pb
from kafeneio.settlement.v1 import wallet_pb2

from tests.rules.refusal import refusal
from tests.settlement.house import OPERATOR, SECOND, House
from tests.settlement.operators import report
from tests.settlement.test_refusals import unchanged
from tests.settlement.tournaments import (
    approve_pool,
    cancel,
    enter,
    escrow,
    finish,
    open_pool,
    pool_of,
    propose,
    started,
    terms,
)

TWO = (("anna",), ("babis",))


async def test_other_standings(house: House) -> None:
    name, (a, b) = await started(house, TWO, fee=1000)
    # 200 less 20: 126 and 54.
    await finish(house, name, [[a], [b]])
    proposed = await propose(house, name, [[b], [a]])
    assert (proposed.number, proposed.corrects_version) == (1, 1)
    assert (proposed.proposed_by, proposed.approved_by) == (OPERATOR, "")
    assert [await house.balance(who) for who in ("anna", "babis")] == [1026, 954]
    corrected = await approve_pool(house, name)
    assert [await house.balance(who) for who in ("anna", "babis")] == [954, 1026]
    assert await escrow(house, name) == 0
    assert corrected == await pool_of(house, name)
    newest, first = corrected.settled, corrected.corrected[0]
    assert (newest.settlement_version, first.settlement_version) == (2, 1)
    assert (newest.approved_by, newest.settled_by) == (SECOND, OPERATOR)
    assert newest.reason == "two results were swapped"
    assert [(p.entry_id, p.amount) for p in newest.prizes] == [(b, 126), (a, 54)]
    assert [(p.entry_id, p.amount) for p in first.prizes] == [(a, 126), (b, 54)]
    done = corrected.corrections[0]
    assert (done.approved_by, done.settlement_version) == (SECOND, 2)
    assert not newest.HasField("corrected_terms")
    kinds = [wallet_pb2.EntryKind.Name(each.kind) for each in await house.entries("anna")]
    assert kinds[:3] == ["ENTRY_KIND_CORRECTION", "ENTRY_KIND_REVERSAL", "ENTRY_KIND_PAYOUT"]
    ids = [each.transaction_id for each in await house.entries("anna")]
    assert ids[0] == newest.transaction_id
    assert ids[1] == newest.reversal_transaction_id
    assert ids[2] == first.transaction_id
    assert await house.events(name) == ["tournament_settled", "tournament_corrected"]


async def test_players_do_not_see_what_is_proposed(house: House) -> None:
    name, (a, b) = await started(house, TWO)
    await finish(house, name, [[a], [b]])
    await propose(house, name)
    assert [*(await pool_of(house, name, "anna")).corrections] == []
    for who in (OPERATOR, SECOND, "matchmaking"):
        assert len((await pool_of(house, name, who)).corrections) == 1


async def test_a_tournament_that_was_void_after_all(house: House) -> None:
    name, (a, b) = await started(house, TWO, fee=5000)
    await finish(house, name, [[a], [b]])
    await propose(house, name)
    void = await approve_pool(house, name)
    assert (void.state, void.settled.void) == (pb.POOL_STATE_VOID, True)
    assert [await house.balance(who) for who in ("anna", "babis")] == [1000, 1000]
    fees = "SELECT balance FROM accounts WHERE account = 'house:fees'"
    assert await house.database.fetchval(fees) == 0
    assert await cancel(house, name) == void, "void already"
    assert await finish(house, name, [[a], [b]]) == void, "it was settled so, at first"


async def test_a_tournament_that_was_not_void_after_all(house: House) -> None:
    name, (a, b) = await started(house, TWO, funds=100)
    await cancel(house, name)
    await house.withdraw("babis", 100)
    await propose(house, name, [[a], [b]])
    await approve_pool(house, name)
    assert await house.balance("anna") == 140
    wallet = await house.wallet("babis")
    assert wallet.accounts[0].owed.minor_units == 40
    house.debtors.add("player:babis")
    assert (await report(house)).totals[0].owed.minor_units == 40


async def test_other_terms(house: House) -> None:
    """A higher fee is taken from everybody, and a debt where it is not there."""
    name, (a, b) = await started(house, TWO, entry_fee=100, funds=100)
    await finish(house, name, [[a], [b]])
    right = terms(entry_fee=150, fee=1000, shares=(10_000,))
    await propose(house, name, [[a], [b]], right)
    corrected = await approve_pool(house, name)
    # 300 less 30, all of it to the first.
    assert await house.balance("anna") == 100 - 150 + 270
    assert await house.balance("babis") == 100 - 150
    house.debtors |= {"player:anna", "player:babis"}  # she too, for a moment
    settled = corrected.settled
    assert (settled.pool.minor_units, settled.fee.minor_units) == (300, 30)
    assert settled.corrected_terms == right
    assert corrected.terms == terms(entry_fee=100)
    # And back again, to a lower one.
    await propose(house, name, [[a], [b]], terms(entry_fee=10))
    await approve_pool(house, name, 2)
    assert await house.balance("anna") == 100 - 10 + 14
    assert await house.balance("babis") == 100 - 10 + 6
    assert await escrow(house, name) == 0


async def test_a_tournament_that_should_not_have_been_free(house: House) -> None:
    """Who needed no wallet so far has one then, and owes."""
    name = (await open_pool(house, entry_fee=0)).tournament_id
    a, b = [(await enter(house, name, [who])).entry_id for who in ("anna", "babis")]
    await finish(house, name, [[a], [b]])
    await propose(house, name, [[a], [b]], terms(entry_fee=100))
    await approve_pool(house, name)
    house.debtors |= {"player:anna", "player:babis"}
    assert [await house.balance(who) for who in ("anna", "babis")] == [40, -40]
    assert await escrow(house, name) == 0


async def test_never_by_the_same_operator(house: House) -> None:
    name, (a, b) = await started(house, TWO)
    await finish(house, name, [[a], [b]])
    await propose(house, name, [[b], [a]])
    refused = await unchanged(house, approve_pool(house, name, 1, OPERATOR))
    assert refused.what == ("PERMISSION_DENIED", "ROLE_REQUIRED")
    for who in ("anna", "matchmaking"):
        assert (await refusal(approve_pool(house, name, 1, who))).reason == "ROLE_REQUIRED"


async def test_of_two_proposals_one_is_done(house: House) -> None:
    name, (a, b) = await started(house, TWO)
    await finish(house, name, [[a], [b]])
    await propose(house, name, [[b], [a]])
    await propose(house, name)
    assert (await report(house)).open_tournament_corrections == 2
    await approve_pool(house, name, 2)
    for number in (1, 2):
        refused = await unchanged(house, approve_pool(house, name, number))
        assert refused.what == ("ABORTED", "STALE_VERSION")
        assert refused.metadata["version"] == "2"
    refused = await unchanged(house, approve_pool(house, name, 3))
    assert refused.what == ("OUT_OF_RANGE", "NOT_YET")
    assert refused.metadata["version"] == "2"
    assert (await report(house)).open_tournament_corrections == 0


async def test_corrected_twice(house: House) -> None:
    name, (a, b) = await started(house, TWO)
    await finish(house, name, [[a], [b]])
    await propose(house, name, [[b], [a]])
    await approve_pool(house, name, 1)
    await propose(house, name, [[a, b]])
    corrected = await approve_pool(house, name, 2)
    assert [await house.balance(who) for who in ("anna", "babis")] == [1000, 1000]
    assert [each.settlement_version for each in corrected.corrected] == [1, 2]
    assert await house.events(name) == ["tournament_settled", *["tournament_corrected"] * 2]
