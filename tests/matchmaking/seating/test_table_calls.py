"""Calls of TableService that are sent n times, and calls that meet."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from kafeneio.matchmaking.v1 import tables_pb2 as pb

from tests.harness import new_id
from tests.matchmaking.four import card_room
from tests.matchmaking.hall import Hall, terms
from tests.matchmaking.seating.room import MATCHED, OPEN, STARTING, Room, readiness, seats
from tests.rules.refusal import Refused, outcome_of, refusal


@asynccontextmanager
async def two_replicas(url: str, keys: Path) -> AsyncIterator[tuple[Room, Room]]:
    """On one database."""
    async with (
        Hall.serve(url, keys) as first,
        Hall.beside(first.rules, first.cashier) as second,
    ):
        yield Room(first), Room(second)


@pytest.mark.parametrize("method", ["create", "join", "leave", "ready"])
async def test_n_times_is_once(database_url: str, keys: Path, method: str) -> None:
    async with two_replicas(database_url, keys) as rooms:
        request_id, table_id = new_id(), new_id()
        table = await rooms[0].create("eleni", private=True)
        if method != "create":
            table = await rooms[0].join(table, "nikos", code=table.invitation_code)
        called: dict[str, Any] = {
            "create": lambda room: room.create(
                "maria", request_id=request_id, table_id=table_id, private=True
            ),
            "join": lambda room: room.join(
                table, "eleni", 1 if method == "create" else None, request_id=request_id
            ),
            "leave": lambda room: room.leave(table, "nikos", request_id=request_id),
            "ready": lambda room: room.ready(table, "nikos", request_id=request_id),
        }
        call = called[method]
        answers = await asyncio.gather(*(call(rooms[number % 2]) for number in range(10)))
        assert all(answer == answers[0] for answer in answers)
        before = await rooms[0].hall.snapshot()
        assert await call(rooms[1]) == answers[0]
        assert await rooms[0].hall.snapshot() == before
        # The id is for one request.
        found = await refusal(
            rooms[0].create("maria", request_id=request_id)
            if method == "create"
            else called[method](_Other(rooms[0]))
        )
        assert found.what == ("ALREADY_EXISTS", "REQUEST_ID_REUSED")
        assert await rooms[0].hall.snapshot() == before


class _Other:
    """Calls that ask for something else under the same request id."""

    def __init__(self, room: Room) -> None:
        self._room = room

    async def join(self, table: pb.Table, who: str, *_seat: object, request_id: str) -> pb.Table:
        return await self._room.join(table, who, 1, request_id=request_id)

    async def leave(self, table: pb.Table, who: str, request_id: str) -> pb.Table:
        other = pb.Table(table_id=new_id())
        return await self._room.leave(other, who, request_id=request_id)

    async def ready(self, table: pb.Table, who: str, request_id: str) -> pb.Table:
        return await self._room.ready(table, who, False, request_id=request_id)


async def test_of_those_who_want_the_last_seat_exactly_one_has_it(
    database_url: str, keys: Path
) -> None:
    async with two_replicas(database_url, keys) as rooms:
        for number in range(6):
            table = await rooms[0].create(f"host {number}")
            outcomes = await asyncio.gather(
                *(
                    outcome_of(rooms[each % 2].join(table, f"player {number} {each}"))
                    for each in range(5)
                )
            )
            (won,) = [each for each in outcomes if isinstance(each, pb.Table)]
            lost = [each for each in outcomes if isinstance(each, Refused)]
            assert {each.what for each in lost} == {("FAILED_PRECONDITION", "TABLE_FULL")}
            assert await rooms[1].get(table) == won
        places = await rooms[0].hall.database.fetchval("SELECT count(*) FROM places")
        assert places == 12, "who was refused is free"


async def test_a_player_who_wants_everything_at_once_has_one_place(
    database_url: str, keys: Path
) -> None:
    async with two_replicas(database_url, keys) as (first, second):
        tables = [await first.create(f"host {number}") for number in range(3)]
        for number in range(5):
            who = f"player {number}"
            calls = [
                first.hall.enqueue(who, asked=terms(7 + number)),
                second.create(who),
                *(second.join(table, who) for table in tables),
            ]
            outcomes = await asyncio.gather(*map(outcome_of, calls))
            lost = [each for each in outcomes if isinstance(each, Refused)]
            assert len(lost) == len(calls) - 1
            assert {each.reason for each in lost} <= {"SEATED", "TICKET_LIVE", "TABLE_FULL"}
            rows = await first.hall.database.fetch(
                "SELECT kind, id FROM places WHERE player_id = $1", who
            )
            assert len(rows) == 1


async def test_who_is_ready_and_who_leaves_at_once(database_url: str, keys: Path) -> None:
    """Either the game is set up with both, or he has left and nobody is ready."""
    async with two_replicas(database_url, keys) as (first, second):
        begun = 0
        for number in range(8):
            table = await first.full(f"a {number}", f"b {number}")
            table = await first.ready(table, f"a {number}")
            ready, left = await asyncio.gather(
                outcome_of(first.ready(table, f"b {number}")),
                outcome_of(second.leave(table, f"a {number}")),
            )
            if isinstance(left, Refused):
                assert left.what == ("FAILED_PRECONDITION", "TABLE_NOT_OPEN")
                assert isinstance(ready, pb.Table)
                assert ready.status == STARTING
                begun += 1
                assert (await first.until(ready, f"a {number}", MATCHED)).game_id
            else:
                assert isinstance(ready, Refused)
                assert ready.what == ("ABORTED", "STALE_SEATING")
                found = await first.get(table)
                assert (found.status, readiness(found)) == (OPEN, set())
        assert len(first.hall.cashier.holds) == begun


async def test_the_last_two_are_ready_at_once(database_url: str, keys: Path) -> None:
    async with card_room(database_url, keys, replicas=2) as (halls, rooms):
        players = ("eleni", "nikos", "maria", "petros")
        asked = terms(variant="pilotta")
        table = await Room(halls[0]).full(*players, asked=asked)
        answers = await asyncio.gather(
            *(Room(halls[seat % 2]).ready(table, who) for seat, who in enumerate(players))
        )
        assert sorted(each.status for each in answers) == [OPEN, OPEN, OPEN, STARTING]
        table = await Room(halls[1]).until(table, "eleni", MATCHED)
        assert seats(table) == list(players)
        assert [list(made.player_ids) for made in rooms.made] == [list(players)]


async def test_a_player_is_free_before_the_news_has_come(room: Room) -> None:
    """Whose game has started may sit down elsewhere at once, however slow the bus is."""
    for number in range(3):
        table = await room.matched("eleni", f"nikos {number}")
        await room.hall.plays(table.game_id)
        table = await room.create("eleni")
        await room.leave(table, "eleni")
