"""The part of requirements.lock that some packages need: what an image holds beside our own.

    python deploy/checks/image.py kafeneio-rules kafeneio-client

The lock says below each package for whose sake it is there, so the lock alone is enough: nothing is
resolved anew and nothing is downloaded. `make closures` compares the outcome with what pip installs
for the same packages.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Final

ROOT: Final = Path(__file__).resolve().parents[2]
LOCK: Final = ROOT / "requirements.lock"

_ENTRY: Final = re.compile(r"^([a-z0-9][a-z0-9._-]*)==.*(?:\n[ #].*)*", re.MULTILINE)
_FOR: Final = re.compile(r"^    #(?: via|  ) +([a-z0-9][a-z0-9._-]*)", re.MULTILINE)


def entries(lock: str) -> dict[str, list[str]]:
    """The entries of each locked package, by its name: one, or one for some Pythons each."""
    found: dict[str, list[str]] = {}
    for entry in _ENTRY.finditer(lock):
        found.setdefault(entry[1], []).append(entry[0])
    return found


def needed(names: Iterable[str], lock: str) -> list[str]:
    """The locked packages that `names` need, directly or not, and those of `names` that are locked
    themselves, in order. Our own packages are not locked; what they need of each other is read from
    their pyproject files.
    """
    locked = entries(lock)
    wanted = set(own(names))
    while True:
        more = {
            name
            for name, found in locked.items()
            if name not in wanted and wanted & set(_FOR.findall("\n".join(found)))
        }
        if not more:
            return sorted(wanted & set(locked))
        wanted |= more


def own(names: Iterable[str]) -> set[str]:
    """`names`, and those of our packages that they need."""
    files = ROOT.glob("*/*/pyproject.toml")
    texts = {f"kafeneio-{file.parent.name}": file.read_text("utf-8") for file in files}
    found, open_ends = set(names), list(names)
    while open_ends:
        text = texts.get(open_ends.pop(), "")
        more = set(re.findall(r'^\s+"(kafeneio-[a-z]+)', text, re.MULTILINE)) - found
        found |= more
        open_ends += more
    return found


def main(names: list[str]) -> int:
    """Print the lines of the lock for pip's --require-hashes."""
    lock = LOCK.read_text("utf-8")
    locked = entries(lock)
    for name in needed(names, lock):
        print("\n".join(locked[name]))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
