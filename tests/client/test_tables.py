"""The calls and the commands about tables."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterator
from contextlib import aclosing
from datetime import timedelta
from pathlib import Path

import pytest
from kafeneio.matchmaking.v1 import tables_pb2 as pb
from kafeneio_client import Client, House, Money, Refused
from kafeneio_client.cli.app import app
from typer.testing import CliRunner, Result

from tests.client import plugins
from tests.client.fake_house import FakeHouse, everywhere, in_thread, serving
from tests.client.fake_tables import CODE

EUR_5 = Money("EUR", 500)


@pytest.fixture
def fake() -> FakeHouse:
    return FakeHouse()


@pytest.fixture
async def house(fake: FakeHouse) -> AsyncIterator[House]:
    async with serving(fake) as address, everywhere(address) as opened:
        yield opened


@pytest.fixture
def eleni(house: House) -> Client:
    return house.client("eleni")


@pytest.fixture
def nikos(house: House) -> Client:
    return house.client("nikos")


async def test_a_table_is_asked_for_as_it_is_meant(eleni: Client, fake: FakeHouse) -> None:
    table = await eleni.tables.create(
        "portes",
        stake=EUR_5,
        target=3,
        options={"rule_set": "zarclub"},
        seat=1,
        private=True,
        least_rating=0,
        computers_fill=True,
        time_to_live=timedelta(minutes=2),
    )
    assert (table.invitation_code, table.seats[1].player_id) == (CODE, "eleni")
    (request,) = fake.requests
    assert isinstance(request, pb.CreateTableRequest)
    assert request.terms.stake.minor_units == 500
    assert (request.terms.target, request.terms.options["rule_set"]) == (3, "zarclub")
    assert (request.least_rating, request.HasField("least_rating")) == (0, True)
    assert not request.HasField("most_rating")
    assert request.time_to_live.seconds == 120
    assert len(request.table_id) == len(request.request_id) == 36


async def test_two_choose_each_other(eleni: Client, nikos: Client) -> None:
    table = await eleni.tables.create("portes", private=True)
    joined = await nikos.tables.join(invitation_code=CODE, seat=1)
    with pytest.raises(Refused) as refused:
        await eleni.tables.ready(table)
    assert refused.value.reason == "STALE_SEATING"
    matched = asyncio.ensure_future(eleni.tables.matched(table.table_id))
    for client in (eleni, nikos):
        joined = await client.tables.ready(joined)
    async with asyncio.timeout(10):
        game_id = (await matched).game_id
    assert game_id
    assert (await nikos.tables.get(table.table_id)).game_id == game_id


async def test_a_table_is_watched_until_it_is_closed(eleni: Client) -> None:
    table = await eleni.tables.create("portes")
    table = await eleni.tables.ready(table)
    table = await eleni.tables.ready(table, False)
    await eleni.tables.leave(table.table_id)
    seen = [each async for each in eleni.tables.watch(table.table_id, 1)]
    assert [each.version for each in seen] == [2, 3, 4]
    assert seen[-1].end == pb.TABLE_END_DESERTED
    assert (await eleni.tables.matched(table.table_id, 3)).status == pb.TABLE_STATUS_CLOSED


async def test_lists_turn_their_pages(eleni: Client, fake: FakeHouse) -> None:
    made = [(await eleni.tables.create("portes")).table_id for _ in range(5)]
    listed = eleni.tables.list(variant="portes", free_seats=True, most_stake=0, currency="EUR")
    assert [table.table_id async for table in listed] == made
    request = fake.requests[-1]
    assert isinstance(request, pb.ListTablesRequest)
    assert (request.variant, request.free_seats, request.currency_code) == ("portes", True, "EUR")
    assert (request.HasField("most_stake"), request.page_token) == (True, "4")


async def test_all_tables_are_watched_from_stream_to_stream(eleni: Client, fake: FakeHouse) -> None:
    made = [(await eleni.tables.create("portes")).table_id for _ in range(3)]
    async with aclosing(eleni.tables.watch_all("portes", after_change=1)) as changes:
        seen = [(await anext(changes)).table.table_id for _ in range(2)]
    assert seen == made[1:]
    asked = [each for each in fake.requests if isinstance(each, pb.WatchTablesRequest)]
    assert [each.after_change for each in asked] == [1, 2]


# --- the commands ----------------------------------------------------------------------------


@pytest.fixture
def address(fake: FakeHouse, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """Where the fake house is; tokens are made by a plugin."""
    plugins.install(tmp_path)
    monkeypatch.syspath_prepend(tmp_path)
    with in_thread(fake) as found:
        yield found


def run(address: str, *arguments: str, name: str = "eleni", typed: str = "") -> Result:
    """The command `kafeneio table`, in a wide terminal."""
    words = ["table", *arguments, "--address", address, "--matchmaking", address, "--as", name]
    if arguments[0] == "ready":
        words += ["--clock", address, "--settlement", address]
    return CliRunner().invoke(app, words, input=typed, env={"COLUMNS": "200", "NO_COLOR": "1"})


def test_opening_listing_joining_and_leaving(address: str, fake: FakeHouse) -> None:
    opened = run(address, "open", "portes", "--stake", "5.00")
    assert opened.exit_code == 0, opened.output
    (table,) = fake.seating.tables.values()
    assert "portes for 5.00 EUR, open: 0: eleni; 1: free" in opened.output
    assert f"kafeneio table join {table.table_id} --as NAME" in opened.output
    listed = run(address, "list", "portes", "--free")
    assert table.table_id in listed.output
    joined = run(address, "join", table.table_id, "--seat", "1", name="nikos")
    assert "0: eleni; 1: nikos" in joined.output
    left = run(address, "leave", table.table_id, name="nikos")
    assert "0: eleni; 1: free" in left.output
    run(address, "leave", table.table_id)
    watched = run(address, "watch", table.table_id)
    assert watched.exit_code == 0
    assert watched.output.count(table.table_id) == 4
    assert "closed" in watched.output


def test_an_invitation(address: str) -> None:
    opened = run(address, "open", "portes", "--private", "--computers")
    assert f"kafeneio table join --code {CODE} --as NAME" in opened.output
    assert "Computers take the seats that are free" in opened.output
    joined = run(address, "join", "--code", CODE, name="nikos")
    assert joined.exit_code == 0
    assert "1: nikos" in joined.output


def test_being_ready_and_not_any_more(address: str, fake: FakeHouse) -> None:
    run(address, "open", "portes")
    (table,) = fake.seating.tables.values()
    table.seats[0].ready = True
    said = run(address, "ready", table.table_id, "--no")
    assert said.exit_code == 0
    assert not table.seats[0].ready


def test_others_sit_down_before_it_begins(address: str, fake: FakeHouse) -> None:
    run(address, "open", "portes")
    (table,) = fake.seating.tables.values()
    fake.seating.comes_then = "nikos"
    said = run(address, "ready", table.table_id)
    assert said.exit_code == 2
    assert "Others sit there now" in said.output


@pytest.mark.parametrize("arguments", [("join",), ("join", "ID", "--code", CODE)])
def test_one_table_is_joined(address: str, arguments: tuple[str, ...]) -> None:
    said = run(address, *arguments)
    assert said.exit_code == 2
    assert "Say which table" in said.output


def test_an_unknown_table(address: str) -> None:
    said = run(address, "join", "nowhere")
    assert said.exit_code == 2
    assert "`kafeneio table list`" in said.output


@pytest.mark.parametrize("command", ["open", "list", "join", "leave", "ready", "watch"])
def test_every_command_has_help_with_an_example(command: str) -> None:
    result = CliRunner().invoke(app, ["table", command, "--help"])
    assert result.exit_code == 0
    assert f"kafeneio table {command}" in result.output


def test_who_is_ready_plays(address: str, fake: FakeHouse) -> None:
    run(address, "open", "portes", "--computers")
    (table,) = fake.seating.tables.values()
    said = run(address, "ready", table.table_id, typed="quit\n")
    assert said.exit_code == 0, said.output
    assert "matched: 0: eleni, ready" in said.output
    assert "Waiting for everybody to sit down." in said.output
    assert f"kafeneio play --game {table.game_id} --as eleni" in said.output
    assert list(fake.tables[table.game_id].words) == [0]
