"""The options that every command which calls a house has, and the call itself."""

from __future__ import annotations

import asyncio
import getpass
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Final, TypeAlias, TypeVar

import typer

from kafeneio_client.cli import certificates, tokens
from kafeneio_client.cli.screen import Mistake
from kafeneio_client.client import RULES_ADDRESS, Client, House

T = TypeVar("T")
PORTS: Final = {"clock": 50052, "settlement": 50053, "matchmaking": 50054}
"""Where the other services of a house listen unless it was told otherwise."""

_PANEL: Final = "The house, and who you are"

Address: TypeAlias = Annotated[
    str,
    typer.Option(
        "--address",
        envvar="KAFENEIO_ADDRESS",
        metavar="HOST:PORT",
        help="Where it is; https:// or http:// before it for an edge, where all services are.",
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


def _service(name: str, port: int) -> typer.models.OptionInfo:
    option: typer.models.OptionInfo = typer.Option(
        f"--{name}",
        envvar=f"KAFENEIO_{name.upper()}_ADDRESS",
        metavar="HOST:PORT",
        help=f"Where its {name} is; port {port} beside --address else.",
        show_default=False,
        rich_help_panel=_PANEL,
    )
    return option


ClockAddress: TypeAlias = Annotated[str, _service("clock", PORTS["clock"])]
SettlementAddress: TypeAlias = Annotated[str, _service("settlement", PORTS["settlement"])]
MatchmakingAddress: TypeAlias = Annotated[str, _service("matchmaking", PORTS["matchmaking"])]

DEFAULT_ADDRESS: Final = RULES_ADDRESS


def own_name() -> str:
    """The name of the computer's user, or guest where it has none."""
    try:
        return getpass.getuser()
    except (KeyError, OSError, ImportError):
        return "guest"  # a container may run under a number without a name


def house_rules(written: Sequence[str]) -> dict[str, str]:
    """House rules as they are typed."""
    options: dict[str, str] = {}
    for one in written:
        name, equals, value = one.partition("=")
        if not (name and equals and value):
            raise Mistake(f"{one!r} is no house rule: write it as NAME=VALUE.")
        options[name] = value
    return options


@dataclass(frozen=True, slots=True)
class Door:
    """Which house, and in whose name; `others` are the addresses that were given beside `rules`."""

    address: str
    token: str
    name: str
    others: Mapping[str, str]

    @classmethod
    def of(cls, address: str, token: str, name: str = "", **others: str) -> Door:
        """From the options; a missing token is made."""
        name = name or own_name()
        given = {service: told for service, told in others.items() if told}
        return cls(address, token or tokens.make(name), name, given)

    @classmethod
    def of_operator(cls, address: str, token: str, name: str = "", **others: str) -> Door:
        """The same for an operator: his name is what the audit says, so it is a person's."""
        name = name or own_name()
        return cls.of(address, token or tokens.make(name, "operator"), name, **others)

    @property
    def addresses(self) -> Mapping[str, str]:
        """Of every service. What is at `https://` or `http://` is the edge, where all are."""
        host = self.address.rpartition(":")[0] or self.address
        usual = {name: f"{host}:{port}" for name, port in PORTS.items()}
        if certificates.is_edge(self.address):
            usual = dict.fromkeys(PORTS, self.address)
        return {"rules": self.address, **usual, **self.others}

    def house(self) -> House:
        """Connect to it."""
        found = {name: certificates.bare(address) for name, address in self.addresses.items()}
        return House(
            found["rules"],
            clock=found["clock"],
            settlement=found["settlement"],
            matchmaking=found["matchmaking"],
            credentials=certificates.credentials(self.addresses),
            server_name=certificates.peer_name(),
        )

    def enter(self, visit: Callable[[Client], Awaitable[T]]) -> T:
        """Call the house: the result of `visit`."""

        async def visiting() -> T:
            async with self.house() as house:
                return await visit(house.client(self.token))

        return asyncio.run(visiting())
