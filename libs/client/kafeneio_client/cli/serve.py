"""`kafeneio serve` and `kafeneio migrate`: run what is installed."""

from __future__ import annotations

from typing import Annotated, Final

import typer

from kafeneio_client.cli import plugins
from kafeneio_client.cli.screen import escape, say

_ServiceName = Annotated[
    str, typer.Argument(metavar="[NAME]", help="What to run; nothing lists it.", show_default=False)
]


_HOUSE: Final = "house"


def serve(name: _ServiceName = "") -> None:
    """Start a service, or the whole house, until Ctrl-C or SIGTERM.

    Without a name it lists what is installed here.

    [dim]kafeneio serve house[/]   every service, with a PostgreSQL of its own

    [dim]kafeneio serve rules[/]   one service alone
    """
    if name:
        plugins.load(plugins.SERVE, name)()
    else:
        _list(plugins.SERVE, "serve")


def migrate(name: _ServiceName = "") -> None:
    """Bring the schema of a service, or of all that are installed, up to date.

    The database is that of KAFENEIO_DATABASE_URL.

    [dim]kafeneio migrate[/]         all of them

    [dim]kafeneio migrate rules[/]   one
    """
    installed = list(plugins.offers(plugins.MIGRATE))
    if not name and _HOUSE in installed:
        installed = [_HOUSE]  # which is all the others together
    for one in [name] if name else installed:
        plugins.load(plugins.MIGRATE, one)()
        say(f"[green]{escape(one)}[/] is up to date.")
    if not name and not installed:
        say("Nothing that has a schema is installed here.")


def _list(group: str, verb: str) -> None:
    found = plugins.offers(group)
    if not found:
        say("Nothing that serves is installed here: install kafeneio-house, or a service.")
    for name, offer in found.items():
        say(f"  kafeneio {verb} [bold]{escape(name)}[/]   [dim]{escape(plugins.package(offer))}[/]")
