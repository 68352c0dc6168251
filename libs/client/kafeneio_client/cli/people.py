"""`kafeneio rating`, `leaderboard`, `report` and `block`; and `kafeneio players`, for operators."""

from __future__ import annotations

from collections.abc import AsyncIterator
from datetime import UTC, datetime, timedelta
from enum import StrEnum
from typing import Annotated, Final, TypeVar

import typer
from google.protobuf.timestamp_pb2 import Timestamp
from kafeneio.matchmaking.v1 import players_pb2 as pb

from kafeneio_client.cli import tokens
from kafeneio_client.cli.options import (
    DEFAULT_ADDRESS,
    Address,
    As,
    Door,
    MatchmakingAddress,
    Token,
)
from kafeneio_client.cli.screen import Mistake, escape, say, spoken
from kafeneio_client.client import Client

players_app: Final = typer.Typer(
    help="Players and their conduct, for operators.",
    no_args_is_help=True,
    rich_markup_mode="rich",
)
_CATEGORY: Final = "REPORT_CATEGORY_"
_KIND: Final = "PAIR_FLAG_KIND_"

Item = TypeVar("Item")

Player = Annotated[str, typer.Argument(metavar="NAME", help="Who.")]
Limit = Annotated[int, typer.Option(min=1, max=10_000, help="How many lines.")]


class Category(StrEnum):
    """What a report is about."""

    COLLUSION = "collusion"
    DISTURBANCE = "disturbance"
    SOFTWARE = "software"
    UNFAIR_TALK = "unfair-talk"
    SEVERAL_SEATS = "several-seats"
    HARASSMENT = "harassment"
    OTHER = "other"

    @property
    def value_of_contract(self) -> pb.ReportCategory.ValueType:
        """As it is sent."""
        return pb.ReportCategory.Value(f"{_CATEGORY}{self.name}")


async def _first(limit: int, source: AsyncIterator[Item]) -> list[Item]:
    """So many of what comes."""
    found: list[Item] = []
    async for each in source:
        found.append(each)
        if len(found) == limit:
            break
    return found


def _when(moment: Timestamp) -> str:
    return moment.ToDatetime().isoformat(" ", "seconds")


# --- everybody -------------------------------------------------------------------------------


def rating(
    player: Annotated[str, typer.Argument(metavar="NAME", help="Whose; yours else.")] = "",
    variant: Annotated[str, typer.Option(help="Of one variant only.")] = "",
    limit: Limit = 10,
    address: Address = DEFAULT_ADDRESS,
    matchmaking: MatchmakingAddress = "",
    token: Token = "",
    name: As = "",
) -> None:
    """Show how strong a player is in each variant, and how that came.

    [dim]kafeneio rating eleni --variant portes[/]
    """
    door = Door.of(address, token, name, matchmaking=matchmaking)

    async def look(client: Client) -> tuple[list[pb.Rating], list[pb.RatingChange]]:
        coming = client.players.rating_changes(player, variant, page_size=min(limit, 200))
        changes = await _first(limit, coming)
        return await client.players.ratings(player, variant), changes

    ratings, changes = door.enter(look)
    if not ratings:
        say(f"{escape(player or door.name)} has no rated game yet.")
    for each in ratings:
        early = "  [dim]provisional[/]" if each.provisional else ""
        say(
            f"{escape(each.variant):<18} [bold]{each.value}[/] ± {each.uncertainty}"
            f"  {each.games} games{early}"
        )
    for change in changes:
        by = change.value_after - change.value_before
        back = "  taken back" if change.kind == pb.RATING_CHANGE_KIND_REVERSAL else ""
        say(
            f"  [dim]{_when(change.at)}[/]  {escape(change.variant):<18} {change.value_after:>5} "
            f"{by:>+5}  [dim]{escape(change.game_id)}[/]{back}"
        )


def leaderboard(
    variant: Annotated[str, typer.Argument(help="What `kafeneio variants` lists.")],
    limit: Limit = 20,
    address: Address = DEFAULT_ADDRESS,
    matchmaking: MatchmakingAddress = "",
    token: Token = "",
    name: As = "",
) -> None:
    """List who is strongest in a variant.

    [dim]kafeneio leaderboard portes[/]
    """
    door = Door.of(address, token, name, matchmaking=matchmaking)

    async def look(client: Client) -> list[pb.LeaderboardEntry]:
        board = client.players.leaderboard(variant, page_size=min(limit, 200))
        return await _first(limit, board)

    entries = door.enter(look)
    if not entries:
        say("Nobody has played enough of it yet.")
    for entry in entries:
        say(
            f"{entry.rank:>5}  {escape(entry.player_id):<24} [bold]{entry.rating.value}[/]"
            f" ± {entry.rating.uncertainty}  {entry.rating.games} games"
        )


def report(
    player: Player,
    game_id: Annotated[str, typer.Argument(metavar="GAME_ID", help="In which you both sat.")],
    about: Annotated[Category, typer.Option(help="What it is about.")] = Category.OTHER,
    text: Annotated[str, typer.Option(help="What happened.")] = "",
    address: Address = DEFAULT_ADDRESS,
    matchmaking: MatchmakingAddress = "",
    token: Token = "",
    name: As = "",
) -> None:
    """Tell the operators of a player, with a game as evidence.

    [dim]kafeneio report nikos GAME_ID --about harassment --text "..."[/]
    """
    door = Door.of(address, token, name, matchmaking=matchmaking)
    category = about.value_of_contract
    made = door.enter(lambda client: client.players.report(player, game_id, category, text))
    say(f"Thank you. This is report {escape(made.report_id)}.")


def block(
    player: Annotated[str, typer.Argument(metavar="NAME", help="Whom; nobody: list.")] = "",
    undo: Annotated[bool, typer.Option("--undo", help="The queue may seat you again.")] = False,
    address: Address = DEFAULT_ADDRESS,
    matchmaking: MatchmakingAddress = "",
    token: Token = "",
    name: As = "",
) -> None:
    """See to it that the queue never seats you with a player; or list whom you have blocked.

    [dim]kafeneio block nikos[/]
    """
    door = Door.of(address, token, name, matchmaking=matchmaking)

    async def listed(client: Client) -> list[pb.BlockedPlayer]:
        return [each async for each in client.players.blocked()]

    async def change(client: Client) -> None:
        if undo:
            await client.players.unblock(player)
        else:
            await client.players.block(player)

    if player:
        door.enter(change)
        say(
            f"The queue {'may' if undo else 'never'} seat{'' if undo else 's'} you with him"
            f"{' again' if undo else ''}."
        )
        return
    if undo:
        raise Mistake("Say whom: kafeneio block NAME --undo.")
    found = door.enter(listed)
    if not found:
        say("You have blocked nobody.")
    for each in found:
        say(f"  [dim]{_when(each.blocked_at)}[/]  {escape(each.player_id)}")


# --- operators -------------------------------------------------------------------------------


def _door(address: str, token: str, name: str, matchmaking: str) -> Door:
    """Without a token one for an operator is made."""
    token = token or tokens.make(name or "kafeneio-players", "operator")
    return Door.of(address, token, name, matchmaking=matchmaking)


def suspend(
    player: Player,
    reason: Annotated[str, typer.Option(help="Why; it is kept.")],
    days: Annotated[int, typer.Option(min=0, help="For so long; 0: until it is lifted.")] = 0,
    address: Address = DEFAULT_ADDRESS,
    matchmaking: MatchmakingAddress = "",
    token: Token = "",
    name: As = "",
) -> None:
    """Keep a player out of the queue, tables and tournaments.

    [dim]kafeneio players suspend nikos --reason "plays by program" --days 30[/]
    """
    until = datetime.now(UTC) + timedelta(days=days) if days else None
    door = _door(address, token, name, matchmaking)
    made = door.enter(lambda client: client.players.suspend(player, reason, until))
    say(f"Suspension {escape(made.suspension_id)}: {_until(made)}.")


def _until(suspension: pb.Suspension) -> str:
    return f"until {_when(suspension.until)}" if suspension.HasField("until") else "without an end"


def lift(
    suspension_id: Annotated[str, typer.Argument(metavar="SUSPENSION_ID", help="Which.")],
    reason: Annotated[str, typer.Option(help="Why; it is kept.")],
    address: Address = DEFAULT_ADDRESS,
    matchmaking: MatchmakingAddress = "",
    token: Token = "",
    name: As = "",
) -> None:
    """End a suspension.

    [dim]kafeneio players lift SUSPENSION_ID --reason "a mistake"[/]
    """
    door = _door(address, token, name, matchmaking)
    lifted = door.enter(lambda client: client.players.lift(suspension_id, reason))
    say(f"{escape(lifted.player_id)} is free of this suspension.")


def reports(
    player: Annotated[str, typer.Argument(metavar="NAME", help="Of whom; all else.")] = "",
    every: Annotated[bool, typer.Option("--all", help="Also those that are closed.")] = False,
    limit: Limit = 20,
    address: Address = DEFAULT_ADDRESS,
    matchmaking: MatchmakingAddress = "",
    token: Token = "",
    name: As = "",
) -> None:
    """List what players have told of others, and who is suspended.

    [dim]kafeneio players reports[/]
    """
    status = pb.REPORT_STATUS_UNSPECIFIED if every else pb.REPORT_STATUS_OPEN

    async def look(client: Client) -> tuple[list[pb.Report], list[pb.Suspension]]:
        told = client.players.reports(status, player, page_size=min(limit, 200))
        found = await _first(limit, told)
        holding = client.players.suspensions(player, only_holding=True)
        return found, [each async for each in holding]

    found, suspended = _door(address, token, name, matchmaking).enter(look)
    if not found:
        say("There is no report.")
    for each in found:
        about = pb.ReportCategory.Name(each.category).removeprefix(_CATEGORY).lower()
        say(
            f"{escape(each.report_id)}  [dim]{_when(each.reported_at)}[/]  "
            f"[bold]{escape(each.player_id)}[/] by {escape(each.reporter_id)}: {about}"
        )
        say(f"    {escape(each.variant)} {escape(each.game_id)}  {escape(each.text)}")
        if each.status == pb.REPORT_STATUS_CLOSED:
            say(f"    closed by {escape(each.closed_by)}: {escape(each.outcome)}")
    for holds in suspended:
        say(
            f"suspended: [bold]{escape(holds.player_id)}[/] {_until(holds)} "
            f"({escape(holds.suspended_by)}: {escape(holds.reason)})  {escape(holds.suspension_id)}"
        )


def flags(
    player: Annotated[str, typer.Argument(metavar="NAME", help="Of whom; all else.")] = "",
    limit: Limit = 20,
    address: Address = DEFAULT_ADDRESS,
    matchmaking: MatchmakingAddress = "",
    token: Token = "",
    name: As = "",
) -> None:
    """List what stands out in the games of the last 30 days, with the numbers and the games.

    [dim]kafeneio players flags[/]
    """

    async def look(client: Client) -> list[pb.PairFlag]:
        listed = client.players.flags(player_id=player, page_size=min(limit, 200))
        return await _first(limit, listed)

    found = _door(address, token, name, matchmaking).enter(look)
    if not found:
        say("Nothing stands out.")
    for flag in found:
        kind = pb.PairFlagKind.Name(flag.kind).removeprefix(_KIND).lower().replace("_", " ")
        other = f" and {escape(flag.other_player_id)}" if flag.other_player_id else ""
        say(
            f"[bold]{kind}[/]  {escape(flag.player_id)}{other}: {flag.count} of {flag.games}"
            f" games, {flag.expected:.1f} expected, surprise {flag.surprise:.1f}"
        )
        say(f"    [dim]since {_when(flag.first_flagged_at)}: {escape(' '.join(flag.game_ids))}[/]")


for command in (suspend, lift, reports, flags):
    players_app.command()(spoken(command))
