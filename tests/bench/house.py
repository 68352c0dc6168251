"""The idle house: how soon it is ready, and what it holds in memory.

Its PostgreSQL and the worker that plays for its computers are included.
"""

from __future__ import annotations

import asyncio
import time

import psutil

from tests.bench.process import data_folder, started


def unique_bytes(process: psutil.Process) -> int:
    """Memory in use by a process and its children, shared pages counted once (PSS)."""
    family = [process, *process.children(recursive=True)]
    return sum(int(each.memory_full_info().pss) for each in family)


def postgres_of(folder: str) -> list[psutil.Process]:
    """The PostgreSQL server of a data folder: it is nobody's child."""
    return [
        process
        for process in psutil.process_iter(["name", "cmdline"])
        if process.info["name"] == "postgres" and folder in " ".join(process.info["cmdline"] or ())
    ]


async def idle(process: psutil.Process) -> None:
    """Wait until the worker is there and nothing moves any more; half a minute at the most."""
    given_up_at = time.monotonic() + 30
    before = -1.0
    while time.monotonic() < given_up_at:
        family = [process, *process.children(recursive=True)]
        used = sum(each.cpu_times().user for each in family)
        if len(family) > 1 and used - before < 0.05:
            return
        before = used
        await asyncio.sleep(1)


async def house() -> None:
    """Print both."""
    async with data_folder() as folder:
        command = ("-m", "kafeneio_client", "serve", "house")
        async with started(*command, folder=folder) as first:
            print(f"ready, first start {first.seconds:10.2f} s (makes the database)")
        async with started(*command, folder=folder) as again:
            print(f"ready, set up      {again.seconds:10.2f} s (goal: under 3)")
            await idle(again.process)
            ours = unique_bytes(again.process)
            postgres = sum(map(unique_bytes, postgres_of(str(folder))))
            total = (ours + postgres) / 1e6
            print(
                f"memory, idle       {total:10.0f} MB (goal: under 300):"
                f" house {ours / 1e6:.0f}, PostgreSQL {postgres / 1e6:.0f}"
            )
