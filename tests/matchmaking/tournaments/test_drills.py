"""Every size of tournament, again and again, with few and with many who leave: run by
`make drills`."""

from __future__ import annotations

import pytest
from kafeneio_matchmaking.tournaments.domain import LARGEST, SMALLEST, Format

from tests.matchmaking.tournaments.chances import FORMATS, by_chance
from tests.matchmaking.tournaments.test_ends import judge

pytestmark = [pytest.mark.drill, pytest.mark.timeout(1_800)]


@pytest.mark.parametrize("leaving", [0, 1, 5, 40])
@pytest.mark.parametrize("kind", FORMATS)
def test_every_size_ends(kind: Format, leaving: int) -> None:
    for size in range(SMALLEST, LARGEST + 1):
        for number in range(10 if size < 20 else 2):
            evening = by_chance(f"{kind} {size} {leaving} {number}", leaving=leaving)
            judge(evening.play(kind, size), evening.games)
