"""Writes a line when it has ended. Never a body, never a token."""

from time import perf_counter
from typing import Final

from google.protobuf.message import Message

from kafeneio_runtime import logs
from kafeneio_runtime.calls import Call, Method
from kafeneio_runtime.interceptors.base import Handler, Layer

_log: Final = logs.logger(__name__)


class Log(Layer):
    """Outside of the errors, so that a failure is logged under the id that the caller is told.

    The id, the method and the caller are found by every log line written during the call: `logs`
    asks for them when it writes one, so a call that logs nothing pays nothing.
    """

    def wrap(self, inner: Handler, method: Method) -> Handler:
        async def logged(call: Call) -> Message | None:
            begin = perf_counter()
            try:
                response = await inner(call)
            except BaseException:
                _log.info("call ended", **_outcome(call), milliseconds=_since(begin))
                raise
            _log.debug("call answered", milliseconds=_since(begin))
            return response

        return logged


def _outcome(call: Call) -> dict[str, str]:
    if call.refusal is None:
        return {"code": "CANCELLED"}
    code = call.refusal.code.name
    return {"code": code, "reason": call.refusal.reason_name, "why": call.refusal.message}


def _since(begin: float) -> float:
    return round((perf_counter() - begin) * 1000, 3)
