"""What the survival tests share."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest


@pytest.fixture
def folder() -> Iterator[Path]:
    """A data folder whose parents let PostgreSQL pass, which runs as a user of its own."""
    with TemporaryDirectory(prefix="kafeneio-survival-", ignore_cleanup_errors=True) as name:
        path = Path(name)
        path.chmod(0o755)
        yield path
