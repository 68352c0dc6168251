"""WatchTable and WatchTables: nothing is missed, whoever is cut off goes on where he was."""

from __future__ import annotations

import asyncio
from pathlib import Path
from random import Random
from typing import Any
from uuid import UUID

import grpc
from kafeneio.matchmaking.v1 import tables_pb2 as pb
from kafeneio_matchmaking.names import SCHEMA
from kafeneio_matchmaking.seating import domain
from kafeneio_matchmaking.seating.storage import Tables
from kafeneio_runtime.store import Store

from tests.harness import PATIENCE, STRANGER
from tests.matchmaking.hall import Hall, terms
from tests.matchmaking.seating.room import CLOSED, MATCHED, OPEN, Room, Watch, seats
from tests.rules.refusal import refusal


async def rest(stream: Watch) -> list[Any]:
    """What comes until the stream ends, which it does well."""
    found = []
    async with asyncio.timeout(PATIENCE):
        while (message := await stream.read()) is not grpc.aio.EOF:
            found.append(message)
        assert await stream.code() is grpc.StatusCode.OK
    return found


async def next_message(stream: Watch) -> Any:
    """What comes next."""
    async with asyncio.timeout(PATIENCE):
        message = await stream.read()
    assert message is not grpc.aio.EOF
    return message


async def test_a_table_is_watched_until_it_is_closed(room: Room) -> None:
    table = await room.create("eleni")
    stream = room.watch(table, "eleni")
    assert (await next_message(stream)).table == table
    joined = await room.join(table, "nikos")
    assert (await next_message(stream)).table == joined
    late = room.watch(table, STRANGER, after=2)
    await room.leave(table, "nikos")
    assert seats((await next_message(late)).table) == ["eleni", ""]
    await room.leave(table, "eleni")
    for each in (stream, late):
        assert (await rest(each))[-1].table.status == CLOSED
    for after, count in ((0, 1), (3, 1), (4, 0)):
        assert len(await rest(room.watch(table, "nikos", after))) == count


async def test_who_leaves_a_private_table_sees_it_no_more(room: Room) -> None:
    table = await room.full("eleni", "nikos", private=True)
    stream = room.watch(table, "nikos")
    assert (await next_message(stream)).table.invitation_code
    await room.leave(table, "nikos")
    assert (await refusal(stream.read())).what == ("NOT_FOUND", "TABLE_UNKNOWN")


async def test_who_is_put_out_of_a_private_table_sees_why(room: Room) -> None:
    room.hall.cashier.poor.add("nikos")
    table = await room.begun("eleni", "nikos", private=True)
    back = await room.until(table, "nikos", OPEN, after=table.version)
    assert [out.player_id for out in back.put_out] == ["nikos"]
    assert back.invitation_code == ""
    assert (await room.get(table, "eleni")).invitation_code == table.invitation_code


async def test_streams_live_and_say_goodbye(database_url: str, keys: Path) -> None:
    async with Hall.serve(database_url, keys, heartbeat_seconds=0.1) as hall:
        room = Room(hall)
        table = await room.create("eleni")
        credentials = hall.rules.credentials("eleni")
        streams = (
            room.watch(table, "eleni", after=1),
            room.stub.WatchTables(pb.WatchTablesRequest(variant="fevga"), metadata=credentials),
        )
        for stream in streams:
            beats = [await next_message(stream) for _ in range(3)]
            times = [beat.heartbeat.server_time.ToDatetime() for beat in beats]
            assert times == sorted(set(times))
        await hall.server.drain()
        for stream in streams:
            assert (await rest(stream))[-1].HasField("draining")


async def test_all_tables_are_watched(room: Room) -> None:
    table = await room.create("eleni")
    gone = await room.create("maria")
    await room.leave(gone, "maria")
    await room.create("anna", private=True)
    async with room.watching() as following, room.watching(variant="fevga") as only:
        first = await following()
        assert first.table == table
        joined = await room.join(table, "nikos")
        second = await following()
        assert (second.table, second.change > first.change) == (joined, True)
        fevga = await room.create("petros", asked=terms(variant="fevga"))
        for stream in (following, only):
            assert (await stream()).table == fevga
        for player in ("eleni", "nikos"):
            joined = await room.ready(joined, player)
        matched = await room.until(table, "eleni", MATCHED)
        while (change := await following()).table.status != MATCHED:
            assert change.table.table_id == table.table_id
        assert change.table == matched
    # Whoever comes back sees what has changed since, whether open or not.
    async with room.watching(first.change) as following:
        seen: list[str] = []
        while not {fevga.table_id, table.table_id} <= {*seen}:
            seen.append((await following()).table.table_id)
        assert len(seen) == len({*seen}), "each as it stands"
        assert {*seen} <= {fevga.table_id, table.table_id, gone.table_id}, "no private one"
    async with room.watching() as following:
        assert (await following()).table.table_id == fevga.table_id, "no other is open"


async def test_a_change_that_is_committed_late_is_not_missed(room: Room) -> None:
    """Of two changes the one that was made first may be seen last: places are given after the
    commit, so whoever has seen the second still sees the first."""
    store = await Store.open(room.hall.rules.url, SCHEMA, 2)
    slow, fast = await room.create("eleni"), await room.create("nikos")
    try:
        async with room.watching() as following:
            for _ in range(2):
                last = (await following()).change
            async with store.transaction() as connection:
                tables = Tables(connection)
                before = await tables.locked(UUID(slow.table_id))
                assert before is not None
                await tables.save(before, domain.left(before, "eleni"))
                left = await room.leave(fast, "nikos")
                seen = await following()
                assert seen.table == left
            late = await following()
            assert late.change > seen.change > last
            assert (late.table.table_id, late.table.status) == (slow.table_id, CLOSED)
    finally:
        await store.close()


async def test_whoever_is_cut_off_again_and_again_misses_nothing(
    database_url: str, keys: Path
) -> None:
    """With two replicas, of which he asks now one, now the other."""
    async with (
        Hall.serve(database_url, keys) as first,
        Hall.beside(first.rules, first.cashier) as second,
    ):
        rooms, random = (Room(first), Room(second)), Random(7)
        known: dict[str, pb.Table] = {}
        last, done = 0, asyncio.Event()

        async def play(number: int) -> pb.Table:
            room, other = rooms[number % 2], rooms[(number + 1) % 2]
            table = await room.create(f"a {number}")
            for _ in range(3):
                table = await other.join(table, f"b {number}")
                table = await room.ready(table, f"b {number}")
                table = await other.leave(table, f"b {number}")
            return await room.leave(table, f"a {number}") if number % 2 else table

        async def watch() -> None:
            nonlocal last
            while not (done.is_set() and known == expected):
                room = rooms[random.randrange(2)]
                async with room.watching(last) as following:
                    for _ in range(random.randint(1, 3)):
                        try:
                            async with asyncio.timeout(0.5):
                                change = await following()
                        except TimeoutError:
                            break
                        assert change.change > last
                        last = change.change
                        known[change.table.table_id] = change.table

        expected: dict[str, pb.Table] = {}
        watching = asyncio.create_task(watch())
        for table in await asyncio.gather(*(play(number) for number in range(8))):
            expected[table.table_id] = table
        done.set()
        async with asyncio.timeout(PATIENCE):
            await watching
        assert len(known) == 8
