"""The calls of `kafeneio.settlement.v1.WalletService`."""

from __future__ import annotations

from collections.abc import AsyncGenerator, AsyncIterator, Callable

import grpc
from kafeneio.settlement.v1 import wallet_pb2 as pb
from kafeneio.settlement.v1 import wallet_pb2_grpc

from kafeneio_client.channel import Caller, new_id
from kafeneio_client.money import CURRENCY, Money
from kafeneio_client.time import Time
from kafeneio_client.watch import Source, Stream, Watcher


class _Account(Source[pb.WatchWalletResponse, pb.Entry]):
    """The entries of one account, by their versions."""

    def __init__(
        self, open_stream: Callable[[int], Stream[pb.WatchWalletResponse]], version: int
    ) -> None:
        self._open_stream = open_stream
        self._version = version

    def open(self) -> Stream[pb.WatchWalletResponse]:
        return self._open_stream(self._version)

    def take(self, message: pb.WatchWalletResponse) -> pb.Entry | None:
        if not (message.HasField("entry") and message.entry.version > self._version):
            return None
        self._version = message.entry.version
        return message.entry


class Wallets:
    """What players own. Where no player is named, it is the caller's own wallet.

    Whatever changes something makes a request id of its own. To send a call again whose answer
    got lost, give it the `request_id` of the error that it raised.
    """

    def __init__(self, channel: grpc.aio.Channel, caller: Caller, time: Time) -> None:
        self._stub = wallet_pb2_grpc.WalletServiceStub(channel)
        self._caller = caller
        self._time = time

    async def get(self, player_id: str = "") -> pb.Wallet:
        """GetWallet: a wallet with its accounts."""
        request = pb.GetWalletRequest(player_id=player_id)
        return (await self._caller.call(self._stub.GetWallet, request)).wallet

    async def balance(self, currency: str = CURRENCY, player_id: str = "") -> Money:
        """GetWallet: how much there is of one currency; nothing where there was never any."""
        for account in (await self.get(player_id)).accounts:
            if account.balance.currency_code == currency:
                return Money.of(account.balance)
        return Money(currency, 0)

    async def entries(
        self, currency: str = CURRENCY, player_id: str = "", *, page_size: int = 0
    ) -> AsyncIterator[pb.Entry]:
        """ListEntries: the newest first, page after page as the caller goes on."""
        request = pb.ListEntriesRequest(
            player_id=player_id, currency_code=currency, page_size=page_size
        )
        while True:
            page = await self._caller.call(self._stub.ListEntries, request)
            for entry in page.entries:
                yield entry
            if not page.next_page_token:
                return
            request.page_token = page.next_page_token

    def watch(
        self, currency: str = CURRENCY, after_version: int = 0, player_id: str = ""
    ) -> AsyncGenerator[pb.Entry, None]:
        """WatchWallet: every entry of an account after a version, each once; it never ends.

        It is resumed like `games.watch`, and closed like it.
        """

        def open_stream(version: int) -> Stream[pb.WatchWalletResponse]:
            request = pb.WatchWalletRequest(
                player_id=player_id, currency_code=currency, after_version=version
            )
            return self._stub.WatchWallet(request, metadata=self._caller.metadata)

        source = _Account(open_stream, after_version)
        return Watcher(source, self._time, self._caller.address).updates()

    async def deposit(self, player_id: str, amount: Money, *, request_id: str = "") -> pb.Entry:
        """Deposit: put money in that came from outside. Role: service."""
        request = pb.DepositRequest(
            request_id=request_id or new_id(), player_id=player_id, amount=amount.message()
        )
        answer = await self._caller.call(self._stub.Deposit, request, request.request_id)
        return answer.entry

    async def withdraw(self, player_id: str, amount: Money, *, request_id: str = "") -> pb.Entry:
        """Withdraw: take money out, to be paid outside. Role: service."""
        request = pb.WithdrawRequest(
            request_id=request_id or new_id(), player_id=player_id, amount=amount.message()
        )
        answer = await self._caller.call(self._stub.Withdraw, request, request.request_id)
        return answer.entry

    async def set_status(
        self,
        player_id: str,
        status: pb.WalletStatus.ValueType,
        reason: str,
        *,
        request_id: str = "",
    ) -> pb.Wallet:
        """SetWalletStatus: suspend a wallet, or lift that. Role: operator."""
        request = pb.SetWalletStatusRequest(
            request_id=request_id or new_id(), player_id=player_id, status=status, reason=reason
        )
        answer = await self._caller.call(self._stub.SetWalletStatus, request, request.request_id)
        return answer.wallet
