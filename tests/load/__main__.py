"""Load a house with scripted players: `python -m tests.load --help`, or `make load`."""

from __future__ import annotations

import argparse
import asyncio
import time
from contextlib import AbstractAsyncContextManager
from pathlib import Path
from statistics import quantiles

from kafeneio_runtime.auth import Role
from kafeneio_runtime.settings import default_data_dir

from tests.bench.act import act
from tests.load import usage
from tests.load.crowd import MIX, Crowd, Tally, tables
from tests.load.houses import Loaded, embedded, running, scaled

WARM_UP_SECONDS = 5.0


async def load(
    opening: AbstractAsyncContextManager[Loaded], count: int, seconds: float, name: str
) -> float:
    """Play at so many tables for a while; prints what was measured, returns moves a second."""
    async with opening as house:
        crowd = Crowd(house.players(), house.client("cashier", Role.SERVICE), tables(count))
        await crowd.bring_money()
        playing = asyncio.create_task(crowd.play())
        begun = asyncio.create_task(crowd.until_begun(min(count, 2)))
        await asyncio.wait({playing, begun}, return_when=asyncio.FIRST_COMPLETED)
        await asyncio.wait({playing}, timeout=WARM_UP_SECONDS)
        if playing.done():
            playing.result()
        # What was done before the start of the measurement is not measured.
        tally = crowd.tally
        tally.acts.clear()
        calls, ended = tally.calls, len(tally.games)
        before, begin = usage.seconds(house.folder), time.perf_counter()
        await asyncio.wait({playing}, timeout=seconds)
        wall = time.perf_counter() - begin
        used = usage.between(before, usage.seconds(house.folder))
        moves = len(tally.acts)
        report(name, count, tally, wall, used, house, tally.calls - calls, len(tally.games) - ended)
        if playing.done():
            playing.result()  # a player's error is the end of it
        playing.cancel()
        await asyncio.gather(playing, return_exceptions=True)
    return moves / wall


def report(
    name: str,
    count: int,
    tally: Tally,
    wall: float,
    used: dict[str, float],
    house: Loaded,
    calls: int,
    ended: int,
) -> None:
    """Print it."""
    moves = len(tally.acts)
    print(f"\n== {name}: {count} tables of {', '.join(dict.fromkeys(MIX))}; {wall:.0f} s")
    print(
        f"moves              {moves / wall:10.1f} a second, in {calls / wall:,.0f} calls a second"
    )
    print(f"games              {ended:10d} ended and were paid")
    if moves > 2:
        cuts = quantiles((each * 1e3 for each in tally.acts), n=100)
        print(
            f"a move             {cuts[49]:10.1f} ms (median), p90 {cuts[89]:.1f},"
            f" p99 {cuts[98]:.1f}, worst {max(tally.acts) * 1e3:.1f}"
        )
    for part, spent in used.items():
        share = f"{spent / moves * 1e3:8.2f} ms a move" if moves else ""
        print(f"  {part:<16} {spent / wall:10.2f} cores {share}")
    print(f"limited by         {usage.limit(used, wall, house.parts)}")
    if tally.retryable:
        print(f"sent again         {dict(tally.retryable)}")


async def main() -> None:
    """As the arguments have it."""
    parser = argparse.ArgumentParser(description="Load a house with scripted players.")
    parser.add_argument("--tables", type=int, default=12, help="tables played at, at once")
    parser.add_argument("--seconds", type=float, default=30, help="measured, after a warm-up")
    parser.add_argument(
        "--house",
        choices=("all", "embedded", "scaled"),
        default="all",
        help="which to open: one process; processes with 1 and with 2 of rules; both",
    )
    parser.add_argument("--address", help="of a house that runs, for all services (as `make up`)")
    parser.add_argument(
        "--data", type=Path, default=default_data_dir(), help="the data folder of that house"
    )
    given = parser.parse_args()
    if given.address:
        opening = running(given.address, given.data)
        await load(opening, given.tables, given.seconds, given.address)
        return
    if given.house != "scaled":
        await load(embedded(), given.tables, given.seconds, "embedded, one process")
    if given.house != "embedded":
        one = await load(scaled(1), given.tables, given.seconds, "scaled, one replica of rules")
        two = await load(scaled(2), given.tables, given.seconds, "scaled, two replicas of rules")
        print(f"\ntwo replicas of rules against one: {two / one:.2f} times the moves")
    if given.house == "all":
        print("\n== one call of Act on a replica of rules, beside a bare echo")
        await act()


asyncio.run(main())
