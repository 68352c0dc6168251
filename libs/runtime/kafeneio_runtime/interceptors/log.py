"""Writes a line when a call has ended. Never a body, never a token."""

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
                # That a client goes is daily life, above all for a stream.
                write = _log.debug if _was_cancelled(call) else _log.info
                write("call ended", **_outcome(call), milliseconds=_since(begin))
                raise
            _log.debug("call answered", milliseconds=_since(begin))
            return response

        return logged


def _was_cancelled(call: Call) -> bool:
    return call.refusal is None and call.context.code() is None


def _outcome(call: Call) -> dict[str, str]:
    if call.refusal is None:
        code = call.context.code()  # of a handler that has ended the call itself
        return {"code": "CANCELLED" if _was_cancelled(call) else code.name}
    refusal = call.refusal
    told = {"code": refusal.code.name, "reason": refusal.reason_name}
    # Why the rules refuse an action can tell of a hand: the rule's id is enough to look it up.
    if "rule" in refusal.metadata:
        return told | {"rule": refusal.metadata["rule"]}
    return told | {"why": refusal.message}


def _since(begin: float) -> float:
    return round((perf_counter() - begin) * 1000, 3)
