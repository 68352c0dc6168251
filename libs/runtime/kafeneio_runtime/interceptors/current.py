"""What code deep inside a call may ask about it."""

from kafeneio_runtime.auth import Caller
from kafeneio_runtime.calls import current_call


def caller() -> Caller:
    """Who is calling. Raises LookupError outside of a call."""
    found = current_call.get().caller
    if found is None:
        raise LookupError("this call is open to anybody: it has no caller")
    return found


def request_id() -> str:
    """The id under which this call is logged. Raises LookupError outside of a call."""
    return current_call.get().request_id


def request_digest() -> bytes:
    """SHA-256 of the request as the client sent it. Raises LookupError outside of a call."""
    return current_call.get().digest


def remaining_time() -> float | None:
    """Seconds until the caller gives up, to be passed on as the timeout of further calls; None if
    he waits for ever.
    """
    remaining: float | None = current_call.get().context.time_remaining()  # the stub omits None
    return remaining
