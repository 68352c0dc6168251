"""Who uses the processor while a house is played in."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Mapping
from pathlib import Path
from typing import Final

import psutil

SERVE: Final = re.compile(r"kafeneio(?:_client)?\S* serve (\w+)")
PLAYERS: Final = "players"
MACHINE: Final = "machine, all in all"


def seconds(folder: Path) -> dict[str, float]:
    """CPU seconds so far of the parts of a house on a data folder, by name, and of this process."""
    used: dict[str, float] = defaultdict(float)
    for process in psutil.process_iter():
        try:
            name = _part(process, str(folder))
            if name is not None:
                times = process.cpu_times()
                used[name] += times.user + times.system
        except psutil.Error:
            continue  # it has gone
    own = psutil.Process().cpu_times()
    used[PLAYERS] = own.user + own.system
    machine = psutil.cpu_times()
    used[MACHINE] = sum(machine) - machine.idle - getattr(machine, "iowait", 0.0)
    return dict(used)


def _part(process: psutil.Process, folder: str) -> str | None:
    """Of which part of the house a process is one."""
    words = " ".join(process.cmdline())
    if process.name() == "postgres":
        return "postgres" if folder in words or _child_of(process, folder) else None
    if folder in words:
        return {"nats-server": "nats", "envoy": "envoy"}.get(process.name())
    if process.environ().get("KAFENEIO_DATA_DIR") != folder:
        return None
    if "kafeneio_computers" in words:
        return "computers"
    serving = SERVE.search(words)
    return serving[1] if serving else None


def _child_of(process: psutil.Process, folder: str) -> bool:
    parent = process.parent()
    return parent is not None and folder in " ".join(parent.cmdline())


def between(before: Mapping[str, float], after: Mapping[str, float]) -> dict[str, float]:
    """What was used meanwhile, the most first."""
    used = {name: after[name] - before.get(name, 0.0) for name in after}
    return dict(sorted(used.items(), key=lambda item: -item[1]))


def limit(used: Mapping[str, float], wall: float, parts: Mapping[str, int]) -> str:
    """What keeps it from going faster; `parts` says how many processes a name stands for."""
    cores = psutil.cpu_count() or 1
    if used[MACHINE] > 0.9 * cores * wall:
        others = used[MACHINE] - sum(spent for name, spent in used.items() if name != MACHINE)
        return (
            f"the machine's {cores} cores: the players use {used[PLAYERS] / wall:.2f} of them,"
            f" other programs {max(0.0, others) / wall:.2f}"
        )
    for name, spent in used.items():
        if name != MACHINE and spent > 0.85 * wall * parts.get(name, 1):
            return f"the one core that each process of {name} can use"
    return "the pace of the players: there is room for more"
