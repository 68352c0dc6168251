"""What the services of the fake house have in common: who calls, what goes wrong, how to refuse."""

from __future__ import annotations

from collections import deque
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import Any, NoReturn, TypeAlias

import grpc
from google.protobuf.any_pb2 import Any as Packed
from google.protobuf.duration_pb2 import Duration
from google.protobuf.message import Message
from google.rpc import error_details_pb2, status_pb2
from grpc_status import rpc_status
from kafeneio.rules.v1 import game_pb2

from tests.client.tables import Table

Call: TypeAlias = grpc.aio.ServicerContext[Any, Any]
Fault: TypeAlias = Callable[[Call], Awaitable[None]]


async def refuse(
    call: Call,
    code: grpc.StatusCode,
    reason: str,
    message: str,
    *details: Message,
    domain: str = "kafeneio",
    **metadata: str,
) -> NoReturn:
    """End a call as a house does."""
    info = error_details_pb2.ErrorInfo(reason=reason, domain=domain, metadata=metadata)
    status = status_pb2.Status(code=code.value[0], message=message)
    for detail in (info, *details):
        packed = Packed()
        packed.Pack(detail)
        status.details.append(packed)
    await call.abort_with_status(rpc_status.to_status(status))


def in_language(locale: str, text: str) -> error_details_pb2.LocalizedMessage:
    """The detail with a sentence for a person."""
    return error_details_pb2.LocalizedMessage(locale=locale, message=text)


def retry_in(seconds: float) -> error_details_pb2.RetryInfo:
    """The detail that asks to wait."""
    duration = Duration()
    duration.FromMilliseconds(round(seconds * 1000))
    return error_details_pb2.RetryInfo(retry_delay=duration)


@dataclass
class Desk:
    """Every call passes here; `calls` counts calls by name."""

    tables: dict[str, Table] = field(default_factory=dict)
    faults: dict[str, deque[Fault]] = field(default_factory=dict)
    calls: dict[str, int] = field(default_factory=dict)
    requests: list[Message] = field(default_factory=list)

    def fail(self, method: str, *faults: Fault) -> None:
        """Have the next calls of a method go wrong."""
        self.faults.setdefault(method, deque()).extend(faults)

    async def called(self, method: str, request: Message, call: Call) -> str:
        """Who calls."""
        self.calls[method] = self.calls.get(method, 0) + 1
        self.requests.append(request)
        if self.faults.get(method):
            await self.faults[method].popleft()(call)
        token = dict(call.invocation_metadata() or ()).get("authorization", "")
        if not token:
            code = grpc.StatusCode.UNAUTHENTICATED
            await refuse(call, code, "TOKEN_MISSING", "there is no token")
        return str(token).removeprefix("Bearer ").removeprefix("token.").removesuffix(".made")

    async def table(self, game_id: str, call: Call) -> Table:
        """The table of a game."""
        if game_id not in self.tables:
            await refuse(call, grpc.StatusCode.NOT_FOUND, "GAME_UNKNOWN", "there is no such game")
        return self.tables[game_id]

    def open_table(self, game_id: str, variant: str, target: int, names: tuple[str, ...]) -> Table:
        """A new game, with the house rules that are usual."""
        terms = game_pb2.Terms(variant=variant, edition=1, target=target or 1)
        terms.options["rule_set"] = "zarclub"
        terms.options["disconnect_points"] = "formula"
        self.tables[game_id] = Table(game_id, terms, names)
        return self.tables[game_id]
