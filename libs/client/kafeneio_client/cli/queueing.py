"""`kafeneio queue`: find somebody who wants the same, play with him, and be paid."""

from __future__ import annotations

import asyncio
import contextlib
import secrets
from dataclasses import dataclass
from datetime import timedelta
from typing import Annotated, Final

import typer
from kafeneio.matchmaking.v1 import quick_match_pb2 as pb
from kafeneio.rules.v1 import actions_pb2

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
from kafeneio_client.cli.play import Evening
from kafeneio_client.cli.screen import Mistake, escape, say
from kafeneio_client.client import Client
from kafeneio_client.errors import KafeneioError
from kafeneio_client.money import CURRENCY, Money

_ENDS: Final = {
    pb.TICKET_END_EXPIRED: "nobody came who wants the same. Try again, or with other terms.",
    pb.TICKET_END_INSUFFICIENT_FUNDS: "your wallet does not hold the stake. `kafeneio wallet` "
    "shows what it does.",
    pb.TICKET_END_SUSPENDED: "you are suspended, or your wallet is.",
    pb.TICKET_END_PLAYER_UNKNOWN: "you have no wallet. `kafeneio deposit NAME AMOUNT` makes one.",
    pb.TICKET_END_PARTNER_LEFT: "your partner has left the queue, could not stake, or did not "
    "sit down in time.",
    pb.TICKET_END_CALLED_OFF: "the house has called the game off.",
    pb.TICKET_END_NO_SHOW: "you did not sit down in time.",
    pb.TICKET_END_TERMS_REFUSED: "the house can't have this played or staked (any more).",
}


@dataclass(frozen=True, slots=True)
class Wish:
    """What was asked for on the command line."""

    variant: str
    stake: Money
    target: int
    options: dict[str, str]
    wait: timedelta
    partner: str = ""

    async def queued(self, client: Client) -> pb.Ticket:
        """A place in the queue."""
        ticket = await client.queue.enqueue(
            self.variant,
            stake=self.stake if self.stake.minor_units else None,
            target=self.target,
            options=self.options,
            time_to_live=self.wait,
            partner=self.partner,
        )
        say("You are in the queue. Ctrl-C leaves it.")
        if ticket.status == pb.TICKET_STATUS_WAITING_FOR_PARTNER:
            say(f"{escape(self.partner)} has to queue for the same, and to name you.")
        return ticket

    async def matched(self, client: Client, ticket: pb.Ticket) -> pb.Ticket:
        """The ticket, once it has led to a game or its last one has begun; Mistake where it leads
        to none."""
        known = ticket.status == pb.TICKET_STATUS_MATCHED
        watched = client.queue.watch(ticket.ticket_id, ticket.version - (not known))
        try:
            async with contextlib.aclosing(watched) as changes:
                async for change in changes:
                    ticket = change
                    if ticket.status == pb.TICKET_STATUS_PAIRED:
                        say("Somebody wants the same; the table is being set.")
        except asyncio.CancelledError:
            with contextlib.suppress(KafeneioError):
                await client.queue.cancel(ticket.ticket_id)
            raise
        if ticket.status == pb.TICKET_STATUS_ENDED:
            raise Mistake(f"There is no game: {_ENDS.get(ticket.end, 'the ticket has ended.')}")
        return ticket


async def _evening(door: Door, wish: Wish) -> None:
    stake = wish.stake if wish.stake.minor_units else None
    async with door.house() as house:
        client = house.client(door.token)
        ticket = await wish.matched(client, await wish.queued(client))
    while await played(door, ticket.game_id, stake):
        # Not everybody has sat down in time (F6): who has waits at his old place.
        say("You are in front of the queue again. Ctrl-C leaves it.")
        async with door.house() as house:
            ticket = await wish.matched(house.client(door.token), ticket)


async def played(door: Door, game_id: str, stake: Money | None) -> bool:
    """Play a game that waits for its seats, and tell what it paid; whether it has never begun,
    because not everybody sat down."""
    evening = Evening(door=door, game_id=game_id, word=secrets.token_bytes(16), inviting=False)
    if not await evening.run():
        return False
    async with door.house() as house:
        client = house.client(door.token)
        outcome = (await client.games.get(game_id)).position.outcome
        if stake is not None:
            await client.settlement.settled(game_id)
            balance = await client.wallet.balance(stake.currency)
            say(f"The game is settled: {escape(door.name)} has [bold]{balance}[/].")
    return outcome.void_reason == actions_pb2.VOID_REASON_NO_SHOW


def queue(
    variant: Annotated[str, typer.Argument(help="What `kafeneio variants` lists.")],
    stake: Annotated[str, typer.Option(metavar="AMOUNT", help="Of each player, like 5.00.")] = "0",
    currency: Currency = CURRENCY,
    target: Annotated[int, typer.Option(min=0, help="Points; 0 is the usual number.")] = 0,
    option: Annotated[
        list[str] | None,
        typer.Option(metavar="NAME=VALUE", help="A house rule, as `kafeneio variants` lists them."),
    ] = None,
    partner: Annotated[
        str, typer.Option(metavar="NAME", help="Whom you sit with; he names you, too.")
    ] = "",
    wait: Annotated[int, typer.Option(min=1, max=3600, help="Seconds in the queue.")] = 600,
    address: Address = DEFAULT_ADDRESS,
    clock: ClockAddress = "",
    settlement: SettlementAddress = "",
    matchmaking: MatchmakingAddress = "",
    token: Token = "",
    name: As = "",
) -> None:
    """Queue for a game with a stake, and play it in the terminal.

    [dim]kafeneio queue portes --stake 5.00 --as eleni[/]

    [dim]kafeneio queue pilotta --stake 5.00 --as eleni --partner maria[/]
    """
    door = Door.of(
        address, token, name, clock=clock, settlement=settlement, matchmaking=matchmaking
    )
    money = amount(stake, currency)
    options = house_rules(option or ())
    wish = Wish(variant, money, target, options, timedelta(seconds=wait), partner)
    asyncio.run(_evening(door, wish))
