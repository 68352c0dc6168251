"""The money of a tournament, from the entry fee to the prize, by hand."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Any

import pytest
from kafeneio.settlement.v1 import prizes_pb2 as pb
from kafeneio.settlement.v1 import wallet_pb2
from kafeneio_client import House as Door

from tests.settlement.house import OPERATOR, PATIENCE, SECOND, SERVICE, House, new_id
from tests.settlement.operators import report
from tests.settlement.tournaments import (
    cancel,
    enter,
    escrow,
    finish,
    leave,
    open_pool,
    pool_of,
    started,
    terms,
)

FOUR = (("anna",), ("babis",), ("dora",), ("fotis",))


async def balances(house: House, players: Sequence[str]) -> list[int]:
    """What each has."""
    return [await house.balance(player) for player in players]


async def fees(house: House) -> int:
    """What the house has taken."""
    query = "SELECT balance FROM accounts WHERE account = 'house:fees'"
    return await house.database.fetchval(query) or 0


async def test_from_the_first_entry_to_the_prizes(house: House) -> None:
    tournament_id, (a, b, d, f) = await started(house, FOUR, entry_fee=101, fee=1000)
    assert await balances(house, ("anna", "babis", "dora", "fotis")) == [899] * 4
    found = await pool_of(house, tournament_id, "anybody")
    assert found.state == pb.POOL_STATE_OPEN
    assert found.escrow.minor_units == 404
    assert [entry.entry_id for entry in found.entries] == [a, b, d, f]
    assert [*found.entries[0].player_ids] == ["anna"]
    assert not found.HasField("settled")

    paid = await finish(house, tournament_id, [[b], [d], [a], [f]])
    # 404, of which the house takes 40 (10 % rounded down). 364 * 70 % is 254.8, * 30 % is 109.2:
    # 254 and 109, and the one that is left to the first.
    assert await balances(house, ("anna", "babis", "dora", "fotis")) == [899, 1154, 1008, 899]
    assert await fees(house) == 40
    assert await escrow(house, tournament_id) == 0
    assert paid == await pool_of(house, tournament_id)
    assert (paid.state, paid.escrow.minor_units) == (pb.POOL_STATE_SETTLED, 0)
    settled = paid.settled
    assert (settled.settlement_version, settled.void) == (1, False)
    assert (settled.prize_rule, settled.rule_version) == ("S5", 1)
    assert (settled.pool.minor_units, settled.fee.minor_units) == (404, 40)
    assert [(p.entry_id, p.place, p.amount, [*p.shares]) for p in settled.prizes] == [
        (b, 1, 255, [255]),
        (d, 2, 109, [109]),
        (a, 3, 0, [0]),
        (f, 4, 0, [0]),
    ]
    assert settled.settled_by == SERVICE
    assert await house.events(tournament_id) == ["tournament_settled"]


async def test_the_statement_of_a_player(house: House) -> None:
    tournament_id, (a, b) = await started(house, FOUR[:2])
    left = await enter(house, tournament_id, ["anna"])
    await leave(house, tournament_id, left.entry_id)
    await finish(house, tournament_id, [[a], [b]])
    entries = (await house.entries("anna"))[::-1]
    kinds = [wallet_pb2.EntryKind.Name(each.kind).removeprefix("ENTRY_KIND_") for each in entries]
    assert kinds == ["DEPOSIT", "HOLD", "HOLD", "RELEASE", "PAYOUT"]
    assert [each.amount.minor_units for each in entries] == [1000, -100, -100, 100, 140]
    assert [each.tournament_id for each in entries] == ["", *[tournament_id] * 4]
    assert {each.game_id for each in entries} == {""}
    settled = (await pool_of(house, tournament_id)).settled
    assert entries[-1].transaction_id == settled.transaction_id


async def test_who_watches_his_wallet_sees_the_prize(house: House) -> None:
    tournament_id, (a, b) = await started(house, FOUR[:2])
    watch = house.watch("anna", 2)
    await finish(house, tournament_id, [[a], [b]])
    async with asyncio.timeout(PATIENCE):
        seen: Any = await watch.read()
    assert (seen.entry.tournament_id, seen.entry.amount.minor_units) == (tournament_id, 140)
    watch.cancel()


async def test_ties_share_what_they_cover(house: House) -> None:
    tournament_id, (a, b, d, f) = await started(house, FOUR, shares=(5000, 3000, 2000))
    # 400: 200, 120, 80. Three share second to fourth: 200 / 3 is 66, and 2 go to the first.
    await finish(house, tournament_id, [[f], [a, b, d]])
    assert await balances(house, ("anna", "babis", "dora", "fotis")) == [966, 966, 966, 1102]


async def test_pairs_share_their_prize(house: House) -> None:
    pairs = (("anna", "babis"), ("dora", "fotis"))
    tournament_id, (first, second) = await started(house, pairs, players=2, entry_fee=51)
    # 204: 142.8 and 61.2, so 143 and 61; an odd unit goes to the first of the pair.
    paid = await finish(house, tournament_id, [[second], [first]])
    assert [[*prize.shares] for prize in paid.settled.prizes] == [[72, 71], [31, 30]]
    assert await balances(house, ("anna", "babis", "dora", "fotis")) == [980, 979, 1021, 1020]


async def test_a_tournament_that_is_cancelled(house: House) -> None:
    tournament_id, (a, _, _, f) = await started(house, FOUR, fee=5000)
    await leave(house, tournament_id, f)
    void = await cancel(house, tournament_id)
    assert await balances(house, ("anna", "babis", "dora", "fotis")) == [1000] * 4
    assert (await fees(house), await escrow(house, tournament_id)) == (0, 0)
    assert (void.state, void.settled.void) == (pb.POOL_STATE_VOID, True)
    assert void.settled.reason == "nobody came"
    assert [(p.place, p.amount) for p in void.settled.prizes] == [(0, 100)] * 3
    assert void.settled.prizes[0].entry_id == a
    again = await cancel(house, tournament_id, "operator")
    assert again == void
    assert await house.events(tournament_id) == ["tournament_settled"]


async def test_a_tournament_that_nobody_entered(house: House) -> None:
    tournament_id = (await open_pool(house)).tournament_id
    void = await cancel(house, tournament_id)
    assert (void.state, [*void.settled.prizes]) == (pb.POOL_STATE_VOID, [])
    assert void.settled.transaction_id == ""
    assert await house.events(tournament_id) == ["tournament_settled"]


async def test_a_free_tournament(house: House) -> None:
    """Nothing moves, and nobody needs a wallet; even a suspended one will do."""
    await house.deposit("anna", 5)
    await house.suspend("anna")
    tournament_id = (await open_pool(house, entry_fee=0, fee=1000)).tournament_id
    a, b, left = [
        (await enter(house, tournament_id, [who])).entry_id for who in ("anna", "babis", "dora")
    ]
    assert (await leave(house, tournament_id, left)).released
    paid = await finish(house, tournament_id, [[b], [a]])
    assert [(p.entry_id, p.amount) for p in paid.settled.prizes] == [(b, 0), (a, 0)]
    assert (paid.settled.fee.minor_units, paid.settled.transaction_id) == (0, "")
    assert await house.database.fetchval("SELECT count(*) FROM transactions") == 1
    other = (await open_pool(house, entry_fee=0)).tournament_id
    await enter(house, other, ["babis"])
    assert (await cancel(house, other)).state == pb.POOL_STATE_VOID


async def test_a_pool_of_one_unit(house: House) -> None:
    tournament_id, (a, b) = await started(house, FOUR[:2], entry_fee=1, fee=4999)
    # 2, of which 49.99 % rounded down is nothing; 70 % of 2 is 1, 30 % nothing.
    await finish(house, tournament_id, [[a], [b]])
    assert await balances(house, ("anna", "babis")) == [1001, 999]


async def test_the_same_again_under_another_request_id(house: House) -> None:
    for player in ("anna", "babis"):
        await house.deposit(player, 1000)
    opened = await open_pool(house, fee=250)
    name = opened.tournament_id
    assert await open_pool(house, name, fee=250) == opened
    held = await enter(house, name, ["anna"])
    assert await enter(house, name, ["anna"], held.entry_id) == held
    other = await enter(house, name, ["babis"])
    left = await leave(house, name, other.entry_id)
    assert await leave(house, name, other.entry_id) == left
    assert left.released
    assert left.HasField("released_at")
    paid = await finish(house, name, [[held.entry_id]])
    assert await finish(house, name, [[held.entry_id]]) == paid
    # 100 less 2.5 % rounded down, and all of it to the only one there.
    assert await balances(house, ("anna", "babis")) == [998, 1000]
    assert await leave(house, name, other.entry_id) == left, "it was released before"


async def test_a_release_that_comes_first(house: House) -> None:
    await house.deposit("anna", 1000)
    name, entry = (await open_pool(house)).tournament_id, new_id()
    mark = await leave(house, name, entry)
    assert (mark.released, [*mark.player_ids], mark.HasField("held_at")) == (True, [], False)
    assert await leave(house, name, entry) == mark
    await enter(house, name, ["anna"])
    assert await house.balance("anna") == 900
    assert len((await pool_of(house, name)).entries) == 2


async def test_another_currency(house: House) -> None:
    for player in ("anna", "babis"):
        await house.deposit(player, 300, "USD")
    name = (await open_pool(house, currency="USD", fee=1000)).tournament_id
    a, b = [(await enter(house, name, [who])).entry_id for who in ("anna", "babis")]
    await finish(house, name, [[a], [b]])
    # 200 less 20: 126 and 54.
    assert await house.balance("anna", "USD") == 326
    assert await house.balance("babis", "USD") == 254


async def test_terms_as_they_were_published(house: House) -> None:
    opened = await open_pool(house, entry_fee=7, fee=300, shares=(5000, 2500, 2500), players=2)
    found = (await pool_of(house, opened.tournament_id)).terms
    assert (found.entry_fee.minor_units, found.entry_fee.currency_code) == (7, "EUR")
    assert (found.fee_basis_points, [*found.prize_shares]) == (300, [5000, 2500, 2500])
    assert (found.players_per_entry, found.HasField("starts_at")) == (2, False)


@pytest.mark.parametrize("size", [2, 3, 8, 130])
async def test_many_entries(house: House, size: int) -> None:
    players = [f"p{number}" for number in range(size)]
    shares = (5000, 3000, 2000)
    name, ids = await started(house, [[who] for who in players], entry_fee=7, shares=shares)
    await finish(house, name, [[each] for each in ids])
    total = sum(await balances(house, players))
    assert total == 1000 * size
    assert await escrow(house, name) == 0
    # 7 * 130 = 910: 455, 273, 182 to the unit; smaller ones leave something to the first.
    if size == 130:
        assert await balances(house, players[:4]) == [1448, 1266, 1175, 993]
    books = await report(house)
    assert (books.imbalance, books.orphaned_escrows) == (0, 0)


async def test_the_client(house: House) -> None:
    """All of it by the library."""
    for player in ("anna", "babis"):
        await house.deposit(player, 1000)

    def token(who: str) -> str:
        return house.credentials(who)[0][1].removeprefix("Bearer ")

    async with Door(settlement=house.server.address) as door:
        service, operator = (door.client(token(who)).prizes for who in (SERVICE, OPERATOR))
        name = new_id()
        opened = await service.open(name, terms(fee=1000))
        assert opened.terms.fee_basis_points == 1000
        entries = [new_id(), new_id(), new_id()]
        for entry, who in zip(entries, ("anna", "babis", "anna"), strict=True):
            assert (await service.hold(name, entry, [who])).player_ids == [who]
        assert (await service.release(name, entries[2])).released
        paid = await service.settle(name, [[entries[1]], [entries[0]]])
        assert [prize.amount for prize in paid.settled.prizes] == [126, 54]
        assert await door.client(token("anna")).prizes.get(name) == paid
        proposed = await operator.correct(name, "swapped", order=[entries[:2]])
        assert [place.place for place in proposed.standings.places] == [1]
        second = door.client(token(SECOND)).settlement
        assert (await second.approve_any(name, 1)).prize_pool.settled.settlement_version == 2
        assert (await operator.correct(name, "a fault", terms=terms(fee=0))).terms == terms()
        other = (await service.open(new_id(), terms())).tournament_id
        assert (await operator.void(other, "nobody came")).settled.void
        events = [event async for event in door.client(token(SERVICE)).settlement.events(name)]
        assert [event.tournament_id for event in events] == [name, name]
