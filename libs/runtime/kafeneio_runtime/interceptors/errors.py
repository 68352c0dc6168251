"""Turns what is raised into the status that the caller gets."""

from typing import Final

import grpc
import structlog
from google.protobuf.message import Message

from kafeneio_runtime.calls import Call, Method
from kafeneio_runtime.errors import Refusal, internal, is_store_trouble, refuse, unavailable
from kafeneio_runtime.interceptors.base import Handler, Layer

_log: Final = structlog.stdlib.get_logger(__name__)


class Errors(Layer):
    """Around all that may refuse. A cancelled call stays cancelled: nobody is there to be told."""

    def wrap(self, inner: Handler, method: Method) -> Handler:
        async def answered(call: Call) -> Message | None:
            try:
                return await inner(call)
            except grpc.aio.AbortError:
                raise  # the handler has ended the call itself
            except Refusal as refusal:
                call.refusal = refusal
            except Exception as error:  # noqa: BLE001 (the one place that knows what is told)
                call.refusal = _judge(error)
            # Outside of the `except`, so that what ends the call is not chained to what was wrong
            # with it.
            return await refuse(call.context, call.refusal, call.request_id)

        return answered


def _judge(error: Exception) -> Refusal:
    if is_store_trouble(error):
        _log.warning("the store is away", error=type(error).__name__)
        return unavailable("the house can't answer now, please try again")
    _log.error("unexpected error", exc_info=error)
    return internal()
