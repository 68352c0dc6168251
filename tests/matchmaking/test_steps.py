"""The saga step by step, driven by hand: what happens when somebody comes in between."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from datetime import timedelta
from pathlib import Path
from uuid import UUID

import asyncpg
import pytest
from kafeneio_matchmaking.domain import (
    End,
    NewTicket,
    Ticket,
    TicketMove,
    TicketStatus,
)
from kafeneio_matchmaking.names import SCHEMA
from kafeneio_matchmaking.schema import metadata
from kafeneio_matchmaking.tickets import Change, PlaceKind
from kafeneio_runtime.migrations import drift

from tests.harness import PATIENCE, Rules, new_id
from tests.matchmaking.cashier import cashier
from tests.matchmaking.desk import PLAYERS, TERMS, Desk, set_up


@pytest.fixture
async def desk(database_url: str, keys: Path) -> AsyncIterator[Desk]:
    """A desk where no game has enough time left to be joined."""
    async with (
        Rules.serve(database_url, keys) as rules,
        cashier() as settlement,
        set_up(rules, settlement) as made,
    ):
        yield made


async def late(desk: Desk) -> tuple[list[Ticket], str]:
    """Two tickets, and their game that nobody is told of any more."""
    tickets = await desk.paired()
    assert [await desk.step() for _ in range(3)] == ["held", "created", "cancelling"]
    return tickets, str((await desk.match())["game_id"])


async def test_a_game_that_nobody_could_join_in_time_is_taken_back(desk: Desk) -> None:
    tickets, game = await late(desk)
    assert desk.cashier.holds == {game: PLAYERS}
    assert await desk.step() == "releasing"
    assert desk.cashier.holds == {game: PLAYERS}, "not before the game is cancelled"
    assert await desk.statuses(tickets) == {TicketStatus.PAIRED}
    assert await desk.step() == "undone"
    assert desk.cashier.holds == {}
    assert await desk.statuses(tickets) == {TicketStatus.QUEUED}
    back = await desk.storage.ticket(tickets[0].ticket_id)
    assert back is not None
    assert (back.queued_at, back.expires_at) == (tickets[0].queued_at, tickets[0].expires_at)
    assert not await desk.saga.step()


async def test_a_game_that_was_joined_meanwhile_is_a_match(desk: Desk) -> None:
    tickets, game_id = await late(desk)
    game = await desk.rules.get(game_id)
    for player in PLAYERS:
        await desk.rules.join(game, player)
    assert await desk.step() == "matched"
    assert await desk.statuses(tickets) == {TicketStatus.MATCHED}
    assert desk.cashier.holds == {game_id: PLAYERS}, "the end of the game pays"


async def test_a_game_that_was_even_won_meanwhile_is_a_match(desk: Desk) -> None:
    tickets, game_id = await late(desk)
    game = await desk.rules.get(game_id)
    for player in PLAYERS:
        await desk.rules.join(game, player)
    await desk.rules.resign(game_id, PLAYERS[0])
    assert await desk.step() == "matched"
    assert await desk.statuses(tickets) == {TicketStatus.MATCHED}
    assert desk.cashier.holds == {game_id: PLAYERS}, "the end of the game pays"


async def test_a_game_that_ended_void_meanwhile_is_taken_back(desk: Desk) -> None:
    tickets, game_id = await late(desk)
    await desk.rules.abort(game_id)
    assert [await desk.step() for _ in range(2)] == ["releasing", "undone"]
    assert await desk.statuses(tickets) == {TicketStatus.QUEUED}
    assert desk.cashier.holds == {}


async def test_a_match_that_is_being_driven_is_left_alone(desk: Desk) -> None:
    await desk.paired()
    asked, answer = asyncio.Event(), asyncio.Event()

    async def slowly(_game: str) -> None:
        asked.set()
        await answer.wait()

    desk.cashier.before_hold = slowly
    async with asyncio.timeout(PATIENCE):
        driving = asyncio.create_task(desk.saga.step())
        await asked.wait()
        assert not await desk.saga.step()
        answer.set()
        assert await driving
    assert len(desk.cashier.calls) == 1


async def waits_for_a_lock(desk: Desk) -> None:
    """Returns once a statement of ours waits for another transaction."""
    async with asyncio.timeout(PATIENCE), desk.store.acquire() as connection:
        while not await connection.fetchval(
            "SELECT count(*) FROM pg_stat_activity"
            " WHERE datname = current_database() AND wait_event_type = 'Lock'"
        ):
            pass


@pytest.mark.parametrize("kept", [True, False], ids=["committed", "rolled back"])
async def test_a_pairing_waits_for_a_cancel(desk: Desk, kept: bool) -> None:
    tickets = [await desk.enqueue(who) for who in PLAYERS]
    cancelled = Change(tickets[0].ticket_id, end=End.CANCELLED)
    pairing: asyncio.Task[int] | None = None
    try:
        async with desk.storage.work() as work:
            assert len(await work.move(TicketMove.CANCEL, [cancelled])) == 1
            pairing = asyncio.create_task(desk.saga.pair())
            await waits_for_a_lock(desk)
            if not kept:
                raise ConnectionError
    except ConnectionError:
        assert not kept
    assert pairing is not None
    assert await pairing == (0 if kept else 1)
    expected = {TicketStatus.ENDED, TicketStatus.QUEUED} if kept else {TicketStatus.PAIRED}
    assert await desk.statuses(tickets) == expected


async def test_only_one_pairs_at_a_time(desk: Desk) -> None:
    for who in PLAYERS:
        await desk.enqueue(who)
    async with desk.storage.work() as work:
        assert await work.alone()
        assert await desk.saga.pair() == 0
    assert await desk.saga.pair() == 1


async def test_a_move_of_another_match_does_nothing(desk: Desk) -> None:
    """A late answer about one match never touches a ticket that is in the next one."""
    tickets = await desk.paired()
    stranger = UUID(new_id())
    async with desk.storage.work() as work:
        for move, change in (
            (TicketMove.RETURN, Change(tickets[0].ticket_id, stranger)),
            (TicketMove.MATCH, Change(tickets[0].ticket_id, stranger, stranger, stranger)),
            (TicketMove.REFUSE, Change(tickets[0].ticket_id, stranger, end=End.SUSPENDED)),
            (TicketMove.CANCEL, Change(tickets[0].ticket_id, end=End.CANCELLED)),
            (TicketMove.EXPIRE, Change(tickets[0].ticket_id, end=End.EXPIRED)),
        ):
            assert await work.move(move, [change]) == []
    assert await desk.statuses(tickets) == {TicketStatus.PAIRED}


async def test_the_database_keeps_one_live_ticket_a_player(desk: Desk) -> None:
    ticket = await desk.enqueue("eleni")
    async with desk.storage.work() as work:
        new = NewTicket(UUID(new_id()), "eleni", TERMS, timedelta(minutes=1))
        assert await work.enqueue(new) is None
        assert await work.place("eleni") == (PlaceKind.TICKET, ticket.ticket_id)
        # Nor has anybody his place, before he is gone.
        await work.move(TicketMove.CANCEL, [Change(ticket.ticket_id, end=End.CANCELLED)])
        assert await work.place("eleni") is None
        assert await work.enqueue(new) is not None
    async with desk.store.acquire() as connection:
        with pytest.raises(asyncpg.UniqueViolationError, match="one_live_ticket"):
            await connection.execute(
                "INSERT INTO tickets SELECT gen_random_uuid(), player_id, variant, edition,"
                " options, target, currency, stake, fee_basis_points, seats, status, version,"
                " queued_at, expires_at, match_id, game_id, ending, changed_at, partner,"
                " house_seat FROM tickets WHERE status = 'queued'"
            )


async def test_the_migrations_make_the_tables(database_url: str) -> None:
    assert await asyncio.to_thread(drift, database_url, SCHEMA, metadata) == []
