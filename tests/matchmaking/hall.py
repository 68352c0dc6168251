"""`matchmaking` served in this process over real sockets, beside the real `rules` and a cashier."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, TypeAlias

import asyncpg
import grpc
from kafeneio.common.v1 import money_pb2
from kafeneio.matchmaking.v1 import quick_match_pb2 as pb
from kafeneio.matchmaking.v1 import quick_match_pb2_grpc
from kafeneio.rules.v1 import game_pb2
from kafeneio_matchmaking import hearing, main
from kafeneio_matchmaking.matching import DRIVEN
from kafeneio_matchmaking.names import SCHEMA
from kafeneio_runtime.auth import token_verifier
from kafeneio_runtime.bus import Bus, Event, InProcessBus
from kafeneio_runtime.clock import SystemTime
from kafeneio_runtime.directory import Directory
from kafeneio_runtime.serve import Server, drain
from kafeneio_runtime.settings import Settings

from tests import snapshots
from tests.harness import PATIENCE, Rules, new_id
from tests.matchmaking import cashier as cashiers
from tests.matchmaking.cashier import Cashier
from tests.snapshots import Snapshot

STAKE: Final = 500
OVER: Final = (pb.TICKET_STATUS_MATCHED, pb.TICKET_STATUS_ENDED)
TABLES: Final = {
    **dict.fromkeys(("tickets", "places", "matches", "seats", "chairs"), "*"),
    **dict.fromkeys(("requests", "audit", "outbox"), "*"),
    # Not `change`: it is given whenever somebody gets to it.
    "tables": "table_id, host, status, version, seating, expires_at, match_id, game_id, put_out",
}

Watch: TypeAlias = "grpc.aio.UnaryStreamCall[pb.WatchTicketRequest, pb.WatchTicketResponse]"


def terms(stake: int = STAKE, currency: str = "EUR", **changes: Any) -> pb.QuickTerms:
    """Portes to one point, for a stake."""
    asked: dict[str, Any] = {"variant": "portes", **changes}
    message = pb.QuickTerms(**asked)
    if stake:
        message.stake.CopyFrom(money_pb2.Money(currency_code=currency, minor_units=stake))
    return message


async def _nobody(events: Sequence[Event]) -> None:
    raise AssertionError("nothing is published yet")


@dataclass
class Hall:
    """One replica of `matchmaking`, and its callers."""

    rules: Rules
    cashier: Cashier
    stub: quick_match_pb2_grpc.QuickMatchServiceStub
    channel: grpc.aio.Channel
    database: asyncpg.Connection[asyncpg.Record]
    server: Server

    @classmethod
    @asynccontextmanager
    async def beside(
        cls, rules: Rules, cashier: Cashier, bus: Bus | None = None, **settings: object
    ) -> AsyncIterator[Hall]:
        """A replica on the database of `rules`; it hears what comes by `bus`."""
        assert rules.server is not None, "it is served here"
        changes = {
            "rules_address": rules.server.address,
            "settlement_address": cashier.address,
            "matchmaking_port": 0,
            **settings,
        }
        made = Settings.model_validate({**rules.settings.model_dump(), **changes})
        own, directory = InProcessBus(), Directory(made, "matchmaking")
        server = Server(
            await main.service(made, rules.url, bus or own, directory), made, token_verifier(made)
        )
        await server.start()
        async with AsyncExitStack() as stack:
            stack.push_async_callback(own.close)
            stack.push_async_callback(directory.close)
            stack.push_async_callback(server.drain)
            database = await asyncpg.connect(rules.url, server_settings={"search_path": SCHEMA})
            stack.push_async_callback(database.close)
            channel = await stack.enter_async_context(grpc.aio.insecure_channel(server.address))
            stub = quick_match_pb2_grpc.QuickMatchServiceStub(channel)
            yield cls(rules, cashier, stub, channel, database, server)

    @classmethod
    @asynccontextmanager
    async def serve(
        cls, url: str, folder: Path, cashier: Cashier | None = None, **settings: object
    ) -> AsyncIterator[Hall]:
        """`rules`, a cashier (unless there is one) and `matchmaking` on a migrated database."""
        async with AsyncExitStack() as stack:
            bus = InProcessBus()
            stack.push_async_callback(bus.close)
            # In a house all listen before anybody publishes, and here `rules` opens first: what it
            # has left from before its death would be lost.
            early = await bus.subscribe(hearing.RULES, hearing.RULES_CONSUMER, _nobody)
            await early.close()
            rules = await stack.enter_async_context(Rules.serve(url, folder, bus=bus))
            if cashier is None:
                cashier = await stack.enter_async_context(cashiers.cashier())
            hall = await stack.enter_async_context(cls.beside(rules, cashier, bus, **settings))
            stack.push_async_callback(hall.drain)
            yield hall

    async def drain(self) -> None:
        """It goes, politely, and `rules` with it, as in a house: neither waits for the other."""
        assert self.rules.server is not None, "it is served here"
        await drain([self.server, self.rules.server], self.rules.settings, SystemTime())

    # --- calling -----------------------------------------------------------------------------

    async def enqueue(
        self,
        who: str,
        *,
        ticket_id: str = "",
        asked: pb.QuickTerms | None = None,
        seconds: int = 0,
        request_id: str = "",
        partner: str = "",
    ) -> pb.Ticket:
        """A ticket of somebody."""
        request = pb.EnqueueRequest(
            request_id=request_id or new_id(),
            ticket_id=ticket_id or new_id(),
            terms=asked if asked is not None else terms(),
            partner_player_id=partner,
        )
        if seconds:
            request.time_to_live.seconds = seconds
        return (await self.rules.ask(self.stub.Enqueue, request, who)).ticket

    async def play_house(
        self,
        who: str,
        *,
        asked: pb.QuickTerms | None = None,
        ticket_id: str = "",
        request_id: str = "",
    ) -> pb.Ticket:
        """A ticket of somebody for a table against the computer."""
        request = pb.PlayHouseRequest(
            request_id=request_id or new_id(),
            ticket_id=ticket_id or new_id(),
            terms=asked if asked is not None else terms(0),
        )
        return (await self.rules.ask(self.stub.PlayHouse, request, who)).ticket

    async def cancel(self, ticket: pb.Ticket, who: str = "", request_id: str = "") -> pb.Ticket:
        """The ticket after its player, or somebody else, has cancelled it."""
        request = pb.CancelRequest(request_id=request_id or new_id(), ticket_id=ticket.ticket_id)
        return (await self.rules.ask(self.stub.Cancel, request, who or ticket.player_id)).ticket

    def watch(self, ticket: pb.Ticket, after: int = 0, who: str = "") -> Watch:
        """The stream of a ticket."""
        request = pb.WatchTicketRequest(ticket_id=ticket.ticket_id, after_version=after)
        return self.stub.WatchTicket(
            request, metadata=self.rules.credentials(who or ticket.player_id)
        )

    async def until(self, ticket: pb.Ticket, *statuses: int, after: int = 0) -> pb.Ticket:
        """The ticket as soon as it stands so."""
        return (await self.seen(ticket, *statuses, after=after))[-1]

    async def seen(self, ticket: pb.Ticket, *statuses: int, after: int = 0) -> list[pb.Ticket]:
        """What the stream shows until the ticket stands so."""
        found: list[pb.Ticket] = []
        stream = self.watch(ticket, after)
        async with asyncio.timeout(PATIENCE):
            async for message in stream:
                if message.HasField("ticket"):
                    found.append(message.ticket)
                    if message.ticket.status in statuses:
                        stream.cancel()
                        return found
        raise AssertionError(f"the stream ended with {found}")

    async def over(self, *tickets: pb.Ticket) -> list[pb.Ticket]:
        """Tickets, once nothing more comes of them."""
        return await asyncio.gather(*(self.until(ticket, *OVER) for ticket in tickets))

    # --- looking -----------------------------------------------------------------------------

    async def snapshot(self) -> Snapshot:
        """How many rows each table has, and a hash of them all."""
        return await snapshots.snapshot(self.database, TABLES)

    async def games(self) -> Mapping[str, game_pb2.GameSummary]:
        """All games that `rules` has, cancelled ones left out."""
        answer = await self.rules.ask(self.rules.games.ListGames, game_pb2.ListGamesRequest())
        return {
            game.game_id: game
            for game in answer.games
            if game.status != game_pb2.GAME_STATUS_CANCELLED
        }

    async def plays(self, game_id: str) -> tuple[str, ...]:
        """Everybody takes his seat, the game starts; who plays."""
        game = await self.rules.get(game_id)
        players = tuple(seat.player_id for seat in game.seats)
        for player in players:
            game = await self.rules.join(game, player)
        assert game.position.status == game_pb2.GAME_STATUS_RUNNING
        return players

    async def unfinished(self) -> int:
        """Matches on their way."""
        count: int = await self.database.fetchval(
            "SELECT count(*) FROM matches WHERE status = ANY ($1::text[])", DRIVEN
        )
        return count
