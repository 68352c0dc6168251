"""A process of the house: started, waited for, ended."""

from __future__ import annotations

import asyncio
import contextlib
import os
import socket
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

START_SECONDS: Final = 60.0
END_SECONDS: Final = 30.0
"""Longer than a replica takes to drain; who takes longer is killed."""
LOOK_SECONDS: Final = 0.02


class StartError(RuntimeError):
    """A process has ended, or was not ready in time."""


@dataclass(slots=True)
class Process:
    """A child of ours, in a session of its own: Ctrl-C is for us, who end the others in order."""

    name: str
    child: asyncio.subprocess.Process
    log: Path

    @classmethod
    async def start(
        cls, name: str, command: Sequence[str], settings: Mapping[str, str], log: Path
    ) -> Process:
        """Start it with an environment without any setting of the house but `settings`; what it
        says is added to `log`.
        """
        inherited = {k: v for k, v in os.environ.items() if not k.startswith("KAFENEIO_")}
        with log.open("ab") as said:
            child = await asyncio.create_subprocess_exec(
                *command,
                env=inherited | dict(settings),
                stdin=asyncio.subprocess.DEVNULL,
                stdout=said,
                stderr=said,
                start_new_session=True,
            )
        return cls(name, child, log)

    @property
    def pid(self) -> int:
        """Its number."""
        return self.child.pid

    @property
    def running(self) -> bool:
        """Whether it has not ended yet."""
        return self.child.returncode is None

    async def ready(
        self, look: Callable[[], Awaitable[bool]], seconds: float = START_SECONDS
    ) -> None:
        """Return when `look` says so. Raises StartError if the process ends before that, or takes
        longer than so many seconds.
        """
        try:
            async with asyncio.timeout(seconds):
                while not await look():
                    if not self.running:
                        raise StartError(
                            f"{self.name} has ended at its start: {self._last_words()}"
                            f" (more in {self.log})"
                        )
                    await asyncio.sleep(LOOK_SECONDS)
        except TimeoutError as error:
            raise StartError(f"{self.name} is not ready; see {self.log}") from error

    def _last_words(self) -> str:
        lines = self.log.read_text("utf-8", errors="replace").split("\n")
        return next((line for line in reversed(lines) if line.strip()), "nothing was said")

    async def ended(self) -> int:
        """Its exit code, once it has one; a negative one is the signal that has killed it."""
        return await self.child.wait()

    async def end(self) -> int:
        """SIGTERM, and SIGKILL if that takes too long; its exit code."""
        if self.running:
            with contextlib.suppress(ProcessLookupError):
                self.child.terminate()
        try:
            async with asyncio.timeout(END_SECONDS):
                return await self.ended()
        except TimeoutError:
            return await self.kill()

    async def kill(self) -> int:
        """SIGKILL: no drain, no flush, no goodbye; its exit code."""
        if self.running:
            with contextlib.suppress(ProcessLookupError):
                self.child.kill()
        return await self.ended()


async def answers(port: int, host: str = "127.0.0.1") -> bool:
    """Whether somebody listens on a port."""
    try:
        _, writer = await asyncio.open_connection(host, port)
    except OSError:
        return False
    writer.close()
    return True


def free_ports(count: int) -> list[int]:
    """Ports on which nobody listens now."""
    with contextlib.ExitStack() as stack:
        sockets = [stack.enter_context(socket.socket()) for _ in range(count)]
        for each in sockets:
            each.bind(("127.0.0.1", 0))
        return [int(each.getsockname()[1]) for each in sockets]
