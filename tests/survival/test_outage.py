"""SIGKILL of the whole house in a staked game, and a long time until it is back: nobody is charged
for that time (X10), and the winner is paid."""

from __future__ import annotations

import asyncio
from contextlib import aclosing
from pathlib import Path

import asyncpg
import pytest
from kafeneio.matchmaking.v1 import quick_match_pb2
from kafeneio.rules.v1 import game_pb2
from kafeneio_client.money import Money

from tests.survival.process import PATIENCE, Running, serving
from tests.survival.table import PLAYERS, Turn, play

STAKE = Money("EUR", 300)
TIMES = {
    "KAFENEIO_CLOCK_MOVE_SECONDS": "5",
    "KAFENEIO_CLOCK_GRACE_SECONDS": "0.2",
    "KAFENEIO_CLOCK_SILENT_SECONDS": "12",
    "KAFENEIO_CLOCK_UNKNOWN_SECONDS": "20",
}
OUTAGE = 40.0
"""Seconds: more than the five periods of a move that lose a game, if they were charged."""


async def matched(house: Running) -> str:
    """The id of a staked game that both have joined."""

    async def queued(player: str) -> str:
        await house.service.wallet.deposit(player, STAKE)
        queue = house.client(player).queue
        ticket = await queue.enqueue("portes", stake=STAKE)
        async with aclosing(queue.watch(ticket.ticket_id)) as changes:
            async for changed in changes:
                if changed.status == quick_match_pb2.TICKET_STATUS_MATCHED:
                    return changed.game_id
        raise AssertionError(f"{player} was not matched")

    async with asyncio.timeout(PATIENCE):
        game_id, _ = await asyncio.gather(*map(queued, PLAYERS))
    for player in PLAYERS:
        games = house.client(player).games
        await games.join(game_id, (await games.get(game_id)).commitment, b"")
    return game_id


async def past(url: str, seconds: float) -> None:
    """So much real time, by the database's clock: an outage is nothing else."""
    connection = await asyncpg.connect(url)
    try:
        await connection.execute("SELECT pg_sleep($1)", seconds)
    finally:
        await connection.close()


@pytest.mark.timeout(240)
@pytest.mark.drill
async def test_a_long_outage_in_mid_game_charges_nobody(folder: Path, database_url: str) -> None:
    settings = {"KAFENEIO_DATABASE_URL": database_url, **TIMES}
    async with serving(folder, **settings) as house:
        game_id = await matched(house)
        async with (
            house.client(PLAYERS[0]).clock.attending(game_id),
            house.client(PLAYERS[1]).clock.attending(game_id),
        ):
            await play(house, game_id, turns=4)
            before = [seat.charged for seat in (await house.service.clock.get(game_id)).seats]
            await house.kill()
    await past(database_url, OUTAGE)

    async with serving(folder, **settings) as house:
        players = [house.client(player) for player in PLAYERS]
        async with (
            players[0].clock.attending(game_id) as attendance,
            players[1].clock.attending(game_id),
        ):
            after = [seat.charged for seat in attendance.clock.seats]
            position = await play(house, game_id, turns=5000)
        events = [event async for event in house.service.clock.events(game_id)]
        given = [event for event in events if event.WhichOneof("event") == "clock_credited"]
        assert before == after == [0, 0]
        assert not [event for event in events if event.WhichOneof("event") == "seat_forfeited"]
        credited = sum(
            event.clock_credited.duration.ToTimedelta().total_seconds() for event in given
        )
        assert credited >= OUTAGE
        assert position.status == game_pb2.GAME_STATUS_FINISHED
        await house.service.settlement.settled(game_id, PATIENCE)
        seats = [s.player_id for s in (await house.service.games.get(game_id)).seats]
        winner = seats[position.outcome.decided.winners[0]]
        for player in PLAYERS:
            expected = 2 * STAKE.minor_units if player == winner else 0
            balance = await house.service.wallet.balance("EUR", player)
            assert balance.minor_units == expected
        await house.end()


@pytest.mark.timeout(180)
async def test_a_short_outage_across_the_deadline_charges_nobody(
    folder: Path, database_url: str
) -> None:
    # Back within two seconds, and the period ran out meanwhile: the seat gets that time back.
    settings = {
        "KAFENEIO_DATABASE_URL": database_url,
        **TIMES,
        "KAFENEIO_CLOCK_MOVE_SECONDS": "6",
        "KAFENEIO_CLOCK_TIMEOUTS": "1",
    }
    async with serving(folder, **settings) as house:
        game_id = await matched(house)
        seat = (await house.service.games.turn(game_id)).turn.seat
        game = await house.service.games.get(game_id)
        idle = house.client(game.seats[seat].player_id)
        async with idle.clock.attending(game_id) as attendance:
            left = attendance.clock.turn.move_left.ToTimedelta().total_seconds()
            await past(database_url, left - 0.8)
            await house.kill()
    async with serving(folder, **settings) as house:
        idle = house.client(game.seats[seat].player_id)
        async with idle.clock.attending(game_id):
            turn = await Turn.chosen(house, game_id, seed=1)
            await turn.play(house, game_id)
        events = [event async for event in house.service.clock.events(game_id)]
        kinds = {event.WhichOneof("event") for event in events}
        assert "clock_credited" in kinds
        assert not kinds & {"timeout_incurred", "seat_forfeited"}
