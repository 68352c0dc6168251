"""What the tests of `clock` share."""

from __future__ import annotations

import logging
from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pytest
from kafeneio_clock.main import migrate_database as migrate_clock
from kafeneio_rules.main import migrate_database as migrate_rules

from tests.clock.house import House
from tests.fixtures import logs
from tests.fixtures.postgres import Template
from tests.harness import new_id


def migrate(url: str) -> None:
    """The tables of both services."""
    migrate_rules(url)
    migrate_clock(url)


@pytest.fixture(scope="session")
def database_template() -> Template:
    """Databases with the tables of `rules` and `clock`."""
    return Template("clock", migrate)


@pytest.fixture(scope="session")
def keys(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where the services of all tests keep their keys."""
    return tmp_path_factory.mktemp("keys")


@pytest.fixture(autouse=True)
def repeated(request: pytest.FixtureRequest) -> None:
    """Every test has the same ids in every run."""
    new_id.begin(request.node.nodeid)


@pytest.fixture(scope="module", autouse=True)
def quiet() -> Iterator[None]:
    """Calls that were answered, and warnings of what a test breaks, are nothing to print."""
    with logs.quiet(logging.ERROR):
        yield


@pytest.fixture
async def house(database_url: str, keys: Path) -> AsyncIterator[House]:
    """A house in which nobody is hurried."""
    async with House.serve(database_url, keys) as served:
        yield served


@pytest.fixture
async def brisk(database_url: str, keys: Path) -> AsyncIterator[House]:
    """A house in which a move takes a second."""
    async with House.serve(
        database_url, keys, clock_move_seconds=1, clock_grace_seconds=0.2
    ) as served:
        yield served


@pytest.fixture
def sharp() -> Iterator[None]:
    """An outage is noticed after a quarter of a second."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("kafeneio_runtime.heartbeat.GAP_SECONDS", 0.25)
        patch.setattr("kafeneio_runtime.heartbeat.BEAT_SECONDS", 0.05)
        patch.setattr("kafeneio_clock.life.GAP_SECONDS", 0.25)
        patch.setattr("kafeneio_clock.life.BEAT_SECONDS", 0.05)
        yield
