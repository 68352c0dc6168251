"""The command `kafeneio`: everything that it can do, put together."""

from __future__ import annotations

import io
import os
import sys
from collections.abc import Callable
from typing import Final

import typer

from kafeneio_client.cli import plugins
from kafeneio_client.cli.admin import admin_app
from kafeneio_client.cli.demo import demo
from kafeneio_client.cli.ledger import ledger_app
from kafeneio_client.cli.money import deposit, wallet
from kafeneio_client.cli.people import block, leaderboard, players_app, rating, report
from kafeneio_client.cli.play import play
from kafeneio_client.cli.queueing import queue
from kafeneio_client.cli.rules import games, rules_app, show, variants
from kafeneio_client.cli.screen import spoken
from kafeneio_client.cli.serve import migrate, serve
from kafeneio_client.cli.tables import tables_app
from kafeneio_client.cli.tournaments import tournaments_app
from kafeneio_client.cli.verify import verify

_HELP: Final = """The coffee house in the terminal: serve it, play in it, verify what was played.

[dim]kafeneio serve house[/]        start a house on this computer

[dim]kafeneio play portes[/]        play against a program

[dim]kafeneio queue portes[/]       wait for somebody to play with, for a stake

[dim]kafeneio table open portes[/]  open a table, for those whom you invite

[dim]kafeneio demo[/]               watch two programs in a house of their own

[dim]kafeneio verify GAME_ID[/]     check the dice of a finished game
"""
# Other packages' commands are loaded when they are run, not to list them: that would import the
# half of the house for `kafeneio --help`.
_KNOWN: Final = {
    "token": "Print a token made with the development key of this computer's house.",
    "bus": "Look after the events of a house on NATS: dead letters, events that were lost.",
}


def _build() -> typer.Typer:
    built = typer.Typer(
        name="kafeneio",
        help=_HELP,
        no_args_is_help=True,
        rich_markup_mode="rich",
        pretty_exceptions_enable=False,
    )
    for command in (
        *(serve, migrate, play, queue, wallet, deposit, demo, games, variants, verify),
        *(rating, leaderboard, report, block),
    ):
        built.command()(spoken(command))
    rules_app.command("show")(spoken(show))
    built.add_typer(rules_app, name="rules")
    built.add_typer(admin_app, name="admin")
    built.add_typer(ledger_app, name="ledger")
    built.add_typer(tables_app, name="table")
    built.add_typer(tournaments_app, name="tournament")
    built.add_typer(players_app, name="players")
    for name, offer in plugins.offers(plugins.COMMANDS).items():
        built.command(
            name,
            help=_KNOWN.get(name, f"Offered by {plugins.package(offer)}."),
            add_help_option=False,
            context_settings={"allow_extra_args": True, "ignore_unknown_options": True},
        )(spoken(_offered(name)))
    return built


def _offered(name: str) -> Callable[[typer.Context], None]:
    def command(context: typer.Context) -> None:
        plugins.run_command(name, context.args)

    return command


app = _build()


def main() -> None:
    """Run the command."""
    # gRPC tells of every connection that breaks; what matters of it we say ourselves.
    os.environ.setdefault("GRPC_VERBOSITY", "ERROR")
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="replace")  # Greek in a terminal that knows only ASCII
    app(prog_name="kafeneio")
