"""A service as a process of its own: `kafeneio serve NAME` and `kafeneio migrate NAME`."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from functools import partial
from typing import Final

from kafeneio_runtime import logs, tracing
from kafeneio_runtime.bus import Bus, open_bus
from kafeneio_runtime.directory import Directory
from kafeneio_runtime.mistakes import read_settings, spoken
from kafeneio_runtime.ready import tell
from kafeneio_runtime.serve import Service, run, serve
from kafeneio_runtime.settings import Settings

_log: Final = logs.logger(__name__)


def serve_alone(
    name: str,
    service: Callable[[Settings, str, Bus, Directory], Awaitable[Service]],
    *,
    throws: bool = False,
) -> None:
    """Serves until SIGTERM or SIGINT, on the database of the settings. Who `throws` dice needs the
    key of chance.
    """

    async def serving(settings: Settings, url: str) -> None:
        if settings.nats_url is None:
            logs.configure(settings.log_level, settings.log_format)
            _log.warning("no KAFENEIO_NATS_URL: no other process hears of what happens here")
        async with tracing.exporting(settings, name):
            bus, directory = open_bus(settings), Directory(settings, name)
            services = [await service(settings, url, bus, directory)]
            await serve(services, settings, partial(tell, settings.ready_file))
            await bus.close()
            await directory.close()

    settings = read_settings(throws=throws)
    with spoken():
        run(serving(settings, settings.required_database_url()))


def migrate_alone(migrate_database: Callable[[str], None]) -> None:
    """Brings a service's schema up to date, on the database of the settings."""
    settings = read_settings(throws=False)
    with spoken():
        migrate_database(settings.required_database_url())
