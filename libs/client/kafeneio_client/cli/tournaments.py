"""`kafeneio tournament`: enter one, and follow it; and, for operators, run it."""

from __future__ import annotations

import contextlib
from typing import Annotated

import typer
from kafeneio.matchmaking.v1 import tournaments_pb2 as pb
from rich import box
from rich.table import Table
from rich.text import Text

from kafeneio_client.cli.options import (
    DEFAULT_ADDRESS,
    Address,
    As,
    Door,
    MatchmakingAddress,
    Token,
)
from kafeneio_client.cli.organising import OPERATING, TournamentId
from kafeneio_client.cli.screen import OUT, escape, say, spoken
from kafeneio_client.cli.tournament_lines import described, entry_line, match_line
from kafeneio_client.client import Client
from kafeneio_client.tournaments import Board

tournaments_app = typer.Typer(no_args_is_help=True, help="Play whole evenings, for prizes.")


def list_tournaments(
    variant: Annotated[str, typer.Argument(help="Only of this one.", show_default=False)] = "",
    limit: Annotated[int, typer.Option(min=1, max=10_000, help="How many.")] = 20,
    address: Address = DEFAULT_ADDRESS,
    matchmaking: MatchmakingAddress = "",
    token: Token = "",
    name: As = "",
) -> None:
    """List tournaments, the newest first.

    [dim]kafeneio tournament list portes[/]
    """

    async def look(client: Client) -> list[pb.Tournament]:
        found: list[pb.Tournament] = []
        async for each in client.tournaments.list(variant=variant, page_size=min(limit, 200)):
            found.append(each)
            if len(found) == limit:
                break
        return found

    for each in Door.of(address, token, name, matchmaking=matchmaking).enter(look):
        say(described(each))


def show_tournament(
    tournament: TournamentId,
    address: Address = DEFAULT_ADDRESS,
    matchmaking: MatchmakingAddress = "",
    token: Token = "",
    name: As = "",
) -> None:
    """Show a tournament: its terms, who is in it, and who stands where.

    [dim]kafeneio tournament show TOURNAMENT[/]
    """

    async def look(
        client: Client,
    ) -> tuple[pb.GetTournamentResponse, list[pb.Entry], list[pb.Standing]]:
        found = await client.tournaments.get(tournament)
        entries = [each async for each in client.tournaments.entries(tournament)]
        return found, entries, [each async for each in client.tournaments.standings(tournament)]

    found, entries, standings = Door.of(address, token, name, matchmaking=matchmaking).enter(look)
    say(described(found.tournament))
    if found.tournament.cancel_reason:
        say(f"It was cancelled: {escape(found.tournament.cancel_reason)}")
    for each in found.tournament.corrections:
        state = f"approved by {each.approved_by}" if each.approved_by else "not approved"
        say(f"Correction {each.number}, {escape(state)}: {escape(each.reason)}")
    if not standings:
        for entry in entries:
            say(f"  {escape(entry_line(entry))}")
        return
    shown = Table(box=box.SIMPLE)
    for heading in ("place", "seed", "who", "won", "lost", "entry"):
        shown.add_column(heading, no_wrap=heading == "entry")
    for row in standings:
        who = " and ".join(row.entry.player_ids)
        cells = (row.place, row.entry.seed, who, row.won, row.lost, row.entry.entry_id)
        shown.add_row(*(Text(str(cell)) for cell in cells))
    OUT.print(shown)


def watch_tournament(
    tournament: TournamentId,
    address: Address = DEFAULT_ADDRESS,
    matchmaking: MatchmakingAddress = "",
    token: Token = "",
    name: As = "",
) -> None:
    """Show what happens in a tournament until it is over; a game of yours with how to join it.

    [dim]kafeneio tournament watch TOURNAMENT --as eleni[/]
    """
    door = Door.of(address, token, name, matchmaking=matchmaking)

    async def look(client: Client) -> None:
        board = Board()
        async with contextlib.aclosing(client.tournaments.watch(tournament)) as changes:
            async for change in changes:
                before = board.tournament.status
                board.take(change)
                if change.tournament.status != before:
                    say(described(change.tournament))
                for entry in change.entries:
                    say(f"  {escape(entry_line(entry))}")
                for match in change.matches:
                    say(f"  {escape(match_line(board, match))}")
                    if match.state == pb.MATCH_STATE_PLAYING and door.name in match.player_ids:
                        join = f"kafeneio play --game {match.game_id} --as {door.name}"
                        say(f"  Play it: [bold]{escape(join)}[/]")

    door.enter(look)


def register(
    tournament: TournamentId,
    partner: Annotated[
        str, typer.Option(metavar="NAME", help="Where pairs play: he names you, too.")
    ] = "",
    address: Address = DEFAULT_ADDRESS,
    matchmaking: MatchmakingAddress = "",
    token: Token = "",
    name: As = "",
) -> None:
    """Enter a tournament.

    [dim]kafeneio tournament register TOURNAMENT --as eleni[/]
    """
    door = Door.of(address, token, name, matchmaking=matchmaking)
    entry = door.enter(lambda client: client.tournaments.register(tournament, partner=partner))
    say(escape(entry_line(entry)))
    say(f"Follow it with [bold]kafeneio tournament watch {escape(tournament)}[/]")


def withdraw(
    tournament: TournamentId,
    address: Address = DEFAULT_ADDRESS,
    matchmaking: MatchmakingAddress = "",
    token: Token = "",
    name: As = "",
) -> None:
    """Leave a tournament; before its start the fee comes back.

    [dim]kafeneio tournament withdraw TOURNAMENT --as eleni[/]
    """
    door = Door.of(address, token, name, matchmaking=matchmaking)
    say(escape(entry_line(door.enter(lambda client: client.tournaments.withdraw(tournament)))))


for _name, _command in (
    ("list", list_tournaments),
    ("show", show_tournament),
    ("watch", watch_tournament),
    ("register", register),
    ("withdraw", withdraw),
):
    tournaments_app.command(_name)(spoken(_command))
for _name, _acting in OPERATING:
    tournaments_app.command(_name)(spoken(_acting))
