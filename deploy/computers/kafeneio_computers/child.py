"""The worker as the child of a house (`python -m kafeneio_computers.child`): it ends with it.

The house holds the other end of our standard input open for as long as it lives.
"""

from __future__ import annotations

import asyncio
import os
import signal
import sys

from kafeneio_computers.main import start


async def end_with_the_house() -> None:
    """End this process when nobody holds our standard input open any more."""
    reader = asyncio.StreamReader()
    protocol = asyncio.StreamReaderProtocol(reader)
    await asyncio.get_running_loop().connect_read_pipe(lambda: protocol, sys.stdin)
    await reader.read()
    os.kill(os.getpid(), signal.SIGTERM)
    await asyncio.Event().wait()


if __name__ == "__main__":
    start(end_with_the_house)
