"""What the tests of `matchmaking` share."""

from __future__ import annotations

import logging
from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pytest
from kafeneio_matchmaking import main as matchmaking
from kafeneio_rules import main as rules

from tests.fixtures import logs
from tests.fixtures.postgres import Template
from tests.harness import new_id
from tests.matchmaking.hall import Hall


def migrate(url: str) -> None:
    """The tables of both services."""
    rules.migrate_database(url)
    matchmaking.migrate_database(url)


@pytest.fixture(scope="session")
def database_template() -> Template:
    """Databases with the tables of `rules` and `matchmaking`."""
    return Template("matchmaking", migrate)


@pytest.fixture(scope="session")
def keys(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where the services of all tests keep their keys."""
    return tmp_path_factory.mktemp("keys")


@pytest.fixture(autouse=True)
def repeated(request: pytest.FixtureRequest) -> None:
    """The same ids in every run."""
    new_id.begin(request.node.nodeid)


@pytest.fixture(scope="module", autouse=True)
def quiet() -> Iterator[None]:
    """Calls that were answered are nothing to print."""
    with logs.quiet(logging.ERROR):
        yield


@pytest.fixture
async def hall(database_url: str, keys: Path) -> AsyncIterator[Hall]:
    """One replica on a database of its own."""
    async with Hall.serve(database_url, keys) as served:
        yield served
