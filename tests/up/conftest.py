"""One house of `make up` for the tests of this folder."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

from tests.up.running import Running, running


@pytest.fixture(scope="session")
def folder() -> Iterator[Path]:
    """A data folder whose parents let PostgreSQL pass, which runs as a user of its own."""
    with TemporaryDirectory(prefix="kafeneio-up-", ignore_cleanup_errors=True) as name:
        path = Path(name)
        path.chmod(0o755)
        yield path


@pytest.fixture(scope="session")
def up(folder: Path) -> Iterator[Running]:
    """The house, with two replicas of each service, and a page of one line."""
    page = folder / "page"
    page.mkdir()
    (page / "index.html").write_text("<!doctype html><title>Kafeneio</title>", "utf-8")
    with running(folder, KAFENEIO_UP_PAGE=str(page)) as opened:
        yield opened
