"""Run all benchmarks, or those named: `python -m tests.bench act turns house`."""

from __future__ import annotations

import sys
from collections.abc import Awaitable, Callable

import uvloop

from tests.bench.act import act
from tests.bench.evening import evening
from tests.bench.hands import hands
from tests.bench.house import house
from tests.bench.melds import melds
from tests.bench.pairings import pairings
from tests.bench.turns import turns
from tests.clock.bench_clocks import clocks
from tests.settlement.bench_settlements import settlements

BENCHMARKS: dict[str, Callable[[], Awaitable[None]]] = {
    "turns": turns,
    "hands": hands,
    "melds": melds,
    "act": act,
    "settlements": settlements,
    "clocks": clocks,
    "pairings": pairings,
    "evening": evening,
    "house": house,
}


async def main(names: list[str]) -> None:
    """Each in turn."""
    for name in names or BENCHMARKS:
        print(f"\n== {name}", flush=True)
        await BENCHMARKS[name]()


uvloop.run(main(sys.argv[1:]))  # as in a house
