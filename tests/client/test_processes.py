"""What takes processes: the demo with its own house, and two people at one table."""

from __future__ import annotations

import asyncio
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.client import plugins
from tests.client.fake_house import FakeHouse, in_thread
from tests.fixtures.waiting import until

COMMAND = (sys.executable, "-m", "kafeneio_client")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Where the fakes are installed."""
    plugins.install(tmp_path)
    return tmp_path


@pytest.fixture
def address() -> Iterator[str]:
    with in_thread(FakeHouse()) as bound:
        yield bound


def demo(folder: Path, *args: str, **more: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [*COMMAND, "demo", *args],
        env=plugins.environment(folder, **more),
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )


def test_the_demo_plays_verifies_and_stops_its_house(folder: Path) -> None:
    log, record = folder / "tokens", folder / "game.json"
    done = demo(folder, "portes", "--save", str(record), FAKE_TOKEN_LOG=str(log))
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.count("┌───") > 10
    assert "won" in done.stdout
    assert f"kafeneio verify {record}\nGood:" in done.stdout
    assert "The house has ended as it should." in done.stdout
    assert record.exists()
    assert "greedy-1 is charged a timeout, the first one" in done.stdout
    assert re.search(r"payout +10.00 EUR +25.00 EUR", done.stdout)
    assert "Settled by S4: nets " in done.stdout
    assert "Sum zero:" in done.stdout
    assert log.read_text().splitlines() == [
        *("demo service", "greedy-1 player", "random-2 player", "guest player"),
    ]


def test_a_target_makes_more_rounds(folder: Path) -> None:
    done = demo(folder, "portes", "--target", "3", "--seed", "5")
    assert done.returncode == 0, done.stdout + done.stderr
    assert "to 3 points" in done.stdout
    assert "round 2" in done.stdout


def test_one_may_leave_and_the_other_is_paid(folder: Path) -> None:
    done = demo(folder, LEAVE="1")
    assert done.returncode == 0, done.stdout + done.stderr
    assert "random-2 is out of the game (LEFT)" in done.stdout
    assert "greedy-1 won" in done.stdout
    assert "(forfeit)" in done.stdout
    assert "nets 5.00 EUR, -5.00 EUR; fee 0.00 EUR" in done.stdout
    assert "Good:" in done.stdout


@pytest.mark.parametrize(
    ("fault", "told"),
    [
        ("crash", "Off: The house ended with 3 at its start.\nno room in the folder"),
        ("cheat", "CHANCE: row "),
        ("steal", "Off: the game paid something else than its rule says"),
        ("end-badly", "Off: The house ended with 4 instead of 0."),
    ],
)
def test_whatever_is_off_makes_it_fail(folder: Path, fault: str, told: str) -> None:
    done = demo(folder, FAKE_HOUSE=fault)
    assert done.returncode == 1, done.stdout + done.stderr
    assert told in done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize(
    ("args", "told"),
    [
        (["bridge"], "The house does not play 'bridge'. It plays: portes."),
        (["portes", "--target", "16"], "portes is played to 1 to 15 points"),
    ],
)
def test_what_is_not_played_is_told(folder: Path, args: list[str], told: str) -> None:
    done = demo(folder, *args)
    assert done.returncode == 2, done.stdout + done.stderr
    assert told in done.stderr


def test_two_people_at_one_table(folder: Path, address: str) -> None:
    environment = plugins.environment(
        folder, KAFENEIO_ADDRESS=address, KAFENEIO_CLOCK_ADDRESS=address
    )
    options = ("--as", "eleni", "--against", "nikos")
    with subprocess.Popen(
        [*COMMAND, "play", "portes", *options],
        env=environment,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as eleni:
        assert eleni.stdout is not None
        lines = iter(eleni.stdout.readline, "")
        invitation = next(line for line in lines if "play --game" in line).split()
        told = ["--as", "nikos", "--address", address, "--clock", address]
        assert invitation[-6:] == told
        assert any("Waiting for everybody" in line for line in lines)
        nikos = subprocess.run(
            [*COMMAND, *invitation[1:]],
            env=environment,
            input="resign\n",
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
        )
        assert nikos.returncode == 0, nikos.stdout + nikos.stderr
        seen = "".join(lines)
        assert eleni.wait(60) == 0
    for shown in (nikos.stdout, seen):
        assert re.search(r"eleni won 2 : 0 \(resigned\)", shown)
        assert "Verified" in shown


def test_two_people_queue_for_a_stake(folder: Path) -> None:
    fake = FakeHouse()
    with in_thread(fake) as address:
        services = ("CLOCK_", "SETTLEMENT_", "MATCHMAKING_", "")
        where = {f"KAFENEIO_{service}ADDRESS": address for service in services}
        environment = plugins.environment(folder, **where)
        for name in ("eleni", "nikos"):
            subprocess.run([*COMMAND, "deposit", name, "20"], env=environment, check=True)
        seats = []
        for name in ("eleni", "nikos"):
            args = ("queue", "portes", "--stake", "5.00", "--as", name)
            seats.append(
                subprocess.Popen(
                    [*COMMAND, *args],
                    env=environment,
                    stdin=subprocess.PIPE,
                    stdout=subprocess.PIPE,
                    text=True,
                )
            )
        with seats[0] as eleni, seats[1] as nikos:
            assert nikos.stdout is not None
            for line in nikos.stdout:
                if "to play" in line:
                    break
            # A game that is over at once is attended by nobody.
            asyncio.run(until(lambda: "Attend" in fake.calls))
            lost, _ = nikos.communicate("resign\n", timeout=60)
            seen, _ = eleni.communicate(timeout=60)
            assert (eleni.returncode, nikos.returncode) == (0, 0)
    assert "The game is settled: nikos has 15.00 EUR." in lost
    assert "The game is settled: eleni has 25.00 EUR." in seen
    assert "Verified" in seen
    assert fake.calls["Attend"] >= 1


HIDING = """
import importlib.abc, runpy, sys
class Missing(importlib.abc.MetaPathFinder):
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in ("typer", "rich"):
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)
sys.meta_path.insert(0, Missing())
import kafeneio_client, kafeneio_client.programs, kafeneio_client.records
sys.argv = ["kafeneio"]
runpy.run_module("kafeneio_client", run_name="__main__")
"""


def test_the_library_does_without_what_the_command_needs(folder: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-c", HIDING],
        env=plugins.environment(folder),
        capture_output=True,
        text=True,
        timeout=30,
        check=False,
    )
    assert done.returncode == 1
    assert done.stderr == "There is no typer here: install kafeneio-client[command].\n"
