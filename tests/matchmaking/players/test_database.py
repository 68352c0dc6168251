"""What the database itself makes sure of."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from kafeneio_matchmaking.names import SCHEMA
from kafeneio_matchmaking.schema import metadata
from kafeneio_runtime.migrations import drift

from tests.fixtures.postgres import Databases, Template


@pytest.fixture
def template_url(databases: Databases, database_template: Template) -> Iterator[str]:
    """A migrated database."""
    url = databases.create(database_template)
    yield url
    databases.drop(url)


def test_the_migrations_make_these_tables(template_url: str) -> None:
    assert drift(template_url, SCHEMA, metadata) == []
