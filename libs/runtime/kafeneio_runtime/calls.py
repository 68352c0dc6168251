"""A call in progress: what is known about it, from anywhere in the code that it runs."""

import hashlib
import re
from collections.abc import Callable, Mapping, Sequence
from contextvars import ContextVar
from dataclasses import dataclass
from enum import StrEnum
from typing import Final, TypeAlias, cast

import grpc
from google.protobuf.message import Message

from kafeneio_runtime.auth import Caller
from kafeneio_runtime.errors import REQUEST_ID_HEADER, Refusal
from kafeneio_runtime.ids import new_id

_ACCEPTABLE: Final = re.compile(r"[A-Za-z0-9._-]{1,64}")

Context: TypeAlias = "grpc.aio.ServicerContext[Message, Message]"


class Kind(StrEnum):
    """The kinds of methods, by the names that the standard metrics use."""

    UNARY = "unary"
    SERVER_STREAM = "server_stream"
    BIDI_STREAM = "bidi_stream"


@dataclass(frozen=True, slots=True)
class Method:
    """A method of the API. `parse` reads its request and raises `DecodeError` on bytes that are
    none.
    """

    service: str
    name: str
    kind: Kind
    parse: Callable[[bytes], Message]

    @property
    def full(self) -> str:
        """The path on the wire, such as `/kafeneio.rules.v1.GameService/Act`."""
        return f"/{self.service}/{self.name}"


class Call:
    """One call in progress: what the layers have found out about it so far."""

    __slots__ = (
        "_digest",
        "_metadata",
        "_request_id",
        "caller",
        "context",
        "message_sent",
        "method",
        "raw",
        "refusal",
        "request",
    )

    def __init__(self, method: Method, request: Message | bytes, context: Context) -> None:
        self.method = method
        self.raw = request if isinstance(request, bytes) else b""
        self.context = context
        self.request = request
        self._request_id: str | None = None
        self.caller: Caller | None = None
        self.refusal: Refusal | None = None
        self.message_sent: Callable[[], None] | None = None
        self._metadata: Mapping[str, str | bytes] | None = None
        self._digest: bytes | None = None

    @property
    def metadata(self) -> Mapping[str, str | bytes]:
        """The call's headers; of a header given twice, the last."""
        if self._metadata is None:
            self._metadata = dict(
                cast(Sequence[tuple[str, str | bytes]], self.context.invocation_metadata() or ())
            )
        return self._metadata

    @property
    def request_id(self) -> str:
        """Under which the call is logged, and its caller told of a refusal: the client's own
        `x-request-id` if it may stand in a log, else a new one, made when it is first asked for.
        """
        if self._request_id is None:
            given = self.metadata.get(REQUEST_ID_HEADER)
            fine = isinstance(given, str) and _ACCEPTABLE.fullmatch(given)
            self._request_id = str(given) if fine else str(new_id())
        return self._request_id

    @property
    def digest(self) -> bytes:
        """SHA-256 of what the client asked: tells a call sent again from another one under the
        same id. Of the method and the message, and not of its bytes, in which a map may come in any
        order.
        """
        if self._digest is None:
            request = cast(Message, self.request)  # `decode` has parsed it
            body = request.SerializeToString(deterministic=True)
            self._digest = hashlib.sha256(self.method.name.encode() + b"\0" + body).digest()
        return self._digest


current_call: Final[ContextVar[Call]] = ContextVar("kafeneio_call")
"""grpc runs each call in a task of its own, so what is set there stays there."""
