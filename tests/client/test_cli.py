"""The command: what it prints, and that a user's mistake is one sentence and exit code 2."""

from __future__ import annotations

import re
import socket
from collections.abc import Iterator
from pathlib import Path

import grpc
import pytest
from kafeneio_client import records
from kafeneio_client.cli.app import app
from typer.testing import CliRunner, Result

from tests.client import plugins, tables
from tests.client.fake_calls import Call, in_language, refuse
from tests.client.fake_house import FakeHouse, in_thread

PROGRAM = ("--against", "program")
UNKNOWN = "0193f7a0-5c1e-7000-8000-000000000009"


@pytest.fixture
def fake() -> FakeHouse:
    return FakeHouse()


@pytest.fixture
def address(fake: FakeHouse, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    with in_thread(fake) as bound:
        for service in ("CLOCK", "SETTLEMENT", "MATCHMAKING"):
            monkeypatch.setenv(f"KAFENEIO_{service}_ADDRESS", bound)
        yield bound


@pytest.fixture(autouse=True)
def installed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The fakes in the place of what is installed, and no setting of this computer."""
    folder = tmp_path / "installed"
    folder.mkdir()
    plugins.install(folder)
    monkeypatch.syspath_prepend(str(folder))
    for name in ("KAFENEIO_ADDRESS", "KAFENEIO_TOKEN"):
        monkeypatch.delenv(name, raising=False)


def run(*args: str, typed: str = "") -> Result:
    return CliRunner().invoke(app, args, input=typed, env={"COLUMNS": "100", "NO_COLOR": "1"})


def played(address: str, typed: str) -> Result:
    """Eleni plays Portes against a program."""
    against = ("--against", "program", "--as", "eleni")
    return run("play", "portes", *against, "--address", address, typed=typed)


def mistake(result: Result) -> str:
    """The one sentence of a user's mistake."""
    assert result.exit_code == 2, result.output
    assert "Traceback" not in result.output
    lines = result.stderr.strip().splitlines()
    assert len(lines) == 1, lines
    return lines[0]


def finished(fake: FakeHouse) -> str:
    """A finished game in the fake house."""
    table = tables.finished()
    fake.tables[table.game_id] = table
    return table.game_id


# --- looking around --------------------------------------------------------------------------


def test_help_tells_every_command_with_an_example() -> None:
    result = run("--help")
    assert result.exit_code == 0
    known = ("serve", "migrate", "token", "variants", "rules", "play", "verify", "games", "queue")
    for command in (*known, "wallet", "deposit", "demo"):
        assert re.search(rf"\b{command}\b", result.output)
    assert "kafeneio play portes" in result.output


@pytest.mark.parametrize(
    "command",
    [
        *("serve", "migrate", "play", "demo", "games", "variants", "verify", "rules show"),
        *("wallet", "deposit", "queue"),
    ],
)
def test_every_command_has_help_with_an_example(command: str) -> None:
    result = run(*command.split(), "--help")
    assert result.exit_code == 0
    assert f"kafeneio {command}" in result.output


def test_variants(address: str) -> None:
    result = run("variants", "--address", address, "--lang", "el")
    assert result.exit_code == 0
    assert "Πόρτες" in result.output
    assert "1 to 15 (1)" in result.output
    one = run("variants", "portes", "--address", address)
    assert one.exit_code == 0
    assert "rule_set: zarclub, betomall" in one.output


def test_rules_show_all_or_some(address: str) -> None:
    everything = run("rules", "show", "portes", "--address", address)
    assert everything.exit_code == 0
    assert "Doubles are four." in everything.output
    assert "Both dice." in everything.output
    one = run("rules", "show", "portes", "v2.3", "--lang", "el", "--address", address)
    assert "Και τα δύο." in one.output
    assert "V2.2" not in one.output


def test_who_reads_greek_is_refused_in_greek(fake: FakeHouse, address: str) -> None:
    async def fault(call: Call) -> None:
        told = in_language("el", "Το σπίτι δεν έχει αυτό το παιχνίδι.")
        code = grpc.StatusCode.NOT_FOUND
        await refuse(call, code, "VARIANT_UNKNOWN", "there is no variant chess", told)

    fake.fail("GetRules", fault, fault)
    asked = ("rules", "show", "chess", "--address", address)
    assert mistake(run(*asked, "--lang", "el")) == "Το σπίτι δεν έχει αυτό το παιχνίδι."
    assert mistake(run(*asked)).startswith("There is no variant chess.")


def test_games(fake: FakeHouse, address: str) -> None:
    assert "No game is found." in run("games", "--address", address).output
    game_id = finished(fake)
    result = run("games", "--player", "eleni", "--address", address)
    assert game_id in result.output
    assert "nikos won" in result.output


# --- verify ----------------------------------------------------------------------------------


def test_a_game_is_fetched_verified_and_kept(fake: FakeHouse, address: str, tmp_path: Path) -> None:
    path = tmp_path / "game.json"
    result = run("verify", finished(fake), "--save", str(path), "--address", address)
    assert result.exit_code == 0, result.output
    assert "Good:" in result.output
    assert run("verify", str(path)).exit_code == 0, "a file needs no house"


def test_a_bad_record_is_exit_code_1(fake: FakeHouse, tmp_path: Path) -> None:
    record = fake.tables[finished(fake)].record()
    record.secret = bytes(32)
    records.save(record, tmp_path / "bad.json")
    result = run("verify", str(tmp_path / "bad.json"))
    assert result.exit_code == 1
    assert "COMMITMENT" in result.stderr
    assert "is BAD" in result.stderr


# --- serve, migrate, token -------------------------------------------------------------------


def test_serve_without_a_name_lists_what_is_installed() -> None:
    result = run("serve")
    assert result.exit_code == 0
    assert "kafeneio serve house" in result.output
    assert "kafeneio-house" in result.output


def test_migrate_runs_the_house_which_is_everything() -> None:
    result = run("migrate")
    assert result.exit_code == 0, result.output
    assert "house is up to date" in result.output


def test_token_is_the_command_of_another_package() -> None:
    result = run("token", "eleni", "--role", "service")
    assert (result.exit_code, result.stdout) == (0, "token.eleni.made\n")
    assert "--role" in run("token", "--help").output
    assert run("token").exit_code == 2
    assert run("token", "eleni", "--role", "king").exit_code == 2


# --- playing ---------------------------------------------------------------------------------


def test_a_person_plays_against_a_program(address: str) -> None:
    typed = "help\n?\nhello\n1/off(6) 1/off(6)\n\nresign\n"
    result = played(address, typed)
    assert result.exit_code == 0, result.output
    assert "┌───" in result.stdout
    assert "program-1 won" in result.stdout
    assert "Verified" in result.stdout


def test_leaving_tells_how_to_come_back(fake: FakeHouse, address: str) -> None:
    result = played(address, "quit\n")
    assert result.exit_code == 0, result.output
    (game_id,) = fake.tables
    assert f"kafeneio play --game {game_id} --as eleni --address {address}" in result.stdout
    again = run(
        *("play", "--game", game_id, "--as", "eleni", "--against", "program"),
        *("--address", address),
        typed="resign\n",
    )
    assert again.exit_code == 0, again.output
    assert "program-1 won" in again.stdout


def test_an_unreadable_move_is_told_and_nothing_is_lost(fake: FakeHouse, address: str) -> None:
    result = run(
        "play", "portes", *PROGRAM, "--as", "eleni", "--address", address, typed="hello\nquit\n"
    )
    assert result.exit_code == 0
    told = "reads 'hello'" in result.stderr or "not your turn" in result.stderr.lower()
    assert told, result.stderr


def test_the_word_is_part_of_the_dice(fake: FakeHouse, address: str) -> None:
    args = ("play", "portes", *PROGRAM, "--as", "eleni", "--word", "καλημέρα", "--address", address)
    assert run(*args, typed="resign\n").exit_code == 0
    (table,) = fake.tables.values()
    assert table.words[0].decode() == "καλημέρα"


def test_who_leaves_the_game_loses_it(fake: FakeHouse, address: str) -> None:
    result = played(address, "leave\n")
    assert result.exit_code == 0, result.output
    assert "eleni: is out: left the game" in result.stdout
    assert "program-1 won" in result.stdout
    assert "Verified" in result.stdout
    assert fake.calls["Leave"] == 1


def test_a_house_without_a_clock_can_be_played_in(
    address: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("KAFENEIO_CLOCK_ADDRESS", "127.0.0.1:1")
    result = run(
        "play", "portes", *PROGRAM, "--as", "eleni", "--address", address, typed="resign\n"
    )
    assert result.exit_code == 0, result.output
    assert "program-1 won" in result.stdout


def test_a_clock_that_refuses_is_told_once(fake: FakeHouse, address: str) -> None:
    async def no(call: Call) -> None:
        await refuse(call, grpc.StatusCode.INTERNAL, "INTERNAL", "the clock has stopped")

    fake.fail("Attend", no, no)
    typed = "help\nresign\n"
    result = played(address, typed)
    assert result.exit_code == 0, result.output
    assert result.stderr.count("Nobody keeps the time") <= 1


# --- money -----------------------------------------------------------------------------------


def test_a_deposit_is_in_the_wallet(address: str) -> None:
    for amount, balance in (("20", "20.00 EUR"), ("0.50", "20.50 EUR"), ("3", "23.50 EUR")):
        result = run("deposit", "eleni", amount, "--address", address)
        assert result.exit_code == 0, result.output
        assert result.stdout == f"eleni has {balance} now.\n"
    result = run("wallet", "--as", "eleni", "--address", address)
    assert result.stdout.startswith("eleni has 23.50 EUR.\n")
    assert re.findall(r"deposit +(\S+)", result.stdout) == ["3.00", "0.50", "20.00"]
    one = run("wallet", "--as", "eleni", "--limit", "1", "--address", address)
    assert one.stdout.count("deposit") == 1


def test_a_suspended_wallet_says_so(fake: FakeHouse, address: str) -> None:
    run("deposit", "eleni", "1", "--address", address)
    fake.ledger.suspended.add("eleni")
    assert "is suspended" in run("wallet", "--as", "eleni", "--address", address).stdout


def test_no_wallet(address: str) -> None:
    told = mistake(run("wallet", "--as", "zoe", "--address", address))
    assert "`kafeneio deposit NAME AMOUNT`" in told


@pytest.mark.parametrize("amount", ["much", "5.001", "1e3", "--", "٣"])
def test_an_amount_is_a_number(amount: str, address: str) -> None:
    told = mistake(run("deposit", "--address", address, "--", "eleni", amount))
    assert "write it like 5 or 5.00" in told


def test_a_currency_is_three_letters(address: str) -> None:
    told = mistake(run("deposit", "eleni", "5", "--currency", "euro", "--address", address))
    assert "write it like EUR" in told


def test_the_queue_tells_why_it_led_to_nothing(address: str) -> None:
    args = ("queue", "portes", "--stake", "5.00", "--as", "eleni", "--address", address)
    assert "does not hold the stake" in mistake(run(*args))


# --- mistakes --------------------------------------------------------------------------------


def test_no_house_there() -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        address = f"127.0.0.1:{free.getsockname()[1]}"
        told = mistake(run("variants", "--address", address))
    assert told.startswith(f"No house answers at {address}.")
    assert "kafeneio serve house" in told


def test_an_unknown_variant(address: str) -> None:
    told = mistake(run("play", "bridge", "--address", address))
    assert "bridge" in told
    assert "`kafeneio variants`" in told


def test_an_unknown_rule(address: str) -> None:
    told = mistake(run("rules", "show", "portes", "V9.9", "--address", address))
    assert told == "portes has no rule V9.9. It has: V2.2, V2.3."


def test_an_unknown_game(address: str) -> None:
    for args in (["verify", UNKNOWN], ["play", "--game", UNKNOWN]):
        assert "`kafeneio games`" in mistake(run(*args, "--address", address))


def test_a_seat_of_somebody_else(fake: FakeHouse, address: str) -> None:
    told = mistake(run("play", "--game", finished(fake), "--as", "zoe", "--address", address))
    assert "eleni, nikos" in told


def test_no_token_and_none_to_be_made(address: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FAKE_TOKEN", "none")
    assert "--token" in mistake(run("variants", "--address", address))


@pytest.mark.parametrize("content", ["", "{}", "[1", '{"moves": []}'])
def test_a_file_that_is_no_record(content: str, tmp_path: Path) -> None:
    path = tmp_path / "other.json"
    path.write_text(content)
    assert str(path) in mistake(run("verify", str(path)))


def test_a_file_that_is_not_there_or_not_to_be_read(tmp_path: Path) -> None:
    assert "no file" in mistake(run("verify", "game.json"))
    assert "can't be read" in mistake(run("verify", str(tmp_path)))


def test_a_place_that_can_not_be_written(fake: FakeHouse, address: str, tmp_path: Path) -> None:
    args = ("verify", finished(fake), "--save", str(tmp_path / "no" / "game.json"))
    assert "can't be written" in mistake(run(*args, "--address", address))


@pytest.mark.parametrize("group", ["serve", "migrate"])
def test_a_name_that_is_not_installed(group: str) -> None:
    assert "Installed: " in mistake(run(group, "nothing"))
    assert "can't be imported" in mistake(run(group, "broken"))


def test_an_offer_that_can_not_be_called() -> None:
    assert "nothing that can be called" in mistake(run("serve", "odd"))


@pytest.mark.parametrize(
    ("args", "told"),
    [
        ([], "what to play"),
        (["portes", "--game", UNKNOWN], "what to play"),
        (["portes", "--word", "x" * 65], "64 bytes"),
        (["portes", "--option", "betomall"], "NAME=VALUE"),
    ],
)
def test_play_wants_to_know_what(args: list[str], told: str) -> None:
    assert told in mistake(run("play", *args))


@pytest.mark.parametrize(
    ("against", "told"),
    [(["a", "b"], "too many"), (["eleni"], "a name of his own")],
)
def test_everybody_needs_a_seat_and_a_name(against: list[str], told: str, address: str) -> None:
    args = [word for name in against for word in ("--against", name)]
    result = run("play", "portes", "--as", "eleni", *args, "--address", address)
    assert told in mistake(result)
