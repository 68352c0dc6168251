"""Asks for a deadline: a call that waits forever is a leak in somebody's client."""

from collections.abc import Callable

import grpc
from kafeneio.common.v1 import errors_pb2

from kafeneio_runtime.calls import Call, Kind, Method
from kafeneio_runtime.errors import Refusal
from kafeneio_runtime.interceptors.base import Gate


class Deadline(Gate):
    """For unary calls only; a stream is meant to last."""

    def check(self, method: Method) -> Callable[[Call], None]:
        if method.kind is Kind.UNARY:
            return _demand
        return _accept


def _demand(call: Call) -> None:
    if call.context.time_remaining() is None:
        raise Refusal(
            grpc.StatusCode.INVALID_ARGUMENT,
            errors_pb2.ERROR_REASON_DEADLINE_REQUIRED,
            "the call has no deadline",
        )


def _accept(call: Call) -> None:
    """Nothing is asked of a stream."""
