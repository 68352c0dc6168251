"""Tables over sockets: from opening one to the game, and back."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest
from kafeneio.common.v1 import errors_pb2
from kafeneio.matchmaking.v1 import quick_match_pb2
from kafeneio.matchmaking.v1 import tables_pb2 as pb
from kafeneio.rules.v1 import game_pb2
from kafeneio_matchmaking.names import SCHEMA
from kafeneio_matchmaking.replicas import Replicas
from kafeneio_matchmaking.seating import background as background_of
from kafeneio_matchmaking.seating.background import TableBackground
from kafeneio_matchmaking.seating.domain import CODE_LENGTH
from kafeneio_matchmaking.seating.storage import Seating
from kafeneio_matchmaking.storage import Matchmaking
from kafeneio_runtime.clock import SystemTime
from kafeneio_runtime.store import Store
from prometheus_client import REGISTRY

from tests.harness import STRANGER
from tests.matchmaking.four import card_room
from tests.matchmaking.hall import STAKE, Hall, terms
from tests.matchmaking.seating.room import (
    CLOSED,
    MATCHED,
    OPEN,
    PLAYING,
    STARTING,
    Room,
    readiness,
    seats,
)
from tests.rules.refusal import refusal

NO_SHOW = quick_match_pb2.TICKET_END_NO_SHOW


async def test_a_table_is_opened_filled_and_played_at(room: Room) -> None:
    table = await room.create("eleni", least_rating=0, most_rating=3000)
    assert (table.status, table.version, table.seating) == (OPEN, 1, 1)
    assert seats(table) == ["eleni", ""]
    assert (table.host_player_id, table.private, table.invitation_code) == ("eleni", False, "")
    assert table.terms.options["disconnect_points"] == "formula"
    assert (table.terms.target, table.terms.stake.minor_units) == (1, STAKE)
    assert (table.least_rating, table.most_rating) == (0, 3000)
    assert not table.computers_fill
    assert (table.expires_at.ToDatetime() - table.created_at.ToDatetime()).total_seconds() == 600
    assert await room.get(table) == table
    table = await room.join(table, "nikos")
    assert seats(table) == ["eleni", "nikos"]
    table = await room.ready(table, "nikos")
    assert (readiness(table), table.status) == ({"nikos"}, OPEN)
    table = await room.ready(table, "eleni")
    assert (readiness(table), table.status) == ({"eleni", "nikos"}, STARTING)
    assert not table.game_id
    table = await room.until(table, STRANGER, MATCHED)
    assert room.hall.cashier.holds == {table.game_id: ("eleni", "nikos")}
    assert await room.hall.plays(table.game_id) == ("eleni", "nikos")
    table = await room.until(table, "nikos", PLAYING)
    # Both are free to sit down elsewhere.
    other = await room.full("nikos", "eleni")
    assert seats(other) == ["nikos", "eleni"]
    await room.hall.rules.resign(table.game_id, "eleni")
    closed = await room.until(table, "eleni", CLOSED)
    assert (closed.end, closed.game_id) == (pb.TABLE_END_PLAYED, table.game_id)
    assert seats(closed) == ["eleni", "nikos"]
    assert list(await room.hall.games()) == [table.game_id]


async def test_a_private_table_is_joined_by_its_invitation_alone(room: Room) -> None:
    public = await room.create("maria")
    table = await room.create("eleni", private=True)
    code = table.invitation_code
    assert len(code) == CODE_LENGTH
    assert await room.listed() == [public.table_id]
    for call in (room.get(table, "nikos"), room.join(table, "nikos"), room.leave(table, "nikos")):
        assert (await refusal(call)).what == ("NOT_FOUND", "TABLE_UNKNOWN")
    assert (await refusal(room.ready(table, "nikos"))).what == ("NOT_FOUND", "TABLE_UNKNOWN")
    stream = room.watch(table, "nikos")
    assert (await refusal(stream.read())).what == ("NOT_FOUND", "TABLE_UNKNOWN")
    for wrong in (code[:-1], f"{code}A", "A" * CODE_LENGTH, "Ω"):
        refused = await refusal(room.join(table, "nikos", code=wrong))
        assert refused.what == ("NOT_FOUND", "TABLE_UNKNOWN")
    joined = await room.join(table, "nikos", code=code.lower())
    assert seats(joined) == ["eleni", "nikos"]
    assert joined.invitation_code == code
    assert (await room.get(table, "nikos")) == joined
    left = await room.leave(joined, "nikos")
    assert (seats(left), left.invitation_code) == (["eleni", ""], "")
    assert (await refusal(room.get(table, "nikos"))).what == ("NOT_FOUND", "TABLE_UNKNOWN")


async def test_who_leaves_and_who_is_host_then(room: Room) -> None:
    table = await room.full("eleni", "nikos")
    left = await room.leave(table, "eleni")
    assert (seats(left), left.host_player_id, left.status) == (["", "nikos"], "nikos", OPEN)
    assert (await room.join(table, "maria", 0)).host_player_id == "nikos"
    await room.leave(table, "maria")
    closed = await room.leave(table, "nikos")
    assert (closed.status, closed.end) == (CLOSED, pb.TABLE_END_DESERTED)
    assert (await room.create("nikos")).status == OPEN


async def test_a_seat_of_choice_is_a_side(database_url: str, keys: Path) -> None:
    async with card_room(database_url, keys) as ((hall,), rooms):
        room = Room(hall)
        table = await room.create("eleni", asked=terms(variant="pilotta"), seat=1)
        table = await room.join(table, "nikos", 3)
        table = await room.join(table, "maria")
        table = await room.join(table, "petros", 2)
        assert seats(table) == ["maria", "eleni", "petros", "nikos"]
        for player in seats(table):
            table = await room.ready(table, player)
        table = await room.until(table, "maria", MATCHED)
        (made,) = rooms.made
        assert list(made.player_ids) == ["maria", "eleni", "petros", "nikos"]
        assert hall.cashier.holds == {table.game_id: tuple(made.player_ids)}


async def test_computers_take_the_free_seats(database_url: str, keys: Path) -> None:
    async with card_room(database_url, keys) as ((hall,), rooms):
        room = Room(hall)
        asked = terms(0, variant="rummy", options={"players": "3"})
        table = await room.create("eleni", asked=asked, seat=1, computers_fill=True)
        table = await room.join(table, "nikos", 2)
        table = await room.ready(table, "nikos")
        assert table.status == OPEN
        table = await room.ready(table, "eleni")
        assert seats(table) == ["computer-1", "eleni", "nikos"]
        await room.until(table, "nikos", MATCHED)
        (made,) = rooms.made
        assert list(made.player_ids) == ["computer-1", "eleni", "nikos"]
        assert list(made.computer_seats) == [0]
        assert hall.cashier.calls == []


async def test_one_alone_may_play_with_computers(room: Room) -> None:
    table = await room.create("eleni", asked=terms(0), computers_fill=True)
    table = await room.until(await room.ready(table, "eleni"), "eleni", MATCHED)
    game = await room.hall.rules.get(table.game_id)
    assert [seat.computer for seat in game.seats] == [False, True]
    game = await room.hall.rules.join(game, "eleni")
    assert game.position.status == game_pb2.GAME_STATUS_RUNNING
    await room.until(table, "eleni", PLAYING)


async def test_a_table_that_does_not_begin_in_time_closes(room: Room) -> None:
    table = await room.full("eleni", "nikos", seconds=60)
    other = await room.create("maria", seconds=3600)
    assert (other.expires_at.ToDatetime() - other.created_at.ToDatetime()).total_seconds() == 3600
    await room.hall.database.execute(
        "UPDATE tables SET expires_at = now() WHERE table_id = $1::text::uuid", table.table_id
    )
    closed = await room.until(table, "nikos", CLOSED)
    assert closed.end == pb.TABLE_END_EXPIRED
    assert (await room.get(other)).status == OPEN
    assert (await room.hall.enqueue("eleni")).status == quick_match_pb2.TICKET_STATUS_QUEUED
    assert room.hall.cashier.calls == []


# --- there is no game ----------------------------------------------------------------------------


async def test_whose_stake_is_refused_is_put_out_and_the_others_stay(room: Room) -> None:
    room.hall.cashier.poor.add("eleni")
    table = await room.begun("eleni", "nikos")
    back = await room.until(table, "nikos", OPEN, after=table.version)
    assert (seats(back), back.host_player_id, readiness(back)) == (["", "nikos"], "nikos", set())
    (out,) = back.put_out
    assert (out.player_id, out.reason) == ("eleni", quick_match_pb2.TICKET_END_INSUFFICIENT_FUNDS)
    assert back.seating == table.seating + 1
    assert room.hall.cashier.holds == {}
    # He is free, and may come back once he has money.
    room.hall.cashier.poor.clear()
    table = await room.join(back, "eleni")
    for player in ("eleni", "nikos"):
        table = await room.ready(table, player)
    assert (await room.until(table, "eleni", MATCHED)).game_id


async def test_terms_that_are_refused_close_the_table(room: Room) -> None:
    async def away(_game: str) -> None:
        room.hall.cashier.refusing = errors_pb2.ERROR_REASON_AMOUNT_OVERFLOW

    room.hall.cashier.before_hold = away
    table = await room.begun("eleni", "nikos")
    closed = await room.until(table, STRANGER, CLOSED)
    assert closed.end == pb.TABLE_END_TERMS_REFUSED
    assert (await room.create("eleni")).status == OPEN


async def test_a_refusal_that_is_nobodys_fault_leaves_all_where_they_are(room: Room) -> None:
    async def cancelled(game: str) -> None:
        room.hall.cashier.before_hold = None
        await room.hall.rules.cancel(game)

    room.hall.cashier.before_hold = cancelled
    table = await room.begun("eleni", "nikos")
    back = await room.until(table, "nikos", OPEN, after=table.version)
    assert (seats(back), list(back.put_out)) == (["eleni", "nikos"], [])
    assert room.hall.cashier.holds == {}
    assert len(room.hall.cashier.released) == 1
    for player in ("eleni", "nikos"):
        table = await room.ready(back, player)
    assert await room.hall.plays((await room.until(table, "eleni", MATCHED)).game_id)


async def test_who_does_not_join_is_out_and_the_others_sit_at_the_open_table(room: Room) -> None:
    table = await room.matched("eleni", "nikos")
    await room.hall.rules.join(await room.hall.rules.get(table.game_id), "nikos")
    await room.hall.rules.join_within(table.game_id, 0.1)
    back = await room.until(table, "nikos", OPEN, after=table.version)
    assert (seats(back), back.game_id) == (["", "nikos"], "")
    assert [(out.player_id, out.reason) for out in back.put_out] == [("eleni", NO_SHOW)]
    assert (await room.create("eleni")).status == OPEN, "he is free"
    refused = await refusal(room.create("nikos"))
    assert refused.what == ("ALREADY_EXISTS", "SEATED")


async def test_an_operator_ends_the_game_before_its_start(room: Room) -> None:
    table = await room.matched("eleni", "nikos")
    await room.hall.rules.join(await room.hall.rules.get(table.game_id), "nikos")
    await room.hall.rules.abort(table.game_id)
    back = await room.until(table, "nikos", OPEN, after=table.version)
    assert (seats(back), list(back.put_out), readiness(back)) == (["eleni", "nikos"], [], set())


async def test_nobody_joins_and_the_table_closes(room: Room) -> None:
    table = await room.matched("eleni", "nikos", private=True)
    await room.hall.rules.join_within(table.game_id, 0.1)
    closed = await room.until(table, "nikos", CLOSED, after=table.version)
    assert (closed.end, seats(closed)) == (pb.TABLE_END_DESERTED, ["", ""])
    assert Counter(out.reason for out in closed.put_out) == {NO_SHOW: 2}
    assert closed.invitation_code == ""


# --- lists ---------------------------------------------------------------------------------------


async def test_lists_are_filtered_and_paged(room: Room) -> None:
    tables = {
        name: await room.create(name, asked=asked)
        for name, asked in {
            "free": terms(0),
            "five": terms(500),
            "ten": terms(1000),
            "dollars": terms(500, currency="USD"),
            "plakoto": terms(500, variant="plakoto"),
            "full": terms(500),
        }.items()
    }
    await room.join(tables["full"], "other")
    names = {table.table_id: name for name, table in tables.items()}

    async def named(**wanted: object) -> list[str]:
        return [names[table_id] for table_id in await room.listed(**wanted)]

    newest_first = list(reversed(tables))
    assert await named() == newest_first
    for size in (1, 2, 5, 6, 200):
        assert await named(page_size=size) == newest_first
    assert await named(variant="plakoto") == ["plakoto"]
    assert await named(variant="nothing") == []
    assert await named(free_seats=True) == ["plakoto", "dollars", "ten", "five", "free"]
    assert await named(most_stake=0) == ["free"]
    assert await named(least_stake=1, most_stake=500, currency_code="EUR") == [
        "full",
        "plakoto",
        "five",
    ]
    assert await named(least_stake=501) == ["ten"]
    assert await named(currency_code="USD") == ["dollars", "free"]
    page = await room.page(page_size=6)
    assert page.next_page_token == ""
    assert page.tables[-1] == tables["free"]
    await room.leave(tables["ten"], "ten")
    assert "ten" not in await named()


async def test_open_tables_are_counted_by_variant_and_nothing_else(room: Room) -> None:
    background_of.OPEN.clear()  # of the process, and other houses of it had tables
    store = await Store.open(room.hall.rules.url, SCHEMA, 1)
    try:
        replicas = Replicas(store, SystemTime())
        background = TableBackground(Matchmaking(store), Seating(store), replicas, SystemTime())
        for names, count in (((), 0), (("eleni",), 1), (("nikos", "maria"), 3)):
            for name in names:
                await room.create(name)
            await background.counted()
            assert (measured().get("portes") or 0) == count
        table = await room.create("petros", asked=terms(variant="fevga"))
        await background.counted()
        assert measured() == {"portes": 3, "fevga": 1}
        await room.leave(table, "petros")
        await background.counted()
        assert measured() == {"portes": 3, "fevga": 0}
    finally:
        await store.close()


def measured() -> dict[str, float]:
    """The open tables by variant, as operators see them."""
    (family,) = [each for each in REGISTRY.collect() if each.name == "kafeneio_tables_open"]
    assert all(set(sample.labels) == {"variant"} for sample in family.samples)
    return {sample.labels["variant"]: sample.value for sample in family.samples}


@pytest.mark.parametrize("who", ["operator", "matchmaking", STRANGER])
async def test_anybody_may_look(hall: Hall, who: str) -> None:
    room = Room(hall)
    table = await room.create("eleni")
    assert await room.get(table, who) == table
    assert list((await room.page(who)).tables) == [table]
    assert await room.until(table, who, OPEN) == table
    async with room.watching(who=who) as following:
        assert (await following()).table == table
