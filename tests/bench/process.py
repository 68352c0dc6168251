"""Processes of the benchmarks, and what they cost."""

from __future__ import annotations

import asyncio
import json
import os
import shutil
import signal
import sys
import tempfile
import time
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

import psutil

START_SECONDS = 60.0


@dataclass(frozen=True)
class Started:
    """A process that is ready: its addresses, its data folder, and how long it took."""

    process: psutil.Process
    addresses: Mapping[str, str]
    folder: Path
    seconds: float

    def cpu_seconds(self) -> float:
        """User and system time of the process so far, its children apart."""
        times = self.process.cpu_times()
        return float(times.user + times.system)


@asynccontextmanager
async def started(*arguments: str, folder: Path, **settings: str) -> AsyncIterator[Started]:
    """A Python process that writes its addresses into KAFENEIO_READY_FILE; ended by SIGTERM."""
    ready = folder / f"ready-{time.monotonic_ns()}.json"
    environment = {
        **os.environ,
        "KAFENEIO_DATA_DIR": str(folder / "data"),
        "KAFENEIO_READY_FILE": str(ready),
        "KAFENEIO_RULES_PORT": "0",
        "KAFENEIO_CLOCK_PORT": "0",
        "KAFENEIO_SETTLEMENT_PORT": "0",
        "KAFENEIO_MATCHMAKING_PORT": "0",
        "KAFENEIO_METRICS_PORT": "0",
        "KAFENEIO_RATE_LIMIT_PER_SECOND": "1000000",
        "KAFENEIO_RATE_LIMIT_BURST": "1000000",
        "KAFENEIO_LOG_LEVEL": "warning",
        **settings,
    }
    begin = time.perf_counter()
    process = await asyncio.create_subprocess_exec(
        sys.executable, *arguments, env=environment, stdout=asyncio.subprocess.DEVNULL
    )
    try:
        while not ready.exists():
            if process.returncode is not None or time.perf_counter() - begin > START_SECONDS:
                raise RuntimeError(f"{arguments} did not get ready")
            await asyncio.sleep(0.01)
        seconds = time.perf_counter() - begin
        addresses = json.loads(ready.read_text())
        yield Started(psutil.Process(process.pid), addresses, folder, seconds)
    finally:
        if process.returncode is None:
            process.send_signal(signal.SIGTERM)
        await process.wait()


@asynccontextmanager
async def data_folder() -> AsyncIterator[Path]:
    """A folder that the embedded PostgreSQL, a user of its own, can reach."""
    folder = Path(tempfile.mkdtemp(prefix="kafeneio-bench-", dir="/var/tmp"))
    os.chmod(folder, 0o755)
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)
