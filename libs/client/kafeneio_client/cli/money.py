"""`kafeneio wallet` and `kafeneio deposit`: what a player has, and what comes in from outside."""

from __future__ import annotations

from typing import Annotated, Final

import typer
from kafeneio.settlement.v1 import wallet_pb2

from kafeneio_client.cli import tokens
from kafeneio_client.cli.options import DEFAULT_ADDRESS, Address, As, Door, SettlementAddress, Token
from kafeneio_client.cli.screen import Mistake, escape, say
from kafeneio_client.client import Client
from kafeneio_client.money import CURRENCY, Money

_KIND: Final = "ENTRY_KIND_"

Currency = Annotated[str, typer.Option(metavar="CODE", help="ISO 4217.")]


def amount(text: str, currency: str) -> Money:
    """An amount as it is typed; Mistake for anything else."""
    try:
        money = Money.parse(text, currency.upper())
    except ValueError as error:
        raise Mistake(f"{error}: write it like 5 or 5.00.") from error
    if len(money.currency) != 3 or not money.currency.isalpha():
        raise Mistake(f"{currency!r} is no currency: write it like EUR.")
    return money


def kind_name(entry: wallet_pb2.Entry) -> str:
    """What happened, in a word."""
    return wallet_pb2.EntryKind.Name(entry.kind).removeprefix(_KIND).lower()


def wallet(
    currency: Currency = CURRENCY,
    limit: Annotated[int, typer.Option(min=1, max=10_000, help="How many entries.")] = 10,
    address: Address = DEFAULT_ADDRESS,
    settlement: SettlementAddress = "",
    token: Token = "",
    name: As = "",
) -> None:
    """Show a wallet: what is in it, and its last entries.

    [dim]kafeneio wallet --as eleni[/]
    """
    door = Door.of(address, token, name, settlement=settlement)

    async def look(client: Client) -> tuple[wallet_pb2.Wallet, list[wallet_pb2.Entry]]:
        found, entries = await client.wallet.get(), []
        async for entry in client.wallet.entries(currency.upper(), page_size=min(limit, 500)):
            entries.append(entry)
            if len(entries) == limit:
                break
        return found, entries

    found, entries = door.enter(look)
    balances = ", ".join(str(Money.of(account.balance)) for account in found.accounts)
    suspended = found.status == wallet_pb2.WALLET_STATUS_SUSPENDED
    say(
        f"{escape(found.player_id)} has [bold]{balances or 'nothing'}[/]"
        f"{'; the wallet is suspended and can hold no stake' if suspended else ''}."
    )
    for entry in entries:
        when = entry.at.ToDatetime().isoformat(" ", "seconds")
        change, balance = Money.of(entry.amount), Money.of(entry.balance)
        # Not as a table: that would cut the ids of the games in a narrow terminal.
        say(
            f"  [dim]{when}[/]  {kind_name(entry):<10} {change!s:>12} {balance!s:>12}  "
            f"[dim]{escape(entry.game_id)}[/]"
        )


def deposit(
    player: Annotated[str, typer.Argument(metavar="NAME", help="Into whose wallet.")],
    text: Annotated[str, typer.Argument(metavar="AMOUNT", help="How much, like 20.00.")],
    currency: Currency = CURRENCY,
    address: Address = DEFAULT_ADDRESS,
    settlement: SettlementAddress = "",
    token: Token = "",
) -> None:
    """Pay into a wallet, as a payment service would: for development.

    Without --token, one for a service is made with the development key.

    [dim]kafeneio deposit eleni 20.00[/]
    """
    money = amount(text, currency)
    token = token or tokens.make("kafeneio-deposit", "service")
    door = Door.of(address, token, settlement=settlement)
    entry = door.enter(lambda client: client.wallet.deposit(player, money))
    say(f"{escape(player)} has [bold]{Money.of(entry.balance)}[/] now.")
