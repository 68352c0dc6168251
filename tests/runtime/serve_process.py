"""A process that serves the test service, for tests that send it signals. It tells its addresses on
standard output.
"""

import asyncio
import json
import sys
from collections.abc import AsyncIterator, Mapping
from pathlib import Path

from google.protobuf.message import Message
from kafeneio_runtime.auth import token_verifier
from kafeneio_runtime.serve import Service, run, serve

from tests.runtime import echo
from tests.runtime.house import service, settings


def tell(line: Mapping[str, str]) -> None:
    sys.stdout.write(json.dumps(dict(line)) + "\n")
    sys.stdout.flush()


def build(mode: str) -> Service:
    servicer = echo.Servicer()
    gate = asyncio.Event()

    async def fail() -> None:
        await gate.wait()
        raise RuntimeError("broken")

    async def flush() -> None:
        tell({"event": "flushed"})

    async def close() -> None:
        tell({"event": "closed"})

    made = service(
        servicer,
        background=(fail,) if mode == "fail" else (),
        flushing=flush,
        closing=close,
    )

    async def until_drained(_request: Message) -> AsyncIterator[Message]:
        yield echo.response("hello")
        await made.draining.wait()
        yield echo.response("goodbye")

    async def answer_late(request: Message) -> Message:
        if echo.text_of(request) == "fail":
            gate.set()
        elif echo.text_of(request) == "late":
            tell({"event": "waiting"})
            await made.draining.wait()
        return await echo.echo(request)

    servicer.watch = until_drained
    servicer.echo = answer_late
    return made


async def main(mode: str, folder: Path) -> None:
    chosen = settings(data_dir=folder, metrics_port=0)
    token_verifier(chosen)
    await serve([build(mode)], chosen, tell)


if __name__ == "__main__":
    run(main(sys.argv[1], Path(sys.argv[2])))
