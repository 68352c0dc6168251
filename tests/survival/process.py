"""The house as a process that is killed and started again."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from datetime import timedelta
from pathlib import Path

from kafeneio_client.client import Client, House
from kafeneio_runtime.auth import Role, development_key
from kafeneio_runtime.settings import Settings

PATIENCE = 60.0
"""Seconds until a test gives up waiting for a process."""

OPEN = b"Ctrl-C closes the house."
"""The last line of what the house says when it can be used."""


@dataclass
class Running:
    """A house that runs: its process, and its clients by name."""

    process: asyncio.subprocess.Process
    address: str
    house: House
    settings: Settings
    clients: dict[str, Client] = field(default_factory=dict)

    def client(self, name: str, role: Role = Role.PLAYER) -> Client:
        """The client of a player, or of a service or operator."""
        if name not in self.clients:
            token = development_key(self.settings).sign(name, role, timedelta(hours=1))
            self.clients[name] = self.house.client(token)
        return self.clients[name]

    @property
    def service(self) -> Client:
        """The client of a service."""
        return self.client("matchmaking", Role.SERVICE)

    async def killed(self) -> int:
        """The exit code, once the process has died by itself."""
        async with asyncio.timeout(PATIENCE):
            return await self.process.wait()

    async def kill(self) -> None:
        """SIGKILL: no drain, no flush, no goodbye."""
        self.process.kill()
        assert await self.killed() == -signal.SIGKILL

    async def end(self) -> None:
        """SIGTERM: drained, with the outbox flushed."""
        self.process.terminate()
        assert await self.killed() == 0


@asynccontextmanager
async def serving(folder: Path, **settings: str) -> AsyncIterator[Running]:
    """A house on `folder`, without computers unless they are asked for, ready to be used; whatever
    is left of it at the end is killed."""
    ready = folder / "ready.json"
    ours = {
        "KAFENEIO_DATA_DIR": str(folder),
        "KAFENEIO_READY_FILE": str(ready),
        "KAFENEIO_RULES_PORT": "0",
        "KAFENEIO_CLOCK_PORT": "0",
        "KAFENEIO_SETTLEMENT_PORT": "0",
        "KAFENEIO_MATCHMAKING_PORT": "0",
        "KAFENEIO_METRICS_PORT": "0",
        "KAFENEIO_COMPUTERS": "false",
        "KAFENEIO_DRAIN_SECONDS": "0",
        "KAFENEIO_LOG_LEVEL": "warning",
        "KAFENEIO_RATE_LIMIT_PER_SECOND": "100000",
        "KAFENEIO_RATE_LIMIT_BURST": "100000",
        **settings,
    }
    inherited = {k: v for k, v in os.environ.items() if not k.startswith("KAFENEIO_")}
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "kafeneio_client", "serve", "house"),
        env=inherited | ours,
        stdout=asyncio.subprocess.PIPE,
    )
    try:
        async with asyncio.timeout(PATIENCE):
            await _opened(process)
        addresses = json.loads(await asyncio.to_thread(ready.read_text))
        async with House(
            rules=addresses["rules"],
            clock=addresses["clock"],
            settlement=addresses["settlement"],
            matchmaking=addresses["matchmaking"],
        ) as house:
            yield Running(process, addresses["rules"], house, Settings(data_dir=folder))
    finally:
        if process.returncode is None:
            process.kill()
        await process.wait()


async def _opened(process: asyncio.subprocess.Process) -> None:
    assert process.stdout is not None
    async for line in process.stdout:
        if OPEN in line:
            return
    raise AssertionError(f"the house ended with {await process.wait()} at its start")
