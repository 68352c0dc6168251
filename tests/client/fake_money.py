"""The settlement of the fake house: wallets and stakes in memory."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterable
from dataclasses import dataclass, field

import grpc
from kafeneio.common.v1.money_pb2 import Money
from kafeneio.settlement.v1 import (
    corrections_pb2,
    events_pb2,
    ledger_pb2,
    settlement_pb2,
    settlement_pb2_grpc,
    wallet_pb2,
    wallet_pb2_grpc,
)

from tests.client.fake_calls import Call, Desk, refuse
from tests.client.tables import Table

NO = grpc.StatusCode.FAILED_PRECONDITION


@dataclass
class FakeLedger(wallet_pb2_grpc.WalletServiceServicer):
    """The servicer of WalletService; what moves money here is the truth for both."""

    desk: Desk
    accounts: dict[tuple[str, str], list[wallet_pb2.Entry]] = field(default_factory=dict)
    suspended: set[str] = field(default_factory=set)
    changed: asyncio.Event = field(default_factory=asyncio.Event)

    def balance(self, player: str, currency: str = "EUR") -> int:
        """What there is now."""
        entries = self.accounts.get((player, currency), [])
        return entries[-1].balance.minor_units if entries else 0

    def write(
        self, player: str, kind: wallet_pb2.EntryKind.ValueType, amount: Money, game_id: str = ""
    ) -> wallet_pb2.Entry:
        """Move money in (above zero) or out."""
        after = self.balance(player, amount.currency_code) + amount.minor_units
        entries = self.accounts.setdefault((player, amount.currency_code), [])
        entry = wallet_pb2.Entry(version=len(entries) + 1, kind=kind, amount=amount)
        entry.balance.CopyFrom(Money(currency_code=amount.currency_code, minor_units=after))
        entry.game_id = game_id
        entries.append(entry)
        self.changed.set()
        self.changed = asyncio.Event()
        return entry

    def wallet(self, player: str) -> wallet_pb2.Wallet:
        wallet = wallet_pb2.Wallet(player_id=player, status=wallet_pb2.WALLET_STATUS_ACTIVE)
        if player in self.suspended:
            wallet.status = wallet_pb2.WALLET_STATUS_SUSPENDED
        for (owner, _), entries in self.accounts.items():
            if owner == player:
                wallet.accounts.add(balance=entries[-1].balance, version=len(entries))
        return wallet

    async def GetWallet(
        self, request: wallet_pb2.GetWalletRequest, context: Call
    ) -> wallet_pb2.GetWalletResponse:
        caller = await self.desk.called("GetWallet", request, context)
        player = request.player_id or caller
        if not any(owner == player for owner, _ in self.accounts):
            code = grpc.StatusCode.NOT_FOUND
            await refuse(context, code, "WALLET_UNKNOWN", f"{player} has no wallet")
        return wallet_pb2.GetWalletResponse(wallet=self.wallet(player))

    async def ListEntries(
        self, request: wallet_pb2.ListEntriesRequest, context: Call
    ) -> wallet_pb2.ListEntriesResponse:
        """Pages of two, so that a client has to turn them."""
        caller = await self.desk.called("ListEntries", request, context)
        key = (request.player_id or caller, request.currency_code)
        entries = list(reversed(self.accounts.get(key, [])))
        start = int(request.page_token or 0)
        more = str(start + 2) if start + 2 < len(entries) else ""
        return wallet_pb2.ListEntriesResponse(
            entries=entries[start : start + 2], next_page_token=more
        )

    async def WatchWallet(
        self, request: wallet_pb2.WatchWalletRequest, context: Call
    ) -> AsyncIterator[wallet_pb2.WatchWalletResponse]:
        caller = await self.desk.called("WatchWallet", request, context)
        key, sent = (request.player_id or caller, request.currency_code), request.after_version
        while True:
            changed = self.changed
            for entry in self.accounts.get(key, [])[sent:]:
                yield wallet_pb2.WatchWalletResponse(entry=entry)
                sent = entry.version
            await changed.wait()

    async def Deposit(
        self, request: wallet_pb2.DepositRequest, context: Call
    ) -> wallet_pb2.DepositResponse:
        await self.desk.called("Deposit", request, context)
        kind = wallet_pb2.ENTRY_KIND_DEPOSIT
        return wallet_pb2.DepositResponse(entry=self.write(request.player_id, kind, request.amount))

    async def Withdraw(
        self, request: wallet_pb2.WithdrawRequest, context: Call
    ) -> wallet_pb2.WithdrawResponse:
        await self.desk.called("Withdraw", request, context)
        if self.balance(request.player_id) < request.amount.minor_units:
            await refuse(context, NO, "INSUFFICIENT_FUNDS", "there is not enough in the wallet")
        kind, amount = wallet_pb2.ENTRY_KIND_WITHDRAWAL, minus(request.amount)
        return wallet_pb2.WithdrawResponse(entry=self.write(request.player_id, kind, amount))

    async def SetWalletStatus(
        self, request: wallet_pb2.SetWalletStatusRequest, context: Call
    ) -> wallet_pb2.SetWalletStatusResponse:
        await self.desk.called("SetWalletStatus", request, context)
        if request.status == wallet_pb2.WALLET_STATUS_SUSPENDED:
            self.suspended.add(request.player_id)
        return wallet_pb2.SetWalletStatusResponse(wallet=self.wallet(request.player_id))


@dataclass
class FakeSettlements(settlement_pb2_grpc.SettlementServiceServicer):
    """The servicer of SettlementService: one rule, the winner takes it all."""

    desk: Desk
    ledger: FakeLedger
    games: dict[str, settlement_pb2.Settlement] = field(default_factory=dict)
    short_cents: int = 0  # what it keeps of a payout, where a test has it cheat

    def hold(self, game_id: str, players: Iterable[str], stake: Money) -> settlement_pb2.Settlement:
        """The stakes into escrow."""
        game = settlement_pb2.Settlement(
            game_id=game_id, state=settlement_pb2.SETTLEMENT_STATE_HELD
        )
        game.hold.CopyFrom(settlement_pb2.Hold(player_ids=players, stake=stake))
        for player in game.hold.player_ids:
            self.ledger.write(player, wallet_pb2.ENTRY_KIND_HOLD, minus(stake), game_id)
        self.games[game_id] = game
        return game

    def settle(self, table: Table, forfeited: Iterable[int] = ()) -> None:
        """Pay a game that is over."""
        game = self.games.get(table.game_id)
        if game is None or table.play is None or table.play.outcome is None:
            return
        game.state = settlement_pb2.SETTLEMENT_STATE_SETTLED
        for seat in forfeited:
            game.clock_forfeits.add(seat=seat)
        stake, players = game.hold.stake, game.hold.player_ids
        payout = paid(len(players), stake, table.play.outcome.winners)
        payout.shares[list(payout.shares).index(max(payout.shares))] -= self.short_cents
        game.settled.CopyFrom(settlement_pb2.Settled(settlement_version=1, payout=payout))
        for player, share in zip(players, payout.shares, strict=True):
            if share:
                amount = Money(currency_code=stake.currency_code, minor_units=share)
                game.settled.transfers.add(amount=amount)
                self.ledger.write(player, wallet_pb2.ENTRY_KIND_PAYOUT, amount, table.game_id)

    async def HoldStakes(
        self, request: settlement_pb2.HoldStakesRequest, context: Call
    ) -> settlement_pb2.HoldStakesResponse:
        await self.desk.called("HoldStakes", request, context)
        settlement = self.hold(request.game_id, request.player_ids, request.stake)
        return settlement_pb2.HoldStakesResponse(settlement=settlement)

    async def ReleaseStakes(
        self, request: settlement_pb2.ReleaseStakesRequest, context: Call
    ) -> settlement_pb2.ReleaseStakesResponse:
        await self.desk.called("ReleaseStakes", request, context)
        game = self.games[request.game_id]
        game.state = settlement_pb2.SETTLEMENT_STATE_RELEASED
        for player in game.hold.player_ids:
            kind = wallet_pb2.ENTRY_KIND_RELEASE
            self.ledger.write(player, kind, game.hold.stake, game.game_id)
        return settlement_pb2.ReleaseStakesResponse(settlement=game)

    async def GetSettlement(
        self, request: settlement_pb2.GetSettlementRequest, context: Call
    ) -> settlement_pb2.GetSettlementResponse:
        await self.desk.called("GetSettlement", request, context)
        if request.game_id not in self.games:
            code = grpc.StatusCode.NOT_FOUND
            await refuse(context, code, "GAME_UNKNOWN", "there is no such game")
        return settlement_pb2.GetSettlementResponse(settlement=self.games[request.game_id])

    async def PreviewPayout(
        self, request: settlement_pb2.PreviewPayoutRequest, context: Call
    ) -> settlement_pb2.PreviewPayoutResponse:
        await self.desk.called("PreviewPayout", request, context)
        winners = request.winners.seats if request.HasField("winners") else ()
        payout = paid(request.seats, request.stake, winners)
        return settlement_pb2.PreviewPayoutResponse(payout=payout)

    async def VoidSettlement(
        self, request: corrections_pb2.VoidSettlementRequest, context: Call
    ) -> corrections_pb2.VoidSettlementResponse:
        await self.desk.called("VoidSettlement", request, context)
        return corrections_pb2.VoidSettlementResponse()

    async def CorrectResult(
        self, request: corrections_pb2.CorrectResultRequest, context: Call
    ) -> corrections_pb2.CorrectResultResponse:
        await self.desk.called("CorrectResult", request, context)
        return corrections_pb2.CorrectResultResponse()

    async def ApproveCorrection(
        self, request: corrections_pb2.ApproveCorrectionRequest, context: Call
    ) -> settlement_pb2.ApproveCorrectionResponse:
        await self.desk.called("ApproveCorrection", request, context)
        return settlement_pb2.ApproveCorrectionResponse()

    async def VerifyLedger(
        self, request: ledger_pb2.VerifyLedgerRequest, context: Call
    ) -> ledger_pb2.VerifyLedgerResponse:
        await self.desk.called("VerifyLedger", request, context)
        return ledger_pb2.VerifyLedgerResponse(verified_to=3, hash=bytes(32), complete=True)

    async def GetLedgerReport(
        self, request: ledger_pb2.GetLedgerReportRequest, context: Call
    ) -> ledger_pb2.GetLedgerReportResponse:
        await self.desk.called("GetLedgerReport", request, context)
        return ledger_pb2.GetLedgerReportResponse()

    async def ResolveMismatch(
        self, request: settlement_pb2.ResolveMismatchRequest, context: Call
    ) -> settlement_pb2.ResolveMismatchResponse:
        await self.desk.called("ResolveMismatch", request, context)
        settled = settlement_pb2.Settled(resolved_by="boss", reason=request.reason)
        settlement = settlement_pb2.Settlement(game_id=request.game_id, settled=settled)
        return settlement_pb2.ResolveMismatchResponse(settlement=settlement)

    async def ListEvents(
        self, request: settlement_pb2.ListEventsRequest, context: Call
    ) -> settlement_pb2.ListEventsResponse:
        """Seven events, three a page."""
        await self.desk.called("ListEvents", request, context)
        after = request.after_sequence
        numbers = range(after + 1, min(after + 3, 7) + 1)
        events = [events_pb2.SettlementEvent(sequence=number) for number in numbers]
        return settlement_pb2.ListEventsResponse(events=events)


def minus(money: Money) -> Money:
    """As much, the other way."""
    return Money(currency_code=money.currency_code, minor_units=-money.minor_units)


def paid(seats: int, stake: Money, winners: Iterable[int]) -> settlement_pb2.Payout:
    """The winner takes it all; without one everything goes back."""
    payout = settlement_pb2.Payout(payout_rule="S4", rule_version=1)
    won = list(winners)
    payout.void = not won
    for seat in range(seats):
        share = stake.minor_units if not won else 0
        payout.shares.append(seats * stake.minor_units // len(won) if seat in won else share)
        payout.nets.append(payout.shares[-1] - stake.minor_units)
    return payout
