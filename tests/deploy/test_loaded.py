"""What a process of one service loads: nothing that only others need."""

from __future__ import annotations

import asyncio
import os
import sys
from typing import Final

import pytest

SERVICES: Final = ("rules", "matchmaking", "clock", "settlement")
FOR_MIGRATIONS: Final = {"alembic", "sqlalchemy"}


@pytest.mark.parametrize("name", SERVICES)
async def test_a_service_carries_no_tools_of_migrations(name: str) -> None:
    """They would be a third of the time that it takes to load, and a quarter of the memory."""
    program = f"import sys, kafeneio_{name}.main; print(*sys.modules)"
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-c", program, stdout=asyncio.subprocess.PIPE
    )
    told, _ = await process.communicate()
    loaded = {module.partition(".")[0] for module in told.decode().split()}
    assert f"kafeneio_{name}" in loaded
    assert not loaded & FOR_MIGRATIONS


FORKING: Final = """
import asyncio, subprocess, kafeneio_client
import grpc

async def main():
    server = grpc.aio.server()
    server.add_insecure_port("127.0.0.1:0")
    await server.start()
    subprocess.run(["true"], preexec_fn=int, check=True)  # so that it forks
    await server.stop(None)

asyncio.run(main())
"""


async def test_grpc_prepares_for_no_fork() -> None:
    """Whoever starts a program while gRPC is at work: without us it says what it can't prepare."""
    environment = {k: v for k, v in os.environ.items() if k != "GRPC_ENABLE_FORK_SUPPORT"}
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-c", FORKING), env=environment, stderr=asyncio.subprocess.PIPE
    )
    _, said = await process.communicate()
    assert process.returncode == 0
    assert b"fork" not in said
