"""How a call was refused: the status with its details, as a client reads it."""

from __future__ import annotations

from collections.abc import Awaitable, Mapping
from dataclasses import dataclass, field
from typing import Any, TypeVar

import grpc
from google.rpc import error_details_pb2
from grpc_status import rpc_status

Result = TypeVar("Result")


@dataclass(frozen=True)
class Refused:
    """What a refused caller is told."""

    code: str
    reason: str = ""
    domain: str = ""
    metadata: Mapping[str, str] = field(default_factory=dict)
    fields: tuple[str, ...] = ()
    retry_seconds: float | None = None
    request_id: str = ""

    @property
    def what(self) -> tuple[str, str]:
        """Code and reason."""
        return self.code, self.reason

    @classmethod
    def of(cls, error: grpc.aio.AioRpcError) -> Refused:
        """The status of a call with its details; those that it lacks are empty."""
        told: dict[str, Any] = {"code": error.code().name}
        status = rpc_status.from_call(error)  # type: ignore[arg-type] # it is one to read from
        for packed in status.details if status is not None else ():
            info = error_details_pb2.ErrorInfo()
            bad = error_details_pb2.BadRequest()
            retry = error_details_pb2.RetryInfo()
            request = error_details_pb2.RequestInfo()
            if packed.Unpack(info):
                told |= {"reason": info.reason, "domain": info.domain}
                told["metadata"] = dict(info.metadata)
            elif packed.Unpack(bad):
                told["fields"] = tuple(each.field for each in bad.field_violations)
            elif packed.Unpack(retry):
                told["retry_seconds"] = retry.retry_delay.ToTimedelta().total_seconds()
            elif packed.Unpack(request):
                told["request_id"] = request.request_id
        return cls(**told)


async def refusal(call: Awaitable[object]) -> Refused:
    """How a call is refused; fails where it is answered."""
    try:
        answer = await call
    except grpc.aio.AioRpcError as error:
        return Refused.of(error)
    raise AssertionError(f"answered instead of refused: {answer!r}"[:500])


async def outcome_of(call: Awaitable[Result]) -> Result | Refused:
    """The answer, or how it was refused; for calls that race."""
    try:
        return await call
    except grpc.aio.AioRpcError as error:
        return Refused.of(error)
