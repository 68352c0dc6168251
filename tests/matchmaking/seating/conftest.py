"""What the tests of tables share."""

from __future__ import annotations

import pytest

from tests.matchmaking.hall import Hall
from tests.matchmaking.seating.room import Room


@pytest.fixture
def room(hall: Hall) -> Room:
    """One replica on a database of its own."""
    return Room(hall)
