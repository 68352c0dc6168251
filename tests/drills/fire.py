"""A scaled house under load and under fire: what is done to it, what is seen, who is charged."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import time
from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

import psutil
from kafeneio.settlement.v1 import settlement_pb2
from kafeneio_runtime.auth import Role
from kafeneio_runtime.settings import Settings
from kafeneio_up import house
from kafeneio_up.edge import Ports
from kafeneio_up.parts import SERVICES, Part
from kafeneio_up.process import free_ports

from tests.bench.process import data_folder
from tests.journeys.guests import Guests
from tests.load.crowd import Crowd, brisk, tables
from tests.load.houses import NO_LIMIT, UNLIMITED, Loaded, running

TABLES: Final = int(os.environ.get("KAFENEIO_DRILL_TABLES", "50"))
BRISK_TABLES: Final = 2
"""Beside them, so that games begin and are paid all the time."""
PAUSE_SECONDS: Final = 2.0
"""So long a player thinks, on average; the clock gives him 30."""
BACK_SECONDS: Final = 90.0
"""So long a part may take to be back."""
END_SECONDS: Final = 480.0
"""So long the games may take to end."""
REPORTS: Final = Path(__file__).parents[2] / "build" / "drills"


@dataclass
class Fire:
    """A house, its crowd, and the report."""

    name: str
    house: house.House
    loaded: Loaded
    crowd: Crowd
    guests: Guests
    began: float = field(default_factory=time.monotonic)
    lines: list[str] = field(default_factory=list)

    def note(self, text: str) -> None:
        """Write into the report what has happened, and when."""
        line = f"{time.monotonic() - self.began:7.1f} s  {text}"
        self.lines.append(line)
        print(line, flush=True)

    # --- what is done ------------------------------------------------------------------------

    async def kill(self, part: Part) -> None:
        """SIGKILL, and wait until there is another that is ready."""
        await self._replaced(part, f"{part.name} killed with SIGKILL", part.kill)

    async def restart(self, part: Part) -> None:
        """SIGTERM, and wait until there is another that is ready."""

        async def end() -> None:
            assert part.process is not None
            assert await part.process.end() == 0, f"{part.name} did not end as it should"

        await self._replaced(part, f"{part.name} ended with SIGTERM", end)

    async def _replaced(self, part: Part, text: str, end: Callable[[], Awaitable[object]]) -> None:
        before = part.process
        self.note(text)
        await end()
        async with asyncio.timeout(BACK_SECONDS):
            while part.process is before:
                await self.watching(0.1)
        self.note(f"{part.name} is back")

    async def signal_postgres(self, how: signal.Signals, text: str) -> None:
        """Send a signal to PostgreSQL, and wait until there is another that answers."""
        assert self.house.postgres is not None
        before = self.house.postgres.pid
        self.note(f"postgres {text}")
        os.kill(before, how)
        async with asyncio.timeout(BACK_SECONDS):
            while psutil.pid_exists(before) or not await self._answers():
                await self.watching(0.2)
        self.note("postgres is back")

    async def _answers(self) -> bool:
        import asyncpg

        try:
            connection = await asyncpg.connect(self.house.database_url, timeout=2)
        except (OSError, asyncpg.PostgresError, asyncpg.InterfaceError, TimeoutError):
            return False
        await connection.close()
        return True

    async def cut_off(self, part: Part, seconds: float) -> None:
        """Stop a process for a while without ending it: its connections stay, and are dead."""
        assert part.process is not None
        self.note(f"{part.name} stopped with SIGSTOP for {seconds:.0f} s")
        os.kill(part.process.pid, signal.SIGSTOP)
        try:
            await self.watching(seconds)
        finally:
            os.kill(part.process.pid, signal.SIGCONT)
        self.note(f"{part.name} goes on")

    async def watching(self, seconds: float) -> None:
        """Let them play for a while. Raises what a player could not mend."""
        await asyncio.wait({self.playing}, timeout=seconds)
        if self.playing.done():
            self.playing.result()
            raise AssertionError("nobody plays any more")

    playing: asyncio.Task[None] = field(init=False)

    # --- what must hold ----------------------------------------------------------------------

    async def end(self) -> None:
        """Let every game end, and see that all is as it must be; the report is written."""
        self.note("no further games")
        self.crowd.enough.set()
        try:
            async with asyncio.timeout(END_SECONDS):
                await asyncio.shield(self.playing)
            self.note("every game has ended")
            await self._check()
        finally:
            self._write()

    async def _check(self) -> None:
        tally = self.crowd.tally
        self.note(
            f"{len(tally.begun)} games, {len(tally.acts)} turns, {len(tally.not_begun)} not begun"
        )
        assert set(tally.games) == tally.begun == set(tally.settled)
        states = Counter(
            settlement_pb2.SettlementState.Name(done.state) for done in tally.settled.values()
        )
        self.note(f"settlements: {dict(states)}")
        assert set(states) == {"SETTLEMENT_STATE_SETTLED"}
        await self.guests.check_money()  # and every game was settled once
        verified = await self.guests.operator.settlement.verify()
        self.note(
            f"ledger verified up to seal {verified.verified_to}: {len(verified.faults)} faults"
        )
        assert not verified.faults
        charged = await self._charges()
        self.note(f"calls sent again: {dict(tally.retryable)}")
        self.note(f"at the edge: {dict(self.at_the_edge())}")
        self.note(f"errors in the logs: {dict(self.logged())}")
        assert not charged, "nobody pays for our fault"

    async def _charges(self) -> list[str]:
        """The timeouts and forfeits of every seat of every game."""
        wrong: list[str] = []
        credited = 0
        self.note("charges, by game and seat:")
        for game_id in sorted(self.crowd.tally.begun):
            charges = dict.fromkeys(range(len(await self.guests.seats(game_id))), 0)
            async for event in self.guests.service.clock.events(game_id):
                kind = event.WhichOneof("event")
                if kind == "timeout_incurred":
                    charges[event.timeout_incurred.seat] += 1
                elif kind == "seat_forfeited":
                    wrong.append(f"{game_id} forfeit {event.seat_forfeited}")
                elif kind == "clock_credited":
                    credited += 1
            self.lines.append(f"    {game_id}  {list(charges.values())}")
            if any(charges.values()):
                wrong.append(f"{game_id} {charges}")
        self.note(f"{credited} credits for the house's own outages; charged wrongly: {wrong}")
        return wrong

    def at_the_edge(self) -> Counter[str]:
        """What the edge could not mend, by call and status."""
        counted: Counter[str] = Counter()
        for line in self._log("envoy"):
            if line.startswith("{"):
                told = json.loads(line)
                counted[f"{told['path'].rpartition('/')[2]} {told['grpc_status']}"] += 1
        return counted

    def logged(self) -> Counter[str]:
        """Errors that the services have logged, by what they say."""
        counted: Counter[str] = Counter()
        for part in self.house.replicas:
            for line in self._log(part.name):
                if line.startswith("{") and '"level": "error"' in line:
                    told = json.loads(line)
                    counted[f"{part.name.partition('-')[0]}: {told['event']}"] += 1
        return counted

    def _log(self, name: str) -> list[str]:
        file = self.house.plan.data / "up" / f"{name}.log"
        return file.read_text("utf-8", errors="replace").splitlines()

    def _write(self) -> None:
        REPORTS.mkdir(parents=True, exist_ok=True)
        (REPORTS / f"{self.name}.txt").write_text("\n".join(self.lines) + "\n", "utf-8")


@asynccontextmanager
async def fire(name: str) -> AsyncIterator[Fire]:
    """Two replicas of every service, and games at every table."""
    async with AsyncExitStack() as stack:
        folder = await stack.enter_async_context(data_folder())
        plan = house.Plan(
            data=folder,
            places=house.free_places(dict.fromkeys(SERVICES, 2)),
            edge=Ports(*free_ports(3)),
            nats_port=free_ports(1)[0],
            settings={**UNLIMITED, "KAFENEIO_LOG_LEVEL": "warning"},
            rate=NO_LIMIT,
        )
        opened = await stack.enter_async_context(house.opened(plan))
        loaded = await stack.enter_async_context(running(opened.address, folder))
        cashier = loaded.client("cashier", Role.SERVICE)
        seated = [*tables(TABLES), *brisk(BRISK_TABLES)]
        crowd = Crowd(loaded.players(), cashier, seated, PAUSE_SECONDS)
        await crowd.bring_money()
        settings = Settings(data_dir=folder)
        guests = Guests(url=opened.database_url, settings=settings, house=loaded.house)
        under = Fire(name, opened, loaded, crowd, guests)
        under.playing = asyncio.create_task(crowd.play())
        stack.push_async_callback(_cancelled, under.playing)
        begun = asyncio.create_task(crowd.until_begun(TABLES))
        await asyncio.wait({under.playing, begun}, return_when=asyncio.FIRST_COMPLETED)
        begun.cancel()
        await under.watching(1)
        under.note(f"{len(crowd.tally.begun)} games are played at {TABLES} tables")
        yield under


async def _cancelled(task: asyncio.Task[None]) -> None:
    task.cancel()
    await asyncio.gather(task, return_exceptions=True)
