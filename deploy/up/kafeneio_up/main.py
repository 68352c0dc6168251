"""`make up`, `kafeneio serve up`: the scaled house on this machine, until SIGTERM or Ctrl-C."""

from __future__ import annotations

import asyncio
import os
import signal
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Final

from kafeneio_runtime.mistakes import read, read_settings, spoken
from kafeneio_runtime.ready import tell
from kafeneio_runtime.settings import Settings, unknown_variables
from pydantic import Field
from pydantic_settings import BaseSettings, SettingsConfigDict

from kafeneio_up.edge import Ports, Rate
from kafeneio_up.house import House, Plan, free_places, opened, usual_places
from kafeneio_up.parts import HOST, SERVICES
from kafeneio_up.process import StartError, free_ports

PREFIX: Final = "KAFENEIO_UP_"
NATS_PORT: Final = 4222
PAGE_PORT: Final = 8000
PAGE: Final = Path(__file__).resolve().parents[2] / "web" / "dist"
"""Where the page is when it was built."""


class UpSettings(BaseSettings):
    """What is set for the whole; everything else is the settings of the services."""

    model_config = SettingsConfigDict(env_prefix=PREFIX, env_ignore_empty=True, frozen=True)

    port: int = Field(
        default=8080,
        ge=0,
        le=65535,
        description="The public port; with 0 every port of the house is any free one.",
    )
    replicas: int = Field(default=2, ge=1, le=9, description="Replicas of each service.")
    page: Path | None = Field(
        default=None, description="Folder of the page; the one that was built, if nothing is said."
    )
    rate: int = Field(
        default=200,
        ge=1,
        description="Calls a second that one address may make; twice as many at once.",
    )


def plan(settings: Settings, ours: UpSettings) -> Plan:
    """The house of the settings."""
    free = ours.port == 0
    places = (
        free_places(dict.fromkeys(SERVICES, ours.replicas)) if free else usual_places(ours.replicas)
    )
    public, metrics, admin, nats_port, page_port = (
        free_ports(5) if free else (ours.port, 9902, 9901, NATS_PORT, PAGE_PORT)
    )
    page = ours.page or (PAGE if PAGE.is_dir() else None)
    nats_url = settings.nats_url
    return Plan(
        data=settings.data_dir.resolve(),
        places=places,
        edge=Ports(public, metrics, admin),
        nats_port=nats_port,
        settings={
            name: value
            for name, value in os.environ.items()
            if name.startswith("KAFENEIO_") and not name.startswith(PREFIX)
        },
        page=page,
        page_port=page_port,
        rate=Rate(2 * ours.rate, ours.rate),
        database_url=settings.database_url,
        nats_url=None if nats_url is None else nats_url.get_secret_value(),
    )


def addresses(house: House) -> dict[str, str]:
    """Where everything is, by name; of a service all its replicas."""
    places = house.plan.places
    told = {"public": house.address, "metrics": f"{HOST}:{house.plan.edge.metrics}"}
    told |= {service: ",".join(places.addresses(service)) for service in SERVICES}
    for service in SERVICES:
        metrics = (f"{HOST}:{port}" for port in places.metrics[service])
        told[f"{service} metrics"] = ",".join(metrics)
    if house.nats is not None:
        told["nats"] = f"{HOST}:{house.plan.nats_port}"
    return told


def say(text: str) -> None:
    """To whoever has started the house."""
    sys.stdout.write(f"{text}\n")
    sys.stdout.flush()


async def serve(settings: Settings, ours: UpSettings) -> None:
    """Serve until the process is told to stop."""
    stop = asyncio.Event()
    task = asyncio.current_task()
    assert task is not None

    def signalled() -> None:
        # Once: whoever is impatient must not leave half of the house behind.
        if not stop.is_set():
            stop.set()
            task.cancel()

    for each in (signal.SIGTERM, signal.SIGINT):
        asyncio.get_running_loop().add_signal_handler(each, signalled)
    try:
        async with opened(plan(settings, ours), say) as house:
            tell(settings.ready_file, addresses(house))
            greet(house)
            await asyncio.Event().wait()
    except asyncio.CancelledError:
        if not stop.is_set():
            raise
    say("The house is closed.")


def greet(house: House) -> None:
    """Say where everything is, and what to try first."""
    public = house.address
    lines = ["", "The house is open.", ""]
    lines += [f"  {name:<20} {place}" for name, place in addresses(house).items()]
    lines += [f"  {'logs':<20} {house.plan.data / 'up'}", ""]
    if house.plan.page is not None:
        lines += [f"The page: http://{public}/", ""]
    lines += [
        "Play a game of Portes against the computer, in another terminal:",
        "",
        f"  .venv/bin/kafeneio play portes --address http://{public}",
        "",
        "Ctrl-C closes the house.",
        "",
    ]
    say("\n".join(lines))


def misspelt(environment: Mapping[str, str]) -> list[str]:
    """Variables with our prefix that mean nothing."""
    known = {f"{PREFIX}{name.upper()}" for name in UpSettings.model_fields}
    return [name for name in unknown_variables(environment) if name not in known]


def main() -> None:
    """`kafeneio serve up`."""
    settings, ours = read_settings(), read(UpSettings, PREFIX)
    for name in misspelt(os.environ):
        say(f"{name} means nothing here: perhaps it is misspelt.")
    try:
        with spoken():
            asyncio.run(serve(settings, ours))
    except* StartError as errors:
        raise SystemExit("\n".join(str(error) for error in errors.exceptions)) from None
