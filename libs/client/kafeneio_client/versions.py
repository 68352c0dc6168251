"""The stream of something that has versions: as it stands, then each change."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol, TypeVar

from google.protobuf.message import Message

from kafeneio_client.watch import Source, Stream


class Versioned(Protocol):
    """What grows by one with every change."""

    version: int


M = TypeVar("M", bound=Message)
V = TypeVar("V", bound=Versioned)


class Versions(Source[M, V]):
    """The changes of one thing after a version; `read` finds it in a message, if it is there, and
    `is_final` says whether nothing that matters follows."""

    def __init__(
        self,
        open_stream: Callable[[int], Stream[M]],
        read: Callable[[M], V | None],
        is_final: Callable[[V], bool],
        version: int,
    ) -> None:
        self._open_stream = open_stream
        self._read = read
        self._is_final = is_final
        self._version = version
        self._after = version

    def open(self) -> Stream[M]:
        return self._open_stream(self._after)

    def take(self, message: M) -> V | None:
        found = self._read(message)
        if found is None:
            return None
        self.finished = self._is_final(found)
        if found.version <= self._version:
            return None
        self._version = self._after = found.version
        return found

    async def ended(self) -> None:
        """Perhaps there is nothing after the version: the next stream shows it as it is."""
        self._after = 0
