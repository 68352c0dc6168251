"""The README's example runs as it stands there."""

from __future__ import annotations

import re
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from kafeneio.settlement.v1 import wallet_pb2
from kafeneio_client import Money
from kafeneio_client.cli.app import app

from tests.client import plugins
from tests.client.fake_house import FakeHouse, in_thread
from tests.client.tables import finished

README = (plugins.REPOSITORY / "libs/client/README.md").read_text(encoding="utf-8")


EXAMPLES = re.findall(r"```python\n(.*?)```", README, re.DOTALL)


def run(example: str, address: str, folder: Path) -> subprocess.CompletedProcess[str]:
    """An example as a process, with the addresses of its house put in."""
    script = re.sub(r"127\.0\.0\.1:5005\d", address, example)
    return subprocess.run(
        [sys.executable, "-c", script],
        env=plugins.environment(folder),
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )


def test_the_example_of_a_guest(tmp_path: Path) -> None:
    fake = FakeHouse()
    table = finished()
    fake.tables[table.game_id] = table
    with in_thread(fake) as address:
        done = run(EXAMPLES[0].replace("TOKEN", "guest"), address, tmp_path)
    assert done.returncode == 0, done.stderr
    assert "2 ['!resign']" in done.stdout


def test_the_example_of_a_program_at_a_table(tmp_path: Path) -> None:
    fake = FakeHouse()
    for name in ("eleni", "nikos"):
        fake.ledger.write(name, wallet_pb2.ENTRY_KIND_DEPOSIT, Money("EUR", 2000).message())
    example = EXAMPLES[1]
    with in_thread(fake) as address, ThreadPoolExecutor() as pool:
        scripts = [
            example.replace("TOKEN", name).replace("eleni", name) for name in ("eleni", "nikos")
        ]
        both = list(pool.map(lambda script: run(script, address, tmp_path), scripts))
    for done in both:
        assert done.returncode == 0, done.stderr
        assert "of the ticket\ncharged 0\n" in done.stdout
    ends = sorted(done.stdout.splitlines()[-1] for done in both)
    assert ends == ["won -500 has 15.00 EUR", "won 500 has 25.00 EUR"]


def test_there_is_no_other_example() -> None:
    assert len(EXAMPLES) == 2


def test_every_command_of_the_readme_exists() -> None:
    named = set(re.findall(r"^kafeneio (\w+)", README, re.MULTILINE))
    known = {str(c.name or getattr(c.callback, "__name__", "")) for c in app.registered_commands}
    known |= {str(group.name) for group in app.registered_groups}
    assert named <= known | {"token"}
    assert known <= named | {"token"}
