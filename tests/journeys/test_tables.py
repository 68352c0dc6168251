"""Tables from opening one to the ledger: by invitation, with computers, and where not everybody
comes."""

from __future__ import annotations

import asyncio
from contextlib import aclosing
from datetime import timedelta

import asyncpg
from kafeneio.matchmaking.v1 import quick_match_pb2, tables_pb2
from kafeneio.rules.v1 import actions_pb2, game_pb2
from kafeneio_client.client import Client
from kafeneio_client.programs import GreedyProgram, Player

from tests.journeys.evening import PATIENCE, PLAYERS, PURSE, STAKE, Evening, refused

WON, LOST = STAKE.minor_units, -STAKE.minor_units


async def until(client: Client, table: tables_pb2.Table, status: int) -> tables_pb2.Table:
    """The table as soon as it stands so."""
    changes = client.tables.watch(table.table_id, table.version - 1)
    async with asyncio.timeout(PATIENCE), aclosing(changes) as watched:
        async for change in watched:
            if change.status == status:
                return change
    raise AssertionError("the table was closed before")


async def begun(house: Evening, table: tables_pb2.Table, *players: str) -> tables_pb2.Table:
    """The table, once all have agreed and their game waits for them."""
    for player in players:
        table = await house.client(player).tables.ready(table)
    return await until(house.client(players[0]), table, tables_pb2.TABLE_STATUS_MATCHED)


async def matches(house: Evening) -> list[str]:
    """Where all matches stand."""
    connection = await asyncpg.connect(house.url)
    try:
        rows = await connection.fetch("SELECT status FROM matchmaking.matches")
    finally:
        await connection.close()
    return [row["status"] for row in rows]


async def test_a_private_table_from_the_invitation_to_the_ledger(slow: Evening) -> None:
    eleni, nikos = (slow.client(player) for player in PLAYERS)
    for player in PLAYERS:
        await slow.service.wallet.deposit(player, PURSE)
    table = await eleni.tables.create("portes", stake=STAKE, target=1, private=True)
    assert [each async for each in nikos.tables.list()] == []
    await refused("TABLE_UNKNOWN", nikos.tables.get(table.table_id))
    table = await nikos.tables.join(invitation_code=table.invitation_code)
    table = await begun(slow, table, *PLAYERS)
    game_id = table.game_id
    assert await slow.seats(game_id) == list(PLAYERS)
    assert (await slow.service.wallet.balance("EUR", "eleni")).minor_units == (
        PURSE.minor_units - STAKE.minor_units
    )
    async with asyncio.timeout(PATIENCE), asyncio.TaskGroup() as group:
        for seat, client in enumerate((eleni, nikos)):
            game = await client.games.get(game_id)
            await client.games.join(game_id, game.commitment, b"mine")
            group.create_task(Player(client, game_id, seat, GreedyProgram(seat)).play())
    closed = await until(eleni, table, tables_pb2.TABLE_STATUS_CLOSED)
    assert closed.end == tables_pb2.TABLE_END_PLAYED
    decided = (await slow.position(game_id)).outcome.decided
    (winner,) = decided.winners
    assert await slow.paid(game_id) == {
        player: WON if seat == winner else LOST for seat, player in enumerate(PLAYERS)
    }
    assert await eleni.games.verify(game_id) == ()


async def test_a_computer_fills_the_third_seat(slow: Evening) -> None:
    eleni, nikos = (slow.client(player) for player in PLAYERS)
    await refused(
        "OPTION_INVALID", eleni.tables.create("koumkan", stake=STAKE, computers_fill=True)
    )
    table = await eleni.tables.create(
        "koumkan", options={"players": "3"}, target=51, computers_fill=True
    )
    table = await nikos.tables.join(table.table_id, seat=2)
    table = await begun(slow, table, *PLAYERS)
    assert await slow.seats(table.game_id) == ["eleni", "computer-1", "nikos"]
    await slow.join(table.game_id, *PLAYERS)
    async with asyncio.timeout(PATIENCE), asyncio.TaskGroup() as group:
        players = [
            group.create_task(Player(client, table.game_id, seat, GreedyProgram(seat)).play())
            for client, seat in ((eleni, 0), (nikos, 2))
        ]
    assert {(await player).status for player in players} == {game_pb2.GAME_STATUS_FINISHED}
    closed = await until(nikos, table, tables_pb2.TABLE_STATUS_CLOSED)
    assert closed.end == tables_pb2.TABLE_END_PLAYED
    assert await eleni.games.verify(table.game_id) == ()
    await slow.check_money()
    # Nothing was staked, and yet `settlement` tells when such a game is done with.
    async with asyncio.timeout(PATIENCE):
        while await matches(slow) != ["settled"]:
            pass


async def test_who_does_not_come_is_out_and_the_others_sit_at_the_open_table(
    slow: Evening,
) -> None:
    for player in PLAYERS:
        await slow.service.wallet.deposit(player, PURSE)
    table = await slow.client("eleni").tables.create("portes", stake=STAKE)
    table = await slow.client("nikos").tables.join(table.table_id)
    table = await begun(slow, table, *PLAYERS)
    await slow.join(table.game_id, "nikos")
    await slow.hurry_join(table.game_id)
    back = await until(slow.client("nikos"), table, tables_pb2.TABLE_STATUS_OPEN)
    assert [seat.player_id for seat in back.seats] == ["", "nikos"]
    assert [out.player_id for out in back.put_out] == ["eleni"]
    assert await slow.paid(table.game_id) == dict.fromkeys(PLAYERS, 0)
    # They agree once more, and this time both come.
    table = await begun(slow, await slow.client("eleni").tables.join(back.table_id), *PLAYERS)
    await slow.join(table.game_id)
    await slow.client("nikos").games.resign(table.game_id, 1)
    assert await slow.paid(table.game_id) == {"eleni": WON, "nikos": LOST}


async def test_who_came_is_in_front_of_the_queue_again(slow: Evening) -> None:
    """F6 in the queue: his stake is back, and the next who queues meets him."""
    for player in (*PLAYERS, "maria"):
        await slow.service.wallet.deposit(player, PURSE)
    eleni, nikos = (slow.client(player) for player in PLAYERS)
    tickets = [
        await client.queue.enqueue("portes", stake=STAKE, time_to_live=timedelta(minutes=30))
        for client in (eleni, nikos)
    ]
    async with asyncio.timeout(PATIENCE):
        absent, came = await asyncio.gather(
            *(
                client.queue.final(ticket.ticket_id)
                for client, ticket in zip((eleni, nikos), tickets, strict=True)
            )
        )
    first = came.game_id
    await slow.join(first, "nikos")
    await slow.hurry_join(first)
    async with asyncio.timeout(PATIENCE):
        absent = await eleni.queue.final(absent.ticket_id, absent.version)
    assert absent.end == quick_match_pb2.TICKET_END_NO_SHOW
    position = await slow.position(first)
    assert position.outcome.void_reason == actions_pb2.VOID_REASON_NO_SHOW
    await slow.client("maria").queue.enqueue("portes", stake=STAKE)
    async with asyncio.timeout(PATIENCE):
        again = await nikos.queue.final(came.ticket_id, came.version)
    assert again.status == quick_match_pb2.TICKET_STATUS_MATCHED
    assert again.queued_at == tickets[1].queued_at
    assert await slow.seats(again.game_id) == ["nikos", "maria"]
    await slow.join(again.game_id)
    async with asyncio.timeout(PATIENCE):
        started = await nikos.queue.final(again.ticket_id, again.version)
    assert started.status == quick_match_pb2.TICKET_STATUS_STARTED
    await slow.client("maria").games.resign(again.game_id, 1)
    assert await slow.paid(again.game_id) == {"nikos": WON, "maria": LOST}
