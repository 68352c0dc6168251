"""`settlement` as a process: settings -> store -> server -> serve. Only here adapters are named."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable
from datetime import timedelta
from pathlib import Path
from typing import Final
from urllib.parse import urlsplit, urlunsplit

from kafeneio.settlement.v1 import prizes_pb2_grpc, settlement_pb2_grpc, wallet_pb2_grpc
from kafeneio_runtime.alone import migrate_alone, serve_alone
from kafeneio_runtime.audit_service import AUDIT, AUDIT_ROLES, auditing
from kafeneio_runtime.auth import Role
from kafeneio_runtime.bus import Bus
from kafeneio_runtime.clock import SystemTime
from kafeneio_runtime.directory import Directory
from kafeneio_runtime.outbox import Relay
from kafeneio_runtime.serve import Service
from kafeneio_runtime.settings import Settings
from kafeneio_runtime.store import Store, connect
from kafeneio_runtime.streams import Pace

from kafeneio_settlement.asking import Witnesses
from kafeneio_settlement.background import Background
from kafeneio_settlement.books import Books
from kafeneio_settlement.correcting import Correcting
from kafeneio_settlement.domain import Account
from kafeneio_settlement.names import ROLE, SCHEMA
from kafeneio_settlement.pool_correcting import PoolCorrecting
from kafeneio_settlement.pool_storage import PoolLooks
from kafeneio_settlement.pooling import Pooling
from kafeneio_settlement.prize_server import PrizeServicer
from kafeneio_settlement.server import SettlementServicer
from kafeneio_settlement.settling import CLOCK_CONSUMER, RULES_CONSUMER, Settling
from kafeneio_settlement.storage import SUBJECT, Looks
from kafeneio_settlement.wallets import WalletServicer
from kafeneio_settlement.watching import Bells

MIGRATIONS: Final = Path(__file__).parent / "migrations"
WALLETS: Final = "kafeneio.settlement.v1.WalletService"
SETTLEMENT: Final = "kafeneio.settlement.v1.SettlementService"
PRIZES: Final = "kafeneio.settlement.v1.PrizeService"
ROLES: Final = {
    f"/{service}/{call}": frozenset(roles)
    for service, roles, calls in (
        (WALLETS, Role, "GetWallet ListEntries WatchWallet"),
        (WALLETS, {Role.SERVICE}, "Deposit Withdraw"),
        (WALLETS, {Role.OPERATOR}, "SetWalletStatus"),
        (SETTLEMENT, Role, "GetSettlement PreviewPayout"),
        (SETTLEMENT, {Role.SERVICE}, "HoldStakes ReleaseStakes ListEvents"),
        (SETTLEMENT, {Role.OPERATOR}, "ResolveMismatch VerifyLedger GetLedgerReport"),
        (SETTLEMENT, {Role.OPERATOR}, "VoidSettlement CorrectResult ApproveCorrection"),
        (PRIZES, Role, "GetPrizePool"),
        (PRIZES, {Role.SERVICE}, "OpenPrizePool HoldEntryFees ReleaseEntryFees SettleTournament"),
        (PRIZES, {Role.SERVICE, Role.OPERATOR}, "VoidTournament"),
        (PRIZES, {Role.OPERATOR}, "CorrectTournament"),
    )
    for call in calls.split()
}


async def service(settings: Settings, url: str, bus: Bus, directory: Directory) -> Service:
    """`settlement` on a migrated database, ready to be served."""
    time, draining = SystemTime(), asyncio.Event()
    store = await Store.open(await adding_only(url), SCHEMA, settings.database_pool_size)
    relay, bells, looks = Relay(store, bus, SUBJECT), Bells(store, time), Looks(store)
    books = Books(store)

    def changed(accounts: Iterable[Account]) -> None:
        relay.wake()
        bells.moved(accounts)

    settling, correcting = Settling(store, changed), Correcting(store, changed)
    background = Background(
        store=store,
        looks=looks,
        books=books,
        bells=bells,
        witnesses=Witnesses(settling, directory, time),
        time=time,
        draining=draining,
        request_retention=timedelta(hours=settings.request_retention_hours),
    )
    # Before anybody publishes: what is published while nobody was ever there is lost.
    listening = (
        await bus.subscribe("rules.events", RULES_CONSUMER, settling.hear_rules),
        await bus.subscribe("clock.events", CLOCK_CONSUMER, settling.hear_clock),
    )

    async def close() -> None:
        for subscription in listening:
            await subscription.close()
        await store.close()

    prizes = PrizeServicer(PoolLooks(store), Pooling(store, changed), PoolCorrecting(store))
    wallets = WalletServicer(store, bells, Pace.of(settings, time, draining))
    return Service(
        name="settlement",
        port=settings.settlement_port,
        servicers=(
            (
                settlement_pb2_grpc.add_SettlementServiceServicer_to_server,
                SettlementServicer(looks, settling, correcting, books),
            ),
            (wallet_pb2_grpc.add_WalletServiceServicer_to_server, wallets),
            (prizes_pb2_grpc.add_PrizeServiceServicer_to_server, prizes),
            auditing(store),
        ),
        service_names=(SETTLEMENT, WALLETS, PRIZES, AUDIT),
        roles=ROLES | AUDIT_ROLES,
        ready=store.ping,
        background=(
            relay.run,
            bells.tell,
            bells.hear,
            bells.look,
            background.count,
            background.balance,
            background.look_at_holds,
            background.seal,
            background.verify,
            background.ask_for_missing,
            background.forget_requests,
            background.end_streams,
        ),
        flushing=relay.flush,
        closing=close,
        draining=draining,
    )


async def adding_only(url: str) -> str:
    """The URL under the role that may add to the ledger and change nothing of it, where there is
    one and we may take it on."""
    connection = await connect(url, SCHEMA)
    try:
        granted = await connection.fetchval(
            "SELECT bool_or(pg_has_role(oid, 'MEMBER')) FROM pg_roles WHERE rolname = $1", ROLE
        )
    finally:
        await connection.close()
    if not granted:
        return url
    parts = urlsplit(url)
    return urlunsplit(parts._replace(query="&".join(filter(None, (parts.query, f"role={ROLE}")))))


def migrate_database(url: str) -> None:
    """Bring the schema of `settlement` up to date."""
    from kafeneio_runtime.migrations import migrate  # it loads SQLAlchemy

    migrate(url, SCHEMA, MIGRATIONS)


def main() -> None:
    """`kafeneio serve settlement`: this service alone, on the database of the settings."""
    serve_alone("settlement", service)


def migrate_main() -> None:
    """`kafeneio migrate settlement`."""
    migrate_alone(migrate_database)
