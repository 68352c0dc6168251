"""The idle house: how soon it is ready, and what it holds in memory, its PostgreSQL included."""

from __future__ import annotations

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


async def house() -> None:
    """Print both."""
    async with data_folder() as folder:
        command = ("-m", "kafeneio_client", "serve", "house")
        async with started(*command, folder=folder) as first:
            print(f"ready, first start {first.seconds:10.2f} s (makes the database)")
        async with started(*command, folder=folder) as again:
            print(f"ready, set up      {again.seconds:10.2f} s (goal: under 3)")
            ours = unique_bytes(again.process)
            postgres = sum(map(unique_bytes, postgres_of(str(folder))))
            total = (ours + postgres) / 1e6
            print(
                f"memory, idle       {total:10.0f} MB (goal: under 300):"
                f" house {ours / 1e6:.0f}, PostgreSQL {postgres / 1e6:.0f}"
            )
