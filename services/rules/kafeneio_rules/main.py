"""`rules` as a process: settings -> store -> server -> serve. Only here adapters are named."""

from __future__ import annotations

import asyncio
from datetime import timedelta
from pathlib import Path
from typing import Final
from uuid import UUID

from kafeneio.rules.v1 import game_pb2_grpc, rulebook_pb2_grpc
from kafeneio_games.chance import ProvableDraw
from kafeneio_runtime.alone import migrate_alone, serve_alone
from kafeneio_runtime.audit_service import AUDIT, AUDIT_ROLES, auditing
from kafeneio_runtime.auth import Role
from kafeneio_runtime.bus import Bus
from kafeneio_runtime.clock import SystemTime
from kafeneio_runtime.heartbeat import Heartbeat
from kafeneio_runtime.outbox import Relay
from kafeneio_runtime.secrets import SealBroken, Vault, chance_key
from kafeneio_runtime.serve import Service
from kafeneio_runtime.settings import Settings
from kafeneio_runtime.store import Store
from kafeneio_runtime.streams import Pace

from kafeneio_rules.archive import Archive
from kafeneio_rules.background import Background
from kafeneio_rules.computers import ComputerTurns
from kafeneio_rules.live import Draws, LiveGames
from kafeneio_rules.names import SCHEMA
from kafeneio_rules.replicas import Replicas
from kafeneio_rules.rulebook import RuleBookServicer
from kafeneio_rules.server import GameServicer
from kafeneio_rules.sight import Sight
from kafeneio_rules.storage import SUBJECT, Games
from kafeneio_rules.waiting import Waiting

MIGRATIONS: Final = Path(__file__).parent / "migrations"
GAMES: Final = "kafeneio.rules.v1.GameService"
RULE_BOOK: Final = "kafeneio.rules.v1.RuleBookService"
ROLES: Final = {
    f"/{service}/{call}": frozenset(roles)
    for service, roles, calls in (
        (RULE_BOOK, Role, "ListVariants GetVariant GetRules"),
        (GAMES, Role, "GetGame WatchGame ListLegalActions ListGames GetRecord VerifyRecord"),
        (GAMES, {Role.PLAYER}, "JoinGame Resign"),
        (GAMES, {Role.PLAYER, Role.SERVICE}, "Act"),
        (GAMES, {Role.SERVICE}, "CreateGame CancelGame GetTurn ForfeitSeat ListEvents"),
        (GAMES, {Role.SERVICE}, "WatchComputerTurns"),
        (GAMES, {Role.OPERATOR}, "AbortGame"),
    )
    for call in calls.split()
}


async def check_chance_key(games: Games, vault: Vault) -> None:
    """Ends the process where the key is another one than the games were sealed with: better no
    house than one in which no die can be thrown."""
    sealed = await games.a_sealed_secret()
    if sealed is None:
        return
    try:
        vault.open(sealed.secret, sealed.game_id.bytes)
    except SealBroken:
        raise SystemExit(
            "The secrets of the games in this database are sealed with another key. Set"
            " KAFENEIO_CHANCE_KEY, or bring back keys/chance.key of the data folder."
        ) from None


async def service(
    settings: Settings, url: str, bus: Bus, *, draws: Draws = ProvableDraw
) -> Service:
    """`rules` on a migrated database, ready to be served; no setting changes `draws`."""
    time, draining = SystemTime(), asyncio.Event()
    store = await Store.open(url, SCHEMA, settings.database_pool_size)
    heartbeat = Heartbeat(store, time)
    await heartbeat.begin()  # an outage is noted before anybody can ask for it
    relay = Relay(store, bus, SUBJECT)
    games, vault = Games(store), Vault(chance_key(settings))
    try:
        await check_chance_key(games, vault)
    except SystemExit:
        await store.close()
        raise
    live = LiveGames(games, vault, draws)
    replicas = Replicas(store, live, relay, time)
    pace = Pace.of(settings, time, draining)
    computers = ComputerTurns(games, live, pace)

    def written(game_id: UUID) -> None:
        replicas.written(game_id)
        computers.written(game_id)

    waiting = Waiting(games, live, vault, time, written)
    sight = Sight(live, pace, timedelta(seconds=settings.spectator_delay_seconds))
    archive = Archive(live, sight)
    servicer = GameServicer(games, live, waiting, archive, sight, written, heartbeat, computers)
    retention = timedelta(hours=settings.request_retention_hours)
    background = Background(store, games, live, waiting, computers, time, draining, retention)

    async def close() -> None:
        await games.close()
        await store.close()

    return Service(
        name="rules",
        port=settings.rules_port,
        servicers=(
            (game_pb2_grpc.add_GameServiceServicer_to_server, servicer),
            (rulebook_pb2_grpc.add_RuleBookServiceServicer_to_server, RuleBookServicer()),
            auditing(store),
        ),
        service_names=(GAMES, RULE_BOOK, AUDIT),
        roles=ROLES | AUDIT_ROLES,
        ready=store.ping,
        background=(
            relay.run,
            heartbeat.run,
            replicas.tell,
            replicas.hear,
            replicas.follow,
            replicas.look,
            computers.scan,
            background.end_no_shows,
            background.count_games,
            background.forget_requests,
            background.end_streams,
        ),
        flushing=relay.flush,
        closing=close,
        draining=draining,
    )


def migrate_database(url: str) -> None:
    """Bring the schema of `rules` up to date."""
    from kafeneio_runtime.migrations import migrate  # it loads SQLAlchemy

    migrate(url, SCHEMA, MIGRATIONS)


def main() -> None:
    """`kafeneio serve rules`: this service alone, on the database of the settings."""
    serve_alone("rules", lambda settings, url, bus, _: service(settings, url, bus), throws=True)


def migrate_main() -> None:
    """`kafeneio migrate rules`."""
    migrate_alone(migrate_database)
