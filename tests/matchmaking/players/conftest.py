"""What the tests of players share."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from tests.matchmaking.players.club import Club


@pytest.fixture
async def club(database_url: str, keys: Path) -> AsyncIterator[Club]:
    """A replica on a database of its own."""
    async with Club.open(database_url, keys) as opened:
        yield opened
