"""What operators do with tournaments: `kafeneio tournament create` and so on."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from datetime import UTC, datetime, timedelta
from enum import StrEnum
from typing import Annotated, Final

import typer
from kafeneio.matchmaking.v1 import tournaments_pb2 as pb
from kafeneio.rules.v1 import game_pb2

from kafeneio_client.cli import tokens
from kafeneio_client.cli.money import Currency, amount
from kafeneio_client.cli.options import (
    DEFAULT_ADDRESS,
    Address,
    Door,
    MatchmakingAddress,
    house_rules,
)
from kafeneio_client.cli.screen import Mistake, escape, say
from kafeneio_client.cli.tournament_lines import described, entry_line
from kafeneio_client.client import Client
from kafeneio_client.money import CURRENCY
from kafeneio_client.tournaments import terms

_WHOLE: Final = 100
"""Prizes are typed in hundredths, and sent in hundredths of those."""

TournamentId = Annotated[str, typer.Argument(metavar="TOURNAMENT", help="Its id.")]
_Reason = Annotated[str, typer.Option("--reason", help="Shown to all.")]
_Rating = typer.Option(min=0, max=10_000, show_default=False)
_Operator = Annotated[
    str,
    typer.Option(
        "--token",
        envvar="KAFENEIO_TOKEN",
        help="Of an operator; one is made with the development key else.",
        show_default=False,
    ),
]


class Kind(StrEnum):
    """How a tournament is played."""

    SINGLE_ELIMINATION = "single-elimination"
    DOUBLE_ELIMINATION = "double-elimination"
    SWISS = "swiss"
    ROUND_ROBIN = "round-robin"

    @property
    def message(self) -> pb.TournamentFormat.ValueType:
        """As it is sent."""
        return pb.TournamentFormat.Value(f"TOURNAMENT_FORMAT_{self.name}")


def _operator(address: str, token: str, matchmaking: str) -> Door:
    token = token or tokens.make("kafeneio-operator", "operator")
    return Door.of(address, token, matchmaking=matchmaking)


def _moment(text: str) -> datetime:
    """When a tournament starts: a time of this computer, or in so many minutes."""
    if text.startswith("+") and text[1:].isdecimal():
        return datetime.now(UTC) + timedelta(minutes=int(text[1:]))
    try:
        return datetime.fromisoformat(text).astimezone(UTC)
    except ValueError as error:
        raise Mistake(f"{text!r} is no time: write 2027-01-06T20:00, or +30 (minutes).") from error


def _shares(text: str) -> tuple[int, ...]:
    """Prizes as they are typed: 50,30,20."""
    try:
        shares = tuple(round(float(part) * _WHOLE) for part in text.split(","))
    except (ValueError, OverflowError) as error:
        raise Mistake(f"{text!r} are no prizes: write them like 50,30,20.") from error
    return shares


def create(
    variant: Annotated[str, typer.Argument(help="What `kafeneio variants` lists.")],
    title: Annotated[str, typer.Option("--name", help="What it is called.")],
    starts: Annotated[str, typer.Option("--starts", help="2027-01-06T20:00, or +30 (minutes).")],
    kind: Annotated[Kind, typer.Option("--format", help="How it is played.")] = (
        Kind.SINGLE_ELIMINATION
    ),
    rounds: Annotated[int, typer.Option(min=0, max=129, help="Swiss; 0 is the usual number.")] = 0,
    fee: Annotated[str, typer.Option(metavar="AMOUNT", help="Of each player, like 5.00.")] = "0",
    currency: Currency = CURRENCY,
    house: Annotated[
        int, typer.Option("--house", min=0, max=5_000, help="Its share, in basis points.")
    ] = 0,
    prizes: Annotated[str, typer.Option(help="Of the rest, in percent, like 50,30,20.")] = "100",
    least: Annotated[int, typer.Option("--min", min=2, max=130, help="Entries.")] = 2,
    most: Annotated[int, typer.Option("--max", min=2, max=130, help="Entries.")] = 130,
    least_rating: Annotated[int | None, _Rating] = None,
    most_rating: Annotated[int | None, _Rating] = None,
    target: Annotated[int, typer.Option(min=0, help="Points; 0 is the usual number.")] = 0,
    option: Annotated[
        list[str] | None,
        typer.Option(metavar="NAME=VALUE", help="A house rule, as `kafeneio variants` lists them."),
    ] = None,
    address: Address = DEFAULT_ADDRESS,
    matchmaking: MatchmakingAddress = "",
    token: _Operator = "",
) -> None:
    """Publish a tournament; nothing changes its terms. For operators.

    [dim]kafeneio tournament create portes --name Thursday --starts +30 --fee 5.00
    --prizes 70,30[/]
    """
    published = terms(
        title,
        kind.message,
        game_pb2.Terms(variant=variant, target=target, options=house_rules(option or ())),
        _moment(starts),
        fee=amount(fee, currency),
        fee_basis_points=house,
        shares=_shares(prizes),
        entries=(least, most),
        ratings=(least_rating, most_rating),
        rounds=rounds,
    )
    door = _operator(address, token, matchmaking)
    say(described(door.enter(lambda client: client.tournaments.create(published))))


def _acting(
    summary: str, call: Callable[[Client, str], Awaitable[pb.Tournament]]
) -> Callable[..., None]:
    """A command of an operator that needs to be told nothing but which tournament."""

    def command(
        tournament: TournamentId,
        address: Address = DEFAULT_ADDRESS,
        matchmaking: MatchmakingAddress = "",
        token: _Operator = "",
    ) -> None:
        door = _operator(address, token, matchmaking)
        say(described(door.enter(lambda client: call(client, tournament))))

    command.__doc__ = summary
    return command


def cancel(
    tournament: TournamentId,
    reason: _Reason,
    address: Address = DEFAULT_ADDRESS,
    matchmaking: MatchmakingAddress = "",
    token: _Operator = "",
) -> None:
    """Call a tournament off; every fee goes back. For operators."""
    door = _operator(address, token, matchmaking)
    say(described(door.enter(lambda client: client.tournaments.cancel(tournament, reason))))


def disqualify(
    tournament: TournamentId,
    entry: Annotated[str, typer.Argument(metavar="ENTRY", help="Its id.")],
    reason: _Reason,
    address: Address = DEFAULT_ADDRESS,
    matchmaking: MatchmakingAddress = "",
    token: _Operator = "",
) -> None:
    """Take an entry out for good. For operators."""
    door = _operator(address, token, matchmaking)
    found = door.enter(lambda client: client.tournaments.disqualify(tournament, entry, reason))
    say(escape(entry_line(found)))


def correct(
    tournament: TournamentId,
    places: Annotated[
        list[str],
        typer.Argument(metavar="ENTRY...", help="By place; those who share one with commas."),
    ],
    reason: _Reason,
    address: Address = DEFAULT_ADDRESS,
    matchmaking: MatchmakingAddress = "",
    token: _Operator = "",
) -> None:
    """Propose other places for a finished tournament, for another operator. For operators."""
    order: Sequence[Sequence[str]] = [place.split(",") for place in places]
    door = _operator(address, token, matchmaking)
    found = door.enter(lambda client: client.tournaments.correct(tournament, order, reason))
    number = found.corrections[-1].number
    say(f"Correction {number} waits: [bold]kafeneio ledger approve {tournament} {number}[/]")


OPERATING: Final[tuple[tuple[str, Callable[..., None]], ...]] = (
    ("create", create),
    (
        "start",
        _acting(
            "Start a tournament before its time. For operators.",
            lambda client, which: client.tournaments.start(which),
        ),
    ),
    (
        "pause",
        _acting(
            "Start no further game. For operators.",
            lambda client, which: client.tournaments.pause(which),
        ),
    ),
    (
        "resume",
        _acting(
            "Let a paused tournament go on. For operators.",
            lambda client, which: client.tournaments.resume(which),
        ),
    ),
    ("cancel", cancel),
    ("disqualify", disqualify),
    ("correct", correct),
)
"""The commands by their names."""
