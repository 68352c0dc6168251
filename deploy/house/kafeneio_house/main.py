"""The house: every service of Kafeneio in one process, each a gRPC server of its own, and one
process more for the computer players.

Without KAFENEIO_DATABASE_URL it starts a PostgreSQL of its own in the data folder, and ends it.
"""

from __future__ import annotations

import asyncio
import sys
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager

from kafeneio_clock import main as clock
from kafeneio_matchmaking import main as matchmaking
from kafeneio_rules import main as rules
from kafeneio_runtime import tracing
from kafeneio_runtime.bus import open_bus
from kafeneio_runtime.clock import SystemTime
from kafeneio_runtime.directory import Directory
from kafeneio_runtime.mistakes import read_settings, spoken
from kafeneio_runtime.postgres import EmbeddedPostgres
from kafeneio_runtime.ready import tell
from kafeneio_runtime.serve import run, serve
from kafeneio_runtime.settings import Settings
from kafeneio_settlement import main as settlement

from kafeneio_house.computers import Computers

SERVICES = (rules, settlement, clock, matchmaking)
"""In an order in which each finds open what it calls."""


@asynccontextmanager
async def database(settings: Settings) -> AsyncIterator[str]:
    """The URL of the PostgreSQL of the settings, or of one that lives as long as the house."""
    if settings.database_url is not None:
        yield settings.database_url
        return
    server = EmbeddedPostgres(settings.data_dir / "postgres")
    async with server as url:
        keeper = asyncio.create_task(server.keep_running(SystemTime()))
        try:
            yield url
        finally:
            keeper.cancel()
            await asyncio.gather(keeper, return_exceptions=True)


def migrate(url: str) -> None:
    """Bring the schema of every service up to date."""
    for service in SERVICES:
        service.migrate_database(url)


async def serve_house(settings: Settings) -> None:
    """Serve until SIGTERM or Ctrl-C."""
    async with database(settings) as url, tracing.exporting(settings, "house"):
        await asyncio.to_thread(migrate, url)
        bus, directory = open_bus(settings), Directory(settings, "house")
        computers = Computers(settings)
        services = [
            await rules.service(settings, url, bus),
            await settlement.service(settings, url, bus, directory),
            await clock.service(settings, url, bus, directory),
            await matchmaking.service(settings, url, bus, directory),
        ]

        def opened(addresses: Mapping[str, str]) -> None:
            tell(settings.ready_file, addresses)
            greet(addresses)
            computers.begin(addresses["rules"])

        try:
            await serve(services, settings, opened, directory)
        finally:
            await computers.end()
        await bus.close()
        await directory.close()


def greet(addresses: Mapping[str, str]) -> None:
    """Say where everything is, and what to try first."""
    options = {"rules": "--address", "clock": "--clock"}
    usual = {name: f"127.0.0.1:{Settings.model_fields[f'{name}_port'].default}" for name in options}
    told = [
        f" {option} {addresses[name]}"
        for name, option in options.items()
        if addresses[name] != usual[name]
    ]
    lines = ["", "The house is open.", ""]
    lines += [f"  {name:<12} {address}" for name, address in addresses.items()]
    lines += [
        "",
        "Play a game of Portes against the computer, in another terminal:",
        "",
        f"  .venv/bin/kafeneio play portes{''.join(told)}",
        "",
        "Ctrl-C closes the house.",
        "",
    ]
    sys.stdout.write("\n".join(lines))
    sys.stdout.flush()


def main() -> None:
    """`kafeneio serve house`."""
    settings = read_settings()
    with spoken():
        run(serve_house(settings))


def migrate_main() -> None:
    """`kafeneio migrate house`: the schemas of all services, on the database of the settings."""

    async def bring_up_to_date(settings: Settings) -> None:
        async with database(settings) as url:
            await asyncio.to_thread(migrate, url)

    settings = read_settings()
    with spoken():
        run(bring_up_to_date(settings))
