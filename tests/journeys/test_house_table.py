"""A table against the house: no stake, a computer in every other seat, and always shown as such."""

from __future__ import annotations

import asyncio

import pytest
from kafeneio.matchmaking.v1 import quick_match_pb2
from kafeneio.rules.v1 import game_pb2
from kafeneio_client.programs import GreedyProgram, Player

from tests.journeys.evening import PATIENCE, Evening


@pytest.mark.parametrize(("variant", "target"), [("portes", 1), ("pilotta", 101), ("coinche", 501)])
async def test_a_whole_game_against_the_computer(slow: Evening, variant: str, target: int) -> None:
    client = slow.client("eleni")
    ticket = await client.queue.play_house(variant, target=target)
    async with asyncio.timeout(PATIENCE):
        ticket = await client.queue.final(ticket.ticket_id)
    assert ticket.status == quick_match_pb2.TICKET_STATUS_MATCHED
    assert ticket.house
    game_id = ticket.game_id
    game = await client.games.get(game_id)
    (own,) = [seat.seat for seat in game.seats if not seat.computer]
    assert all(
        seat.player_id.startswith("computer-") and seat.joined
        for seat in game.seats
        if seat.computer
    )
    await client.games.join(game_id, game.commitment, b"mine")
    async with asyncio.timeout(PATIENCE):
        last = await Player(client, game_id, own, GreedyProgram(1)).play()
    assert last.status == game_pb2.GAME_STATUS_FINISHED
    assert last.outcome.HasField("decided")
    assert await client.games.verify(game_id) == ()
    clock = await client.clock.get(game_id)
    assert [seat.charged for seat in clock.seats if seat.seat != own] == [0] * (len(game.seats) - 1)
