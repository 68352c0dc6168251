"""What the tests of tournaments share."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from tests.matchmaking.tournaments.club import Club


@pytest.fixture
async def club(database_url: str, keys: Path) -> AsyncIterator[Club]:
    """One replica on a database of its own."""
    async with Club.serve(database_url, keys) as served:
        yield served
