"""What can go wrong with a call.

KafeneioError
|- Refused        the house answered, and said no; `reason` says why, nothing has changed
`- Unreachable    nobody answered; the same call may be sent again with the same `request_id`
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Final

import grpc
from google.protobuf.message import DecodeError
from google.rpc import error_details_pb2, status_pb2

_DETAILS_KEY: Final = "grpc-status-details-bin"
_DOMAIN: Final = "kafeneio"
# Without details of the house these come from the connection, not from a decision of anybody.
_CONNECTION_CODES: Final = frozenset(
    {grpc.StatusCode.UNAVAILABLE, grpc.StatusCode.DEADLINE_EXCEEDED, grpc.StatusCode.CANCELLED}
)


class KafeneioError(Exception):
    """A call that did not succeed; `request_id` is the one that it was sent with, else ""."""

    def __init__(self, message: str, request_id: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.request_id = request_id


class Unreachable(KafeneioError):  # noqa: N818 - a state of things, not a fault
    """Nobody answered at `address`, or not in time: whether the call had its effect is unknown."""

    def __init__(self, address: str, why: str, request_id: str = "") -> None:
        super().__init__(f"no answer from {address}: {why}", request_id)
        self.address = address
        self.why = why


class Refused(KafeneioError):  # noqa: N818 - an answer, not a fault
    """The house said no.

    `reason` is a name of `kafeneio.common.v1.ErrorReason` without its prefix ("STALE_VERSION"), or
    "" where the house gave none. `rule` is the rule book's id of an illegal action ("V2.3").
    `violations` are (field, what is wrong with it). `retry_after` is in seconds. `greek` is a
    sentence about the reason for a Greek reader, or "" where the house gave none.
    """

    def __init__(
        self,
        code: grpc.StatusCode,
        reason: str,
        message: str,
        *,
        metadata: Mapping[str, str] = MappingProxyType({}),
        violations: Sequence[tuple[str, str]] = (),
        retry_after: float | None = None,
        request_id: str = "",
        greek: str = "",
    ) -> None:
        super().__init__(message, request_id)
        self.code = code
        self.reason = reason
        self.metadata = MappingProxyType(dict(metadata))
        self.violations = tuple(violations)
        self.retry_after = retry_after
        self.greek = greek

    @property
    def rule(self) -> str:
        """The id of the rule that forbids the action, else ""."""
        return self.metadata.get("rule", "")

    @property
    def version(self) -> int | None:
        """The version that the game is at, where the house told it."""
        text = self.metadata.get("version", "")
        return int(text) if text.isdecimal() else None


def from_rpc(error: grpc.aio.AioRpcError, address: str, request_id: str = "") -> KafeneioError:
    """The typed error of a failed call to the service at `address`."""
    message = error.details() or error.code().name
    status = _status(error)
    info = error_details_pb2.ErrorInfo()
    bad = error_details_pb2.BadRequest()
    retry = error_details_pb2.RetryInfo()
    retry_after: float | None = None
    localized = error_details_pb2.LocalizedMessage()
    greek = ""
    known = False
    for detail in status.details:
        if detail.Unpack(info):
            known = info.domain == _DOMAIN
        elif detail.Unpack(retry):
            retry_after = retry.retry_delay.ToTimedelta().total_seconds()
        elif detail.Unpack(localized):
            greek = localized.message if localized.locale == "el" else greek
        else:
            detail.Unpack(bad)
    if not known and error.code() in _CONNECTION_CODES:
        return Unreachable(address, message, request_id)
    return Refused(
        error.code(),
        info.reason if known else "",
        message,
        metadata=dict(info.metadata) if known else {},
        violations=[(one.field, one.description) for one in bad.field_violations],
        retry_after=retry_after,
        request_id=request_id,
        greek=greek,
    )


def _status(error: grpc.aio.AioRpcError) -> status_pb2.Status:
    """The google.rpc.Status of the trailers; an empty one where there is none or it is garbled."""
    for key, value in error.trailing_metadata() or ():
        if key == _DETAILS_KEY and isinstance(value, bytes):
            try:
                return status_pb2.Status.FromString(value)
            except DecodeError:
                break  # a proxy may have cut it: the code and the message still stand
    return status_pb2.Status()
