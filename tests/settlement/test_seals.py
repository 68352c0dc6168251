"""The chain of seals: whoever changes the ledger behind our back is found, and where."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from kafeneio.settlement.v1 import ledger_pb2 as pb
from kafeneio_settlement import background

from tests.rules.refusal import refusal
from tests.settlement.house import PATIENCE, SERVICE, House
from tests.settlement.operators import played, report, verify
from tests.settlement.tournaments import finish, started

TAMPERINGS = {
    "amount": "UPDATE transfers SET amount = amount + 1 WHERE transaction_id = {third}",
    "account": "UPDATE transfers SET credit_account = 'player:thief' WHERE transaction_id = {third}"
    " AND position = 0",
    "kind": "UPDATE transactions SET kind = 'release' WHERE transaction_id = {third}",
    "time": "UPDATE transactions SET at = at - interval '1 day' WHERE transaction_id = {third}",
    "game": "UPDATE transactions SET game_id = NULL WHERE transaction_id = {third}",
    "tournament": "UPDATE transactions SET game_id = NULL, tournament_id = game_id"
    " WHERE transaction_id = {third}",
    "a transfer gone": "DELETE FROM transfers WHERE transaction_id = {third} AND position = 0",
    "a transfer more": "INSERT INTO transfers SELECT transaction_id, 7, currency, 'player:x',"
    " 'player:thief', 5, 91, 5, 91, 5 FROM transfers WHERE transaction_id = {third} LIMIT 1",
    "swapped": "UPDATE transfers t SET transaction_id = CASE WHEN t.transaction_id = {third}"
    " THEN {fourth}::uuid ELSE {third}::uuid END, position = position + 10"
    " WHERE t.transaction_id IN ({third}, {fourth})",
    "seals swapped": "UPDATE seals SET number = number + 100 WHERE number IN (3, 4);"
    " UPDATE seals SET number = 107 - number WHERE number > 100",
    "seal": "UPDATE seals SET hash = sha256('x') WHERE number = 3",
}
GONE = {
    "transaction": "DELETE FROM transfers WHERE transaction_id = {third};"
    " DELETE FROM transactions WHERE transaction_id = {third}",
    "seal": "DELETE FROM seals WHERE number = 3",
    "both": "DELETE FROM transfers WHERE transaction_id = {third};"
    " DELETE FROM transactions WHERE transaction_id = {third};"
    " DELETE FROM seals WHERE number = 3",
}


async def sealed(house: House) -> int:
    """Returns when every transaction is sealed; how many there are."""
    async with asyncio.timeout(PATIENCE):
        while (found := await report(house)).unsealed:
            assert found.sealed_to >= 0
    return found.sealed_to


async def tamper(house: House, statements: str) -> None:
    """What somebody with all rights can do: with triggers off."""
    ids = [
        f"'{row[0]}'"
        for row in await house.database.fetch("SELECT transaction_id FROM seals ORDER BY number")
    ]
    await house.database.execute("SET session_replication_role = replica")
    filled = statements.format(third=ids[2], fourth=ids[3], last=ids[-1])
    await house.database.execute(filled)
    await house.database.execute("SET session_replication_role = DEFAULT")


@pytest.fixture
async def ledger(
    database_url: str, keys: Path, monkeypatch: pytest.MonkeyPatch
) -> AsyncIterator[House]:
    """A house with eight sealed transactions; its ledger is not checked in the end."""
    monkeypatch.setattr(background, "SEAL_SECONDS", 0.02)
    async with House.serve(database_url, keys) as house:
        await house.funded()
        for winner in (0, 1, 0):
            await played(house, winner, stake=10)
        assert await sealed(house) == 8
        yield house


async def test_a_ledger_that_nobody_touched(ledger: House) -> None:
    found = await verify(ledger)
    assert (found.verified_to, found.complete, [*found.faults]) == (8, True, [])
    assert len(found.hash) == 32
    again = await verify(ledger)
    assert again.hash == found.hash
    await played(ledger, stake=10)
    await sealed(ledger)
    later = await verify(ledger, 8, found.hash)
    assert (later.verified_to, [*later.faults]) == (10, [])


async def test_page_by_page(ledger: House) -> None:
    after, seal, pages = 0, b"", 0
    while True:
        page = await verify(ledger, after, seal, 3)
        assert not page.faults
        after, seal, pages = page.page_end, page.page_hash, pages + 1
        if page.complete:
            break
    assert (after, pages) == (8, 3)


@pytest.mark.parametrize("name", TAMPERINGS)
async def test_what_was_changed_is_found(ledger: House, name: str) -> None:
    await tamper(ledger, TAMPERINGS[name])
    found = await verify(ledger)
    assert found.verified_to == 2
    first = found.faults[0]
    assert (first.kind, first.number) == (pb.FAULT_KIND_CHANGED, 3)
    assert found.page_end == 8, "what comes after it is looked at too"


@pytest.mark.parametrize("name", GONE)
async def test_what_is_missing_is_found(ledger: House, name: str) -> None:
    await tamper(ledger, GONE[name])
    found = await verify(ledger)
    assert found.verified_to == 2
    assert (found.faults[0].kind, found.faults[0].number) == (pb.FAULT_KIND_MISSING, 3)


async def test_an_end_that_was_cut_off_is_found(ledger: House) -> None:
    before = await verify(ledger)
    await tamper(
        ledger,
        "DELETE FROM transfers WHERE transaction_id = {last};"
        " DELETE FROM seals WHERE transaction_id = {last};"
        " DELETE FROM transactions WHERE transaction_id = {last}",
    )
    found = await verify(ledger)
    assert found.verified_to == 7
    assert {each.kind for each in found.faults} == {pb.FAULT_KIND_ACCOUNT}
    assert "player:eleni" in {each.account for each in found.faults}
    anchored = await verify(ledger, 8, before.hash)
    assert (anchored.faults[0].kind, anchored.faults[0].number) == (pb.FAULT_KIND_REWRITTEN, 8)


async def test_a_chain_that_was_made_anew_is_found_by_one_seal_of_before(ledger: House) -> None:
    before = await verify(ledger)
    await tamper(ledger, TAMPERINGS["kind"] + "; DELETE FROM seals")
    assert await sealed(ledger) == 8
    assert not (await verify(ledger)).faults, "a new chain is whole in itself"
    found = await verify(ledger, before.verified_to, before.hash)
    assert found.faults[0].kind == pb.FAULT_KIND_REWRITTEN
    assert found.verified_to == 0


async def test_money_that_comes_from_nowhere_is_found(ledger: House) -> None:
    await tamper(ledger, "UPDATE accounts SET balance = balance + 5 WHERE account = 'player:eleni'")
    found = await verify(ledger)
    (fault,) = found.faults
    assert (fault.kind, fault.account) == (pb.FAULT_KIND_ACCOUNT, "player:eleni")
    assert (await report(ledger)).imbalance == 5


async def test_a_transaction_that_is_never_sealed_is_found(
    ledger: House, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(background, "seal_some", nothing)
    await tamper(ledger, "DELETE FROM seals WHERE number = 8")
    await tamper(
        ledger,
        "UPDATE transactions SET at = at - interval '2 minutes' WHERE transaction_id NOT IN"
        " (SELECT transaction_id FROM seals)",
    )
    found = await verify(ledger)
    assert found.verified_to == 7
    assert [each.kind for each in found.faults] == [pb.FAULT_KIND_UNSEALED]


async def nothing(store: object, *, everything: bool) -> int:
    """A sealer that does nothing."""
    return 0


async def test_two_replicas_make_one_chain(
    database_url: str, keys: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(background, "SEAL_SECONDS", 0.0)
    async with (
        House.serve(database_url, keys) as first,
        House.serve(database_url, keys) as second,
    ):
        await asyncio.gather(
            *((first, second)[n % 2].deposit(f"p{n % 5}", 1 + n) for n in range(60))
        )
        assert await sealed(first) == 60
        found = await verify(second)
        assert (found.verified_to, [*found.faults]) == (60, [])


async def test_one_that_committed_late_is_sealed_all_the_same(ledger: House) -> None:
    await ledger.deposit("eleni", 5)
    await sealed(ledger)
    await tamper(  # its commit comes long after its time, behind younger ones
        ledger,
        "INSERT INTO transactions VALUES ('01980000-0000-7000-8000-0000000000ee', 'deposit', 'EUR',"
        " NULL, clock_timestamp() - interval '30 seconds')",
    )
    assert await sealed(ledger) == 10
    assert (await verify(ledger)).verified_to == 10


async def test_only_operators_verify(ledger: House) -> None:
    for who in (SERVICE, "eleni"):
        request = pb.VerifyLedgerRequest()
        refused = await refusal(ledger.ask(ledger.games.VerifyLedger, request, who))
        assert refused.reason == "ROLE_REQUIRED"


async def test_the_round_of_verification_goes_on_by_itself(
    database_url: str, keys: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(background, "SEAL_SECONDS", 0.02)
    monkeypatch.setattr(background, "VERIFY_SECONDS", 0.02)
    async with House.serve(database_url, keys) as house:
        await house.funded()
        await played(house, stake=10)
        assert await sealed(house) == 4
        async with asyncio.timeout(PATIENCE):
            while (await report(house)).verified_to != 4:
                assert (await report(house)).faults == 0
        await tamper(house, TAMPERINGS["amount"])
        async with asyncio.timeout(PATIENCE):
            while not (found := await report(house)).faults:
                assert found.sealed_to == 4
        assert found.verified_to == 2


async def test_a_tournament_is_sealed_too(ledger: House) -> None:
    name, (a, b) = await started(ledger, (("anna",), ("babis",)))
    await finish(ledger, name, [[a], [b]])
    assert await sealed(ledger) == 8 + 5
    assert not (await verify(ledger)).faults
    await ledger.database.execute("SET session_replication_role = replica")
    await ledger.database.execute(
        "UPDATE transactions SET tournament_id = NULL WHERE kind = 'payout' AND game_id IS NULL"
    )
    await ledger.database.execute("SET session_replication_role = DEFAULT")
    found = await verify(ledger)
    assert [each.kind for each in found.faults] == [pb.FAULT_KIND_CHANGED]
    assert found.verified_to == 12
