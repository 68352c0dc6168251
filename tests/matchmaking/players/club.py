"""`matchmaking` served in this process, with what players and operators ask of it. What `rules` and
`settlement` would announce the test announces: games are over in a moment."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, TypeVar
from uuid import UUID

from google.protobuf.message import Message
from kafeneio.common.v1.money_pb2 import Money
from kafeneio.matchmaking.v1 import players_pb2 as pb
from kafeneio.matchmaking.v1 import players_pb2_grpc
from kafeneio.rules.v1 import actions_pb2
from kafeneio.rules.v1 import events_pb2 as rules_pb2
from kafeneio.settlement.v1 import events_pb2 as money_pb2
from kafeneio_runtime.bus import Event, InProcessBus

from tests.harness import OPERATOR, Rules, Snapshot, new_id
from tests.matchmaking.cashier import cashier
from tests.matchmaking.hall import Hall

Answer = TypeVar("Answer", bound=Message)

TABLES = (
    "played_games",
    "played_seats",
    "ratings",
    "rating_changes",
    "suspensions",
    "blocks",
    "reports",
    "pair_flags",
    "limits",
    "exclusions",
    "tickets",
    "requests",
    "audit",
)


def euros(cents: int) -> Money:
    """An amount."""
    return Money(currency_code="EUR", minor_units=cents)


@dataclass
class Story:
    """One game's events, each with one id however often it is told."""

    players: Sequence[str] = ("eleni", "nikos")
    variant: str = "portes"
    game_id: str = field(default_factory=new_id)
    at: datetime = field(default_factory=lambda: datetime.now(UTC))
    _told: int = 0

    def _event(self, subject: str, kind: str, message: Message, at: datetime | None) -> Event:
        self._told += 1
        body = message.SerializeToString()
        game_id = UUID(self.game_id)
        return Event(UUID(new_id()), subject, game_id, self._told, kind, body, at or self.at)

    def started(self, *computers: int, at: datetime | None = None) -> Event:
        """GameStarted."""
        told = rules_pb2.GameStarted(
            variant=self.variant, player_ids=self.players, computer_seats=computers
        )
        message = rules_pb2.GameEvent(game_id=self.game_id, game_started=told)
        return self._event("rules.events", "game_started", message, at)

    def won(self, *winners: int, left: Sequence[int] = (), at: datetime | None = None) -> Event:
        """GameFinished with a winner."""
        told = rules_pb2.GameFinished(
            decided=rules_pb2.Decided(winners=winners),
            variant=self.variant,
            forfeits=[
                rules_pb2.SeatForfeitRecorded(seat=seat, reason=actions_pb2.FORFEIT_REASON_LEFT)
                for seat in left
            ],
        )
        message = rules_pb2.GameEvent(game_id=self.game_id, game_finished=told)
        return self._event("rules.events", "game_finished", message, at)

    def void(self, reason: str = "HOUSE", at: datetime | None = None) -> Event:
        """GameFinished without one."""
        told = rules_pb2.GameFinished(
            void_reason=actions_pb2.VoidReason.Value(f"VOID_REASON_{reason}"),
            variant=self.variant,
        )
        message = rules_pb2.GameEvent(game_id=self.game_id, game_finished=told)
        return self._event("rules.events", "game_finished", message, at)

    def _nets(self, amounts: Sequence[int]) -> list[money_pb2.Net]:
        return [
            money_pb2.Net(player_id=player, amount=euros(amount))
            for player, amount in zip(self.players, amounts, strict=True)
        ]

    def settled(self, *amounts: int, at: datetime | None = None) -> Event:
        """GameSettled; amounts are in cents."""
        nets = self._nets(amounts) if amounts else []
        told = money_pb2.GameSettled(settlement_version=1, nets=nets)
        message = money_pb2.SettlementEvent(game_id=self.game_id, game_settled=told)
        return self._event("settlement.events", "game_settled", message, at)

    def corrected(
        self,
        *winners: int,
        version: int = 2,
        amounts: Sequence[int] = (),
        at: datetime | None = None,
    ) -> Event:
        """SettlementCorrected; void where nobody has won."""
        nets = self._nets(amounts) if amounts else []
        told = money_pb2.SettlementCorrected(
            settlement_version=version,
            corrects_version=version - 1,
            void=not winners,
            winners=winners,
            nets=nets,
        )
        message = money_pb2.SettlementEvent(game_id=self.game_id, settlement_corrected=told)
        return self._event("settlement.events", "settlement_corrected", message, at)


@dataclass
class Club:
    """The callers of PlayerService, and the hall that they are in."""

    hall: Hall
    bus: InProcessBus
    stub: players_pb2_grpc.PlayerServiceStub

    @classmethod
    @asynccontextmanager
    async def open(cls, url: str, keys: Path) -> AsyncIterator[Club]:
        """On a migrated database."""
        async with AsyncExitStack() as stack:
            bus = InProcessBus()
            stack.push_async_callback(bus.close)
            rules = await stack.enter_async_context(Rules.serve(url, keys, bus=bus))
            settlement = await stack.enter_async_context(cashier())
            hall = await stack.enter_async_context(Hall.beside(rules, settlement, bus))
            stack.push_async_callback(hall.drain)
            yield cls(hall, bus, players_pb2_grpc.PlayerServiceStub(hall.channel))

    async def tell(self, *events: Event) -> None:
        """These are heard, in this order."""
        await self.bus.publish(events)

    async def played(self, *winners: int, **story: Any) -> Story:
        """A game that was played and won."""
        made = Story(**story)
        await self.tell(made.started(), made.won(*winners))
        return made

    async def ask(self, call: str, request: Message, who: str = OPERATOR) -> Any:
        """The answer to a call."""
        return await self.hall.rules.ask(getattr(self.stub, call), request, who)

    async def rating(self, player: str, variant: str = "portes") -> pb.Rating:
        """A player's rating of one variant."""
        request = pb.GetRatingRequest(player_id=player, variant=variant)
        (found,) = (await self.ask("GetRating", request)).ratings
        assert isinstance(found, pb.Rating)
        return found

    async def values(self, *players: str, variant: str = "portes") -> list[int]:
        """What several are shown with."""
        return [(await self.rating(player, variant)).value for player in players]

    async def suspend(self, player: str, **changes: Any) -> pb.Suspension:
        """A suspension."""
        asked = {"request_id": new_id(), "player_id": player, "reason": "rude", **changes}
        request = pb.SuspendPlayerRequest(**asked)
        suspension = (await self.ask("SuspendPlayer", request)).suspension
        assert isinstance(suspension, pb.Suspension)
        return suspension

    async def limit(self, player: str, **limits: Any) -> pb.Limits:
        """What a player wants."""
        request = pb.SetLimitsRequest(request_id=new_id(), **limits)
        found = (await self.ask("SetLimits", request, player)).limits
        assert isinstance(found, pb.Limits)
        return found

    async def snapshot(self) -> Snapshot:
        """How many rows each table has, and a hash of them all."""
        found: Snapshot = {}
        for table in TABLES:
            row = await self.hall.database.fetchrow(
                "SELECT count(*), coalesce(md5(string_agg(r::text, '|' ORDER BY r::text)), '')"
                f" FROM {table} AS r"
            )
            assert row is not None
            found[table] = (row[0], row[1])
        return found
