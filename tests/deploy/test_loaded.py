"""What a process of one service loads: nothing that only others need."""

from __future__ import annotations

import asyncio
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
