"""The parts of a scaled house: processes that are started, and started again when they die."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final, TypeAlias

from kafeneio_up.process import Process, StartError

Make: TypeAlias = Callable[[], Awaitable[Process]]

SERVICES: Final = {"rules": 50051, "clock": 50052, "settlement": 50053, "matchmaking": 50054}
"""And the usual port of each."""
HOST: Final = "127.0.0.1"
FIRST_PAUSE_SECONDS: Final = 0.5
LONGEST_PAUSE_SECONDS: Final = 15.0


@dataclass(slots=True)
class Part:
    """One process, and how it is made; `make` returns it ready."""

    name: str
    make: Make
    process: Process | None = None
    wanted: bool = False
    """Whether it should run; one that should and does not is started again by `keep`."""

    async def start(self) -> None:
        """Start it. Raises StartError."""
        self.wanted = True
        self.process = await self.make()

    async def end(self) -> int | None:
        """End it politely; its exit code, None where it did not run."""
        self.wanted = False
        return None if self.process is None else await self.process.end()

    async def kill(self) -> None:
        """SIGKILL. `keep` starts it again."""
        if self.process is not None:
            await self.process.kill()

    async def keep(self, told: Callable[[str], None]) -> None:
        """Start it again whenever it has died, until cancelled."""
        pause = FIRST_PAUSE_SECONDS
        while True:
            assert self.process is not None, "it was started"
            code = await self.process.ended()
            if not self.wanted:
                return
            told(f"{self.name} has ended with {code} and is started again")
            await asyncio.sleep(pause)
            try:
                self.process = await self.make()
                told(f"{self.name} runs again")
                pause = FIRST_PAUSE_SECONDS
            except StartError as error:
                told(str(error))
                pause = min(2 * pause, LONGEST_PAUSE_SECONDS)


@dataclass(frozen=True, slots=True)
class Places:
    """Where the replicas of each service listen: gRPC and metrics ports, by service and number."""

    grpc: Mapping[str, Sequence[int]]
    metrics: Mapping[str, Sequence[int]]

    def addresses(self, service: str) -> list[str]:
        """`host:port` of each replica."""
        return [f"{HOST}:{port}" for port in self.grpc[service]]

    def target(self, service: str) -> str:
        """All replicas as one address that gRPC understands, and calls in turn."""
        return f"ipv4:{','.join(self.addresses(service))}"

    def settings(self) -> dict[str, str]:
        """Where every process finds the services."""
        return {f"KAFENEIO_{service.upper()}_ADDRESS": self.target(service) for service in SERVICES}


@dataclass(slots=True)
class Replicas:
    """The services of a house, and its computer players: each replica a part, by service."""

    folder: Path
    """For logs and ready files."""
    settings: Mapping[str, str]
    """Of every process, beside its own ports."""
    places: Places
    parts: dict[str, list[Part]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for service in SERVICES:
            count = len(self.places.grpc[service])
            self.parts[service] = [self._part(service, number) for number in range(count)]
        self.parts["computers"] = [self._part("computers", 0)]

    def __iter__(self) -> Iterator[Part]:
        """Every replica."""
        return (part for parts in self.parts.values() for part in parts)

    async def start(self) -> None:
        """Start all, at once. Raises StartError where one does not come up; the others may run."""
        async with asyncio.TaskGroup() as group:
            for part in self:
                group.create_task(part.start())

    async def end(self) -> None:
        """End all, at once and politely."""
        await asyncio.gather(*(part.end() for part in self))

    def _part(self, service: str, number: int) -> Part:
        return Part(f"{service}-{number}", lambda: self._process(service, number))

    async def _process(self, service: str, number: int) -> Process:
        name = f"{service}-{number}"
        ready = self.folder / f"{name}.ready"
        ready.unlink(missing_ok=True)
        own = {"KAFENEIO_READY_FILE": str(ready), "KAFENEIO_METRICS_PORT": "0"}
        own["KAFENEIO_COMPUTERS_PORT"] = "0"
        if service in SERVICES:
            own[f"KAFENEIO_{service.upper()}_PORT"] = str(self.places.grpc[service][number])
            own["KAFENEIO_METRICS_PORT"] = str(self.places.metrics[service][number])
        command = (sys.executable, "-m", "kafeneio_client", "serve", service)
        settings = {**self.settings, **self.places.settings(), **own}
        process = await Process.start(name, command, settings, self.folder / f"{name}.log")

        async def opened() -> bool:
            return ready.exists()

        try:
            await process.ready(opened)
        except BaseException:
            await process.kill()
            raise
        return process
