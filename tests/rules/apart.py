"""`rules` in a process of its own, with its real logs and metrics; and an ear for its answers."""

from __future__ import annotations

import asyncio
import base64
import json
import os
import socket
import sys
from asyncio.subprocess import PIPE, Process
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.request import urlopen

import grpc
from google.protobuf.message import Message

from tests.harness import PATIENCE


@dataclass
class Ear(grpc.aio.UnaryUnaryClientInterceptor):
    """Hears every answer of a channel, and every refusal with all its trailers."""

    heard: list[bytes] = field(default_factory=list)

    async def intercept_unary_unary(
        self,
        continuation: Callable[[Any, Any], Awaitable[Any]],
        client_call_details: Any,
        request: Any,
    ) -> Any:
        call = await continuation(client_call_details, request)
        try:
            answer = await call
        except grpc.aio.AioRpcError as error:
            self.heard.append(repr((error.details(), error.trailing_metadata())).encode())
            raise
        assert isinstance(answer, Message)
        self.heard.append(answer.SerializeToString())
        return answer


@dataclass
class Apart:
    """A process, with all that it has written so far."""

    process: Process
    metrics_port: int
    lines: list[bytes] = field(default_factory=list)
    address: str = ""
    _more: asyncio.Condition = field(default_factory=asyncio.Condition)

    async def listen(self, open_now: asyncio.Event) -> None:
        """Keeps its lines until it ends."""
        assert self.process.stderr is not None
        async for line in self.process.stderr:
            self.lines.append(line)
            async with self._more:
                self._more.notify_all()
            told = json.loads(line)
            if told["event"] == "serving":
                self.address = told["address"]
                open_now.set()

    async def logged(self, text: bytes) -> bytes:
        """All lines so far, as soon as one has the text: the last may be on their way."""
        async with asyncio.timeout(PATIENCE), self._more:
            await self._more.wait_for(lambda: any(text in line for line in self.lines))
        return b"".join(self.lines)

    def metrics(self) -> bytes:
        """What Prometheus is told. Blocks."""
        with urlopen(f"http://127.0.0.1:{self.metrics_port}/metrics", timeout=PATIENCE) as page:
            return bytes(page.read())


def free_port() -> int:
    """A port that nobody uses."""
    with socket.create_server(("127.0.0.1", 0)) as listening:
        return int(listening.getsockname()[1])


@asynccontextmanager
async def apart(url: str, folder: Path) -> AsyncIterator[Apart]:
    """`rules` in a process of its own, which tells its log all that it ever would."""
    port = free_port()
    told = {
        "KAFENEIO_DATABASE_URL": url,
        "KAFENEIO_DATA_DIR": str(folder),
        "KAFENEIO_RULES_PORT": "0",
        "KAFENEIO_METRICS_PORT": str(port),
        "KAFENEIO_LOG_LEVEL": "debug",
        "KAFENEIO_DRAIN_SECONDS": "0",
        "KAFENEIO_RATE_LIMIT_PER_SECOND": "1000000",
        "KAFENEIO_RATE_LIMIT_BURST": "1000000",
    }
    ours = {name: value for name, value in os.environ.items() if "KAFENEIO" not in name}
    process = await asyncio.create_subprocess_exec(
        sys.executable,
        "-c",
        "from kafeneio_rules.main import main; main()",
        stderr=PIPE,
        env=ours | told,
    )
    found, open_now = Apart(process, port), asyncio.Event()
    listening = asyncio.create_task(found.listen(open_now))
    try:
        async with asyncio.timeout(PATIENCE):
            await open_now.wait()
        yield found
    finally:
        process.terminate()
        await process.wait()
        await listening
    assert process.returncode == 0


def written(secret: bytes) -> list[bytes]:
    """The ways in which bytes may stand in a text."""
    return [
        secret,
        secret.hex().encode(),
        secret.hex().upper().encode(),
        base64.b64encode(secret).rstrip(b"="),
        base64.urlsafe_b64encode(secret).rstrip(b"="),
        repr(secret)[2:-1].encode(),
    ]
