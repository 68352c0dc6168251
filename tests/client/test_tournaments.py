"""The calls and the commands about tournaments."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from kafeneio.matchmaking.v1 import tournaments_pb2 as pb
from kafeneio.rules.v1 import game_pb2
from kafeneio_client import Client, House, Money, Refused, new_id
from kafeneio_client.cli.app import app
from kafeneio_client.tournaments import Board, terms
from typer.testing import CliRunner, Result

from tests.client import plugins
from tests.client.fake_house import FakeHouse, everywhere, in_thread, serving

STARTS = datetime(2030, 1, 6, 20, 0, tzinfo=UTC)
RUNNING, FINISHED = pb.TOURNAMENT_STATUS_RUNNING, pb.TOURNAMENT_STATUS_FINISHED


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


def published() -> pb.TournamentTerms:
    """Five rounds of portes."""
    return terms(
        "Thursday",
        pb.TOURNAMENT_FORMAT_SWISS,
        game_pb2.Terms(variant="portes", target=3),
        STARTS,
        fee=Money("EUR", 500),
        fee_basis_points=250,
        shares=(7_000, 3_000),
        entries=(4, 16),
        ratings=(None, 1_800),
        rounds=5,
    )


def test_terms() -> None:
    made = published()
    assert (made.entry_fee.minor_units, made.fee_basis_points) == (500, 250)
    assert (made.min_entries, made.max_entries, made.rounds) == (4, 16, 5)
    assert (made.HasField("min_rating"), made.max_rating) == (False, 1_800)
    assert made.starts_at.ToDatetime(UTC) == STARTS
    free = terms("x", pb.TOURNAMENT_FORMAT_SWISS, made.game, STARTS, fee=Money("EUR", 0))
    assert not free.HasField("entry_fee")
    assert list(free.prize_shares) == [10_000]


async def test_every_call_says_what_is_meant(eleni: Client, fake: FakeHouse) -> None:
    calls = eleni.tournaments
    made = await calls.create(published())
    name = made.tournament_id
    entry = await calls.register(name, partner="nikos")
    assert entry.waits_for_player_id == "nikos"
    assert (await calls.withdraw(name)).end == pb.ENTRY_END_WITHDRAWN
    assert (await calls.start(name)).status == pb.TOURNAMENT_STATUS_STARTING
    assert (await calls.pause(name)).status == pb.TOURNAMENT_STATUS_PAUSED
    assert (await calls.resume(name)).status == RUNNING
    out = await calls.disqualify(name, entry.entry_id, "two accounts")
    assert (out.status, out.reason) == (pb.ENTRY_STATUS_DISQUALIFIED, "two accounts")
    ids = [new_id() for _ in range(4)]
    corrected = await calls.correct(name, [[ids[0]], ids[1:3], [ids[3]]], "a mistake")
    (correction,) = corrected.corrections
    assert [(each.place, list(each.entry_ids)) for each in correction.places] == [
        (1, [ids[0]]),
        (2, ids[1:3]),
        (4, [ids[3]]),
    ]
    assert (await calls.cancel(name, "no light")).cancel_reason == "no light"
    found = await calls.get(name)
    assert found.own_entry.entry_id == entry.entry_id
    with pytest.raises(Refused) as refused:
        await calls.get(new_id())
    assert refused.value.reason == "TOURNAMENT_UNKNOWN"
    ids = [getattr(request, "request_id", "") for request in fake.requests]
    assert len(set(filter(None, ids))) == 9


async def test_lists_turn_their_pages(eleni: Client, fake: FakeHouse) -> None:
    calls = eleni.tournaments
    made = [(await calls.create(published())).tournament_id for _ in range(5)]
    listed = calls.list(variant="portes", status=RUNNING, player_id="eleni", page_size=2)
    assert [each.tournament_id async for each in listed] == made
    request = fake.requests[-1]
    assert isinstance(request, pb.ListTournamentsRequest)
    assert (request.variant, request.status, request.page_token) == ("portes", RUNNING, "4")
    evening = fake.tournaments.evenings[made[0]]
    for place in range(1, 6):
        entry = pb.Entry(entry_id=str(place), place=place)
        fake.tournaments.tell(evening, entry=entry, match=pb.TournamentMatch(number=place))
    assert [each.place async for each in calls.entries(made[0])] == [1, 2, 3, 4, 5]
    assert [each.place async for each in calls.standings(made[0])] == [1, 2, 3, 4, 5]
    assert [each.number async for each in calls.bracket(made[0], turn=2)] == [1, 2, 3, 4, 5]
    assert fake.requests[-1].round == 2  # type: ignore[attr-defined]


async def test_it_is_watched_from_stream_to_stream(eleni: Client, fake: FakeHouse) -> None:
    calls = eleni.tournaments
    made = await calls.create(published())
    entry = await calls.register(made.tournament_id)
    evening = fake.tournaments.evenings[made.tournament_id]
    match = pb.TournamentMatch(
        round=1,
        number=1,
        one_entry_id=entry.entry_id,
        state=pb.MATCH_STATE_PLAYING,
        player_ids=["eleni", "nikos"],
    )
    fake.tournaments.tell(evening, RUNNING, match=match)
    fake.tournaments.tell(evening, FINISHED)
    boards: list[tuple[int, int, int]] = []
    async for board in calls.boards(made.tournament_id):
        boards.append((board.tournament.version, len(board.entries), len(board.matches)))
        last = board
    assert boards == [(1, 0, 0), (2, 1, 0), (3, 1, 1), (4, 1, 1)]
    assert [each.number for each in last.playing("nikos")] == [1]
    assert last.playing("maria") == []
    assert (last.name(entry.entry_id), last.name("")) == ("eleni", "")
    asked = [each for each in fake.requests if isinstance(each, pb.WatchTournamentRequest)]
    assert [each.after_version for each in asked] == [0, 1, 2, 3]
    later = [change async for change in calls.watch(made.tournament_id, after_version=3)]
    assert [(change.tournament.version, change.more) for change in later] == [(4, True), (4, False)]
    assert [change async for change in calls.watch(made.tournament_id, after_version=4)] == []
    assert Board().playing() == []


# --- the commands ----------------------------------------------------------------------------


@pytest.fixture
def address(fake: FakeHouse, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """Where the fake house is; tokens are made by a plugin."""
    plugins.install(tmp_path)
    monkeypatch.syspath_prepend(tmp_path)
    with in_thread(fake) as found:
        yield found


def run(address: str, *arguments: str, name: str = "") -> Result:
    """The command `kafeneio tournament`, in a wide terminal."""
    words = ["tournament", *arguments, "--address", address, "--matchmaking", address]
    if name:
        words += ["--as", name]
    return CliRunner().invoke(app, words, env={"COLUMNS": "200", "NO_COLOR": "1"})


def create(address: str, *more: str) -> Result:
    """A tournament in half an hour."""
    return run(address, "create", "portes", "--name", "Thursday", "--starts", "+30", *more)


def test_an_evening(address: str, fake: FakeHouse) -> None:
    made = create(address, "--fee", "5.00", "--prizes", "66.5,33.5", "--house", "250", "--max", "8")
    assert made.exit_code == 0, made.output
    ((name, evening),) = fake.tournaments.evenings.items()
    asked = evening.now.terms
    assert (asked.entry_fee.minor_units, list(asked.prize_shares)) == (500, [6_650, 3_350])
    assert (asked.fee_basis_points, asked.max_entries) == (250, 8)
    assert asked.format == pb.TOURNAMENT_FORMAT_SINGLE_ELIMINATION
    begins = asked.starts_at.ToDatetime(UTC) - datetime.now(UTC)
    assert timedelta(minutes=29) < begins <= timedelta(minutes=30)
    assert "Thursday: portes, single elimination, for 5.00 EUR" in made.output
    assert "open, 0 of 8" in made.output
    entered = run(address, "register", name, name="eleni")
    assert "eleni: paying" in entered.output
    assert f"kafeneio tournament watch {name}" in entered.output
    assert "eleni: paying" in run(address, "show", name).output
    assert name in run(address, "list", "portes").output
    assert "starting" in run(address, "start", name).output
    assert "paused" in run(address, "pause", name).output
    assert "running" in run(address, "resume", name).output
    (entry,) = evening.entries
    fake.tournaments.tell(
        evening,
        match=pb.TournamentMatch(
            round=1,
            number=1,
            one_entry_id=entry.entry_id,
            state=pb.MATCH_STATE_PLAYING,
            game_id="the-game",
            player_ids=["eleni", "nikos"],
        ),
    )
    fake.tournaments.tell(
        evening,
        match=pb.TournamentMatch(
            round=1,
            number=1,
            one_entry_id=entry.entry_id,
            state=pb.MATCH_STATE_OVER,
            end=pb.MATCH_END_NO_SHOW,
            winner_entry_id=entry.entry_id,
        ),
    )
    entry.place = 1
    fake.tournaments.tell(evening, FINISHED, entry=entry)
    watched = run(address, "watch", name, name="eleni")
    assert watched.exit_code == 0, watched.output
    assert "round 1, eleni against nobody: playing the-game" in watched.output
    assert "kafeneio play --game the-game --as eleni" in watched.output
    assert "eleni goes on (no show)" in watched.output
    assert "finished, 1 of 8" in watched.output
    corrected = run(address, "correct", name, entry.entry_id, "--reason", "a mistake")
    assert f"kafeneio ledger approve {name} 1" in corrected.output
    shown = run(address, "show", name)
    assert "Correction 1, not approved: a mistake" in shown.output
    assert entry.entry_id in shown.output


def test_leaving(address: str, fake: FakeHouse) -> None:
    create(address, "--format", "swiss", "--rounds", "3")
    ((name, evening),) = fake.tournaments.evenings.items()
    assert evening.now.terms.rounds == 3
    waiting = run(address, "register", name, "--partner", "nikos", name="eleni")
    assert "eleni: waiting for partner nikos" in waiting.output
    left = run(address, "withdraw", name, name="eleni")
    assert "eleni: leaving nikos (withdrawn)" in left.output
    out = run(address, "disqualify", name, evening.entries[0].entry_id, "--reason", "two accounts")
    assert "disqualified" in out.output
    over = run(address, "cancel", name, "--reason", "no light")
    assert "cancelled" in over.output
    assert "It was cancelled: no light" in run(address, "show", name).output


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (("--starts", "soon"), "'soon' is no time"),
        (("--prizes", "half"), "'half' are no prizes"),
        (("--fee", "much"), "write it like 5"),
        (("--option", "doors"), "no house rule"),
    ],
)
def test_what_can_not_be_typed(address: str, arguments: tuple[str, ...], told: str) -> None:
    words = ["create", "portes", "--name", "x", "--starts", "+1", *arguments]
    result = run(address, *words)
    assert result.exit_code != 0
    assert told in result.output


def test_a_moment_of_this_computer(address: str, fake: FakeHouse) -> None:
    moment = "2030-01-06T20:00"
    run(address, "create", "portes", "--name", "x", "--starts", moment)
    ((_, evening),) = fake.tournaments.evenings.items()
    assert (
        evening.now.terms.starts_at.ToDatetime(UTC) == datetime.fromisoformat(moment).astimezone()
    )
