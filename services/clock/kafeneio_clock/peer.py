"""`rules`, as the clock asks it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final, TypeAlias, TypeVar
from uuid import UUID

import grpc
from google.protobuf.message import Message
from kafeneio.common.v1 import errors_pb2
from kafeneio.rules.v1 import events_pb2, game_pb2, game_pb2_grpc
from kafeneio_client.errors import Refused, from_rpc
from kafeneio_runtime.bus import NotNowError
from kafeneio_runtime.directory import Directory, UnknownServiceError
from kafeneio_runtime.errors import Refusal, unavailable
from kafeneio_runtime.events import PAGE, all_after

from kafeneio_clock import wire
from kafeneio_clock.turns import Interval
from kafeneio_clock.values import Reason

ANSWER_SECONDS: Final = 2.0

Query = TypeVar("Query", bound=Message)
Answer = TypeVar("Answer", bound=Message)
Stub: TypeAlias = game_pb2_grpc.GameServiceStub

# What the log of a game decides. Everything else says that `rules` could not be asked.
_DEFINITE: Final = frozenset(
    {
        grpc.StatusCode.FAILED_PRECONDITION,
        grpc.StatusCode.NOT_FOUND,
        grpc.StatusCode.INVALID_ARGUMENT,
        grpc.StatusCode.ALREADY_EXISTS,
    }
)


class UnreachableError(NotNowError):
    """`rules` can't be asked, or has not answered: whether it did anything is unknown."""


@dataclass(frozen=True, slots=True)
class RunningTurn:
    """What the log says; `turn` is 0 where nobody is prompted."""

    turn: int
    cancelled: bool
    outages: tuple[Interval, ...]


class Rules:
    """Calls of `rules`. Each raises UnreachableError, or the Refusal with which it was refused."""

    def __init__(self, directory: Directory) -> None:
        self._directory = directory
        self._stub: Stub | None = None

    async def turn(self, game_id: UUID) -> RunningTurn:
        """Which turn runs."""
        request = game_pb2.GetTurnRequest(game_id=str(game_id))
        answer = await self._asked(lambda stub: stub.GetTurn, request)
        outages = (
            Interval(wire.from_timestamp(each.began), wire.from_timestamp(each.ended))
            for each in answer.outages
        )
        cancelled = answer.status == game_pb2.GAME_STATUS_CANCELLED
        return RunningTurn(answer.turn.turn, cancelled, tuple(outages))

    async def forfeit(
        self, game_id: UUID, seat: int, reason: Reason, turn: int, request_id: UUID
    ) -> None:
        """Have a forfeit recorded; asked again with the same id it is recorded once."""
        request = game_pb2.ForfeitSeatRequest(
            request_id=str(request_id),
            game_id=str(game_id),
            seat=seat,
            reason=wire.forfeit_reason(reason),
            turn=turn,
        )
        await self._asked(lambda stub: stub.ForfeitSeat, request)

    async def events(self, game_id: UUID, after: int) -> list[events_pb2.GameEvent]:
        """Everything that was announced about a game after a sequence number."""

        async def page(last: int) -> Sequence[events_pb2.GameEvent]:
            request = game_pb2.ListEventsRequest(
                game_id=str(game_id), after_sequence=last, page_size=PAGE
            )
            return (await self._asked(lambda stub: stub.ListEvents, request)).events

        return await all_after(after, page)

    async def _asked(
        self,
        method: Callable[[Stub], grpc.aio.UnaryUnaryMultiCallable[Query, Answer]],
        request: Query,
    ) -> Answer:
        try:
            if self._stub is None:
                self._stub = Stub(self._directory.channel("rules"))
            told = self._directory.metadata()
            return await method(self._stub)(request, metadata=told, timeout=ANSWER_SECONDS)
        except grpc.aio.AioRpcError as error:
            raise _told(error) from error
        except (UnknownServiceError, OSError) as error:
            raise UnreachableError(str(error)) from error


def _told(error: grpc.aio.AioRpcError) -> Exception:
    told = from_rpc(error, "rules")
    if not isinstance(told, Refused):
        return UnreachableError(told.message)
    definite = told.code in _DEFINITE or told.reason == "NOT_YOUR_SEAT"
    name = f"ERROR_REASON_{told.reason}"
    if not definite or name not in errors_pb2.ErrorReason.keys():  # noqa: SIM118 (no mapping)
        return UnreachableError(f"{told.code.name} {told.reason}: {told.message}")
    return Refusal(
        told.code, errors_pb2.ErrorReason.Value(name), told.message, metadata=told.metadata
    )


def away() -> Refusal:
    """What a caller is told while `rules` can't be asked."""
    return unavailable("the house can't answer now, please try again")
