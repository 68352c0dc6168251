"""`kafeneio table`: choose with whom to play, at a table of one's own or of others."""

from __future__ import annotations

import asyncio
import contextlib
from datetime import timedelta
from typing import Annotated, Final

import typer
from kafeneio.matchmaking.v1 import quick_match_pb2
from kafeneio.matchmaking.v1 import tables_pb2 as pb
from rich import box
from rich.table import Table
from rich.text import Text

from kafeneio_client.cli.money import Currency, amount
from kafeneio_client.cli.options import (
    DEFAULT_ADDRESS,
    Address,
    As,
    ClockAddress,
    Door,
    MatchmakingAddress,
    SettlementAddress,
    Token,
    house_rules,
)
from kafeneio_client.cli.queueing import played
from kafeneio_client.cli.screen import OUT, Mistake, escape, say, spoken
from kafeneio_client.client import Client
from kafeneio_client.errors import KafeneioError
from kafeneio_client.money import CURRENCY, Money

tables_app = typer.Typer(no_args_is_help=True, help="Choose with whom to play.")

_ENDS: Final = {
    pb.TABLE_END_DESERTED: "nobody sits there any more.",
    pb.TABLE_END_EXPIRED: "it has not begun to play in time.",
    pb.TABLE_END_TERMS_REFUSED: "the house can't have this played or staked (any more).",
    pb.TABLE_END_PLAYED: "its game is over.",
}
_TableId = Annotated[str, typer.Argument(metavar="TABLE", help="The table's id.")]
_Rating = typer.Option(min=0, max=10_000, show_default=False)


def _name(seat: pb.TableSeat) -> str:
    if not seat.player_id:
        return "free"
    return f"{seat.player_id}, ready" if seat.ready else seat.player_id


def _stake(table: pb.Table) -> str:
    if not table.terms.HasField("stake"):
        return "nothing"
    return str(Money.of(table.terms.stake))


def _status(table: pb.Table) -> str:
    return pb.TableStatus.Name(table.status).removeprefix("TABLE_STATUS_").lower()


def _describe(table: pb.Table) -> str:
    """A table in one line."""
    seats = "; ".join(f"{seat.seat}: {_name(seat)}" for seat in table.seats)
    text = f"{table.terms.variant} for {_stake(table)}, {_status(table)}: {seats}"
    return f"[bold]{table.table_id}[/] {escape(text)}"


def _show(table: pb.Table) -> None:
    """A table, and how others come to it."""
    say(_describe(table))
    if table.computers_fill:
        say("Computers take the seats that are free when everybody is ready.")
    for out in table.put_out:
        reason = quick_match_pb2.TicketEnd.Name(out.reason).removeprefix("TICKET_END_").lower()
        say(f"{escape(out.player_id)} was put out: {reason.replace('_', ' ')}.")
    if table.status != pb.TABLE_STATUS_OPEN:
        return
    if table.invitation_code:
        say("Others join with:")
        say(f"  [bold]kafeneio table join --code {table.invitation_code} --as NAME[/]")
    elif not table.private:
        say(f"Others join with [bold]kafeneio table join {table.table_id} --as NAME[/]")
    say(f"Begin with [bold]kafeneio table ready {table.table_id}[/]")


def open_table(
    variant: Annotated[str, typer.Argument(help="What `kafeneio variants` lists.")],
    stake: Annotated[str, typer.Option(metavar="AMOUNT", help="Of each player, like 5.00.")] = "0",
    currency: Currency = CURRENCY,
    target: Annotated[int, typer.Option(min=0, help="Points; 0 is the usual number.")] = 0,
    option: Annotated[
        list[str] | None,
        typer.Option(metavar="NAME=VALUE", help="A house rule, as `kafeneio variants` lists them."),
    ] = None,
    seat: Annotated[int, typer.Option(min=0, max=15, help="Where you sit.")] = 0,
    private: Annotated[bool, typer.Option("--private", help="By invitation only.")] = False,
    computers: Annotated[
        bool, typer.Option("--computers", help="Computers take the seats that stay free.")
    ] = False,
    least_rating: Annotated[int | None, _Rating] = None,
    most_rating: Annotated[int | None, _Rating] = None,
    wait: Annotated[int, typer.Option(min=60, max=3600, help="Seconds until it closes.")] = 600,
    address: Address = DEFAULT_ADDRESS,
    matchmaking: MatchmakingAddress = "",
    token: Token = "",
    name: As = "",
) -> None:
    """Open a table, and sit there.

    [dim]kafeneio table open portes --stake 5.00 --private --as eleni[/]
    """
    money, rules = amount(stake, currency), house_rules(option or ())

    async def opened(client: Client) -> pb.Table:
        return await client.tables.create(
            variant,
            stake=money if money.minor_units else None,
            target=target,
            options=rules,
            seat=seat,
            private=private,
            computers_fill=computers,
            least_rating=least_rating,
            most_rating=most_rating,
            time_to_live=timedelta(seconds=wait),
        )

    _show(Door.of(address, token, name, matchmaking=matchmaking).enter(opened))


def list_tables(
    variant: Annotated[str, typer.Argument(help="Only of this one.", show_default=False)] = "",
    free: Annotated[bool, typer.Option("--free", help="Only with a free seat.")] = False,
    address: Address = DEFAULT_ADDRESS,
    matchmaking: MatchmakingAddress = "",
    token: Token = "",
    name: As = "",
) -> None:
    """List the public tables that wait for players, the newest first.

    [dim]kafeneio table list portes --free[/]
    """

    async def listed(client: Client) -> list[pb.Table]:
        return [each async for each in client.tables.list(variant=variant, free_seats=free)]

    found = Door.of(address, token, name, matchmaking=matchmaking).enter(listed)
    shown = Table(box=box.SIMPLE)
    for heading in ("id", "variant", "stake", "seats"):
        shown.add_column(heading, no_wrap=heading == "id")
    for table in found:
        texts = (table.table_id, table.terms.variant, _stake(table))
        shown.add_row(*map(Text, (*texts, "; ".join(map(_name, table.seats)))))
    OUT.print(shown)


def join_table(
    table: Annotated[
        str, typer.Argument(metavar="[TABLE]", help="A public table's id.", show_default=False)
    ] = "",
    code: Annotated[str, typer.Option(help="The invitation to a private one.")] = "",
    seat: Annotated[
        int | None, typer.Option(min=0, max=15, help="The first free one else.")
    ] = None,
    address: Address = DEFAULT_ADDRESS,
    matchmaking: MatchmakingAddress = "",
    token: Token = "",
    name: As = "",
) -> None:
    """Sit down at a table, or move to another seat there.

    [dim]kafeneio table join --code ACDEFHJKLM --as nikos[/]
    """
    if bool(table) == bool(code):
        raise Mistake("Say which table: its id, or the invitation with --code.")

    async def joined(client: Client) -> pb.Table:
        return await client.tables.join(table, invitation_code=code, seat=seat)

    _show(Door.of(address, token, name, matchmaking=matchmaking).enter(joined))


def leave_table(
    table: _TableId,
    address: Address = DEFAULT_ADDRESS,
    matchmaking: MatchmakingAddress = "",
    token: Token = "",
    name: As = "",
) -> None:
    """Leave a table that has not begun to play.

    [dim]kafeneio table leave TABLE --as nikos[/]
    """
    door = Door.of(address, token, name, matchmaking=matchmaking)
    say(_describe(door.enter(lambda client: client.tables.leave(table))))


def ready_to_play(
    table: _TableId,
    no: Annotated[bool, typer.Option("--no", help="Not ready any more.")] = False,
    address: Address = DEFAULT_ADDRESS,
    clock: ClockAddress = "",
    settlement: SettlementAddress = "",
    matchmaking: MatchmakingAddress = "",
    token: Token = "",
    name: As = "",
) -> None:
    """Agree to play with those who sit there; wait for the game, and play it.

    [dim]kafeneio table ready TABLE --as nikos[/]
    """
    door = Door.of(
        address, token, name, clock=clock, settlement=settlement, matchmaking=matchmaking
    )
    asyncio.run(_ready(door, table, not no))


async def _ready(door: Door, table_id: str, ready: bool) -> None:
    async with door.house() as house:
        client = house.client(door.token)
        table = await client.tables.ready(await client.tables.get(table_id), ready)
        say(_describe(table))
        if not ready:
            return
        say("Ctrl-C says that you are not ready after all.")
        try:
            table = await _agreed(client, table)
        except asyncio.CancelledError:
            with contextlib.suppress(KafeneioError):
                await client.tables.ready(table, False)
            raise
    stake = Money.of(table.terms.stake) if table.terms.HasField("stake") else None
    await played(door, table.game_id, stake)


async def _agreed(client: Client, table: pb.Table) -> pb.Table:
    """The table, once there is a game; Mistake where others sit there before, or it closes."""
    changes = client.tables.watch(table.table_id, table.version)
    async with contextlib.aclosing(changes) as watched:
        found = table
        while True:
            if found.game_id and found.status != pb.TABLE_STATUS_CLOSED:
                return found
            if found.status == pb.TABLE_STATUS_CLOSED:
                raise Mistake(f"The table is closed: {_ENDS.get(found.end, 'nobody knows why.')}")
            if found.status == pb.TABLE_STATUS_OPEN and found.seating != table.seating:
                _show(found)
                raise Mistake("Others sit there now: say again whether you are ready.")
            found = await anext(watched)
            say(_describe(found))


def watch_tables(
    table: Annotated[
        str, typer.Argument(metavar="[TABLE]", help="One; all else.", show_default=False)
    ] = "",
    variant: Annotated[str, typer.Option(help="Only of this one.")] = "",
    address: Address = DEFAULT_ADDRESS,
    matchmaking: MatchmakingAddress = "",
    token: Token = "",
    name: As = "",
) -> None:
    """Show a table until it is closed, or all public tables until Ctrl-C.

    [dim]kafeneio table watch --variant portes[/]
    """

    async def watched(client: Client) -> None:
        if table:
            async with contextlib.aclosing(client.tables.watch(table)) as changes:
                async for each in changes:
                    say(_describe(each))
            return
        async with contextlib.aclosing(client.tables.watch_all(variant)) as all_changes:
            async for change in all_changes:
                say(_describe(change.table))

    Door.of(address, token, name, matchmaking=matchmaking).enter(watched)


for _word, _command in (
    ("open", open_table),
    ("list", list_tables),
    ("join", join_table),
    ("leave", leave_table),
    ("ready", ready_to_play),
    ("watch", watch_tables),
):
    tables_app.command(_word)(spoken(_command))
