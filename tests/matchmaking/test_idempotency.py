"""A call that is sent n times is as if sent once."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

from kafeneio.matchmaking.v1 import quick_match_pb2 as pb

from tests.harness import new_id
from tests.matchmaking.hall import Hall, terms
from tests.rules.refusal import refusal


async def test_enqueue(database_url: str, keys: Path) -> None:
    async with (
        Hall.serve(database_url, keys) as first,
        Hall.beside(first.rules, first.cashier) as second,
    ):
        ids: dict[str, Any] = {"ticket_id": new_id(), "request_id": new_id()}
        halls = [(first, second)[number % 2] for number in range(10)]
        answers = await asyncio.gather(*(hall.enqueue("eleni", **ids) for hall in halls))
        assert all(answer == answers[0] for answer in answers)
        before = await first.snapshot()
        assert await second.enqueue("eleni", **ids) == answers[0]
        assert await first.snapshot() == before
        assert before["tickets"][0] == before["requests"][0] == 1
        # Also once the ticket has moved on, and by another process.
        await first.cancel(answers[0])
        assert await second.enqueue("eleni", **ids) == answers[0]
    async with Hall.serve(database_url, keys) as third:
        assert await third.enqueue("eleni", **ids) == answers[0]


async def test_cancel(hall: Hall) -> None:
    ticket, request_id = await hall.enqueue("eleni"), new_id()
    answers = await asyncio.gather(*(hall.cancel(ticket, request_id=request_id) for _ in range(10)))
    assert all(answer == answers[0] for answer in answers)
    assert answers[0].version == 2
    before = await hall.snapshot()
    assert await hall.cancel(ticket, request_id=request_id) == answers[0]
    assert await hall.snapshot() == before


async def test_a_ticket_sent_again_under_another_request_id_is_the_same_ticket(hall: Hall) -> None:
    eleni = await hall.enqueue("eleni")
    assert await hall.enqueue("eleni", ticket_id=eleni.ticket_id) == eleni
    matched, _ = await hall.over(eleni, await hall.enqueue("nikos"))
    again = await hall.enqueue("eleni", ticket_id=eleni.ticket_id)
    assert again == matched
    assert await hall.database.fetchval("SELECT count(*) FROM tickets") == 2


async def test_a_request_id_is_for_one_request_of_one_player(hall: Hall) -> None:
    request_id = new_id()
    eleni = await hall.enqueue("eleni", request_id=request_id)
    before = await hall.snapshot()
    found = await refusal(hall.enqueue("eleni", request_id=request_id))
    assert found.what == ("ALREADY_EXISTS", "REQUEST_ID_REUSED")
    assert await hall.snapshot() == before
    other = await hall.enqueue("nikos", request_id=request_id, asked=terms(1))
    assert other.ticket_id != eleni.ticket_id
    cancelled = await hall.cancel(eleni, request_id=request_id)
    assert cancelled.end == pb.TICKET_END_CANCELLED


async def test_a_refusal_is_not_kept(hall: Hall) -> None:
    ids: dict[str, Any] = {"ticket_id": new_id(), "request_id": new_id()}
    first = await hall.enqueue("eleni")
    assert (await refusal(hall.enqueue("eleni", **ids))).reason == "TICKET_LIVE"
    await hall.cancel(first)
    assert (await hall.enqueue("eleni", **ids)).ticket_id == ids["ticket_id"]
