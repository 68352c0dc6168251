"""What the tests of the computers' worker share."""

from __future__ import annotations

import logging
from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from kafeneio_rules.main import migrate_database

from tests.fixtures import logs
from tests.fixtures.postgres import Template
from tests.harness import Rules, new_id


@pytest.fixture(scope="session")
def database_template() -> Template:
    """Databases with the tables of `rules`."""
    return Template("rules", migrate_database)


@pytest.fixture(autouse=True)
def repeated(request: pytest.FixtureRequest) -> None:
    """Every test has the same ids in every run."""
    new_id.begin(request.node.nodeid)


@pytest.fixture
def quiet() -> Iterator[None]:
    """Calls that were answered, and failures that a test makes, are nothing to print."""
    with logs.quiet(logging.CRITICAL):
        yield


@pytest.fixture
async def rules(database_url: str, tmp_path: Path, quiet: None) -> AsyncIterator[Rules]:
    """`rules`, served in this process."""
    async with Rules.serve(database_url, tmp_path) as served:
        yield served


@pytest.fixture
def folder() -> Iterator[Path]:
    """A data folder whose parents let PostgreSQL pass, which runs as a user of its own."""
    with TemporaryDirectory(prefix="kafeneio-computers-", ignore_cleanup_errors=True) as name:
        path = Path(name)
        path.chmod(0o755)
        yield path
