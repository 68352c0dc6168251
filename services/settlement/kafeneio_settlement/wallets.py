"""WalletService: message -> domain -> message."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import dataclass
from functools import partial
from typing import Final, TypeVar

from google.protobuf.message import Message
from kafeneio.settlement.v1 import wallet_pb2 as pb
from kafeneio.settlement.v1 import wallet_pb2_grpc
from kafeneio_runtime.errors import malformed, not_yet
from kafeneio_runtime.failpoints import failpoint
from kafeneio_runtime.ids import parse_id
from kafeneio_runtime.interceptors.current import caller, request_digest
from kafeneio_runtime.requests import once
from kafeneio_runtime.store import Connection, Store
from kafeneio_runtime.streams import Pace

from kafeneio_settlement import domain, ledger, wire
from kafeneio_settlement.domain import Account, Movement, player_account
from kafeneio_settlement.guards import refused, storable, transaction_id, wallet_unknown, whose
from kafeneio_settlement.storage import Work
from kafeneio_settlement.watching import Bells

PAGE: Final = 50
WATCH_PAGE: Final = 200
HIGHEST: Final = 2**63 - 1
"""No version is higher: the database counts no further."""

Answer = TypeVar("Answer", bound=Message)


@dataclass(frozen=True, slots=True)
class WalletServicer(wallet_pb2_grpc.WalletServiceServicer):
    """The calls of `kafeneio.settlement.v1.WalletService`; their meaning stands in the contract."""

    store: Store
    bells: Bells
    pace: Pace

    # --- looking -----------------------------------------------------------------------------

    async def GetWallet(
        self, request: pb.GetWalletRequest, context: object
    ) -> pb.GetWalletResponse:
        """What a player owns."""
        player = whose(request.player_id)
        async with self.store.acquire() as connection:
            return pb.GetWalletResponse(wallet=await _wallet(connection, player))

    async def ListEntries(
        self, request: pb.ListEntriesRequest, context: object
    ) -> pb.ListEntriesResponse:
        """The entries of an account, the newest first."""
        account = Account(player_account(whose(request.player_id)), request.currency_code)
        size = request.page_size or PAGE
        before = _page_start(request.page_token)
        async with self.store.acquire() as connection:
            await _check_known(connection, whose(request.player_id))
            found = await ledger.entries_before(connection, account, before, size + 1)
        response = pb.ListEntriesResponse()
        response.entries.extend(wire.entry(each, account.currency) for each in found[:size])
        if len(found) > size:
            response.next_page_token = str(found[size - 1].version)
        return response

    async def WatchWallet(
        self, request: pb.WatchWalletRequest, context: object
    ) -> AsyncIterator[pb.WatchWalletResponse]:
        """Every entry after a version, then each new one."""
        player = whose(request.player_id)
        account = Account(player_account(player), request.currency_code)
        async with self.store.acquire() as connection:
            await _check_known(connection, player)
            current = (await ledger.standing(connection, account)).version
        sent = request.after_version
        if sent > current:
            raise not_yet(current)
        pulse = self.pace.begin()
        with self.bells.watched(account) as bell:
            while True:
                bell.clear()  # before looking, so that no change is missed
                while found := await self._after(account, sent):
                    for each in found:
                        yield pb.WatchWalletResponse(entry=wire.entry(each, account.currency))
                    sent = found[-1].version
                    pulse.spoke()
                if pulse.is_over:
                    yield pb.WatchWalletResponse(draining=pb.Draining())
                    return
                if await pulse.beats_before(bell):
                    beat = pb.Heartbeat(server_time=wire.timestamp(self.pace.time.now()))
                    yield pb.WatchWalletResponse(heartbeat=beat)

    async def _after(self, account: Account, version: int) -> list[ledger.Entry]:
        async with self.store.acquire() as connection:
            return await ledger.entries_after(connection, account, version, WATCH_PAGE)

    # --- changing ----------------------------------------------------------------------------

    async def Deposit(self, request: pb.DepositRequest, context: object) -> pb.DepositResponse:
        """Money comes in."""
        player = storable(request.player_id, "player_id")
        name = transaction_id(parse_id(request.request_id, "request_id"), "Deposit")
        amount = request.amount
        movement = domain.deposit(name, player, amount.currency_code, amount.minor_units)

        async def effect(connection: Connection) -> bytes:
            await Work(connection).make_wallet(player)
            entry = await _moved(connection, movement, player)
            failpoint("settlement.deposit.before_commit")
            return pb.DepositResponse(entry=entry).SerializeToString()

        kept = await self._once("Deposit", request.request_id, effect)
        failpoint("settlement.deposit.committed")
        self.bells.moved(movement.accounts)
        return pb.DepositResponse.FromString(kept)

    async def Withdraw(self, request: pb.WithdrawRequest, context: object) -> pb.WithdrawResponse:
        """Money goes out."""
        player = storable(request.player_id, "player_id")
        name = transaction_id(parse_id(request.request_id, "request_id"), "Withdraw")
        amount = request.amount
        movement = domain.withdrawal(name, player, amount.currency_code, amount.minor_units)

        async def effect(connection: Connection) -> bytes:
            await _check_known(connection, player)
            entry = await _moved(connection, movement, player)
            failpoint("settlement.withdraw.before_commit")
            return pb.WithdrawResponse(entry=entry).SerializeToString()

        kept = await self._once("Withdraw", request.request_id, effect)
        failpoint("settlement.withdraw.committed")
        self.bells.moved(movement.accounts)
        return pb.WithdrawResponse.FromString(kept)

    async def SetWalletStatus(
        self, request: pb.SetWalletStatusRequest, context: object
    ) -> pb.SetWalletStatusResponse:
        """What a wallet may be used for."""
        player = storable(request.player_id, "player_id")
        reason = storable(request.reason, "reason")
        status = wire.WALLET_STATUS_NAMES[request.status]

        async def effect(connection: Connection) -> bytes:
            work = Work(connection)
            if not await work.set_status(player, status, reason, caller().subject):
                raise wallet_unknown()
            wallet = await _wallet(connection, player)
            return pb.SetWalletStatusResponse(wallet=wallet).SerializeToString()

        kept = await self._once("SetWalletStatus", request.request_id, effect)
        return pb.SetWalletStatusResponse.FromString(kept)

    async def _once(
        self, method: str, request_id: str, effect: Callable[[Connection], Awaitable[bytes]]
    ) -> bytes:
        async with self.store.transaction() as connection:
            return await once(
                connection,
                caller().subject,
                method,
                parse_id(request_id, "request_id"),
                request_digest(),
                partial(effect, connection),
            )


async def _moved(connection: Connection, movement: Movement, player: str) -> pb.Entry:
    """Do a movement; the entry that it makes in the player's account."""
    account = Account(player_account(player), movement.currency)
    with refused():
        await ledger.post(connection, [movement])
    (entry,) = await ledger.entries_before(connection, account, None, 1)
    return wire.entry(entry, movement.currency)


async def _check_known(connection: Connection, player: str) -> None:
    """Raises WALLET_UNKNOWN."""
    if await Work(connection).wallet(player) is None:
        raise wallet_unknown()


async def _wallet(connection: Connection, player: str) -> pb.Wallet:
    status = await Work(connection).wallet(player)
    if status is None:
        raise wallet_unknown()
    accounts = await ledger.accounts_of(connection, player_account(player))
    return wire.wallet(player, status, accounts)


def _page_start(token: str) -> int | None:
    """Before which version a page begins."""
    if not token:
        return None
    if not (token.isascii() and token.isdecimal() and 0 < int(token) <= HIGHEST):
        raise malformed("page_token", "this token was not made here")
    return int(token)
