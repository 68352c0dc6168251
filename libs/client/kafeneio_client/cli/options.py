"""The options that every command which calls a house has, and the call itself."""

from __future__ import annotations

import asyncio
import getpass
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Annotated, Final, TypeAlias, TypeVar

import typer

from kafeneio_client.cli import tokens
from kafeneio_client.client import RULES_ADDRESS, Client, House

T = TypeVar("T")
_PANEL: Final = "The house, and who you are"

Address: TypeAlias = Annotated[
    str,
    typer.Option(
        "--address",
        envvar="KAFENEIO_ADDRESS",
        metavar="HOST:PORT",
        help="Where it is.",
        rich_help_panel=_PANEL,
    ),
]
Token: TypeAlias = Annotated[
    str,
    typer.Option(
        "--token",
        envvar="KAFENEIO_TOKEN",
        help="Who you are. Without one, a token for --as is made with the development key.",
        show_default=False,
        rich_help_panel=_PANEL,
    ),
]
As: TypeAlias = Annotated[
    str,
    typer.Option(
        "--as",
        metavar="NAME",
        help="Your name; that of the computer's user else.",
        show_default=False,
        rich_help_panel=_PANEL,
    ),
]

DEFAULT_ADDRESS: Final = RULES_ADDRESS


def own_name() -> str:
    """The name of the computer's user, or guest where it has none."""
    try:
        return getpass.getuser()
    except (KeyError, OSError, ImportError):
        return "guest"  # a container may run under a number without a name


@dataclass(frozen=True, slots=True)
class Door:
    """Which house, and in whose name."""

    address: str
    token: str
    name: str

    @classmethod
    def of(cls, address: str, token: str, name: str) -> Door:
        """From the three options; a missing token is made."""
        name = name or own_name()
        return cls(address, token or tokens.make(name), name)

    def enter(self, visit: Callable[[Client], Awaitable[T]]) -> T:
        """Call the house: the result of `visit`."""

        async def visiting() -> T:
            async with House(self.address) as house:
                return await visit(house.client(self.token))

        return asyncio.run(visiting())
