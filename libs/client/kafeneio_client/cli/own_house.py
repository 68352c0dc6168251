"""A house of its own in a process of its own, on free ports and in a folder that goes away."""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import shutil
import signal
import sys
import tempfile
from collections.abc import AsyncIterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from kafeneio_client.cli import plugins
from kafeneio_client.client import House

_POLL_SECONDS: Final = 0.05
_STOP_SECONDS: Final = 20.0
_LOG_LINES: Final = 30
_PORTS: Final = tuple(
    f"KAFENEIO_{name}_PORT" for name in ("RULES", "CLOCK", "SETTLEMENT", "MATCHMAKING", "METRICS")
)
# What the person who calls may set; everything else of the house's settings is ours here.
_KEPT: Final = frozenset({"KAFENEIO_DATABASE_URL", "KAFENEIO_LOG_LEVEL"})


class HouseFailed(Exception):  # noqa: N818 - what has happened, in a word
    """The house did not start, or did not end as it should; the message has the end of its log."""


@dataclass(frozen=True, slots=True)
class OwnHouse:
    """A running house: where its services listen, and the settings that it was started with."""

    addresses: Mapping[str, str]
    settings: Mapping[str, str]

    def open(self) -> House:
        """Connect to every service of it."""
        return House(
            self.addresses["rules"],
            clock=self.addresses["clock"],
            settlement=self.addresses["settlement"],
            matchmaking=self.addresses["matchmaking"],
        )


@contextlib.asynccontextmanager
async def own_house(settings: Mapping[str, str]) -> AsyncIterator[OwnHouse]:
    """Start a house, and stop it in the end; HouseFailed where either does not go well.

    It has these settings beside those that keep it apart from any other. Its folder is not in a
    private one, because PostgreSQL runs as another user where we are root.
    """
    plugins.load(plugins.SERVE, "house")  # a sentence now is better than a log to read later
    folder = _public_folder()
    try:
        async with _running(folder, settings) as house:
            yield house
    finally:
        await asyncio.to_thread(shutil.rmtree, folder)


def _public_folder() -> Path:
    parent = "/var/tmp" if os.access("/var/tmp", os.W_OK) else None
    folder = Path(tempfile.mkdtemp(prefix="kafeneio-demo-", dir=parent))
    folder.chmod(0o755)
    return folder


@contextlib.asynccontextmanager
async def _running(folder: Path, wanted: Mapping[str, str]) -> AsyncIterator[OwnHouse]:
    ready, log = folder / "ready.json", folder / "house.log"
    settings = {
        **wanted,
        **dict.fromkeys(_PORTS, "0"),
        "KAFENEIO_DATA_DIR": str(folder / "data"),
        "KAFENEIO_READY_FILE": str(ready),
    }
    inherited = {
        name: value
        for name, value in os.environ.items()
        if not name.startswith("KAFENEIO_") or name in _KEPT
    }
    with log.open("wb") as output:
        process = await asyncio.create_subprocess_exec(
            *(sys.executable, "-m", "kafeneio_client", "serve", "house"),
            stdin=asyncio.subprocess.DEVNULL,
            stdout=output,
            stderr=output,
            env=inherited | settings,
            # Ctrl-C is for us; the house is then told in its own time.
            start_new_session=True,
        )
    try:
        yield OwnHouse(await _ready(process, ready, log), settings)
    except BaseException:
        await _stop(process)
        raise
    code = await _stop(process)
    if code != 0:
        raise HouseFailed(f"The house ended with {code} instead of 0.\n{_tail(log)}")


async def _ready(process: asyncio.subprocess.Process, ready: Path, log: Path) -> Mapping[str, str]:
    """The addresses, as soon as the house has written them; the caller has the deadline."""
    while process.returncode is None:
        if (addresses := _read_addresses(ready)) is not None:
            return addresses
        await asyncio.sleep(_POLL_SECONDS)
    raise HouseFailed(f"The house ended with {process.returncode} at its start.\n{_tail(log)}")


def _read_addresses(ready: Path) -> Mapping[str, str] | None:
    """What the house wrote, None as long as it hasn't, or not to the end."""
    try:
        read = json.loads(ready.read_text(encoding="utf-8"))
    except (FileNotFoundError, json.JSONDecodeError):
        return None
    return {str(name): str(address) for name, address in read.items()}


async def _stop(process: asyncio.subprocess.Process) -> int:
    """Ask the house to end, and make it where it doesn't; its exit code."""
    if process.returncode is None:
        process.send_signal(signal.SIGTERM)
    try:
        async with asyncio.timeout(_STOP_SECONDS):
            return await process.wait()
    except TimeoutError:
        process.kill()
        await process.wait()
        raise HouseFailed(f"The house did not end within {_STOP_SECONDS:.0f} s.") from None


def _tail(log: Path) -> str:
    lines = log.read_text(encoding="utf-8", errors="replace").splitlines()
    return "\n".join(lines[-_LOG_LINES:])
