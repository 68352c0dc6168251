"""The house's computer players: a process of their own, so that thinking takes no time from play.

It is spawned when `rules` is open, again whenever it dies, and ended with the house. Should the
house be killed, it ends by itself: its standard input is then closed.
"""

from __future__ import annotations

import asyncio
import os
import subprocess
import sys
from typing import Final

from kafeneio_runtime import logs
from kafeneio_runtime.clock import SystemTime, Time
from kafeneio_runtime.settings import PREFIX, Settings

COMMAND: Final = (sys.executable, "-m", "kafeneio_computers.child")
PAUSE_SECONDS: Final = 0.5
LONGEST_PAUSE_SECONDS: Final = 30.0
LIVED_SECONDS: Final = 60.0
"""Who has lived for so long has not died of its start."""
GOODBYE_SECONDS: Final = 5.0

# What no player of a game has to know: where everything is stored, and what seals the dice.
_SECRET: Final = frozenset({"KAFENEIO_CHANCE_KEY", "KAFENEIO_DATABASE_URL"})
# What is the house's own.
_OURS: Final = frozenset({"KAFENEIO_READY_FILE", "KAFENEIO_FAILPOINT"})

_log: Final = logs.logger(__name__)


class Computers:
    """The computer players of a house; none where the settings want none."""

    def __init__(self, settings: Settings, time: Time | None = None) -> None:
        self._settings = settings
        self._time: Time = time or SystemTime()
        self._keeper: asyncio.Task[None] | None = None

    def begin(self, rules: str) -> None:
        """Start them, now that `rules` is open at that address. Returns at once."""
        if self._settings.computers:
            self._keeper = asyncio.create_task(self._keep(rules))

    async def end(self) -> None:
        """Return when they have gone."""
        if self._keeper is not None:
            self._keeper.cancel()
            await asyncio.gather(self._keeper, return_exceptions=True)

    async def _keep(self, rules: str) -> None:
        pause = PAUSE_SECONDS
        while True:
            began = self._time.monotonic()
            try:
                await self._live(rules)
            except OSError as error:
                _log.error("the computer players can't be started", error=str(error))
            if self._time.monotonic() - began >= LIVED_SECONDS:
                pause = PAUSE_SECONDS
            await self._time.sleep(pause)
            pause = min(2 * pause, LONGEST_PAUSE_SECONDS)

    async def _live(self, rules: str) -> None:
        """One process, until it dies, or until we are cancelled."""
        process = _spawned(_environment(self._settings, rules))
        try:
            code = await asyncio.to_thread(process.wait)
            _log.warning("the computer players have ended, others follow", code=code)
        finally:
            await asyncio.to_thread(_end, process)


# Not by `asyncio`: uvloop forks, of which gRPC complains on standard error; this does not.
def _spawned(environment: dict[str, str]) -> subprocess.Popen[bytes]:
    """The process, in a session of its own: Ctrl-C is for the house, which ends it in its turn."""
    return subprocess.Popen(
        COMMAND,
        stdin=subprocess.PIPE,
        stdout=subprocess.DEVNULL,
        env=environment,
        start_new_session=True,
    )


def _end(process: subprocess.Popen[bytes]) -> None:
    """See to it that a process is gone: politely, then not."""
    process.terminate()
    try:
        process.wait(GOODBYE_SECONDS)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()
    if process.stdin is not None:
        process.stdin.close()


def _environment(settings: Settings, rules: str) -> dict[str, str]:
    """That of the house, less what players need not know."""
    inherited = {k: v for k, v in os.environ.items() if k not in _SECRET | _OURS}
    return inherited | {
        f"{PREFIX}RULES_ADDRESS": rules,
        f"{PREFIX}DATA_DIR": str(settings.data_dir),
        f"{PREFIX}COMPUTERS_PORT": "0",
        f"{PREFIX}METRICS_PORT": str(settings.computers_metrics_port),
        f"{PREFIX}DRAIN_SECONDS": "0",
    }
