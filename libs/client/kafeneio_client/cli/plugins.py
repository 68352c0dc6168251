"""What other packages offer to the command, found by entry points, so that it imports none.

`kafeneio.serve`     name -> a function without arguments that serves until it is told to stop
`kafeneio.migrate`   name -> a function without arguments that brings its schema up to date
`kafeneio.commands`  name -> a function that typer makes a command of
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from importlib.metadata import EntryPoint, entry_points
from typing import Final

import typer

from kafeneio_client.cli.screen import Mistake

SERVE: Final = "kafeneio.serve"
MIGRATE: Final = "kafeneio.migrate"
COMMANDS: Final = "kafeneio.commands"


def offers(group: str) -> dict[str, EntryPoint]:
    """What is installed of one group, by name, in a fixed order."""
    return {one.name: one for one in sorted(entry_points(group=group), key=lambda e: e.name)}


def package(offer: EntryPoint) -> str:
    """The package that an offer comes from."""
    return offer.dist.name if offer.dist else offer.value.partition(".")[0]


def load(group: str, name: str) -> Callable[..., object]:
    """The function behind a name; Mistake where nothing of that name can be had."""
    found = offers(group)
    if name not in found:
        known = ", ".join(found) or "nothing: install kafeneio-house, or one of the services"
        raise Mistake(f"There is no {name!r} here. Installed: {known}.")
    offer = found[name]
    try:
        function: object = offer.load()
    except ImportError as error:
        raise Mistake(
            f"{package(offer)} offers {name!r}, but it can't be imported ({error}). "
            "Install it anew with everything it needs."
        ) from error
    if not callable(function):
        raise Mistake(f"{package(offer)} offers {name!r}, but it is nothing that can be called.")
    return function


def run_command(name: str, args: Sequence[str]) -> None:
    """Run a command that another package offers; its exit code is ours."""
    command = typer.Typer(
        rich_markup_mode="rich", pretty_exceptions_enable=False, add_completion=False
    )
    command.command(name=name)(load(COMMANDS, name))
    code = command(list(args), prog_name=f"kafeneio {name}", standalone_mode=False)
    if isinstance(code, int) and code:
        raise typer.Exit(code)
