"""A failpoint does nothing, unless the process was started to die there."""

import ast
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from kafeneio_runtime.failpoints import VARIABLE, failpoint

ROOT = Path(__file__).parents[2]
PROGRAM = """
from kafeneio_runtime.failpoints import failpoint
failpoint("one")
failpoint("two")
print("lived")
"""


def test_by_itself_it_does_nothing() -> None:
    assert failpoint("any") is None  # type: ignore[func-returns-value]


@pytest.mark.parametrize(
    ("armed", "code", "out"),
    [(None, 0, "lived\n"), ("two", -signal.SIGKILL, ""), ("twofold", 0, "lived\n")],
)
def test_armed_it_kills_the_process(armed: str | None, code: int, out: str) -> None:
    environment = {name: value for name, value in os.environ.items() if name != VARIABLE}
    if armed:
        environment[VARIABLE] = armed
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM],
        env=environment,
        capture_output=True,
        text=True,
        timeout=30,
        check=False,
    )
    assert (done.returncode, done.stdout) == (code, out)


def failpoints_in(folder: Path) -> dict[str, list[str]]:
    """The names of all failpoints in the code below `folder`, each with its places."""
    found: dict[str, list[str]] = {}
    for file in sorted(folder.rglob("*.py")):
        for node in ast.walk(ast.parse(file.read_text("utf-8"))):
            if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Name):
                continue
            if node.func.id == "failpoint":
                [name] = node.args
                assert isinstance(name, ast.Constant), f"{file}: a failpoint's name is a literal"
                found.setdefault(str(name.value), []).append(f"{file}:{node.lineno}")
    return found


def test_those_of_the_runtime_are_known_and_have_one_place_each() -> None:
    found = failpoints_in(ROOT / "libs" / "runtime" / "kafeneio_runtime")
    assert set(found) == {"outbox.taken", "outbox.published"}  # both hit in test_outbox
    assert all(len(places) == 1 for places in found.values())
