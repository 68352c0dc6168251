"""A stream of a game that outlives its connections."""

from __future__ import annotations

import asyncio
import random
from collections.abc import AsyncGenerator, Awaitable, Callable
from typing import Final

import grpc
from kafeneio.rules.v1 import game_pb2 as pb

from kafeneio_client.errors import KafeneioError, Refused, Unreachable, from_rpc
from kafeneio_client.time import Time

SILENCE_SECONDS: Final = 25.0
"""A heartbeat comes every 10 s: a stream that is silent for so long is dead."""

PATIENCE_SECONDS: Final = 60.0
"""How long to try, without one message heard, before giving the house up."""

_BACKOFF_FIRST_SECONDS: Final = 0.1
_BACKOFF_MAX_SECONDS: Final = 2.0
_OVER: Final = frozenset({pb.GAME_STATUS_FINISHED, pb.GAME_STATUS_CANCELLED})
# How gRPC tells of a connection that broke in the midst of a stream.
_BROKEN: Final = frozenset({grpc.StatusCode.INTERNAL, grpc.StatusCode.UNKNOWN})

Stream = grpc.aio.UnaryStreamCall[pb.WatchGameRequest, pb.WatchGameResponse]


def is_over(position: pb.Position) -> bool:
    """Whether nothing can happen any more."""
    return position.status in _OVER


class Watcher:
    """Follows one game from one version on; `updates` yields each row of its log once, in order."""

    def __init__(
        self,
        open_stream: Callable[[int], Stream],
        get_position: Callable[[], Awaitable[pb.Position]],
        time: Time,
        address: str,
        after_version: int,
    ) -> None:
        self._open_stream = open_stream
        self._get_position = get_position
        self._time = time
        self._address = address
        self._version = after_version
        self._backoff = _BACKOFF_FIRST_SECONDS
        self._heard_at = time.monotonic()

    async def updates(self) -> AsyncGenerator[pb.GameUpdate, None]:
        """Every row after the version, until the game is over.

        Refused where the house does not want to show it, Unreachable after a minute without it.
        """
        while True:
            stream = self._open_stream(self._version)
            trouble: KafeneioError | None = None
            try:
                while (message := await self._next(stream)) is not None:
                    if message.HasField("draining"):
                        break
                    self._heard()
                    if self._is_next(message):
                        self._version = message.update.position.version
                        yield message.update
                        if is_over(message.update.position):
                            return
                else:
                    if await self._ended_for_good():
                        return
            except grpc.aio.AioRpcError as error:
                trouble = from_rpc(error, self._address)
            except KafeneioError as error:
                trouble = error
            finally:
                stream.cancel()
            await self._pause(trouble)

    async def _next(self, stream: Stream) -> pb.WatchGameResponse | None:
        """The next message, None at the end; Unreachable after too long a silence."""
        reading = asyncio.ensure_future(stream.read())
        silence = asyncio.ensure_future(self._time.sleep(SILENCE_SECONDS))
        try:
            await asyncio.wait({reading, silence}, return_when=asyncio.FIRST_COMPLETED)
            if not reading.done():
                raise Unreachable(self._address, f"no heartbeat for {SILENCE_SECONDS:.0f} s")
            message = reading.result()
            return message if isinstance(message, pb.WatchGameResponse) else None
        finally:
            reading.cancel()
            silence.cancel()

    def _is_next(self, message: pb.WatchGameResponse) -> bool:
        """Whether it is a row that has not been seen; a resumed stream may repeat one."""
        return message.HasField("update") and message.update.position.version > self._version

    async def _ended_for_good(self) -> bool:
        """A stream ends without a word when the game was over before: then there is no more."""
        position = await self._get_position()
        return is_over(position) and position.version <= self._version

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
