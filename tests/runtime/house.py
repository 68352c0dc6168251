"""A server of the test service and a client of it, over a real socket."""

from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Final, cast

import grpc
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from google.protobuf.message import Message
from google.rpc import error_details_pb2
from grpc_status import rpc_status
from kafeneio_runtime.auth import DevelopmentKey, Role, TokenVerifier
from kafeneio_runtime.clock import ManualTime, Time
from kafeneio_runtime.serve import Server, Service
from kafeneio_runtime.settings import Settings

from tests.runtime import echo

KEY: Final = DevelopmentKey(Ed25519PrivateKey.generate())
TIMEOUT: Final = 10.0


async def nothing() -> None:
    """What a service does that has nothing to do."""


def settings(**changes: object) -> Settings:
    """Those of a test: nothing waits."""
    values: dict[str, object] = {"drain_seconds": 0, "drain_grace_seconds": 5, **changes}
    return Settings.model_validate(values)


def token(subject: str = "nikos", role: Role = Role.PLAYER, minutes: float = 5) -> str:
    return KEY.sign(subject, role, timedelta(minutes=minutes))


def verifier(time: Time | None = None) -> TokenVerifier:
    return TokenVerifier(KEY.jwks(), issuer="kafeneio", audience="kafeneio", time=time)


def service(
    servicer: echo.Servicer,
    *,
    roles: Mapping[str, frozenset[Role]] = echo.ROLES,
    ready: Callable[[], Awaitable[None]] = nothing,
    background: tuple[Callable[[], Awaitable[None]], ...] = (),
    flushing: Callable[[], Awaitable[None]] = nothing,
    closing: Callable[[], Awaitable[None]] = nothing,
) -> Service:
    return Service(
        name="echo",
        port=0,
        servicers=((echo.add_to_server, servicer),),
        service_names=(echo.SERVICE,),
        roles=roles,
        ready=ready,
        background=background,
        flushing=flushing,
        closing=closing,
    )


def answering(
    channel: grpc.aio.Channel, path: str = echo.ECHO
) -> "grpc.aio.UnaryUnaryMultiCallable[bytes, Message]":
    """The client's side of a unary method; requests are given as bytes."""
    return channel.unary_unary(path, None, echo.EchoResponse.FromString)


def watching(
    channel: grpc.aio.Channel,
) -> "grpc.aio.UnaryStreamMultiCallable[bytes, Message]":
    """The client's side of the stream."""
    return channel.unary_stream(echo.WATCH, None, echo.EchoResponse.FromString)


@dataclass
class House:
    """A running server, and calls to it."""

    servicer: echo.Servicer
    server: Server
    time: ManualTime
    channel: grpc.aio.Channel
    token: str = field(default_factory=token)

    async def say(
        self, text: str = "kalimera", *, path: str = echo.ECHO, bearer: str | None = None
    ) -> str:
        answer = await self.raw(
            echo.EchoRequest(text=text).SerializeToString(), path=path, bearer=bearer
        )
        return echo.text_of(answer)

    async def raw(
        self,
        body: bytes,
        *,
        path: str = echo.ECHO,
        bearer: str | None = None,
        metadata: tuple[tuple[str, str], ...] = (),
        seconds: float | None = TIMEOUT,
    ) -> Message:
        return await self.unary(path)(
            body, timeout=seconds, metadata=(*self.headers(bearer), *metadata)
        )

    def unary(self, path: str = echo.ECHO) -> "grpc.aio.UnaryUnaryMultiCallable[bytes, Message]":
        return answering(self.channel, path)

    def watch(
        self, text: str = "kalimera", *, seconds: float | None = TIMEOUT
    ) -> "grpc.aio.UnaryStreamCall[bytes, Message]":
        body = echo.EchoRequest(text=text).SerializeToString()
        return watching(self.channel)(body, timeout=seconds, metadata=self.headers(None))

    def headers(self, bearer: str | None) -> tuple[tuple[str, str], ...]:
        return (("authorization", f"Bearer {self.token if bearer is None else bearer}"),)


@asynccontextmanager
async def open_house(
    made: Service | None = None,
    chosen: Settings | None = None,
    servicer: echo.Servicer | None = None,
) -> AsyncIterator[House]:
    """Starts a server and drains it in the end."""
    servicer = servicer or echo.Servicer()
    time = ManualTime()
    server = Server(made or service(servicer), chosen or settings(), verifier(), time)
    await server.start()
    try:
        async with grpc.aio.insecure_channel(server.address) as channel:
            yield House(servicer, server, time, channel)
    finally:
        await server.drain()


@dataclass(frozen=True)
class Refused:
    """What a caller is told, read back from the status."""

    code: grpc.StatusCode
    message: str
    reason: str
    domain: str
    metadata: Mapping[str, str]
    fields: tuple[tuple[str, str], ...]
    retry_after: float | None
    request_id: str
    greek: str


def refused(error: grpc.aio.AioRpcError) -> Refused:
    """The details of a refusal. Fails where one of them is missing that every refusal has."""
    status = rpc_status.from_call(cast(grpc.Call, error))  # the error has all that it reads
    assert status is not None, f"no details: {error}"
    info = error_details_pb2.ErrorInfo()
    fields: tuple[tuple[str, str], ...] = ()
    retry_after = None
    request = error_details_pb2.RequestInfo()
    localized = error_details_pb2.LocalizedMessage()
    for detail in status.details:
        bad, retry = error_details_pb2.BadRequest(), error_details_pb2.RetryInfo()
        if detail.Is(bad.DESCRIPTOR):
            detail.Unpack(bad)
            fields = tuple((each.field, each.description) for each in bad.field_violations)
        elif detail.Is(retry.DESCRIPTOR):
            detail.Unpack(retry)
            retry_after = retry.retry_delay.ToTimedelta().total_seconds()
        elif detail.Is(info.DESCRIPTOR):
            detail.Unpack(info)
        elif detail.Is(request.DESCRIPTOR):
            detail.Unpack(request)
        elif detail.Is(localized.DESCRIPTOR):
            detail.Unpack(localized)
            assert localized.locale == "el"
    return Refused(
        error.code(),
        error.details() or "",
        info.reason,
        info.domain,
        dict(info.metadata),
        fields,
        retry_after,
        request.request_id,
        localized.message,
    )
