"""A stream that outlives its connections: opened again where it ended, whatever it is about.

What one kind of stream says and where it goes on is its `Source`; `Watcher` does the rest.
"""

from __future__ import annotations

import asyncio
import random
from abc import ABC, abstractmethod
from collections.abc import AsyncGenerator
from typing import Any, Final, Generic, TypeAlias, TypeVar, cast

import grpc
from google.protobuf.message import Message

from kafeneio_client.errors import KafeneioError, Refused, Unreachable, from_rpc
from kafeneio_client.time import Time

M = TypeVar("M", bound=Message)
T = TypeVar("T")

SILENCE_SECONDS: Final = 25.0
"""A heartbeat comes every 10 s: a stream that is silent for so long is dead."""

PATIENCE_SECONDS: Final = 60.0
"""How long to try, without one message heard, before giving the house up."""

_BACKOFF_FIRST_SECONDS: Final = 0.1
_BACKOFF_MAX_SECONDS: Final = 2.0
# How gRPC tells of a connection that broke in the midst of a stream.
_BROKEN: Final = frozenset({grpc.StatusCode.INTERNAL, grpc.StatusCode.UNKNOWN})

Stream: TypeAlias = grpc.aio.UnaryStreamCall[Any, M]


class Source(ABC, Generic[M, T]):
    """One kind of stream: how it is opened, and what of its messages is new."""

    finished: bool = False
    """Whether nothing more can come after what was taken."""

    @abstractmethod
    def open(self) -> Stream[M]:
        """The stream of everything after what was taken."""

    @abstractmethod
    def take(self, message: M) -> T | None:
        """What is new in a message; None where it is a heartbeat, or was seen before."""

    async def ended(self) -> None:
        """A stream has ended without a word: find out whether it is `finished`."""


class Watcher(Generic[M, T]):
    """Follows one source; `updates` yields what is new in it, once and in order."""

    def __init__(self, source: Source[M, T], time: Time, address: str) -> None:
        self._source = source
        self._time = time
        self._address = address
        self._backoff = _BACKOFF_FIRST_SECONDS
        self._heard_at = time.monotonic()
        self._cut = asyncio.Event()

    async def updates(self) -> AsyncGenerator[T, None]:
        """Everything that is new, until the source is finished.

        Refused where the house does not want to show it, Unreachable after a minute without it.
        """
        while True:
            self._cut.clear()
            stream = self._source.open()
            trouble: KafeneioError | None = None
            try:
                while (message := await self._next(stream)) is not None:
                    if message.HasField("draining"):
                        break
                    self._heard()
                    if (new := self._source.take(message)) is not None:
                        yield new
                    if self._source.finished:
                        return
                else:
                    await self._source.ended()
            except grpc.aio.AioRpcError as error:
                trouble = from_rpc(error, self._address)
            except KafeneioError as error:
                trouble = error
            finally:
                stream.cancel()
            if self._source.finished:
                return
            await self._pause(trouble)

    def reopen(self) -> None:
        """Drop the stream that is open: its other end is known to be gone."""
        self._cut.set()

    async def _next(self, stream: Stream[M]) -> M | None:
        """The next message, None at the end; Unreachable after too long a silence."""
        reading = asyncio.ensure_future(stream.read())
        silence = asyncio.ensure_future(self._time.sleep(SILENCE_SECONDS))
        cut = asyncio.ensure_future(self._cut.wait())
        try:
            await asyncio.wait({reading, silence, cut}, return_when=asyncio.FIRST_COMPLETED)
            if reading.done():
                message = reading.result()
                return None if message is grpc.aio.EOF else cast(M, message)
            if cut.done():
                raise Unreachable(self._address, "the other end of the stream is gone")
            raise Unreachable(self._address, f"no heartbeat for {SILENCE_SECONDS:.0f} s")
        finally:
            for task in (reading, silence, cut):
                task.cancel()

    def _heard(self) -> None:
        self._heard_at = self._time.monotonic()
        self._backoff = _BACKOFF_FIRST_SECONDS

    async def _pause(self, trouble: KafeneioError | None) -> None:
        """Wait before the next attempt, or raise what no attempt can mend."""
        delay = self._backoff * random.uniform(0.5, 1.0)  # so that a thousand do not come at once
        if isinstance(trouble, Refused):
            if trouble.retry_after is None and (trouble.reason or trouble.code not in _BROKEN):
                raise trouble
            delay = max(delay, trouble.retry_after or 0.0)
        silent_for = self._time.monotonic() - self._heard_at
        if silent_for + delay > PATIENCE_SECONDS:
            raise Unreachable(
                self._address, f"{_reason(trouble)}, for {silent_for:.0f} s"
            ) from trouble
        self._backoff = min(2 * self._backoff, _BACKOFF_MAX_SECONDS)
        await self._time.sleep(delay)


def _reason(trouble: KafeneioError | None) -> str:
    if trouble is None:
        return "the stream ends again and again"
    return trouble.why if isinstance(trouble, Unreachable) else trouble.message
