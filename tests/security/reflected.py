"""What a running server offers, as it tells by reflection, and a bare call of it."""

from __future__ import annotations

from collections.abc import AsyncIterator
from dataclasses import dataclass
from typing import Final, TypeAlias, cast

import grpc
from google.protobuf import descriptor_pb2
from google.rpc import error_details_pb2
from grpc_reflection.v1alpha import reflection_pb2 as pb
from grpc_status import rpc_status

SECONDS: Final = 20.0
PUBLIC: Final = {"grpc.health.v1.Health", "grpc.reflection.v1alpha.ServerReflection"}

Metadata: TypeAlias = tuple[tuple[str, str], ...]
_Asking: TypeAlias = (
    "grpc.aio.StreamStreamMultiCallable[pb.ServerReflectionRequest, pb.ServerReflectionResponse]"
)


@dataclass(frozen=True)
class Offered:
    """A method: its path, whether it streams, and the name of its request."""

    path: str
    streams: bool
    request: str


async def services(channel: grpc.aio.Channel) -> set[str]:
    """The services of a server."""
    (answer,) = await _ask(channel, pb.ServerReflectionRequest(list_services=""))
    return {each.name for each in answer.list_services_response.service}


async def methods(channel: grpc.aio.Channel) -> list[Offered]:
    """The methods of a server, but those for probes and tools."""
    names = sorted(await services(channel) - PUBLIC)
    asked = [pb.ServerReflectionRequest(file_containing_symbol=name) for name in names]
    found: list[Offered] = []
    for name, answer in zip(names, await _ask(channel, *asked), strict=True):
        for raw in answer.file_descriptor_response.file_descriptor_proto:
            file = descriptor_pb2.FileDescriptorProto.FromString(raw)
            for service in file.service:
                if f"{file.package}.{service.name}" != name:
                    continue
                found += [
                    Offered(
                        f"/{name}/{method.name}",
                        method.server_streaming,
                        method.input_type.lstrip("."),
                    )
                    for method in service.method
                ]
    return found


async def outcome(
    channel: grpc.aio.Channel, method: Offered, metadata: Metadata
) -> tuple[str, str]:
    """(code, reason) of a call with an empty request; ("OK", "") for a stream that begins."""
    try:
        if method.streams:
            many: grpc.aio.UnaryStreamMultiCallable[bytes, bytes] = channel.unary_stream(
                method.path
            )
            stream = many(b"", timeout=SECONDS, metadata=metadata)
            await stream.read()
            stream.cancel()
        else:
            one: grpc.aio.UnaryUnaryMultiCallable[bytes, bytes] = channel.unary_unary(method.path)
            await one(b"", timeout=SECONDS, metadata=metadata)
    except grpc.aio.AioRpcError as error:
        return error.code().name, _reason(error)
    return "OK", ""


def _reason(error: grpc.aio.AioRpcError) -> str:
    status = rpc_status.from_call(cast(grpc.Call, error))  # the error has all that it reads
    info = error_details_pb2.ErrorInfo()
    for detail in status.details if status else ():
        if detail.Is(info.DESCRIPTOR):
            detail.Unpack(info)
    reason: str = info.reason
    return reason


async def _ask(
    channel: grpc.aio.Channel, *requests: pb.ServerReflectionRequest
) -> list[pb.ServerReflectionResponse]:
    method: _Asking = channel.stream_stream(
        "/grpc.reflection.v1alpha.ServerReflection/ServerReflectionInfo",
        pb.ServerReflectionRequest.SerializeToString,
        pb.ServerReflectionResponse.FromString,
    )

    async def each() -> AsyncIterator[pb.ServerReflectionRequest]:
        for request in requests:
            yield request

    return [answer async for answer in method(each(), timeout=SECONDS)]
