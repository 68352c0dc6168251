"""Reads the request, so that bytes which are none are the caller's mistake and not ours."""

from collections.abc import Callable

from google.protobuf.message import DecodeError

from kafeneio_runtime.calls import Call, Method
from kafeneio_runtime.errors import malformed
from kafeneio_runtime.interceptors.base import Gate


class Decode(Gate):
    """grpc itself would answer unreadable bytes with an internal error."""

    def check(self, method: Method) -> Callable[[Call], None]:
        parse = method.parse

        def decode(call: Call) -> None:
            try:
                call.request = parse(call.raw)
            except DecodeError:
                raise malformed("", "the request is not a message of this method") from None

        return decode
