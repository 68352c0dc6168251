"""Refusals: everything that a caller may be told.

    Refusal                        code                  reason
    ├── malformed                  INVALID_ARGUMENT      MALFORMED, with BadRequest
    ├── unauthenticated            UNAUTHENTICATED       TOKEN_…
    ├── forbidden                  PERMISSION_DENIED     ROLE_REQUIRED, NOT_YOUR_SEAT
    ├── not_found                  NOT_FOUND             …_UNKNOWN
    ├── failed                     FAILED_PRECONDITION   what the state of things forbids
    │   └── illegal                                      ILLEGAL_ACTION, with the rule
    ├── stale                      ABORTED               STALE_VERSION, with the current version
    ├── exists                     ALREADY_EXISTS        REQUEST_ID_REUSED, GAME_EXISTS
    ├── not_yet                    OUT_OF_RANGE          NOT_YET, with the current version
    ├── exhausted                  RESOURCE_EXHAUSTED    RATE_LIMITED, with RetryInfo
    └── unavailable                UNAVAILABLE           UNAVAILABLE, with RetryInfo

Whoever finds that a call can't be done raises one; one interceptor turns it into a status with
`google.rpc` details, of which a LocalizedMessage says the reason in Greek. Anything else that is
raised is our fault: it becomes INTERNAL, is logged whole, and tells the caller nothing.
"""

from collections.abc import Mapping
from datetime import timedelta
from functools import cache
from typing import Final, Never, TypeAlias

import asyncpg
import grpc
from google.protobuf.any_pb2 import Any as Packed
from google.protobuf.duration_pb2 import Duration
from google.protobuf.message import Message
from google.rpc import error_details_pb2, status_pb2
from grpc_status import rpc_status
from kafeneio.common.v1 import errors_pb2

from kafeneio_runtime.greek import SENTENCES

DOMAIN: Final = "kafeneio"
REQUEST_ID_HEADER: Final = "x-request-id"

Reason: TypeAlias = errors_pb2.ErrorReason.ValueType
Violations: TypeAlias = tuple[tuple[str, str], ...]


class Refusal(Exception):  # noqa: N818 (an answer, not a failure of ours)
    """A call that is not carried out, and what its caller is told about it. It has changed nothing.

    `metadata` is what a client needs to act on the reason; `retry_after` is in seconds;
    `violations` are pairs of a field's path and what is wrong with it. All of it reaches the
    caller, so none of it may be secret.
    """

    def __init__(
        self,
        code: grpc.StatusCode,
        reason: Reason,
        message: str,
        *,
        metadata: Mapping[str, str] | None = None,
        retry_after: float | None = None,
        violations: Violations = (),
    ) -> None:
        super().__init__(message)
        self.code = code
        self.reason = reason
        self.message = message
        self.metadata: Mapping[str, str] = metadata or {}
        self.retry_after = retry_after
        self.violations = violations

    @property
    def reason_name(self) -> str:
        """The reason as clients see it, such as `STALE_VERSION`."""
        return errors_pb2.ErrorReason.Name(self.reason).removeprefix("ERROR_REASON_")


def malformed(field: str, text: str) -> Refusal:
    """The request's `field` can't be read or breaks its rule."""
    return malformed_fields(((field, text),))


def malformed_fields(violations: Violations) -> Refusal:
    """The request breaks the rules of several fields."""
    message = "; ".join(f"{field}: {text}" if field else text for field, text in violations)
    return Refusal(
        grpc.StatusCode.INVALID_ARGUMENT,
        errors_pb2.ERROR_REASON_MALFORMED,
        message,
        violations=violations,
    )


def unauthenticated(reason: Reason, text: str) -> Refusal:
    """We don't know who is calling."""
    return Refusal(grpc.StatusCode.UNAUTHENTICATED, reason, text)


def forbidden(reason: Reason, text: str, **metadata: str) -> Refusal:
    """We know who is calling, and he may not."""
    return Refusal(grpc.StatusCode.PERMISSION_DENIED, reason, text, metadata=metadata)


def not_found(reason: Reason, text: str) -> Refusal:
    """What the call speaks of does not exist."""
    return Refusal(grpc.StatusCode.NOT_FOUND, reason, text)


def failed(reason: Reason, text: str, **metadata: str) -> Refusal:
    """What the call asks for can't be done as things stand."""
    return Refusal(grpc.StatusCode.FAILED_PRECONDITION, reason, text, metadata=metadata)


def illegal(rule: str, detail: str) -> Refusal:
    """The rules of the game forbid the action; `rule` is the id that the rule text explains."""
    return failed(errors_pb2.ERROR_REASON_ILLEGAL_ACTION, detail, rule=rule)


def stale(current_version: int) -> Refusal:
    """The game has moved on since the caller looked."""
    return Refusal(
        grpc.StatusCode.ABORTED,
        errors_pb2.ERROR_REASON_STALE_VERSION,
        f"the game is at version {current_version}",
        metadata={"version": str(current_version)},
    )


def exists(reason: Reason, text: str) -> Refusal:
    """The id is taken by something else."""
    return Refusal(grpc.StatusCode.ALREADY_EXISTS, reason, text)


def not_yet(current_version: int) -> Refusal:
    """The version or sequence asked for has not come yet."""
    return Refusal(
        grpc.StatusCode.OUT_OF_RANGE,
        errors_pb2.ERROR_REASON_NOT_YET,
        f"only up to {current_version} has happened",
        metadata={"version": str(current_version)},
    )


def exhausted(text: str, retry_after: float) -> Refusal:
    """Too many calls; the next is welcome in `retry_after` seconds."""
    return Refusal(
        grpc.StatusCode.RESOURCE_EXHAUSTED,
        errors_pb2.ERROR_REASON_RATE_LIMITED,
        text,
        retry_after=retry_after,
    )


def unavailable(text: str, retry_after: float = 1.0) -> Refusal:
    """The house can't answer now; the same call may be sent again in `retry_after` seconds."""
    return Refusal(
        grpc.StatusCode.UNAVAILABLE,
        errors_pb2.ERROR_REASON_UNAVAILABLE,
        text,
        retry_after=retry_after,
    )


def internal() -> Refusal:
    """Our fault. Says nothing: the log has all of it under the request's id."""
    return Refusal(grpc.StatusCode.INTERNAL, errors_pb2.ERROR_REASON_INTERNAL, "internal error")


_STORE_AWAY: Final = (
    ConnectionError,  # refused or reset below asyncpg
    asyncpg.PostgresConnectionError,  # class 08
    asyncpg.OperatorInterventionError,  # class 57: shutting down, starting up, cancelled
    asyncpg.InsufficientResourcesError,  # class 53: no connection or memory left
    asyncpg.SerializationError,  # a transaction that may simply be run again
    asyncpg.DeadlockDetectedError,
    asyncpg.InternalClientError,  # what asyncpg stumbles over when a connection dies in its hands
)

_CLOSED_CONNECTION: Final = ("connection is closed", "pool is clos")


def is_store_trouble(error: BaseException) -> bool:
    """Whether `error` says that PostgreSQL is away or busy, and not that we asked it something
    wrong.
    """
    if isinstance(error, asyncpg.InterfaceError):
        # asyncpg has one class both for misuse and for a connection that has gone; only its text
        # tells them apart.
        return any(text in str(error) for text in _CLOSED_CONNECTION)
    return isinstance(error, _STORE_AWAY)


async def refuse(
    context: "grpc.aio.ServicerContext[Message, Message]", refusal: Refusal, request_id: str = ""
) -> Never:
    """Ends the call with the refusal's status and details, by raising what grpc raises then."""
    status = rpc_status.to_status(_status(refusal, request_id))
    trailers = (*status.trailing_metadata, (REQUEST_ID_HEADER, request_id))
    await context.abort(status.code, status.details, trailers)


def _status(refusal: Refusal, request_id: str) -> status_pb2.Status:
    info = error_details_pb2.ErrorInfo(
        reason=refusal.reason_name, domain=DOMAIN, metadata=refusal.metadata
    )
    details: list[Message] = [info]
    if refusal.violations:
        fields = [
            error_details_pb2.BadRequest.FieldViolation(field=field, description=text)
            for field, text in refusal.violations
        ]
        details.append(error_details_pb2.BadRequest(field_violations=fields))
    if refusal.retry_after is not None:
        delay = Duration()
        delay.FromTimedelta(timedelta(seconds=refusal.retry_after))
        details.append(error_details_pb2.RetryInfo(retry_delay=delay))
    details.append(error_details_pb2.RequestInfo(request_id=request_id))
    status = status_pb2.Status(code=refusal.code.value[0], message=refusal.message)
    status.details.extend(map(_packed, details))
    # A test demands a sentence for each reason; without one the rest is told all the same.
    if refusal.reason_name in SENTENCES:
        status.details.append(_in_greek(refusal.reason_name))
    return status


@cache
def _in_greek(reason_name: str) -> Packed:
    """Always the same for a reason, so it is made once."""
    return _packed(error_details_pb2.LocalizedMessage(locale="el", message=SENTENCES[reason_name]))


def _packed(detail: Message) -> Packed:
    packed = Packed()
    packed.Pack(detail)
    return packed
