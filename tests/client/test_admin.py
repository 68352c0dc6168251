"""`kafeneio admin`: what it shows, what it asks for, and in whose name."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from google.protobuf.duration_pb2 import Duration
from google.protobuf.timestamp_pb2 import Timestamp
from kafeneio.clock.v1 import clock_pb2, events_pb2
from kafeneio.common.v1 import audit_pb2, money_pb2
from kafeneio.rules.v1 import actions_pb2
from kafeneio.settlement.v1 import corrections_pb2, settlement_pb2
from kafeneio_client.cli import admin_game
from kafeneio_client.cli.app import app
from typer.testing import CliRunner, Result

from tests.client import plugins, tables
from tests.client.fake_calls import Call, refuse
from tests.client.fake_house import FakeHouse, in_thread
from tests.client.fake_money import NO

WHY = ("--reason", "a stranger sat in")
OLGA = ("--as", "olga")


@pytest.fixture
def fake() -> FakeHouse:
    return FakeHouse()


@pytest.fixture
def log(tmp_path: Path) -> Path:
    """Of the tokens that were made."""
    return tmp_path / "tokens"


@pytest.fixture(autouse=True)
def address(
    fake: FakeHouse, log: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Iterator[str]:
    folder = tmp_path / "installed"
    folder.mkdir()
    plugins.install(folder)
    monkeypatch.syspath_prepend(str(folder))
    monkeypatch.delenv("KAFENEIO_TOKEN", raising=False)
    monkeypatch.setenv("FAKE_TOKEN_LOG", str(log))
    with in_thread(fake) as bound:
        monkeypatch.setenv("KAFENEIO_ADDRESS", bound)
        for service in ("CLOCK", "SETTLEMENT", "MATCHMAKING"):
            monkeypatch.setenv(f"KAFENEIO_{service}_ADDRESS", bound)
        yield bound


def run(*args: str) -> Result:
    return CliRunner().invoke(app, ["admin", *args], env={"COLUMNS": "100", "NO_COLOR": "1"})


def done(*args: str) -> str:
    """The output of a command that goes well."""
    result = run(*args)
    assert result.exit_code == 0, result.output
    return result.output


def sent(fake: FakeHouse, kind: type[Any]) -> Any:
    """The one request of a kind that was sent."""
    (found,) = [each for each in fake.requests if isinstance(each, kind)]
    return found


def running(fake: FakeHouse) -> str:
    """A game that is being played."""
    table = tables.begun()
    fake.tables[table.game_id] = table
    return table.game_id


def finished(fake: FakeHouse) -> str:
    table = tables.finished()
    fake.tables[table.game_id] = table
    return table.game_id


# --- who ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "command",
    [
        ("pause", "GAME", *WHY),
        ("resume", "GAME", *WHY),
        ("void", "GAME", *WHY),
        ("correct", "GAME", "--winner", "0", *WHY),
        ("approve", "GAME", "1", *WHY),
        ("resolve", "GAME", "rules", *WHY),
        ("games",),
        ("game", "GAME"),
        ("audit",),
        ("verify",),
        ("note", "restart node 3", *WHY),
        ("replay", "--every", *WHY),
    ],
    ids=lambda command: command[0],
)
def test_without_a_token_one_for_the_operator_is_made(
    fake: FakeHouse, log: Path, command: tuple[str, ...]
) -> None:
    game_id = running(fake)
    done(*(game_id if word == "GAME" else word for word in command), *OLGA)
    assert log.read_text() == "olga operator\n"


@pytest.mark.parametrize(
    "command",
    [
        ("pause", "GAME"),
        ("resume", "GAME"),
        ("void", "GAME"),
        ("correct", "GAME"),
        ("approve", "GAME", "1"),
        ("resolve", "GAME", "rules"),
        ("note", "restart node 3"),
        ("replay", "--every"),
    ],
    ids=lambda command: command[0],
)
def test_every_change_asks_why(fake: FakeHouse, command: tuple[str, ...]) -> None:
    result = run(*command, *OLGA)
    assert result.exit_code == 2
    assert "--reason" in result.output
    assert not fake.calls


# --- games -------------------------------------------------------------------------------------


def test_games_with_their_clocks(fake: FakeHouse) -> None:
    game_id = running(fake)
    shown = done("games")
    assert game_id in shown
    assert "running" in shown
    assert "turn 1, seat" in shown
    fake.tables.clear()
    assert done("games", "--status", "finished") == "No game is found.\n"


def test_a_game_without_a_clock_stands_out(fake: FakeHouse) -> None:
    game_id = running(fake)

    async def lose(call: Call) -> None:
        await refuse(call, NO, "GAME_NOT_STARTED", "it has not started")

    fake.fail("GetClock", lose)
    assert "no clock: game_not_started" in done("games")
    assert game_id


@pytest.mark.parametrize(
    ("length", "text"),
    [
        (timedelta(seconds=-3), "0 s"),
        (timedelta(seconds=119), "119 s"),
        (timedelta(minutes=2), "2 min"),
        (timedelta(hours=1, minutes=59), "119 min"),
        (timedelta(hours=47), "47 h"),
        (timedelta(days=3), "3 d"),
    ],
)
def test_ages(length: timedelta, text: str) -> None:
    assert admin_game.lasted(length) == text


def test_a_running_game_is_shown_as_a_spectator_sees_it(fake: FakeHouse) -> None:
    game_id = running(fake)
    shown = done("game", game_id)
    assert f"{game_id}  portes to 1  running" in shown
    assert "seat 0  eleni" in shown
    assert "chance: " in shown, "the log"
    assert "clock: turn 1" in shown
    assert "no money: GAME_UNKNOWN" in shown
    assert "GetRecord" not in fake.calls
    assert "chance: " not in done("game", game_id, "--no-log")


def test_a_finished_game_is_shown_by_its_record(fake: FakeHouse) -> None:
    game_id = finished(fake)
    shown = done("game", game_id)
    assert fake.calls["GetRecord"] == 1
    assert "finished" in shown
    assert "won by seat" in shown
    assert "!resign" in shown


def at(second: float) -> Timestamp:
    made = Timestamp()
    made.FromMilliseconds(round(1_700_000_000_000 + second * 1000))
    return made


def explained() -> clock_pb2.ExplainChargesResponse:
    """Two timeouts of seat 1: one on the move, one for being away twice."""
    whole = Duration(seconds=30)
    return clock_pb2.ExplainChargesResponse(
        seat=1,
        timeouts=5,
        charges=[
            clock_pb2.Charge(
                charged=1,
                turn=4,
                cause=events_pb2.CHARGE_CAUSE_MOVE,
                multiple=1,
                at=at(30.5),
                charged_at=at(30.55),
                counted=[clock_pb2.CountedInterval(turn=4, began=at(0), ended=at(30.5))],
                length=Duration(seconds=30, nanos=500_000_000),
            ),
            clock_pb2.Charge(
                charged=2,
                turn=8,
                cause=events_pb2.CHARGE_CAUSE_AWAY,
                multiple=1,
                at=at(130),
                charged_at=at(130),
                counted=[
                    clock_pb2.CountedInterval(turn=6, began=at(60), ended=at(80)),
                    clock_pb2.CountedInterval(turn=8, began=at(120), ended=at(130)),
                ],
                length=whole,
            ),
        ],
    )


def test_every_charge_is_shown_with_its_arithmetic(
    fake: FakeHouse, monkeypatch: pytest.MonkeyPatch
) -> None:
    game_id = running(fake)
    fake.clocks.charged[game_id, 1] = 2

    async def explain(
        request: clock_pb2.ExplainChargesRequest, context: Call
    ) -> clock_pb2.ExplainChargesResponse:
        assert request.seat == 1
        return explained()

    monkeypatch.setattr(fake.clocks, "ExplainCharges", explain)
    with in_thread(fake) as bound:
        shown = done("game", game_id, "--clock", bound)
    assert "seat 1  attached, charged 2" in shown
    assert "timeout 1 of 5: turn 4, move 1, due 2023-11-14 22:13:50.500" in shown
    assert "turn 4  2023-11-14 22:13:20.000 to 2023-11-14 22:13:50.500  30.500 s" in shown
    assert "timeout 2 of 5: turn 8, away 1" in shown
    assert "  20.000 s" in shown
    assert "  10.000 s" in shown
    assert "together 30.000 s" in shown


def test_the_money_and_what_waits_for_a_second_operator(fake: FakeHouse) -> None:
    game_id = finished(fake)
    correction = corrections_pb2.Correction(number=1, proposed_by="pavlos", reason="wrong one")
    fake.settlements.games[game_id] = settlement_pb2.Settlement(
        game_id=game_id,
        state=settlement_pb2.SETTLEMENT_STATE_SETTLED,
        hold=settlement_pb2.Hold(stake=money_pb2.Money(currency_code="EUR", minor_units=500)),
        corrections=[correction],
    )
    shown = done("game", game_id)
    assert "money: settled" in shown
    assert "stake 5.00 EUR each" in shown
    assert "correction 1 by pavlos: wrong one (waits for a second operator)" in shown


# --- changing ----------------------------------------------------------------------------------


def test_pause_and_resume(fake: FakeHouse) -> None:
    game_id = running(fake)
    assert "Paused" in done("pause", game_id, *WHY)
    request = sent(fake, clock_pb2.PauseGameRequest)
    assert (request.game_id, request.reason) == (game_id, WHY[1])
    assert "It goes on" in done("resume", game_id, *WHY)
    assert sent(fake, clock_pb2.ResumeGameRequest).reason == WHY[1]


def test_a_game_that_runs_is_ended(fake: FakeHouse) -> None:
    game_id = running(fake)
    assert "ended void" in done("void", game_id, *WHY)
    assert "VoidSettlement" not in fake.calls


def test_of_a_game_that_was_paid_it_is_proposed(fake: FakeHouse) -> None:
    game_id = finished(fake)

    async def over(call: Call) -> None:
        await refuse(call, NO, "GAME_OVER", "the game is over")

    fake.fail("AbortGame", over)
    shown = done("void", game_id, *WHY)
    assert f"kafeneio admin approve {game_id}" in shown
    assert sent(fake, corrections_pb2.VoidSettlementRequest).reason == WHY[1]


def test_another_refusal_is_told(fake: FakeHouse) -> None:
    async def unknown(call: Call) -> None:
        await refuse(call, NO, "GAME_CANCELLED", "the game was cancelled")

    fake.fail("AbortGame", unknown)
    result = run("void", "0193f7a0-5c1e-7000-8000-000000000009", *WHY)
    assert result.exit_code == 2
    assert "The game was cancelled." in result.stderr
    assert "VoidSettlement" not in fake.calls


def test_a_result_is_corrected_and_approved(fake: FakeHouse) -> None:
    game_id = finished(fake)
    done("correct", game_id, "--winner", "0", "--winner", "2", "--out", "1", *WHY)
    request = sent(fake, corrections_pb2.CorrectResultRequest)
    assert list(request.decided.winners) == [0, 2]
    assert list(request.forfeited_seats) == [1]
    done("approve", game_id, "1", *WHY)
    approved = sent(fake, corrections_pb2.ApproveCorrectionRequest)
    assert (approved.game_id, approved.number, approved.reason) == (game_id, 1, WHY[1])


def test_without_a_winner_it_was_void(fake: FakeHouse) -> None:
    done("correct", finished(fake), *WHY)
    request = sent(fake, corrections_pb2.CorrectResultRequest)
    assert request.void_reason == actions_pb2.VOID_REASON_OPERATOR


@pytest.mark.parametrize(
    ("word", "resolution"),
    [
        ("rules", settlement_pb2.RESOLUTION_BY_RULES),
        ("clock", settlement_pb2.RESOLUTION_BY_CLOCK),
        ("void", settlement_pb2.RESOLUTION_VOID),
    ],
)
def test_a_mismatch_is_resolved(
    fake: FakeHouse, word: str, resolution: settlement_pb2.Resolution.ValueType
) -> None:
    done("resolve", finished(fake), word, *WHY)
    assert sent(fake, settlement_pb2.ResolveMismatchRequest).resolution == resolution


# --- the audit ---------------------------------------------------------------------------------


def deeds(fake: FakeHouse) -> None:
    """Of two operators, in two services."""
    write = fake.audits.write
    path = "/kafeneio.rules.v1.GameService/AbortGame"
    for number in range(4):
        write("rules", 100 + number, "olga", path, target=f"game {number}", reason="why")
    write("clock", 102, "pavlos", "/kafeneio.clock.v1.ClockService/PauseGame", request_json="{}")


def test_the_audits_of_all_services_together(fake: FakeHouse) -> None:
    deeds(fake)
    rows = done("audit").splitlines()
    places = [row.split("  ")[1] for row in rows]
    assert places == ["rules 4", "rules 3", "clock 1", "rules 2", "rules 1"]
    assert "1970-01-01 00:01:43  rules 4  olga  AbortGame game 3: why" in rows[0]
    assert len(done("audit", "--operator", "pavlos").splitlines()) == 1
    assert len(done("audit", "--target", "game 1").splitlines()) == 1
    assert len(done("audit", "--service", "rules", "--limit", "2").splitlines()) == 2
    assert done("audit", "--operator", "nobody") == "Nothing was done.\n"
    assert "{}" in done("audit", "--operator", "pavlos", "--whole")


def test_a_note(fake: FakeHouse) -> None:
    done("note", "restart node 3", "--target", "node-3", "--service", "clock", *WHY, *OLGA)
    (entry,) = fake.audits.written["clock"]
    assert (entry.operator, entry.target, entry.reason) == ("olga", "node-3", WHY[1])
    assert "olga  restart node 3 node-3: a stranger sat in" in done("audit")


def test_everything_is_verified(fake: FakeHouse) -> None:
    deeds(fake)
    shown = done("verify")
    assert "ledger: verified up to seal 3" in shown
    assert f"rules:4:{bytes([4]).hex() * 32}" in shown
    assert "audit: matchmaking: verified up to entry 0" in shown
    assert "Everything is as it was written." in shown


def test_what_is_wrong_is_told(fake: FakeHouse) -> None:
    deeds(fake)
    changed = audit_pb2.AuditFault(kind=audit_pb2.AUDIT_FAULT_KIND_CHANGED, number=2)
    fake.audits.faults["rules"] = [changed]
    result = run("verify")
    assert result.exit_code == 1
    assert "audit: rules: verified up to entry 1" in result.output
    assert "changed entry 2" in result.output
    assert "Everything" not in result.output


def test_from_a_link_that_is_known(fake: FakeHouse) -> None:
    deeds(fake)
    done("verify", "--known", f"rules:3:{'03' * 32}")
    asked = [each for each in fake.requests if isinstance(each, audit_pb2.VerifyAuditRequest)]
    assert (asked[0].after_number, asked[0].after_hash) == (3, bytes([3]) * 32)
    assert [each.after_number for each in asked[1:]] == [0, 0, 0]


@pytest.mark.parametrize(
    "text", ["", "rules", "rules:3", "rules:x:00", "rules:3:zz", "rules:3:00", f"bar:3:{'00' * 32}"]
)
def test_what_is_no_link_is_a_mistake(fake: FakeHouse, text: str) -> None:
    result = run("verify", "--known", text)
    assert result.exit_code == 2
    assert "is no link" in result.stderr
    assert not fake.calls


# --- dead letters ------------------------------------------------------------------------------


def test_dead_letters_are_listed(fake: FakeHouse) -> None:
    assert done("dead") == "bus dead-list '' '' False\n"
    assert done("dead", "--consumer", "clock") == "bus dead-list '' 'clock' False\n"
    assert not fake.calls


def test_they_are_delivered_again_once_that_is_noted(fake: FakeHouse) -> None:
    shown = done("replay", "--numbers", "3,4", *WHY, *OLGA)
    assert shown == "bus dead-replay '3,4' '' False\n"
    (entry,) = fake.audits.written["rules"]
    assert (entry.operator, entry.reason) == ("olga", WHY[1])
    assert "bus dead-replay --numbers 3,4" in entry.request_json
    assert done("replay", "--every", *WHY) == "bus dead-replay '' '' True\n"
    assert "bus dead-replay --every" in fake.audits.written["rules"][1].request_json


def test_what_can_not_be_noted_is_not_done(fake: FakeHouse) -> None:
    async def refuse_note(call: Call) -> None:
        await refuse(call, NO, "ROLE_REQUIRED", "this call is for: operator")

    fake.fail("NoteAction", refuse_note)
    result = run("replay", "--every", *WHY)
    assert result.exit_code == 2
    assert "bus" not in result.stdout
    assert run("replay", *WHY).exit_code == 2, "which?"


# --- together ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "command", [("ledger", "report"), ("players", "suspend"), ("ledger", "verify")]
)
def test_the_other_commands_of_operators_are_here_too(command: tuple[str, ...]) -> None:
    result = run(*command, "--help")
    assert result.exit_code == 0, result.output
