"""What the tests of `settlement` share."""

from __future__ import annotations

import logging
from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pytest
from kafeneio_settlement.main import migrate_database

from tests.fixtures import logs
from tests.fixtures.postgres import Template
from tests.settlement.house import House


@pytest.fixture(scope="session")
def database_template() -> Template:
    """Databases with the tables of `settlement`."""
    return Template("settlement", migrate_database)


@pytest.fixture(scope="session")
def keys(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where the replicas of all tests keep their keys."""
    return tmp_path_factory.mktemp("keys")


@pytest.fixture(scope="module", autouse=True)
def quiet() -> Iterator[None]:
    """Thousands of calls that were answered are nothing to print."""
    with logs.quiet(logging.CRITICAL):
        yield


@pytest.fixture
async def house(database_url: str, keys: Path) -> AsyncIterator[House]:
    """One replica on a database of its own. After each test its ledger is checked to the cent."""
    async with House.serve(database_url, keys) as served:
        yield served
        await served.check_ledger()


@pytest.fixture
async def pair(database_url: str, keys: Path) -> AsyncIterator[tuple[House, House]]:
    """Two replicas on one database."""
    async with (
        House.serve(database_url, keys) as first,
        House.serve(database_url, keys) as second,
    ):
        yield first, second
        await first.check_ledger()
