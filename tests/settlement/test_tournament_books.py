"""What operators see of tournaments: pools that nobody settles, and escrows that are wrong."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from kafeneio_settlement import background

from tests.settlement.house import House
from tests.settlement.operators import report
from tests.settlement.test_books import until
from tests.settlement.tournaments import cancel, enter, finish, leave, open_pool, propose, started

TWO = (("anna",), ("babis",))


def ago(**time: float) -> datetime:
    """A time that has passed."""
    return datetime.now(UTC) - timedelta(**time)


async def test_books_in_order(house: House) -> None:
    name, (a, b) = await started(house, TWO, fee=1000)
    books = await report(house)
    assert (books.orphaned_escrows, books.overdue_pools, books.imbalance) == (0, 0, 0)
    assert books.totals[0].escrows.minor_units == 200
    await finish(house, name, [[a], [b]])
    other = (await open_pool(house)).tournament_id
    gone = (await enter(house, other, ["anna"])).entry_id
    await leave(house, other, gone)
    books = await report(house)
    assert (books.orphaned_escrows, books.overdue_pools, books.imbalance) == (0, 0, 0)
    assert books.totals[0].escrows.minor_units == 0
    assert books.totals[0].fees.minor_units == 20


async def test_a_tournament_that_nobody_settles(house: House) -> None:
    late, _ = await started(house, TWO, starts_at=ago(hours=25))
    later, _ = await started(house, TWO, starts_at=ago(hours=23))
    await started(house, TWO)
    books = await report(house)
    assert books.overdue_pools == 1
    (found,) = books.overdue_pool_tournaments
    assert (found.tournament_id, found.entries) == (late, 2)
    assert found.escrow.minor_units == 200
    await cancel(house, late)
    await cancel(house, later)
    assert (await report(house)).overdue_pools == 0


async def test_the_gauge(database_url: str, keys: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(background, "BALANCE_SECONDS", 0.02)
    async with House.serve(database_url, keys) as house:
        await house.funded("eleni")
        name, _ = await started(house, TWO, starts_at=ago(hours=25))
        await until(house, "kafeneio_settlement_overdue_pools", 1)
        await cancel(house, name)
        await until(house, "kafeneio_settlement_overdue_pools", 0)


async def test_where_no_start_was_published_the_opening_counts(house: House) -> None:
    name, _ = await started(house, TWO)
    await house.database.execute("SET session_replication_role = replica")
    await house.database.execute("UPDATE prize_pools SET at = at - interval '25 hours'")
    await house.database.execute("SET session_replication_role = DEFAULT")
    (found,) = (await report(house)).overdue_pool_tournaments
    assert found.tournament_id == name


async def test_an_escrow_that_is_not_that_of_its_entries(house: House) -> None:
    name, (a, _) = await started(house, TWO)
    await house.database.execute("SET session_replication_role = replica")
    await house.database.execute("DELETE FROM pool_entries WHERE entry_id = $1::text::uuid", a)
    await house.database.execute("SET session_replication_role = DEFAULT")
    books = await report(house)
    assert books.orphaned_escrows == 1
    (orphan,) = books.orphans
    assert (orphan.account, orphan.state) == (f"escrow:{name}", "OPEN")
    assert orphan.balance.minor_units == 200


async def test_fees_that_are_not_there(house: House) -> None:
    """Whoever writes an entry without its money is found, too."""
    name = (await open_pool(house)).tournament_id
    await house.database.execute(
        "INSERT INTO pool_entries VALUES ($1::text::uuid, gen_random_uuid(), '{anna}')", name
    )
    (orphan,) = (await report(house)).orphans
    assert (orphan.account, orphan.balance.minor_units) == (f"escrow:{name}", 0)


async def test_money_in_the_escrow_of_a_tournament_that_is_paid(house: House) -> None:
    name, (a, b) = await started(house, TWO)
    await finish(house, name, [[a], [b]])
    await house.database.execute("SET session_replication_role = replica")
    await house.database.execute(
        "UPDATE accounts SET balance = 1 WHERE account = $1", f"escrow:{name}"
    )
    books = await report(house)
    await house.database.execute(
        "UPDATE accounts SET balance = 0 WHERE account = $1", f"escrow:{name}"
    )
    await house.database.execute("SET session_replication_role = DEFAULT")
    (orphan,) = books.orphans
    assert (orphan.account, orphan.state) == (f"escrow:{name}", "SETTLED")


async def test_corrections_that_wait(house: House) -> None:
    name, (a, b) = await started(house, TWO)
    await finish(house, name, [[a], [b]])
    await propose(house, name, [[b], [a]])
    books = await report(house)
    assert books.open_tournament_corrections == 1
    (found,) = books.tournament_corrections
    assert (found.tournament_id, found.number) == (name, 1)
    assert [[*place.entry_ids] for place in found.standings.places] == [[b], [a]]
