"""What the tests of the edge share."""

from __future__ import annotations

import pytest
from kafeneio_rules.main import migrate_database

from tests.fixtures.postgres import Template


@pytest.fixture(scope="session")
def database_template() -> Template:
    """Databases with the tables of `rules`."""
    return Template("rules", migrate_database)
