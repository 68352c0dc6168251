"""A stand-in for `settlement` that keeps its contract for holds, in memory: it outlives the process
that calls it."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any, TypeAlias

import grpc
from kafeneio.common.v1 import errors_pb2
from kafeneio.settlement.v1 import events_pb2, settlement_pb2_grpc
from kafeneio.settlement.v1 import settlement_pb2 as pb
from kafeneio_runtime.errors import Refusal, refuse, unavailable

Context: TypeAlias = Any


@dataclass
class Cashier(settlement_pb2_grpc.SettlementServiceServicer):
    """Who has which trouble, and whose stakes are held for what."""

    poor: set[str] = field(default_factory=set)
    suspended: set[str] = field(default_factory=set)
    unknown: set[str] = field(default_factory=set)
    holds: dict[str, tuple[str, ...]] = field(default_factory=dict)
    """The players of each game whose stakes are held."""
    released: set[str] = field(default_factory=set)
    terms: dict[str, pb.HoldStakesRequest] = field(default_factory=dict)
    """How each game's stakes were asked for."""
    calls: list[tuple[str, str, str]] = field(default_factory=list)
    """(call, game, request id), in order."""
    away: int = 0
    """So many calls are not answered."""
    deaf: int = 0
    """So many calls are carried out, and not answered."""
    refusing: errors_pb2.ErrorReason.ValueType | None = None
    """A reason that no player is to blame for."""
    before_hold: Callable[[str], Awaitable[None]] | None = None
    """What happens elsewhere while a hold is asked for; given the game."""
    events: dict[str, list[events_pb2.SettlementEvent]] = field(default_factory=dict)
    """What it has announced of each game."""
    address: str = ""

    async def HoldStakes(
        self, request: pb.HoldStakesRequest, context: Context
    ) -> pb.HoldStakesResponse:
        """All stakes, or none."""
        await self._called("HoldStakes", request.game_id, request.request_id, context)
        if self.before_hold is not None:
            await self.before_hold(request.game_id)
        await self._judge(request, context)
        self.holds[request.game_id] = tuple(request.player_ids)
        await self._answered(context)
        return pb.HoldStakesResponse()

    async def _judge(self, request: pb.HoldStakesRequest, context: Context) -> None:
        game = request.game_id
        if game in self.released:
            await self._refuse(context, errors_pb2.ERROR_REASON_HOLD_RELEASED)
        if game in self.terms and self.terms[game] != request:
            await self._refuse(context, errors_pb2.ERROR_REASON_HOLD_EXISTS)
        if self.refusing is not None:
            await self._refuse(context, self.refusing)
        for whose, reason in (
            (self.unknown, errors_pb2.ERROR_REASON_WALLET_UNKNOWN),
            (self.suspended, errors_pb2.ERROR_REASON_WALLET_SUSPENDED),
            (self.poor, errors_pb2.ERROR_REASON_INSUFFICIENT_FUNDS),
        ):
            seats = [seat for seat, who in enumerate(request.player_ids) if who in whose]
            if seats:
                await self._refuse(context, reason, seats=",".join(map(str, seats)))
        self.terms[game] = request

    async def ReleaseStakes(
        self, request: pb.ReleaseStakesRequest, context: Context
    ) -> pb.ReleaseStakesResponse:
        """Released twice is released."""
        await self._called("ReleaseStakes", request.game_id, request.request_id, context)
        if request.game_id not in self.holds and request.game_id not in self.released:
            await self._refuse(context, errors_pb2.ERROR_REASON_GAME_UNKNOWN)
        self.holds.pop(request.game_id, None)
        self.released.add(request.game_id)
        await self._answered(context)
        return pb.ReleaseStakesResponse()

    async def ListEvents(
        self, request: pb.ListEventsRequest, context: Context
    ) -> pb.ListEventsResponse:
        """All of it; nothing where nothing was announced."""
        events = [
            event
            for event in self.events.get(request.game_id, ())
            if event.sequence > request.after_sequence
        ]
        return pb.ListEventsResponse(events=events)

    async def _called(self, call: str, game: str, request_id: str, context: Context) -> None:
        self.calls.append((call, game, request_id))
        if self.away:
            self.away -= 1
            await refuse(context, unavailable("closed"))

    async def _answered(self, context: Context) -> None:
        if self.deaf:
            self.deaf -= 1
            await refuse(context, unavailable("lost"))

    async def _refuse(
        self, context: Context, reason: errors_pb2.ErrorReason.ValueType, **metadata: str
    ) -> None:
        code = grpc.StatusCode.FAILED_PRECONDITION
        if reason in (
            errors_pb2.ERROR_REASON_WALLET_UNKNOWN,
            errors_pb2.ERROR_REASON_GAME_UNKNOWN,
        ):
            code = grpc.StatusCode.NOT_FOUND
        await refuse(context, Refusal(code, reason, "no", metadata=metadata))


def elsewhere(address: str) -> Cashier:
    """Only where another one is."""
    return Cashier(address=address)  # type: ignore[abstract] # nothing is asked of it here


@asynccontextmanager
async def cashier() -> AsyncIterator[Cashier]:
    """One that is served on a free port."""
    made = Cashier()  # type: ignore[abstract] # the other calls are not for `matchmaking`
    server = grpc.aio.server()
    settlement_pb2_grpc.add_SettlementServiceServicer_to_server(made, server)
    made.address = f"127.0.0.1:{server.add_insecure_port('127.0.0.1:0')}"
    await server.start()
    try:
        yield made
    finally:
        await server.stop(None)
