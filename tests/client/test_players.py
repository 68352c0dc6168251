"""The calls and the commands about players, and those for operators."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from kafeneio.matchmaking.v1 import players_pb2 as pb
from kafeneio_client import Client, Money
from kafeneio_client.cli.app import app
from typer.testing import CliRunner, Result

from tests.client import plugins
from tests.client.fake_house import FakeHouse, everywhere, in_thread, serving

SOON = datetime(2027, 1, 1, tzinfo=UTC)


@pytest.fixture
def fake() -> FakeHouse:
    return FakeHouse()


@pytest.fixture
async def client(fake: FakeHouse) -> AsyncIterator[Client]:
    async with serving(fake) as address, everywhere(address) as opened:
        yield opened.client("eleni")


async def test_ratings(client: Client, fake: FakeHouse) -> None:
    (rating,) = await client.players.ratings("nikos", "portes")
    assert (rating.variant, rating.value) == ("portes", 1503)
    request = fake.requests[-1]
    assert isinstance(request, pb.GetRatingRequest)
    assert (request.player_id, request.variant) == ("nikos", "portes")
    changes = [each.value_after async for each in client.players.rating_changes(page_size=2)]
    assert changes == [1503, 1502, 1501]
    assert fake.calls["GetRating"] == 3


async def test_lists_turn_their_pages(client: Client, fake: FakeHouse) -> None:
    players = client.players
    assert [each.rank async for each in players.leaderboard("portes")] == [1, 2, 3]
    assert [each.player_id async for each in players.blocked()] == ["a", "b", "c"]
    assert [each.player_id async for each in players.suspensions()] == ["a", "b", "c"]
    reports = players.reports(pb.REPORT_STATUS_OPEN, "nikos")
    assert [each.report_id async for each in reports] == ["report-3", "report-2", "report-1"]
    flags = players.flags(pb.PAIR_FLAG_KIND_LEAVES, "a")
    assert [each.other_player_id async for each in flags] == ["b", "b", ""]
    calls = ("ListLeaderboard", "ListBlocked", "ListSuspensions", "ListReports", "ListPairFlags")
    assert [fake.calls[call] for call in calls] == [2] * 5
    request = fake.requests[-1]
    assert isinstance(request, pb.ListPairFlagsRequest)
    assert (request.kind, request.player_id, request.page_token) == (
        pb.PAIR_FLAG_KIND_LEAVES,
        "a",
        "2",
    )


async def test_what_players_do(client: Client, fake: FakeHouse) -> None:
    report = await client.players.report("nikos", "game", pb.REPORT_CATEGORY_HARASSMENT, "rude")
    assert (report.reporter_id, report.player_id) == ("eleni", "nikos")
    await client.players.block("nikos")
    await client.players.unblock("nikos")
    limits = await client.players.set_limits(
        stake_per_day=[Money("EUR", 500)],
        loss_per_day=[Money("EUR", 200)],
        time_per_day=timedelta(hours=2),
        excluded_until=SOON,
    )
    assert limits.excluded_until.ToDatetime(UTC) == SOON
    request = fake.requests[-1]
    assert isinstance(request, pb.SetLimitsRequest)
    assert [Money.of(each) for each in request.stake_per_day] == [Money("EUR", 500)]
    assert [Money.of(each) for each in request.loss_per_day] == [Money("EUR", 200)]
    assert request.time_per_day.seconds == 7200
    await client.players.set_limits()
    request = fake.requests[-1]
    assert isinstance(request, pb.SetLimitsRequest)
    assert not request.HasField("time_per_day")
    assert not request.HasField("excluded_until")
    assert (await client.players.limits()).today.day_ends.ToDatetime(UTC) == SOON


async def test_what_operators_do(client: Client, fake: FakeHouse) -> None:
    suspension = await client.players.suspend("nikos", "rude", SOON, request_id="one")
    assert suspension.until.ToDatetime(UTC) == SOON
    request = fake.requests[-1]
    assert isinstance(request, pb.SuspendPlayerRequest)
    assert (request.request_id, request.reason) == ("one", "rude")
    assert not (await client.players.suspend("nikos", "rude")).HasField("until")
    assert (await client.players.lift("s", "a mistake")).suspension_id == "s"
    assert (await client.players.close_report("r", "warned")).outcome == "warned"
    pair = await client.players.pair("a", "b")
    assert [side.player_id for side in pair.sides] == ["a", "b"]


# --- the command -----------------------------------------------------------------------------


@pytest.fixture
def told(fake: FakeHouse, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[FakeHouse]:
    """The house that the command finds."""
    folder = tmp_path / "installed"
    folder.mkdir()
    plugins.install(folder)
    monkeypatch.syspath_prepend(str(folder))
    monkeypatch.delenv("KAFENEIO_TOKEN", raising=False)
    with in_thread(fake) as bound:
        monkeypatch.setenv("KAFENEIO_ADDRESS", bound)
        monkeypatch.setenv("KAFENEIO_MATCHMAKING_ADDRESS", bound)
        yield fake


def run(*args: str) -> Result:
    """The command, in a wide terminal."""
    return CliRunner().invoke(app, args, env={"COLUMNS": "200", "NO_COLOR": "1"})


def printed(*args: str) -> list[str]:
    """The lines of a command that goes well."""
    result = run(*args)
    assert result.exit_code == 0, result.output
    return [line.rstrip() for line in result.stdout.splitlines()]


def test_rating_shows_the_number_and_how_it_came(told: FakeHouse) -> None:
    lines = printed("rating", "nikos", "--limit", "2")
    assert lines == [
        "portes             1503 ± 90  3 games  provisional",
        "  2027-01-01 00:00:00  portes              1503    +3  game-3",
        "  2027-01-01 00:00:00  portes              1502    +2  game-2  taken back",
    ]
    assert printed("rating", "--as", "nobody") == ["nobody has no rated game yet."]


def test_leaderboard(told: FakeHouse) -> None:
    lines = printed("leaderboard", "portes")
    assert [line.split()[:3] for line in lines] == [
        ["1", "p1", "1699"],
        ["2", "p2", "1698"],
        ["3", "p3", "1697"],
    ]
    assert len(printed("leaderboard", "portes", "--limit", "1")) == 1
    assert printed("leaderboard", "fevga") == ["Nobody has played enough of it yet."]


def test_report(told: FakeHouse) -> None:
    lines = printed("report", "nikos", "game-1", "--about", "unfair-talk", "--as", "eleni")
    assert lines == ["Thank you. This is report report-1."]
    request = told.requests[-1]
    assert isinstance(request, pb.ReportPlayerRequest)
    assert request.category == pb.REPORT_CATEGORY_UNFAIR_TALK


def test_block(told: FakeHouse) -> None:
    assert printed("block", "nikos") == ["The queue never seats you with him."]
    assert printed("block", "nikos", "--undo") == ["The queue may seat you with him again."]
    assert (told.calls["BlockPlayer"], told.calls["UnblockPlayer"]) == (1, 1)
    assert [line.split()[-1] for line in printed("block")] == ["a", "b", "c"]
    assert printed("block", "--as", "nobody") == ["You have blocked nobody."]
    result = run("block", "--undo")
    assert result.exit_code == 2
    assert result.stderr.strip() == "Say whom: kafeneio block NAME --undo."


def test_suspend_and_lift(told: FakeHouse) -> None:
    lines = printed("players", "suspend", "nikos", "--reason", "rude")
    assert lines == ["Suspension suspension-1: without an end."]
    (line,) = printed("players", "suspend", "nikos", "--reason", "rude", "--days", "30")
    assert line.startswith("Suspension suspension-1: until 20")
    lines = printed("players", "lift", "suspension-1", "--reason", "a mistake")
    assert lines == ["nikos is free of this suspension."]


def test_reports(told: FakeHouse) -> None:
    lines = printed("players", "reports", "--all")
    assert "nikos by eleni: unfair_talk" in lines[0]
    assert lines[1].endswith("[bold]he talks"), "what players write is no markup"
    assert "    closed by op: warned" in lines
    assert lines[-1].startswith("suspended: c without an end (op: ")
    request = next(each for each in told.requests if isinstance(each, pb.ListReportsRequest))
    assert request.status == pb.REPORT_STATUS_UNSPECIFIED
    assert printed("players", "reports", "nobody") == ["There is no report."]
    asked = [each for each in told.requests if isinstance(each, pb.ListReportsRequest)]
    assert asked[-1].status == pb.REPORT_STATUS_OPEN


def test_flags(told: FakeHouse) -> None:
    lines = printed("players", "flags")
    assert lines[0] == "meets often  a and b: 12 of 20 games, 1.5 expected, surprise 9.2"
    assert lines[1] == "    since 2027-01-01 00:00:00: game-1 game-2"
    assert lines[4].startswith("leaves often  a: 12 of 20")
    assert printed("players", "flags", "nobody") == ["Nothing stands out."]
