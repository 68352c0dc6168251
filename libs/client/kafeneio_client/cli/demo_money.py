"""The money of the demo: what is paid in, what the game pays, and whether every cent is there."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Final

from kafeneio.rules.v1 import game_pb2
from kafeneio.settlement.v1 import settlement_pb2, wallet_pb2
from rich import box
from rich.table import Table
from rich.text import Text

from kafeneio_client.cli.faults import Faults
from kafeneio_client.cli.money import kind_name
from kafeneio_client.cli.screen import OUT, escape, say
from kafeneio_client.client import Client
from kafeneio_client.money import Money

DEPOSIT: Final = Money("EUR", 2000)
STAKE: Final = Money("EUR", 500)

_PAID_SECONDS: Final = 20.0


@dataclass(frozen=True, slots=True)
class Purse:
    """The wallets of everybody at the table, seat 0 first, and who may pay into them."""

    owner: Client
    names: Sequence[str]
    players: Sequence[Client]
    faults: Faults
    filled: dict[str, Money] = field(default_factory=dict)
    """What everybody has before the game; in a database that is kept, more than was paid in."""

    async def fill(self) -> None:
        """Pay in for everybody."""
        for name in self.names:
            entry = await self.owner.wallet.deposit(name, DEPOSIT)
            self.faults.expect(
                Money.of(entry.amount) == DEPOSIT, f"{name} got something else than was paid in"
            )
            self.filled[name] = Money.of(entry.balance)
            say(f"{escape(name)} pays in [bold]{DEPOSIT}[/].")

    async def staked(self, game_id: str) -> None:
        """Whether every stake is in escrow, and out of the wallets."""
        held = await self.players[0].settlement.get(game_id)
        self.faults.expect(
            held.state == settlement_pb2.SETTLEMENT_STATE_HELD, "the stakes are not held"
        )
        for name, player in zip(self.names, self.players, strict=True):
            left = await player.wallet.balance()
            self.faults.expect(
                left == self.filled[name] - STAKE, f"{name} has {left} with his stake held"
            )
        pot = Money.of(held.hold.stake)
        say(f"{len(held.hold.player_ids)} stakes of [bold]{pot}[/] are in escrow.")

    async def paid(self, game_id: str) -> settlement_pb2.Settlement:
        """Wait by their streams until somebody is paid; the settlement."""
        watches = [asyncio.create_task(_payout(one, game_id)) for one in self.players]
        try:
            done, _ = await asyncio.wait(
                watches, timeout=_PAID_SECONDS, return_when=asyncio.FIRST_COMPLETED
            )
            for watch in done:
                watch.result()
            self.faults.expect(bool(done), f"nobody was paid within {_PAID_SECONDS:.0f} s")
        finally:
            for watch in watches:
                watch.cancel()
            await asyncio.gather(*watches, return_exceptions=True)
        return await self.players[0].settlement.get(game_id)

    async def check(
        self,
        settlement: settlement_pb2.Settlement,
        outcome: game_pb2.Outcome,
        forfeited: Sequence[int],
    ) -> None:
        """Show every entry and balance, and whether the game paid what its rule says."""
        payout = settlement.settled.payout
        expect = self.faults.expect
        expect(
            settlement.state == settlement_pb2.SETTLEMENT_STATE_SETTLED
            and settlement.settled.settlement_version == 1,
            "the game is not settled",
        )
        rule = await self.owner.settlement.preview(
            payout.payout_rule,
            len(self.names),
            STAKE,
            winners=outcome.decided.winners,
            forfeited_seats=forfeited,
            fee_basis_points=settlement.hold.fee_basis_points,
        )
        expect(payout == rule, "the game paid something else than its rule says")
        expect(len(payout.nets) == len(self.names), "the payout has other seats")
        expect(not (forfeited and payout.fee), "a fee was taken although a seat was forfeited")
        await self._balances(payout)
        moved = sum(one.amount.minor_units for one in settlement.settled.transfers)
        expect(moved == STAKE.minor_units * len(self.names), "the escrow is not empty")

    async def _balances(self, payout: settlement_pb2.Payout) -> None:
        table = Table(box=box.SIMPLE)
        for heading in ("player", "entry"):
            table.add_column(heading)
        for heading in ("amount", "balance"):
            table.add_column(heading, justify="right")
        total = Money(STAKE.currency, 0)
        for name, player, net in zip(self.names, self.players, payout.nets, strict=False):
            entries = [entry async for entry in player.wallet.entries()]
            for entry in reversed(entries):
                amounts = (str(Money.of(entry.amount)), str(Money.of(entry.balance)))
                table.add_row(*map(Text, (name, kind_name(entry), *amounts)))
            balance = await player.wallet.balance()
            total += balance
            written = sum(entry.amount.minor_units for entry in entries)
            self.faults.expect(
                balance == self.filled[name] + Money(STAKE.currency, net)
                and balance.minor_units == written,
                f"{name} has {balance}, which the entries or the payout do not explain",
            )
        OUT.print(table)
        fee = Money(STAKE.currency, payout.fee)
        nets = ", ".join(str(Money(STAKE.currency, net)) for net in payout.nets)
        say(f"Settled by {escape(payout.payout_rule)}: nets {nets}; fee {fee}.")
        self.faults.expect(sum(payout.nets) + payout.fee == 0, "the nets do not sum to zero")
        before = Money(STAKE.currency, sum(one.minor_units for one in self.filled.values()))
        self.faults.expect(total + fee == before, f"of {before} there are {total} and {fee}")
        say(
            f"[green]Sum zero:[/] {before} before the game; now {total} in the wallets and {fee} "
            "of fees."
        )


async def _payout(player: Client, game_id: str) -> None:
    """Return when the game has paid this player."""
    async with contextlib.aclosing(player.wallet.watch(STAKE.currency)) as entries:
        async for entry in entries:
            if entry.game_id == game_id and entry.kind == wallet_pb2.ENTRY_KIND_PAYOUT:
                return
