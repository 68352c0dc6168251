"""A replica in a process of its own that can be told to die at a failpoint, and is started again.

What it is told to do it does over its own socket. Its parent hears how that went, or that it died.
"""

from __future__ import annotations

import asyncio
import logging
import multiprocessing
import signal
from collections.abc import Callable
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any, Final

import structlog
from kafeneio_runtime import failpoints
from kafeneio_settlement import background

from tests.rules.refusal import Refused, outcome_of
from tests.settlement import operators, tournaments
from tests.settlement.house import PATIENCE, House

ARM: Final = "arm"
_PROCESSES: Final = multiprocessing.get_context("forkserver")
_PROCESSES.set_forkserver_preload([__name__])


class Killed(Exception):  # noqa: N818 - what was asked for
    """It died while it did what it was told."""


def _serve(url: str, folder: str, pipe: Connection) -> None:
    """What the process does."""

    async def serve() -> None:
        background.SEAL_SECONDS = 0.05  # type: ignore[misc] # in this process alone
        async with House.serve(url, Path(folder)) as house:
            pipe.send(None)
            while (told := await asyncio.to_thread(pipe.recv)) is not None:
                name, arguments, options = told
                if name == ARM:
                    failpoints._ARMED = arguments[0]  # type: ignore[misc]
                    pipe.send(None)
                    continue
                others = [each for each in (operators, tournaments) if hasattr(each, name)]
                do: Callable[..., Any] = getattr(others[0] if others else house, name)
                first = (house,) if others else ()
                outcome = await outcome_of(do(*first, *arguments, **options))
                pipe.send(outcome if isinstance(outcome, Refused) else None)

    structlog.configure(wrapper_class=structlog.make_filtering_bound_logger(logging.CRITICAL))
    asyncio.run(serve())


class Mortal:
    """The replica, as its parent sees it."""

    def __init__(self, url: str, folder: Path) -> None:
        self._arguments = (url, str(folder))
        self.deaths = 0
        self.start()

    def start(self) -> None:
        """Start it, and wait until it serves."""
        self._pipe, theirs = _PROCESSES.Pipe()
        self._process = _PROCESSES.Process(target=_serve, args=(*self._arguments, theirs))
        self._process.start()
        theirs.close()
        self._hear(4 * PATIENCE)

    def do(self, name: str, *arguments: Any, **options: Any) -> Refused | None:
        """What is said of tournaments, what an operator does, or a method of `House`; how it was
        refused, if it was. Raises Killed."""
        try:
            self._pipe.send((name, arguments, options))
        except BrokenPipeError:
            self._buried()
        return self._hear(2 * PATIENCE)

    def die_at(self, failpoint: str | None) -> None:
        """It will die there, or nowhere."""
        self.do(ARM, failpoint)

    def wait_for_death(self) -> None:
        """Raises Killed as soon as it has died, which it will by itself."""
        self._hear(2 * PATIENCE)

    def _hear(self, seconds: float) -> Refused | None:
        if not self._pipe.poll(seconds):
            raise TimeoutError("the replica says nothing")
        try:
            answer: Refused | None = self._pipe.recv()
        except (EOFError, ConnectionResetError):
            self._buried()
        return answer

    def _buried(self) -> None:
        self._process.join(PATIENCE)
        assert self._process.exitcode == -signal.SIGKILL, self._process.exitcode
        self.deaths += 1
        raise Killed

    def stop(self) -> None:
        """Let it end by itself."""
        self._pipe.send(None)
        self._process.join(2 * PATIENCE)
        assert self._process.exitcode == 0
