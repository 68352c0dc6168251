"""What the journeys share."""

from __future__ import annotations

import logging
from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pytest
import structlog
from kafeneio_clock import main as clock
from kafeneio_matchmaking import main as matchmaking
from kafeneio_rules import main as rules
from kafeneio_settlement import main as settlement

from tests.fixtures.postgres import Template
from tests.journeys.evening import Evening, evening


def migrate_all(url: str) -> None:
    """The schemas of all services."""
    for service in (rules, settlement, clock, matchmaking):
        service.migrate_database(url)


@pytest.fixture(scope="session")
def database_template() -> Template:
    """Databases with the tables of all services."""
    return Template("house", migrate_all)


@pytest.fixture(autouse=True)
def quiet() -> Iterator[None]:
    """Thousands of calls that were answered are nothing to print."""
    before = structlog.get_config()
    structlog.configure(wrapper_class=structlog.make_filtering_bound_logger(logging.WARNING))
    yield
    structlog.configure(**before)


@pytest.fixture
async def slow(database_url: str, tmp_path: Path) -> AsyncIterator[Evening]:
    """A house in which nobody's time runs out."""
    async with evening(database_url, tmp_path) as opened:
        yield opened


@pytest.fixture
async def hasty(database_url: str, tmp_path: Path) -> AsyncIterator[Evening]:
    """A house with half a second for a move."""
    async with evening(
        database_url,
        tmp_path,
        clock_move_seconds=0.5,
        clock_grace_seconds=0.1,
        clock_silent_seconds=1.0,
        clock_unknown_seconds=2.0,
    ) as opened:
        yield opened
