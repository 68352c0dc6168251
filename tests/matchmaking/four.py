"""A stand-in for `rules` with card games: it makes any game, and judges nothing."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path

import grpc
from google.protobuf.timestamp_pb2 import Timestamp
from kafeneio.rules.v1 import game_pb2, game_pb2_grpc, rulebook_pb2, rulebook_pb2_grpc

from tests.harness import Rules
from tests.matchmaking.cashier import cashier
from tests.matchmaking.hall import Hall

SIDES = {
    "pilotta": ((0, 2), (1, 3)),
    "beside": ((0, 1), (2, 3)),
    "solo": ((0,), (1,), (2,), (3,)),
    "rummy": ((0,), (1,), (2,), (3,)),
}


class FourRules(rulebook_pb2_grpc.RuleBookServiceServicer, game_pb2_grpc.GameServiceServicer):
    """Four play each of its variants; in "rummy" two to four, as the table likes."""

    def __init__(self) -> None:
        self.made: list[game_pb2.CreateGameRequest] = []

    async def GetVariant(
        self, request: rulebook_pb2.GetVariantRequest, context: object
    ) -> rulebook_pb2.GetVariantResponse:
        """One of SIDES."""
        sides = SIDES[request.variant]
        variant = rulebook_pb2.Variant(
            variant=request.variant,
            edition=2,
            seats=4,
            sides=[rulebook_pb2.Side(seats=side) for side in sides],
            target_min=1,
            target_max=151,
            target_default=151,
        )
        if request.variant == "rummy":
            variant.options.add(name="players", values=["2", "3", "4"], default_value="2")
        return rulebook_pb2.GetVariantResponse(variant=variant)

    async def CreateGame(
        self, request: game_pb2.CreateGameRequest, context: object
    ) -> game_pb2.CreateGameResponse:
        """Any game is made."""
        self.made.append(request)
        join_by = Timestamp()
        join_by.GetCurrentTime()
        join_by.seconds += 30
        return game_pb2.CreateGameResponse(game=game_pb2.Game(join_by=join_by))

    @asynccontextmanager
    async def open(self) -> AsyncIterator[str]:
        """Serve; the address."""
        server = grpc.aio.server()
        rulebook_pb2_grpc.add_RuleBookServiceServicer_to_server(self, server)
        game_pb2_grpc.add_GameServiceServicer_to_server(self, server)
        address = f"127.0.0.1:{server.add_insecure_port('127.0.0.1:0')}"
        await server.start()
        try:
            yield address
        finally:
            await server.stop(None)


@asynccontextmanager
async def card_room(
    url: str, keys: Path, replicas: int = 1
) -> AsyncIterator[tuple[list[Hall], FourRules]]:
    """So many replicas of `matchmaking` with card games, and these."""
    rooms = FourRules()  # type: ignore[abstract] # nothing else is asked of it
    async with AsyncExitStack() as stack:
        address = await stack.enter_async_context(rooms.open())
        rules = await stack.enter_async_context(Rules.serve(url, keys))  # for its tokens only
        settlement = await stack.enter_async_context(cashier())
        halls = [
            await stack.enter_async_context(Hall.beside(rules, settlement, rules_address=address))
            for _ in range(replicas)
        ]
        yield halls, rooms
