"""gRPC-Web as a browser speaks it: HTTP/1.1, frames, and trailers in the body."""

from __future__ import annotations

import asyncio
import base64
import http.client
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Final

from google.protobuf.message import Message

PROTO: Final = "application/grpc-web+proto"
TEXT: Final = "application/grpc-web-text"
_TRAILER: Final = 0x80
_PATIENCE: Final = 15.0


@dataclass(frozen=True)
class Answer:
    """What has come back: headers in lower case, messages, and the trailers."""

    status: int
    headers: Mapping[str, str]
    messages: tuple[bytes, ...]
    trailers: Mapping[str, str]

    @property
    def grpc_status(self) -> int:
        """Of the call, wherever it stands."""
        return int(self.trailers.get("grpc-status", self.headers.get("grpc-status", "-1")))


class Call:
    """One call that is under way. Blocks; `next` and `rest` are run in a thread."""

    def __init__(
        self,
        address: str,
        path: str,
        request: Message,
        kind: str = PROTO,
        source: str = "127.0.0.1",
        **headers: str,
    ) -> None:
        body = request.SerializeToString()
        frame = bytes((0,)) + len(body).to_bytes(4) + body
        if kind == TEXT:
            frame = base64.b64encode(frame)
        self._text = kind == TEXT
        self._connection = http.client.HTTPConnection(
            address, timeout=_PATIENCE, source_address=(source, 0)
        )
        sent = {"content-type": kind, "accept": kind, "x-grpc-web": "1", "grpc-timeout": "10S"}
        sent |= {name.replace("_", "-"): value for name, value in headers.items()}
        self._connection.request("POST", path, frame, sent)
        self._answer = self._connection.getresponse()
        self.status = self._answer.status
        self.headers = {name.lower(): value for name, value in self._answer.getheaders()}
        self._frames = self._read()

    def next(self) -> tuple[int, bytes]:
        """The next frame, as soon as it is there: its flags and its content."""
        return next(self._frames)

    def rest(self) -> Answer:
        """Everything until the end."""
        messages: list[bytes] = []
        trailers: dict[str, str] = {}
        for flags, content in self._frames:
            if flags & _TRAILER:
                lines = content.decode().strip().split("\r\n")
                trailers = dict(line.split(":", 1) for line in lines)
            else:
                messages.append(content)
        self._connection.close()
        return Answer(self.status, self.headers, tuple(messages), trailers)

    def close(self) -> None:
        """Goes away in the middle."""
        self._connection.close()

    def _read(self) -> Iterator[tuple[int, bytes]]:
        held = b""
        for piece in self._pieces():
            held += piece
            while len(held) >= 5 and len(held) >= 5 + (size := int.from_bytes(held[1:5])):
                yield held[0], held[5 : 5 + size]
                held = held[5 + size :]
        assert not held, "a frame is whole"

    def _pieces(self) -> Iterator[bytes]:
        left = b""
        while piece := self._answer.read1(65_536):
            if not self._text:
                yield piece
                continue
            left += piece
            whole = len(left) // 4 * 4
            # Each part is encoded by itself, with an ending of its own.
            for part in left[:whole].replace(b"=A", b"= A").split(b" "):
                yield base64.b64decode(part)
            left = left[whole:]


async def call(
    address: str,
    path: str,
    request: Message,
    kind: str = PROTO,
    source: str = "127.0.0.1",
    **headers: str,
) -> Answer:
    """A whole call."""
    return await asyncio.to_thread(
        lambda: Call(address, path, request, kind, source, **headers).rest()
    )


@dataclass(frozen=True)
class Page:
    """An answer of plain HTTP, with headers in lower case."""

    status: int
    headers: Mapping[str, str]
    body: bytes


async def ask(address: str, path: str, method: str = "GET", **headers: str) -> Page:
    """A request of plain HTTP."""

    def asked() -> Page:
        connection = http.client.HTTPConnection(address, timeout=_PATIENCE)
        named = {name.replace("_", "-"): value for name, value in headers.items()}
        connection.request(method, path, headers=named)
        answer = connection.getresponse()
        told = {name.lower(): value for name, value in answer.getheaders()}
        page = Page(answer.status, told, answer.read())
        connection.close()
        return page

    return await asyncio.to_thread(asked)
