"""What these tests share."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from tests.fixtures.postgres import Template
from tests.journeys.conftest import migrate_all
from tests.journeys.conftest import quiet as quiet
from tests.journeys.evening import Evening, evening


@pytest.fixture(scope="session")
def database_template() -> Template:
    """Databases with the tables of all services."""
    return Template("house", migrate_all)


@pytest.fixture
async def house(database_url: str, tmp_path: Path) -> AsyncIterator[Evening]:
    """All services of a house in which nobody's time runs out."""
    async with evening(database_url, tmp_path, heartbeat_seconds=0.5) as opened:
        yield opened
