"""Counts calls under the standard names of gRPC servers."""

import asyncio
from time import perf_counter
from typing import Final

import grpc
from google.protobuf.message import Message
from prometheus_client import Counter, Histogram

from kafeneio_runtime.calls import Call, Kind, Method
from kafeneio_runtime.interceptors.base import Handler, Layer

_LABELS: Final = ("grpc_type", "grpc_service", "grpc_method")
_BUCKETS: Final = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10)

STARTED: Final = Counter("grpc_server_started_total", "Calls started.", _LABELS)
HANDLED: Final = Counter(
    "grpc_server_handled_total", "Calls finished, by their status code.", (*_LABELS, "grpc_code")
)
SECONDS: Final = Histogram(
    "grpc_server_handling_seconds",
    "Time from a request's arrival to the end of the call.",
    _LABELS,
    buckets=_BUCKETS,
)
RECEIVED: Final = Counter("grpc_server_msg_received_total", "Messages received.", _LABELS)
SENT: Final = Counter("grpc_server_msg_sent_total", "Messages sent.", _LABELS)


class Metrics(Layer):
    """Outermost, so that whatever another layer refuses is counted with its code."""

    def wrap(self, inner: Handler, method: Method) -> Handler:
        labels = (method.kind.value, method.service, method.name)
        # Finding the child of a label set is dearer than counting, so it is done here, once per
        # method.
        started = STARTED.labels(*labels).inc
        received = RECEIVED.labels(*labels).inc
        sent = SENT.labels(*labels).inc
        observe = SECONDS.labels(*labels).observe
        handled = {code: HANDLED.labels(*labels, code.name).inc for code in grpc.StatusCode}
        unary = method.kind is Kind.UNARY

        async def counted(call: Call) -> Message | None:
            begin = perf_counter()
            started()
            received()
            call.message_sent = sent
            code = grpc.StatusCode.UNKNOWN
            try:
                response = await inner(call)
                code = code_after(call, None)
                if unary and code is grpc.StatusCode.OK:
                    sent()
                return response
            except BaseException as error:
                code = code_after(call, error)
                raise
            finally:
                handled[code]()
                observe(perf_counter() - begin)

        return counted


def code_after(call: Call, error: BaseException | None) -> grpc.StatusCode:
    """With which code a call has ended; `error` is what came out of it, if anything did."""
    if isinstance(error, asyncio.CancelledError):  # the client's time is up, or he has gone
        late = call.context.time_remaining() == 0
        return grpc.StatusCode.DEADLINE_EXCEEDED if late else grpc.StatusCode.CANCELLED
    code: grpc.StatusCode | None = call.context.code()  # the stub omits None: nothing was set
    return code or (grpc.StatusCode.OK if error is None else grpc.StatusCode.UNKNOWN)
