"""What the journeys share."""

from __future__ import annotations

import logging
from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pytest
from kafeneio_clock import main as clock
from kafeneio_matchmaking import main as matchmaking
from kafeneio_rules import main as rules
from kafeneio_settlement import main as settlement

from tests.fixtures import logs
from tests.fixtures.postgres import Template
from tests.journeys.evening import EMBEDDED, Evening, Mode, evening
from tests.journeys.evening import mode as evening_mode


def migrate_all(url: str) -> None:
    """The schemas of all services."""
    for service in (rules, settlement, clock, matchmaking):
        service.migrate_database(url)


@pytest.fixture(scope="session")
def database_template() -> Template:
    """Databases with the tables of all services."""
    return Template("house", migrate_all)


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Every journey is made in both kinds of house: `make drills` makes it in the scaled one."""
    if "database_url" in metafunc.fixturenames:
        modes = ("embedded", pytest.param("scaled", marks=pytest.mark.drill))
        metafunc.parametrize("mode", modes, indirect=True)


@pytest.fixture(autouse=True)
def mode(request: pytest.FixtureRequest) -> Iterator[None]:
    """The kind of house that is opened."""
    chosen = EMBEDDED
    if getattr(request, "param", "") == "scaled":
        chosen = Mode(2, request.getfixturevalue("nats_settings"))
    token = evening_mode.set(chosen)
    yield
    evening_mode.reset(token)


@pytest.fixture(autouse=True)
def quiet() -> Iterator[None]:
    """Thousands of calls that were answered are nothing to print."""
    with logs.quiet(logging.WARNING):
        yield


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
