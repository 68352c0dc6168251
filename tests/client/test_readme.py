"""The README's example runs as it stands there."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

from kafeneio_client.cli.app import app

from tests.client import plugins
from tests.client.fake_house import FakeHouse, in_thread
from tests.client.tables import finished

README = (plugins.REPOSITORY / "libs/client/README.md").read_text(encoding="utf-8")


def test_the_example_of_the_library(tmp_path: Path) -> None:
    (example,) = re.findall(r"```python\n(.*?)```", README, re.DOTALL)
    fake = FakeHouse()
    table = finished()
    fake.tables[table.game_id] = table
    with in_thread(fake) as address:
        script = example.replace("127.0.0.1:50051", address).replace("TOKEN", "guest")
        done = subprocess.run(
            [sys.executable, "-c", script],
            env=plugins.environment(tmp_path),
            capture_output=True,
            text=True,
            timeout=30,
            check=False,
        )
    assert done.returncode == 0, done.stderr
    assert "2 ['!resign']" in done.stdout


def test_every_command_of_the_readme_exists() -> None:
    named = set(re.findall(r"^kafeneio (\w+)", README, re.MULTILINE))
    known = {str(c.name or getattr(c.callback, "__name__", "")) for c in app.registered_commands}
    known |= {str(group.name) for group in app.registered_groups}
    assert named <= known | {"token"}
    assert known <= named | {"token"}
