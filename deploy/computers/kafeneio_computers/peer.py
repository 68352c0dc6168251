"""`rules`, as the worker asks it. Every call is made for a seat that a computer plays."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Callable, Sequence
from typing import Final, TypeAlias, TypeVar
from uuid import UUID, uuid5

import grpc
from google.protobuf.message import Message
from kafeneio.rules.v1 import actions_pb2, game_pb2_grpc
from kafeneio.rules.v1 import game_pb2 as pb
from kafeneio_client.errors import from_rpc
from kafeneio_client.watch import Source, Stream, Watcher
from kafeneio_runtime.clock import Time
from kafeneio_runtime.directory import Directory

ANSWER_SECONDS: Final = 5.0
RULES: Final = "rules"

Query = TypeVar("Query", bound=Message)
Answer = TypeVar("Answer", bound=Message)
Stub: TypeAlias = game_pb2_grpc.GameServiceStub


class _Turns(Source[pb.WatchComputerTurnsResponse, pb.ComputerTurn]):
    """The computers' turns. Each stream begins with those that run, so none is missed."""

    def __init__(
        self,
        open_stream: Callable[[], Stream[pb.WatchComputerTurnsResponse]],
        heard: Callable[[], None],
    ) -> None:
        self._open_stream = open_stream
        self._heard = heard

    def open(self) -> Stream[pb.WatchComputerTurnsResponse]:
        return self._open_stream()

    def take(self, message: pb.WatchComputerTurnsResponse) -> pb.ComputerTurn | None:
        self._heard()
        return message.turn if message.HasField("turn") else None


class Rules:
    """Calls raise Refused or Unreachable, UnknownServiceError where nobody has said where `rules`
    is, and OSError where the token can't be read.
    """

    def __init__(self, directory: Directory, time: Time) -> None:
        self._directory = directory
        self._time = time
        self._made: Stub | None = None
        self.heard_at = time.monotonic()
        """When `rules` was last heard in the stream, on the monotonic clock."""

    def turns(self) -> AsyncGenerator[pb.ComputerTurn, None]:
        """Every turn in which a computer is to move, and again those that nobody plays."""

        def open_stream() -> Stream[pb.WatchComputerTurnsResponse]:
            request = pb.WatchComputerTurnsRequest()
            return self._stub.WatchComputerTurns(request, metadata=self._directory.metadata())

        return Watcher(_Turns(open_stream, self._heard), self._time, RULES).updates()

    async def game(self, game_id: str, seat: int) -> pb.Game:
        """A game as the seat may see it."""
        request = pb.GetGameRequest(game_id=game_id, as_seat=seat)
        return (await self._asked(self._stub.GetGame, request)).game

    async def first_legal(self, game_id: str, seat: int) -> list[str]:
        """The first thing that the seat may do, in notation; [] where there is nothing."""
        request = pb.ListLegalActionsRequest(game_id=game_id, as_seat=seat, page_size=1)
        legal = await self._asked(self._stub.ListLegalActions, request)
        return [action.notation for action in legal.actions]

    async def act(self, game: pb.Game, seat: int, steps: Sequence[str], how: str) -> None:
        """Play for the seat in the position that it has seen.

        Whoever plays the same position again, `how` he did it before, makes the same call.
        """
        turn, version = game.position.turn.turn, game.position.version
        request = pb.ActRequest(
            request_id=str(uuid5(UUID(game.game_id), f"computer {seat} {turn} {version} {how}")),
            game_id=game.game_id,
            expected_version=version,
            actions=[actions_pb2.Action(notation=step) for step in steps],
            as_seat=seat,
        )
        await self._asked(self._stub.Act, request)

    async def _asked(
        self, method: grpc.aio.UnaryUnaryMultiCallable[Query, Answer], request: Query
    ) -> Answer:
        try:
            told = self._directory.metadata()
            return await method(request, metadata=told, timeout=ANSWER_SECONDS)
        except grpc.aio.AioRpcError as error:
            raise from_rpc(error, RULES) from error

    @property
    def _stub(self) -> Stub:
        if self._made is None:
            self._made = Stub(self._directory.channel(RULES))
        return self._made

    def _heard(self) -> None:
        self.heard_at = self._time.monotonic()
