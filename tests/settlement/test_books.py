"""What operators look at: the report, the gauges, the command."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from kafeneio.settlement.v1 import ledger_pb2
from kafeneio.settlement.v1 import settlement_pb2 as pb
from kafeneio_client.cli import tokens
from kafeneio_client.cli.app import app
from kafeneio_runtime.auth import Role
from kafeneio_runtime.bus import Event
from kafeneio_settlement import background
from prometheus_client import REGISTRY
from typer.testing import CliRunner

from tests.rules.refusal import refusal
from tests.settlement.house import OPERATOR, PATIENCE, SERVICE, House, Says
from tests.settlement.operators import approve, correct, played, report, result_request, void
from tests.settlement.tournaments import cancel, open_pool, propose, terms

LEFT = ((1, "LEFT"),)
OLD = "UPDATE games SET held_at = held_at - interval '11 minutes' WHERE game_id = $1::text::uuid"
STOLEN = """
    WITH t AS (
        INSERT INTO transactions VALUES (gen_random_uuid(), 'hold', 'EUR', NULL, now())
        RETURNING transaction_id
    ), moved AS (
        INSERT INTO transfers SELECT transaction_id, 0, 'EUR', 'player:eleni', 'escrow:nobody', 7,
            (SELECT version + 1 FROM accounts WHERE account = 'player:eleni'),
            (SELECT balance - 7 FROM accounts WHERE account = 'player:eleni'), 1, 7 FROM t
    ), new AS (
        INSERT INTO accounts VALUES ('escrow:nobody', 'EUR', 7, 1)
    )
    UPDATE accounts SET balance = balance - 7, version = version + 1
    WHERE account = 'player:eleni'
"""


def metric(name: str, **labels: str) -> float:
    """What Prometheus reads."""
    found = REGISTRY.get_sample_value(name, labels)
    assert found is not None, name
    return found


async def until(house: House, name: str, value: float, **labels: str) -> None:
    """Returns when a gauge stands there."""
    async with asyncio.timeout(PATIENCE):
        while metric(name, **labels) != value:
            await house.wallet("eleni")


@pytest.fixture
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    """All looks, all the time."""
    for name in ("COUNT", "BALANCE", "HOLDS", "SEAL"):
        monkeypatch.setattr(background, f"{name}_SECONDS", 0.02)
    monkeypatch.setattr(background, "VERIFY_SECONDS", 0.05)


async def test_where_the_money_is(house: House) -> None:
    await house.funded(amount=1000)
    await house.hold(stake=100)
    await played(house, stake=200, fee=1000)
    (totals,) = (await report(house)).totals
    assert (totals.wallets.minor_units, totals.escrows.minor_units) == (1760, 200)
    assert (totals.fees.minor_units, totals.owed.minor_units) == (40, 0)
    assert totals.paid_in.minor_units == 2000


async def test_what_waits_for_an_operator(house: House) -> None:
    await house.funded(amount=10_000)
    waiting = Says((await house.hold(stake=10)).game_id)
    await house.publish(waiting.finished())
    differ = Says((await house.hold(stake=20)).game_id)
    await house.publish(differ.finished(out=LEFT), differ.closed())
    game_id = (await played(house)).game_id
    await correct(house, result_request(game_id))
    found = await report(house)
    assert (found.unsettled, found.old_holds, found.open_corrections) == (2, 0, 1)
    first, second = found.unsettled_games
    assert (first.game_id, first.state, first.awaited) == (waiting.game_id, "PENDING", "clock")
    assert (second.game_id, second.state) == (differ.game_id, "MISMATCH")
    assert (second.problem, second.awaited) == ("FORFEITS_DIFFER", "")
    assert second.escrow.minor_units == 40
    assert found.corrections[0].reason == "the wrong one was paid"
    await house.resolve(differ.game_id)
    await house.publish(waiting.closed())
    await approve(house, game_id)
    found = await report(house)
    assert (found.unsettled, found.open_corrections) == (0, 0)


async def test_a_proposal_that_can_no_longer_be_approved_waits_for_nobody(house: House) -> None:
    await house.funded()
    game_id = (await played(house)).game_id
    await correct(house, result_request(game_id))
    await void(house, game_id)
    assert (await report(house)).open_corrections == 2
    await approve(house, game_id, 2)
    assert (await report(house)).open_corrections == 0


async def test_an_old_hold_is_reported_and_stays(
    database_url: str, keys: Path, quick: None
) -> None:
    async with House.serve(database_url, keys) as house:
        await house.funded()
        says = Says((await house.hold(stake=100)).game_id)
        fresh = (await house.hold(stake=50)).game_id
        await house.database.execute(OLD, says.game_id)
        await until(house, "kafeneio_settlement_old_holds", 1)
        found = await report(house)
        assert [each.game_id for each in found.old_hold_games] == [says.game_id]
        assert found.old_hold_games[0].escrow.minor_units == 200
        assert (await house.settlement(says.game_id)).state == pb.SETTLEMENT_STATE_HELD
        assert (await house.settlement(fresh)).state == pb.SETTLEMENT_STATE_HELD
        await house.publish(says.started())  # posted: it waits for nobody's decision any more
        await until(house, "kafeneio_settlement_old_holds", 0)
        assert await house.balance("eleni") == 850
        await house.check_ledger()


async def test_the_gauges(database_url: str, keys: Path, quick: None) -> None:
    async with House.serve(database_url, keys) as house:
        await house.funded()
        await played(house, stake=10)
        await until(house, "kafeneio_ledger_sealed_transactions", 4)
        await until(house, "kafeneio_ledger_verified_transactions", 4)
        await until(house, "kafeneio_ledger_orphaned_escrows", 0)
        await until(house, "kafeneio_ledger_imbalance", 0)
        assert metric("kafeneio_ledger_faults") == 0
        await house.database.execute(STOLEN)
        await until(house, "kafeneio_ledger_orphaned_escrows", 1)
        found = await report(house)
        assert (found.orphaned_escrows, found.imbalance) == (1, 0)
        assert (found.orphans[0].account, found.orphans[0].state) == ("escrow:nobody", "")
        await house.database.execute("SET session_replication_role = replica")
        await house.database.execute(
            "UPDATE accounts SET balance = balance + 3 WHERE account = 'player:eleni'"
        )
        await house.database.execute("SET session_replication_role = DEFAULT")
        await until(house, "kafeneio_ledger_imbalance", 3)
        await until(house, "kafeneio_ledger_faults", 1)


async def test_the_age_of_the_outbox(database_url: str, keys: Path, quick: None) -> None:
    async with House.serve(database_url, keys) as house:
        goes_on = asyncio.Event()

        async def slow(events: Sequence[Event]) -> None:
            await goes_on.wait()

        await house.bus.subscribe("settlement.events", "slow", slow)
        await house.funded()
        await house.hold(stake=10)
        async with asyncio.timeout(PATIENCE):
            while not metric("kafeneio_outbox_age_seconds", service="settlement"):
                await house.wallet("eleni")
        found = await report(house)
        assert found.outbox_pending == 1
        assert 0 < found.outbox_age_seconds < PATIENCE
        goes_on.set()
        await until(house, "kafeneio_outbox_age_seconds", 0, service="settlement")
        assert (await report(house)).outbox_pending == 0


async def test_only_operators_see_the_books(house: House) -> None:
    for who in (SERVICE, "eleni"):
        call = house.ask(house.games.GetLedgerReport, ledger_pb2.GetLedgerReportRequest(), who)
        assert (await refusal(call)).reason == "ROLE_REQUIRED"


async def run(house: House, *arguments: str) -> tuple[int, str]:
    """`kafeneio ledger …` as an operator, in a thread beside the house."""
    token = house.credentials(OPERATOR)[0][1].removeprefix("Bearer ")
    address = house.server.address
    words = ["ledger", *arguments, "--settlement", address, "--token", token]
    done = await asyncio.to_thread(CliRunner().invoke, app, words)
    return done.exit_code, done.output


async def test_the_command(database_url: str, keys: Path, quick: None) -> None:
    async with House.serve(database_url, keys) as house:
        await house.funded(amount=10_000)
        game_id = (await played(house, stake=1000)).game_id
        differ = Says((await house.hold(stake=20)).game_id)
        await house.publish(differ.finished(out=LEFT), differ.closed())
        await correct(house, result_request(game_id), "operator-2")
        late = datetime.now(UTC) - timedelta(days=2)
        overdue = (await open_pool(house, starts_at=late)).tournament_id
        cancelled = (await open_pool(house)).tournament_id
        await cancel(house, cancelled)
        await propose(house, cancelled, right=terms(fee=1))
        await until(house, "kafeneio_ledger_verified_transactions", 5)
        code, text = await run(house, "report")
        assert code == 0, text
        for part in (
            "wallets 199.60 EUR, owed 0.00 EUR, escrow 0.40 EUR",
            "imbalance: 0",
            "sealed up to 5, verified up to 5",
            f"{differ.game_id}  mismatch",
            "forfeits_differ",
            f"{game_id}  number 1, by operator-2: the wrong one was paid",
            "started over a day ago and are not paid: 1",
            overdue,
            f"{cancelled}  number 1, by operator: two results were swapped",
        ):
            assert part in text
        code, text = await run(house, "verify")
        assert code == 0, text
        assert "Verified up to seal 5" in text
        code, text = await run(house, "approve", game_id, "1")
        assert (code, "settlement 2 counts now" in text) == (0, True), text
        await propose(house, cancelled, who="operator-2")
        code, text = await run(house, "approve", cancelled, "2")
        assert (code, "settlement 2 counts now" in text) == (0, True), text
        await house.database.execute("SET session_replication_role = replica")
        await house.database.execute("DELETE FROM seals WHERE number = 2")
        await house.database.execute("SET session_replication_role = DEFAULT")
        code, text = await run(house, "verify")
        assert (code, "missing seal 2" in text) == (1, True), text


def test_without_a_token_one_for_an_operator_is_made(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[tuple[str, str]] = []

    def made(name: str, role: str = "player") -> str:
        asked.append((name, role))
        return "nothing"

    monkeypatch.setattr(tokens, "make", made)
    command = ["ledger", "report", "--settlement", "127.0.0.1:1", "--as", "olga"]
    done = CliRunner().invoke(app, command)
    assert done.exit_code == 2
    assert asked == [("olga", Role.OPERATOR.value)]
