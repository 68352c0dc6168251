"""Ask whether anything in requirements.lock is known to be vulnerable.

Fails where something is that a process of the house runs with. Of tools it only tells; and where
nobody can be asked it says so, because a machine without a network is no fault of a change.
"""

from __future__ import annotations

import json
import re
import subprocess
import sys
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, requires
from pathlib import Path
from typing import Final

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

ROOT: Final = Path(__file__).resolve().parents[2]
LOCK: Final = ROOT / "requirements.lock"
TOOLS: Final = frozenset({"kafeneio-up"})
"""Of our packages those that serve nobody."""
SECONDS: Final = 300

_ADDRESS: Final = re.compile(r"https?://\S+")


@dataclass(frozen=True, slots=True)
class Found:
    """A vulnerability of a package, and the versions that have it no more."""

    package: str
    version: str
    name: str
    mended_in: Sequence[str]

    def __str__(self) -> str:
        mended = f", mended in {', '.join(self.mended_in)}" if self.mended_in else ""
        return f"{self.package} {self.version}: {self.name}{mended}"


def own_packages() -> list[str]:
    """The names of the packages made here that serve."""
    folders = sorted(path.parent for path in ROOT.glob("*/*/pyproject.toml"))
    return [name for folder in folders if (name := f"kafeneio-{folder.name}") not in TOOLS]


def closure(names: Iterable[str]) -> set[str]:
    """The packages, and all that they need, every extra of ours included."""
    found: set[str] = set()
    waiting: list[tuple[str, Sequence[str]]] = [(name, ("command", "tracing")) for name in names]
    while waiting:
        name, extras = waiting.pop()
        found.add(canonicalize_name(name))
        try:
            needed = requires(name) or []
        except PackageNotFoundError:  # of another platform
            continue
        for line in needed:
            each = Requirement(line)
            wanted = each.marker is None or any(
                each.marker.evaluate({"extra": extra}) for extra in ("", *extras)
            )
            if wanted and canonicalize_name(each.name) not in found:
                waiting.append((each.name, tuple(each.extras)))
    return found


def ask(command: Sequence[str]) -> str:
    """What the tool says, as JSON; "" where it could not ask, which is told."""
    try:
        done = subprocess.run(
            command, capture_output=True, text=True, timeout=SECONDS, check=False, cwd=ROOT
        )
    except subprocess.TimeoutExpired:
        print(f"audit: nobody could be asked: no answer within {SECONDS} s")
        return ""
    if done.stdout.strip().startswith("{"):
        return done.stdout
    last = next((line for line in reversed(done.stderr.splitlines()) if line.strip()), "no word")
    print(f"audit: nobody could be asked: {_ADDRESS.sub('the service', last.strip())}")
    return ""


def read(text: str) -> list[Found]:
    """The vulnerabilities in what the tool says."""
    return [
        Found(canonicalize_name(each["name"]), each["version"], told["id"], told["fix_versions"])
        for each in json.loads(text)["dependencies"]
        for told in each.get("vulns", ())
    ]


def judge(found: Sequence[Found], runtime: set[str]) -> int:
    """The exit code; tells what was found."""
    serious = [each for each in found if each.package in runtime]
    for each in found:
        print(f"audit: {'a process runs with' if each in serious else 'a tool uses'} {each}")
    if not found:
        print("audit: nothing is known to be vulnerable")
    return 1 if serious else 0


def main() -> int:
    """Ask, and judge."""
    command = [sys.executable, "-m", "pip_audit", "--requirement", str(LOCK), "--disable-pip"]
    command += ["--vulnerability-service", "osv", "--format", "json", "--timeout", "20"]
    told = ask([*command, "--progress-spinner", "off"])
    return judge(read(told), closure(own_packages())) if told else 0


if __name__ == "__main__":
    sys.exit(main())
