"""Traces: which call led to which, across the services. Off unless KAFENEIO_OTLP_ENDPOINT is set.

What the rest of the runtime knows of them; `otlp` alone knows OpenTelemetry, and is imported only
where traces are on. A trace belongs to the process: `exporting` is put around all that serves.

**The trace of a game has the game's id.** What a service does by itself for a game (its calls to
peers, its handling of events) belongs to that trace; so it needs no room in events and tables, and
goes on where another replica does. What a client asks for is a trace of his own, or goes on with
his; the span says which game it is about.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from contextlib import AbstractContextManager, asynccontextmanager
from typing import TYPE_CHECKING, Protocol, TypeVar

import grpc

if TYPE_CHECKING:
    from uuid import UUID

    from kafeneio_runtime.calls import Method
    from kafeneio_runtime.settings import Settings


class Happening(Protocol):
    """An event, as far as a trace tells of it: a `bus.Event`."""

    @property
    def subject(self) -> str:
        """The stream."""
        ...

    @property
    def key(self) -> UUID:
        """The game."""
        ...

    @property
    def type(self) -> str:
        """What has happened."""
        ...


Happened = TypeVar("Happened", bound=Happening)


class CallSpan(Protocol):
    """A call that is being answered."""

    def end(self, code: grpc.StatusCode, request: object) -> None:
        """How it has ended, and what was asked, as far as that was read."""
        ...


class Tracer(Protocol):
    """What a system of traces must do. Nobody outside of this module and the layers calls it."""

    def answering(
        self, method: Method, metadata: Mapping[str, str | bytes]
    ) -> AbstractContextManager[CallSpan]:
        """Around the answering of a call."""
        ...

    def handling(
        self, consumer: str, events: Sequence[Happening]
    ) -> AbstractContextManager[object]:
        """Around the handling of events of one subject."""
        ...

    def interceptors(self) -> Sequence[grpc.aio.ClientInterceptor]:
        """For the channels to peers."""
        ...

    def trace_id(self) -> str | None:
        """Of the work in progress, as 32 hexadecimal digits; None where it is in no trace."""
        ...

    def close(self) -> None:
        """Sends what is left, for a few seconds. Blocks."""
        ...


_tracer: Tracer | None = None


@asynccontextmanager
async def exporting(settings: Settings, name: str) -> AsyncIterator[None]:
    """While the block lasts, traces of this process are sent to the settings' endpoint, if they
    name one; `name` is what the process is called there. Raises SystemExit where the packages for
    it are missing.
    """
    global _tracer
    if settings.otlp_endpoint is None:
        yield
        return
    try:
        from kafeneio_runtime import otlp
    except ImportError as error:
        raise SystemExit(
            f"KAFENEIO_OTLP_ENDPOINT needs the extra kafeneio-runtime[tracing] ({error})."
        ) from None
    before, _tracer = _tracer, otlp.Otlp(settings.otlp_endpoint, settings.otlp_ratio, name)
    mine = _tracer
    try:
        yield
    finally:
        _tracer = before
        await asyncio.to_thread(mine.close)


def tracer() -> Tracer | None:
    """What traces this process; None where nothing does."""
    return _tracer


def trace_id() -> str | None:
    """The trace of the work in progress, for its log lines."""
    return None if _tracer is None else _tracer.trace_id()


def interceptors() -> Sequence[grpc.aio.ClientInterceptor]:
    """For a channel to a peer: they note each call, and tell the peer in which trace it is."""
    return () if _tracer is None else _tracer.interceptors()


def traced(
    consumer: str, handler: Callable[[Sequence[Happened]], Awaitable[None]]
) -> Callable[[Sequence[Happened]], Awaitable[None]]:
    """The handler of a consumer, with a span around it where traces are on."""
    found = _tracer
    if found is None:
        return handler

    async def handling(events: Sequence[Happened]) -> None:
        with found.handling(consumer, events):
            await handler(events)

    return handling
