"""`kafeneio ledger`: whether the house's books are in order. For operators."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Annotated, Final

import typer
from kafeneio.common.v1 import money_pb2
from kafeneio.settlement.v1 import corrections_pb2, ledger_pb2, prizes_pb2

from kafeneio_client.cli.options import DEFAULT_ADDRESS, Address, As, Door, SettlementAddress, Token
from kafeneio_client.cli.screen import Mistake, escape, say, spoken
from kafeneio_client.client import Client
from kafeneio_client.money import Money
from kafeneio_client.settlement import Verification

ledger_app: Final = typer.Typer(
    help="The house's books, for operators.", no_args_is_help=True, rich_markup_mode="rich"
)
_FAULT: Final = "FAULT_KIND_"


def report(
    address: Address = DEFAULT_ADDRESS,
    settlement: SettlementAddress = "",
    token: Token = "",
    name: As = "",
) -> None:
    """Show where the money is, whether it adds up, and what waits for an operator.

    Without --token, one for an operator is made with the development key. Ends with 1 where
    something is wrong.

    [dim]kafeneio ledger report[/]
    """

    async def look(client: Client) -> ledger_pb2.GetLedgerReportResponse:
        return await client.settlement.report()

    found = Door.of_operator(address, token, name, settlement=settlement).enter(look)
    for line in lines(found):
        say(line)
    if wrong(found):
        raise typer.Exit(1)


def verify(
    after: Annotated[int, typer.Option(min=0, help="Begin after this seal.")] = 0,
    seal: Annotated[str, typer.Option(help="What that seal was, in hexadecimal.")] = "",
    address: Address = DEFAULT_ADDRESS,
    settlement: SettlementAddress = "",
    token: Token = "",
    name: As = "",
) -> None:
    """Recompute every seal of the ledger. Ends with 1 where one does not match.

    [dim]kafeneio ledger verify --after 8 --seal 3b0c…[/]
    """
    try:
        anchor = bytes.fromhex(seal)
    except ValueError as error:
        raise Mistake("A seal is 64 hexadecimal digits.") from error

    async def look(client: Client) -> Verification:
        return await client.settlement.verify(after, anchor)

    found = Door.of_operator(address, token, name, settlement=settlement).enter(look)
    say(f"Verified up to seal [bold]{found.verified_to}[/]: {found.hash.hex()}")
    for line in fault_lines(found):
        say(line)
    if found.faults:
        raise typer.Exit(1)
    say("Everything is as it was sealed.")


def fault_lines(found: Verification) -> Iterable[str]:
    """What is wrong with the ledger, line by line."""
    for fault in found.faults:
        kind = ledger_pb2.FaultKind.Name(fault.kind).removeprefix(_FAULT).lower()
        what = fault.transaction_id or fault.account
        yield f"  [red]{kind}[/] seal {fault.number} {escape(what)}"


def wrong(found: ledger_pb2.GetLedgerReportResponse) -> bool:
    """Whether the books are not in order. What merely waits is no fault of theirs."""
    return bool(found.imbalance or found.orphaned_escrows or found.faults)


def lines(found: ledger_pb2.GetLedgerReportResponse) -> Iterable[str]:
    """The report, line by line."""
    yield f"The books at {found.at.ToDatetime().isoformat(' ', 'seconds')} UTC"
    for each in found.totals:
        yield (
            f"  [bold]{escape(each.currency_code)}[/]  wallets {_money(each.wallets)}, owed "
            f"{_money(each.owed)}, escrow {_money(each.escrows)}, fees {_money(each.fees)}, "
            f"paid in {_money(each.paid_in)}"
        )
    yield _check("imbalance", found.imbalance)
    yield _check("orphaned escrows", found.orphaned_escrows)
    for orphan in found.orphans:
        state = orphan.state.lower() or "no such game or tournament"
        yield f"    {escape(orphan.account)}  {_money(orphan.balance)}  {escape(state)}"
    yield _check("ledger faults", found.faults)
    yield (
        f"  sealed up to {found.sealed_to}, verified up to {found.verified_to}, "
        f"not sealed yet {found.unsealed}"
    )
    if found.sealed_to:
        yield f"    seal {found.sealed_to}: {found.sealed_hash.hex()}"
    yield (
        f"  events not published: {found.outbox_pending}, the oldest waits "
        f"{found.outbox_age_seconds:.0f} s"
    )
    yield f"  games over and not paid: {found.unsettled}"
    yield from map(_game, found.unsettled_games)
    yield f"  holds older than ten minutes: {found.old_holds}"
    yield from map(_game, found.old_hold_games)
    yield f"  tournaments that started over a day ago and are not paid: {found.overdue_pools}"
    yield from map(_pool, found.overdue_pool_tournaments)
    waiting = found.open_corrections + found.open_tournament_corrections
    yield f"  corrections that wait for a second operator: {waiting}"
    for of_game in found.corrections:
        yield _correction(of_game.game_id, of_game)
    for of_tournament in found.tournament_corrections:
        yield _correction(of_tournament.tournament_id, of_tournament)


def _money(message: money_pb2.Money) -> str:
    return str(Money.of(message))


def _check(what: str, count: int) -> str:
    return f"  {what}: {count}" if not count else f"  [red]{what}: {count}[/]"


def _game(game: ledger_pb2.OpenGame) -> str:
    since = game.since.ToDatetime().isoformat(" ", "seconds")
    why = game.problem.lower() or (f"waits for {game.awaited}" if game.awaited else "")
    escrow = f"  {_money(game.escrow)}" if game.HasField("escrow") else ""
    return f"    {escape(game.game_id)}  {game.state.lower()}  since {since}{escrow}  {escape(why)}"


def _pool(pool: ledger_pb2.OpenPool) -> str:
    since = pool.since.ToDatetime().isoformat(" ", "seconds")
    return (
        f"    {escape(pool.tournament_id)}  since {since}  {pool.entries} entries, "
        f"{_money(pool.escrow)}"
    )


def _correction(
    name: str, each: corrections_pb2.Correction | prizes_pb2.TournamentCorrection
) -> str:
    return (
        f"    {escape(name)}  number {each.number}, by {escape(each.proposed_by)}: "
        f"{escape(each.reason)}"
    )


def approve(
    game_id: Annotated[str, typer.Argument(metavar="GAME_ID", help="The game, or the tournament.")],
    number: Annotated[int, typer.Argument(min=1, metavar="NUMBER", help="Which correction.")],
    reason: Annotated[str, typer.Option(help="Why, for the audit.")] = "",
    address: Address = DEFAULT_ADDRESS,
    settlement: SettlementAddress = "",
    token: Token = "",
    name: As = "",
) -> None:
    """Approve what another operator has proposed.

    [dim]kafeneio ledger approve GAME_ID 1 --as eleni[/]
    """

    async def do(client: Client) -> int:
        after = await client.settlement.approve_any(game_id, number, reason)
        paid = after.prize_pool if after.HasField("prize_pool") else after.settlement
        return paid.settled.settlement_version

    version = Door.of_operator(address, token, name, settlement=settlement).enter(do)
    say(f"Done: settlement {version} counts now.")


for command in (report, verify, approve):
    ledger_app.command()(spoken(command))
