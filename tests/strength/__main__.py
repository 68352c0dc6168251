"""How strong the computer players are: `python -m tests.strength [portes ...] [--games N]`.

Every contest prints its games, the mean of the player's points a game with its 95 % interval, and
how long its decisions took.  The seeds are fixed.  Ends with 1 when a lower bound, or the time, is
not what is demanded.
"""

from __future__ import annotations

import argparse
import sys
from typing import Final

from tests.strength import rummy, tavli, tricks
from tests.strength.measure import measure

LIMIT_MS: Final = 300.0
FAMILIES: Final = (tavli, tricks, rummy)
"""Modules with `contests()`, a `SEED`, and `COUNT`: how many games a contest has unless asked."""


def main() -> int:
    """Every contest, or those of the games named."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("games", nargs="*", help="games, all of them unless named")
    parser.add_argument("--games", dest="count", type=int, help="games a contest")
    parser.add_argument("--workers", type=int, default=2)
    asked = parser.parse_args()
    contests = [(family, contest) for family in FAMILIES for contest in family.contests()]
    unknown = set(asked.games) - {contest.name.split()[0] for _, contest in contests}
    if unknown:
        parser.error(f"no contest of {', '.join(sorted(unknown))}")
    missed = 0
    print(f"{'':24} {'games':>5}  {'points':>6}  {'95 % interval':<16} {'demanded':<9}", end="")
    print(" decisions: p50, p99, max")
    for family, contest in contests:
        if asked.games and contest.name.split()[0] not in asked.games:
            continue
        found = measure(contest, asked.count or family.COUNT, asked.workers)
        good = found.low > contest.demanded and found.p99_ms < LIMIT_MS
        missed += not good
        print(
            f"{contest.name:24} {found.games:5}  {found.mean:+6.3f} "
            f" {found.low:+.3f} .. {found.high:+.3f}  > {contest.demanded:+.1f}   "
            f" {found.p50_ms:.0f} ms, {found.p99_ms:.0f} ms, {found.max_ms:.0f} ms"
            f"{'' if good else '   MISSED'}  (seed {family.SEED})",
            flush=True,
        )
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
