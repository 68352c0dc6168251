"""A bare grpc.aio server that answers with what it was asked: no call can cost less."""

from __future__ import annotations

import asyncio
import json
import os
import signal
from pathlib import Path

import grpc
import uvloop


async def echo(request: bytes, context: object) -> bytes:
    """The request."""
    return request


async def main() -> None:
    """Serve until SIGTERM."""
    handler: grpc.RpcMethodHandler[bytes, bytes] = grpc.unary_unary_rpc_method_handler(
        echo, None, None
    )
    server = grpc.aio.server()
    server.add_generic_rpc_handlers(
        (grpc.method_handlers_generic_handler("bench.Echo", {"Echo": handler}),)
    )
    port = server.add_insecure_port("127.0.0.1:0")
    await server.start()
    ready = Path(os.environ["KAFENEIO_READY_FILE"])
    draft = ready.with_suffix(".draft")
    draft.write_text(json.dumps({"echo": f"127.0.0.1:{port}"}))
    draft.replace(ready)
    stop = asyncio.Event()
    asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, stop.set)
    await stop.wait()
    await server.stop(1)


uvloop.run(main())
