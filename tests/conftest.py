"""What all tests share."""

from __future__ import annotations

import os
import shutil
import tempfile
from pathlib import Path
from typing import Final

import pytest

pytest_plugins = [
    "tests.fixtures.logs",
    "tests.fixtures.matrices",
    "tests.fixtures.postgres",
    "tests.fixtures.nats",
]

_MEMORY: Final = Path("/dev/shm")
_ENOUGH: Final = 4 * 2**30


def _keep_files_in_memory() -> None:
    """Tests and the processes that they start make their files in memory, where there is enough.

    Thousands of databases are cloned, each of some 700 files: 20 ms in memory, 200 on a disk. With
    TMPDIR set, that folder is taken.
    """
    if "TMPDIR" in os.environ or not os.access(_MEMORY, os.W_OK):
        return
    if shutil.disk_usage(_MEMORY).free >= _ENOUGH:
        os.environ["TMPDIR"] = tempfile.tempdir = str(_MEMORY)


def _keep_bytecode() -> None:
    """Hundreds of processes are started, and to compile all its modules anew takes each of them the
    greater part of a second.
    """
    os.environ.pop("PYTHONDONTWRITEBYTECODE", None)


def _never_fork_grpc() -> None:
    """We start programs, but never fork to go on in both halves: what gRPC prepares for that, once
    in a while, kills the half that is about to become the program. Read when gRPC is loaded.
    """
    os.environ["GRPC_ENABLE_FORK_SUPPORT"] = "0"


_keep_files_in_memory()
_keep_bytecode()
_never_fork_grpc()


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """What one worker must do alone comes first: at the end the others would wait for it."""
    items.sort(key=lambda item: item.get_closest_marker("xdist_group") is None)


def pytest_collection_finish(session: pytest.Session) -> None:
    """Groups must be groups: pytest-xdist tells them by the ids, and says nothing where it can't.

    What was imported and collected stays: to look through it again and again took a fifth of the
    time of all tests.
    """
    if getattr(session.config.option, "loadgroup", False):
        grouped = [item for item in session.items if item.get_closest_marker("xdist_group")]
        assert all("@" in item.nodeid for item in grouped), "the groups of tests are lost"
    from kafeneio_runtime.serve import spare_the_collector  # it loads gRPC

    spare_the_collector()
