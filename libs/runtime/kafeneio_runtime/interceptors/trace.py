"""Makes each call a part of a trace, where traces are on."""

import grpc
from google.protobuf.message import Message

from kafeneio_runtime import tracing
from kafeneio_runtime.calls import Call, Method
from kafeneio_runtime.interceptors.base import Handler, Layer
from kafeneio_runtime.interceptors.metrics import code_after


class Trace(Layer):
    """Outside of the log, whose lines name the trace. Without traces there is no such layer."""

    def wrap(self, inner: Handler, method: Method) -> Handler:
        tracer = tracing.tracer()
        if tracer is None:
            return inner

        async def traced(call: Call) -> Message | None:
            with tracer.answering(method, call.metadata) as span:
                code = grpc.StatusCode.UNKNOWN
                try:
                    response = await inner(call)
                    code = code_after(call, None)
                    return response
                except BaseException as error:
                    code = code_after(call, error)
                    raise
                finally:
                    span.end(code, call.request)

        return traced
