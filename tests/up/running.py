"""The house of `make up`, as a process that a test starts and ends."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import psutil

PATIENCE: Final = 120.0
"""Seconds for a whole house to open; nothing takes as long unless it is broken."""


@dataclass(frozen=True)
class Running:
    """The process, where everything is, and its data folder."""

    process: subprocess.Popen[bytes]
    addresses: Mapping[str, str]
    folder: Path

    def replicas(self, service: str) -> list[str]:
        """`host:port` of each replica of a service."""
        return self.addresses[service].split(",")

    def end(self, how: signal.Signals = signal.SIGTERM) -> int:
        """Tell it to end; its exit code."""
        self.process.send_signal(how)
        return self.process.wait(PATIENCE)


@contextmanager
def running(folder: Path, **settings: str) -> Iterator[Running]:
    """The house on `folder`, open; whatever is left of it at the end is killed."""
    ready = folder / "ready.json"
    inherited = {k: v for k, v in os.environ.items() if not k.startswith("KAFENEIO_")}
    ours = {
        "KAFENEIO_DATA_DIR": str(folder),
        "KAFENEIO_READY_FILE": str(ready),
        "KAFENEIO_UP_PORT": "0",
        "KAFENEIO_UP_RATE": "100000",
        "KAFENEIO_DRAIN_SECONDS": "0",
        "KAFENEIO_LOG_LEVEL": "warning",
        "KAFENEIO_RATE_LIMIT_PER_SECOND": "100000",
        "KAFENEIO_RATE_LIMIT_BURST": "100000",
        **settings,
    }
    with (folder / "said.txt").open("wb") as said:
        process = subprocess.Popen(
            (sys.executable, "-m", "kafeneio_client", "serve", "up"),
            env=inherited | ours,
            stdout=said,
            stderr=said,
        )
    try:
        _wait_for(ready, process)
        yield Running(process, json.loads(ready.read_text("utf-8")), folder)
    finally:
        if process.poll() is None:
            process.kill()
            process.wait()
        for each in left(folder):
            each.kill()


def left(folder: Path) -> list[psutil.Process]:
    """Processes that name the folder, or were told of it."""
    found: list[psutil.Process] = []
    for each in psutil.process_iter():
        try:
            words = [*each.cmdline(), each.environ().get("KAFENEIO_DATA_DIR", "")]
        except psutil.Error:
            continue  # it is gone, or somebody else's
        if each.pid != os.getpid() and any(str(folder) in word for word in words):
            found.append(each)
    return found


def _wait_for(ready: Path, process: subprocess.Popen[bytes]) -> None:
    given_up_at = time.monotonic() + PATIENCE
    while not ready.exists():
        said = (ready.parent / "said.txt").read_text("utf-8", errors="replace")
        assert process.poll() is None, f"the house has ended at its start:\n{said}"
        assert time.monotonic() < given_up_at, f"the house does not open:\n{said}"
        time.sleep(0.05)
