"""The worker as a process: settings -> worker -> serve. It serves nothing but its health."""

from __future__ import annotations

from functools import partial

from kafeneio_runtime import tracing
from kafeneio_runtime.clock import SystemTime
from kafeneio_runtime.directory import Directory
from kafeneio_runtime.mistakes import read_settings, spoken
from kafeneio_runtime.ready import tell
from kafeneio_runtime.serve import Service, Work, run, serve
from kafeneio_runtime.settings import Settings

from kafeneio_computers.peer import Rules
from kafeneio_computers.worker import LANES, Worker

NAME = "computers"
"""As what it calls `rules`."""


def service(settings: Settings, directory: Directory, *beside: Work) -> Service:
    """The worker, with more that runs beside it."""
    time = SystemTime()
    worker = Worker(Rules(directory, time), time)
    return Service(
        name=NAME,
        port=settings.computers_port,
        servicers=(),
        service_names=(),
        roles={},
        ready=worker.ready,
        background=(worker.watch, *(worker.play,) * LANES, *beside),
        closing=worker.close,
    )


async def serve_computers(settings: Settings, *beside: Work) -> None:
    """Play until SIGTERM or Ctrl-C."""
    async with tracing.exporting(settings, NAME):
        directory = Directory(settings, NAME)
        services = [service(settings, directory, *beside)]
        await serve(services, settings, partial(tell, settings.ready_file))
        await directory.close()


def start(*beside: Work) -> None:
    """Play as the settings have it, until the process is told to stop."""
    settings = read_settings(throws=False)
    if settings.rules_address is None:
        raise SystemExit("Set KAFENEIO_RULES_ADDRESS to where rules is, as host:port.")
    with spoken():
        run(serve_computers(settings, *beside))


def main() -> None:
    """`kafeneio serve computers`."""
    start()
