"""`matchmaking` as a process: settings -> store -> server -> serve; alone in naming adapters."""

from __future__ import annotations

import asyncio
from datetime import timedelta
from pathlib import Path
from typing import Final

from kafeneio.matchmaking.v1 import (
    players_pb2_grpc,
    quick_match_pb2_grpc,
    tables_pb2_grpc,
    tournaments_pb2_grpc,
)
from kafeneio_runtime.alone import migrate_alone, serve_alone
from kafeneio_runtime.audit_service import AUDIT, AUDIT_ROLES, auditing
from kafeneio_runtime.auth import Role
from kafeneio_runtime.bus import Bus
from kafeneio_runtime.clock import SystemTime
from kafeneio_runtime.directory import Directory
from kafeneio_runtime.serve import Service
from kafeneio_runtime.settings import Settings
from kafeneio_runtime.store import Store
from kafeneio_runtime.streams import Pace

from kafeneio_matchmaking import hearing
from kafeneio_matchmaking.background import Background
from kafeneio_matchmaking.entrance import Entrance, Offers
from kafeneio_matchmaking.hearing import Hearing
from kafeneio_matchmaking.matching import SourceKind
from kafeneio_matchmaking.names import SCHEMA
from kafeneio_matchmaking.peers import Peers
from kafeneio_matchmaking.players.background import PlayerBackground
from kafeneio_matchmaking.players.gate import HouseGate
from kafeneio_matchmaking.players.operating import Operating
from kafeneio_matchmaking.players.played import hear_game, hear_money
from kafeneio_matchmaking.players.roles import PLAYER_ROLES, PLAYERS
from kafeneio_matchmaking.players.server import PlayerServicer
from kafeneio_matchmaking.players.storage import rating_of
from kafeneio_matchmaking.queueing import QueueSource
from kafeneio_matchmaking.replicas import Replicas
from kafeneio_matchmaking.saga import Saga
from kafeneio_matchmaking.seating.background import TableBackground
from kafeneio_matchmaking.seating.roles import TABLE_ROLES, TABLES
from kafeneio_matchmaking.seating.server import TableServicer
from kafeneio_matchmaking.seating.source import TableSource
from kafeneio_matchmaking.seating.storage import Seating
from kafeneio_matchmaking.server import QuickMatchServicer
from kafeneio_matchmaking.sources import Sources
from kafeneio_matchmaking.storage import Matchmaking
from kafeneio_matchmaking.tournaments import correcting
from kafeneio_matchmaking.tournaments.background import TournamentBackground
from kafeneio_matchmaking.tournaments.correcting import Correcting
from kafeneio_matchmaking.tournaments.driving import Driving
from kafeneio_matchmaking.tournaments.peers import Pools
from kafeneio_matchmaking.tournaments.playing import TournamentSource
from kafeneio_matchmaking.tournaments.roles import TOURNAMENT_ROLES, TOURNAMENTS
from kafeneio_matchmaking.tournaments.server import TournamentServicer
from kafeneio_matchmaking.tournaments.showing import Showing

MIGRATIONS: Final = Path(__file__).parent / "migrations"
QUICK_MATCH: Final = "kafeneio.matchmaking.v1.QuickMatchService"
ROLES: Final = {
    **{
        f"/{QUICK_MATCH}/{call}": frozenset({Role.PLAYER})
        for call in ("Enqueue", "PlayHouse", "Cancel", "WatchTicket")
    },
    **TABLE_ROLES,
    **PLAYER_ROLES,
    **TOURNAMENT_ROLES,
}

DRIVERS: Final = 2
"""So many matches a replica drives at once; each holds a connection while it waits for an answer,
and half of the pool is left for the calls."""


async def service(settings: Settings, url: str, bus: Bus, directory: Directory) -> Service:
    """`matchmaking` on a migrated database, ready to be served."""
    time, draining = SystemTime(), asyncio.Event()
    store = await Store.open(url, SCHEMA, settings.database_pool_size)
    storage, peers, replicas = Matchmaking(store), Peers(directory), Replicas(store, time)
    sources: Sources = {
        SourceKind.QUEUE: QueueSource(),
        SourceKind.TABLE: TableSource(),
        SourceKind.TOURNAMENT: TournamentSource(),
    }
    heard = Hearing(storage, peers, sources, games=(hear_game,), money=(hear_money,))
    entrance = Entrance(storage, Offers(peers, time), HouseGate(), heard, settings.fee_basis_points)
    pace = Pace.of(settings, time, draining)
    servicer = QuickMatchServicer(storage, entrance, replicas, pace)
    seating = Seating(store)
    table_background = TableBackground(storage, seating, replicas, time)
    players = PlayerServicer(entrance, Operating(entrance))
    player_background = PlayerBackground(storage, time)
    background = Background(
        store=store,
        storage=storage,
        saga=Saga(storage, peers, sources),
        hearing=heard,
        replicas=replicas,
        time=time,
        draining=draining,
        request_retention=timedelta(hours=settings.request_retention_hours),
    )
    tables = TableServicer(entrance, seating, replicas, pace, rating_of, background.made.set)
    pools = Pools(directory)
    corrections = Correcting(storage, pools)
    tournament_background = TournamentBackground(Driving(storage, pools), background.made, time)
    tournaments = TournamentServicer(
        storage,
        entrance.offers,
        entrance.gate,
        Showing(storage, replicas, pace),
        corrections,
        tournament_background.ring,
    )
    # Before anybody publishes: what is published while nobody was ever there is lost.
    listening = (
        await bus.subscribe(hearing.RULES, hearing.RULES_CONSUMER, heard.hear_rules),
        await bus.subscribe(hearing.SETTLEMENT, hearing.SETTLEMENT_CONSUMER, heard.hear_settlement),
        await bus.subscribe(hearing.SETTLEMENT, correcting.CONSUMER, corrections.hear),
    )

    async def close() -> None:
        for subscription in listening:
            await subscription.close()
        await store.close()

    return Service(
        name="matchmaking",
        port=settings.matchmaking_port,
        servicers=(
            (quick_match_pb2_grpc.add_QuickMatchServiceServicer_to_server, servicer),
            (tables_pb2_grpc.add_TableServiceServicer_to_server, tables),
            (players_pb2_grpc.add_PlayerServiceServicer_to_server, players),
            (tournaments_pb2_grpc.add_TournamentServiceServicer_to_server, tournaments),
            auditing(store),
        ),
        service_names=(QUICK_MATCH, TABLES, PLAYERS, TOURNAMENTS, AUDIT),
        roles=ROLES | AUDIT_ROLES,
        ready=store.ping,
        background=(
            replicas.hear,
            background.pair,
            *(background.drive for _ in range(DRIVERS)),
            background.ask,
            background.expire,
            background.count,
            background.forget_requests,
            table_background.number,
            table_background.expire,
            table_background.count,
            player_background.sweep,
            player_background.flag,
            tournament_background.drive,
            tournament_background.drive_entries,
            tournament_background.count,
            background.end_streams,
        ),
        closing=close,
        draining=draining,
    )


def migrate_database(url: str) -> None:
    """Bring the schema of `matchmaking` up to date."""
    from kafeneio_runtime.migrations import migrate  # it loads SQLAlchemy

    migrate(url, SCHEMA, MIGRATIONS)


def main() -> None:
    """`kafeneio serve matchmaking`: this service alone, on the database of the settings."""
    serve_alone("matchmaking", service)


def migrate_main() -> None:
    """`kafeneio migrate matchmaking`."""
    migrate_alone(migrate_database)
