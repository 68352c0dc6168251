"""`rules` and `matchmaking` as a process of their own, which a test kills."""

from __future__ import annotations

import asyncio
import os
import sys
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from datetime import timedelta
from functools import partial
from pathlib import Path
from typing import Final
from unittest import mock

from kafeneio_matchmaking import main as matchmaking
from kafeneio_matchmaking.saga import JOIN_MARGIN, Saga
from kafeneio_rules import main as rules
from kafeneio_runtime.bus import InProcessBus
from kafeneio_runtime.directory import Directory
from kafeneio_runtime.failpoints import VARIABLE
from kafeneio_runtime.ready import tell
from kafeneio_runtime.serve import run, serve
from kafeneio_runtime.settings import Settings

from tests.harness import PATIENCE

MARGIN: Final = "TEST_JOIN_MARGIN_SECONDS"
"""The variable that says how much time players must have left to join."""


async def _serve() -> None:
    settings = Settings()
    url, bus = settings.required_database_url(), InProcessBus()
    directory = Directory(settings, "matchmaking")
    services = [
        await rules.service(settings, url, bus),
        await matchmaking.service(settings, url, bus, directory),
    ]

    def opened(addresses: Mapping[str, str]) -> None:
        directory.tell(addresses)
        tell(settings.ready_file, addresses)
        sys.stdout.write("open\n")
        sys.stdout.flush()

    await serve(services, settings, opened)
    await directory.close()
    await bus.close()


@asynccontextmanager
async def serving(
    folder: Path, url: str, settlement: str, failpoint: str, margin: str
) -> AsyncIterator[asyncio.subprocess.Process]:
    """The process, open; it dies at `failpoint`. The addresses stand in `ready.json`."""
    ours = {
        "KAFENEIO_DATABASE_URL": url,
        "KAFENEIO_DATA_DIR": str(folder),
        "KAFENEIO_READY_FILE": str(folder / "ready.json"),
        "KAFENEIO_RULES_PORT": "0",
        "KAFENEIO_MATCHMAKING_PORT": "0",
        "KAFENEIO_METRICS_PORT": "0",
        "KAFENEIO_SETTLEMENT_ADDRESS": settlement,
        "KAFENEIO_DATABASE_POOL_SIZE": "4",
        "KAFENEIO_DRAIN_SECONDS": "0",
        "KAFENEIO_LOG_LEVEL": "error",
        VARIABLE: failpoint,
        **({MARGIN: margin} if margin else {}),
    }
    inherited = {k: v for k, v in os.environ.items() if not k.startswith("KAFENEIO_")}
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "tests.matchmaking.house"),
        env=inherited | ours,
        cwd=Path(__file__).parents[2],
        stdout=asyncio.subprocess.PIPE,
    )
    assert process.stdout is not None
    try:
        async with asyncio.timeout(PATIENCE):
            assert await process.stdout.readline() == b"open\n"
        yield process
    finally:
        if process.returncode is None:
            process.kill()
        await process.wait()


if __name__ == "__main__":
    margin = timedelta(seconds=float(os.environ.get(MARGIN, JOIN_MARGIN.total_seconds())))
    with mock.patch.object(matchmaking, "Saga", partial(Saga, join_margin=margin)):
        run(_serve())
