"""The ids of a test."""

from __future__ import annotations

import itertools
import zlib
from typing import Final


class Ids:
    """Makes the ids of a test: UUIDs like those of version 7, each later than the one before.

    The dice of a game depend on its id. A test that begins with `begin` and its own name gets the
    same ids in every run.
    """

    def __init__(self) -> None:
        self.begin("")

    def begin(self, name: str) -> None:
        """Start over, in a range of numbers that belongs to `name`."""
        self._numbers = itertools.count(zlib.crc32(name.encode()) << 16)

    def __call__(self) -> str:
        return f"01980000-0000-7000-8000-{next(self._numbers):012x}"


new_id: Final = Ids()
