"""WatchWallet: every entry once and in order, wherever it was written, and polite ends."""

from __future__ import annotations

import asyncio
from pathlib import Path

import grpc
import pytest
from kafeneio.settlement.v1 import wallet_pb2
from kafeneio_settlement import wallets

from tests.rules.refusal import refusal
from tests.settlement.house import PATIENCE, SERVICE, House, Says, Watch


async def read(stream: Watch) -> wallet_pb2.WatchWalletResponse:
    """What comes next; fails where the stream has ended."""
    async with asyncio.timeout(PATIENCE):
        message = await stream.read()
    assert isinstance(message, wallet_pb2.WatchWalletResponse)
    return message


async def test_what_was_and_what_comes_from_any_replica(pair: tuple[House, House]) -> None:
    first, second = pair
    await first.funded()
    stream = second.watch("eleni")
    assert (await read(stream)).entry.balance.minor_units == 1000
    says = Says((await first.hold(stake=300)).game_id)
    assert (await read(stream)).entry.amount.minor_units == -300
    await first.publish(says.started(), says.finished(), says.closed())
    paid = (await read(stream)).entry
    assert (paid.version, paid.balance.minor_units, paid.game_id) == (3, 1300, says.game_id)
    assert paid.kind == wallet_pb2.ENTRY_KIND_PAYOUT
    await second.deposit("eleni", 1)
    assert (await read(stream)).entry.version == 4
    stream.cancel()


async def test_it_resumes_after_a_version(house: House, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(wallets, "WATCH_PAGE", 3)
    for _ in range(10):
        await house.deposit("eleni", 1)
    for after in (0, 1, 7, 9):
        stream = house.watch("eleni", after)
        versions = [(await read(stream)).entry.version for _ in range(10 - after)]
        assert versions == [*range(after + 1, 11)]
        stream.cancel()
    refused = await refusal(house.watch("eleni", 11).read())
    assert refused.what == ("OUT_OF_RANGE", "NOT_YET")
    assert refused.metadata["version"] == "10"


async def test_an_account_that_is_not_there_yet(house: House) -> None:
    await house.deposit("eleni", 1)
    stream = house.watch("eleni", currency="USD", who=SERVICE)
    await house.deposit("eleni", 7, "USD")
    assert (await read(stream)).entry.balance.minor_units == 7
    stream.cancel()


async def test_heartbeats(database_url: str, keys: Path) -> None:
    async with House.serve(database_url, keys, heartbeat_seconds=0.05) as house:
        await house.deposit("eleni", 1)
        stream = house.watch("eleni", 1)
        beats = [(await read(stream)).heartbeat.server_time.ToNanoseconds() for _ in range(3)]
        assert beats == sorted(beats)
        await house.deposit("eleni", 1)
        while not (message := await read(stream)).HasField("entry"):
            assert message.HasField("heartbeat")
        assert message.entry.version == 2
        stream.cancel()


async def test_it_ends_with_a_message_when_the_server_goes(house: House) -> None:
    await house.deposit("eleni", 1)
    stream = house.watch("eleni")
    assert (await read(stream)).entry.version == 1
    await house.server.drain()
    assert (await read(stream)).HasField("draining")
    async with asyncio.timeout(PATIENCE):
        assert await stream.read() is grpc.aio.EOF
        assert await stream.code() is grpc.StatusCode.OK
