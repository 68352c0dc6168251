"""Who comes first: a cancel or a pairing, one ticket of a player or another."""

from __future__ import annotations

import asyncio

from kafeneio.matchmaking.v1 import quick_match_pb2 as pb

from tests.harness import PATIENCE, new_id
from tests.matchmaking.hall import Hall
from tests.rules.refusal import Refused, outcome_of, refusal


async def test_a_cancel_that_comes_after_the_pairing(hall: Hall) -> None:
    asked, answer = asyncio.Event(), asyncio.Event()

    async def slowly(_game: str) -> None:
        asked.set()
        await answer.wait()

    hall.cashier.before_hold = slowly
    eleni, nikos = await hall.enqueue("eleni"), await hall.enqueue("nikos")
    async with asyncio.timeout(PATIENCE):
        await asked.wait()
    before = await hall.snapshot()
    refused = await refusal(hall.cancel(eleni))
    assert refused.what == ("FAILED_PRECONDITION", "TICKET_PAIRED")
    assert refused.metadata == {}
    assert await hall.snapshot() == before
    answer.set()
    matched, _ = await hall.over(eleni, nikos)
    refused = await refusal(hall.cancel(eleni))
    assert refused.what == ("FAILED_PRECONDITION", "TICKET_PAIRED")
    assert refused.metadata == {"game_id": matched.game_id}


async def test_of_a_cancel_and_a_pairing_exactly_one_wins(hall: Hall) -> None:
    games = 0
    for number in range(30):
        eleni = await hall.enqueue("eleni")
        cancel, nikos = await asyncio.gather(
            outcome_of(hall.cancel(eleni)), hall.enqueue(f"nikos {number}")
        )
        if isinstance(cancel, Refused):
            assert cancel.what == ("FAILED_PRECONDITION", "TICKET_PAIRED")
            one, other = await hall.over(eleni, nikos)
            assert one.game_id == other.game_id != ""
            await hall.plays(one.game_id)  # so that she may queue again
            games += 1
        else:
            assert cancel.end == pb.TICKET_END_CANCELLED
            assert (await hall.cancel(nikos)).end == pb.TICKET_END_CANCELLED
    assert len(hall.cashier.holds) == len(await hall.games()) == games


async def test_of_two_tickets_of_a_player_exactly_one_lives(hall: Hall) -> None:
    for number in range(10):
        who = f"player {number}"
        outcomes = await asyncio.gather(*(outcome_of(hall.enqueue(who)) for _ in range(6)))
        (made,) = [each for each in outcomes if isinstance(each, pb.Ticket)]
        for each in outcomes:
            if isinstance(each, Refused):
                assert each.what == ("ALREADY_EXISTS", "TICKET_LIVE")
                assert each.metadata == {"ticket_id": made.ticket_id}
        if number % 2 == 0:
            await hall.cancel(made)
        else:
            await hall.cancel(made, request_id=new_id())
    assert hall.cashier.holds == {}


async def test_of_two_cancels_exactly_one_wins(hall: Hall) -> None:
    eleni = await hall.enqueue("eleni")
    outcomes = await asyncio.gather(*(outcome_of(hall.cancel(eleni)) for _ in range(6)))
    (won,) = [each for each in outcomes if isinstance(each, pb.Ticket)]
    assert won.end == pb.TICKET_END_CANCELLED
    lost = [each for each in outcomes if isinstance(each, Refused)]
    assert {each.what for each in lost} == {("FAILED_PRECONDITION", "TICKET_OVER")}
    assert all(each.metadata == {"end": "CANCELLED"} for each in lost)
    assert len(lost) == 5
