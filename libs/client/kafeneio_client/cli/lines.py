"""What a person types, line by line, without stopping the event loop."""

from __future__ import annotations

import asyncio
import io
import os
import sys
import threading
from collections.abc import Iterator
from typing import Final

_CHUNK_BYTES: Final = 4096


class Lines:
    """The lines of standard input as they come; None once, at its end.

    Reading is done in a thread that nobody waits for: a game may end while nothing is typed.
    """

    def __init__(self) -> None:
        self._queue: asyncio.Queue[str | None] = asyncio.Queue()

    def start(self) -> None:
        """Begin to read; call it in the running event loop."""
        loop = asyncio.get_running_loop()
        threading.Thread(target=self._read, args=(loop,), daemon=True).start()

    async def next(self) -> str | None:
        """The next line without its end, None when there is no more."""
        return await self._queue.get()

    def _read(self, loop: asyncio.AbstractEventLoop) -> None:
        try:
            for line in _typed():
                loop.call_soon_threadsafe(self._queue.put_nowait, line)
            loop.call_soon_threadsafe(self._queue.put_nowait, None)
        except RuntimeError:
            return  # the loop is closed: the game is over, and nobody asks any more


def _typed() -> Iterator[str]:
    """Lines of standard input.

    Read from the descriptor: a thread that waits inside of `sys.stdin` holds a lock that the
    interpreter needs in order to end.
    """
    try:
        descriptor = sys.stdin.fileno()
    except (io.UnsupportedOperation, AttributeError):
        yield from (line.rstrip("\r\n") for line in sys.stdin)
        return
    rest = b""
    while chunk := os.read(descriptor, _CHUNK_BYTES):
        *lines, rest = (rest + chunk).split(b"\n")
        yield from (line.decode(errors="replace").rstrip("\r") for line in lines)
    if rest:
        yield rest.decode(errors="replace")
