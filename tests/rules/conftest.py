"""What the tests of `rules` share."""

from __future__ import annotations

import hashlib
import itertools
import logging
from collections.abc import AsyncIterator, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
import pytest_asyncio
from kafeneio_rules.main import migrate_database

from tests.fixtures import logs
from tests.fixtures.postgres import Databases, Template
from tests.harness import Rules, new_id
from tests.rules.card_games import Packs
from tests.rules.stage import Stage


@pytest.fixture(scope="session")
def database_template() -> Template:
    """Databases with the tables of `rules`."""
    return Template("rules", migrate_database)


@pytest.fixture(scope="session")
def keys(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where the replicas of all tests keep their keys."""
    return tmp_path_factory.mktemp("keys")


@contextmanager
def repeatable(name: str) -> Iterator[None]:
    """The same ids and secrets in every run, so that a test that fails fails again with the same
    dice. Secrets of a house are other ones each time; `test_secrets` sees to that."""
    numbers = itertools.count()
    new_id.begin(name)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(
            "kafeneio_rules.waiting.new_secret",
            lambda: hashlib.sha256(b"%s %d" % (name.encode(), next(numbers))).digest(),
        )
        yield


@pytest.fixture(autouse=True)
def repeated(request: pytest.FixtureRequest) -> Iterator[None]:
    """Every test is repeatable."""
    with repeatable(request.node.nodeid):
        yield


@pytest.fixture(scope="module", autouse=True)
def quiet() -> Iterator[None]:
    """Thousands of calls that were answered are nothing to print."""
    with logs.quiet(logging.WARNING):
        yield


@pytest.fixture
async def rules(database_url: str, keys: Path) -> AsyncIterator[Rules]:
    """One replica on a database of its own."""
    async with Rules.serve(database_url, keys) as served:
        yield served


@pytest.fixture
async def pair(database_url: str, keys: Path) -> AsyncIterator[tuple[Rules, Rules]]:
    """Two replicas on one database."""
    async with (
        Rules.serve(database_url, keys) as first,
        Rules.serve(database_url, keys) as second,
    ):
        yield first, second


@pytest.fixture
def packs() -> Packs:
    """The chance of a house in which the test deals."""
    return Packs()


@pytest.fixture
async def card_rules(database_url: str, keys: Path, packs: Packs) -> AsyncIterator[Rules]:
    """One replica of such a house."""
    async with Rules.serve(database_url, keys, packs) as served:
        yield served


@pytest.fixture
async def card_pair(
    database_url: str, keys: Path, packs: Packs
) -> AsyncIterator[tuple[Rules, Rules]]:
    """Two replicas of such a house."""
    async with (
        Rules.serve(database_url, keys, packs) as first,
        Rules.serve(database_url, keys, packs) as second,
    ):
        yield first, second


@pytest.fixture(scope="module")
def stage_url(databases: Databases, database_template: Template) -> Iterator[str]:
    """A database for the tests of a module."""
    url = databases.create(database_template)
    yield url
    databases.drop(url)


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def stage(request: pytest.FixtureRequest, stage_url: str, keys: Path) -> AsyncIterator[Stage]:
    """A house with games in every state, for the tests of a module that change nothing in it."""
    with repeatable(request.node.nodeid):
        async with Rules.serve(stage_url, keys) as served:
            yield await Stage.set(served)
